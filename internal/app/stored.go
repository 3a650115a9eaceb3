package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// stored is what the engine keeps of a run that was ordered: the request, and the setup around it. Both together hold all that
// configuration, command line and environment have to say about the run, and nothing secret, so that a resumed run is the run
// that was ordered.
type stored struct {
	orchestrator.Request
	// Engine is engine.Version when the run began.
	Engine string `json:"engine"`
	Setup  setup  `json:"setup"`
	// Seal proves that all of it was written by a process with the operator's key; empty without such a key.
	Seal string `json:"seal,omitempty"`
	// RepoID is GitHub's number of the target's repository.
	RepoID int64 `json:"repoId,omitempty"`
	// Author is who opened the pull request; empty for local changes, for scheduled jobs, and in what is older than the field.
	Author review.Person `json:"author,omitzero"`
	// Job is what a scheduled job has to do; nil for a review.
	Job *scheduled `json:"job,omitempty"`
}

// setup is what shapes a run outside the loop. Keys are missing: they are taken from the environment again.
type setup struct {
	// Model is the one that is asked where nobody names another.
	Model string `json:"model,omitempty"`
	// BaseURL and Upstreams are the endpoints of models, Models their prices and fallbacks.
	BaseURL   string            `json:"baseUrl"`
	Upstreams []config.Upstream `json:"upstreams,omitempty"`
	Models    []config.Model    `json:"models,omitempty"`
	// AgentTokens, RunLimits and Budgets bound spending beside the limits of the request; 0 is without bound.
	AgentTokens int              `json:"agentTokens,omitempty"`
	RunLimits   config.RunLimits `json:"runLimits"`
	Budgets     config.Budgets   `json:"budgets"`
	// ACPLimits, VerifyLimits and FixLimits are those of agents of these kinds, whether this run has one or not: what earlier runs spent and
	// nobody knows is counted by them.
	ACPLimits    review.Limits `json:"acpLimits"`
	VerifyLimits review.Limits `json:"verifyLimits"`
	FixLimits    review.Limits `json:"fixLimits"`
	// CostChosen refuses models without a known price.
	CostChosen bool `json:"costChosen,omitempty"`
	// RunCostDefault is true when nobody chose the run's bound in dollars, which then refuses none.
	RunCostDefault bool `json:"runCostDefault,omitempty"`
	// FetchHosts are the hosts whose pages builtin reviewers may be given.
	FetchHosts []string `json:"fetchHosts,omitempty"`
	// WebSearch is the search provider they may ask.
	WebSearch config.WebSearch `json:"webSearch,omitzero"`
	// UntrustedAuthors lets pull requests be fixed whose author may not write to the repository.
	UntrustedAuthors bool `json:"untrustedAuthors,omitempty"`
	// VerifyRegistries are what setup commands may reach, LendCaches whose module caches verify commands may read.
	VerifyRegistries []string `json:"verifyRegistries,omitempty"`
	LendCaches       []string `json:"lendCaches,omitempty"`
	// Replay is the file whose recorded conversations answer instead of models; empty when models do.
	Replay string `json:"replay,omitempty"`
	// Readable are the further files and folders that confined agents may read.
	Readable []string `json:"readable,omitempty"`
	// Folders are the folders beside the tree, as they were.
	Folders []folders.Folder `json:"folders,omitempty"`
	// VerifyEnv tells the further variables of verify commands from others, and does not hold them: somebody may have put a
	// secret there. Empty when there are none.
	VerifyEnv string `json:"verifyEnv,omitempty"`
}

// store makes what is kept of a request.
func (m Machine) store(req orchestrator.Request, s config.Settings, c gateway.Cassette, beside ...folders.Folder) stored {
	out := stored{Request: req, Engine: engine.Version, Setup: setup{
		Model: s.Model, BaseURL: s.BaseURL, Upstreams: s.Upstreams, Models: s.Models, AgentTokens: s.AgentTokens, RunLimits: s.RunLimits, Budgets: s.Budgets,
		ACPLimits: s.ACPLimits, VerifyLimits: s.Verification.Limits, FixLimits: s.Fix.Limits, CostChosen: s.CostChosen, RunCostDefault: s.RunCostDefault, FetchHosts: s.FetchHosts, WebSearch: s.WebSearch, UntrustedAuthors: s.Fix.UntrustedAuthors,
		VerifyRegistries: s.VerifyRegistries, LendCaches: s.LendCaches, Readable: m.Readable, Folders: beside, VerifyEnv: m.verifyEnvSum(),
	}}
	if c.Mode == gateway.Replay {
		out.Setup.Replay = c.Path
	}
	return out
}

// verifyEnvSum tells the variables of verify commands from others; empty when there are none.
func (m Machine) verifyEnvSum() string {
	if len(m.VerifyEnv) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(m.VerifyEnv, "\n")))
	return hex.EncodeToString(sum[:])
}

// settings are those the run began with, with the keys of today. A key goes to no endpoint but the one that today's configuration
// names it for.
func (st stored) settings(today config.Settings) (config.Settings, error) {
	s, models := st.Setup, mayAskModel(takingPart(st.Request)) && st.Setup.Replay == ""
	if models && s.BaseURL != today.BaseURL {
		return today, &ChangedError{Run: st.Run, Part: CommonEndpoint, Had: s.BaseURL}
	}
	upstreams := slices.Clone(s.Upstreams)
	for i, u := range upstreams {
		at := slices.IndexFunc(today.Upstreams, func(t config.Upstream) bool { return t.Name == u.Name && t.BaseURL == u.BaseURL })
		switch {
		case at >= 0:
			upstreams[i].Key = today.Upstreams[at].Key
		case models:
			return today, &ChangedError{Run: st.Run, Part: NamedEndpoint, Had: u.Name + " (" + u.BaseURL + ")"}
		}
	}
	search := s.WebSearch
	if t := today.WebSearch; t.Provider == search.Provider && t.BaseURL == search.BaseURL {
		search.Key = t.Key
	} else {
		search = config.WebSearch{} // a question goes to nobody whom today's configuration does not name
	}
	today.WebSearch = search
	today.Model, today.BaseURL, today.Upstreams, today.Models = cmp.Or(s.Model, today.Model), s.BaseURL, upstreams, s.Models
	today.AgentTokens, today.RunLimits, today.Budgets, today.CostChosen = s.AgentTokens, s.RunLimits, s.Budgets, s.CostChosen
	today.RunCostDefault = s.RunCostDefault
	today.Limits, today.ACPLimits, today.WallTime, today.FetchHosts = st.Limits, s.ACPLimits, st.WallTime, s.FetchHosts
	today.Verification.Limits = s.VerifyLimits
	today.VerifyRegistries, today.LendCaches = s.VerifyRegistries, s.LendCaches
	today.Folders = nil
	for _, f := range s.Folders {
		today.Folders = append(today.Folders, f.Name)
	}
	today.Fix.Limits, today.Fix.UntrustedAuthors = s.FixLimits, s.UntrustedAuthors
	return today, nil
}

// cassette is what answers instead of models, if it was so when the run began. Recording is no part of a run: the environment of
// today says whether it is done.
func (st stored) cassette(today gateway.Cassette) gateway.Cassette {
	switch {
	case st.Setup.Replay != "":
		return gateway.Cassette{Path: st.Setup.Replay, Mode: gateway.Replay}
	case today.Mode == gateway.Replay:
		return gateway.Cassette{}
	}
	return today
}

// sameMachine refuses to go on in another sandbox than the run began with, or with other things lent through it: its reports name
// the sandbox, and whether a fixer may work was decided by it (threats.md P15).
func (m Machine) sameMachine(ctx context.Context, st stored) error {
	confinement, err := m.confinement(ctx, st.Target)
	switch {
	case err != nil:
		return err
	case !confinement.Told(st.Isolation):
		return &ChangedError{Run: st.Run, Part: Isolation, Had: st.Isolation, Now: confinement.String()}
	case !slices.Equal(m.Readable, st.Setup.Readable):
		return &ChangedError{Run: st.Run, Part: Readable, Had: strings.Join(st.Setup.Readable, string(filepath.ListSeparator))}
	case m.verifyEnvSum() != st.Setup.VerifyEnv:
		return &ChangedError{Run: st.Run, Part: VerifyEnv}
	}
	return nil
}

// Today is what a resumed run takes anew.
type Today struct {
	// Layers are the operator's, for the keys: the environment and the operator's file.
	Layers config.Input
	// Cassette records or replays conversations with models.
	Cassette gateway.Cassette
}

// rebuild builds the loop of a stored run: all is what it was, keys and the login are today's. The engine lets one process at a
// time come here with a run, and with no run that has ended: only then is the pull request taken.
func (r *run) rebuild(ctx context.Context, st stored, today Today) (looping, error) {
	if err := r.sealed(st); err != nil {
		return nil, err
	}
	if err := r.opts.Machine.sameMachine(ctx, st); err != nil {
		return nil, err
	}
	r.cassette, r.repoID = st.cassette(today.Cassette), st.RepoID
	in := today.Layers // who takes part stands in the request
	in.Local, in.Replayed = st.Target.Local(), r.cassette.Mode == gateway.Replay
	settings, err := config.ResolveEarly(in)
	if err != nil {
		return nil, err
	}
	if r.settings, err = st.settings(settings); err != nil {
		return nil, err
	}
	if !st.Target.Local() && !st.DryRun {
		r.repairStatuses(ctx, r.id)
	}
	lease, err := r.hold(ctx, st.Request)
	if err != nil {
		return nil, err
	}
	if !st.Target.Local() {
		if err = r.meet(ctx, st.Target.Repo); err != nil {
			return nil, err
		}
	}
	if lease != nil && !st.Alone { // nobody can begin one from now on
		if r.newer, err = r.newerThan(ctx, st); err != nil {
			return nil, err
		}
	}
	r.takeBackStatus(ctx)
	r.forgetArtifacts(st.Run)
	if r.history, err = r.openHistory(ctx, st.Target, st.Checkout); err != nil {
		return nil, fmt.Errorf("open the repository of run %s: %w", st.Run, err)
	}
	r.history.withhold(st.Context.NeverRead)
	loop, err := r.loopOf(ctx, st, lease)
	if err != nil {
		return nil, err
	}
	if had, now := foldersInWords(st.Setup.Folders), foldersInWords(r.folders); had != now {
		return nil, &ChangedError{Run: st.Run, Part: Folders, Had: had, Now: now}
	}
	return loop, nil
}
