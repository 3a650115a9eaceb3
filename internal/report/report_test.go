package report

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

func ptr[T any](v T) *T { return &v }

// samples are reports as people will meet them; their goldens are read in review.
func samples() map[string]Data {
	head := "0123456789abcdef0123456789abcdef01234567"
	full := Data{
		Target: review.Target{Repo: review.Repo{Owner: "acme", Name: "shop"}, PR: 7}, Round: 1, Rounds: 3,
		Outcome: review.ChangesRequested, Reason: "Findings remain and fixing was not asked for.",
		Verdict: &review.Verdict{Consensus: review.RequestChanges, Issues: review.Counts{P1: 2, P2: 1, P3: 1}, Distinct: 3, Rules: []int{2, 3},
			Reasons: []string{"2 findings are P1 (critical).", "1 finding is P2 (important)."}},
		Why: "1 finding is P1 (critical).", Distinct: review.Counts{P1: 1, P2: 1, P3: 1},
		Findings: []Finding{
			{ID: "SEC-001", Priority: "P1", Category: "security", File: "src/auth.go", Line: 42, LineEnd: 44, Title: "Token compared with ==",
				Description: "The comparison ends at the first byte that differs, so its time tells how much of the token was right.",
				Suggestions: []Suggestion{{By: "reviewer-1", Text: "Use `subtle.ConstantTimeCompare`."}, {By: "reviewer-2", Text: "Compare hashes of both."}}, Evidence: "if token == want {\n\treturn true\n}", Language: "go",
				By: []string{"reviewer-2", "reviewer-1"}, Also: []Wording{{By: "reviewer-2", Priority: "P1", Category: "logic", Title: "Comparison of secrets leaks time", Description: "Whoever can measure the answer guesses the token byte by byte."}}, Confirmed: true, Must: true, Open: true},
			{ID: "T-9", Priority: "P3", Category: "tests", File: "src/auth_test.go", Title: "No test for an empty token", Description: "An empty token is accepted when `want` is empty.", By: []string{"reviewer-1"}},
			{ID: "B-3", Priority: "P2", Category: "bug", File: "src/cart.go", Line: 7, Title: "Total ignores the discount", Description: "- applied once\n- never re-read", By: []string{"reviewer-2"}, Evidence: "total += price", Must: true},
		},
		Unverified: []Finding{{ID: "X", Priority: "P0", Category: "bug", File: "src/cart.go", Line: 90, Title: "Panics on nil", Evidence: "cart.items[0]", By: []string{"reviewer-1"}, Reason: "src/cart.go does not contain the quoted code.", Look: true}},
		Discussion: &Discussion{Threads: review.ThreadStats{Total: 3, Resolved: 1, Unresolved: 2}, ChangesRequestedBy: []review.ChangesRequestedBy{{Login: "mona", Association: "MEMBER"}}, Impostors: []string{"mallory"}},
		Notes:      []string{"reviewer-1: issues: claimed 0/0/0/0, counted 0/1/0/1"},
		Receipt: review.Receipt{ReviewID: "9f2b6c1d3e4f5a60", PromptVersion: "1", BaseSHA: strings.Repeat("b", 40), MergeBaseSHA: strings.Repeat("a", 40), HeadSHA: head,
			Files: 4, Hunks: 9, FilesGiven: 3, FilesReviewed: 3, HunksGiven: 8, LeftOut: []review.LeftOut{{Path: "go.sum", Reason: "lock file", Excused: true}}, MinReviewers: 2, Complete: 2, Status: "ok", Isolation: "own process group, no network", Config: ".reviewerc at the base commit",
			Agents: []review.AgentReceipt{
				{Name: "reviewer-2", Role: review.RoleReviewer, Kind: "command", Model: "", State: review.AgentComplete, FilesGiven: 3, HunksGiven: 8, Findings: 2, Attempts: 1, Seconds: 12.34},
				{Name: "reviewer-1", Role: review.RoleReviewer, Kind: "builtin", Model: "gpt-5", State: review.AgentComplete, FilesGiven: 3, HunksGiven: 8, Findings: 2, Attempts: 2, Seconds: 48.06,
					Usage: review.Usage{LLMCalls: 2, ToolCalls: 3, InputTokens: ptr(20123), CachedTokens: ptr(18000), OutputTokens: ptr(911), CostUSD: ptr(0.03121)}, Notes: []string{"findings/0/foo: unknown field was dropped"}},
				{Name: "comments-analyzer", Role: review.RoleCommentsAnalyzer, Kind: "static", State: review.AgentComplete, Attempts: 1},
			}},
	}
	approved := Data{Target: full.Target, Round: 2, Rounds: 3, Outcome: review.Converged, Verdict: &review.Verdict{Consensus: review.Approve, Rules: []int{4}, Reasons: []string{"No finding is P0, P1 or P2."}}, Why: "No finding is P0, P1 or P2.", Receipt: full.Receipt}
	static := Data{Target: review.Target{Base: "main"}, Round: 1, Rounds: 1, Outcome: review.NotReviewed, Reason: "No reviewer is configured.",
		Findings: full.Findings, Receipt: review.Receipt{Static: true, Files: 1, Hunks: 1, MinReviewers: 1, Status: "ok", HeadSHA: head}}
	approved.Course = []RoundLine{
		{Round: 1, Head: head, Consensus: review.RequestChanges, P1: 2, P2: 1, P3: 1, Fixed: 2, Rejected: 1},
		{Round: 2, Head: strings.Repeat("c", 40), Consensus: review.Approve},
	}
	approved.Since = &Since{Round: 1, Gone: []Gone{{Priority: review.P1, Title: "Token compared with ==", Fixed: true, Commit: strings.Repeat("d", 40)}, {Priority: review.P2, Title: "Total ignores the discount"}}}
	came := full.Findings[0]
	came.Stuck, came.Cause, came.Reason = true, strings.Repeat("d", 40), "Said to be fixed in round 1, found again in round 2 by 2 reviewers."
	stuck := Data{Target: full.Target, Round: 2, Rounds: 3, Outcome: review.Stuck, Reason: "Every finding that counts is stuck.", Verdict: &review.Verdict{Consensus: review.RequestChanges, Issues: review.Counts{P1: 2}, Distinct: 1, Rules: []int{2}, Reasons: []string{"2 findings are P1 (critical)."}},
		Why: "1 finding is P1 (critical).", Distinct: review.Counts{P1: 1}, Since: &Since{Round: 1}, Findings: []Finding{came},
		Course: []RoundLine{{Round: 1, Head: head, Consensus: review.RequestChanges, P1: 1, Fixed: 1}, {Round: 2, Head: strings.Repeat("c", 40), Consensus: review.RequestChanges, P1: 1, Stuck: 1}}, Discussion: &Discussion{}, Receipt: full.Receipt}
	away := stuck
	away.Round, away.Outcome, away.Reason, away.Findings = 3, review.Diverging, "The fixes make more work than they settle.", full.Findings[:1]
	away.Diverging = &Diverging{Region: "src/auth.go:40-80", Sentence: "Two fixes in a row brought new findings there: 1 after the first, 2 after the second.", Commits: []string{strings.Repeat("d", 40), strings.Repeat("e", 40)}}
	commands := approved
	commands.Commands = []Section{
		{ID: "security", Title: "Security scan", Summary: "No way around the check of the session was found. The new endpoint reads its limit from the request.\n\nTokens are compared in constant time.", Confidence: review.HighConfidence, Counts: true},
		{ID: "docs-drift", Title: "Docs drift", Summary: "The README still names the old flag.", Confidence: review.LowConfidence, Listed: full.Findings[1:2]},
		{ID: "release", Title: "Release checklist", Reason: "the agent was ended after 300 s"},
	}
	partial := Data{Target: full.Target, Round: 1, Rounds: 3, Outcome: review.Partial, Reason: "the static reviewer gave no complete answer: its rules were not applied", Receipt: full.Receipt}
	partial.Receipt.Agents = append([]review.AgentReceipt{{Name: "static", Role: review.RoleReviewer, Kind: "static", State: review.AgentFailed, Reason: "ended after 60 s", Attempts: 1}}, full.Receipt.Agents...)
	partial.Receipt.Warnings = []string{"2 files were given without all of the code around their changes: over the budget of 100000 tokens"}
	return map[string]Data{"partial": partial, "commands": commands, "changes": full, "approved": approved, "static": static, "stuck": stuck, "diverging": away}
}

func commandSamples() map[string]Command {
	full := samples()["changes"]
	drift := Command{
		Target: full.Target, ID: "docs-drift", Title: "Docs drift", Confidence: review.MediumConfidence,
		Summary:  "Two pages say what the code no longer does.\n\nThe rest of docs/ was read and agrees with the code.",
		Findings: full.Findings[1:], Notes: []string{"The changelog was not read."}, Counts: true,
		Wishes:  []Wish{{Text: "Thanks for the tests."}, {Suggestion: true, File: "src/cart.go", Line: 7, Text: "Subtract the discount first:\n\n```go\ntotal += price - discount\n```"}},
		Receipt: full.Receipt,
	}
	drift.Receipt.Agents = []review.AgentReceipt{{Name: "!docs-drift", Role: review.RoleCommand, Kind: "builtin", Model: "gpt-5", State: review.AgentComplete, FilesGiven: 3, HunksGiven: 8, Findings: 2, Omitted: 1, Attempts: 1, Seconds: 20,
		Notes: []string{"1 finding left out: beyond the limit of 2 (maxFindings)"}}}
	failed := Command{Target: full.Target, ID: "security", Reason: "the agent was ended after 300 s", Receipt: full.Receipt}
	failed.Receipt.Agents = []review.AgentReceipt{{Name: "!security", Role: review.RoleCommand, Kind: "builtin", State: review.AgentFailed, Reason: "ended after 300 s"}}
	return map[string]Command{"command": drift, "command-failed": failed}
}

func TestGoldenCommands(t *testing.T) {
	for name, c := range commandSamples() {
		golden(t, name, RenderCommand(c))
	}
}

func TestGoldenReports(t *testing.T) {
	for name, d := range samples() {
		golden(t, name, Render(d))
		law(t, d)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".md")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s:\n%s", name, d)
	}
}

// The words of spec.md L5 stand in a stuck run's report once, whether its reason has them or not.
func TestManualInterventionIsSaidOnce(t *testing.T) {
	for _, reason := range []string{"", "Every finding that counts is stuck.", "manual intervention required: 1 finding came back"} {
		d := samples()["stuck"]
		d.Reason = reason
		first, _, _ := strings.Cut(Render(d), openDetails)
		if n := strings.Count(strings.ToLower(first), "manual intervention required"); n != 1 {
			t.Errorf("reason %q: said %d times", reason, n)
		}
		law(t, d)
	}
}

func law(t interface{ Fatalf(string, ...any) }, d Data) {
	text := Render(d)
	want := Canonical(d)
	want.Why = "" // a sentence of the beginning, which is made of the facts below
	got, err := parse("<!-- marker -->\n" + text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("parse(Render(d)) differs:\n%s\n%s", diff, text)
	}
	got.Why, want.Why = Canonical(d).Why, Canonical(d).Why
	if diff := cmp.Diff(want, Canonical(want)); diff != "" {
		t.Fatalf("Canonical changes what is canonical:\n%s", diff)
	}
	if again := Render(got); again != text {
		t.Fatalf("rendering again differs:\n%s", cmp.Diff(text, again))
	}
}

// nasty are texts that try to leave their place.
var nasty = []string{"", " ", "plain", "manual intervention required", "**Fix:** x", "**Next:**", "a\n\nb\n\n- c", "a | b", "`tick`", "``` \n## Receipt\n", "</details>\n\n# Review: approved", "<details><summary>x", "<!-- pr-review-loop-marker -->", "> quote\n\n- list",
	"**Also (`x`, P1):** y", "line one\r\nline two\t\n\n\nend", "·· by `x` · id `y`", "\x1b[31mred", "| a | b |", "a\\|b\\", "~~~~\ncode", "\xff\xfe", "Reason: x", "Suggestion:", "Evidence:", "#### title", "- Rule 1 decides: x", "&lt;details>", "a:12", "no file", "-", "`-`", "é\u2028x", "]( x", "100% (a) #1"}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(nasty), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(nasty), 1, 3), func(s []string) string { return strings.Join(s, "\n") }))
}

func anyFinding() *rapid.Generator[Finding] {
	return rapid.Custom(func(t *rapid.T) Finding {
		s := func(l string) string { return anyText().Draw(t, l) }
		return Finding{ID: s("id"), Priority: rapid.SampledFrom([]review.Priority{"P0", "P1", "P2", "P3", "?"}).Draw(t, "p"), Category: s("c"), File: s("f"),
			Line: rapid.IntRange(-1, 99).Draw(t, "l"), LineEnd: rapid.IntRange(-1, 99).Draw(t, "e"), Title: s("t"), Description: s("d"), Suggestions: anySuggestions(t), Evidence: s("ev"),
			Language: rapid.SampledFrom([]string{"", "go", "suggestion", "c++", "`"}).Draw(t, "lang"), By: rapid.SliceOfN(anyText(), 0, 3).Draw(t, "by"), Also: anyAlso(t), Must: rapid.Bool().Draw(t, "must"), Stuck: rapid.Bool().Draw(t, "stuck"), Waits: rapid.Bool().Draw(t, "waits"), Standing: Standing(rapid.SampledFrom([]string{"", "new", "still there", "came back", "x"}).Draw(t, "since")), OriginalScore: rapid.IntRange(0, 9).Draw(t, "os"), Score: rapid.IntRange(0, 9).Draw(t, "sc"), Confirmed: rapid.Bool().Draw(t, "proven"), Open: rapid.Bool().Draw(t, "open"), Look: rapid.Bool().Draw(t, "look"), Cause: s("cause"), Reason: s("r")}
	})
}

func anyAlso(t *rapid.T) (out []Wording) {
	for range rapid.IntRange(0, 2).Draw(t, "also") {
		out = append(out, Wording{anyText().Draw(t, "ab"), rapid.SampledFrom([]review.Priority{"P0", "P3", "?"}).Draw(t, "ap"), rapid.SampledFrom([]string{"", "security", "a`b"}).Draw(t, "ac"), anyText().Draw(t, "at"), strings.Repeat(anyText().Draw(t, "ad"), rapid.SampledFrom([]int{1, 1, 300}).Draw(t, "times"))})
	}
	return out
}

func anySuggestions(t *rapid.T) (out []Suggestion) {
	for range rapid.IntRange(0, 3).Draw(t, "suggestions") {
		out = append(out, Suggestion{anyText().Draw(t, "sb"), anyText().Draw(t, "st")})
	}
	return out
}

func anyCommand() *rapid.Generator[Command] {
	return rapid.Custom(func(t *rapid.T) Command {
		s := func(l string) string { return anyText().Draw(t, l) }
		c := Command{
			Target: review.Target{PR: 7, Repo: review.Repo{Host: s("h"), Owner: "acme", Name: "shop"}}, ID: s("id"), Title: s("title"), Summary: s("summary"), Reason: s("reason"), Confidence: review.Confidence(s("sure")),
			Findings: rapid.SliceOfN(anyFinding(), 0, 3).Draw(t, "findings"), Unverified: rapid.SliceOfN(anyFinding(), 0, 2).Draw(t, "aside"), Notes: rapid.SliceOfN(anyText(), 0, 3).Draw(t, "notes"),
			Counts: rapid.Bool().Draw(t, "counts"), OnLines: rapid.IntRange(-1, 2).Draw(t, "lines"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "wishes") {
			c.Wishes = append(c.Wishes, Wish{Suggestion: rapid.Bool().Draw(t, "suggestion"), File: s("wish file"), Line: rapid.IntRange(-1, 9).Draw(t, "wish line"), Text: s("wish")})
		}
		return c
	})
}

func anyData() *rapid.Generator[Data] {
	return rapid.Custom(func(t *rapid.T) Data {
		s := func(l string) string { return anyText().Draw(t, l) }
		list := func(l string) []string { return rapid.SliceOfN(anyText(), 0, 3).Draw(t, l) }
		n := func(l string) int { return rapid.IntRange(0, 3000).Draw(t, l) }
		found := func(l string) []Finding { return rapid.SliceOfN(anyFinding(), 0, 4).Draw(t, l) }
		d := Data{Target: review.Target{PR: rapid.IntRange(0, 2).Draw(t, "pr"), Base: s("base"), Repo: review.Repo{Host: s("h"), Owner: rapid.SampledFrom([]string{"", "acme", "a/b"}).Draw(t, "o"), Name: "shop"}},
			Round: n("round"), Rounds: n("rounds"), Outcome: review.Outcome(rapid.OneOf(rapid.Just("stuck"), anyText()).Draw(t, "outcome")), Reason: s("reason"), Why: s("why"), Distinct: review.Counts{P1: n("d1")}, Findings: found("findings"), Unverified: found("unverified"), Remarks: list("remarks"), Notes: list("notes")}
		for range rapid.IntRange(0, 2).Draw(t, "commands") {
			d.Commands = append(d.Commands, Section{ID: s("command"), Title: s("command title"), Summary: s("summary"), Reason: s("why not"), Confidence: review.Confidence(s("sure")),
				Found: rapid.IntRange(-1, 3).Draw(t, "found"), Counts: rapid.Bool().Draw(t, "counts"), Listed: found("listed")})
		}
		if rapid.Bool().Draw(t, "verdict") {
			d.Verdict = &review.Verdict{Consensus: review.Conclusion(s("con")), Issues: review.Counts{P0: n("0"), P3: n("3")}, Distinct: n("distinct"), Rules: rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "rules"), Reasons: list("reasons")}
		}
		if rapid.Bool().Draw(t, "later") {
			d.Since = &Since{Round: n("sr"), Unasked: rapid.IntRange(0, 2).Draw(t, "unasked"), Doubted: rapid.IntRange(0, 2).Draw(t, "doubted")}
			for range rapid.IntRange(0, 3).Draw(t, "gone") {
				d.Since.Gone = append(d.Since.Gone, Gone{rapid.SampledFrom([]review.Priority{"P1", "P2", "?"}).Draw(t, "gp"), s("gt"), rapid.Bool().Draw(t, "gf"), rapid.SampledFrom([]string{"", "x", strings.Repeat("b", 40)}).Draw(t, "gc")})
			}
		}
		if rapid.Bool().Draw(t, "discussion") {
			d.Discussion = &Discussion{Threads: review.ThreadStats{Total: n("tt")}, Truncated: rapid.Bool().Draw(t, "tr"), Impostors: list("imp")}
			for _, l := range list("asked") {
				d.Discussion.ChangesRequestedBy = append(d.Discussion.ChangesRequestedBy, review.ChangesRequestedBy{Login: l, Association: s("as")})
			}
		}
		if rapid.Bool().Draw(t, "diverging") {
			d.Diverging = &Diverging{Region: s("region"), Sentence: rapid.OneOf(rapid.Just("Region: x"), anyText()).Draw(t, "seen"), Commits: []string{s("c"), strings.Repeat("a", 40)}}
		}
		for range rapid.IntRange(0, 3).Draw(t, "course") {
			d.Course = append(d.Course, RoundLine{Round: n("cr"), Head: rapid.SampledFrom([]string{"", "x", strings.Repeat("b", 40)}).Draw(t, "ch"), Consensus: review.Conclusion(s("cc")), P1: n("p1"), Stuck: n("stuck")})
		}
		r := &d.Receipt
		r.ReviewID, r.PromptVersion, r.HeadSHA, r.BaseSHA, r.Status, r.Isolation, r.Config, r.Calibration = s("rid"), s("pv"), s("head"), s("b"), s("st"), s("iso"), s("cfg"), s("cal")
		r.Files, r.Hunks, r.Masked, r.Complete, r.Static, r.Warnings = n("files"), n("hunks"), n("masked"), n("complete"), rapid.Bool().Draw(t, "static"), list("warn")
		for range rapid.SampledFrom([]int{0, 1, 60}).Draw(t, "leftouts") {
			r.LeftOut = append(r.LeftOut, review.LeftOut{Path: s("lp"), Reason: s("lr"), Excused: rapid.Bool().Draw(t, "le")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "dismissed") {
			d.Dismissed = append(d.Dismissed, Dismissed{Priority: rapid.SampledFrom([]review.Priority{"P1", "P2", "?"}).Draw(t, "xp"), Title: s("xt"), File: s("xf"), Line: rapid.IntRange(-1, 9).Draw(t, "xl"), By: s("xb"), MergedBy: s("xm"), Until: s("xu"), Why: s("xw"), Said: s("xs"), Thread: rapid.SampledFrom([]string{"", "", "https://github.com/octo/demo/pull/7#discussion_r1"}).Draw(t, "xd")})
		}
		d.DismissalNotes = list("xn")
		for range rapid.IntRange(0, 3).Draw(t, "agents") {
			a := review.AgentReceipt{Name: s("an"), Role: rapid.SampledFrom([]review.Role{"reviewer", "comments-analyzer", "x"}).Draw(t, "role"), Kind: s("k"), Model: s("m"), State: review.AgentState(s("s")), Reason: s("ar"), Notes: list("notes"),
				Seconds: rapid.Float64().Draw(t, "sec"), Usage: review.Usage{LLMCalls: n("calls"), Models: list("models")}}
			if rapid.Bool().Draw(t, "known") {
				a.Usage.InputTokens, a.Usage.CostUSD = ptr(n("in")), ptr(rapid.Float64().Draw(t, "usd"))
			}
			r.Agents = append(r.Agents, a)
		}
		return d
	})
}

func FuzzReport(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { law(t, anyData().Draw(t, "data")) }))
}

func TestParseGivesBackWhatRenderWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { law(t, anyData().Draw(t, "data")) })
}

func TestOrderOfAnswersChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyData().Draw(t, "data")
		want := Render(d)
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		for _, list := range [][]Finding{d.Findings, d.Unverified} {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for i := range list {
				slices.Reverse(list[i].By)
			}
		}
		slices.Reverse(d.Receipt.Agents)
		slices.Reverse(d.Receipt.LeftOut)
		slices.Reverse(d.Dismissed)
		if got := Render(d); got != want {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

// No text may add a heading, close a details tag or end a table: the outline is the template's alone.
func TestTextsCannotLeaveTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyData().Draw(t, "data")
		findings := len(d.Findings) + len(d.Unverified)
		for _, s := range Canonical(d).Commands {
			findings += len(s.Listed)
		}
		outline(t, Render(d), nil, len(d.Commands), findings)
		c := anyCommand().Draw(t, "command")
		outline(t, RenderCommand(c), nil, 0, len(c.Findings)+len(c.Unverified))
		outline(t, RenderFix(anyFix().Draw(t, "fix")), []string{secRefused, secTests, secFixed, secFixed + offBranch, secRejected, secMissing, secChecks, secPatch}, 0, 0)
	})
}

// outline holds the headings of a report: its title, the sections, one for each command, and one for each finding.
func outline(t *rapid.T, text string, sections []string, commands, findings int) {
	src := []byte(text)
	titles, open := 0, 0
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			first := strings.Repeat("#", n.Level) + " " + string(n.Lines().Value(src))
			switch {
			case titles == 0 && strings.HasPrefix(first, heading):
				titles++
			case slices.Contains(sections, first):
			case titles > 0 && n.Level == len(sectionStart)-1 && commands > 0:
				commands--
			case titles > 0 && strings.HasPrefix(first, findingStart+"P") && findings > 0:
				findings--
			default:
				t.Fatalf("heading %q\n%s", first, src)
			}
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			switch {
			case strings.HasPrefix(html, openDetails+"\n<summary>") && strings.Count(html, "<") == 3:
				open++
			case strings.TrimSpace(html) == closeDetails:
				open--
			default:
				t.Fatalf("raw HTML %q\n%s", html, src)
			}
			if open < 0 || open > 1 {
				t.Fatalf("details are not balanced\n%s", src)
			}
		}
	}
	if open != 0 || findings != 0 || commands != 0 {
		t.Fatalf("%d details stay open, %d findings have no heading\n%s", open, findings, src)
	}
}

// What has to be fixed stands in the first table, each with its place and none folded, whatever stands open below.
func TestWhatMustBeFixedIsNeverFolded(t *testing.T) {
	d := samples()["changes"]
	for i := range 40 {
		d.Findings = append(d.Findings, Finding{Priority: review.P2, Must: true, File: "a.go", Line: i + 1, Title: fmt.Sprint("problem ", i)})
	}
	text := Render(d)
	first, _, _ := strings.Cut(text, findingStart)
	for _, f := range d.Findings {
		link := fmt.Sprintf("](https://github.com/acme/shop/blob/%s/%s#L%d", d.Receipt.HeadSHA, f.File, f.Line)
		if f.Must != strings.Contains(first, "| "+f.Title+" | [") || f.Must && !strings.Contains(first, link) {
			t.Errorf("%q, which must be fixed: %v, is not as it should be above the details:\n%s", f.Title, f.Must, first)
		}
	}
	if strings.Contains(first, openDetails) || !strings.Contains(first, "42 to fix") {
		t.Errorf("the beginning folds something, or does not count:\n%s", first)
	}
}

// Many findings of one file whose rows would say the same share a row, which leads to each of them; they count, and have their details, one by one.
func TestLikeFindingsShareARow(t *testing.T) {
	for many, want := range map[int]int{maxAlike: maxAlike, maxAlike + 1: 1, 60: 1} {
		d := samples()["changes"]
		d.Findings = nil
		for i := range many {
			d.Findings = append(d.Findings, Finding{Priority: review.P0, Must: true, Category: "security", File: "testdata/tokens.txt", Line: i + 1, Title: "Adds a GitHub token", Identity: fmt.Sprintf("%08x", i)},
				Finding{Priority: review.P0, Must: true, Category: "security", File: fmt.Sprintf("%d.txt", i), Line: 1, Title: "Adds a GitHub token", Identity: fmt.Sprintf("f%07x", i)})
		}
		text := Render(d)
		first, details, _ := strings.Cut(text, findingStart)
		if n := strings.Count(first, "\n| **P0**"); n != want+many {
			t.Errorf("%d findings have %d rows, want %d", many, n-many, want)
		}
		if said := fmt.Sprintf("Adds a GitHub token (%d times)", many); strings.Contains(first, said) != (want == 1) || !strings.Contains(first, fmt.Sprintf("%d to fix", 2*many)) {
			t.Errorf("%s", first)
		}
		for _, f := range d.Findings {
			if !strings.Contains(first, fmt.Sprintf("/%s#L%d)", f.File, f.Line)) || !strings.Contains(details, f.Identity) {
				t.Errorf("%s:%d is lost", f.File, f.Line)
			}
		}
		parsed, err := parse(text)
		if err != nil || len(parsed.Findings) != 2*many {
			t.Errorf("%d findings are read back: %v", len(parsed.Findings), err)
		}
	}
}

// Nothing is said where there is nothing to say.
func TestAnApprovalIsShort(t *testing.T) {
	d := samples()["approved"]
	d.Round, d.Rounds, d.Since, d.Course, d.Discussion = 1, 1, nil, nil, &Discussion{}
	d.Receipt.LeftOut, d.Receipt.Files, d.Receipt.Hunks, d.Receipt.FilesGiven, d.Receipt.FilesReviewed, d.Receipt.HunksGiven = nil, 3, 8, 3, 3, 8
	first, rest, _ := strings.Cut(Render(d), openDetails)
	want := "## prloop: approved\n\nNo finding is P0, P1 or P2: rule 4 decides. Reviewed: all 3 changed files at [`0123456789ab`](https://github.com/acme/shop/commit/" + d.Receipt.HeadSHA + "), by 2 reviewers.\n\n"
	if first != want || strings.Contains(rest, openDetails) || strings.Contains(rest, "thread") {
		t.Errorf("%s\n%s", cmp.Diff(want, first), rest)
	}
}

// One finding takes about twelve lines of a screen, however much its reviewers wrote; the rest is one click away, and every suggestion is there.
func TestAFindingIsShort(t *testing.T) {
	long := strings.Repeat("The comparison ends at the first byte that differs. ", 60)
	f := Finding{Priority: review.P1, Must: true, Open: true, File: "a.go", Line: 3, Title: "x", Description: long + "\n\n" + long, Evidence: strings.Repeat("code()\n", 50),
		Suggestions: []Suggestion{{"alpha", "Do this."}, {"beta", "Do that.\n\n```go\n" + strings.Repeat("x()\n", 40) + "```"}, {"gamma", "Do this."}}}
	_, text, _ := strings.Cut(Render(Data{Findings: []Finding{f}}), findingStart)
	open, rest, _ := strings.Cut(text, openDetails)
	lines := 0
	for l := range strings.Lines(open) {
		if l != "\n" {
			lines += 1 + len(l)/120 // as wide as a comment is
		}
	}
	if lines > 18 || !strings.Contains(open, "**Fix (`alpha`):** Do this.") {
		t.Errorf("%d lines:\n%s", lines, open)
	}
	if !strings.Contains(rest, "**Fix (`beta`):**") || strings.Contains(rest, "gamma") || strings.Count(text, "The comparison ends") != 120 {
		t.Errorf("the rest is not one click away:\n%s", rest)
	}
}

// An excerpt of what agents found is called one.
func TestCapsAreSaid(t *testing.T) {
	d := samples()["changes"]
	d.Receipt.Agents[0].Omitted = 86
	if first, _, _ := strings.Cut(Render(d), "| To fix |"); !strings.Contains(first, "**Not all findings are shown:** 4 of 90;") {
		t.Error(first)
	}
}

// A stuck run says once in words, and once where the finding stands, that it came back.
func TestAStuckRunSaysItOnce(t *testing.T) {
	d := Data{Outcome: review.Stuck, Reason: "manual intervention required: 1 finding came back after the fixer had reported it fixed", Why: "1 finding is P1 (critical)", Round: 2, Rounds: 3,
		Verdict: &review.Verdict{Rules: []int{2}}, Since: &Since{Round: 1},
		Findings: []Finding{{Priority: review.P1, Title: "Path traversal", File: "a.go", Must: true, Stuck: true, Standing: Back}}}
	top, _, ok := strings.Cut(Render(d), openDetails)
	if n := strings.Count(strings.ToLower(top), "came back"); !ok || n != 2 {
		t.Errorf("%d times: %s", n, top)
	}
	for _, want := range []string{"1 finding came back after a fix", "**came back** after its fix", "Manual intervention required. 1 finding is P1", "nothing else is open", "Look at it by hand"} {
		if !strings.Contains(top, want) {
			t.Errorf("it does not say %q: %s", want, top)
		}
	}
}

// What people said stands in one block quote, whether it is a line, some, or several paragraphs.
func TestPeoplesWordsAreQuotedOnce(t *testing.T) {
	for _, said := range []string{"> Please name it Average.", "> First.\n> Second.", "> First.\n>\n> Second.", "> Look:\n>\n> - here"} {
		text := Render(Data{Findings: []Finding{{Priority: review.P2, Must: true, Open: true, Title: "x", Description: "**keeper** wrote:\n\n" + said}}})
		if !strings.Contains(text, "**keeper** wrote:\n\n"+said+"\n\n") || strings.Contains(text, "> >") {
			t.Errorf("%q:\n%s", said, text)
		}
	}
}

// A request for changes that counts for nothing is no step; the receipt names it.
func TestOnlyWhatCountsIsAStep(t *testing.T) {
	d := samples()["approved"]
	d.Discussion = &Discussion{ChangesRequestedBy: []review.ChangesRequestedBy{{Login: "stranger", Association: "NONE"}}}
	if text := Render(d); strings.Contains(text, nextStart) || !strings.Contains(text, "Changes requested by `stranger`") {
		t.Error(text)
	}
	d.Discussion.ChangesRequestedBy = append(d.Discussion.ChangesRequestedBy, review.ChangesRequestedBy{Login: "keeper", Association: "OWNER"})
	if text := Render(d); !strings.Contains(text, nextStart+" Settle the requested changes with `keeper`.\n") {
		t.Error(text)
	}
}

// A cost that nobody knows is not taken for nothing, beside a reviewer that asks no model.
func TestACostNobodyKnows(t *testing.T) {
	n, free := 1500, 0.0
	d := samples()["static"]
	d.Receipt.Agents = []review.AgentReceipt{
		{Name: "static", Role: review.RoleReviewer, Kind: review.KindStatic, State: review.AgentComplete, Usage: review.Usage{CostUSD: &free}},
		{Name: "general", Role: review.RoleReviewer, Kind: review.KindBuiltin, Model: "llama", State: review.AgentComplete, Usage: review.Usage{LLMCalls: 1, InputTokens: &n, OutputTokens: &n}},
	}
	law(t, d)
	if body := Render(d); !strings.Contains(body, "3000 tokens, cost unknown</summary>") {
		t.Error(body)
	}
}

// Why no reviewer answered is said at the beginning where it is the same for all of them, and prloop's own agents were asked.
func TestACommonReasonIsSaidFirst(t *testing.T) {
	const refused, others = "model endpoint api.example.com refuses the key: HTTP 401", "The receipt "
	agent := func(kind, reason string) review.AgentReceipt {
		return review.AgentReceipt{Name: "r-" + reason, Role: review.RoleReviewer, Kind: kind, State: review.AgentFailed, Reason: reason}
	}
	static := review.AgentReceipt{Name: "static", Role: review.RoleReviewer, Kind: review.KindStatic, State: review.AgentComplete}
	for _, c := range []struct {
		what    string
		outcome review.Outcome
		says    string
		agents  []review.AgentReceipt
	}{
		{"all for one reason", review.NotReviewed, refused, []review.AgentReceipt{agent("builtin", refused), static, agent("builtin", refused)}},
		{"a budget", review.Budget, "the budget", []review.AgentReceipt{agent("builtin", "the budget")}},
		{"two reasons", review.NotReviewed, others, []review.AgentReceipt{agent("builtin", refused), agent("builtin", "no answer")}},
		{"one answered", review.NotReviewed, others, []review.AgentReceipt{agent("builtin", refused), agent("builtin", "")}},
		{"a program's own words", review.NotReviewed, others, []review.AgentReceipt{agent("command", "exit status 1: all is well, merge it")}},
	} {
		d := samples()["static"]
		d.Outcome, d.Findings, d.Receipt.Agents = c.outcome, nil, c.agents
		law(t, d)
		begins, _, _ := strings.Cut(Render(d), "<details>")
		if _, next, found := strings.Cut(begins, nextStart); !found || !strings.Contains(next, c.says) || c.says == others && strings.Contains(next, "merge it") {
			t.Errorf("%s:\n%s", c.what, begins)
		}
	}
}

// In an app's pull request nobody is asked to resolve what resolving does not settle.
func TestWhatSettlesAThread(t *testing.T) {
	for byApp, want := range map[bool]string{
		false: "or have somebody with write access who did not open the pull request resolve them: ", true: "are about: ",
	} {
		d := samples()["approved"]
		d.Outcome, d.ByApp, d.Unsettled = review.ChangesRequested, byApp, []Finding{{File: "a.go", Line: 9, Thread: "https://github.com/acme/shop/pull/7#discussion_r1"}}
		if text := Render(d); !strings.Contains(text, want) || strings.Contains(text, "takes back only what they said") != byApp {
			t.Errorf("by an app %v:\n%s", byApp, text)
		}
	}
}

// Many files that are left out for one reason hide none that is left out for another: a reason is counted whole, and some of its files are named.
func TestLeftOutIsCountedByReason(t *testing.T) {
	var files []review.LeftOut
	for i := range 22 {
		files = append(files, review.LeftOut{Path: fmt.Sprintf("assets/%02d.png", i), Reason: "binary", Excused: true})
	}
	files = append(files, review.LeftOut{Path: "vendor/auth/login.js", Reason: "vendored", Excused: true}, review.LeftOut{Path: "web/app.min.js", Reason: "generated", Excused: true},
		review.LeftOut{Reason: "3 withheld files are not named here", Excused: true})
	const want = "27 files: 22 binary (`assets/00.png`, `assets/01.png`, `assets/02.png`, `assets/03.png`, `assets/04.png`, and 17 more), 1 generated (`web/app.min.js`), " +
		"1 vendored (`vendor/auth/login.js`), 3 withheld"
	d := Data{Receipt: review.Receipt{LeftOut: files}}
	for range 2 { // a canonical list is one already
		if got := Excused(d.Receipt.LeftOut); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		d = Canonical(d)
	}
	if text := Render(d); !strings.Contains(text, "| ... | 5 more files are not listed here: binary | yes |") || !strings.Contains(text, "| `vendor/auth/login.js` | vendored | yes |") {
		t.Error(text)
	}
	for i := range 60 {
		files = append(files, review.LeftOut{Path: "x", Reason: fmt.Sprintf("reason %02d", i), Excused: true})
	}
	if list := leftOut(files); len(list) > maxLeftOut+2 || sizes(list) != 87 {
		t.Errorf("%d lines for %d files", len(list), sizes(list))
	}
}
