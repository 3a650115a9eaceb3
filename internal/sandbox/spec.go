package sandbox

import "strings"

// InitCommand is the hidden subcommand a wrapped command starts with.
const InitCommand = "sandbox-init"

// ExitBounds is the exit status of a wrapped command that used more of its scratch space, or held more in TCP connections, than
// Limits allow, and was ended for it. The rule and the figure are one line on standard error, which [Exceeded] reads.
const ExitBounds = 123

// ExitSetup is the exit status of a wrapped command whose sandbox could not be set up: the agent was not started. Its
// reason is one line on standard error.
const ExitSetup = 125

// GatewaySocket is where the gateway's socket is found inside the sandbox. On tier 2, where every path is the machine's
// own, it lies in Policy.Home instead; Wrap puts the right one into the environment either way.
const GatewaySocket = "/run/prloop/model.sock"

// RoomInside is where callers show the folder of one job whatever it is called outside ([Policy].Shown): what a build writes down of
// its own place is then the same for every commit.
const RoomInside = "/run/prloop/room"

// Command is a program to start, as internal/proc takes it.
type Command struct {
	// Path is the program's absolute path.
	Path string
	// Args are the arguments without the program's name.
	Args []string
	// Env is the whole environment of the agent. A value that equals Policy.Gateway is replaced by the socket's path
	// inside; nothing else is added or changed.
	Env []string
	// Dir is the working folder; empty means Policy.Home. It must be visible inside.
	Dir string
}

// Policy says what a confined child may see and do. All paths are absolute, those of the machine, and the same inside as outside unless
// Shown says otherwise. What is not listed does not exist inside, apart from /usr and its links without the machine's settings, the plain part of /etc, the harmless devices, a /proc that
// shows only the sandbox, and an empty /tmp.
type Policy struct {
	// MinTier is the weakest tier the caller takes; zero means Tier1b, that is full containment (threats.md "Sandbox tiers").
	MinTier Tier
	// Home is the child's private folder, writable. With a mount namespace (tiers 1 and 1b) it lies in memory, within
	// Limits, and is gone when the child is: it begins with copies of the files that stand in the folder, and with the sockets
	// themselves. On tier 2, and when it is one of Writable too, it is the folder. Started as root, prloop gives it and Writable
	// away to the child's uid.
	Home string
	// Writable are further folders the child may change: the tree of a fixer or of a verify job.
	Writable []string
	// ReadOnly are further files and folders the child may read and execute: the export of a pull request, an agent's
	// package folder. Wrap adds the program, its interpreter and its node_modules by itself.
	ReadOnly []string
	// Hide are files and folders that must not be seen even inside a listed folder: the state folder, key files. The
	// operator's home folder is always one. A listed path below a hidden one is shown again.
	Hide []string
	// Shown are the listed paths that are found elsewhere inside, RoomInside or below it, and with each of them what is listed below it.
	// They need a mount namespace (tiers 1 and 1b).
	Shown []Shown
	// Gateway is the path of the unix socket that is the child's one way out: that of the model gateway, or of the proxy to package
	// registries. Empty gives it no way out at all.
	Gateway string
	// GatewayPort serves the gateway on 127.0.0.1 at this TCP port inside as well, for agents that do not speak to unix
	// sockets. It needs a network namespace (tiers 1 and 1b).
	GatewayPort int
	// Loopback lets the child use TCP on its own loopback interface, for agents that talk to themselves; nothing of the
	// machine listens there. GatewayPort implies it. It needs a network namespace.
	Loopback bool
	// Watch lets the child watch files (inotify), as test suites do. It then hears who opens files of the machine that it may read (threats.md T686).
	Watch bool
	// Limits bound what the child may use up.
	Limits Limits
}

// Shown is a path of the machine and where it is found inside.
type Shown struct{ Path, At string }

// inside is where a path is found inside: the closest of what is shown elsewhere decides.
func (p Policy) inside(path string) string {
	best := Shown{}
	for _, s := range p.Shown {
		if within(path, s.Path) && len(s.Path) > len(best.Path) {
			best = s
		}
	}
	return best.At + strings.TrimPrefix(path, best.Path)
}

// Limits are resource limits of the child. Zero is the default of each.
type Limits struct {
	// Files is the number of open files of one process; 0 means 4096.
	Files uint64
	// Processes is the number of processes and threads of the sandbox together; 0 means 512.
	Processes uint64
	// FileBytes is the size of one file; 0 means 1 GB.
	FileBytes uint64
	// ScratchBytes and ScratchFiles bound what lies in memory for the child, which is /tmp, /var/tmp, /dev/shm and Home
	// together; 0 means 512 MB and 100,000. A child that uses more is ended with ExitBounds. The kernel refuses the last
	// sixteenth above them; with bubblewrap it refuses bytes alone, and for each of the four folders.
	ScratchBytes, ScratchFiles uint64
	// TCPBytes is what the kernel may hold for the child's TCP connections together, in their queues above all; 0 means 256 MB. A child whose
	// connections hold more is ended with ExitBounds.
	TCPBytes uint64
}

func (l Limits) withDefaults() Limits {
	set := func(v *uint64, def uint64) {
		if *v == 0 {
			*v = def
		}
	}
	set(&l.Files, 4096)
	set(&l.Processes, 512)
	set(&l.FileBytes, 1<<30)
	set(&l.ScratchBytes, 512<<20)
	set(&l.ScratchFiles, 100_000)
	set(&l.TCPBytes, 256<<20)
	return l
}

// plan is what Wrap decided, as the trampoline is told.
type plan struct {
	Mode mode
	// Userns is true when a user namespace has to give the rights for the other ones.
	Userns bool
	// Landlock is the version of the rules to apply; 0 means none.
	Landlock int
	Seccomp  bool
	// UID is the uid the agent runs as when prloop is root; 0 means it keeps its own.
	UID int
	// root is why an agent of root keeps its uid without a name space of its own; empty where it does not.
	root string
	// Bubblewrap is the path of bwrap in that mode.
	Bubblewrap string

	Home, Dir string
	// Binds are in the order in which they are mounted: a folder before what lies in it.
	Binds []bind
	Links []link
	// Gateway is the socket outside, Socket where the agent finds it.
	Gateway, Socket string
	Port            int
	// Inet allows TCP sockets, which reach no further than the loopback interface of the network namespace.
	Inet bool
	// Watch allows inotify.
	Watch  bool
	Limits Limits
}

// bind is one path that exists inside.
type bind struct {
	Path string
	// Source is Path without symbolic links.
	Source string
	Write  bool
	// Hide covers the path with nothing.
	Hide bool
	// Dir tells a folder from a file.
	Dir bool
	// Scratch puts a folder in memory at Path, with copies of the files in Source.
	Scratch bool
}

// link is a symbolic link that is made inside.
type link struct{ Path, Target string }

// mode is how a child is confined.
type mode string

const (
	// modeNamespaces uses namespaces of our own making.
	modeNamespaces mode = "namespaces"
	// modeBubblewrap lets bwrap make them.
	modeBubblewrap mode = "bubblewrap"
	// modeRules stays in the machine's namespaces, under Landlock and seccomp.
	modeRules mode = "rules"
	// modeSeatbelt is that of macOS: there are no namespaces either.
	modeSeatbelt mode = "seatbelt"
)

// inPlace reports whether every path inside is the machine's own.
func (m mode) inPlace() bool { return m == modeRules || m == modeSeatbelt }

// system is what every child may read.
func (m mode) system() []string {
	if m == modeSeatbelt {
		return seatbeltSystem
	}
	return system
}

// job is a plan and the agent, for the half of the trampoline inside. Byte slices, because arguments and environment need
// not be valid UTF-8.
type job struct {
	Plan      plan
	Path      []byte
	Args, Env [][]byte
	// Probe runs the checks instead of an agent.
	Probe bool
}
