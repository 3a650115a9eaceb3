package agentrun

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
)

// Limits are what one child of a run may take of the machine, with all that it starts (threats.md T88). The zero value of a field is
// the default of what the child is: a reviewer, a fixer, or a verify command.
type Limits struct {
	// MemoryBytes bounds resident memory.
	MemoryBytes int64
	// DiskBytes and Files bound what a home and temporary folders hold, and what a child adds to a clone or a tree it may write,
	// each for itself.
	DiskBytes, Files int64
	// FreeBytes is what must stay free on the disk of the scratch folder while children write to it; nothing is started with less
	// than twice as much.
	FreeBytes int64
}

// The defaults. Node.js agents have 300 to 900 MB resident; compilers and test suites need more, and more disk.
var (
	reviewing = Limits{MemoryBytes: 2 << 30, DiskBytes: 1 << 30, Files: 100_000, FreeBytes: 512 << 20}
	fixing    = Limits{MemoryBytes: 4 << 30, DiskBytes: 2 << 30, Files: 500_000, FreeBytes: 512 << 20}
	verifying = Limits{MemoryBytes: 4 << 30, DiskBytes: 8 << 30, Files: 1_000_000, FreeBytes: 512 << 20}
)

// or fills what is not set.
func (l Limits) or(def Limits) Limits {
	return Limits{cmp.Or(l.MemoryBytes, def.MemoryBytes), cmp.Or(l.DiskBytes, def.DiskBytes), cmp.Or(l.Files, def.Files), cmp.Or(l.FreeBytes, def.FreeBytes)}
}

// limitsOf are those of one agent. A static one of a local range runs the linters that are installed, on the person's own tree.
func (c *Launcher) limitsOf(fixes bool) Limits {
	switch {
	case fixes:
		return c.Limits.or(fixing)
	case c.Checkout != "":
		return c.Limits.or(verifying)
	}
	return c.Limits.or(reviewing)
}

// The processes and threads of an agent and of a verify command, and how large each file of theirs may be.
const (
	agentProcesses = 512
	agentFileBytes = 1 << 30
	jobProcesses   = 4096
	jobFileBytes   = 4 << 30
	// sandboxProcesses are the threads of the sandbox itself, which a control group counts too.
	sandboxProcesses = 64
)

// bounds are those of a child that may write these folders on a disk.
func (l Limits) bounds(processes, fileBytes int64, folders ...string) proc.Bounds {
	return proc.Bounds{
		MemoryBytes: l.MemoryBytes, Processes: processes + sandboxProcesses, FileBytes: fileBytes,
		Folders: folders, FolderBytes: l.DiskBytes, FolderFiles: l.Files, FreeBytes: l.FreeBytes, Ended: exceeded,
	}
}

// agentBounds are those of an agent: the home lies on a disk unless the confinement is full.
func (c *Launcher) agentBounds(home, clone string) proc.Bounds {
	var folders []string
	if !c.Confinement.full {
		folders = append(folders, home)
	}
	if clone != "" {
		folders = append(folders, clone)
	}
	return c.limitsOf(clone != "").bounds(agentProcesses, agentFileBytes, folders...)
}

// scratch bounds what lies in memory for a child.
func (l Limits) scratch() sandbox.Limits {
	return sandbox.Limits{ScratchBytes: uint64(l.DiskBytes), ScratchFiles: uint64(l.Files)}
}

// exceeded asks the sandbox by which rule it ended a child.
func exceeded(code int, stderr []byte) (proc.Reason, error) {
	rule, what := sandbox.Exceeded(code, stderr)
	if rule == "" {
		return proc.ReasonNone, nil
	}
	return proc.Reason(rule), errors.New(what)
}

// LowDiskError says that the disk of the state folder has too little left to start children that may write to it.
type LowDiskError struct {
	// Path lies on the disk. Free and Need are in bytes.
	Path       string
	Free, Need int64
}

func (e *LowDiskError) Error() string {
	return fmt.Sprintf("%s: the disk of %s has %d MB left, agents are started with %d MB or more", proc.ReasonHostDisk, e.Path, e.Free>>20, e.Need>>20)
}

// ToBegin is what has to be free for children to be started, and so what a fetch has to leave.
func (l Limits) ToBegin() int64 { return 2 * l.or(reviewing).FreeBytes }

// Room fails with a *LowDiskError when the disk of a folder has too little left to start children.
func (l Limits) Room(dir string) error {
	free, err := proc.FreeOn(dir)
	if err != nil {
		return err
	}
	if need := l.ToBegin(); free < need {
		return &LowDiskError{Path: dir, Free: free, Need: need}
	}
	return nil
}

// BoundsHere says which bounds of children the kernel keeps on this machine, and which are watched. full is whether it gives full containment.
func BoundsHere(full bool) string {
	memory, processes, shares := proc.GroupsBound()
	kernel, watched := "file sizes", "the host's free disk, what is added to a clone"
	for _, b := range []struct {
		name string
		hard bool
	}{{"shares of the processors", shares}, {"memory", memory}, {"processes", processes || full}, {"home and temporary files", full}} {
		if b.hard {
			kernel = b.name + ", " + kernel
		} else {
			watched = b.name + ", " + watched
		}
	}
	return "bounded by the kernel: " + kernel + "; watched: " + watched
}
