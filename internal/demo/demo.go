// Package demo makes a small world in which prloop can be watched: a forge with one pull request that has real flaws, and
// a scripted model. Nothing leaves the machine; the stand-ins are those of the tests.
package demo

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
)

//go:embed testdata
var files embed.FS

// Target is the bundled pull request.
const Target = "acme/shop#42"

// key is what the scripted model asks for. It opens nothing.
const key = "demo-key-that-opens-nothing-at-all"

// World is a running demonstration.
type World struct {
	forge *forge.Forge
	model *fakemodel.Server
	pull  *forge.PullRequest
}

// Start opens the pull request and serves forge and model until Close.
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
	base, err := fs.Sub(files, "testdata/base")
	if err != nil {
		return err
	}
	head, err := fs.Sub(files, "testdata/head")
	if err != nil {
		return err
	}
	for login, name := range map[string]string{"mona": "Mona", "dana": "Dana"} {
		w.forge.AddUser(forge.User{Login: login, Name: name})
	}
	w.pull, err = w.forge.Open(forge.PullSpec{
		Owner: "acme", Repo: "shop", Number: 42, Author: "dana", HeadRef: "coupons", Base: base, Head: head,
		Title: "Add coupons", Body: "Customers can enter a coupon code at the till.",
	})
	if err != nil {
		return err
	}
	w.pull.AddThread(forge.Thread{Path: "shop/coupons.py", Line: 15, Comments: []*forge.Comment{
		{Author: "mona", Association: "MEMBER", Body: "What happens when the coupon has expired? I see no check for it."},
	}})
	script, err := files.ReadFile("testdata/model.json")
	if err != nil {
		return err
	}
	s := fakemodel.Script{Key: key}
	if err := json.Unmarshal(script, &s); err != nil {
		return fmt.Errorf("read the model's script: %w", err)
	}
	w.model, err = fakemodel.Start(s)
	return err
}

// Env is the environment in which prloop meets this world and nothing else. state is the folder its runs are kept in.
func (w *World) Env(gh, state string) []string {
	// The demonstration has to work everywhere, so it takes the confinement there is; the report says which.
	env := append(w.forge.Env("github.com"), "PRLOOP_STATE="+state, "OPENAI_BASE_URL="+w.model.URL(), "OPENAI_API_KEY="+key, "PRLOOP_SANDBOX=best")
	if gh != "" {
		env = append(env, "PRLOOP_GH="+gh)
	}
	return env
}

// Posted is what stands on the pull request's timeline, oldest first.
func (w *World) Posted() []string {
	var out []string
	for _, c := range w.pull.Comments() {
		out = append(out, c.Body)
	}
	return out
}

// Faults are requests the stand-ins did not understand: none, when prloop speaks as GitHub and model providers expect.
func (w *World) Faults() []string {
	return append(w.forge.Violations(), w.model.Faults()...)
}

// Close ends the demonstration.
func (w *World) Close() error {
	var errs []error
	if w.model != nil {
		errs = append(errs, w.model.Close())
	}
	if w.forge != nil {
		errs = append(errs, w.forge.Close())
	}
	return errors.Join(errs...)
}

// Story is the bundled change in words, for who watches the demonstration.
const Story = `Pull request acme/shop#42, "Add coupons": customers can enter a coupon code at the till. It changes three files,
and it has flaws: SQL built out of text, money as a float, a swallowed error, a key in the source, a debugger left in, a
skipped test. A colleague has asked a question in a thread that is still open.`
