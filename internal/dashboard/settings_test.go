package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// open opens the service of a state.
func (s *state) open(t testing.TB) *app.Service {
	t.Helper()
	service, err := app.Open(t.Context(), app.Options{State: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close(context.Background()) })
	return service
}

// holds resolves settings of a repository from files, as a service does once it has read them.
func holds(service *app.Service, operator, repository string) Settings {
	return func(ctx context.Context, repo review.Repo, row *policy.Row) (config.Settings, string, error) {
		if row == nil {
			stored, err := service.Policy(ctx, policy.Repo{Host: "github.com", ID: 7, Name: "acme/shop"})
			if err != nil {
				return config.Settings{}, "", err
			}
			row = &stored
		}
		in := config.Input{Env: func(string) string { return "" }, Operator: &config.File{Name: "/home/op/config.yml", Data: []byte(operator)}, Repository: &config.File{Name: ".reviewerc", Data: []byte(repository)}, Policy: row}
		settings, err := config.Resolve(in)
		return settings, ".reviewerc at main", err
	}
}

// Each value stands with the layer that set it. An administrator sees nothing of the operator's endpoints, files and programs (threats.md T272).
func TestSettingsAreExplained(t *testing.T) {
	st := newState(t)
	st.begin(t, at("acme", "shop", 7))
	service := st.open(t)
	row := policy.Row{Repo: policy.Repo{Host: "github.com", ID: 7, Name: "acme/shop"}, Columns: policy.Values{"gating_policy": "verdict"}}
	if _, _, err := service.SavePolicyAs(t.Context(), row, &config.File{}, "ada"); err != nil {
		t.Fatal(err)
	}
	const operator = "base_url: https://models.internal.example/v1\nwall_time: 11m\nverifier: {use: command, path: /opt/inner/verify}\n"
	s := st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}, Settings: holds(service, operator, "problem_score_threshold: 7\n"), GitHub: gitHubOf(t)})
	const page = "/settings/github.com/acme/shop"
	if _, body := s.see(t, page); strings.Contains(body, "problem_score_threshold") {
		t.Error("settings are shown to whoever asks")
	}
	s.shows(t, "/sign-in/github", "acme/shop")
	body := s.shows(t, page, "problem_score_threshold", "<code>7</code>", ".reviewerc:1", "policy", "verdict", ".reviewerc at main", "11m0s", "are not shown")
	for _, secret := range []string{"models.internal", "/opt/inner", "/home/op"} {
		if strings.Contains(body, secret) {
			t.Errorf("an administrator sees %q", secret)
		}
	}
	body = s.shows(t, "/policies/github.com/acme/shop", `Now: <code>verdict</code> <span class="pill good">policy</span>`, `Now: <code>5</code> <span class="pill">default</span>`)
	for _, secret := range []string{"models.internal", "/opt/inner", "/home/op"} {
		if strings.Contains(body, secret) {
			t.Errorf("beside the columns an administrator sees %q", secret)
		}
	}
	for _, path := range []string{"/settings/github.com/acme/secret", "/settings/github.com/acme/gone"} {
		if status, _ := s.see(t, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	s.enter(t)
	s.shows(t, page, "models.internal.example", "/opt/inner/verify", "/home/op/config.yml")
	s.shows(t, "/repositories", `href="`+page+`"`)
	s = st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}, Settings: func(context.Context, review.Repo, *policy.Row) (config.Settings, string, error) {
		return config.Settings{}, "", errors.New("git cannot fetch it")
	}})
	s.enter(t)
	if status, body := s.see(t, page); status != http.StatusBadGateway || strings.Contains(body, "git cannot") {
		t.Errorf("a repository that cannot be read: status %d\n%s", status, body)
	}
	if body := s.shows(t, "/policies/github.com/acme/shop", "What holds now cannot be read at the moment."); strings.Contains(body, "git cannot") {
		t.Errorf("its policy:\n%s", body)
	}
}

// Whoever administers a repository that is not served has nothing of it fetched: its pages are those of one that is not there, for the operator too,
// whom a link may lead there.
func TestOthersRepositoriesAreNotRead(t *testing.T) {
	st := newState(t)
	service := st.open(t)
	read := 0
	o := Options{Policies: policies{service}, Operator: &config.File{}, GitHub: gitHubOf(t), Settings: func(ctx context.Context, repo review.Repo, row *policy.Row) (config.Settings, string, error) {
		read++
		return holds(service, "", "")(ctx, repo, row)
	}}
	pages := func(want int) {
		t.Helper()
		s := st.serve(t, o)
		for _, enter := range []func(){func() { s.shows(t, "/sign-in/github", "Runs") }, func() { s.enter(t) }} {
			enter()
			for _, path := range []string{"/settings/github.com/acme/shop", "/policies/github.com/acme/shop"} {
				status, body := s.see(t, path)
				_, gone := s.see(t, "/settings/github.com/acme/gone")
				if status != want || want == http.StatusNotFound && body != gone {
					t.Errorf("%s: status %d, want %d\n%s", path, status, want, body)
				}
			}
			for _, path := range []string{"/policies/github.com/acme/shop", "/previews/github.com/acme/shop"} {
				if status, _ := s.send(t, path, url.Values{"version": {"0"}}); status != want {
					t.Errorf("a form for %s: status %d, want %d", path, status, want)
				}
			}
		}
		if (read > 0) != (want == http.StatusOK) {
			t.Errorf("it was read %d times", read)
		}
		read = 0
	}
	pages(http.StatusNotFound)
	o.Serves = func(name string) bool { return name == "github.com/acme/shop" }
	pages(http.StatusOK)
	st.begin(t, at("acme", "shop", 7))
	o.Serves = nil
	pages(http.StatusOK)
	o.Serves = func(name string) bool { return name == "github.com/acme/web" }
	pages(http.StatusNotFound)
	s := st.serve(t, o)
	s.enter(t)
	if body := s.shows(t, "/repositories", "acme/shop"); strings.Contains(body, "/policies/") || strings.Contains(body, "/settings/") {
		t.Errorf("a link to pages that are not there:\n%s", body)
	}
}

// briefed keeps what a run was given to read: a change of 300 lines of one file.
func (s *state) briefed(t testing.TB, r store.Run, labels ...string) {
	t.Helper()
	in := orchestrator.Inputs{Round: 1, Snapshot: orchestrator.Snapshot{PR: review.PullRequest{Labels: labels, Author: review.Person{Association: "MEMBER"}}, Brief: review.Brief{
		Files: []review.BriefFile{{Path: "db/7.sql", Change: "modified", Additions: 300, Hunks: 1, HunksGiven: 1}}}}}
	js, err := json.Marshal(in)
	if err == nil {
		err = s.folder.Save(r.ID, "round-1/inputs.json", js)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A preview says what a form, as it was typed, would have made of the last pull requests, and saves nothing.
func TestPolicyPreview(t *testing.T) {
	st := newState(t)
	refused, approved, bare := st.begin(t, at("acme", "shop", 7)), st.begin(t, at("acme", "shop", 8)), st.begin(t, at("acme", "shop", 9))
	st.end(t, refused, review.ChangesRequested, "1 P1 must be fixed", made(review.P1, "Total divides by zero "+hostile, "security"))
	st.end(t, approved, review.Converged, "No findings that count")
	st.end(t, bare, review.Converged, "Nothing")
	st.briefed(t, refused)
	st.briefed(t, approved, "big")
	service := st.open(t)
	s := st.serve(t, Options{Policies: policies{service}, Operator: &config.File{}, Settings: holds(service, "scout: {use: command, path: /bin/true}\n", "")})
	const page, preview = "/policies/github.com/acme/shop", "/previews/github.com/acme/shop"
	if status, _ := s.send(t, preview, url.Values{"version": {"0"}}); status != http.StatusForbidden {
		t.Errorf("without a session: status %d", status)
	}
	s.enter(t)
	s.shows(t, page, `formaction="`+preview+`"`, `id="preview"`)
	shown := func(form url.Values, texts ...string) {
		t.Helper()
		form.Set("version", "0")
		status, body := s.send(t, preview, form)
		_, body, _ = strings.Cut(body, `id="preview"`)
		for _, want := range texts {
			if status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%v: status %d, no %q in\n%s", form, status, want, body)
			}
		}
	}
	shown(url.Values{"gating_policy": {"verdict"}}, "acme/shop#7", "failure", "acme/shop#8", "success", "every change is reviewed in full", "the files of its newest run are not here")
	shown(url.Values{"gating_policy": {"presence"}}, "the gate waits for the review alone")
	shown(url.Values{"gating_policy": {"verdict"}, "tier": {"auto"}, "auto_full_labels": {"big"}}, "the pull request has the label &#34;big&#34;", "no quick scan was made of this commit")
	shown(url.Values{"gating_policy": {"verdict"}, "tier": {"auto"}, "auto_full_paths": {"db/**"}}, "it changes &#34;db/7.sql&#34;")
	shown(url.Values{"gating_policy": {"verdict"}, "tier": {"auto"}, "auto_full_over_lines": {"299"}}, "it changes 300 lines")
	shown(url.Values{"gating_policy": {"offf"}}, "Correct the fields that are marked first")
	if row, err := service.Policy(t.Context(), policy.Repo{Host: "github.com", ID: 7}); err != nil || row.Version != 0 {
		t.Errorf("a preview saved version %d, %v", row.Version, err)
	}
	if status, _ := s.send(t, "/previews/github.com/acme/gone", url.Values{"version": {"0"}}); status != http.StatusNotFound {
		t.Errorf("a repository that is gone: status %d", status)
	}
}

// What posted findings became stands on the page of their pull request, and in the figures of usage with the threshold that follows from them.
func TestMergesAreShown(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 7))
	f := made(review.P1, "Total divides by zero", "security")
	st.end(t, r, review.ChangesRequested, "1 P1 must be fixed", f)
	m := store.Merge{Key: "github.com/7", Repo: "acme/shop", PR: 7, Head: "abc", Findings: []review.PostedFinding{{ID: f.Fingerprint, Run: r.ID, Became: review.BecameFixed, Why: "the code it quotes is not in the merged head", Priority: review.P1, Category: "bug", Score: 8, By: []review.Voice{{Name: "security", Model: "gpt-5-mini"}}}}}
	for i := range 80 { // forty of a low score, mostly ignored, and forty of a high one, mostly fixed
		p := review.PostedFinding{ID: "x", Became: review.BecameIgnored, Why: "it", Priority: review.P2, Category: "bug", Score: 5, By: []review.Voice{{Name: "security"}}}
		if p.Score += 3 * (i % 2); p.Score == 8 && i%16 != 1 || i%16 == 0 {
			p.Became = review.BecameFixed
		}
		m.Findings = append(m.Findings, p)
	}
	if _, err := st.store.RecordMerge(t.Context(), m, stats.MergeFigures(m)); err != nil {
		t.Fatal(err)
	}
	s := st.serve(t, Options{})
	s.enter(t)
	s.shows(t, "/pulls/github.com/acme/shop/7", "At the merge", "fixed", "the code it quotes is not in the merged head")
	s.shows(t, "/usage", "What became of posted findings", "Resolved before the merge", "<code>problem_score_threshold: 6</code>", "Posted findings: Scores")
}
