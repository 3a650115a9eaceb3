package actionsjob

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/actions"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/config"
)

const opened = `{"action":"opened","number":7,"repository":{"full_name":"acme/widgets"},
	"pull_request":{"state":"open","draft":false,"labels":[],"head":{"repo":{"full_name":"HEAD"}}}}`

// environment is that of a job, with the event in a file. What is empty is not set.
func environment(t *testing.T, event, payload string, more ...string) func(string) string {
	t.Helper()
	env := map[string]string{"GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": "acme/widgets", "GITHUB_JOB": "nightly"}
	if payload != "" {
		env["GITHUB_EVENT_PATH"] = filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(env["GITHUB_EVENT_PATH"], []byte(payload), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return func(name string) string { return env[name] }
}

// What a job is told becomes what it does: where its repository is, who reviews, and which settings its inputs are.
func TestRead(t *testing.T) {
	own, fork := strings.Replace(opened, "HEAD", "acme/widgets", 1), strings.Replace(opened, "HEAD", "mona/widgets", 1)
	type told struct {
		Do         actions.Doing
		Repository string
		Reviewers  []string
		Settings   []config.Given
		SARIF      string
		Fixes      bool
	}
	for _, c := range []struct {
		what           string
		event, payload string
		env            []string
		want           told
	}{
		{"a review", "pull_request", own, nil, told{Do: actions.Review, Repository: "github.com/acme/widgets"}},
		{"on a server of one's own", "pull_request", own, []string{"GITHUB_SERVER_URL", "https://ghe.example.com/"}, told{Do: actions.Review, Repository: "ghe.example.com/acme/widgets"}},
		{"with inputs", "pull_request", own, []string{EnvInputs, `{"reviewers":"builtin,static","effort":"light","max_cost_usd":"2","sarif":"out.sarif","fix":"true"}`}, told{
			Do: actions.Review, Repository: "github.com/acme/widgets", Reviewers: []string{"builtin", "static"}, SARIF: "out.sarif", Fixes: true,
			Settings: []config.Given{{Key: "effort", Value: "light", From: "input effort"}, {Key: "limits.max_cost_usd", Value: "2", From: "input max-cost"}},
		}},
		{"with paths that are not read", "pull_request", own, []string{EnvInputs, `{"context-exclude":"docs/**","context_path_excludes":"customer_data/**"}`}, told{
			Do: actions.Review, Repository: "github.com/acme/widgets",
			Settings: []config.Given{{Key: "context.exclude", Value: "docs/**", From: "input context-exclude"}, {Key: "context.never_read", Value: "customer_data/**", From: "input context_path_excludes"}},
		}},
		{"of a fork, without a key", "pull_request", fork, []string{EnvInputs, `{"reviewers":"builtin"}`}, told{Do: actions.Review, Repository: "github.com/acme/widgets", Reviewers: []string{"static"}}},
		{"of a fork, with a key", "pull_request", fork, []string{EnvInputs, `{"reviewers":"builtin"}`, "OPENAI_API_KEY", "sk-1"}, told{Do: actions.Review, Repository: "github.com/acme/widgets", Reviewers: []string{"builtin"}}},
		{"a schedule", "schedule", "", nil, told{Do: actions.Schedule, Repository: "github.com/acme/widgets"}},
		{"anything else", "push", `{}`, nil, told{Do: actions.Nothing, Repository: "github.com/acme/widgets"}},
	} {
		j, err := Read(environment(t, c.event, c.payload, c.env...))
		got := told{j.Do, j.Repository, j.Reviewers, j.Settings, j.SARIF, j.Fixes()}
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.what, err, d)
		}
	}
}

// What no job can mean is said in a sentence, before anything is asked, with the status of a wrong call.
func TestReadRefuses(t *testing.T) {
	large, pipe := filepath.Join(t.TempDir(), "large.json"), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(large)
	if err == nil {
		err = errors.Join(f.Truncate(longestEvent+1), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what           string
		event, payload string
		env            []string
		says           string
		status         int
	}{
		{"no event", "", "", nil, "this is no job of GitHub Actions", advice.Usage},
		{"no repository", "push", "{}", []string{"GITHUB_REPOSITORY", ""}, "this is no job of GitHub Actions", advice.Usage},
		{"inputs that are no JSON", "push", "{}", []string{EnvInputs, "x"}, "read the inputs of the action", advice.Usage},
		{"another repository's event", "pull_request", strings.ReplaceAll(opened, "acme/", "evil/"), nil, "is not one of acme/widgets", advice.Usage},
		{"no file", "pull_request", "", []string{"GITHUB_EVENT_PATH", "/nowhere/event.json"}, "read the event", 0},
		{"a device", "pull_request", "", []string{"GITHUB_EVENT_PATH", os.DevNull}, "/dev/null is no file", 0},
		{"a pipe that nobody writes into", "pull_request", "", []string{"GITHUB_EVENT_PATH", pipe}, "pipe is no file", 0},
		{"a file without end", "pull_request", "", []string{"GITHUB_EVENT_PATH", large}, "it is larger than 25 MB", 0},
	} {
		_, err := Read(environment(t, c.event, c.payload, c.env...))
		var misuse advice.Error
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &misuse) != (c.status != 0) || misuse.Status != c.status {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// enable-web says what its user believes can be read on the web; where that is not so, nothing runs.
func TestCheckWeb(t *testing.T) {
	some := config.Settings{FetchHosts: []string{"pkg.go.dev"}}
	for _, c := range []struct {
		input    string
		settings config.Settings
		ok       bool
	}{
		{"", config.Settings{}, true}, {"", some, true}, {"true", some, true}, {"true", config.Settings{}, false}, {"false", config.Settings{}, true}, {"false", some, false},
	} {
		j := Job{given: actions.Given{"enable-web": c.input}}
		if err := j.CheckWeb(c.settings); (err == nil) != c.ok {
			t.Errorf("%q with hosts %q: %v", c.input, c.settings.FetchHosts, err)
		}
	}
}
