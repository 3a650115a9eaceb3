package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A pull request is opened from a branch of the repository, found there, and changed; forks' branches of that name are not it.
func TestPullRequestOfOwnBranch(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"github.com", "ghe.example.com"} {
		f, p, repo := open(t)
		c := client(t, f, Options{Host: host})
		widgets := review.Repo{Host: host, Owner: "acme", Name: "widgets"}
		if err := f.Commit(repo, "prloop/docs", p.BaseSHA(), "Docs", tree("package main // words\n")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"widgets", "WIDGETS"} {
			at, err := c.DefaultBranch(t.Context(), review.Repo{Host: host, Owner: "acme", Name: name})
			if want := (Default{"main", widgets, repo.ID}); err != nil || at != want {
				t.Fatalf("default branch of %s: %+v, %v; want %+v", name, at, err, want)
			}
		}
		if found, err := c.PullsOfBranch(t.Context(), widgets, "topic"); err != nil || len(found) != 0 {
			t.Errorf("a fork's branch: %+v, %v", found, err)
		}
		address, err := c.OpenPull(t.Context(), widgets, "prloop/docs", "main", "Update docs", text(t, "Words."))
		if err != nil || address != "https://"+host+"/acme/widgets/pull/8" {
			t.Fatalf("opened %q, %v", address, err)
		}
		found, err := c.PullsOfBranch(t.Context(), widgets, "prloop/docs")
		if err != nil || len(found) != 1 || found[0].Number != 8 || found[0].URL != address || found[0].Author.Login != "octocat" || found[0].BaseRef != "main" ||
			!strings.Contains(found[0].Body, "Words.") || found[0].HeadSHA != repo.FindPull(8).HeadSHA() || found[0].State != "OPEN" {
			t.Fatalf("found %+v, %v", found, err)
		}
		if again, err := c.EditPull(t.Context(), found[0], "Update more docs", text(t, "Other words.")); err != nil || again != address {
			t.Errorf("changed %q, %v", again, err)
		}
		if title, body, _, _ := repo.FindPull(8).Words(); title != "Update more docs" || !strings.Contains(body, "Other words.") {
			t.Errorf("it says %q %q", title, body)
		}
	}
}

// An error says whether the pull request may be there all the same.
func TestOpenPullSaysWhatIsCertain(t *testing.T) {
	t.Parallel()
	f, p, repo := open(t)
	if err := f.Commit(repo, "prloop/docs", p.BaseSHA(), "Docs", tree("package main // words\n")); err != nil {
		t.Fatal(err)
	}
	f.AddToken("ghs_job", forge.Token{Login: "github-actions[bot]", Repo: "acme/widgets"})
	f.AddToken("ghp_reader", forge.Token{Login: "octocat", ReadOnly: true})
	repo.SetPermission("github-actions[bot]", forge.Write)
	repo.ForbidActionsPulls()
	const op = "POST /repos/{owner}/{repo}/pulls"
	for what, row := range map[string]struct {
		token   string
		head    string
		fault   forge.Mode
		kind    error
		refused bool
		says    string
	}{
		"no such branch":          {"", "nowhere", "", ErrBadAnswer, true, "invalid: head"},
		"read only":               {"ghp_reader", "prloop/docs", "", ErrForbidden, true, "not accessible"},
		"forbidden to Actions":    {"ghs_job", "prloop/docs", "", ErrForbidden, true, "not permitted to create"},
		"a gateway's error":       {"", "prloop/docs", forge.BadGateway, ErrUnavailable, false, ""},
		"a cut line":              {"", "prloop/docs", forge.ResetBefore, ErrUnavailable, false, ""},
		"no login":                {"ghp_unknown", "prloop/docs", "", ErrNotLoggedIn, true, ""},
		"it is there, and unsaid": {"", "prloop/docs", forge.BadGatewayAfter, ErrUnavailable, false, ""},
	} {
		f.Heal()
		o := Options{Env: f.Env("")}
		if row.token != "" {
			o.Env = f.EnvWithToken("", row.token)
		}
		c := client(t, f, o)
		if row.fault != "" {
			f.Fail(forge.Fault{Op: op, Mode: row.fault, Times: 1})
		}
		before := len(f.Log())
		_, err := c.OpenPull(t.Context(), widgets, row.head, "main", "Update docs", text(t, "Words."))
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, row.kind) || e.Refused() != row.refused || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v (refused %v)", what, err, e != nil && e.Refused())
		}
		writes := 0
		for _, x := range f.Log()[before:] {
			if x.Op == op {
				writes++
			}
		}
		if writes != 1 {
			t.Errorf("%s: %d requests", what, writes)
		}
		for _, p := range repo.PullRequests() { // for the next row
			if p.Number != 7 {
				p.SetState("CLOSED")
			}
		}
	}
	if _, err := client(t, f, Options{}).OpenPull(t.Context(), widgets, "prloop/docs", "main", "T", sanitize.Text{}); err == nil {
		t.Error("an empty body was sent")
	}
}
