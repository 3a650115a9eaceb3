// Package demo makes a small world in which prloop can be watched: a forge with pull requests that have real flaws, and
// scripted models that review and fix them. Nothing leaves the machine; the stand-ins are those of the tests, and git, gh
// and everything of prloop are the real ones.
package demo

import (
	"embed"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/prloop/prloop/internal/testkit/forge"
)

//go:embed all:testdata
var files embed.FS

// key is what the scripted models ask for. It opens nothing.
const key = "demo-key-that-opens-nothing-at-all"

// World is a running demonstration.
type World struct {
	forge *forge.Forge
	// Chapters are the pull requests in the order in which they are told.
	Chapters []*Chapter
	// looked is true once mona has resolved her thread.
	looked atomic.Bool
}

// Start opens the pull requests and serves forge and models until Close.
func Start() (*World, error) {
	w := &World{}
	if err := w.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the demonstration: %w", err), w.Close())
	}
	return w, nil
}

func (w *World) start() (err error) {
	if w.forge, err = forge.Start(forge.Options{}); err != nil {
		return err
	}
	for login, name := range map[string]string{"mona": "Mona", "dana": "Dana"} {
		w.forge.AddUser(forge.User{Login: login, Name: name})
	}
	for _, c := range []*Chapter{coupons(), receipts()} {
		w.Chapters = append(w.Chapters, c) // before it is open, so that Close sees it
		if err := c.open(w.forge); err != nil {
			return fmt.Errorf("open %s: %w", c.Target, err)
		}
	}
	shop, err := w.forge.AddRepo("acme", "shop")
	if err != nil {
		return err
	}
	for _, login := range []string{"octocat", "mona", "dana"} { // prloop works as octocat
		shop.SetPermission(login, forge.Write)
	}
	w.watch(w.Chapters[0])
	return nil
}

// watch is mona, who asked a question in a thread: she resolves it when she sees that a fix was pushed.
func (w *World) watch(c *Chapter) {
	p, before := c.pull, c.pull.HeadSHA()
	w.forge.Fail(forge.Fault{Op: "CommentCreate", Do: func() {
		if p.HeadSHA() != before && w.looked.CompareAndSwap(false, true) {
			p.ResolveThread(c.thread)
		}
	}})
}

// Env is the environment in which prloop meets a chapter and nothing else. state is the folder its runs are kept in.
func (w *World) Env(c *Chapter, gh, state string) []string {
	// The demonstration has to work everywhere, so it takes the confinement there is; the report says which.
	env := append(w.forge.Env("github.com"), "PRLOOP_STATE="+state, "OPENAI_BASE_URL="+c.model.URL(), "OPENAI_API_KEY="+key, "PRLOOP_SANDBOX=best")
	if gh != "" {
		env = append(env, "PRLOOP_GH="+gh)
	}
	return env
}

// Faults are requests the stand-ins did not understand: none, when prloop speaks as GitHub and model providers expect.
func (w *World) Faults() []string {
	all := w.forge.Violations()
	for _, c := range w.Chapters {
		all = append(all, c.model.Faults()...)
	}
	return all
}

// Close ends the demonstration.
func (w *World) Close() error {
	var errs []error
	for _, c := range w.Chapters {
		if c.model != nil {
			errs = append(errs, c.model.Close())
		}
	}
	if w.forge != nil {
		errs = append(errs, w.forge.Close())
	}
	return errors.Join(errs...)
}
