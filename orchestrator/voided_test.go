package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// versions are commits with one file.
type versions struct{ shelf }

func (v versions) Diff(_ context.Context, base, head string) (*diff.Diff, error) {
	if v.shelf[base] == nil || v.shelf[head] == nil {
		return nil, errors.New("nobody has it")
	}
	if v.shelf[base]["a.go"] == v.shelf[head]["a.go"] {
		return &diff.Diff{}, nil
	}
	return oneHunk(v.shelf[base]["a.go"], v.shelf[head]["a.go"])
}

func (v versions) Have(_ context.Context, commit string) (bool, error) {
	return v.shelf[commit] != nil, nil
}

// A resolution is void where a commit that may have been the head since prloop spoke in the thread last had other code near its finding than then and now (threats.md T605,
// threats.md T606), and a cure where the code is again as it was when the finding counted, and was not when we told the cure (threats.md T651).
func TestWhereAResolutionIsVoid(t *testing.T) {
	const quote = "\treturn sum(a) / len(a)\n"
	far := strings.Repeat("// more\n", besideLines)
	body := func(lines string) string {
		return "package a\n\n" + far + "func mean(a []int) int {\n" + lines + "}\n" + far
	}
	plain := body(quote)
	guarded := body("\tif a == nil {\n\t\treturn 0\n\t}\n" + quote)
	history := shelf{}
	for commit, file := range map[string]string{
		"raised": plain, "again": plain, "guard": guarded, "kept": guarded, "better": strings.ReplaceAll(guarded, "a == nil", "len(a) == 0"),
		"fixed": body("\treturn sum(a) / max(1, len(a))\n"), "blank": body("\n" + strings.ReplaceAll(quote, "\n", "  \r\n")), "away": plain + "const other = 1\n", "farther": plain + "const other = 2\n",
		"empty": "package a\n", "below": body(quote + "\t// Done.\n"),
		"open": body("\ta = open(a)\n" + quote), "opened": body("\ta = open(a)\n" + quote),
		"twice": strings.ReplaceAll(guarded, "\tif a == nil", "\tif skip {\n\t\treturn 1\n\t}\n\tif a == nil"), "moved": plain + "func other() int {\n\tif a == nil {\n\t\treturn 0\n\t}\n}\n",
	} {
		history[commit] = map[string]string{"a.go": file}
	}
	history["none"] = map[string]string{}
	spoke := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	then := func(head string) Reported { return Reported{Run: "r", At: spoke.Add(time.Hour), Head: head} }
	cured := func(at string, more func(*conversation.Thread)) func(*conversation.Thread, *Snapshot, *Loop) {
		return func(t *conversation.Thread, _ *Snapshot, _ *Loop) {
			if t.Status, t.RuledAt, t.ClosedBy = conversation.Resolved, at, "prloop"; more != nil {
				more(t)
			}
		}
	}
	objected := func(t *conversation.Thread) {
		t.DeveloperReplies, t.Answered = []conversation.Reply{{Author: "boss", Body: "This is not fixed.", Commit: "guard"}}, 1
	}
	shown := func(line int) func(*conversation.Thread) {
		return func(t *conversation.Thread) { t.Fact = &conversation.Place{File: "a.go", Line: line} }
	}
	f := quoting(saidBy("one", foundAt(review.P1, 0, ""), "Mean of an empty list divides by zero"), strings.Count(plain[:strings.Index(plain, quote)], "\n")+1, strings.TrimSpace(quote))
	for what, c := range map[string]struct {
		head string
		// branch are the commits before the head, newest first.
		branch []string
		change func(*conversation.Thread, *Snapshot, *Loop)
		// want is whether the resolution is void, back whether the code is as it was as well, plain whether it is a cure of what reviewers alone raised.
		want, back, plain bool
	}{
		"one step":                                {head: "guard", branch: []string{"raised"}},
		"a guard that goes again":                 {head: "again", branch: []string{"guard", "raised"}, want: true, back: true},
		"with another commit after it":            {head: "away", branch: []string{"again", "guard", "raised"}, want: true, back: true},
		"a guard that becomes another":            {head: "better", branch: []string{"guard", "raised"}, want: true},
		"a guard that stays":                      {head: "kept", branch: []string{"guard", "raised"}},
		"a line that comes back":                  {head: "again", branch: []string{"fixed", "raised"}, want: true, back: true},
		"a line that stays another":               {head: "fixed", branch: []string{"guard", "raised"}},
		"a line below it that goes again":         {head: "again", branch: []string{"below", "raised"}, want: true, back: true},
		"a file that comes back":                  {head: "again", branch: []string{"none", "raised"}, want: true, back: true},
		"white space alone":                       {head: "again", branch: []string{"blank", "raised"}},
		"lines far away":                          {head: "farther", branch: []string{"away", "raised"}},
		"what was before we spoke":                {head: "again", branch: []string{"raised", "guard", "empty"}},
		"a branch that is rewritten":              {head: "away", branch: []string{"again", "empty"}},
		"a guard that goes on such a branch":      {head: "away", branch: []string{"guard", "again", "empty"}, want: true, back: true},
		"more commits than are read":              {head: "again", branch: func() (all []string) { return strings.Fields(strings.Repeat("away ", MostHeads)) }(), want: true},
		"we spoke again where the guard was gone": {head: "again", branch: []string{"farther", "guard", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Maintained = "farther" }},
		"we spoke again of the guard":             {head: "again", branch: []string{"farther", "guard", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Maintained = "guard" }, want: true, back: true},
		"a line that was taken away stands again": {head: "opened", branch: []string{"raised", "open"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Head = "open" }, want: true, back: true},
		"a line is taken away, and stays so":      {head: "raised", branch: []string{"open"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Head = "open" }, want: true},
		"back to what people spoke of": {head: "better", branch: []string{"guard", "better", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) {
			t.DeveloperReplies = []conversation.Reply{{Author: "boss", Body: "This is not fixed.", Timestamp: spoke.Add(time.Hour), Commit: "better"}}
		}, want: true, back: true},
		"what people spoke of, and nothing since": {head: "better", branch: []string{"raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) {
			t.DeveloperReplies = []conversation.Reply{{Author: "boss", Body: "This is not fixed.", Timestamp: spoke.Add(time.Hour), Commit: "better"}}
		}},
		"opened of the guard, which goes":      {head: "again", branch: []string{"guard"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Head = "guard" }, want: true},
		"a guard before the line, and another": {head: "twice", branch: []string{"guard", "raised"}},
		"a guard that goes elsewhere":          {head: "moved", branch: []string{"guard", "raised"}, want: true, back: true},
		"a newer report":                       {head: "raised", change: func(_ *conversation.Thread, s *Snapshot, _ *Loop) { s.Reports = []Reported{then("guard")} }, want: true, back: true},
		"an older report":                      {head: "raised", change: func(_ *conversation.Thread, s *Snapshot, _ *Loop) { s.Reports = []Reported{{At: spoke, Head: "guard"}} }},
		"a report of a commit that nobody has": {head: "raised", change: func(_ *conversation.Thread, s *Snapshot, _ *Loop) { s.Reports = []Reported{then("lost")} }, want: true},
		"a report that does not say of which":  {head: "raised", change: func(_ *conversation.Thread, s *Snapshot, _ *Loop) { s.Reports = []Reported{then("")} }},
		"a newer run on record":                {head: "raised", change: func(_ *conversation.Thread, _ *Snapshot, l *Loop) { l.Stored = recordOf("guard", spoke.Add(time.Hour)) }, want: true, back: true},
		"an older run on record": {head: "raised", change: func(_ *conversation.Thread, _ *Snapshot, l *Loop) {
			l.Stored = recordOf("guard", spoke.Add(-time.Hour))
		}},
		"somebody replied at it": {head: "raised", change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) {
			t.DeveloperReplies = []conversation.Reply{{Author: "ada", Timestamp: spoke.Add(time.Hour), Commit: "guard"}}
		}, want: true, back: true},
		"a report said here that the thread counts": {head: "better", branch: []string{"guard", "raised"}, change: func(t *conversation.Thread, s *Snapshot, _ *Loop) {
			s.Counted = map[string]Reported{sanitize.ThreadNamed(t.Node): then("better")}
		}},
		"a report said so of the guard": {head: "again", branch: []string{"guard", "raised"}, change: func(t *conversation.Thread, s *Snapshot, _ *Loop) {
			s.Counted = map[string]Reported{sanitize.ThreadNamed(t.Node): then("guard")}
		}, want: true, back: true},
		"it was raised at a commit that nobody has":  {head: "again", branch: []string{"guard"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Head = "lost" }},
		"its author resolved it":                     {head: "again", branch: []string{"guard", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.ClosedBy = "ada" }},
		"nobody resolved it":                         {head: "again", branch: []string{"guard", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Closed = false }},
		"it is a P2":                                 {head: "again", branch: []string{"guard", "raised"}, change: func(t *conversation.Thread, _ *Snapshot, _ *Loop) { t.Priority = review.P2 }},
		"we called it cured, and it comes back":      {head: "again", change: cured("fixed", nil), want: true, back: true, plain: true},
		"we did, and nobody has that commit":         {head: "again", change: cured("lost", nil), want: true, back: true, plain: true},
		"we did, and it is not back":                 {head: "fixed", change: cured("fixed", nil)},
		"we did, and it comes back with a guard":     {head: "better", change: cured("fixed", objected)},
		"with a guard that somebody spoke of":        {head: "guard", change: cured("fixed", objected), want: true, back: true, plain: true},
		"with a guard of which we said that of":      {head: "guard", change: cured("fixed", func(t *conversation.Thread) { t.Upheld = []string{"guard"} }), want: true, back: true},
		"a cure of what counted":                     {head: "again", change: cured("fixed", func(t *conversation.Thread) { t.Counted = true }), want: true, back: true},
		"we called it cured at what stands there":    {head: "kept", change: cured("guard", objected)},
		"we called it cured by code elsewhere":       {head: "again", change: cured("away", nil)},
		"by code that a judge showed, which goes":    {head: "again", change: cured("away", shown(strings.Count(plain, "\n")+1)), want: true, back: true},
		"by code that stays":                         {head: "again", change: cured("away", shown(1))},
		"a P2 that we called cured":                  {head: "again", change: cured("fixed", func(t *conversation.Thread) { t.Priority = review.P2 })},
		"a cured one that stays open":                {head: "again", change: cured("fixed", func(t *conversation.Thread) { t.Closed = false }), want: true, back: true, plain: true},
		"a cured one that somebody resolved as well": {head: "again", branch: []string{"fixed", "raised"}, change: cured("fixed", func(t *conversation.Thread) { t.ClosedBy = "boss" }), want: true, back: true, plain: true},
		"one that they resolved once it was back": {head: "again", change: func(t *conversation.Thread, s *Snapshot, _ *Loop) {
			t.Status, t.RuledAt = conversation.Resolved, "fixed"
			s.Counted = map[string]Reported{sanitize.ThreadNamed(t.Node): then("again")}
		}, plain: true},
		"an app opened the pull request": {head: "again", branch: []string{"guard", "raised"}, change: func(_ *conversation.Thread, s *Snapshot, _ *Loop) { s.People.ByApp = true }},
	} {
		thread := showing(f)
		thread.Node, thread.Head, thread.Opened = "PRRT_1", "raised", spoke
		l := &Loop{History: versions{history}}
		snap := Snapshot{Range: Range{Head: c.head, Commits: inLine(append([]string{c.head}, c.branch...)...)}, People: &conversation.People{Author: "ada", Permissions: map[string]string{"boss": "write", "ada": "write"}}}
		if c.change != nil {
			c.change(&thread, &snap, l)
		}
		snap.Conversation = &conversation.State{Threads: []conversation.Thread{thread}}
		void, back, uncured, err := l.voided(t.Context(), Request{}, snap)
		if err != nil || (len(void) == 1) != c.want || (len(back) == 1) != c.back {
			t.Errorf("%s: %v, %v, %v", what, void, back, err)
		}
		if plain := len(uncured) == 1 && thread.Uncured(uncured[thread.ID]).Status == conversation.Pending; plain != c.plain {
			t.Errorf("%s: a cure of what reviewers alone raised: %v", what, plain)
		}
	}
}

// inLine are commits of which each is the parent of the one before it.
func inLine(ids ...string) (out []Commit) {
	for n, id := range ids {
		c := Commit{ID: id}
		if n+1 < len(ids) {
			c.Parents = []string{ids[n+1]}
		}
		out = append(out, c)
	}
	return out
}

// What goes on from a commit is known through merges, whichever parent that is; what was merged beside it is not.
func TestWhatGoesOnFromACommit(t *testing.T) {
	r := Range{Head: "f", Commits: []Commit{{"f", []string{"c", "e"}}, {"e", []string{"c"}}, {"d", []string{"base"}}, {"c", []string{"b", "d"}}, {"b", []string{"a"}}, {"a", []string{"base"}}}}
	if got, whole := r.after("b"); !whole || !slices.Equal(got, []string{"c", "e", "f"}) {
		t.Errorf("%q, %v", got, whole)
	}
	if got, whole := r.after("gone"); whole || len(got) != 0 {
		t.Errorf("%q, %v", got, whole)
	}
	if got := r.firstParents(); !slices.Equal(got, []string{"f", "c", "b", "a"}) {
		t.Errorf("%q", got)
	}
}

// recordOf is a record of one run.
func recordOf(head string, at time.Time) func(context.Context, Request) iter.Seq2[Stored, error] {
	return func(context.Context, Request) iter.Seq2[Stored, error] {
		return func(yield func(Stored, error) bool) {
			yield(Stored{Result: review.RunResult{Run: fmt.Sprint("r ", head), Started: at, Rounds: []review.RoundResult{{Head: head}}}}, nil)
		}
	}
}

// An approval says something of code that is near a thread as it was at its commit. One of a commit that nobody has is of other code (threats.md T684).
func TestWhatAnApprovalIsOf(t *testing.T) {
	const quote = "\treturn sum(a) / len(a)\n"
	body := func(lines string) string {
		return "package a\n\nfunc mean(a []int) int {\n" + lines + quote + "}\n" + strings.Repeat("// more\n", besideLines)
	}
	history := shelf{}
	for commit, file := range map[string]string{
		"raised": body(""), "bad": body("\tif a == nil {\n\t\treturn 0\n\t}\n"), "good": body("\tif len(a) == 0 {\n\t\treturn 0\n\t}\n"), "far": body("") + "var b int\n",
	} {
		history[commit] = map[string]string{"a.go": file}
	}
	f := quoting(saidBy("one", foundAt(review.P1, 0, ""), "Mean of an empty list divides by zero"), 4, strings.TrimSpace(quote))
	for what, c := range map[string]struct {
		on, head string
		outdated bool
	}{
		"the head": {"bad", "bad", false}, "other code": {"good", "bad", true}, "the same near it": {"raised", "far", false},
		"nobody has it": {"lost", "good", true}, "GitHub does not say": {"", "good", true},
	} {
		th := showing(f)
		th.Head, th.DeveloperReplies = "raised", []conversation.Reply{{Author: "Boss", Body: "This is not fixed.", Commit: "bad"}}
		snap := Snapshot{Range: Range{Head: c.head}, Conversation: &conversation.State{Threads: []conversation.Thread{th}}, People: &conversation.People{Approved: map[string]time.Time{"boss": time.Now()}}}
		snap.Discussion.Reviews = []review.Review{{Author: review.Person{Login: "Boss"}, State: "APPROVED", Commit: c.on}}
		got, err := (&Loop{History: versions{history}}).outdated(t.Context(), snap)
		if err != nil || (len(got["boss"]) > 0) != c.outdated {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
}
