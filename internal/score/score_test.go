package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

func of(category string, score int) review.Finding {
	return review.Finding{ID: category, Category: category, Score: score, Priority: review.PriorityOfScore(score), Evidence: "e", File: "a.go", Title: "t", Source: review.Source{Type: "agent", Name: "one"}}
}

func many(n, score int) (all []review.Finding) {
	for range n {
		all = append(all, of("style", score))
	}
	return all
}

func brief(all []review.Finding) (out []string) {
	for _, f := range all {
		s := fmt.Sprintf("%s %s %d", f.ID, f.Priority, f.Score)
		if f.OriginalScore > 0 {
			s += fmt.Sprintf(" was %d", f.OriginalScore)
		}
		out = append(out, s)
	}
	return out
}

func rules(sensitive bool, elevation int) Rules {
	return Rules{Threshold: 5, Elevation: elevation, Sensitive: sensitive, Category: identity.Category}
}

// all applies all rules.
func all(r Rules, in []review.Finding) (out []review.Finding) {
	raised, _ := r.Raise(in)
	joined, parts := r.Join(raised)
	for i, f := range raised {
		if !parts[i] {
			out = append(out, f)
		}
	}
	return append(out, joined...)
}

// The rules on scores are computed, not asked for (spec.md D3.1).
func TestScoreRules(t *testing.T) {
	with := func(f review.Finding, change func(*review.Finding)) []review.Finding {
		change(&f)
		return []review.Finding{f}
	}
	for _, c := range []struct {
		rule      string
		sensitive bool
		elevation int
		in        []review.Finding
		want      []string
	}{
		{"a security finding gains two where personal data is handled", true, 5, []review.Finding{of("security", 7)}, []string{"security P0 9 was 7"}},
		{"so does one in another spelling", true, 5, []review.Finding{of(" Security", 7)}, []string{" Security P0 9 was 7"}},
		{"at most ten", true, 5, []review.Finding{of("security", 9)}, []string{"security P0 10 was 9"}},
		{"it may lift one over the threshold", true, 5, []review.Finding{of("security", 3)}, []string{"security P2 5 was 3"}},
		{"other findings do not", true, 5, []review.Finding{of("bug", 7)}, []string{"bug P1 7"}},
		{"and not elsewhere", false, 5, []review.Finding{of("security", 7)}, []string{"security P1 7"}},
		{"one without a score has none to raise", true, 5, with(of("security", 0), func(f *review.Finding) { f.Priority = review.P2 }), []string{"security P2 0"}},
		{"a graver priority stays", true, 5, with(of("security", 2), func(f *review.Finding) { f.Priority = review.P0 }), []string{"security P0 4 was 2"}},
		{"a priority that is none stays as urgent as it is", true, 5, with(of("security", 2), func(f *review.Finding) { f.Priority = "PX" }), []string{"security PX 4 was 2"}},
		{"one its reviewer raised is not raised twice", true, 5, with(of("security", 9), func(f *review.Finding) { f.OriginalScore = 7 }), []string{"security P0 9 was 7"}},
		{"a claim of a raise takes nothing back", true, 5, with(of("security", 9), func(f *review.Finding) { f.OriginalScore = 1 }), []string{"security P0 9 was 1"}},
		{"a claim that makes no sense is none", true, 5, with(of("security", 7), func(f *review.Finding) { f.OriginalScore = 8 }), []string{"security P0 9 was 7"}},
		{"nothing was raised where the rule does not hold", false, 5, with(of("security", 9), func(f *review.Finding) { f.OriginalScore = 7 }), []string{"security P0 9"}},
		{"five low ones of a kind become one", false, 5, many(5, 4), []string{"ELEVATED-STYLE P2 6 was 4"}},
		{"beside the others", false, 5, append(many(5, 4), of("bug", 3)), []string{"bug P3 3", "ELEVATED-STYLE P2 6 was 4"}},
		{"four do not", false, 5, many(4, 4), []string{"style P3 4", "style P3 4", "style P3 4", "style P3 4"}},
		{"trifles stay below the threshold together too", false, 2, many(2, 2), []string{"style P3 2", "style P3 2"}},
		{"a severe one is not joined", false, 2, append(many(2, 4), with(of("style", 4), func(f *review.Finding) { f.Priority = review.P1 })...),
			[]string{"style P1 4", "ELEVATED-STYLE P2 6 was 4"}},
		{"nor what a person says", false, 2, append(many(1, 4), with(of("style", 4), func(f *review.Finding) { f.Source.Type = "comment" })...),
			[]string{"style P3 4", "style P3 4"}},
		{"nor what two reviewers say", false, 2, append(many(1, 4), with(of("style", 4), func(f *review.Finding) { f.Source.Name = "two" })...),
			[]string{"style P3 4", "style P3 4"}},
		{"it can be turned off", false, 0, many(2, 4), []string{"style P3 4", "style P3 4"}},
	} {
		got := all(rules(c.sensitive, c.elevation), c.in)
		if diff := cmp.Diff(c.want, brief(got)); diff != "" {
			t.Errorf("%s: %s", c.rule, diff)
		}
		again := all(rules(c.sensitive, c.elevation), got)
		for i := range again {
			if again[i].Score != got[i].Score || again[i].Priority != got[i].Priority {
				t.Errorf("%s: raised again to %q", c.rule, brief(again))
			}
		}
	}
}

// Joined findings are no less urgent than each of them, and the threshold decides what is joined.
func TestJoinedKeepTheirUrgency(t *testing.T) {
	all := many(2, 1)
	all[1].Priority = review.P2
	r := rules(false, 2)
	r.Threshold = 3
	all[0].Line, all[0].Fingerprint = new(int), "0123456789abcdef"
	got, _ := r.Join(all)
	if d := cmp.Diff([]string{"ELEVATED-STYLE P2 3 was 1"}, brief(got)); d != "" {
		t.Error(d)
	}
	if one := got[0]; !strings.Contains(one.Description, "- t in a.go") || len(one.Parts) != 2 || one.File != "a.go" || one.Line != nil || one.Evidence != "" || one.Fingerprint != "" {
		t.Errorf("it has something of one of them: %+v", one)
	}
	all[1].File = "b.go"
	if got, _ = r.Join(all); got[0].File != "" {
		t.Errorf("in %q", got[0].File)
	}
}

// What a caller gives is not changed.
func TestRaiseLeavesItsInput(t *testing.T) {
	in := []review.Finding{of("security", 7)}
	_, notes := rules(true, 5).Raise(in)
	if in[0].Score != 7 || in[0].OriginalScore != 0 || len(notes) != 1 {
		t.Errorf("%+v %q", in[0], notes)
	}
}

func TestWithin(t *testing.T) {
	unread := of("style", 9)
	unread.Unconfirmed = "could not be read"
	one := of("performance", 4)
	for name, c := range map[string]struct {
		findings []review.Finding
		want     []string
		over     int
	}{
		"most urgent first":          {[]review.Finding{of("style", 5), of("logic", 9), of("docs", 7)}, []string{"logic P0 9", "docs P1 7"}, 1},
		"what is joined is kept":     {append(many(4, 4), of("logic", 9), of("docs", 7), one), []string{"logic P0 9", "docs P1 7", "style P3 4", "style P3 4", "style P3 4", "style P3 4"}, 1},
		"what nobody confirmed, too": {[]review.Finding{of("logic", 10), of("docs", 7), unread}, []string{"logic P0 10", "style P0 9", "docs P1 7"}, 0},
	} {
		kept, over := rules(false, 4).Within(c.findings, 2)
		if d := cmp.Diff(c.want, brief(kept)); d != "" || len(over) != c.over {
			t.Errorf("%s: %d left out\n%s", name, len(over), d)
		}
	}
}
