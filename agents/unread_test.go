package agents

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/review"
)

// TestWhatAReviewerMayHaveSaidIsLeft: an answer that is no answer leaves what it may have said, and nothing where it plainly said nothing.
func TestWhatAReviewerMayHaveSaidIsLeft(t *testing.T) {
	t.Parallel()
	finding := func(p string) string {
		return `{"id":"A","priority":"` + p + `","category":"bug","file":"a.go","title":"t","description":"d"}`
	}
	written := func(findings string) string {
		return `{"agent":"sh","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[` + findings + `]}`
	}
	broken := func(findings string) string {
		return strings.Replace(written(findings), `"agent":"sh"`, `"agent":5`, 1)
	}
	cut := written(finding("P0"))
	cut = cut[:strings.Index(cut, `"category"`)]
	for name, row := range map[string]struct {
		first, again string // what is written when asked, and when asked again; empty for the same
		after        string // a shell command
		state        review.AgentState
		severe       int
		counted      bool // as a finding of its own
	}{
		"cut within a P0":                                     {cut, "", "", review.AgentDegraded, 1, false},
		"cut within a P0, then prose":                         {cut, "I cannot do that.", "", review.AgentDegraded, 1, false},
		"cut within a P0, then broken with a P2":              {cut, broken(finding("P2")), "", review.AgentDegraded, 1, false},
		"a broken P0, then broken without it":                 {broken(finding("P0")), broken(finding("P2")), "", review.AgentDegraded, 1, true},
		"a broken P0, then a good answer without":             {broken(finding("P0")), written(finding("P2")), "", review.AgentComplete, 1, false},
		"a broken P0, then a good answer with it":             {broken(finding("P0")), written(finding("P0")), "", review.AgentComplete, 1, true},
		"cut, then a good answer without findings":            {cut, written(""), "", review.AgentComplete, 1, false},
		"a broken P0, then a good answer with a P1 elsewhere": {broken(strings.NewReplacer("a.go", "b.go", `"t"`, `"other"`).Replace(finding("P0"))), written(finding("P1")), "", review.AgentComplete, 2, true},
		"a number for the priority, then a good answer":       {strings.Replace(written(finding("P0")), `"P0"`, "0", 1), written(""), "", review.AgentComplete, 1, false},
		"a score alone, then a good answer":                   {strings.Replace(written(finding("P0")), `"priority":"P0"`, `"score":10`, 1), written(""), "", review.AgentComplete, 1, false},
		"an escaped P0 without a title, then a good answer":   {strings.NewReplacer(`"P0"`, `"\u00500"`, `"title"`, `"titel"`).Replace(written(finding("P0"))), written(""), "", review.AgentComplete, 1, false},
		"UTF-16 without a title, then a good answer":          {utf16LE(strings.Replace(written(finding("P0")), `"title"`, `"titel"`, 1)), written(""), "", review.AgentComplete, 1, false},
		"a P2 without a title, then a good answer":            {strings.Replace(written(finding("P2")), `"title"`, `"titel"`, 1), written(""), "", review.AgentComplete, 0, false},
		"prose that denies it, then a good answer":            {"I found no critical issues.", written(""), "", review.AgentComplete, 0, false},
		"a line as text, then a good answer":                  {strings.Replace(written(finding("P0")), `"category"`, `"line":"1","category"`, 1), written(""), "", review.AgentComplete, 1, false},
		"in a line that looks like an event":                  {`{"event":"progress","message":"m","findings":[` + finding("P0") + `]}`, "", "", review.AgentDegraded, 1, true},
		"in an event that is cut":                             {`{"event":"progress","findings":[{"priority":"P0"`, "", "", review.AgentDegraded, 1, false},
		"after a megabyte of text":                            {strings.Repeat("text\n", 250_000) + "P0: it runs what it is given\n", "", "", review.AgentDegraded, 1, false},
		"in a line that is too long":                          {cut + strings.Repeat("x", 2<<20), "", "", review.AgentDegraded, 1, false},
		"before it hangs":                                     {cut, "", "sleep 60", review.AgentDegraded, 1, false},
		"before it crashes":                                   {cut, "", "exit 3", review.AgentDegraded, 1, false},
		"a good answer before it crashes":                     {written(""), "", "exit 3", review.AgentFailed, 0, false},
		"a claim before it crashes":                           {strings.Replace(written(""), `"p0_blocking":0`, `"p0_blocking":1`, 1), "", "exit 3", review.AgentDegraded, 1, false},
		"a claim":                                             {strings.Replace(written(""), `"p0_blocking":0`, `"p0_blocking":1`, 1), "", "", review.AgentComplete, 1, false},
		"no output":                                           {"", "", "exit 3", review.AgentFailed, 0, false},
		"a text that says nothing is wrong":                   {"It looks good to me.", "", "", review.AgentFailed, 0, false},
		"could not start":                                     {"could not start: no key\n", "", "exit 1", review.AgentFailed, 0, false},
		"a broken P0, then a P2 before it crashes":            {broken(finding("P0")), written(finding("P2")), `test -e "$0.asked" && exit 3; touch "$0.asked"`, review.AgentDegraded, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if row.again == "" {
				row.again = row.first
			}
			for file, text := range map[string]string{"first": row.first, "again": row.again} {
				if err := os.WriteFile(dir+"/"+file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			spec := script(t, `if grep -q '"repair":'; then touch "$0.again"; cat `+dir+`/again; else cat `+dir+"/first; fi\n"+row.after+"\n")
			if strings.HasPrefix(row.after, "sleep") {
				spec.Timeout = 2 * time.Second
			}
			a := Ask(t.Context(), spec, task(), nil)
			severe, counted := 0, false
			if a.Reviewer != nil {
				for _, f := range a.Reviewer.Findings {
					if f.Priority.Severe() {
						severe++
						counted = counted || f.Unconfirmed == "" && !answer.Unreadable(f)
					}
				}
				if a.Reviewer.Issues != review.Count(a.Reviewer.Findings) {
					t.Errorf("counts %+v", a.Reviewer.Issues)
				}
			}
			if a.Receipt.State != row.state || severe != row.severe || counted != row.counted {
				t.Errorf("%s (%s) with %d severe findings, counted %v; notes %q", a.Receipt.State, a.Receipt.Reason, severe, counted, a.Receipt.Notes)
			}
		})
	}
}

// The comments analyzer's first answer is read as a reviewer's is.
func TestWhatAnAnalyzerMayHaveSaidIsLeft(t *testing.T) {
	t.Parallel()
	const good = `{"agent":"c","prNumber":7,"reviewState":{"hasChangesRequested":false,"changesRequestedBy":[]},"stats":{"totalThreads":0,"resolvedThreads":0,"unresolvedThreads":0},` +
		`"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"pendingIssues":[],"threadsTruncated":false,"fullReport":"r"}`
	spec := script(t, `if grep -q '"repair":'; then echo '`+good+`'; else echo 'Critical: the thread asks for a fix.'; fi`+"\n")
	spec.Role = review.RoleCommentsAnalyzer
	a := Ask(t.Context(), spec, sampleTask(spec), nil)
	if a.Receipt.State != review.AgentComplete || a.Comments == nil || len(a.Comments.PendingIssues) != 1 || !answer.Unreadable(a.Comments.PendingIssues[0]) || a.Comments.Issues.P0 != 1 {
		t.Errorf("%+v: %+v", a.Receipt, a.Comments)
	}
}

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}
