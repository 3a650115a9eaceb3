package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

const hostile = `</pre><script>alert(1)</script><img src=x onerror=alert(2)> " onmouseover="x ` + "\u202e\x1b[31m"

// made renders the carried cases and an agent that finds the first expected finding of each, repeats it, and raises one that is
// unlisted and hostile; change may change them.
func made(t *testing.T, change func(*cases.Set, *results.Set)) string {
	t.Helper()
	known, err := cases.Read("../../testkit/forge/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	set := results.Set{Sealed: true, Manifest: results.Manifest{Format: results.Format, Name: "agent " + hostile, Models: []string{"m"}, Prompts: map[string]string{"p": "abc"}, Repeats: 1}}
	for _, c := range known.Cases {
		set.Manifest.Cases = append(set.Manifest.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
		e, sure := c.Golden[0], 0.8
		a := c.Places(e)[0]
		right := review.Issue{Key: "1", File: a.File, LineStart: a.Start, LineEnd: &a.End, Category: e.Categories[0], Severity: "high", Title: e.Text, Confidence: &sure}
		again := right
		again.Key = "2"
		bad := review.Issue{Key: "3", File: a.File + hostile, LineStart: 1, Category: "bug" + hostile, Title: hostile, Description: hostile}
		nowhere := review.Issue{Key: "4", Category: "bug", Title: "Nothing in particular"}
		set.Reviews = append(set.Reviews, results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK, Issues: []review.Issue{right, again, bad, nowhere}, Stats: review.ReviewStats{CostUSD: 0.25, Seconds: 90}}})
	}
	if change != nil {
		change(&known, &set)
	}
	r, err := scoring.Score(known, set, scoring.Options{Samples: 50, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, known, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShowsEveryMissAndEveryFalseAlarm(t *testing.T) {
	known, err := cases.Read("../../testkit/forge/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	html := made(t, nil)
	golden := 0
	for _, c := range known.Cases {
		golden += len(c.Golden)
		for _, e := range c.Golden[1:] {
			if !strings.Contains(html, ">"+e.ID+"<") {
				t.Errorf("%s of %s is not shown", e.ID, c.ID)
			}
		}
	}
	n := len(known.Cases)
	for class, want := range map[string]int{"missed": golden - n, "right": n, "repeat": n, "unlisted": 2 * n, "wrong": 0} {
		if got := strings.Count(html, `<article class="`+class+`">`); got != want {
			t.Errorf("%d articles of class %s, not %d", got, class, want)
		}
	}
	for _, want := range []string{
		"errors.New(&#34;incorrect URI for mongo&#34;)", `<span class="marked"><i>46</i>`, "The pull request does not change this file.", "It names no line.",
		"By severity", "By category", "By language", "By size", "Expected calibration error", "$0.250", "90 s", "confidence 0.80", "precision by place", "F1 by content",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// TestHoldsNothingButText: whatever an agent says is text, and the page needs nothing from elsewhere.
func TestHoldsNothingButText(t *testing.T) {
	html := made(t, func(c *cases.Set, _ *results.Set) {
		for i := range c.Cases {
			c.Cases[i].Title, c.Cases[i].Language, c.Cases[i].URL = hostile, hostile, "javascript:alert(1)"
		}
	})
	for _, bad := range []string{"<script", "<img", "onerror=alert(2)>", "javascript:", "\u202e", "\x1b", "<link", "zgotmplz", "@import", "url("} {
		if strings.Contains(strings.ToLower(html), bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
	if !strings.Contains(html, `default-src 'none'`) || !strings.Contains(html, `\u202e`) {
		t.Error("no policy, or hidden characters do not show")
	}
	// Attributes are quoted: nothing breaks out of one.
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?s)^<!doctype html>|<meta[^>]*>|<style>.*</style>`).ReplaceAllString(html, "")))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, xml.HTMLAutoClose
	elements := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d elements: %v", elements, err)
		}
		if s, ok := tok.(xml.StartElement); ok {
			elements++
			for _, a := range s.Attr {
				if n := a.Name.Local; strings.HasPrefix(n, "on") || n == "src" || n == "srcset" || n == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("%s has %s=%q", s.Name.Local, n, a.Value)
				}
			}
		}
	}
	if elements < 200 {
		t.Errorf("only %d elements", elements)
	}
}

func TestSaysWhatIsNotKnown(t *testing.T) {
	html := made(t, func(_ *cases.Set, s *results.Set) {
		s.Missing, s.Sealed = []string{"x/1"}, false
		for i := range s.Reviews {
			s.Reviews[i].Result.Stats = review.ReviewStats{}
			s.Reviews[i].Result.Issues = nil
		}
	})
	for _, want := range []string{"PARTIAL: the run was interrupted; missing: x/1", "nothing to count", "No finding has a confidence.", "No review tells its cost or time.", "not told"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(html, "NaN") || strings.Contains(html, "+Inf") || strings.Contains(html, "-Inf") {
		t.Error("a figure is no number")
	}
}

func TestRepeatsAreCounted(t *testing.T) {
	html := made(t, func(_ *cases.Set, s *results.Set) {
		s.Manifest.Repeats = 2
		for _, r := range s.Reviews {
			r.Repeat, r.Result.Issues = 2, nil
			s.Reviews = append(s.Reviews, r)
		}
	})
	for _, want := range []string{"missed in 1 of 2 reviews", "missed in 2 of 2 reviews", "unlisted, review 1"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestSamePageTwice(t *testing.T) {
	if first, second := made(t, nil), made(t, nil); first != second {
		t.Error("one score, two pages")
	}
}

func TestManyBarsAreNamed(t *testing.T) {
	var list []scoring.Slice
	for i := range mostBars + 3 {
		list = append(list, scoring.Slice{By: scoring.ByLanguage, Name: fmt.Sprint("l", i), Expected: 1, Raised: 1})
	}
	g := groups(list)
	if len(g) != 1 || len(g[0].Bars) != mostBars || g[0].Left != 3 {
		t.Errorf("%+v", g)
	}
}
