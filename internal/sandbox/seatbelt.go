package sandbox

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Seatbelt is the sandbox of macOS. It is told a profile as text, in which everything is forbidden that no rule allows; sandbox-exec
// applies it to itself and becomes the program, and whatever that starts is held by it too. There are no deny rules, so the order of rules
// and how they outweigh each other does not matter.

// seatbeltSystem is what every child may read on macOS: programs, their libraries, the tools of developers and the parts of Homebrew that
// hold programs. What Homebrew's services keep (etc, var) is not among them.
var seatbeltSystem = append([]string{
	"/bin", "/sbin", "/usr/bin", "/usr/lib", "/usr/libexec", "/usr/sbin", "/usr/share", "/System",
	"/Library/Apple", "/Library/Developer/CommandLineTools", "/Library/Frameworks", "/Applications/Xcode.app", "/nix/store",
	"/private/etc/localtime", "/private/etc/ssl", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/select",
	"/usr/local/go",
}, append(below("/usr/local"), below("/opt/homebrew")...)...)

// below are the folders of programs below a prefix.
func below(prefix string) (paths []string) {
	for _, name := range []string{"bin", "Cellar", "Frameworks", "lib", "libexec", "opt", "sbin", "share"} {
		paths = append(paths, prefix+"/"+name)
	}
	return paths
}

// seatbeltSocketLimit is the longest path of a unix socket that macOS takes, in bytes.
const seatbeltSocketLimit = 103

// seatbelt is the command that runs another one under the profile of a plan.
func (p *plan) seatbelt(self string, cmd Command) (Command, error) {
	profile, err := p.profile()
	if err != nil {
		return Command{}, err
	}
	limits, err := json.Marshal(p.Limits)
	if err != nil {
		return Command{}, fmt.Errorf("confine child: %w", err)
	}
	return Command{Path: self, Args: append([]string{InitCommand, string(limits), profile, cmd.Path}, cmd.Args...), Env: cmd.Env, Dir: p.Dir}, nil
}

// profile writes the rules of a plan for Seatbelt.
func (p *plan) profile() (string, error) {
	var b strings.Builder
	b.WriteString(`(version 1)
(deny default)

; The child and what it starts, and nobody else's processes.
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))

; What programs ask when they start: the machine's properties, and the names of users.
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name-prefix "kern.os")
  (sysctl-name "kern.argmax" "kern.bootargs" "kern.hostname" "kern.maxfilesperproc" "kern.ngroups" "kern.secure_kernel" "kern.usrstack64" "kern.version")
  (sysctl-name "security.mac.lockdown_mode_state" "sysctl.proc_cputype" "vm.loadavg"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))

; The harmless devices, and the streams it was started with.
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read-data file-write-data (subpath "/dev/fd"))

; The way to what may be read. The loader reads the root folder itself.
(allow file-read* (literal "/"))
`)
	rule := func(what string, filters []string) {
		if len(filters) > 0 {
			fmt.Fprintf(&b, "(allow %s\n  %s)\n", what, strings.Join(filters, "\n  "))
		}
	}
	var read, write, way, links []string
	for _, x := range p.Binds {
		if x.Hide {
			continue
		}
		filter, err := p.filter(x)
		if err != nil {
			return "", err
		}
		read = append(read, filter)
		if x.Write {
			write = append(write, filter)
		}
		way = append(way, parents(x.Source)...)
		if x.Path != x.Source {
			way = append(way, parents(x.Path)...)
		}
	}
	for _, l := range p.Links {
		name, err := seatbeltString(l.Path)
		if err != nil {
			return "", err
		}
		links = append(links, "(literal "+name+")")
		way = append(way, parents(l.Path)...)
	}
	if p.Gateway != "" {
		way = append(way, parents(p.Gateway)...)
	}
	slices.Sort(way)
	var steps []string
	for _, dir := range append([]string{"/etc", "/tmp", "/var"}, slices.Compact(way)...) { // three are links on every Mac
		name, err := seatbeltString(dir)
		if err != nil {
			return "", err
		}
		steps = append(steps, "(literal "+name+")")
	}
	rule("file-read-metadata", steps)
	rule("file-read*", links)
	b.WriteString("\n; What may be read and run.\n")
	rule("file-read* file-map-executable process-exec", read)
	b.WriteString("\n; What may be changed.\n")
	rule("file-write*", write)
	b.WriteString("\n; The way out.\n")
	if p.Gateway == "" {
		b.WriteString("; There is none.\n")
		return b.String(), nil
	}
	socket, err := seatbeltString(p.Gateway)
	if err != nil {
		return "", err
	}
	rule("network-outbound", []string{"(remote unix-socket (path-literal " + socket + "))"})
	return b.String(), nil
}

// filter is what a rule says of one path: all of it, without what is hidden in it. What is shown in a hidden folder has a filter of its own.
func (p *plan) filter(x bind) (string, error) {
	name, err := seatbeltString(x.Source)
	if err != nil {
		return "", err
	}
	kind := "literal"
	if x.Dir {
		kind = "subpath"
	}
	filter := fmt.Sprintf("(%s %s)", kind, name)
	for _, h := range p.Binds {
		if !h.Hide || !within(h.Source, x.Source) {
			continue
		}
		hidden, err := seatbeltString(h.Source)
		if err != nil {
			return "", err
		}
		filter = fmt.Sprintf("(require-all %s (require-not (subpath %s)))", filter, hidden)
	}
	return filter, nil
}

// parents are the folders on the way to a path, without the root.
func parents(path string) (dirs []string) {
	for d := filepath.Dir(path); d != "/" && d != "."; d = filepath.Dir(d) {
		dirs = append(dirs, d)
	}
	return dirs
}

// seatbeltString writes a path as a string of the profile. A path that needs more than quotes and backslashes to be escaped is refused.
func seatbeltString(path string) (string, error) {
	for _, r := range path {
		if r < 0x20 || r == 0x7f {
			return "", &PolicyError{"path", fmt.Sprintf("%q has a control character, which no profile can hold", path)}
		}
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`, nil
}
