package app

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// An answer counts once all of its parts stand there: one whose writer died between two is given again. Nobody else's comment answers.
func TestAnsweredBy(t *testing.T) {
	us, key := review.Person{Login: "octocat", ID: 1}, make([]byte, 32)
	repo := review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
	long := ""
	for i := range 2500 {
		long += fmt.Sprintf("Line %d of an answer that needs room, and more room than one comment has.\n\n", i)
	}
	say := func(asked, nonce, body string) (parts []review.Comment) {
		texts, err := sanitize.Comment(body, sanitize.Marker{Run: "r", RepoID: repo.String(), PR: 7, Nonce: nonce, Asked: asked, Key: key}, sanitize.Policy{Repo: repo})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			parts = append(parts, review.Comment{Author: us, Body: text.String()})
		}
		return parts
	}
	short, parts := say("5.1", "11111111111111111111111111111111", "Short."), say("6.1", "22222222222222222222222222222222", long)
	if len(parts) < 3 {
		t.Fatalf("the long answer has %d parts", len(parts))
	}
	theirs := say("7.1", "33333333333333333333333333333333", "Short.")
	theirs[0].Author = review.Person{Login: "mallory", ID: 2}
	again := say("6.1", "44444444444444444444444444444444", long)
	for _, row := range []struct {
		name     string
		comments [][]review.Comment
		want     map[string]bool
	}{
		{"none", nil, map[string]bool{}},
		{"in one comment", [][]review.Comment{short}, map[string]bool{"5.1": true}},
		{"the first of several", [][]review.Comment{parts[:1]}, map[string]bool{}},
		{"all but one", [][]review.Comment{parts[1:]}, map[string]bool{}},
		{"all of them", [][]review.Comment{parts}, map[string]bool{"6.1": true}},
		{"one of them twice", [][]review.Comment{parts[:1], parts[:1], parts[2:]}, map[string]bool{}},
		{"the begins of two answers", [][]review.Comment{parts[:1], again[1:2]}, map[string]bool{}},
		{"the begin of one and all of another", [][]review.Comment{parts[:1], again}, map[string]bool{"6.1": true}},
		{"somebody else's", [][]review.Comment{theirs}, map[string]bool{}},
		{"without a line", [][]review.Comment{say("", "55555555555555555555555555555555", "A report.")}, map[string]bool{}},
	} {
		var all []review.Comment
		for _, list := range row.comments {
			all = append(all, list...)
		}
		if d := cmp.Diff(row.want, answeredBy(all, us)); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

// Who may not is remembered for a minute, on one repository, and nobody for longer (threats.md T390).
func TestADenialHoldsForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, repo := &denials{}, review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
		if d.hold(repo, "mallory") {
			t.Error("denied before anybody was asked")
		}
		d.add(repo, "mallory")
		time.Sleep(denialTime - time.Second)
		d.add(repo, "trudy")
		if !d.hold(repo, "Mallory") || d.hold(repo, "mona") || d.hold(review.Repo{Host: "github.com", Owner: "acme", Name: "gizmos"}, "mallory") {
			t.Error("not one person on one repository is denied")
		}
		time.Sleep(time.Second)
		if d.hold(repo, "mallory") {
			t.Error("denied for longer than a minute")
		}
		time.Sleep(denialTime)
		if d.add(repo, "peggy"); len(d.ends) != 1 {
			t.Errorf("%d are remembered", len(d.ends))
		}
	})
}
