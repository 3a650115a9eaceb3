package orchestrator

import (
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What the newest report of our account says of a commit is the last word on it; an approval is one for the base commit of then alone.
func TestLastWord(t *testing.T) {
	head, other, base := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	us := review.Person{Login: "github-actions", ID: 7, Bot: true}
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	about := sanitize.BaseNamed("main")
	parts := func(minute int, o review.Outcome, head string, remarks ...string) (all []review.Comment) {
		d := report.Data{Target: review.Target{PR: 7}, Round: 1, Rounds: 1, Outcome: o, Receipt: review.Receipt{HeadSHA: head, BaseSHA: base, MergeBaseSHA: base}, Remarks: remarks}
		if o == review.Converged {
			d.Verdict = &review.Verdict{Consensus: review.Approve}
		}
		texts, err := sanitize.Comment(report.Render(d), sanitize.Marker{ReviewID: "r", Run: "run", Round: 1, Nonce: "n", RepoID: "o/r", PR: 7, Base: about, Key: make([]byte, sanitize.KeySize)}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			all = append(all, review.Comment{Author: us, Body: text.String(), URL: string(o), CreatedAt: at(minute), UpdatedAt: at(minute)})
		}
		return all
	}
	said := func(minute int, o review.Outcome, head string) review.Comment { return parts(minute, o, head)[0] }
	long := parts(1, review.ChangesRequested, head, strings.Repeat(strings.Repeat("word ", 1000)+"\n\n", 20))
	if len(long) < 2 {
		t.Fatal("the long report has one part")
	}
	about = sanitize.BaseNamed("dev")
	there, refusedThere := said(9, review.Converged, head), said(1, review.ChangesRequested, head)
	about = ""
	somewhere := said(9, review.Converged, head)
	about = sanitize.BaseNamed("main")
	stranger := said(9, review.Converged, head)
	stranger.Author = review.Person{Login: "mallory", ID: 8}
	quoted := said(9, review.ChangesRequested, head)
	quoted.Body = strings.Replace(quoted.Body, "## prloop: changes requested", "## prloop: no verdict", 1)
	claimed := said(9, review.ChangesRequested, head)
	claimed.Body = strings.Replace(claimed.Body, "- Outcome: `changes_requested`", "- Outcome: `converged`", 1)
	for name, c := range map[string]struct {
		comments []review.Comment
		base     string
		want     review.Outcome
	}{
		"nothing":                              {nil, base, ""},
		"an approval":                          {[]review.Comment{said(1, review.Converged, head)}, base, review.Converged},
		"an approval for another base":         {[]review.Comment{said(1, review.Converged, head)}, other, ""},
		"an approval of another head":          {[]review.Comment{said(1, review.Converged, other)}, base, ""},
		"changes requested":                    {[]review.Comment{said(1, review.ChangesRequested, head)}, other, review.ChangesRequested},
		"a report in parts":                    {long, base, review.ChangesRequested},
		"half a report":                        {long[:1], base, ""},
		"partial":                              {[]review.Comment{said(1, review.Partial, head)}, base, review.Partial},
		"the newest counts":                    {[]review.Comment{said(2, review.ChangesRequested, head), said(1, review.Converged, head)}, base, review.ChangesRequested},
		"the newest is of another head":        {[]review.Comment{said(1, review.Converged, head), said(2, review.ChangesRequested, other)}, base, ""},
		"a refusal before one of another head": {[]review.Comment{said(1, review.ChangesRequested, head), said(2, review.Converged, other)}, base, review.ChangesRequested},
		"somebody else's":                      {[]review.Comment{said(1, review.ChangesRequested, head), stranger}, base, review.ChangesRequested},
		"the heading of another template":      {[]review.Comment{quoted}, base, review.ChangesRequested},
		"an approval for another branch":       {[]review.Comment{there}, base, ""},
		"a refusal before one":                 {[]review.Comment{said(1, review.ChangesRequested, head), there}, base, review.ChangesRequested},
		"a refusal for another branch":         {[]review.Comment{refusedThere}, base, review.ChangesRequested},
		"a refusal and an approval there":      {[]review.Comment{refusedThere, there}, base, ""},
		"an approval that names no branch":     {[]review.Comment{said(1, review.ChangesRequested, head), somewhere}, base, review.ChangesRequested},
		"an approval that the heading denies":  {[]review.Comment{claimed}, base, ""},
	} {
		got, url := LastWord(c.comments, us, review.PullRequest{Number: 7, HeadSHA: head, BaseRef: "main", BaseSHA: c.base}, head)
		if got != c.want || url != string(c.want) && got != "" {
			t.Errorf("%s: %q, %q; want %q", name, got, url, c.want)
		}
	}
}

// The newest report that may be about a pull request as it is to be merged now says whether a status that leads to its run is about that (threats.md T839).
func TestLastReport(t *testing.T) {
	head, key := strings.Repeat("a", 40), make([]byte, sanitize.KeySize)
	us := review.Person{Login: "github-actions", ID: 7, Bot: true}
	said := func(minute int, run, base, head string, key []byte) review.Comment {
		d := report.Data{Target: review.Target{PR: 7}, Round: 1, Rounds: 1, Outcome: review.Converged, Verdict: &review.Verdict{Consensus: review.Approve}, Receipt: review.Receipt{HeadSHA: head, BaseSHA: head, MergeBaseSHA: head}}
		texts, err := sanitize.Comment(report.Render(d), sanitize.Marker{ReviewID: "r", Run: run, Round: 1, Nonce: run, RepoID: "o/r", PR: 7, Base: sanitize.BaseNamed(base), Key: key}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)
		return review.Comment{Author: us, Body: texts[0].String(), URL: run, CreatedAt: at, UpdatedAt: at}
	}
	first, strange := said(1, "first", "main", head, key), said(1, "first", "main", head, key)
	strange.Author = review.Person{Login: "mallory", ID: 8}
	otherKey := []byte(strings.Repeat("k", sanitize.KeySize))
	for name, c := range map[string]struct {
		comments []review.Comment
		want     bool
	}{
		"none":                          {nil, false},
		"this one":                      {[]review.Comment{first}, true},
		"for another branch":            {[]review.Comment{said(1, "first", "dev", head, key)}, false},
		"for nobody knows which":        {[]review.Comment{said(1, "first", "", head, key)}, false},
		"of another commit":             {[]review.Comment{said(1, "first", "main", strings.Repeat("b", 40), key)}, false},
		"with another key":              {[]review.Comment{said(1, "first", "main", head, otherKey)}, false},
		"by somebody else":              {[]review.Comment{strange}, false},
		"before one for another branch": {[]review.Comment{first, said(2, "second", "dev", head, key)}, true},
		"before another one":            {[]review.Comment{first, said(2, "second", "main", head, key)}, false},
		"before one of another key":     {[]review.Comment{first, said(2, "second", "main", head, otherKey)}, false},
		"before one of another commit":  {[]review.Comment{first, said(2, "second", "main", strings.Repeat("b", 40), key)}, false},
		"before one for an unnamed one": {[]review.Comment{first, said(2, "second", "", head, key)}, false},
	} {
		pr := review.PullRequest{Repo: review.Repo{Host: "github.com", Owner: "o", Name: "r"}, Number: 7, HeadSHA: head, BaseRef: "main"}
		if got := LastReport(c.comments, us, key, pr, "first"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
