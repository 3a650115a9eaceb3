package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// office is a service on a forge with the pull requests 7 and 8.
type office struct {
	*app.Service
	forge *forge.Forge
	home  string
}

func openOffice(t *testing.T) office {
	t.Helper()
	o := office{forge: forgetest.Start(t), home: t.TempDir()}
	for _, n := range []int{7, 8} {
		forgetest.Open(t, o.forge, forge.PullSpec{
			Owner: "acme", Repo: "widgets", Number: n, Title: "Count the stock", Author: "contributor",
			Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head"),
		})
	}
	repo, err := o.forge.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	self, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	o.Service, err = app.Open(t.Context(), app.Options{
		State: filepath.Join(o.home, "state"), Self: self, PlainHTTP: true, Machine: app.Machine{Confinement: app.ConfineOff},
		GitHub: github.Options{Env: append(o.forge.Env(""), "HOME="+o.home, "PATH="+os.Getenv("PATH")), GH: forgetest.GH(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close(context.WithoutCancel(t.Context())) })
	return o
}

// prepare settles a review of a pull request by one program of testdata/share.
func (o office) prepare(t *testing.T, number int, reviewer string) *app.Prepared {
	t.Helper()
	dir, err := filepath.Abs("testdata/share")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(o.home, reviewer)
	if data, err := os.ReadFile(filepath.Join(dir, reviewer)); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(program, data, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := o.Prepare(t.Context(), app.Order{
		Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: number},
		Layers: config.Input{Reviewers: []string{"exec:" + program}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// traces is what a run left, without what names the run, the time it took and the place it ran in.
func (o office) traces(t *testing.T, ended app.Ended) string {
	t.Helper()
	data, err := json.MarshalIndent(ended.Result, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	out := string(data)
	for _, name := range []string{"review.md", "review.json", "round-1/review.md"} {
		file, err := o.File(ended.Result.Run, name)
		if err != nil {
			t.Fatal(err)
		}
		out += "\n== " + name + "\n" + string(file)
	}
	out = strings.ReplaceAll(strings.ReplaceAll(out, ended.Result.Run, "RUN"), o.home, "HOME")
	out = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).ReplaceAllString(out, "FORGE")
	return clocks.ReplaceAllString(out, "TIME")
}

// clocks are what no two runs share.
var clocks = regexp.MustCompile(`"(seconds|latency_seconds_e2e)": [0-9.e-]+|"started": "[^"]+"|\| [0-9.]+ s \|`)

// Two runs in one process: one hangs and is cancelled, and the other ends meanwhile as it does alone. The cancelled one can be
// resumed.
func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	quiet := func(review.Event) {}
	alone := openOffice(t)
	want, err := alone.Start(t.Context(), alone.prepare(t, 7, "clean.sh"), quiet)
	if err != nil {
		t.Fatal(err)
	}

	both := openOffice(t)
	asked := make(chan struct{})
	hanging := both.prepare(t, 8, "hang.sh")
	stopped := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		_, err := both.Start(ctx, hanging, func(e review.Event) {
			if e.State == review.AgentRunning && e.Agent == "hang" {
				close(asked)
			}
		})
		stopped <- err
	}()
	select {
	case <-asked:
	case err := <-stopped:
		t.Fatalf("the run that was to hang ended: %v", err)
	}
	got, err := both.Start(t.Context(), both.prepare(t, 7, "clean.sh"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := both.traces(t, got), alone.traces(t, want); got != want {
		t.Errorf("beside another run it ended as\n%s\nand alone as\n%s", got, want)
	}
	enough := errors.New("enough")
	cancel(enough)
	var unfinished *engine.UnfinishedError
	if err := <-stopped; !errors.As(err, &unfinished) || !errors.Is(unfinished.Cause, enough) {
		t.Errorf("the cancelled run ended with %v", err)
	}
	if run, err := both.Find(t.Context(), hanging.Request.Run); err != nil || run.State != app.Interrupted {
		t.Errorf("the cancelled run is %s (%v)", run.State, err)
	}
	program, err := os.ReadFile("testdata/share/clean.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(both.home, "hang.sh"), program, 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := both.Resume(t.Context(), hanging.Request.Run, app.Today{}, quiet)
	if err != nil || again.Result.Outcome != review.Converged {
		t.Errorf("resumed it ended as %s, %v", again.Result.Outcome, err)
	}
	left, err := os.ReadDir(filepath.Join(both.home, "state", "scratch"))
	if err != nil || len(left) != 1 {
		t.Errorf("%d scratch folders are left, %v", len(left), err)
	}
	for _, dir := range left {
		runs, err := os.ReadDir(filepath.Join(both.home, "state", "scratch", dir.Name()))
		if err != nil || slices.ContainsFunc(runs, os.DirEntry.IsDir) {
			t.Errorf("folders of runs that ended are left: %v, %v", runs, err)
		}
	}
}
