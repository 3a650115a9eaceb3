package agentrun

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Every child has bounds, by what it is; the operator's count for all, and a home on a disk is watched.
func TestBounds(t *testing.T) {
	for name, row := range map[string]struct {
		crew    *Launcher
		clone   string
		memory  int64
		disk    int64
		folders []string
	}{
		"a reviewer in a full sandbox": {&Launcher{Confinement: Confinement{full: true}}, "", 2 << 30, 1 << 30, nil},
		"a fixer in a full sandbox":    {&Launcher{Confinement: Confinement{full: true}}, "/clone", 4 << 30, 2 << 30, []string{"/clone"}},
		"a fixer in a weaker sandbox":  {&Launcher{}, "/clone", 4 << 30, 2 << 30, []string{"/home", "/clone"}},
		"linters on a local range":     {&Launcher{Checkout: "/mine"}, "", 4 << 30, 8 << 30, []string{"/home"}},
		"by the operator's word":       {&Launcher{Limits: Limits{MemoryBytes: 1 << 20, DiskBytes: 2 << 20}}, "", 1 << 20, 2 << 20, []string{"/home"}},
	} {
		b := row.crew.agentBounds("/home", row.clone)
		if b.MemoryBytes != row.memory || b.FolderBytes != row.disk || !slices.Equal(b.Folders, row.folders) ||
			b.Processes == 0 || b.FileBytes == 0 || b.FolderFiles == 0 || b.FreeBytes == 0 {
			t.Errorf("%s: %+v", name, b)
		}
		reason, why := b.Ended(sandbox.ExitBounds, []byte("\nprloop: ended sandbox: inode-limit: made too many\n"))
		if reason != proc.ReasonFiles || why == nil || why.Error() != "made too many" {
			t.Errorf("%s: %q %v", name, reason, why)
		}
	}
	if b := (&FixExecutor{Launcher: &Launcher{}}).workspace().Bounds; b.MemoryBytes != 4<<30 || b.FolderBytes != 8<<30 || b.Processes < 4096 {
		t.Errorf("a verify command: %+v", b)
	}
}

// On a full disk nobody is started.
func TestLowDisk(t *testing.T) {
	c := &Launcher{Scratch: t.TempDir(), State: t.TempDir(), Confinement: Unconfined("a test"), Limits: Limits{FreeBytes: math.MaxInt64 / 4}}
	got := c.Ask(t.Context(), orchestrator.AgentPlan{Name: "x", Role: review.RoleReviewer, Kind: review.KindCommand, Path: "/bin/true"}, review.Task{}, func(review.Event) {})
	if got.Receipt.State != review.AgentFailed || !strings.HasPrefix(got.Receipt.Whole(), "host-disk-low: ") {
		t.Errorf("%+v", got.Receipt)
	}
	low := (*LowDiskError)(nil)
	if _, err := (&FixExecutor{Launcher: c}).Verify(t.Context(), "", false, []string{"true"}, nil); !errors.As(err, &low) {
		t.Errorf("a verify command was started: %v", err)
	}
}

// A run goes on in the sandbox its reports name, however their bounds are kept now.
func TestTold(t *testing.T) {
	w := Confinement{words: "tier 1", bounds: "bounded by the kernel: all"}
	for report, want := range map[string]bool{w.Report(): true, "tier 1": true, "tier 1. Agents are watched": true, "tier 2. Agents are watched": false, "": false} {
		if w.Told(report) != want {
			t.Errorf("%q: %v", report, !want)
		}
	}
}
