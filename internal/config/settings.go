package config

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
)

// Settings are all values after the layers were resolved. Nothing in it is nil that a reader would have to check.
type Settings struct {
	// Reviewers are those that take part, 1 to 5, in the order they were written.
	Reviewers []Agent
	// Comments is the comments analyzer.
	Comments Agent
	// MinReviewers is how many complete answers a verdict needs, at least 1. Those of `static` do not count, except where nobody
	// else takes part.
	MinReviewers int
	// Model and StrongerModel are what the builtin agents ask for (spec.md R5).
	Model, StrongerModel string
	// Effort is light, standard or thorough: how much a review may take where nobody said it in detail.
	Effort string
	// ReasoningEffort is how much the models of builtin agents are asked to think; empty says nothing of it.
	ReasoningEffort string
	// BaseURL is the OpenAI-compatible endpoint. The operator's layers alone may set it: the key goes there. Provider is what
	// a repository's file calls it.
	BaseURL, Provider string
	// APIKey is for internal/gateway alone.
	APIKey Secret
	// KeyBroker is the socket of the process that holds the keys; each Key is then broker.Held. Empty where there is none.
	KeyBroker string
	// Upstreams are further endpoints, Models prices and fallbacks; both are the operator's.
	Upstreams []Upstream
	Models    []Model
	// ScoreThreshold silences lower scores; ElevationThreshold is how many low scores of one kind may be joined
	// (spec.md D3.1).
	ScoreThreshold, ElevationThreshold int
	Context                            Context
	Limits                             review.Limits
	// AgentTokens bounds the tokens of one agent, input and output; 0 is without bound.
	AgentTokens int
	RunLimits   RunLimits
	Budgets     Budgets
	// FetchHosts are the hosts whose pages builtin reviewers may be given; empty is none.
	FetchHosts []string
	// Folders are the names of folders beside the tree that commands may read.
	Folders []string
	// WebSearch is the provider they may ask; its key is for internal/websearch alone.
	WebSearch WebSearch
	// ACPLimits are the budgets of an ACP reviewer or comments analyzer: Limits, with more room where nobody chose a bound.
	ACPLimits review.Limits
	// ThinkingLimits are those of a builtin one whose model reasons: Limits, with more time where nobody chose a bound.
	ThinkingLimits review.Limits
	// CostChosen is true when limits.max_cost_usd or fix.max_cost_usd is not the default: a model without a known price is then refused.
	CostChosen bool
	// RunCostDefault is true when RunLimits.CostUSD is the default, which refuses no model.
	RunCostDefault bool
	// Fixer is who fixes; Use is UseNone when nobody does.
	Fixer Agent
	// Verifier is who tries to refute findings; Use is UseNone when nobody does.
	Verifier     Agent
	Verification Verification
	// Judge is who judges what developers say against findings in threads; Use is UseNone when nobody does. HumanReviewers are who is asked to
	// review when a dispute is a person's: logins, and teams as org/team.
	Judge          Agent
	HumanReviewers []string
	// Quick says which changes are scanned, Scout who does; Use is UseNone when nobody does.
	Quick Quick
	Scout Agent
	// Discovery says for which reviews context is looked for, Finder who does; Use is UseNone when nobody does.
	Discovery Discovery
	Finder    Agent
	// FullPrompt is what the repository asks reviewers to mind.
	FullPrompt string
	// Crews are the operator's named model configurations; Crew is the one that reviews where no policy says otherwise, or empty.
	Crews []Crew
	Crew  string
	// Rounds is the most rounds of a run, 1 to 3 (spec.md L1).
	Rounds int
	// Verify are the shell lines a fix must pass; nil means that they are to be detected, an empty list that there are none.
	Verify []string
	// VerifyTimeout bounds each of them.
	VerifyTimeout time.Duration
	// VerifySetup are the shell lines that fetch and build what Verify needs, at the base; VerifyRegistries are the hosts they may reach,
	// LendCaches whose module caches of this machine commands may read. The operator's layers alone set the last two.
	VerifySetup, VerifyRegistries []string
	LendCaches                    Caches
	Fix                           Fix
	// WallTime bounds what a run does, but for waiting for GitHub.
	WallTime time.Duration
	// Gate is what the commit status of a pull request says; GateLabels are the labels, without their prefix, that may change it
	// for one (decision 52).
	Gate       gate.Policy
	GateLabels []string
	// PublishMode is PublishAppend or PublishSticky (decisions 1 and 80).
	PublishMode string
	// MinSupport is how many reviewers must agree before a finding counts (decision 3).
	MinSupport int
	// Rule says which findings count: all, or those that a rule takes (decision 39).
	Rule string
	// Calibration is the file that says what the probabilities of models are worth (decision 41); empty takes them as they are.
	Calibration string
	// Inline says which findings are comments on lines: off, prominent or all; CommentsPerPull is how many such comments a pull request
	// gets in its whole life.
	Inline          string
	CommentsPerPull int
	// NoiseBudget is how many findings stand in the open part of a report, P0, P1 and security aside.
	NoiseBudget int
	// AllowRepoCommands lets `use: command` of a repository's file run on pull requests.
	AllowRepoCommands bool

	// Commands, Review, Schedule, Tools and Output are the repository's custom prompts (spec.md C3, C4, C5).
	Commands []Command
	Review   ReviewTriggers
	Schedule Schedule
	Tools    ToolAllowlist
	Output   OutputDefaults

	explained []Setting
	replayed  bool
	// resolved is where the values came from.
	resolved *resolver
}

// ModelConfigured reports whether builtin agents have a model to talk to: a key, or an endpoint of the operator's own
// that may need none, or recorded conversations.
func (s Settings) ModelConfigured() bool {
	return s.replayed || len(s.Upstreams) > 0 || s.APIKey.Reveal() != "" || s.BaseURL != defaultBaseURL
}

// Context is what the brief is built by.
type Context struct {
	// Include and Exclude are globs on paths; excluded files are read by nothing.
	Include, Exclude []string
	// Guidance are further files of written rules, beside the known ones.
	Guidance []string
	// NeverRead are globs of paths that nothing reads at all, prloop and the commands of a fix included (internal/neverread). VerifyMayRead lets
	// setup and verify commands read them.
	NeverRead     []string
	VerifyMayRead bool
	// HideWithheld keeps the names of changed files that NeverRead names from reports and agents.
	HideWithheld bool
	// RelatedCode gives definitions, callers and remaining uses from outside the diff.
	RelatedCode bool
}

// Agent is one agent as configured.
type Agent struct {
	Name string `json:"name"`
	// Use is builtin, static, command or acp.
	Use   string `json:"use"`
	Model string `json:"model,omitempty"`
	// Lens is what a builtin reviewer looks for.
	Lens string `json:"lens,omitempty"`
	// Preset is which agent an ACP agent is (docs/acp.md).
	Preset string   `json:"preset,omitempty"`
	Path   string   `json:"path,omitempty"`
	Args   []string `json:"args,omitempty"`
	// Timeout is the agent's wall time; 0 means that of the limits.
	Timeout  Duration          `json:"timeout,omitempty"`
	Settings map[string]Scalar `json:"settings,omitempty"`
	// FromRepository is true when the agent was written in the repository's file.
	FromRepository bool `json:"-"`
	// fromOperator agents are looked up beside the operator's file.
	fromOperator bool
}

// UseNone stands where a fixer's or verifier's kind would: there is none.
const UseNone = "none"

// ReviewTriggers are the commands that run on every pull request, and the model settings of all commands on pull requests.
type ReviewTriggers struct {
	Run      []string
	Defaults ModelSettings
}

// ToolAllowlist bounds the tools of all commands; nil means all categories, and an empty list none.
type ToolAllowlist struct {
	Allow []string
}

// OutputDefaults hold for commands that say nothing themselves.
type OutputDefaults struct {
	// CommentType is issue, review or both; empty is both by comment and issue in review.run.
	CommentType string
}

// Secret is a value that no printing shows.
type Secret struct{ s string }

// Reveal gives the value to the one place that needs it.
func (s Secret) Reveal() string { return s.s }

// String says only whether it is set.
func (s Secret) String() string {
	if s.s == "" {
		return "(not set)"
	}
	return "(set)"
}

// Format keeps every printing verb to String.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalJSON keeps the value out of JSON too.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads the value from the operator's file.
func (s *Secret) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &s.s) }

// Duration is a time span written as 90s or 10m.
type Duration time.Duration

// MarshalJSON writes it as it is read.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads 90s or 10m.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// Scalar is a text, number or boolean kept as text.
type Scalar string

// UnmarshalJSON reads any of the three.
func (s *Scalar) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*s = Scalar(text)
		return nil
	}
	*s = Scalar(b)
	return nil
}
