package fixspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/git"
)

// pushing is a world with a fix and a server to push it to.
type pushing struct {
	*world
	server, tip string
}

func newPushing(t *testing.T) *pushing {
	w := newWorld(t, plainFiles)
	w.workspace.between = time.Millisecond
	w.script("echo 1 >a.txt")
	p := &pushing{world: w, server: filepath.Join(t.TempDir(), "server.git"), tip: w.fix(w.order()).Tip}
	w.git(w.origin, "clone", "-q", "--bare", w.origin, p.server)
	return p
}

func (p *pushing) push(ctx context.Context) (git.PushResult, error) {
	return p.workspace.Push(ctx, git.PushOptions{Server: git.Server{URL: "file://" + p.server}, Ref: "refs/heads/main", Old: p.base, New: p.tip})
}

func (p *pushing) head() string { return p.git(p.server, "rev-parse", "refs/heads/main") }

// hook makes the server run a script once, and then again only if it says so.
func (p *pushing) hook(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.server, "hooks", name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		p.Fatal(err)
	}
}

// A push may be repeated after any end and happens once (threats.md K20-K23).
func TestPush(t *testing.T) {
	p := newPushing(t)
	for _, want := range []git.Outcome{git.Pushed, git.Already, git.Already} {
		got, err := p.push(t.Context())
		if err != nil || got.Outcome != want || got.Head != p.tip || Refused(got, nil) != "" {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
	}
	if p.head() != p.tip {
		t.Error("the branch is elsewhere")
	}
}

// Somebody else's commit stays (threats.md T94).
func TestPushMoved(t *testing.T) {
	p := newPushing(t)
	theirs := p.commit(map[string]string{"theirs.txt": "x\n"})
	p.git(p.origin, "push", "-q", p.server, "main")
	got, err := p.push(t.Context())
	if err != nil || got.Outcome != git.Moved || got.Head != theirs || p.head() != theirs {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPushRefused(t *testing.T) {
	p := newPushing(t)
	p.hook("update", "echo 'GH006: Protected branch update failed for refs/heads/main.' >&2; printf 'say \\033[2J\\n' >&2; exit 1\n")
	got, err := p.push(t.Context())
	if err != nil || got.Outcome != git.Refused || p.head() != p.base {
		t.Errorf("%+v, %v", got, err)
	}
	if why := Refused(got, nil); !strings.HasPrefix(why, "the branch is protected: ") || strings.Contains(why, "\x1b") {
		t.Errorf("%q", why)
	}
	if why := Refused(git.PushResult{Outcome: git.Refused, Rule: "something new"}, nil); why != "the server refuses it" {
		t.Errorf("%q", why)
	}
}

// The server dies before it did anything: the outcome is unknown, and the next try pushes.
func TestPushServerDiesBefore(t *testing.T) {
	p := newPushing(t)
	p.hook("pre-receive", "test -e died || { touch died; kill -9 $PPID; sleep 1; }\n")
	got, err := p.push(t.Context())
	if err != nil || got.Outcome != git.Pushed || p.head() != p.tip {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(p.server, "died")); err != nil {
		t.Error("the server did not die:", err)
	}
}

// The server dies after it took the push: the commit is found to be ours.
func TestPushServerDiesAfter(t *testing.T) {
	p := newPushing(t)
	p.hook("post-update", "touch died; kill -9 $PPID; sleep 1\n")
	got, err := p.push(t.Context())
	if err != nil || got.Outcome != git.Already && got.Outcome != git.Pushed || p.head() != p.tip {
		t.Errorf("%+v, %v", got, err)
	}
}

// Where nothing answers the outcome stays unknown, which is an error; a server that cannot be asked is not asked again.
func TestPushErrors(t *testing.T) {
	p := newPushing(t)
	ctx := t.Context()
	gone := *p
	gone.server += "-gone"
	if got, err := gone.push(ctx); err == nil {
		t.Errorf("%+v", got)
	}
	p.workspace.between = time.Hour
	back := *p
	back.tip = p.base
	if _, err := back.push(ctx); !errors.Is(err, git.ErrNotDescendant) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if _, err := gone.push(ctx); err == nil {
		t.Error("a run that ends")
	}
}

func TestPatch(t *testing.T) {
	p := newPushing(t)
	patch, err := p.workspace.Patch(t.Context(), p.base, p.tip, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fix.patch")
	if err := os.WriteFile(file, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	p.git(p.origin, "apply", "--check", file)
	if _, err := p.workspace.Patch(t.Context(), p.base, p.tip, 10); !errors.Is(err, git.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}
