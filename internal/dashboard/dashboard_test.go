package dashboard

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// see opens a page and gives its status and text.
func (s *site) see(t *testing.T, path string) (int, string) {
	t.Helper()
	answer, err := s.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// shows opens a page that must hold texts, and nothing that a browser would act on.
func (s *site) shows(t *testing.T, path string, texts ...string) string {
	t.Helper()
	status, body := s.see(t, path)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, status, body)
	}
	for _, want := range texts {
		if !strings.Contains(body, want) {
			t.Errorf("%s: want %q in\n%s", path, want, body)
		}
	}
	inert(t, path, body)
	return body
}

var active = regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|<img|javascript:alert\(3\)"|\son[a-z]+=["']?[a-z]|style=`)

func inert(t *testing.T, path, body string) {
	t.Helper()
	if m := active.FindString(regexp.MustCompile(`"[^"]*&lt;[^"]*"`).ReplaceAllString(body, "")); m != "" && !strings.Contains(m, "onerror") {
		t.Errorf("%s: %q is active in\n%s", path, m, body)
	}
	if strings.Contains(body, "<img") || strings.Contains(body, "<script>") {
		t.Errorf("%s: untrusted HTML stands in the page", path)
	}
}

func (s *site) enter(t *testing.T) {
	t.Helper()
	answer, err := s.Get(s.Link())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !strings.HasSuffix(answer.Request.URL.Path, "/runs") {
		t.Fatalf("the link leads to %s with status %d", answer.Request.URL, answer.StatusCode)
	}
}

func TestPagesShowRuns(t *testing.T) {
	st := newState(t)
	r1 := st.begin(t, at("acme", "shop", 7))
	st.end(t, r1, review.ChangesRequested, "1 P1 must be fixed", made(review.P1, "Total divides by zero "+hostile, "security"), made(review.P3, "A name could be shorter", "general"))
	r2 := st.begin(t, at("acme", "shop", 8))
	st.end(t, r2, review.Converged, "No findings that count")
	st.begin(t, review.Target{Base: "main"})
	s := st.serve(t, Options{})
	s.enter(t)
	s.shows(t, "/runs", "acme/shop#7", "changes requested", "approved", "interrupted", r1.ReviewID)
	s.shows(t, runLink(r1.ID), "1 P1 must be fixed", "Total divides by zero &lt;script&gt;", "return sum / len(items)", "Return 0 when", "1 optional finding", "A name could be shorter",
		"https://github.com/acme/shop/blob/"+r1.Head+"/internal/pay/total.go#L42", "its answer was cut off", "gpt-5-mini", "$0.11", "round-1/security.log", "https://github.com/o/r/pull/7#issuecomment-1", "<summary>Receipt</summary>")
	s.shows(t, "/pulls/github.com/acme/shop/7", "Total divides by zero", "open", r1.ReviewID)
	s.shows(t, "/repositories", "acme/shop")
	s.shows(t, "/usage?since=30d", "acme/shop", "gpt-5-mini", "security", "50 %")
	s.shows(t, "/runs?q=acme/shop%238", r2.ReviewID)
	if body := s.shows(t, "/runs?outcome=converged"); strings.Contains(body, r1.ReviewID) || !strings.Contains(body, r2.ReviewID) {
		t.Error("the filter of outcomes lets others through")
	}
	s.shows(t, "/runs?q="+r1.ReviewID, "1 P1 must be fixed")
	s.shows(t, "/runs?q=nobody/%23", "A pull request is written OWNER/REPO#123.")
	s.shows(t, "/runs?q=%25", "There is no such run.")
	answer, err := s.Get(s.url + runLink(r1.ID) + "/files/review.md")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("an artifact is sent as %q", got)
	}
	for _, path := range []string{"/runs/nothing", runLink(r1.ID[:20]), runLink(r1.ID) + "/files/..%2f..%2fprloop.db", runLink(r1.ID) + "/files/missing", runLink(r1.ID) + "/files/round-1", "/pulls/github.com/acme/shop/99", "/nothing"} {
		if status, body := s.see(t, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d\n%s", path, status, body)
		}
	}
	for _, path := range []string{runLink(r1.ID) + "/files/review.md%00", "/runs/%ff", "/runs?q=acme/%00", "/runs?outcome=%ff", "/runs?before=%00", "/runs?q=%zz", "/observations?q=%ff", "/audit?before=%00"} {
		if status, body := s.see(t, path); status != http.StatusBadRequest || !strings.Contains(body, "The address or the form is not valid text (UTF-8 without NUL bytes).") {
			t.Errorf("%s: status %d\n%s", path, status, body)
		}
	}
}

// What rules alone came to depends on whether they found something: the list, the page of the run and that of the repository say it alike.
func TestRulesAloneAreToldApart(t *testing.T) {
	st := newState(t)
	found, clean := st.begin(t, at("acme", "shop", 7)), st.begin(t, at("acme", "web", 8))
	st.end(t, found, review.StaticOnly, "1 P0 must be fixed", made(review.P0, "Adds an AWS access key id", "static"))
	st.end(t, clean, review.StaticOnly, "rules alone looked")
	if err := st.store.FinishRun(t.Context(), review.RunResult{Run: clean.ID, Target: clean.Target, Outcome: review.StaticOnly}); err != nil {
		t.Fatal(err)
	}
	s := st.serve(t, Options{})
	s.enter(t)
	const yes, no = ">static findings (no model took part)<", ">no static findings (no model took part)<"
	s.shows(t, "/runs?outcome=static_only", `class="pill bad"`+yes, `class="pill warn"`+no, `selected>rules only (no model took part)<`)
	for _, row := range []struct{ page, is, isNot string }{
		{runLink(found.ID), `class="pill bad"` + yes, no}, {"/pulls/github.com/acme/shop/7", `class="pill bad"` + yes, no},
		{runLink(clean.ID), `class="pill warn"` + no, yes}, {"/pulls/github.com/acme/web/8", `class="pill warn"` + no, yes},
	} {
		if body := s.shows(t, row.page, row.is); strings.Contains(body, row.isNot) {
			t.Errorf("%s says %q", row.page, row.isNot)
		}
	}
	s.shows(t, "/repositories", "acme/shop#7: static findings (no model took part)", "acme/web#8: no static findings (no model took part)")
}

// What an agent wrote is read whenever somebody opens the page: a table of millions of cells, few of which it writes, is shown as its text.
func TestAWideTableIsText(t *testing.T) {
	wide := strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|<b>x</b>\n", 500)
	page := string(rendered([]byte("Hello\n\n" + wide + "\nGoodbye\n")))
	if strings.Contains(page, "<td>") || !strings.Contains(page, "<pre><code>|a|a|a") || !strings.Contains(page, "|&lt;b&gt;x") || !strings.Contains(page, "<p>Goodbye</p>") || len(page) > 4*len(wide) {
		t.Errorf("%d bytes: %.200s", len(page), page)
	}
	if page := string(rendered([]byte("|a|b|\n|-|-|\n|c|d|\n"))); !strings.Contains(page, "<td>d</td>") {
		t.Errorf("a small one: %s", page)
	}
}

// Texts that cost the square of their length to read as Markdown are shown as text, and take nothing from the others.
func TestLongTextsAreShownAsText(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	var all []review.Finding
	for i := range 15 {
		f := made(review.P1, fmt.Sprintf("finding %d%s", i, strings.Repeat("x", i)), "security")
		f.Description, f.Suggestion = "<b>long</b>"+strings.Repeat("[a](", 10_000), "a **short** one"
		all = append(all, f)
	}
	st.end(t, r, review.ChangesRequested, "x", all...)
	s := st.serve(t, Options{})
	s.enter(t)
	body := s.shows(t, runLink(r.ID))
	if strings.Count(body, "Too long to be shown as Markdown.") != len(all) || strings.Count(body, "<pre>&lt;b&gt;long&lt;/b&gt;[a]([a](") != len(all) ||
		strings.Count(body, "a <strong>short</strong> one") != len(all) {
		t.Errorf("%.5000s", body)
	}
	var page prose
	word := strings.Repeat("a ", longestProse/2)
	for n := range mostProse/len(word) + 1 {
		if plain := strings.Contains(string(page.show(word)), "<pre>"); plain != (n == mostProse/len(word)) {
			t.Errorf("text %d of a page: as text is %v", n, plain)
		}
	}
}

// A page of a megabyte of them is to take a second at most.
func BenchmarkHostileProse(b *testing.B) {
	for _, unit := range []string{"[a](", "![a](", "[a](\"", "*a_b~~", ">", "> ", "> - ", "1. ", "[[", "][", "+ a\n* b\n", "# [a](", "|a|b|\n|-|-|\n"} {
		for _, size := range []int{longestProse, 40_000} {
			s := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%q of %d", unit, size), func(b *testing.B) {
				for b.Loop() {
					var page prose
					for n := 0; n < 1<<20; n += len(s) {
						page.show(s)
					}
				}
			})
		}
	}
}

func TestPagesOfManyRuns(t *testing.T) {
	st := newState(t)
	for range perPage + 5 {
		st.begin(t, at("acme", "shop", 7))
	}
	s := st.serve(t, Options{})
	s.enter(t)
	body := s.shows(t, "/runs?q=acme/shop", "Older runs")
	next := regexp.MustCompile(`href="(/runs\?before=[^"]+)"`).FindStringSubmatch(body)
	if next == nil {
		t.Fatal("no address of the next page")
	}
	body = s.shows(t, strings.ReplaceAll(next[1], "&amp;", "&"))
	if n := strings.Count(body, "interrupted"); n < 5 || strings.Contains(body, "Older runs") {
		t.Errorf("the second page has %d runs", n)
	}
}

// Rights go by GitHub's number: who took over the name of a repository sees nothing of what that was, who renamed theirs sees it under both names,
// and what was kept without a number is of the operator alone.
func TestRunsStayWithTheirRepository(t *testing.T) {
	st := newState(t)
	shop, before := at("acme", "shop", 7), at("acme", "old-name", 7)
	of := func(id int64) review.RepoKey { return shop.Repo.Key(id) }
	mine := st.beginAt(t, before, of(7)) // of acme/shop, when it was called acme/old-name
	taken := st.beginAt(t, shop, of(99)) // of another that had the name acme/shop
	unknown := st.beginAt(t, shop, "")   // of one or the other
	now := st.beginAt(t, shop, of(7))
	said := []string{"Total divides by zero", "A password is written to the log", "The loop over retries never ends", "Rounding loses a cent of every order"}
	for i, r := range []store.Run{mine, taken, unknown, now} {
		st.end(t, r, review.Converged, "No findings that count", made(review.P3, said[i], "general"))
	}
	s := st.serve(t, Options{GitHub: gitHubOf(t)})
	body := s.shows(t, "/sign-in/github", mine.ReviewID, now.ReviewID)
	for _, path := range []string{"/runs?q=acme/shop", "/runs?q=acme/shop%237", "/repositories", "/pulls/github.com/acme/shop/7", "/pulls/github.com/acme/old-name/7"} {
		body += s.shows(t, path, now.ReviewID)
	}
	for _, r := range []store.Run{taken, unknown} {
		if strings.Contains(body, r.ReviewID) {
			t.Errorf("the run %s of %q is shown", r.ID, r.RepoKey)
		}
		for _, path := range []string{runLink(r.ID), runLink(r.ID) + "/files/review.md", runLink(r.ID) + "/live", runLink(r.ID) + "/replay"} {
			if status, _ := s.see(t, path); status != http.StatusNotFound {
				t.Errorf("%s: status %d", path, status)
			}
		}
	}
	s.shows(t, runLink(mine.ID), said[0])
	if body := s.shows(t, "/pulls/github.com/acme/shop/7", said[0], said[3]); strings.Contains(body, said[1]) || strings.Contains(body, said[2]) {
		t.Error("findings of another repository are shown")
	}
	for _, path := range []string{"/usage?since=90d", "/usage?since=90d&repo=acme/shop"} {
		if body := s.shows(t, path, "acme/shop"); strings.Contains(body, "acme/old-name") || !regexp.MustCompile(`\b2 runs`).MatchString(body) {
			t.Errorf("%s: usage is not that of two runs of one repository\n%s", path, body)
		}
	}
	operator := st.serve(t, Options{})
	operator.enter(t)
	operator.shows(t, "/runs", mine.ReviewID, taken.ReviewID, unknown.ReviewID, now.ReviewID)
	operator.shows(t, "/repositories", taken.ReviewID, unknown.ReviewID, now.ReviewID)
}

// TestWhoSeesWhat: nobody sees anything without a session, a link works once, sign-in with GitHub shows the repositories that one
// administers and no local change, and no other site can end a session or cancel a run.
func TestWhoSeesWhat(t *testing.T) {
	st := newState(t)
	mine, other := st.begin(t, at("acme", "shop", 7)), st.begin(t, at("acme", "secret", 8))
	local := st.begin(t, review.Target{Base: "main"})
	github := fakeGitHub(t)
	control := &cancelled{}
	s := st.serve(t, Options{Control: control, GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	link := s.Link()
	for _, path := range []string{"/runs", runLink(mine.ID), "/usage", "/repositories", runLink(mine.ID) + "/files/review.md"} {
		if _, body := s.see(t, path); !strings.Contains(body, "Sign in with GitHub") || strings.Contains(body, mine.ReviewID) {
			t.Errorf("%s without a session shows\n%s", path, body)
		}
	}
	if status, _ := s.see(t, "/sign-in/link?key=wrong"); status != http.StatusForbidden {
		t.Errorf("a wrong key: status %d", status)
	}
	if status, _ := s.see(t, "/sign-in/callback?code=c&state=planted"); status != http.StatusForbidden {
		t.Errorf("an answer that nobody asked for: status %d", status)
	}
	body := s.shows(t, "/sign-in/github", mine.ReviewID) // follows GitHub's redirects back
	if strings.Contains(body, other.ReviewID) || strings.Contains(body, local.ReviewID) {
		t.Error("a person sees runs of others")
	}
	for _, path := range []string{runLink(other.ID), runLink(local.ID), "/pulls/github.com/acme/secret/8", "/usage?repo=acme/secret", runLink(other.ID) + "/live"} {
		if status, _ := s.see(t, path); status != http.StatusNotFound {
			t.Errorf("%s of somebody else: status %d", path, status)
		}
	}
	if body := s.shows(t, "/repositories"); strings.Contains(body, "acme/secret") {
		t.Error("a person sees another's repository")
	}
	if body := s.shows(t, "/runs?q=acme/secret"); strings.Contains(body, other.ReviewID) {
		t.Error("a search finds another's runs")
	}
	for path, want := range map[string]int{runLink(mine.ID) + "/cancel": http.StatusForbidden, "/sign-out": http.StatusForbidden} {
		req, err := http.NewRequest(http.MethodPost, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		answer, err := s.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a form of another site for %s: status %d", path, answer.StatusCode)
		}
	}
	for _, run := range []string{other.ID, mine.ID} {
		answer, err := s.PostForm(s.url+runLink(run)+"/cancel", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if control.said() != mine.ID {
		t.Errorf("cancelled: %q", control.said())
	}
	if answer, err := s.PostForm(s.url+"/sign-out", nil); err != nil || !strings.HasSuffix(answer.Request.URL.Path, "/sign-in") {
		t.Errorf("sign out: %v", err)
	}
	if _, body := s.see(t, "/runs"); strings.Contains(body, mine.ReviewID) {
		t.Error("the session goes on after sign-out")
	}
	operator := &site{Dashboard: s.Dashboard, Client: browser(t), url: s.url}
	answer, err := operator.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	operator.shows(t, "/runs", mine.ReviewID, other.ReviewID, local.ReviewID)
	if answer, err := browser(t).Get(link); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("the link works twice: %v", err)
	}
}

func TestALinkExpires(t *testing.T) {
	now := time.Now()
	s := newState(t).serve(t, Options{Now: func() time.Time { return now }})
	link := s.Link()
	now = now.Add(linkLife + time.Second)
	if answer, err := s.Get(link); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("an old link: %v", err)
	}
}

// A link that another process of the operator made works once, in time, where the dashboard is announced; the folder gives no key away.
func TestLinksOfOtherProcesses(t *testing.T) {
	now := time.Now()
	keys := Keys{Dir: filepath.Join(t.TempDir(), "sign-in")}
	if _, err := keys.Link(now); !errors.Is(err, ErrNotServed) {
		t.Errorf("a link to nothing: %v", err)
	}
	s := newState(t).serve(t, Options{Keys: keys, Now: func() time.Time { return now }})
	end, err := keys.Announce(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	links := make([]string, 3)
	for i := range links {
		if links[i], err = keys.Link(now); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadDir(keys.Dir)
	if err != nil || len(all) != len(links)+1 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	for _, e := range all {
		data, err := os.ReadFile(filepath.Join(keys.Dir, e.Name()))
		info, err2 := e.Info()
		if err != nil || err2 != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, %v", e.Name(), info.Mode(), err, err2)
		}
		for _, l := range links {
			if key := l[strings.Index(l, "key=")+4:]; strings.Contains(e.Name()+string(data), key) {
				t.Errorf("%s holds a key", e.Name())
			}
		}
	}
	expect := func(what, link string, want int) {
		t.Helper()
		answer, err := browser(t).Get(link)
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s: %v, %v; want %d", what, answer.StatusCode, err, want)
		}
	}
	expect("a link", links[0], http.StatusOK)
	expect("a link again", links[0], http.StatusForbidden)
	expect("a key that is a path", strings.Replace(links[0], "key=", "key=../address", 1), http.StatusForbidden)
	now = now.Add(linkLife + time.Second)
	expect("an old link", links[1], http.StatusForbidden)
	if _, err := keys.Link(now); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(keys.Dir, "key-*")); len(left) != 1 {
		t.Errorf("%d keys are kept, want the new one", len(left))
	}
	end()
	if _, err := keys.Link(now); !errors.Is(err, ErrNotServed) {
		t.Errorf("after the end: %v", err)
	}
}

// Strangers who begin to sign in leave nothing here, and keep nobody else from it; a look at the link does not use it up.
func TestSignInsAreBounded(t *testing.T) {
	s := newState(t).serve(t, Options{GitHub: gitHubOf(t)})
	stranger := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 50 {
		answer, err := stranger.Get(s.url + "/sign-in/github")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusSeeOther || !answer.Close {
			t.Fatalf("status %d, closed: %v", answer.StatusCode, answer.Close)
		}
	}
	kept := 0
	if err := s.sessions.Iterate(t.Context(), func(context.Context) error { kept++; return nil }); err != nil || kept != 0 {
		t.Errorf("%d sessions are kept of strangers, %v", kept, err)
	}
	s.shows(t, "/sign-in/github", "Runs")
	link := s.Link()
	if answer, err := s.Head(link); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("a look at the link: %v", err)
	}
	if answer, err := s.Get(link); err != nil || answer.StatusCode != http.StatusOK || !strings.HasSuffix(answer.Request.URL.Path, "/runs") {
		t.Errorf("its use: %v", err)
	}
}

// Whoever signs in over and over has a few sessions, of which the oldest end; each holds what pages can be about, however much they administer.
func TestSessionsAreBounded(t *testing.T) {
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	operator := st.serve(t, Options{GitHub: gitHubOf(t), Serves: func(name string) bool { return name == "github.com/ada/toy" }})
	operator.enter(t)
	var persons []*site
	for range mostSessions + 2 {
		p := &site{Dashboard: operator.Dashboard, Client: browser(t), url: operator.url}
		p.shows(t, "/sign-in/github", "ada")
		persons = append(persons, p)
	}
	for i, p := range append(persons, operator) {
		if _, body := p.see(t, "/runs"); strings.Contains(body, "Sign out") != (i >= 2) {
			t.Errorf("session %d:\n%s", i, body)
		}
	}
	kept := 0
	if err := operator.sessions.Iterate(t.Context(), func(ctx context.Context) error {
		v, _ := operator.sessions.Get(ctx, "visitor").(visitor)
		if kept++; !v.Operator && (len(v.Repos) != 2 || !v.called("acme/shop") || !v.called("ada/toy")) {
			t.Errorf("a session holds %v", v.Repos)
		}
		return nil
	}); err != nil || kept != mostSessions+1 {
		t.Errorf("%d sessions are kept, %v", kept, err)
	}
}

// Whoever does not read what they asked for loses the connection.
func TestWhoDoesNotReadIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		began := time.Now()
		if _, err := (timelyConn{here}).Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != writeTime {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// Who follows a run has to come again, signed in.
func TestFollowingEnds(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	feed := new(Feed)
	_, end := feed.Run(r.ID)
	defer end()
	s := st.serve(t, Options{Feed: feed, live: time.Millisecond})
	s.enter(t)
	body := s.shows(t, runLink(r.ID)+"/live", "event: run")
	if strings.Contains(body, "event: ended") {
		t.Errorf("the run goes on:\n%s", body)
	}
	if answer, err := s.PostForm(s.url+"/sign-out", nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, s.url+runLink(r.ID)+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if answer, err := s.Do(req); err != nil || answer.StatusCode != http.StatusNoContent {
		t.Errorf("after sign-out: %v", err)
	}
}

// Whoever signs in with GitHub keeps nobody else out: their connections end with an answer, and few of them follow runs.
func TestWhoSignsInHoldsFewConnections(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	feed := new(Feed)
	_, end := feed.Run(r.ID)
	defer end()
	s := st.serve(t, Options{GitHub: gitHubOf(t), Feed: feed})
	ask := func(path string) *http.Response {
		t.Helper()
		answer, err := s.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	s.shows(t, "/sign-in/github", "Runs")
	if answer := ask("/runs"); !answer.Close {
		t.Error("a connection of somebody who signed in stays open")
	}
	for i := range mostFollowed + 1 {
		want := http.StatusOK
		if i == mostFollowed {
			want = http.StatusTooManyRequests
		}
		if answer := ask(runLink(r.ID) + "/live"); answer.StatusCode != want {
			t.Errorf("connection %d that follows a run: %s", i, answer.Status)
		}
	}
	s.enter(t)
	for range mostFollowed + 1 {
		if answer := ask(runLink(r.ID) + "/live"); answer.StatusCode != http.StatusOK || answer.Close {
			t.Errorf("the operator: %s, closed: %v", answer.Status, answer.Close)
		}
	}
}

// Whoever asks for pages that take long has a few of them made at a time, and keeps nobody else out.
func TestWhoSignsInAsksForFewPages(t *testing.T) {
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	service := st.open(t)
	asked, free := make(chan struct{}, 2*mostAtOnce), make(chan struct{})
	settings := func(context.Context, review.Repo, *policy.Row) (config.Settings, string, error) {
		asked <- struct{}{}
		<-free
		return config.Settings{}, "", nil
	}
	s := st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}, GitHub: gitHubOf(t), Settings: settings})
	s.shows(t, "/sign-in/github", "acme/shop")
	var slow sync.WaitGroup
	for range mostAtOnce {
		slow.Go(func() {
			if status, _ := s.see(t, "/settings/github.com/acme/shop"); status != http.StatusOK {
				t.Errorf("one of few pages: status %d", status)
			}
		})
	}
	for range mostAtOnce {
		<-asked
	}
	if status, body := s.see(t, "/runs"); status != http.StatusTooManyRequests || !strings.Contains(body, "try again") {
		t.Errorf("one page more: status %d", status)
	}
	operator := &site{Dashboard: s.Dashboard, Client: browser(t), url: s.url}
	operator.enter(t)
	operator.shows(t, "/runs", "acme/shop")
	close(free)
	slow.Wait()
	s.shows(t, "/runs", "acme/shop")
}

// gitHubOf is a GitHub that signs ada in.
func gitHubOf(t *testing.T) signin.GitHub {
	at := fakeGitHub(t)
	return signin.GitHub{Host: "github.com", Web: at, API: at, ID: "client", Secret: "shared"}
}

type cancelled struct {
	mu   sync.Mutex
	runs []string
}

func (c *cancelled) Cancel(_ context.Context, run string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = append(c.runs, run)
	return nil
}

func (c *cancelled) Resume(_ context.Context, run string, _ review.Target) error {
	return c.Cancel(context.Background(), "resumed "+run)
}

// said are the runs that were cancelled.
func (c *cancelled) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.runs, " ")
}

// fakeGitHub is GitHub's side of a sign-in. It holds PKCE: the verifier must be that of the challenge.
func fakeGitHub(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	challenge := ""
	mux.HandleFunc("GET /login/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		challenge = q.Get("code_challenge")
		back, err := url.Parse(q.Get("redirect_uri"))
		if err != nil || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "client" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		back.RawQuery = url.Values{"code": {"granted"}, "state": {q.Get("state")}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	})
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") != "granted" || s256(r.FormValue("code_verifier")) != challenge {
			http.Error(w, "bad verifier", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"gho_person","token_type":"bearer"}`)
	})
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer gho_person" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"login":"ada"}`)
	})
	mux.HandleFunc("GET /user/repos", func(w http.ResponseWriter, r *http.Request) {
		type repo struct {
			ID          int64             `json:"id"`
			Name        string            `json:"name"`
			Owner       map[string]string `json:"owner"`
			Permissions map[string]bool   `json:"permissions"`
		}
		acme := map[string]string{"login": "acme"}
		list := []repo{{7, "shop", acme, map[string]bool{"admin": true}}, {8, "secret", acme, map[string]bool{"push": true}}}
		for i, name := range []string{"toy", "game", "site"} { // of nobody's interest here, unless it is served
			list = append(list, repo{100 + int64(i), name, map[string]string{"login": "ada"}, map[string]bool{"admin": true}})
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// TestARunIsSeenLive: what a run of this process does is sent as it happens, and its end closes the stream.
func TestARunIsSeenLive(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	feed := new(Feed)
	emit, end := feed.Run(r.ID)
	s := st.serve(t, Options{Feed: feed})
	s.enter(t)
	answer, err := s.Get(s.url + runLink(r.ID) + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", want, lines.Err())
	}
	emit(review.Event{Kind: review.EventRound, Round: 1, Rounds: 3})
	emit(review.Event{Kind: review.EventProgress, Agent: "security", Message: "reads total.go " + hostile})
	until("Round 1 of at most 3")
	until("reads total.go &lt;script&gt;")
	st.end(t, r, review.Converged, "No findings that count")
	end()
	until("event: ended")
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream does not end: %v", err)
	}
}

func s256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Who administers a repository opens the reports of its runs, and nothing that says how the operator set them up.
func TestWhoOpensWhichFiles(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	st.end(t, r, review.Converged, "No findings that count")
	for _, name := range []string{"request.json", "telemetry.json", "round-1/inputs.json", "round-1/security.request.json", "round-1/security.stderr.log"} {
		if err := st.folder.Save(r.ID, name, []byte(`{"path":"/opt/inner/agent"}`)); err != nil {
			t.Fatal(err)
		}
	}
	const answer = "round-1/security.answer.json"
	if err := st.folder.Save(r.ID, answer, []byte(`{"receipt":{"name":"security","operatorDetail":"/opt/inner/agent"},"log":"cannot open /opt/inner/agent"}`)); err != nil {
		t.Fatal(err)
	}
	s := st.serve(t, Options{GitHub: gitHubOf(t)})
	s.shows(t, "/sign-in/github", r.ReviewID)
	all, err := st.folder.Names(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	body := s.shows(t, runLink(r.ID), "its answer was cut off")
	if strings.Contains(body, "/opt/inner") {
		t.Error("the page of the run names the operator's program (threats.md T681)")
	}
	for _, name := range all {
		status, text := s.see(t, runLink(r.ID)+"/files/"+name)
		want := name == "review.md" || name == "review.json" || name == answer
		if (status == http.StatusOK) != want || strings.Contains(text, "/opt/inner") || strings.Contains(body, "/files/"+name+`"`) != want {
			t.Errorf("%s: status %d", name, status)
		}
	}
	s.enter(t)
	for _, page := range []string{"", "/files/review.json", "/files/round-1/inputs.json", "/files/" + answer} {
		s.shows(t, runLink(r.ID)+page, "/opt/inner/agent")
	}
}
