package distinct

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

func TestOf(t *testing.T) {
	at := func(p review.Priority, file, title string) review.Finding {
		line := 4
		return review.Finding{Priority: p, Category: "bug", File: file, Line: &line, Title: title, Source: review.Source{Name: title}}
	}
	all := []review.Finding{at(review.P3, "c.go", "nit"), at(review.P2, "b.go", "slow"), at(review.P1, "b.go", "races"), at(review.P0, "a.go", "alone"), at(review.P2, "a.go", "late")}
	said := func(list []Finding) string {
		var out []string
		for _, f := range list {
			var words []string
			for _, w := range f.Wordings {
				words = append(words, w.Title)
			}
			out = append(out, fmt.Sprintf("%s:%d:%v", strings.Join(words, "+"), f.Level(), f.Must))
		}
		return strings.Join(out, " ")
	}
	for _, row := range []struct {
		says   string
		groups []review.Group
		want   string
	}{
		{"what counts first, the gravest wording first, a P0 that does not count is a note", []review.Group{
			{Findings: []int{0}, Counts: true}, {Findings: []int{1, 2}, Counts: true}, {Findings: []int{3}}, {Findings: []int{4}, Stuck: true},
		}, "races+slow:0:true late:1:true alone:2:false nit:2:false"},
		{"places that are none are left out", []review.Group{{Findings: []int{9, -1}, Counts: true}, {Findings: []int{3, 7}, Counts: true}}, "alone:0:true"},
		{"no groups at all", []review.Group{}, ""},
		{"a result that was stored before groups is joined here", nil, "alone:0:true races:0:true late:1:true slow:1:true nit:2:false"},
	} {
		if got := said(Of(review.RunResult{Findings: all, Groups: row.groups})); got != row.want {
			t.Errorf("%s: %s, want %s", row.says, got, row.want)
		}
	}
}
