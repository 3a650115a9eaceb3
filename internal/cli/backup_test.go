package cli_test

import (
	"os/exec"
	"path/filepath"
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
