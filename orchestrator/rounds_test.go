package orchestrator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stage is a pull request and everybody who works on it: heads, who says what about each, and what the fixer makes.
type stage struct {
	world
	// recorded is Loop.Recorded.
	recorded func(context.Context, string) (bool, error)
	// says is what each reviewer finds at a head.
	says map[string]map[string][]review.Finding
	// diffs are the changes between two heads, by "from..to".
	diffs map[string]string
	// fixes are the fixer's works, in the order of its tries.
	fixes  []review.FixWork
	orders []review.FixOrder
	// lasts is true for a fixer that works until it is cut; what it answers it had said before.
	lasts bool
	// forgotten are the runs whose fixes were let go of; stays is what that fails with.
	forgotten []string
	stays     error
	// fails are the commands that fail, by commit.
	fails map[string][]review.Check
	// setUp is what becomes of the setup, setUps how often it was asked for.
	setUp  []review.Check
	setUps int
	// takes is how long the commands take on a commit, reviewed how long a review does; verified are the commits they ran on.
	takes    map[string]time.Duration
	reviewed time.Duration
	verified []string
	// built are those of the commits verified whose builds may be kept.
	built []string
	// size is how many lines the pull request changes at a head, a tenth of that files.
	size map[string]int
	// push is what becomes of a push; nil lets it through.
	push  func(to string) Pushed
	tasks []review.Task
	kept  map[string]string
	// brief is one more file of the brief.
	brief review.BriefFile
	// briefs, when set, gives one more file of the brief of a range.
	briefs func(Range) review.BriefFile
	// fixFails is what a try of the fixer fails with.
	fixFails error
	// silent are reviewers that give no answer at a head.
	silent map[string]string
	// briefer gives other briefs than the stage; nil does not.
	briefer Briefer
	// forge is read in place of the stage; nil is not.
	forge Forge
	// reading is how long it takes to read a file.
	reading time.Duration
	// text is what files hold; lines without a word of their own where it is empty.
	text string
	// learned is the loop's.
	learned *sanitize.Learned
}

func sha(n int) string { return strings.Repeat(fmt.Sprint(n), 40) }

func (s *stage) Have(context.Context, string) (bool, error) { return true, nil }

func (*stage) MergeBase(_ context.Context, base, _ string) (string, error) { return base, nil }

func (s *stage) FixedTests(context.Context, Range) (changed, added []string, err error) {
	return nil, nil, nil
}

func (*stage) Sensitive(context.Context, Range, []string) (bool, error) { return false, nil }

func (s *stage) Pin(_ context.Context, _ review.Target, pr review.PullRequest, _ string) (Range, error) {
	return Range{Base: baseSHA, MergeBase: baseSHA, Head: pr.HeadSHA}, nil
}
func (s *stage) PullRequest(ctx context.Context, repo review.Repo, n int) (review.PullRequest, error) {
	pr, err := s.world.PullRequest(ctx, repo, n)
	pr.Additions, pr.ChangedFiles = s.size[pr.HeadSHA], s.size[pr.HeadSHA]/10
	return pr, err
}
func (s *stage) ReadFile(ctx context.Context, _, _ string) ([]byte, error) {
	if s.reading > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(s.reading):
		}
	}
	return []byte(cmp.Or(s.text, strings.Repeat("line\n", 200))), nil
}
func (s *stage) Diff(_ context.Context, a, b string) (*diff.Diff, error) {
	return diff.Parse(s.diffs[a[:1]+".."+b[:1]])
}
func (s *stage) Brief(_ context.Context, at Range, _ ContextOptions, _ review.Limits) (review.Brief, error) {
	b := review.Brief{Status: "ok", Files: []review.BriefFile{changed("a.go")}}
	if s.briefs != nil {
		b.Files = append(b.Files, s.briefs(at))
	}
	if s.brief.Path != "" {
		b.Files = append(b.Files, s.brief)
	}
	return b, nil
}
func (s *stage) Ask(_ context.Context, plan AgentPlan, task review.Task, _ func(review.Event)) review.Answer {
	s.tasks = append(s.tasks, task)
	r := review.AgentReceipt{State: review.AgentComplete, Seconds: max(s.reviewed.Seconds(), 1)}
	if plan.Role == review.RoleCommentsAnalyzer {
		return review.Answer{Receipt: r}
	}
	if s.silent[plan.Name] == task.HeadSHA {
		r.State = review.AgentFailed
		return review.Answer{Receipt: r}
	}
	findings := slices.Clone(s.says[task.HeadSHA][plan.Name])
	return review.Answer{Receipt: r, Reviewer: &review.ReviewerResult{Agent: plan.Name, PRNumber: 7, Findings: findings}}
}
func (s *stage) Fix(ctx context.Context, _ AgentPlan, o review.FixOrder, _ func(review.Event)) (review.FixWork, error) {
	s.orders = append(s.orders, o)
	if len(s.fixes) < len(s.orders) {
		return review.FixWork{}, errors.New("the fixer was asked once too often")
	}
	if s.lasts {
		<-ctx.Done()
		return s.fixes[len(s.orders)-1], context.Cause(ctx)
	}
	return s.fixes[len(s.orders)-1], s.fixFails
}
func (s *stage) SetUp(_ context.Context, news func(review.Check)) ([]review.Check, error) {
	s.setUps++
	for _, c := range s.setUp {
		news(c)
	}
	return s.setUp, nil
}
func (s *stage) Verify(ctx context.Context, commit string, onBranch bool, commands []string, news func(review.Check)) ([]review.Check, error) {
	s.verified = append(s.verified, commit)
	if onBranch {
		s.built = append(s.built, commit)
	}
	var out []review.Check
	for _, c := range commands {
		check := review.Check{Command: c, State: review.CheckPassed, Seconds: s.takes[commit].Seconds()}
		if took := s.takes[commit]; took > 0 {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(took):
			}
		}
		for _, f := range s.fails[commit] {
			if f.Command == c {
				f.Seconds = check.Seconds
				check = f
			}
		}
		news(check)
		out = append(out, check)
	}
	return out, nil
}
func (s *stage) Push(_ context.Context, _ review.PullRequest, from, to string) (Pushed, error) {
	if s.push != nil {
		if got := s.push(to); !got.Done {
			return got, nil
		}
	}
	if s.head != from {
		return Pushed{Head: s.head}, nil
	}
	s.head = to
	return Pushed{Done: true}, nil
}
func (s *stage) Forget(_ context.Context, run string) error {
	if s.kept["review.json"] == "" {
		return errors.New("the run has not ended")
	}
	s.forgotten = append(s.forgotten, run)
	return s.stays
}
func (s *stage) Patch(_ context.Context, a, b string) (string, error) {
	return s.diffs[a[:1]+".."+b[:1]], nil
}
func (s *stage) Save(_ context.Context, _, name string, data []byte) error {
	s.kept[name] = string(data)
	return nil
}
func (s *stage) Round(context.Context, review.RunResult) error  { return nil }
func (s *stage) Finish(context.Context, review.RunResult) error { return nil }

// Intent remembers nothing: the steps do.
func (s *stage) Intent(_ context.Context, e effects.Effect) (effects.Effect, error) { return e, nil }

// remembering stores results as an engine does, so that a second run of the same steps repeats none.
type remembering struct {
	done  map[string][]byte
	names []string
}

func (r *remembering) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if out, ok := r.done[name]; ok {
		return out, nil
	}
	out, err := fn(ctx)
	if err == nil {
		if slices.Contains(r.names, name) {
			panic("two steps are called " + name)
		}
		r.done[name], r.names = out, append(r.names, name)
	}
	return out, err
}
func (r *remembering) All(ctx context.Context, steps []Step) ([][]byte, []error) {
	outs, errs := make([][]byte, len(steps)), make([]error, len(steps))
	for i, s := range steps {
		outs[i], errs[i] = r.Do(ctx, s.Name, s.Fn)
	}
	return outs, errs
}

func (s *stage) run(t *testing.T, steps Steps, change func(*Request)) review.RunResult {
	t.Helper()
	w := s.world.loop()
	l := *w
	l.Forge, l.Poster, l.Outbox = s, s, s
	l.History, l.Briefer, l.Agents, l.Executor, l.Record = s, s, s, s, s
	if s.briefer != nil {
		l.Briefer = s.briefer
	}
	if s.forge != nil {
		l.Forge = s.forge
	}
	l.Learned, l.Recorded = s.learned, s.recorded
	l.Fence = func(string) string { return "fence" }
	l.Now, l.Sleep = func() time.Time { return s.now }, func(context.Context, time.Duration) error { s.now = s.now.Add(time.Second); return nil }
	req := round().Request
	req.Head = sha(1)
	req.Fix = &FixPlan{Agent: AgentPlan{Name: "pr-fix", Role: review.RoleFixer, Kind: "command"}, Verify: []string{"make lint"}}
	if change != nil {
		change(&req)
	}
	got, err := l.Run(t.Context(), steps, req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func newStage() *stage {
	return &stage{world: world{now: time.Unix(1_800_000_000, 0), head: sha(1)}, says: map[string]map[string][]review.Finding{}, diffs: map[string]string{}, fails: map[string][]review.Check{}, kept: map[string]string{}}
}

func newSteps() *remembering { return &remembering{done: map[string][]byte{}} }

// at is a finding at a line, in words of its own.
func at(p review.Priority, line int, id, text string) review.Finding {
	f := found(p, text)
	f.ID, f.Line = id, &line
	return f
}

// edited is the diff of a fix that rewrites one line of a.go.
func edited(line int) string {
	return fmt.Sprintf("diff --git a/a.go b/a.go\nindex 1111111..2222222 100644\n--- a/a.go\n+++ b/a.go\n@@ -%[1]d,1 +%[1]d,1 @@\n-old\n+new\n", line)
}

// fixes is a work that fixes ids with one commit.
func fixes(tip string, ids ...string) review.FixWork {
	r := &review.FixResult{Agent: "pr-fix", PRNumber: 7}
	for _, id := range ids {
		r.FixedIssues = append(r.FixedIssues, review.FixedIssue{FindingID: id, CommitSHA: tip, Description: "done"})
	}
	w := review.FixWork{Answer: review.Answer{Fix: r, Receipt: review.AgentReceipt{State: review.AgentComplete, Seconds: 1}}, Tip: tip, Files: 1, Lines: 2}
	if tip != "" {
		w.Commits = []review.FixCommit{{SHA: tip, Message: "fix: it"}}
	}
	return w
}

const (
	leak   = "the response body is never closed, which leaks a connection for every call"
	leak2  = "connection leak: nobody closes the body of the response after the call"
	nilMap = "writes to a nil map when the cache was not initialised"
	typo   = "the loop counts one element too many and reads past the end of the slice"
)

func TestRounds(t *testing.T) {
	both := func(f ...review.Finding) map[string][]review.Finding {
		return map[string][]review.Finding{"alpha": f, "beta": nil}
	}
	for _, c := range []struct {
		what    string
		set     func(*stage)
		change  func(*Request)
		outcome review.Outcome
		rounds  int
		head    string
		reason  string
	}{
		{"a fix that holds converges in the second round (spec.md L4)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
		}, nil, review.Converged, 2, sha(2), ""},
		{"a finding that returns reworded after it was reported fixed is stuck, and nothing else is left (recurring issue policy)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
			s.says[sha(2)] = both(at(review.P1, 12, "X9", leak2))
		}, nil, review.Stuck, 2, sha(2), "manual intervention required"},
		{"a stuck finding is not sent again while others are fixed (recurring issue policy)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak), at(review.P2, 100, "B", nilMap))
			s.fixes = []review.FixWork{fixes(sha(2), "A", "B"), fixes(sha(3), "C")}
			s.diffs["1..2"], s.diffs["2..3"], s.diffs["1..3"] = edited(10), edited(150), edited(10)
			s.says[sha(2)] = both(at(review.P1, 12, "X9", leak2), at(review.P2, 150, "C", typo))
			s.says[sha(3)] = both(at(review.P1, 12, "Y", leak))
		}, nil, review.Stuck, 3, sha(3), "1 finding came back"},
		{"new findings on lines each fix wrote, in one region: diverging", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "B")}
			s.diffs["1..2"], s.diffs["2..3"] = edited(10), edited(11)
			s.says[sha(2)] = both(at(review.P1, 10, "B", nilMap))
			s.says[sha(3)] = both(at(review.P2, 11, "C", typo))
		}, nil, review.Diverging, 3, sha(3), "a.go:1-31"},
		{"three rounds are all there are (hard cap)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "B")}
			s.diffs["1..2"], s.diffs["2..3"] = edited(10), edited(11)
			s.says[sha(2)] = both(at(review.P1, 120, "B", nilMap))
			s.says[sha(3)] = both(at(review.P1, 180, "C", typo))
		}, nil, review.ChangesRequested, 3, sha(3), "1 finding is left after 3 rounds"},
		{"a person who pushes during the fix wins (threats.md T94)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
			s.push = func(string) Pushed { s.head = sha(9); return Pushed{Head: sha(9)} }
		}, nil, review.Superseded, 1, sha(9), "moved from 1111111111 to 9999999999"},
		{"a fork without permission gets the fix as a patch", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
		}, func(r *Request) { r.Fix.PatchOnly = "the fork does not let maintainers push" }, review.ChangesRequested, 1, sha(1), "handed over as a patch"},
		{"whoever refuses a push says so in words of their own", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			s.push = func(string) Pushed { return Pushed{Refused: "the author may not write"} }
		}, nil, review.ChangesRequested, 1, sha(1), "handed over as a patch: the author may not write"},
		{"a fixer that claims and changes nothing is stuck at once", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{fixes("", "A")}
		}, nil, review.Stuck, 1, sha(1), "changed nothing"},
		{"a refused fix is tried again with the rule, three times in all, and never pushed (decision 6)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			bad := fixes("", "A")
			bad.Refusals = []review.Refusal{{Rule: "protected-path", Path: ".github/workflows/ci.yml"}}
			s.fixes = []review.FixWork{bad, bad, bad}
		}, nil, review.ChangesRequested, 1, sha(1), "protected-path"},
		{"a fix beyond the scope brake is diverging", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			bad := fixes("", "A")
			bad.Refusals = []review.Refusal{{Rule: ruleBrake, Detail: "900 lines, allowed 200"}}
			s.fixes = []review.FixWork{bad, bad, bad}
		}, nil, review.Diverging, 1, sha(1), "nothing was pushed: the fixes grow beyond the pull request: 900 lines, allowed 200 (scope-brake)"},
		{"a verify command that fails goes back with its log; the next try goes on from the candidate", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2, Log: "unused variable"}}
			s.fixes = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "A")}
			s.diffs["1..2"], s.diffs["1..3"] = edited(10), edited(10)
		}, nil, review.Converged, 2, sha(3), ""},
		{"a fixer that leaves its work as it is after a command failed has not passed it: the command is said (decision 6)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2, Log: "unused variable"}}
			s.fixes = []review.FixWork{fixes(sha(2), "A"), fixes("", "A")}
			s.diffs["1..2"] = edited(10)
		}, nil, review.ChangesRequested, 1, sha(1), "does not pass `make lint` (exit status 2)"},
		{"a verify command that is not there ends it: no fixer can fix that", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckMissing, ExitCode: 127}}
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
		}, nil, review.ChangesRequested, 1, sha(1), "there is no such command"},
		{"a command that fails once it is pushed does not keep the pushed head from its review (decision 24)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
			s.push = func(to string) Pushed {
				s.fails[to] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
				return Pushed{Done: true}
			}
		}, nil, review.ChangesRequested, 2, sha(2), "the reviewers find nothing more, but this head does not pass `make lint` (exit status 2)"},
		{"and is forgotten once a later fix passes", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.says[sha(2)] = both(at(review.P1, 120, "B", nilMap))
			s.fixes = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "B")}
			s.diffs["1..2"], s.diffs["2..3"] = edited(10), edited(120)
			s.push = func(to string) Pushed {
				if to == sha(2) {
					s.fails[to] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
				}
				return Pushed{Done: true}
			}
		}, nil, review.Converged, 3, sha(3), ""},
		{"a detected command that fails on the reviewed head too says nothing about the fix", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			for _, head := range []string{sha(1), sha(2)} {
				s.fails[head] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
			}
			s.fixes = []review.FixWork{fixes(sha(2), "A")}
			s.diffs["1..2"] = edited(10)
		}, func(r *Request) { r.Fix.Detected = true }, review.Converged, 2, sha(2), ""},
		{"what a fixer changes that fixes nothing is not pushed (threats.md T589)", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			w := fixes(sha(2))
			w.Answer.Fix.RejectedIssues = []review.RejectedIssue{{FindingID: "A", Reason: "the caller closes it"}}
			s.fixes = []review.FixWork{w}
			s.diffs["1..2"] = edited(10)
		}, nil, review.ChangesRequested, 1, sha(1), "the fixer fixed nothing: every finding was rejected"},
		{"a fixer that fails fixes nothing", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "exit status 3"}}}}
		}, nil, review.ChangesRequested, 1, sha(1), "exit status 3"},
		{"a fixer out of its budget ends the run as that", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "no more", OutOf: "cost"}}}}
		}, nil, review.Budget, 1, sha(1), "cost"},
		{"the run's wall time is counted over all rounds", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
			s.fixes = []review.FixWork{{}} // the reviewers used it up; the fixer is cut at once
		}, func(r *Request) { r.WallTime = time.Second }, review.Budget, 1, sha(1), "wall time"},
		{"only suggestions: approved without a fix", func(s *stage) {
			s.says[sha(1)] = both(at(review.P3, 10, "A", "name"))
		}, nil, review.Converged, 1, sha(1), ""},
		{"--rounds 1 reviews and fixes nothing", func(s *stage) {
			s.says[sha(1)] = both(at(review.P1, 10, "A", leak))
		}, func(r *Request) { r.Rounds = 1 }, review.ChangesRequested, 1, sha(1), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, steps := newStage(), newSteps()
			c.set(s)
			got := s.run(t, steps, c.change)
			if got.Outcome != c.outcome || !strings.Contains(got.Reason, c.reason) {
				t.Fatalf("outcome %s (%s), want %s (…%s…)", got.Outcome, got.Reason, c.outcome, c.reason)
			}
			if got.Round != c.rounds || s.head != c.head {
				t.Errorf("ended in round %d at head %s, want round %d at %s", got.Round, short(s.head), c.rounds, short(c.head))
			}
			if len(got.Comments) != len(s.comments) {
				t.Errorf("names %d comments, %d were posted", len(got.Comments), len(s.comments))
			}
			tries := len(s.orders)
			if tries != len(s.fixes) {
				t.Errorf("the fixer was asked %d times, want %d", tries, len(s.fixes))
			}
			again := s.run(t, steps, c.change)
			if a, b := asJSON(t, got), asJSON(t, again); a != b || len(s.orders) != tries {
				t.Errorf("the same steps gave another result the second time:\n%s\n%s", a, b)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// What a fix was to do and comes back needs a person, also where it comes back as minor, or with less support than counts (threats.md T859).
func TestWhatCameBackNeverPasses(t *testing.T) {
	for what, c := range map[string]struct {
		first, second map[string][]review.Finding
		support       int
		want          review.Outcome
	}{
		"as minor":   {map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}, map[string][]review.Finding{"alpha": {at(review.P3, 10, "A", leak)}}, 1, review.Stuck},
		"one voice":  {map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}, "beta": {at(review.P1, 10, "A", leak)}}, map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}, 2, review.Stuck},
		"an offer":   {map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak), at(review.P3, 100, "B", nilMap)}}, map[string][]review.Finding{"alpha": {at(review.P3, 100, "B", nilMap)}}, 1, review.Converged},
		"it is gone": {map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}, nil, 1, review.Converged},
	} {
		s := newStage()
		s.says[sha(1)], s.says[sha(2)] = c.first, c.second
		s.fixes = []review.FixWork{fixes(sha(2), "A", "B")}
		s.diffs["1..2"] = edited(10)
		got := s.run(t, newSteps(), func(r *Request) { r.MinSupport = c.support })
		if got.Outcome != c.want || (got.Consensus != nil) != (c.want == review.Converged) {
			t.Errorf("%s: %s (%s), consensus %v", what, got.Outcome, got.Reason, got.Consensus)
		}
	}
}

// One line of code may be quoted for several things. What has to be fixed is the same finding by its quote alone, what is minor by its words.
func TestWhatComesBackByItsQuote(t *testing.T) {
	quoting := func(p review.Priority, text string) review.Finding {
		f := at(p, 10, "A", text)
		f.Evidence = "return Count(shelves) / len(shelves)"
		f.Fingerprint = identity.Fingerprint(f)
		return f
	}
	for what, c := range map[string]struct {
		now  review.Finding
		same bool
	}{
		"minor, the same":              {quoting(review.P3, leak2), true},
		"minor, and something else":    {quoting(review.P3, typo), false},
		"as grave, and something else": {quoting(review.P2, typo), true},
	} {
		got := returning([]Tracked{{Findings: []review.Finding{quoting(review.P1, leak)}, FixedIn: 1}}, []review.Finding{c.now}, [][]int{{0}})
		if (got[0] == 0) != c.same {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestTheNextRoundIsTold(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak), at(review.P2, 100, "B", nilMap)}}
	w := fixes(sha(2), "A")
	w.Answer.Fix.RejectedIssues = []review.RejectedIssue{{FindingID: "B", Reason: "the map is made in init"}}
	s.fixes = []review.FixWork{w, fixes("", "B")}
	s.diffs["1..2"] = edited(10)
	s.says[sha(2)] = map[string][]review.Finding{"alpha": {at(review.P2, 100, "B", nilMap)}}
	got := s.run(t, newSteps(), nil)

	var second review.Task
	for _, task := range s.tasks {
		if task.Round == 2 && task.Role == review.RoleReviewer {
			second = task
		}
	}
	kinds := map[string]string{}
	for _, c := range second.Claims {
		kinds[c.FindingID] = c.Kind
	}
	if want := map[string]string{"A": review.ClaimFixed, "B": review.ClaimRejected}; !maps.Equal(kinds, want) {
		t.Errorf("reviewers of round 2 see the claims %v, want %v", kinds, want)
	}
	if want := []review.Rewritten{{File: "a.go", From: 10, To: 10}}; !slices.Equal(second.Rewritten, want) {
		t.Errorf("reviewers of round 2 are told that a fix wrote %+v, want %+v", second.Rewritten, want)
	}
	if len(second.Earlier) != 2 || second.HeadSHA != sha(2) {
		t.Errorf("round 2 sees %d earlier findings at %s", len(second.Earlier), short(second.HeadSHA))
	}
	if first := s.tasks[0]; len(first.Earlier)+len(first.Claims) != 0 {
		t.Error("round 1 sees earlier findings, and there are none")
	}
	// A rejected finding that reviewers uphold is not stuck: it was never reported fixed.
	if p := s.orders[1].Task.Fix.IssuesToFix; len(p) != 1 || p[0].ID != "B" {
		t.Errorf("the fixer of round 2 is asked %+v", p)
	}
	if len(got.Rounds) != 2 || got.Rounds[0].Fix == nil || got.Rounds[0].Fix.Head != sha(2) {
		t.Errorf("the rounds of the run are %+v", got.Rounds)
	}
}

// Models give the same ids in every round. What the fixer says of one finding is not said of another.
func TestIDsOfAnotherRound(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak), at(review.P2, 100, "B", nilMap)}}
	s.says[sha(2)] = map[string][]review.Finding{"alpha": {at(review.P1, 12, "B", leak2), at(review.P2, 150, "A", typo)}}
	s.says[sha(3)] = map[string][]review.Finding{"alpha": {at(review.P1, 12, "A", leak)}}
	s.fixes = []review.FixWork{fixes(sha(2), "A", "B"), fixes(sha(3), "alpha/A", "A")}
	s.diffs["1..2"], s.diffs["2..3"], s.diffs["1..3"] = edited(10), edited(150), edited(10)
	got := s.run(t, newSteps(), nil)
	if p := s.orders[1].Task.Fix.IssuesToFix; len(p) != 1 || p[0].ID != "alpha/A" {
		t.Errorf("the fixer of round 2 is asked %+v, want the new finding under an id of its own", p)
	}
	if len(got.Stuck) != 1 || !strings.Contains(s.kept["round-3/review.md"], "reported fixed in round 1 by commit 2222222222, found again in round 3") {
		t.Errorf("%d findings are stuck; the report of round 3 says\n%s", len(got.Stuck), s.kept["round-3/review.md"])
	}
	seen := map[string]string{}
	for _, task := range s.tasks {
		if task.Round != 3 || task.Agent != "alpha" {
			continue
		}
		for _, c := range task.Claims {
			if seen[c.FindingID] != "" {
				t.Errorf("reviewers of round 3 are told twice of %s", c.FindingID)
			}
			seen[c.FindingID] = c.Commit
		}
	}
	if want := map[string]string{"A": sha(2), "B": sha(2), "alpha/A": sha(3)}; !maps.Equal(seen, want) {
		t.Errorf("reviewers of round 3 are told %v, want %v", seen, want)
	}
}

func TestAStuckFindingKeepsItsClaim(t *testing.T) {
	was := Tracked{ID: "A", Round: 2, FixedIn: 1, Stuck: true, Claim: &review.Claim{FindingID: "A", Kind: review.ClaimFixed, Commit: sha(2)}}
	got := claimed([]Tracked{was}, review.FixOutcome{Result: fixes(sha(3), "A").Answer.Fix}, 2)[0]
	if got.FixedIn != 1 || got.Claim.Commit != sha(2) {
		t.Errorf("it is said to be fixed in round %d by %s, want round 1 and the commit of then", got.FixedIn, short(got.Claim.Commit))
	}
}

// The pull request grows with each fix; what a fix may touch does not.
func TestTheScopeBrakeStaysWhereItWas(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.says[sha(2)] = map[string][]review.Finding{"alpha": {at(review.P1, 120, "B", nilMap)}}
	s.fixes, s.diffs["1..2"], s.diffs["2..3"] = []review.FixWork{fixes(sha(2), "A"), fixes(sha(3), "B")}, edited(10), edited(120)
	s.size = map[string]int{sha(1): 30, sha(2): 90, sha(3): 150}
	long := 0
	s.briefs = func(at Range) review.BriefFile {
		f := changed("b.go")
		if f.Size = long; at.Head != sha(1) {
			f.Size = 900
		}
		return f
	}
	s.run(t, newSteps(), nil)
	for _, o := range s.orders {
		if o.First != sha(1) || o.PRLines != 30 || o.PRFiles != 3 {
			t.Errorf("round %d is held against %d files and %d lines since %s, want 3 and 30 since the first head", o.Round, o.PRFiles, o.PRLines, short(o.First))
		}
	}
	if len(s.orders) != 2 {
		t.Errorf("%d fixes", len(s.orders))
	}
	// Long lines are as many as what a fix does to them (threats.md T784).
	s.orders, s.head, long = nil, sha(1), 400
	s.run(t, newSteps(), nil)
	if len(s.orders) != 2 || s.orders[0].PRLines != 402 || s.orders[1].PRLines != 402 {
		t.Errorf("%+v", s.orders)
	}
}

func TestAFailureAfterThePushIsTold(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
	s.push = func(to string) Pushed {
		s.fails[to] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2, Log: "boom"}}
		return Pushed{Done: true}
	}
	got := s.run(t, newSteps(), nil)
	if fix := s.kept["round-1/fix.md"]; !strings.Contains(fix, "checks fail on the pushed head · round 1 of 3\n") || !strings.Contains(fix, "boom") || strings.Contains(fix, "Outcome") {
		t.Errorf("the fix report says\n%s", fix)
	}
	if report := s.kept["round-2/review.md"]; !strings.Contains(report, "then did not pass `make lint` (exit status 2)") {
		t.Errorf("the report of the pushed head says\n%s", report)
	}
	if got.Receipt.HeadSHA != sha(2) {
		t.Errorf("the last review is of %s, want the pushed head", short(got.Receipt.HeadSHA))
	}
}

func TestFixesAreLetGoOfAtTheEnd(t *testing.T) {
	for name, change := range map[string]func(*Request){"a run that fixes": nil, "one that does not": func(r *Request) { r.Fix = nil }} {
		s, steps := newStage(), newSteps()
		s.stays = errors.New("a lock is in the way") // which is no reason for a run not to end
		for range 2 {
			if got := s.run(t, steps, change); got.Outcome != review.Converged {
				t.Errorf("%s ends as %s", name, got.Outcome)
			}
		}
		if want := change == nil; len(s.forgotten) > 1 || (len(s.forgotten) == 1) != want || want && s.forgotten[0] != round().Request.Run {
			t.Errorf("%s lets go of the fixes of %q", name, s.forgotten)
		}
	}
}

func TestSetbacks(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	refused := fixes("", "A")
	refused.Refusals = []review.Refusal{{Rule: "deleted-test", Path: "a_test.go"}}
	s.fixes = []review.FixWork{refused, fixes(sha(2), "A"), fixes(sha(3), "A")}
	s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 1, Log: "boom"}}
	s.diffs["1..2"], s.diffs["1..3"] = edited(10), edited(10)
	s.run(t, newSteps(), nil)
	one, two, three := s.orders[0], s.orders[1], s.orders[2]
	if one.Task.Setback != nil || one.From != sha(1) {
		t.Errorf("the first try starts from %s with %+v", short(one.From), one.Task.Setback)
	}
	if two.From != sha(1) || two.Task.Setback == nil || two.Task.Setback.Refusals[0].Rule != "deleted-test" {
		t.Errorf("after a refusal the fixer starts from %s with %+v, want the reviewed head and the rule", short(two.From), two.Task.Setback)
	}
	if three.From != sha(2) || three.Task.Setback == nil || three.Task.Setback.Checks[0].Log != "boom" {
		t.Errorf("after a failed command the fixer starts from %s with %+v, want its own work and the log", short(three.From), three.Task.Setback)
	}
	// Only what was pushed leaves its builds (threats.md T320).
	if want := []string{sha(2), sha(3), sha(3)}; !slices.Equal(s.verified, want) || !slices.Equal(s.built, want[2:]) {
		t.Errorf("verified %v, kept builds of %v", s.verified, s.built)
	}
}

// A report does not announce rounds that cannot be: they need somebody who fixes.
func TestRoundsNeedAFixer(t *testing.T) {
	plan := &FixPlan{}
	for _, c := range []struct {
		req  Request
		want int
	}{
		{Request{}, 1}, {Request{Rounds: 3}, 1}, {Request{Fix: plan}, MaxRounds}, {Request{Fix: plan, Rounds: 2}, 2},
		{Request{Fix: plan, Rounds: 9}, MaxRounds}, {Request{Fix: plan, DryRun: true}, 1},
	} {
		if got := c.req.rounds(); got != c.want {
			t.Errorf("%+v: %d rounds, want %d", c.req, got, c.want)
		}
	}
}

func TestFailedWorkThatIsLeftAsItIs(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2, Log: "unused variable"}}
	s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A"), fixes("", "A")}, edited(10)
	fix := s.run(t, newSteps(), nil).Rounds[0].Fix
	if len(fix.Commits) != 1 || fix.Commits[0].SHA != sha(2) || len(fix.Checks) != 1 || fix.Files != 1 || fix.Tries != 2 {
		t.Errorf("the fix is %+v, want the commit of the first try and its check", fix)
	}
	if got := s.kept["round-1/fix.md"]; !strings.Contains(got, "unused variable") || !strings.Contains(got, "1 of 1 check failed") {
		t.Errorf("the report does not show the failing check:\n%s", got)
	}
}

func TestNothingVerifiedIsSaid(t *testing.T) {
	const nothing = "Nothing was verified: no command that was found"
	for name, verify := range map[string][]string{"one of two passes": {"make lint", "make test"}, "none does": {"make lint"}} {
		s := newStage()
		s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
		for _, head := range []string{sha(1), sha(2)} {
			s.fails[head] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
		}
		s.fixes, s.diffs["1..2"] = []review.FixWork{fixes(sha(2), "A")}, edited(10)
		s.run(t, newSteps(), func(r *Request) { r.Fix.Detected, r.Fix.Verify = true, verify })
		if got := s.kept["round-1/fix.md"]; strings.Contains(got, nothing) != (len(verify) == 1) || strings.Contains(got, "passed 2 checks") {
			t.Errorf("%s: the report says\n%s", name, got)
		}
	}
}

// What a fixer noticed in any of its tries is reported without being counted, and the next round's reviewers are told.
func TestNoticedIsHandedOn(t *testing.T) {
	line := 12
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "A", leak)}}
	s.fails[sha(2)] = []review.Check{{Command: "make lint", State: review.CheckFailed, ExitCode: 2}}
	first, second := fixes(sha(2), "A"), fixes(sha(3), "A")
	first.Answer.Fix.Noticed = []review.Notice{{File: "b.go", Line: &line, Text: "the token " + planted + " is hidden\u200b here"}}
	second.Answer.Fix.Noticed = []review.Notice{{Text: "nobody reads the result"}}
	second.Answer.Fix.FixedIssues[0].Tests, second.Answer.Fix.FixedIssues[0].Risk = "there is no test of a.go", "callers that "+planted
	s.fixes = []review.FixWork{first, second}
	s.diffs["1..2"], s.diffs["1..3"] = edited(10), edited(10)
	got := s.run(t, newSteps(), nil)
	if got.Outcome != review.Converged || got.Issues.Total() != 0 {
		t.Errorf("%s with %+v", got.Outcome, got.Issues)
	}
	if second := s.kept["round-2/review.md"]; !strings.HasPrefix(second, "## prloop: approved · round 2 of 3\n\n**Since round 1:** 1 fixed.\n\n") {
		t.Errorf("the second report begins:\n%s", second)
	}
	told := s.kept["round-1/fix.md"]
	for _, want := range []string{"Noticed, not changed: 2", "`b.go` line 12: the token " + "[REDACTED]", "none: nobody reads the result", "Tests: there is no test of a.go", "Risk: callers that "} {
		if !strings.Contains(told, want) {
			t.Errorf("the fix report lacks %q:\n%s", want, told)
		}
	}
	for _, task := range s.tasks {
		want := 0
		if task.Role == review.RoleReviewer && task.Round == 2 {
			want = 2
		}
		if len(task.Noticed) != want || want > 0 && strings.Contains(visible(AgentPlan{Kind: review.KindBuiltin}, task).Noticed[0].Text, "\u200b") {
			t.Errorf("%s was told %+v in round %d", task.Agent, task.Noticed, task.Round)
		}
	}
	for name, text := range s.kept {
		if strings.Contains(text, planted) {
			t.Errorf("%s holds the token", name)
		}
	}
}
