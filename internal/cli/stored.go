package cli

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
	// ACPLimits and FixLimits are those of agents of these kinds, whether this run has one or not: what earlier runs spent and
	// nobody knows is counted by them.
	ACPLimits review.Limits `json:"acpLimits"`
	FixLimits review.Limits `json:"fixLimits"`
	// CostChosen refuses models without a known price.
	CostChosen bool `json:"costChosen,omitempty"`
	// FetchHosts are the hosts whose pages builtin reviewers may be given.
	FetchHosts []string `json:"fetchHosts,omitempty"`
	// UntrustedAuthors lets pull requests be fixed whose author may not write to the repository.
	UntrustedAuthors bool `json:"untrustedAuthors,omitempty"`
	// Replay is the file whose recorded conversations answer instead of models; empty when models do.
	Replay string `json:"replay,omitempty"`
	// Readable are the further files and folders that confined agents may read.
	Readable []string `json:"readable,omitempty"`
	// VerifyEnv tells the further variables of verify commands from others, and does not hold them: somebody may have put a
	// secret there. Empty when there are none.
	VerifyEnv string `json:"verifyEnv,omitempty"`
}

// store makes what is kept of a request.
func (p *Proc) store(req orchestrator.Request, s config.Settings, c gateway.Cassette) (stored, error) {
	out := stored{Request: req, Engine: engine.Version, Setup: setup{
		Model: s.Model, BaseURL: s.BaseURL, Upstreams: s.Upstreams, Models: s.Models, AgentTokens: s.AgentTokens, RunLimits: s.RunLimits, Budgets: s.Budgets,
		ACPLimits: s.ACPLimits, FixLimits: s.Fix.Limits, CostChosen: s.CostChosen, FetchHosts: s.FetchHosts, UntrustedAuthors: s.Fix.UntrustedAuthors,
	}}
	if c.Mode == gateway.Replay {
		out.Setup.Replay = c.Path
	}
	err := p.lend(&out.Setup)
	return out, err
}

// lend fills in what the environment alone says.
func (p *Proc) lend(s *setup) error {
	env, err := p.verifyEnv()
	if len(env) > 0 {
		sum := sha256.Sum256([]byte(strings.Join(env, "\n")))
		s.VerifyEnv = hex.EncodeToString(sum[:])
	}
	s.Readable = filepath.SplitList(p.env(envSandboxRead))
	return err
}

// settings are those the run began with, with the keys of today. A key goes to no endpoint but the one that today's configuration
// names it for.
func (st stored) settings(today config.Settings) (config.Settings, error) {
	s, models := st.Setup, needsModel(st.agents()) && st.Setup.Replay == ""
	missing := func(endpoint, next string) error {
		return usage(next, "run %s began with the model endpoint %s, which is not configured any more", st.Run, endpoint)
	}
	if models && s.BaseURL != today.BaseURL {
		return today, missing(s.BaseURL, "OPENAI_BASE_URL="+s.BaseURL+", with the key of that endpoint in OPENAI_API_KEY")
	}
	upstreams := slices.Clone(s.Upstreams)
	for i, u := range upstreams {
		at := slices.IndexFunc(today.Upstreams, func(t config.Upstream) bool { return t.Name == u.Name && t.BaseURL == u.BaseURL })
		switch {
		case at >= 0:
			upstreams[i].Key = today.Upstreams[at].Key
		case models:
			return today, missing(u.Name+" ("+u.BaseURL+")", "bring it back under upstreams in your own configuration")
		}
	}
	today.Model, today.BaseURL, today.Upstreams, today.Models = cmp.Or(s.Model, today.Model), s.BaseURL, upstreams, s.Models
	today.AgentTokens, today.RunLimits, today.Budgets, today.CostChosen = s.AgentTokens, s.RunLimits, s.Budgets, s.CostChosen
	today.Limits, today.ACPLimits, today.WallTime, today.FetchHosts = st.Limits, s.ACPLimits, st.WallTime, s.FetchHosts
	today.Fix.Limits, today.Fix.UntrustedAuthors = s.FixLimits, s.UntrustedAuthors
	return today, nil
}

// agents are all who take part, the fixer included.
func (st stored) agents() []orchestrator.AgentPlan {
	if st.Fix == nil {
		return st.Agents
	}
	return append(slices.Clone(st.Agents), st.Fix.Agent)
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

// sameWalls refuses to go on behind other walls than the run began with, or with other things lent through them: its reports name
// the walls, and whether a fixer may work was decided by them (threats.md P15).
func (s *session) sameWalls(ctx context.Context, st stored) error {
	walls, err := s.p.walls(ctx, st.Target)
	if err != nil {
		return err
	}
	if !walls.Told(st.Isolation) {
		return hinted{
			err:  fmt.Errorf("run %s began with other isolation than there is now, which only a new run may use: it had %s; now it is %s", st.Run, st.Isolation, walls),
			next: "bring back what it had (" + envSandbox + ", " + envSandboxWithout + ", prloop doctor)", status: exitUsage,
		}
	}
	var now setup
	if err := s.p.lend(&now); err != nil {
		return err
	}
	if !slices.Equal(now.Readable, st.Setup.Readable) {
		had := envSandboxRead + "=" + strings.Join(st.Setup.Readable, string(filepath.ListSeparator))
		return usage(had, "run %s began with other files for agents to read than %s names now", st.Run, envSandboxRead)
	}
	if now.VerifyEnv != st.Setup.VerifyEnv {
		return usage("bring back what it had, or start a new run", "run %s began with another %s than there is now", st.Run, envVerify)
	}
	return nil
}
