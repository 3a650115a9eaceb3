package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/review"
)

// TestRefusedInABrowser is what a browser is refused: pages of repositories that are not the visitor's, a policy by who administers nothing any more,
// and forms that a page of another site sends with the visitor's cookie.
func TestRefusedInABrowser(t *testing.T) {
	ctx, alerts := chromium(t)
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	theirs := st.begin(t, at("acme", "secret", 8))
	st.end(t, theirs, review.ChangesRequested, "1 P1 must be fixed", made(review.P1, "A secret of others", "security"))
	live := st.begin(t, at("acme", "shop", 9))
	service := st.open(t)
	github := fakeGitHub(t)
	control := &cancelled{}
	s := st.serve(t, Options{Control: control, Policies: lost{policies{service}}, Operator: &config.File{}, GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	saved := func() int64 {
		row, err := service.Policy(context.WithoutCancel(t.Context()), policy.Repo{Host: "github.com", ID: 7})
		if err != nil {
			t.Error(err)
		}
		return row.Version
	}
	var page string
	see := func(actions ...chromedp.Action) string {
		t.Helper()
		run(t, ctx, append(actions, chromedp.WaitReady("main"), chromedp.Text("main", &page, chromedp.ByQuery))...)
		return page
	}
	see(chromedp.Navigate(s.url), chromedp.Click(`a[href="/sign-in/github"]`), chromedp.WaitVisible("#list table"))
	for _, path := range []string{runLink(theirs.ID), "/pulls/github.com/acme/secret/8", "/policies/github.com/acme/secret"} {
		if text := see(chromedp.Navigate(s.url + path)); strings.Contains(text, "A secret of others") || !strings.Contains(text, "nothing that you may see") {
			t.Errorf("%s shows\n%s", path, text)
		}
	}
	text := see(chromedp.Navigate(s.url+"/policies/github.com/acme/shop"), chromedp.WaitReady("form.policy"), chromedp.Click(`input[name=gating_policy][value=off]`), chromedp.Click("button.main"), chromedp.WaitVisible(".narrow"))
	if !strings.Contains(text, "does not show that you administer") || saved() != 0 {
		t.Errorf("somebody who administers nothing saves version %d:\n%s", saved(), text)
	}

	// Another site, by its name, has the visitor's browser send forms.
	var sent string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<main>another site<form method="post" action="%s%s"><input name="version" value="0"><input name="gating_policy" value="off"></form></main><script>document.forms[0].submit()</script>`, s.url, r.URL.Path)
		sent = r.URL.Path
	}))
	defer elsewhere.Close()
	forged := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for _, path := range []string{"/policies/github.com/acme/shop", runLink(live.ID) + "/cancel", "/sign-out"} {
		var body string
		run(t, ctx, chromedp.Navigate(forged+path))
		eventually.True(t, "the form to be answered", func() bool {
			var at string
			return chromedp.Run(ctx, chromedp.Location(&at), chromedp.Text("body", &body, chromedp.ByQuery)) == nil && strings.HasPrefix(at, s.url)
		})
		if !strings.Contains(body, "cross-origin request") || sent != path {
			t.Errorf("%s: a form of another site is answered with\n%s", path, body)
		}
	}
	if saved() != 0 || control.said() != "" {
		t.Errorf("a form of another site saved version %d, and cancelled %q", saved(), control.said())
	}
	if text := see(chromedp.Navigate(s.url + "/runs")); !strings.Contains(text, live.ReviewID) {
		t.Errorf("a form of another site signed the visitor out:\n%s", text)
	}
	if len(*alerts) > 0 {
		t.Errorf("scripts: %q", *alerts)
	}
}
