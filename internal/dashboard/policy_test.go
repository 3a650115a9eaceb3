package dashboard

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
)

// policies are those of a service, of repositories that GitHub would know.
type policies struct{ *app.Service }

func (policies) PolicyRepo(_ context.Context, named, _ string) (policy.Repo, error) {
	if named != "acme/shop" {
		return policy.Repo{}, errNotHere
	}
	return policy.Repo{Host: "github.com", ID: 7, Name: named}, nil
}

func (policies) Administers(context.Context, policy.Repo, string) (bool, error) { return true, nil }

// lost are those of a service of which nobody administers a repository any more.
type lost struct{ policies }

func (lost) Administers(context.Context, policy.Repo, string) (bool, error) { return false, nil }

// Rights are of when somebody signed in. Before a policy is saved GitHub is asked again, and the record names who came by GitHub so that nobody can
// pass for the operator.
func TestRightsAreAskedAgain(t *testing.T) {
	for _, still := range []bool{false, true} {
		st := newState(t)
		st.begin(t, at("acme", "shop", 7))
		service, err := app.Open(t.Context(), app.Options{State: st.dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { service.Close(context.Background()) })
		o := Options{Policies: policies{service}, Operator: &config.File{}, GitHub: gitHubOf(t)}
		if !still {
			o.Policies = lost{policies{service}}
		}
		s := st.serve(t, o)
		s.shows(t, "/sign-in/github", "acme/shop")
		const page = "/policies/github.com/acme/shop"
		status, body := s.send(t, page, url.Values{"version": {"0"}, "gating_policy": {"off"}})
		if still && (status != http.StatusOK || !strings.Contains(body, "<td>ada</td>")) || !still && (status != http.StatusForbidden || !strings.Contains(body, "Nothing was saved")) {
			t.Errorf("an administrator: %v, status %d\n%s", still, status, body)
		}
		if row, err := service.Policy(t.Context(), policy.Repo{Host: "github.com", ID: 7}); err != nil || (row.Version > 0) != still {
			t.Errorf("an administrator: %v, version %d, %v", still, row.Version, err)
		}
	}
}

// send sends a form and gives what is shown then.
func (s *site) send(t *testing.T, path string, form url.Values) (int, string) {
	t.Helper()
	answer, err := s.PostForm(s.url+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	inert(t, path, string(body))
	return answer.StatusCode, string(body)
}

// The changes of one's own repositories stand on the audit log however many others were made since, and it goes on to the first of them.
func TestAuditLog(t *testing.T) {
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	service := st.open(t)
	save := func(of policy.Repo, version int64, by string) {
		t.Helper()
		row := policy.Row{Repo: of, Version: version, Columns: policy.Values{}}
		for _, c := range policy.Columns() {
			if c.Kind == policy.Bool {
				row.Columns[c.Name] = version%2 == 0
			}
		}
		if _, _, err := service.SavePolicyAs(t.Context(), row, nil, by); err != nil {
			t.Fatal(err)
		}
	}
	shop, other := policy.Repo{Host: "github.com", ID: 7, Name: "acme/shop"}, policy.Repo{Host: "github.com", ID: 9, Name: "eve/toy"}
	save(shop, 0, "mallory")
	for v := range int64(10*manyChanges/5 + 1) {
		save(other, v, "eve")
	}
	s := st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}, GitHub: gitHubOf(t)})
	s.shows(t, "/sign-in/github", "acme/shop")
	if body := s.shows(t, "/audit", "mallory"); strings.Contains(body, "eve/toy") || strings.Contains(body, "Older changes") {
		t.Errorf("an administrator sees changes of others, or a page that is not there:\n%s", body)
	}
	s.enter(t)
	path, pages := "/audit", 0
	for ; ; pages++ {
		body := s.shows(t, path)
		next := regexp.MustCompile(`href="(/audit\?before=[^"]+)"`).FindStringSubmatch(body)
		if next == nil {
			if !strings.Contains(body, "mallory") {
				t.Errorf("the last page is\n%s", body)
			}
			break
		}
		path = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	if pages < 10 {
		t.Errorf("%d pages have a next one", pages)
	}
	s.shows(t, "/audit?before=nonsense", "eve/toy", "Older changes")
}

// TestPoliciesAreDecided: a form is saved whole or not at all, whoever comes second sees what changed, and each change is in the audit log.
func TestPoliciesAreDecided(t *testing.T) {
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	st.begin(t, at("acme", "other", 8))
	service, err := app.Open(t.Context(), app.Options{State: st.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	s := st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}})
	const page = "/policies/github.com/acme/shop"
	if status, _ := s.send(t, page, url.Values{"version": {"0"}}); status != http.StatusForbidden {
		t.Errorf("saved without a session: status %d", status)
	}
	s.enter(t)
	s.shows(t, "/repositories", `href="`+page+`"`)
	s.shows(t, page, "Policy of acme/shop", "gating_policy", "verdict-non-trivial", "not decided here")
	decided := url.Values{"version": {"0"}, "gating_policy": {"verdict"}, "fixing": {"false"}, "context_path_excludes": {"customer_data/**\r\n**/*.pem"}, "max_cost_per_run_usd": {"2.5"}}
	if status, body := s.send(t, page, decided); status != http.StatusOK || !strings.Contains(body, "4 columns were changed") || !strings.Contains(body, "<td>the operator</td>") {
		t.Errorf("status %d\n%s", status, body)
	}
	s.shows(t, page, `value="verdict" checked`, "customer_data/**\n**/*.pem", `value="2.5"`, `name="version" value="1"`)
	late := url.Values{"version": {"0"}, "gating_policy": {"off"}}
	if status, body := s.send(t, page, late); status != http.StatusConflict || !strings.Contains(body, "Somebody else saved this policy") || !strings.Contains(body, `value="off" checked`) || !strings.Contains(body, `name="version" value="1"`) {
		t.Errorf("who comes second: status %d\n%s", status, body)
	}
	wrong := url.Values{"version": {"1"}, "gating_policy": {"offf"}, "context_path_excludes": {hostile + "\r\na/["}, "max_cost_per_run_usd": {"many"}}
	status, body := s.send(t, page, wrong)
	if status != http.StatusUnprocessableEntity || strings.Count(body, `class="fault"`) != 3 || !strings.Contains(body, "Nothing was saved") {
		t.Errorf("a form with faults: status %d\n%s", status, body)
	}
	s.shows(t, page, `value="verdict" checked`, `name="version" value="1"`)
	if status, _ := s.send(t, "/policies/github.com/acme/gone", decided); status != http.StatusNotFound {
		t.Errorf("a repository that is gone: status %d", status)
	}
	if status, _ := s.send(t, page, url.Values{}); status != http.StatusBadRequest {
		t.Errorf("a form without a version: status %d", status)
	}
	s.shows(t, "/audit", "acme/shop", "gating_policy", "&#34;verdict&#34;", "the operator")
	stranger := &site{Dashboard: s.Dashboard, Client: browser(t), url: s.url}
	if _, body := stranger.see(t, "/audit"); strings.Contains(body, "gating_policy") {
		t.Error("the audit log is shown to whoever asks")
	}
}
