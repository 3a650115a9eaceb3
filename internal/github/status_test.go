package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
)

const statusRoute = "POST /repos/{owner}/{repo}/statuses/{sha}"

var green = effects.CommitStatus{State: review.GateSuccess, Description: "Approved", Target: "https://github.com/acme/widgets/pull/7"}

func TestSetStatus(t *testing.T) {
	for _, host := range []string{"github.com", "ghe.example.com"} {
		t.Run(host, func(t *testing.T) {
			f, p, repo := open(t)
			c := client(t, f, Options{Host: host})
			pr := readPull(t, c)
			ref, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green)
			if err != nil || !strings.HasSuffix(ref, "/statuses/"+p.HeadSHA()) {
				t.Fatalf("%q, %v", ref, err)
			}
			got := repo.Statuses()
			if len(got) != 1 || got[0].Context != gate.Context || got[0].State != "success" || got[0].Description != "Approved" || got[0].TargetURL != green.Target || got[0].SHA != p.HeadSHA() {
				t.Errorf("set %+v", got)
			}
		})
	}
}

// One call whatever happens, Refused only when nothing was set for certain, and a missing permission is named (threats.md T58, T163).
func TestSetStatusFaults(t *testing.T) {
	f, p, repo := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	for _, x := range []struct {
		mode    forge.Mode
		want    error
		refused bool
		set     int
	}{
		{forge.Unauthorized, ErrNotLoggedIn, true, 0},
		{forge.Forbidden, ErrForbidden, true, 0},
		{forge.PrimaryLimit, ErrRateLimited, true, 0},
		{forge.SecondaryLimitWait, ErrRateLimited, true, 0},
		{forge.NotFound, ErrForbidden, true, 0},
		{forge.Conflict, ErrBadAnswer, true, 0},
		{forge.InternalError, ErrUnavailable, false, 0},
		{forge.ResetBefore, ErrUnavailable, false, 0},
		{forge.HTML, ErrBadAnswer, false, 0},
		{forge.BadGatewayAfter, ErrUnavailable, false, 1},
		{forge.ResetAfter, ErrUnavailable, false, 1},
		{forge.TruncatedJSON, ErrBadAnswer, false, 1},
	} {
		t.Run(string(x.mode), func(t *testing.T) {
			c.limits.forget() // each row is a process of its own
			before, asked := len(repo.Statuses()), len(f.Log())
			f.Fail(forge.Fault{Op: statusRoute, Mode: x.mode, Times: 1, After: time.Hour})
			_, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green)
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, x.want) || e.Refused() != x.refused {
				t.Errorf("%v, refused %v; want %v, %v", err, e != nil && e.Refused(), x.want, x.refused)
			}
			if x.want == ErrForbidden && (e == nil || e.Needs != "statuses: write") {
				t.Errorf("what is missing is not named: %v", err)
			}
			if n := len(repo.Statuses()) - before; n != x.set || len(f.Log())-asked != 1 {
				t.Errorf("%d statuses by %d calls, want %d by one", n, len(f.Log())-asked, x.set)
			}
		})
	}
	if _, err := c.SetStatus(t.Context(), pr.Repo, strings.Repeat("0", 40), green); !errors.Is(err, ErrBadAnswer) {
		t.Errorf("a commit that is not there: %v", err)
	}
}

// All statuses of a commit and name are listed, the newest first, and what GitHub says when it takes no more has a name (threats.md T389).
func TestStatuses(t *testing.T) {
	f, p, repo := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	for n := range forge.MaxStatuses - 1 {
		repo.AddStatus(forge.Status{SHA: p.HeadSHA(), Context: gate.Context, State: "error", Description: fmt.Sprint("Said ", n), Creator: "mona"})
		repo.AddStatus(forge.Status{SHA: p.HeadSHA(), Context: "build", State: "success", Creator: "mona"})
	}
	if _, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green); err != nil {
		t.Fatal(err)
	}
	got, err := c.Statuses(t.Context(), pr.Repo, p.HeadSHA())
	if err != nil || len(got) != forge.MaxStatuses || got[0].CommitStatus != green || got[0].By.Login != "octocat" || got[0].By.ID == 0 || got[1].Description != fmt.Sprint("Said ", forge.MaxStatuses-2) {
		t.Fatalf("%d, %+v, %v", len(got), got[:min(2, len(got))], err)
	}
	var e *Error
	if _, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green); !errors.As(err, &e) || !errors.Is(err, ErrStatusesSpent) || !e.Refused() {
		t.Errorf("one too many: %v", err)
	}
	if _, err := c.SetStatus(t.Context(), pr.Repo, p.BaseSHA(), green); err != nil {
		t.Errorf("another commit: %v", err)
	}
}

func TestSetStatusStoppedAtItsFailpoints(t *testing.T) {
	f, p, repo := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	t.Cleanup(func() { failpoint.Arm(nil) })
	for i, point := range []string{"github: before status", "github: after status"} {
		failpoint.Arm(func(at string) error {
			if at == point {
				return errors.New("stopped")
			}
			return nil
		})
		_, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green)
		var e *Error
		if !errors.As(err, &e) || e.Refused() != (i == 0) || len(repo.Statuses()) != i {
			t.Errorf("%s: %v, %d statuses", point, err, len(repo.Statuses()))
		}
	}
}

// The newest event of each label comes with a pull request: another one when the label is set again. Where not all come, the newest of all is told too (threats.md T864).
func TestLabelledOfAPullRequest(t *testing.T) {
	f, p, _ := open(t)
	c := client(t, f, Options{})
	p.Label("mona", gate.Advisory)
	p.Label("mona", "Kind")
	first := readPull(t, c).Labelled
	p.Unlabel("mona", gate.Advisory)
	p.Label("contributor", gate.Advisory)
	again := readPull(t, c).Labelled
	if first[gate.Advisory] == "" || again[gate.Advisory] == "" || first[gate.Advisory] == again[gate.Advisory] || first["kind"] == "" || first["kind"] != again["kind"] || len(again) != 2 {
		t.Errorf("first %q, then %q", first, again)
	}
	for n := range 100 {
		p.Label("contributor", fmt.Sprint("other-", n))
	}
	if many := readPull(t, c).Labelled; many[gate.Advisory] != "" || many[""] == "" || many[""] != many["other-99"] {
		t.Errorf("of too many: %q", many)
	}
}

// The events of labels come newest first, over any number of others; one whose account is gone is nobody's. A label that was renamed or edited after an event shows there.
func TestLabelled(t *testing.T) {
	f, p, _ := open(t)
	c := client(t, f, Options{})
	p.Label("mallory", gate.Advisory)
	p.Label("mona", gate.Advisory)
	for n := range 150 {
		p.Label("mona", fmt.Sprint("other-", n))
	}
	p.Label("", gate.Strict)
	p.Unlabel("contributor", gate.Strict)
	read := func() string {
		t.Helper()
		events, whole, err := c.Labelled(t.Context(), readPull(t, c), gate.Labels)
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(whole)
		for _, e := range events {
			said += fmt.Sprintf(", %s %q %v %v %v %v", strings.TrimPrefix(e.Label, "pr-reviewer:"), e.By, e.Off, e.Author, e.Changed, e.At.IsZero())
		}
		return said
	}
	if got, want := read(), `true, strict "contributor" true true false false, strict "" false false false false, advisory "mona" false false false false, advisory "mallory" false false false false`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	renamed := readPull(t, c)
	renamed.Author.Login = "before"
	if events, _, err := c.Labelled(t.Context(), renamed, []string{gate.Strict}); err != nil || !events[0].Author {
		t.Errorf("%+v, %v: the author under another name", events, err)
	}
	p.RenameLabel(gate.Advisory, "moved")
	p.RenameLabel("other-1", gate.Advisory)
	if got, want := read(), `true, strict "contributor" true true false false, strict "" false false false false, advisory "mona" false false true false, advisory "mallory" false false true false`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for n := range 1000 {
		p.Unlabel("contributor", fmt.Sprint("other-", n))
	}
	if got := read(); got != "false" {
		t.Error(got)
	}
}

// What is pending and of our account, at any commit of the pull request; neither another's nor what was settled since.
func TestPendingStatuses(t *testing.T) {
	f, p, repo := open(t)
	c := client(t, f, Options{})
	pending := green
	pending.State = review.GatePending
	pr := readPull(t, c)
	if got, err := c.PendingStatuses(t.Context(), pr); err != nil || len(got) != 0 {
		t.Errorf("before any: %q, %v", got, err)
	}
	if _, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), pending); err != nil {
		t.Fatal(err)
	}
	if got, err := c.PendingStatuses(t.Context(), pr); err != nil || len(got) != 1 || got[0] != p.HeadSHA() {
		t.Errorf("%q, %v", got, err)
	}
	repo.SetPermission("mona", forge.Write)
	f.AddToken("ghp_mona", forge.Token{Login: "mona"})
	other := client(t, f, Options{Env: f.EnvWithToken("", "ghp_mona")})
	if got, err := other.PendingStatuses(t.Context(), pr); err != nil || len(got) != 0 {
		t.Errorf("another's: %q, %v", got, err)
	}
	if _, err := c.SetStatus(t.Context(), pr.Repo, p.HeadSHA(), green); err != nil {
		t.Fatal(err)
	}
	if got, err := c.PendingStatuses(t.Context(), pr); err != nil || len(got) != 0 {
		t.Errorf("settled: %q, %v", got, err)
	}
}
