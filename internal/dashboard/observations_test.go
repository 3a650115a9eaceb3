package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// scanned records a scan that noticed something.
func (s *state) scanned(t testing.TB, target review.Target, list ...review.Observation) {
	t.Helper()
	r := s.begin(t, target)
	scan := &review.Scan{Complexity: review.SimpleChange, Verdict: review.LooksGood, Observations: list}
	if err := s.store.FinishRun(t.Context(), review.RunResult{Run: r.ID, Target: target, Outcome: review.LGTM, Round: 1, Receipt: review.Receipt{HeadSHA: r.Head}, Scan: scan}); err != nil {
		t.Fatal(err)
	}
}

// What scouts noticed is searched by words, tag and repository, in pages; texts are inert, and nobody sees what is of others' repositories.
func TestObservationsAreSearched(t *testing.T) {
	st := newState(t)
	st.scanned(t, at("acme", "shop", 7), review.Observation{Tag: "Migration " + hostile, Text: "The table is locked. " + hostile, File: "db/7.sql", Line: pointer(3)}, review.Observation{Tag: "tests", Text: "Nothing tests the lock."})
	st.scanned(t, at("acme", "secret", 8), review.Observation{Tag: "tests", Text: "A secret lock."})
	for i := range noticedPerPage {
		st.scanned(t, at("acme", "shop", 100+i), review.Observation{Tag: "many", Text: fmt.Sprint("number ", i)})
	}
	s := st.serve(t, Options{GitHub: gitHubOf(t)})
	if _, body := s.see(t, "/observations"); strings.Contains(body, "locked") {
		t.Error("observations are shown to whoever asks")
	}
	s.shows(t, "/sign-in/github", "acme/shop")
	none := func(body string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if strings.Contains(body, text) {
				t.Errorf("there is %q in\n%s", text, body)
			}
		}
	}
	body := s.shows(t, "/observations?q=LOCK", "Nothing tests the lock.", `href="/observations?q=LOCK&amp;tag=tests"`, "acme/shop#7")
	none(body, "locked", "secret lock")
	none(s.shows(t, "/observations?q=locked", "The table is locked. &lt;script&gt;", "db/7.sql:3"), "Nothing tests")
	none(s.shows(t, "/observations?tag=TESTS", "Nothing tests the lock."), "locked", "secret lock")
	s.shows(t, "/observations?q=lock+nowhere", "No observation fits.")
	if status, _ := s.see(t, "/observations?repo=acme/secret"); status != http.StatusNotFound {
		t.Errorf("another's repository: status %d", status)
	}
	body = s.shows(t, "/observations?repo=acme/shop", "number 49", "Older observations")
	none(body, "locked")
	next := regexp.MustCompile(`href="(/observations\?before=[^"]+)"`).FindStringSubmatch(body)
	if next == nil {
		t.Fatal("no address of the next page")
	}
	none(s.shows(t, strings.ReplaceAll(next[1], "&amp;", "&"), "The table is locked."), "number 49", "Older observations")
	s.shows(t, "/observations?before=nonsense", "number 49")
}

// A run that stopped can be resumed by who administers its repository at that moment, and by nobody else.
func TestResume(t *testing.T) {
	for name, row := range map[string]struct {
		operator, still bool
		want            int
	}{"the operator": {true, false, http.StatusOK}, "an administrator": {false, true, http.StatusOK}, "one who was": {false, false, http.StatusForbidden}} {
		st := newState(t)
		stopped, done, other := st.begin(t, at("acme", "shop", 7)), st.begin(t, at("acme", "shop", 8)), st.begin(t, at("acme", "secret", 9))
		st.end(t, done, review.Converged, "Fine")
		control := &cancelled{}
		service := st.open(t)
		o := Options{Control: control, Policies: policies{service}, GitHub: gitHubOf(t)}
		if !row.still {
			o.Policies = lost{policies{service}}
		}
		s := st.serve(t, o)
		if status, _ := s.send(t, runLink(stopped.ID)+"/resume", nil); status != http.StatusForbidden {
			t.Errorf("%s, signed out: status %d", name, status)
		}
		if row.operator {
			s.enter(t)
		} else {
			s.shows(t, "/sign-in/github", "acme/shop")
			if status, _ := s.send(t, runLink(other.ID)+"/resume", nil); status != http.StatusNotFound {
				t.Errorf("%s, another's run: status %d", name, status)
			}
		}
		s.shows(t, runLink(stopped.ID), "Resume this run")
		if status, _ := s.send(t, runLink(done.ID)+"/resume", nil); status != http.StatusConflict {
			t.Errorf("%s, a run that has ended: status %d", name, status)
		}
		status, body := s.send(t, runLink(stopped.ID)+"/resume", url.Values{})
		if want := strings.Repeat("resumed "+stopped.ID, map[bool]int{true: 1}[row.want == http.StatusOK]); status != row.want || control.said() != want {
			t.Errorf("%s: status %d, resumed %q\n%s", name, status, control.said(), body)
		}
	}
}
