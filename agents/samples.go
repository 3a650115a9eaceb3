package agents

import (
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// sample is one request of Check.
type sample struct {
	name string
	task review.Task
}

// samples are an ordinary request, one with nothing in it, one larger than any pipe's buffer, and a repair turn; for a fixer
// also one after its work was refused.
func samples(spec Spec) []sample {
	normal := sampleTask(spec)
	empty := normal
	empty.Brief = review.Brief{Status: "ok"}
	empty.Discussion = &review.Discussion{}
	if normal.Fix != nil {
		empty.Fix = &review.FixPayload{PRNumber: normal.PRNumber, Round: 1}
	}
	large := normal
	large.Brief = sampleBrief("var filler = `" + strings.Repeat("a line of a large change that stands for nothing\n+", 40_000) + "`")
	repair := normal
	if spec.Role == review.RoleFixer {
		again := normal
		again.Setback = &review.Feedback{Try: 1, Refusals: []review.Refusal{{Rule: "protected-path", Path: ".github/workflows/ci.yml", Detail: "it is in a dot folder"}}}
		repair.Repair = &review.Repair{Error: "decode fix-result: neither fixed nor rejected: BUG-001",
			Answer: `{"agent":"checked","prNumber":7,"summary":{"fixed":0,"rejected":0,"deferred":0},"fixedIssues":[],"rejectedIssues":[],"commits":[]}`}
		return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"again", again}, {"repair", repair}}
	}
	if spec.Role == review.RoleVerifier {
		empty.Verify = &review.VerifyPayload{}
		repair.Repair = &review.Repair{Error: `decode verifier-result: assessments/1/findingId: "BUG-001" is assessed twice`,
			Answer: `{"agent":"checked","prNumber":7,"assessments":[{"findingId":"BUG-001","status":"refuted"},{"findingId":"BUG-001","status":"plausible"}],"fullReport":""}`}
		return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"repair", repair}}
	}
	if spec.Role == review.RoleScout {
		repair.Repair = &review.Repair{Error: "decode scout-result: verdict: value must be one of 'lgtm', 'flag'",
			Answer: `{"complexity":"simple","verdict":"approve","observations":[],"reasons":[]}`}
		return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"repair", repair}}
	}
	if spec.Role == review.RoleFinder {
		empty.Find = &review.FindTask{Most: 5, Chars: 8000}
		again := normal
		again.Find = &review.FindTask{Fragments: []review.Fragment{{File: "README.md", Reason: "it says what rows are", Text: "# Rows\n\nLists rows.\n", Lines: 3}}, Most: 20, Chars: 8000}
		repair.Repair = &review.Repair{Error: "decode finder-result: wanted: missing", Answer: `{"files":["README.md"]}`}
		return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"again", again}, {"repair", repair}}
	}
	if spec.Role == review.RoleCommand {
		repair.Repair = &review.Repair{Error: "decode command-result: findings/0/severity: value must be one of 'critical', 'high', 'medium', 'low'",
			Answer: `{"summary":"","confidence":"low","findings":[{"title":"A","severity":"P1","details":""}]}`}
		return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"repair", repair}}
	}
	repair.Repair = &review.Repair{Error: "decode reviewer-result: findings/0/priority: value must be one of 'P0', 'P1', 'P2', 'P3'",
		Answer: `{"agent":"checked","prNumber":7,"conclusion":"approve","findings":[{"id":"A-1","priority":"high"}]}`}
	return []sample{{"normal", normal}, {"empty", empty}, {"large", large}, {"repair", repair}}
}

func sampleTask(spec Spec) review.Task {
	t := review.Task{
		Version: review.TaskVersion, Role: spec.Role, Agent: spec.Name, PRNumber: 7, Run: "check", Round: 1,
		Repo:    review.Repo{Host: "github.com", Owner: "octo", Name: "sample"},
		BaseSHA: strings.Repeat("1", 40), HeadSHA: strings.Repeat("2", 40),
		Title: "Read the limit from the request", Body: "Lets callers say how many rows they want.",
		Brief: sampleBrief(sampleAdded), Limits: review.DefaultLimits(),
		Settings: map[string]string{"threshold": "5"},
	}
	switch spec.Role {
	case review.RoleCommentsAnalyzer:
		t.Brief = review.Brief{Status: "ok"}
		at := time.Date(2026, 1, 24, 10, 0, 0, 0, time.UTC)
		line := 12
		t.Discussion = &review.Discussion{Threads: []review.Thread{{ID: "T_1", File: "rows.go", Line: &line, Comments: []review.Comment{
			{ID: "C_1", Author: review.Person{Login: "octocat", Association: "MEMBER"}, Body: "What if limit is not a number?", CreatedAt: at, UpdatedAt: at}}}}}
	case review.RoleFixer:
		t.Fix = &review.FixPayload{PRNumber: 7, Round: 1, IssuesToFix: []review.Finding{sampleFinding()}}
	case review.RoleCommand:
		t.Prompt = "Check that errors are handled, and look at ${command.args} first."
		t.Command = &review.CommandTask{ID: spec.Name, Args: `"the last line" --strict`, Argv: []string{"the last line", "--strict"}, Place: review.PlaceReview}
	case review.RoleFinder:
		t.Find = &review.FindTask{Listings: []review.Listing{{Files: []string{"README.md", "rows.go"}}}, Most: 5, Chars: 8000}
	case review.RoleVerifier:
		t.Verify = &review.VerifyPayload{Findings: []review.Finding{sampleFinding()}}
	}
	return t
}

// sampleFinding is one that a fixer or a verifier is asked about.
func sampleFinding() review.Finding {
	line := 12
	return review.Finding{ID: "BUG-001", Priority: review.P1, Category: review.CategoryBug,
		File: "rows.go", Line: &line, Title: "Error of Atoi is dropped", Description: "A limit that is no number reads as 0.", Suggestion: "Answer 400.",
		Evidence: sampleAdded, Source: review.Source{Type: "agent", Name: "reviewer-1"}}
}

// sampleAdded is the line the sample's pull request adds.
const sampleAdded = "limit, _ := strconv.Atoi(r.URL.Query().Get(\"limit\"))"

// SampleTree is the repository that the samples speak of: its files before and after the pull request.
func SampleTree() (base, head map[string]string) {
	before, after := "package rows\n\nimport (\n\t\"net/http\"\n\t\"strconv\"\n)\n\nvar _ = strconv.Itoa\n\n"+
		"func rows(w http.ResponseWriter, r *http.Request) {\n\tdb := open()\n", "\tlist(w, db)\n}\n"
	readme := "# Rows\n\nLists rows.\n"
	return map[string]string{"rows.go": before + after, "README.md": readme},
		map[string]string{"rows.go": before + "\t" + sampleAdded + "\n" + after, "README.md": readme}
}

func sampleBrief(added string) review.Brief {
	diff := "diff --git a/rows.go b/rows.go\n--- a/rows.go\n+++ b/rows.go\n@@ -11,2 +11,3 @@ func rows(w http.ResponseWriter, r *http.Request) {\n" +
		" \tdb := open()\n+\t" + added + "\n \tlist(w, db)\n"
	return review.Brief{Status: "ok", Files: []review.BriefFile{{Path: "rows.go", Change: "modified", Language: "go", Additions: 1,
		Hunks: 1, HunksGiven: 1, Diff: diff, Context: []review.Region{{Start: 10, End: 14, Symbol: "rows", Text: "func rows(w http.ResponseWriter, r *http.Request) {\n"}}}}}
}
