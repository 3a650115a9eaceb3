package dashboard

import (
	"strings"
	"testing"

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
