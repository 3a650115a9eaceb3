package orchestrator

import (
	"slices"
	"time"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/score"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// Stops says which comments can stop a run (decision 49): those with a higher number than After. Since is a moment by GitHub's clock
// before all of them, Bot the login whose mention is heard. A run that nobody asked for has an Event, by the same clock: what we answered
// since then to a stop about the commit ends it too, whatever comment that was, but for those up to Over.
type Stops struct {
	Since time.Time `json:"since"`
	After int64     `json:"after"`
	Bot   string    `json:"bot,omitempty"`
	Event time.Time `json:"event,omitzero"`
	Over  int64     `json:"over,omitempty"`
}

// Request is one order to review a target. It is stored as the run's input, so it holds everything a later process
// needs to continue the run, and nothing secret.
type Request struct {
	// Run is the run's id, also the name of its artifact folder: {UTC timestamp}_{review id}.
	Run      string        `json:"run"`
	ReviewID string        `json:"reviewId"`
	Target   review.Target `json:"target"`
	// Head is the commit the order is about; a pull request whose head has moved on ends the run as superseded. Empty
	// for a local range, whose head is made when the snapshot is taken.
	Head string `json:"head"`
	// BaseRef is the branch the pull request was to be merged into when it was ordered: rules and configuration are from there.
	// One that was given another base ends the run as superseded. Empty for a local range, and in requests of before.
	BaseRef string      `json:"baseRef,omitempty"`
	Agents  []AgentPlan `json:"agents"`
	// MinReviewers is how many complete answers a verdict needs; 0 means more than half of the reviewers. The static reviewer
	// counts only where there is no other.
	MinReviewers int `json:"minReviewers"`
	// MinSupport is how many reviewers must raise the same finding before it counts for the verdict (decision 19); 0 means
	// 1, the rule of spec.md A6. Those that do not count are listed all the same.
	MinSupport int `json:"minSupport,omitempty"`
	// Rule is RuleVerified when a finding counts that the rule takes (decision 39); empty counts every finding, the rule of spec.md A6.
	Rule string `json:"rule,omitempty"`
	// Inline says which findings are comments on lines too: InlineProminent those that the report shows openly, InlineAll all it lists;
	// empty none. InlineMost is how many such comments a pull request gets in its whole life; 0 is no bound.
	Inline     string `json:"inline,omitempty"`
	InlineMost int    `json:"inlineMost,omitempty"`
	// Sticky has one comment hold the report of every review without a fixer: it is edited in place (decision 80).
	Sticky bool `json:"sticky,omitempty"`
	// Budget is how many distinct findings stand in a report's open part, P0, P1 and security aside; 0 means 5.
	Budget int `json:"budget,omitempty"`
	// Quick is the scan that comes before a full review, or in its place; nil when every change is reviewed in full (decision 71).
	Quick *QuickPlan `json:"quick,omitempty"`
	// Find is who looks for context outside the change; nil when nobody does.
	Find *FindPlan `json:"find,omitempty"`
	// Verify is who tries to refute findings before they count; nil when nobody does.
	Verify *VerifyPlan `json:"verify,omitempty"`
	// Disputes is who judges what people say against findings in threads; nil when nobody does.
	Disputes *DisputePlan `json:"disputes,omitempty"`
	// Calibration says what the probabilities of models are worth (decision 41); nil takes them as they are.
	Calibration *calibration.Table `json:"calibration,omitempty"`
	// Threshold silences findings whose score is lower in the posted report (spec.md D3.1); 0 means 5. They are
	// counted all the same.
	Threshold int `json:"threshold"`
	// Elevation is how many findings of one category below the threshold are joined into one; 0 is never.
	Elevation int `json:"elevation,omitempty"`
	// Sensitive is true when the repository handles personal or financial data, as it said at the base commit: security findings
	// are then raised (spec.md D3.1).
	Sensitive bool `json:"sensitive,omitempty"`
	// Alone is true when the one agent is a command and its answer all that is wanted: there is no review and no verdict.
	Alone bool `json:"alone,omitempty"`
	// DryRun renders the report and posts nothing.
	DryRun bool `json:"dryRun"`
	// Asked is the line of a comment that the run answers; nil for none.
	Asked *review.Asked `json:"asked,omitempty"`
	// Stops are the comments that can stop the run; nil where none can.
	Stops *Stops `json:"stops,omitempty"`
	// Force asks agents and posts although an earlier run answers the request (decision 43).
	Force bool `json:"force,omitempty"`
	// WallTime bounds what a run does: reading the change, agents and commands, all together. GitHub may take longer. 0 means 30 minutes.
	WallTime time.Duration `json:"wallTimeNs"`
	// PromptVersion is the version of the prompts the builtin agents use; it is part of the review id.
	PromptVersion string        `json:"promptVersion"`
	Limits        review.Limits `json:"limits"`
	Started       time.Time     `json:"started"`
	// Title and Body describe a local range as those of a pull request do; without them it is described by the subjects of its commits.
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
	// Checkout is the folder of a local range; empty for a pull request.
	Checkout string `json:"checkout,omitempty"`
	// Isolation is the sandbox tier agents run in, in words, for the receipt.
	Isolation string `json:"isolation,omitempty"`
	// Config says where the repository's configuration came from, in words, for the receipt.
	Config string `json:"config,omitempty"`
	// Context is what the brief is built by, as the wiring resolved it from configuration.
	Context ContextOptions `json:"context"`
	// Rounds is the most rounds of the run, 1 to 3; 0 means 3, which is the cap.
	Rounds int `json:"rounds,omitempty"`
	// Fix is how findings are fixed; nil when nothing is to be fixed.
	Fix *FixPlan `json:"fix,omitempty"`
	// FixOff says, in a sentence for the report, why a run that could fix does not; empty when Fix is set, or when nobody
	// asked for it.
	FixOff string `json:"fixOff,omitempty"`
	// Gate is what the commit status of the pull request is set by; nil sets none (decision 52).
	Gate *gate.Plan `json:"gate,omitempty"`
	// Secrets is ShowSecrets when the operator lets models see the values in files that look like secrets; empty masks them.
	Secrets string `json:"secrets,omitempty"`
}

// FixPlan is who fixes, what a fix has to pass, and where it may go.
type FixPlan struct {
	Agent AgentPlan `json:"agent"`
	// Limits are the budgets of one try.
	Limits review.Limits `json:"limits"`
	// Verify are the commands, as shell lines, that have to pass before a fix is pushed and again after it.
	Verify []string `json:"verify,omitempty"`
	// VerifyTimeout bounds each of them; 0 means the workspace's default.
	VerifyTimeout time.Duration `json:"verifyTimeoutNs,omitempty"`
	// Detected is true when the repository configures no commands and these were found in its files; those that fail on the
	// reviewed head already then bind nobody.
	Detected bool `json:"detected,omitempty"`
	// Setup are the commands, as shell lines, that fetch and build what Verify needs, on the files of SetupAt, the base commit.
	Setup   []string `json:"setup,omitempty"`
	SetupAt string   `json:"setupAt,omitempty"`
	// SetupOff says, in a sentence for the report, why commands of the configuration are not set up; empty when Setup has them, or when
	// there are none.
	SetupOff string `json:"setupOff,omitempty"`
	// Allow are globs of protected paths the operator opened.
	Allow []string `json:"allow,omitempty"`
	// PatchOnly says why nothing may be pushed to the pull request's branch, such as a fork without permission: the fix is
	// then handed over as a patch. Empty when prloop may push.
	PatchOnly string `json:"patchOnly,omitempty"`
	// Silent is true when pushes with the credential in use start no CI (decision 14).
	Silent bool `json:"silent,omitempty"`
}

// ContextOptions are the settings of the brief that have to survive a restart.
type ContextOptions struct {
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	Guidance []string `json:"guidance,omitempty"`
	// NeverRead are globs of what nothing reads (internal/neverread); Exclude holds them too. VerifyMayRead lets setup and verify commands.
	NeverRead     []string `json:"neverRead,omitempty"`
	VerifyMayRead bool     `json:"verifyMayRead,omitempty"`
	// HideWithheld keeps the names of what NeverRead names from reports and agents.
	HideWithheld bool `json:"hideWithheld,omitempty"`
	// DiffOnly leaves code outside the diff away, but for the region around each change.
	DiffOnly bool `json:"diffOnly,omitempty"`
	// HunksOnly leaves that region away too.
	HunksOnly bool `json:"hunksOnly,omitempty"`
}

// AgentPlan is one agent that takes part in a run.
type AgentPlan struct {
	Name string      `json:"name"`
	Role review.Role `json:"role"`
	// Kind is builtin, static, command or acp.
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`
	// Path and Args start a command agent.
	Path string   `json:"path,omitempty"`
	Args []string `json:"args,omitempty"`
	// Program is the sha256 of a command agent's program; empty when it was not read.
	Program string `json:"program,omitempty"`
	// Timeout is the agent's wall time; 0 means the default of the limits.
	Timeout time.Duration `json:"timeoutNs,omitempty"`
	// Stronger is the model a builtin verifier hands severe findings to that stay doubtful, Lens what a builtin reviewer looks for.
	Stronger string `json:"escalation,omitempty"`
	Lens     string `json:"lens,omitempty"`
	// Effort is how much the models of a builtin agent are asked to think; empty says nothing of it.
	Effort string `json:"effort,omitempty"`
	// Temperature is that of a builtin agent's models; nil where nobody chose one.
	Temperature *float64 `json:"temperature,omitempty"`
	// Preset says which agent an ACP one is.
	Preset string `json:"preset,omitempty"`
	// AllowPaths are the globs of protected paths that the operator opens to a fixer.
	AllowPaths []string `json:"allowPaths,omitempty"`
	// Settings are those of its configuration that a command agent is handed as they are.
	Settings map[string]string `json:"settings,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
	// Command is set in the role of a command.
	Command *CommandPlan `json:"command,omitempty"`
	// Limits replace the request's for this agent; nil means those. What the brief may hold is the same for all.
	Limits *review.Limits `json:"limits,omitempty"`
}

// RuleVerified is the word for the rule over what is known of a finding.
const RuleVerified = "verified"

const (
	defaultThreshold = 5
	defaultBudget    = 5
	defaultWallTime  = 30 * time.Minute
)

// reviewers returns the plans with the reviewer role.
func (r Request) reviewers() []AgentPlan {
	var out []AgentPlan
	for _, a := range r.Agents {
		if a.Role == review.RoleReviewer {
			out = append(out, a)
		}
	}
	return out
}

// limits are what it may spend and say.
func (a AgentPlan) limits(req Request) review.Limits {
	if a.Limits != nil {
		return *a.Limits
	}
	return req.Limits
}

// decides reports whether what an agent finds counts for the verdict: it may have raised what is open (threats.md T842).
func (a AgentPlan) decides() bool {
	return a.Role == review.RoleReviewer || a.Role == review.RoleCommand && a.Command.decides()
}

// deciding are the plans whose findings count.
func (r Request) deciding() []AgentPlan {
	return slices.DeleteFunc(slices.Clone(r.Agents), func(a AgentPlan) bool { return !a.decides() })
}

// decides reports whether the findings of an answer count, whatever it says.
func (r Request) decides(h AgentReport) bool {
	c := r.command(h)
	return h.Answer.Receipt.Role == review.RoleReviewer || c != nil && c.decides()
}

// widened is the plan of a command that is given the whole change, as reviewers are.
func (a AgentPlan) widened() AgentPlan {
	wide := *a.Command
	wide.Files, wide.DiffLines, wide.wide, a.Command = 0, 0, true, &wide
	return a
}

// staticOnly reports whether rules alone review: no model, and nobody else's program.
func (r Request) staticOnly() bool {
	all := r.reviewers()
	return len(all) > 0 && !slices.ContainsFunc(all, func(a AgentPlan) bool { return a.Kind != review.KindStatic })
}

// counts reports whether the answers of an agent of this kind count towards a verdict: those of the static reviewer do where
// rules alone review.
func (r Request) counts(kind string) bool { return kind != review.KindStatic || r.staticOnly() }

// minReviewers is how many complete answers of reviewers that count a verdict needs. More than half is the default: a single
// answer of five must not speak for the four that failed, and one reviewer alone is its own majority.
func (r Request) minReviewers() int {
	if r.MinReviewers > 0 {
		return r.MinReviewers
	}
	n := 0
	for _, a := range r.reviewers() {
		if r.counts(a.Kind) {
			n++
		}
	}
	return n/2 + 1
}

// posts reports whether anything is written on GitHub.
func (r Request) posts() bool { return !r.Target.Local() && !r.DryRun }

func (r Request) threshold() int {
	if r.Threshold > 0 {
		return r.Threshold
	}
	return defaultThreshold
}

func (r Request) budget() int {
	if r.Budget > 0 {
		return r.Budget
	}
	return defaultBudget
}

// scores are the rules on scores of this run.
func (r Request) scores() score.Rules {
	return score.Rules{Threshold: r.threshold(), Elevation: r.Elevation, Sensitive: r.Sensitive, Category: identity.Category}
}

func (r Request) wallTime() time.Duration {
	if r.WallTime > 0 {
		return r.WallTime
	}
	return defaultWallTime
}
