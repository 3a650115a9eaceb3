package fixspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// The commands see what the clone holds now, in an export of it: nothing they do comes back, and nothing runs in the clone.
func TestCheckClone(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	o := w.order()
	o.Verify = []string{"grep -q two a.txt && test ! -e .git", "echo spoilt >a.txt; touch left; false", "cat new.txt; exit 3"}
	var first, second, one []review.Check
	var no, link error
	w.workspace.Ask = func(ctx context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
		checkClone := func(command string) []review.Check {
			got, err := w.workspace.CheckClone(ctx, o, clone, command)
			if err != nil {
				t.Error(err)
			}
			return got
		}
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(clone, name), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
		first = checkClone(AllChecks)
		write("a.txt", "two\n")
		write("new.txt", "token ghp_16C7e42F292c6912E7710c838347Ae178B4a\n")
		second = checkClone(AllChecks)
		one = checkClone(o.Verify[0])
		_, no = w.workspace.CheckClone(ctx, o, clone, "touch /tmp/owned")
		if now, err := os.ReadFile(filepath.Join(clone, "a.txt")); err != nil || string(now) != "two\n" {
			t.Errorf("the clone holds %q: %v", now, err)
		}
		if _, err := os.Lstat(filepath.Join(clone, "left")); err == nil {
			t.Error("a command wrote into the clone")
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(clone, "out")); err != nil {
			t.Error(err)
		}
		_, link = w.workspace.CheckClone(ctx, o, clone, AllChecks)
		return review.Answer{}
	}
	w.fix(o)
	states := func(all []review.Check) (s []string) {
		for _, c := range all {
			s = append(s, string(c.State))
		}
		return s
	}
	if got := strings.Join(states(first), " "); got != "failed failed failed" {
		t.Errorf("before the edit: %s", got)
	}
	if got := strings.Join(states(second), " "); got != "passed failed failed" || strings.Contains(second[2].Log, "16C7e42F") || !strings.Contains(second[2].Log, "[REDACTED]") {
		t.Errorf("after it: %s %+v", got, second)
	}
	if len(one) != 1 || one[0].State != review.CheckPassed {
		t.Errorf("one command: %+v", one)
	}
	if no == nil || link == nil || !strings.Contains(link.Error(), "out") {
		t.Errorf("a command of the fixer's own: %v; a link: %v", no, link)
	}
	w.left("")
}

// A command that was found and fails on the reviewed head too says nothing about the fix.
func TestCheckCloneSetsAside(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	o := w.order()
	o.Verify, o.Detected = []string{"false", "grep -q one a.txt"}, true
	w.workspace.Ask = func(ctx context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
		if err := os.WriteFile(filepath.Join(clone, "a.txt"), []byte("two\n"), 0o600); err != nil {
			t.Error(err)
		}
		got, err := w.workspace.CheckClone(ctx, o, clone, AllChecks)
		if err != nil || len(got) != 2 || got[0].State != review.CheckSkipped || got[1].State != review.CheckFailed {
			t.Errorf("%+v %v", got, err)
		}
		return review.Answer{}
	}
	w.fix(o)
}
