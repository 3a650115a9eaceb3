package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// TestQueue: the operator sees what servers are at; others see what concerns the repositories they administer.
func TestQueue(t *testing.T) {
	ctx, st := t.Context(), newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	github := fakeGitHub(t)
	s := st.serve(t, Options{GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	person := &site{Dashboard: s.Dashboard, Client: browser(t), url: s.url}
	s.enter(t)
	person.shows(t, "/sign-in/github", r.ReviewID)
	if body := person.shows(t, "/queue", r.ReviewID); strings.Contains(body, "Waiting") {
		t.Error("nothing waits yet")
	}
	for i, key := range []review.RepoKey{r.RepoKey, "github.com/666", "github.com/667"} { // the last had the name of the first before
		repo := []string{"shop", "secret", "shop"}[i]
		want := store.Want{Subject: store.Subject("github.com/acme/"+repo, 40+i, 0), Repo: "github.com/acme/" + repo, PR: 40 + i, Priority: 2, Key: key}
		if _, err := st.store.Deliver(ctx, store.Delivery{GUID: string(key), Event: "pull_request", Action: "opened"}, want); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.store.Deliver(ctx, store.Delivery{GUID: "star", Event: "star", Action: "created", Why: "nothing follows from this event " + hostile}); err != nil {
		t.Fatal(err)
	}
	if err := queue.Pause(ctx, st.store); err != nil {
		t.Fatal(err)
	}
	s.shows(t, "/queue", "acme/shop#40", "acme/secret#41", "acme/shop#42", "its turn has not come", "nothing follows from this event", "Paused", "interrupted", r.ReviewID)
	if body := person.shows(t, "/queue", "acme/shop#40", "Paused"); strings.Contains(body, "secret") || strings.Contains(body, "shop#42") || strings.Contains(body, "nothing follows") {
		t.Errorf("a person sees what concerns others:\n%s", body)
	}
}

// What was asked for leads to its pull request, and what became of it stands in the words of runs.
func TestWordsOfTheQueue(t *testing.T) {
	ctx, st := t.Context(), newState(t)
	for i, outcome := range []string{"set_aside", "nothing"} {
		repo := "github.com/acme/shop"
		want := store.Want{Subject: store.Subject(repo, 40+i, 0), Repo: repo, PR: 40 + i, Priority: 2}
		if _, err := st.store.Deliver(ctx, store.Delivery{GUID: outcome, Event: "pull_request", Action: "opened"}, want); err != nil {
			t.Fatal(err)
		}
		if err := st.store.Settle(ctx, want.Subject, 1, store.Settled{Outcome: outcome, Why: "it is so"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := queue.SetUnread(ctx, st.store, "acme/nothing", "not found, or this login may not read it"); err != nil {
		t.Fatal(err)
	}
	s := st.serve(t, Options{})
	s.enter(t)
	body := s.shows(t, "/queue", "a person is needed", "nothing to do", `<a href="https://github.com/acme/shop/pull/40" rel="noreferrer">acme/shop#40</a>`, "acme/nothing is not seen since", "not found, or this login may not read it")
	if strings.Contains(body, "set_aside") {
		t.Errorf("a word for machines:\n%s", body)
	}
	for what, want := range map[string]string{
		"ghe.example.com/acme/shop#7/123": "https://ghe.example.com/acme/shop/pull/7", "acme/shop#7": "https://github.com/acme/shop/pull/7", "acme/shop": "", "javascript:alert(1)//x#7": "", "local changes": "",
	} {
		if got := subjectLink(what); got != want {
			t.Errorf("%s leads to %q, want %q", what, got, want)
		}
	}
}

// The last seven days have seven bars, and the chart says which days they are.
func TestDaysOfUsage(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	st.end(t, r, review.ChangesRequested, "1 P1 must be fixed", made(review.P1, "Total divides by zero", "security"))
	s := st.serve(t, Options{})
	s.enter(t)
	now := s.Now().UTC()
	body := s.shows(t, "/usage?since=7d", now.AddDate(0, 0, -6).Format("2 Jan")+" to "+now.Format("2 Jan")+". Dollars a day")
	if n := strings.Count(body, `class="bar"`); n != 7 {
		t.Errorf("%d bars", n)
	}
	body = s.shows(t, runLink(r.ID), "changes requested")
	if strings.Contains(body, `<span class="dim">request_changes</span>`) {
		t.Error("the verdict of a round is a word for machines")
	}
}

// What waits elsewhere, however much it is, leaves its rows to who administers another repository (threats.md T683).
func TestQueueOfOneAmongMany(t *testing.T) {
	ctx, st := t.Context(), newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	st.end(t, r, review.Converged, "fine")
	github := fakeGitHub(t)
	s := st.serve(t, Options{GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	s.shows(t, "/sign-in/github", r.ReviewID)
	wait := func(repo string, pr int, key review.RepoKey) string {
		t.Helper()
		w := store.Want{Subject: store.Subject("github.com/acme/"+repo, pr, 0), Repo: "github.com/acme/" + repo, PR: pr, Priority: 2, Key: key}
		if err := st.store.Want(ctx, w); err != nil {
			t.Fatal(err)
		}
		return w.Subject
	}
	settle := func(subject string) {
		t.Helper()
		if err := st.store.Settle(ctx, subject, 1, store.Settled{Outcome: "nothing"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rowsOfQueue + 1 {
		wait("other", 100+i, "github.com/666")
	}
	wait("shop", 40, r.RepoKey)
	settle(wait("shop", 41, r.RepoKey))
	for i := range rowsOfQueue + 1 {
		settle(wait("other", 200+i, "github.com/666"))
	}
	if body := s.shows(t, "/queue", "acme/shop#40", "acme/shop#41"); strings.Contains(body, "other") {
		t.Errorf("a person sees what concerns others:\n%s", body)
	}
}

// Why a look or a run failed may name endpoints, programs and folders of the operator, who alone reads it (threats.md T682).
func TestFailuresAreTheOperators(t *testing.T) {
	ctx, st := t.Context(), newState(t)
	const why = "start reviewer: exec /opt/inner/agent: no such file"
	r := st.begin(t, at("acme", "shop", 7))
	st.end(t, r, review.Failed, why)
	if err := st.folder.Save(r.ID, "review.md", []byte("## prloop: the report before\n")); err != nil {
		t.Fatal(err)
	}
	github := fakeGitHub(t)
	s := st.serve(t, Options{GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	person := &site{Dashboard: s.Dashboard, Client: browser(t), url: s.url}
	s.enter(t)
	person.shows(t, "/sign-in/github", r.ReviewID)
	for i, settle := range []func(string, int64, store.Settled) error{
		func(subject string, asked int64, as store.Settled) error {
			return st.store.Settle(ctx, subject, asked, as)
		},
		func(subject string, _ int64, as store.Settled) error {
			return st.store.Postpone(ctx, subject, time.Hour, as)
		},
	} {
		w := store.Want{Subject: store.Subject("github.com/acme/shop", 40+i, 0), Repo: "github.com/acme/shop", PR: 40 + i, Priority: 2, Key: r.RepoKey}
		if err := st.store.Want(ctx, w); err != nil {
			t.Fatal(err)
		}
		begun, err := st.store.Begin(ctx, w.Subject)
		if err == nil {
			err = settle(w.Subject, begun.Asked, store.Settled{Outcome: string(review.Failed), Why: why})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"/queue", runLink(r.ID), runLink(r.ID) + "/files/review.json"} {
		if body := person.shows(t, page, queue.Failed); strings.Contains(body, "/opt/inner") {
			t.Errorf("%s tells why:\n%s", page, body)
		}
		s.shows(t, page, why)
	}
}
