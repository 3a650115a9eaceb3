// Package doctor looks at what a run needs of this machine, and says what is missing and how to get it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/internal/troubleshoot"
)

// Checkup is one thing that was looked at.
type Checkup struct {
	What string `json:"what"`
	// Note is what was found; Next what to do about it.
	Note  string `json:"note"`
	Next  string `json:"next,omitempty"`
	State State  `json:"state"`
}

// State is how a checkup ended.
type State string

// The states.
const (
	OK       State = "ok"
	Optional State = "optional" // only who asks for it needs it
	Missing  State = "missing"  // prloop works without it, in part
	Broken   State = "broken"
)

// Doctor is what is looked at, and with what.
type Doctor struct {
	// Env is the environment as KEY=value entries, Dir the working directory.
	Env []string
	Dir string
	// Operator reads the operator's words, and with them the environment.
	Operator *operator.Words
	// Order is a run without flags; the error is why there is none.
	Order func() (app.Order, error)
	// Open opens the record of runs, StateFolder names its folder.
	Open        func(context.Context) (*app.Service, error)
	StateFolder func() (string, error)
	Log         hclog.Logger
}

// Examine looks at everything, in the order in which a person reads it, and tells each checkup as it ends.
func (d *Doctor) Examine(ctx context.Context, tell func(Checkup)) {
	states, alone := map[string]State{}, d.alone(ctx)
	var without []string
	for _, check := range []func(context.Context) Checkup{d.git, d.github, d.config, d.model, d.state, d.gate, d.writes, d.isolation, d.bounds, d.linters, d.packages} {
		c := check(ctx)
		if alone && c.State == Broken && onlyPulls(c) {
			c.State, without = Missing, append(without, c.What)
		}
		states[c.What] = c.State
		tell(c)
	}
	for _, c := range agents(ctx) {
		tell(c)
	}
	tell(ready(states, without))
}

// alone reports whether the folder is in a checkout without a remote, which has no pull requests.
func (d *Doctor) alone(ctx context.Context) bool {
	g, err := git.Find(ctx, git.Options{})
	if err != nil || d.Operator.Get("GH_REPO") != "" {
		return false
	}
	c, err := g.Checkout(d.Dir)
	if err != nil {
		return false
	}
	remotes, err := c.Remotes(ctx)
	return err == nil && len(remotes) == 0
}

// onlyPulls reports whether only pull requests need what a checkup found broken.
func onlyPulls(c Checkup) bool {
	return c.What == "github" || c.What == "gate" || c.Next == troubleshoot.NoConfinement
}

// ready says in the end what can be reviewed, given how the checkups ended, and which of them keep nothing but pull requests from it.
func ready(states map[string]State, without []string) Checkup {
	with := "with a model"
	switch states["model"] {
	case Missing:
		with = "by rules only, because no model is configured"
	case Broken:
		with = "by rules only (--reviewers static), because the model does not work"
	}
	broken := func(what ...string) bool {
		return slices.ContainsFunc(what, func(w string) bool { return states[w] == Broken })
	}
	c := Checkup{What: "ready", State: OK, Note: "local changes and pull requests, " + with}
	works := !broken(slices.Collect(maps.Keys(states))...)
	pulls := works && without == nil
	switch local := !broken("git", "state") && states["config"] == OK; {
	case works && !pulls && local:
		c.Note = "local changes, " + with + "; this checkout has no remote, and for pull requests see " + strings.Join(without, " and ") + " above"
	case !pulls && local:
		c.State, c.Note = Missing, "local changes, "+with+"; pull requests not yet: see what is broken above"
	case !pulls:
		c.State, c.Note = Broken, "nothing can be reviewed yet: see what is broken above"
	case !local:
		c.Note = "pull requests, " + with + "; no local changes: see config above"
	}
	return c
}

// diagnosed is a checkup that ended in an error.
func diagnosed(what string, err error) Checkup {
	h := troubleshoot.Explain(err)
	return Checkup{What: what, Note: h.Error(), Next: h.Next, State: Broken}
}

func (d *Doctor) git(ctx context.Context) Checkup {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return diagnosed("git", err)
	}
	return Checkup{What: "git", Note: g.Version(), State: OK}
}

func (d *Doctor) github(ctx context.Context) Checkup {
	host := github.DefaultHost(d.Env)
	c, err := github.New(ctx, github.Options{Host: host, Env: d.Env, GH: d.Operator.Get("PRLOOP_GH"), Broker: d.Operator.Get(operator.EnvGitHubBroker)})
	if err != nil {
		return diagnosed("github", err)
	}
	who, err := c.Viewer(ctx, host)
	if err != nil {
		return diagnosed("github", err)
	}
	if c.IsApp() {
		return installations(ctx, c, who.Login)
	}
	return Checkup{What: "github", Note: "logged in to " + host + " as " + who.Login, State: OK}
}

// installations says where a GitHub App is installed, and what it cannot do there for want of which permission.
func installations(ctx context.Context, c *github.Client, login string) Checkup {
	all, err := c.Installations(ctx)
	if err != nil {
		return diagnosed("github", err)
	}
	out, works := Checkup{What: "github", State: OK}, false
	var where, next []string
	for _, i := range all {
		words, lacks := i.Account, i.Lacking()
		if !i.All {
			words += " (selected repositories)"
		}
		switch {
		case !i.Suspended.IsZero():
			words += ": suspended"
		case len(lacks) > 0:
			words += ": lacks " + strings.Join(lacks, "; ")
		default:
			works = true
		}
		if !i.Suspended.IsZero() || len(lacks) > 0 {
			out.State, next = Missing, append(next, i.URL)
		}
		works = works || i.Suspended.IsZero() && !slices.ContainsFunc(lacks, func(l string) bool { return strings.HasSuffix(l, "to read") })
		where = append(where, words)
	}
	if !works {
		out.State = Broken
	}
	out.Note = "the GitHub App " + login + " at " + c.Host() + ", on " + strings.Join(where, ", ")
	if len(next) > 0 {
		out.Next = "grant it at " + strings.Join(next, " and ") + " (give the App the permission first: its settings, Permissions & events)"
	}
	return out
}

func (d *Doctor) config(ctx context.Context) Checkup {
	file, err := config.ReadOperator(d.Operator.Get)
	if err == nil && file != nil {
		err = config.Validate(config.Operator, file.Name, file.Data)
	}
	if err != nil {
		return diagnosed("config", err)
	}
	if _, err := config.ResolveEarly(config.Input{Env: d.Operator.Get, Operator: file}); err != nil {
		return diagnosed("config", err)
	}
	c := Checkup{What: "config", State: OK}
	if path, _ := config.OperatorPath(d.Operator.Get); file == nil {
		c.Note = "no user config at " + path + "; using defaults"
	} else {
		c.Note = file.Name
	}
	here, err := app.RulesIn(ctx, d.Dir)
	if err == nil && here.Top != "" {
		var local app.Order
		if local, err = d.Order(); err == nil {
			_, err = local.Settings(here)
		}
	}
	if err != nil { // of no account for pull requests
		c := diagnosed("config", err)
		c.Note, c.State = "no local range can be reviewed here: "+c.Note, Missing
		return c
	}
	if here.File != nil {
		c.Note += "; " + here.From
	}
	return c
}

func (d *Doctor) model(ctx context.Context) Checkup {
	order, err := d.Order()
	if err != nil {
		return Checkup{What: "model", Note: "skipped: invalid configuration", State: Broken}
	}
	settings, err := order.EarlySettings(true)
	if err != nil {
		return Checkup{What: "model", Note: "skipped: invalid configuration", State: Broken}
	}
	if !settings.ModelConfigured() {
		return Checkup{What: "model", Note: "none is configured: only the static reviewer runs", Next: "set OPENAI_API_KEY", State: Missing}
	}
	if err := app.CheckModel(ctx, d.Log, settings); err != nil {
		return diagnosed("model", err)
	}
	return Checkup{What: "model", Note: settings.Model + " at " + settings.BaseURL, State: OK}
}

func (d *Doctor) state(ctx context.Context) Checkup {
	s, err := d.Open(ctx)
	if err != nil {
		return diagnosed("state", err)
	}
	defer s.Close(ctx)
	probe := filepath.Join(s.State(), ".writable")
	if err := errors.Join(os.WriteFile(probe, nil, 0o600), os.Remove(probe)); err != nil {
		return Checkup{What: "state", Note: err.Error(), Next: "set PRLOOP_STATE to a folder you can write", State: Broken}
	}
	c := Checkup{What: "state", Note: s.State(), State: OK}
	if name := s.Database(); filepath.Dir(name) != s.State() {
		c.Note += "; the record of runs is in " + name
	}
	return c
}

// gate tells of a commit status that a run could not set: GitHub says what a credential lacks only when it is used.
func (d *Doctor) gate(ctx context.Context) Checkup {
	s, err := d.Open(ctx)
	if err != nil { // state says so
		return Checkup{What: "gate", Note: "skipped: there is no record of runs", State: Missing}
	}
	defer s.Close(ctx)
	missing, ran, err := s.GateMissing(ctx)
	switch {
	case err != nil:
		return diagnosed("gate", err)
	case missing != "":
		next := "give the credential the permission \"statuses: write\", or set gate: \"off\" in the operator's file"
		if strings.Contains(missing, github.ErrStatusesSpent.Error()) {
			next = "push a new commit"
		}
		return Checkup{What: "gate", Note: missing, Next: next, State: Broken}
	case !ran:
		return Checkup{What: "gate", Note: "no run has set a commit status yet", State: OK}
	}
	return Checkup{What: "gate", Note: "the newest run that sets a commit status could set it", State: OK}
}

// permissions are what changes on GitHub need, in GitHub's words, by the kind of the change.
var permissions = map[string]string{
	"comment": "pull_requests: write", "edit-comment": "pull_requests: write", "rewrite-comment": "pull_requests: write", "minimize": "pull_requests: write", "review": "pull_requests: write",
	"reply": "pull_requests: write", "resolve": "pull_requests: write and contents: write", "unresolve": "pull_requests: write and contents: write", "ask": "pull_requests: write",
	"reaction": "pull_requests: write", "branch": "contents: write", "pull-request": "pull_requests: write", "pull-request-words": "pull_requests: write",
}

// writes tells of what runs could not change on GitHub, status aside, which says so itself.
func (d *Doctor) writes(ctx context.Context) Checkup {
	s, err := d.Open(ctx)
	if err != nil { // state says so
		return Checkup{What: "writes", Note: "skipped: there is no record of runs", State: Missing}
	}
	defer s.Close(ctx)
	refused, wrote, err := s.Refused(ctx)
	if err != nil {
		return diagnosed("writes", err)
	}
	var notes, needs []string
	for _, r := range refused {
		if need := permissions[r.Kind]; need != "" {
			notes = append(notes, fmt.Sprintf("run %s could not send %s", r.Run, r.Kind))
			if !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
	}
	if !wrote {
		return Checkup{What: "writes", Note: "no run has written to GitHub yet", State: OK}
	}
	if len(notes) == 0 {
		return Checkup{What: "writes", Note: "GitHub accepted what the newest runs wrote", State: OK}
	}
	return Checkup{What: "writes", Note: strings.Join(notes, "; "), Next: "see why with: prloop show " + refused[0].Run + "; the credential may lack " + strings.Join(needs, ", "), State: Missing}
}

// tiers say what a tier contains (threats.md "Sandbox tiers").
var tiers = map[sandbox.Tier]string{
	sandbox.Tier1:  "agents on pull requests are fully confined: files, network, processes",
	sandbox.Tier1b: "agents on pull requests are fully confined: files, network, processes",
	sandbox.Tier2:  "agents on pull requests can be confined in part only: files, and the network of those without a model",
	sandbox.Tier3:  "agents on pull requests can be confined in part only",
	sandbox.Tier4:  "agents on pull requests cannot be confined",
}

// isolation says what stands around agents. It never says more than what is there (threats.md P15).
func (d *Doctor) isolation(ctx context.Context) Checkup {
	word, err := d.Operator.Confinement()
	if err != nil {
		return diagnosed("isolation", err)
	}
	machine, err := d.Operator.Sandbox()
	if err != nil {
		return diagnosed("isolation", err)
	}
	report := machine.Probe(ctx).Private()
	c := Checkup{What: "isolation", Note: fmt.Sprintf("%s: %s", report, tiers[report.Tier]), State: OK}
	if report.Tier > sandbox.Tier1b {
		c.State, c.Next = Broken, troubleshoot.NoConfinement
	}
	if word != app.ConfineRequired {
		c.State, c.Note = Missing, operator.EnvSandbox+"="+string(word)+"; this machine has "+c.Note
	}
	return c
}

// bounds says what bounds agents, how hard, and whether there is room to start them.
func (d *Doctor) bounds(ctx context.Context) Checkup {
	limits, err := d.Operator.Limits()
	if err != nil {
		return diagnosed("bounds", err)
	}
	machine, err := d.Operator.Sandbox()
	if err != nil {
		return diagnosed("bounds", err)
	}
	if state, err := d.StateFolder(); err == nil {
		if err := limits.Room(state); err != nil {
			return diagnosed("bounds", err)
		}
	}
	word, err := d.Operator.Confinement()
	if err != nil {
		return diagnosed("bounds", err)
	}
	full := word != app.ConfineOff && machine.Probe(ctx).Tier <= sandbox.Tier1b
	return Checkup{What: "bounds", Note: "agents are " + agentrun.BoundsHere(full), State: OK}
}

// linters are those that local changes are read by, of every language: which of them a change needs, its run says.
func (d *Doctor) linters(ctx context.Context) Checkup {
	dir := d.Dir
	if rules, err := app.RulesIn(ctx, d.Dir); err == nil && rules.Top != "" {
		dir = rules.Top
	}
	here, missing := static.Linters(dir)
	c := Checkup{What: "linters", State: OK, Note: strings.Join(here, ", ")}
	if len(here) == 0 {
		c.State, c.Note = Missing, "none"
	}
	if len(missing) > 0 {
		c.Note += "; not installed: " + strings.Join(missing, ", ") + " (they read local changes; none is needed)"
	}
	return c
}
