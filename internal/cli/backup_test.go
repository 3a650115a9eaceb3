package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A backup that is made while prloop serves can be served from: what was reviewed is not reviewed again, and what comes then is.
func TestBackupOfAServer(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	s := h.serve("")
	p := h.open(7, nil)
	if w := h.settled(1)["#7"]; w.Outcome != "converged" {
		t.Fatalf("opened: %+v", w)
	}
	file := filepath.Join(h.home, "backup.tar.gz")
	if out := h.run("backup", file); !strings.Contains(out, "has the record of runs and") {
		t.Errorf("backup: %s", out)
	}
	s.stop(t, syscall.SIGTERM)
	h.env = append(h.env, "PRLOOP_STATE="+filepath.Join(h.home, "restored"))
	if out := h.run("restore", file); !strings.Contains(out, "has the record of runs and") {
		t.Errorf("restore: %s", out)
	}
	if out := h.run("runs"); !strings.Contains(out, "acme/widgets#7") {
		t.Errorf("the restored runs are %s", out)
	}
	if out := h.run("show", "latest"); !strings.Contains(out, "prloop: approved") {
		t.Errorf("the restored report is %s", out)
	}
	program, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "restore", file)
	cmd.Env, cmd.Dir = h.env, h.home
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "has a record of runs already") || !strings.Contains(string(out), "empty folder") {
		t.Errorf("restored twice: %v, %s", err, out)
	}
	h.database = filepath.Join(h.home, "restored", "prloop.db")
	h.serve("", "--retention", "90d")
	second := h.open(8, nil)
	all := h.settled(2)
	if reports(p) != 1 || reports(second) != 1 {
		t.Errorf("after the restore: %+v, %d and %d reports", all, reports(p), reports(second))
	}
}

// A backup is made while reviewers are at work, the run posts its report, and the backup is restored: the run posts it again, and collapses the one that its
// record does not know of (threats.md T679).
func TestBackupOfARunAtWork(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	slow := filepath.Join(h.home, "slow.sh")
	script := "#!/bin/sh\ncd " + h.home + "\ncat >/dev/null\necho asked >>slow.asked\nuntil [ -e free ]; do sleep 0.05; done\nexec ./clean.sh </dev/null\n"
	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+slow)
	p := h.open(7, nil)
	h.within("slow to be at work", func() bool { return h.asked("slow") == 1 })
	file := filepath.Join(h.home, "backup.tar.gz")
	h.run("backup", file)
	h.free()
	if w := h.settled(1)["#7"]; w.Outcome != "converged" {
		t.Fatalf("opened: %+v", w)
	}
	s.stop(t, syscall.SIGKILL)
	h.env = append(h.env, "PRLOOP_STATE="+filepath.Join(h.home, "restored"))
	h.run("restore", file)
	h.database = filepath.Join(h.home, "restored", "prloop.db")
	h.serve("", "--reviewers", "exec:"+slow)
	h.within("the report to be posted again", func() bool { return reports(p) == 2 })
	h.settled(1)
	var open []bool
	for _, c := range p.Comments() {
		open = append(open, !c.Minimized)
	}
	if !slices.Equal(open, []bool{false, true}) {
		t.Errorf("of the reports stand open: %v, want the last", open)
	}
}
