package agentrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// approves is a reviewer that leaves its environment and its folder beside itself.
const approves = `#!/bin/sh
cat >/dev/null
env >"$0.env"
pwd >"$0.pwd"
echo '{"event":"log","level":"info","message":"looking","agent":"somebody else"}'
echo '{"agent":"one","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}'
`

func command(t *testing.T, name string) orchestrator.AgentPlan {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(approves), 0o700); err != nil {
		t.Fatal(err)
	}
	return orchestrator.AgentPlan{Name: name, Role: review.RoleReviewer, Kind: review.KindCommand, Path: file}
}

func taskOf(plan orchestrator.AgentPlan) review.Task {
	return review.Task{
		Version: review.TaskVersion, Role: plan.Role, Agent: plan.Name, PRNumber: 7, BaseSHA: strings.Repeat("1", 40), HeadSHA: strings.Repeat("2", 40),
		Limits: review.DefaultLimits(), Options: review.Options{Threshold: 5},
	}
}

// A child is told nothing of prloop's environment, lives in a folder that is gone afterwards, and speaks under the name it
// was given.
func TestAskCommand(t *testing.T) {
	t.Setenv("GH_TOKEN", "ghp_of_prloop_alone")
	plan := command(t, "one")
	c := &Launcher{Scratch: t.TempDir(), State: t.TempDir(), Confinement: Unconfined("a test"), Fence: "fence"}
	var from []string
	got := c.Ask(t.Context(), plan, taskOf(plan), func(e review.Event) { from = append(from, e.Agent) })
	if got.Receipt.State != review.AgentComplete || got.Reviewer == nil || got.Reviewer.Conclusion != review.Approve {
		t.Fatalf("%+v", got)
	}
	if len(from) == 0 || slices.ContainsFunc(from, func(name string) bool { return name != "one" }) {
		t.Errorf("events are of %q", from)
	}
	env, err := os.ReadFile(plan.Path + ".env")
	if err != nil || strings.Contains(string(env), "GH_TOKEN") || !strings.Contains(string(env), "HOME="+c.Scratch) || strings.Contains(string(env), EnvSocket) {
		t.Errorf("%v\n%s", err, env)
	}
	dir, err := os.ReadFile(plan.Path + ".pwd")
	if err != nil || !strings.HasPrefix(filepath.Base(strings.TrimSpace(string(dir))), "agent-") {
		t.Errorf("it worked in %s %v", dir, err)
	}
	if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the scratch folder: %v %v", left, err)
	}
}

// Linters of a local range find the user's home and caches; whoever reads a pull request, and everybody else, does not.
func TestStaticHasTheUsersCaches(t *testing.T) {
	t.Setenv("GOCACHE", "/warm")
	t.Setenv("GH_TOKEN", "ghp_of_prloop_alone")
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct {
		checkout string
		role     review.Role
		own      bool
	}{{t.TempDir(), review.RoleReviewer, true}, {"", review.RoleReviewer, false}, {t.TempDir(), review.RoleCommentsAnalyzer, false}} {
		plan := command(t, "one")
		plan.Kind, plan.Role = review.KindStatic, c.role
		crew := &Launcher{Self: plan.Path, Checkout: c.checkout, Scratch: t.TempDir(), State: t.TempDir(), Confinement: Unconfined("a test"), Fence: "fence"}
		crew.Ask(t.Context(), plan, taskOf(plan), func(review.Event) {})
		data, err := os.ReadFile(plan.Path + ".env")
		if err != nil {
			t.Fatal(err)
		}
		env := strings.Split(string(data), "\n")
		if slices.Contains(env, "HOME="+home) != c.own || slices.Contains(env, "GOCACHE=/warm") != c.own || slices.Contains(env, EnvCheckout+"="+c.checkout) != c.own ||
			strings.Contains(string(data), "GH_TOKEN") {
			t.Errorf("%s in %q:\n%s", c.role, c.checkout, data)
		}
	}
}

// An agent that could not be started has an answer that says why; it is never complete.
func TestAskInVain(t *testing.T) {
	known := command(t, "known")
	for _, c := range []struct {
		name string
		plan orchestrator.AgentPlan
		want string
	}{
		{"without a sandbox nobody is started", known, "the launcher is not told how to confine"},
		{"a builtin one needs a model", orchestrator.AgentPlan{Role: review.RoleReviewer, Kind: review.KindBuiltin}, "no model is configured: set OPENAI_API_KEY"},
		{"an ACP one needs a model", orchestrator.AgentPlan{Role: review.RoleReviewer, Kind: review.KindACP, Preset: "opencode"},
			"no model is configured: set OPENAI_API_KEY"},
		{"a preset", orchestrator.AgentPlan{Role: review.RoleReviewer, Kind: review.KindACP, Preset: "x"}, `there is no preset "x"`},
		{"a kind", orchestrator.AgentPlan{Role: review.RoleReviewer, Kind: "x"}, `agents of kind "x" are unknown`},
	} {
		crew := &Launcher{Scratch: t.TempDir(), State: t.TempDir()}
		got := crew.Ask(t.Context(), c.plan, taskOf(c.plan), func(review.Event) {})
		if got.Receipt.State != review.AgentFailed || !strings.Contains(got.Receipt.Whole(), c.want) {
			t.Errorf("%s: %+v", c.name, got.Receipt)
		}
	}
	if _, err := os.Stat(known.Path + ".env"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program was started: %v", err)
	}
}

// Verify commands are a stranger's code: without a sandbox they are not run, unless somebody said that there is none.
func TestJobsNeedASandbox(t *testing.T) {
	cmd := sandbox.Command{Path: "/bin/true"}
	if got, err := (&Launcher{}).confineJob(sandbox.Policy{}, cmd); !errors.Is(err, errNoSandbox) || got.Path != "" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := (&Launcher{Confinement: Unconfined("a test")}).confineJob(sandbox.Policy{}, cmd); err != nil || got.Path != cmd.Path {
		t.Errorf("%+v %v", got, err)
	}
}

// What a recording leaves out is the fence, then each commit once, in the order it was seen.
func TestWords(t *testing.T) {
	a, b, fix := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	c := &Launcher{Fence: "fence"}
	c.seen.learn(review.Task{BaseSHA: a, HeadSHA: b})
	c.seen.learn(review.Task{BaseSHA: a, HeadSHA: fix, Claims: []review.Claim{{Commit: "short"}, {Commit: b}}})
	if got := c.Words(); !slices.Equal(got, []string{"fence", a, b, fix}) {
		t.Errorf("%q", got)
	}
}

// A figure nobody knows stays unknown; one that was unknown before counts whole.
func TestSince(t *testing.T) {
	three, five := 3, 5
	if got := since(nil, &three); got != nil {
		t.Errorf("%d", *got)
	}
	if got := since(&five, nil); got == nil || *got != 5 {
		t.Error("nothing was known before")
	}
	if got := since(&five, &three); got == nil || *got != 2 || five != 5 {
		t.Error("5 since 3")
	}
}

// agreed is a comments analyzer that found nothing to ask a model.
const agreed = `#!/bin/sh
cat >/dev/null
echo '{"agent":"c","prNumber":7,"reviewState":{"hasChangesRequested":false,"changesRequestedBy":[]},"stats":{"totalThreads":0,"resolvedThreads":0,"unresolvedThreads":0},"threadsTruncated":false,"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"pendingIssues":[],"fullReport":""}'
`

// A builtin agent that made no call spent nothing, and that is known.
func TestAskingNobodyIsFree(t *testing.T) {
	self := filepath.Join(t.TempDir(), "self")
	if err := os.WriteFile(self, []byte(agreed), 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), gateway.Options{Upstreams: []gateway.Upstream{{Name: "nobody", BaseURL: "http://127.0.0.1:1/v1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	c := &Launcher{Self: self, Gateway: g, Scratch: t.TempDir(), State: t.TempDir(), Confinement: Unconfined("a test"), Fence: "fence"}
	plan := orchestrator.AgentPlan{Name: "c", Role: review.RoleCommentsAnalyzer, Kind: review.KindBuiltin}
	got := c.Ask(t.Context(), plan, taskOf(plan), func(review.Event) {}).Receipt
	u := got.Usage
	if got.State != review.AgentComplete || u.InputTokens == nil || u.CachedTokens == nil || u.OutputTokens == nil || u.CostUSD == nil {
		t.Fatalf("%+v", got)
	}
	if *u.InputTokens+*u.CachedTokens+*u.OutputTokens != 0 || *u.CostUSD != 0 {
		t.Errorf("%+v", u)
	}
}

// Unknown is never zero for an agent that did call: a lost answer leaves its call, a refused one the time it took.
func TestIdle(t *testing.T) {
	for name, u := range map[string]review.Usage{
		"a call whose answer was lost": {LLMCalls: 1}, "a call that was refused": {LLMSeconds: 0.01}, "an answer": {Models: []string{"m"}},
	} {
		if idle(u) {
			t.Errorf("%s counts for nothing", name)
		}
	}
	if !idle(review.Usage{ToolCalls: 3}) {
		t.Error("tools are no models")
	}
}

// Nothing is pushed once the run has lost its pull request, or the right to push.
func TestPushAsksFirst(t *testing.T) {
	lost, unseen := errors.New("the lease is lost"), errors.New("the right cannot be seen")
	var asked []string
	b := &FixExecutor{
		Launcher: &Launcher{}, Server: func(review.Repo) git.Server { return git.Server{} },
		Held: func(context.Context) error { asked = append(asked, "held"); return lost },
		MayPush: func(context.Context, review.PullRequest) (string, error) {
			asked = append(asked, "right")
			return "", unseen
		},
	}
	if _, err := b.Push(t.Context(), review.PullRequest{}, "a", "b"); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
	b.Held = nil
	if _, err := b.Push(t.Context(), review.PullRequest{}, "a", "b"); !errors.Is(err, unseen) {
		t.Errorf("%v", err)
	}
	if !slices.Equal(asked, []string{"held", "right"}) {
		t.Errorf("asked for %q", asked)
	}
}

// What raises a budget of an agent's own is a setting of its role; what raises another is named whoever asks.
func TestBoundsOf(t *testing.T) {
	for role, want := range map[review.Role]string{
		review.RoleReviewer: "limits.max_wall_time_seconds raises it (--max-wall-time)", review.RoleVerifier: "verification.max_wall_time_seconds raises it", review.RoleFixer: "fix.max_wall_time_seconds raises it",
		review.RoleScout: "quick.max_wall_time_seconds raises it", review.RoleFinder: "discovery.max_wall_time_seconds raises it", review.RoleCommand: "limits.max_wall_time_seconds raises it (--max-wall-time)",
	} {
		if got := (&gateway.BudgetError{Axis: gateway.AxisWallTime, Scope: "agent"}).Raised(boundsOf(role)); got != "; "+want {
			t.Errorf("%s: %s", role, got)
		}
	}
	for scope, want := range map[string]string{"day": "budgets.per_day_usd raises it", "pull request": "budgets.per_pull_request_usd raises it", "run": "run_limits.max_cost_usd raises it (--max-run-cost)"} {
		if got := (&gateway.BudgetError{Axis: gateway.AxisCost, Scope: scope}).Error(); !strings.HasSuffix(got, "; "+want) {
			t.Error(got)
		}
	}
}
