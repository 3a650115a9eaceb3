package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// casesFolder are the review cases carried with the code; PRLOOP_CASES names a folder of more.
const casesFolder = "../testkit/forge/testdata/cases"

// TestCases runs prloop on real pull requests, with one reviewer of every kind and one that hangs: the report is posted
// once, its receipt names all five and why one did not answer, and the exit status is what the findings say.
func TestCases(t *testing.T) {
	t.Parallel()
	folders := []string{casesFolder}
	if more := os.Getenv("PRLOOP_CASES"); more != "" {
		folders = append(folders, more)
	}
	seen := 0
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*", "case.json"))
		if err != nil {
			t.Fatal(err)
		}
		seen += len(files)
		for _, file := range files {
			dir := filepath.Dir(file)
			t.Run(filepath.Base(folder)+"/"+filepath.Base(dir), func(t *testing.T) {
				t.Parallel()
				runCase(t, dir)
			})
		}
	}
	if seen == 0 {
		t.Fatal("there is no case to run")
	}
}

func runCase(t *testing.T, dir string) {
	f := forgetest.Start(t)
	p, err := f.OpenCase(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := forge.ReadCase(dir)
	if err != nil {
		t.Fatal(err)
	}
	owner, name, _ := strings.Cut(c.Repo, "/")
	repo, err := f.AddRepo(owner, name)
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	diff, err := os.ReadFile(filepath.Join(dir, "pr.diff"))
	if err != nil {
		t.Fatal(err)
	}
	file, line, text := firstAdded(t, string(diff))
	found := finding(file, line, text)
	for _, row := range []struct {
		what          string
		model, script []map[string]any
		least, posted int
	}{
		{"nobody finds anything", nil, nil, 0, 1},
		{"the model and a script find the same thing", found, found, 2, 2},
	} {
		m, err := fakemodel.Start(fakemodel.Script{Default: &fakemodel.Answer{JSON: envelope(row.model)},
			Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
				return assessed(q, "plausible", "It may be so.", text), strings.Contains(string(q.Body), verifierAsked)
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		env, home := caseEnv(t, f, m, row.script)
		started := time.Now()
		got := start(t, env, home, "prloop", "run", fmt.Sprint(c.PRNumber), "-R", c.Repo, "--json")
		var r review.RunResult
		if err := json.Unmarshal(got.stdout, &r); err != nil {
			t.Fatalf("%s: exit %d, standard output is not a result: %v\n%s", row.what, got.status, err, got.stderr)
		}
		t.Logf("%-22s %-17s exit %d %5.1f s  P0 %d P1 %d P2 %d P3 %d, %d unverified; %s", c.ID, r.Outcome, got.status,
			time.Since(started).Seconds(), r.Issues.P0, r.Issues.P1, r.Issues.P2, r.Issues.P3, len(r.Unverified), row.what)
		want := 0
		if r.Issues.P0+r.Issues.P1+r.Issues.P2 > 0 {
			want = 3
		}
		if got.status != want || r.Issues.P1 < row.least {
			t.Errorf("%s: exit %d (%s: %s) with %+v, want %d\n%s", row.what, got.status, r.Outcome, r.Reason, r.Issues, want, got.stderr)
		}
		checkReport(t, p.Comments(), row.posted, r)
		if len(m.Faults()) > 0 || len(m.Requests()) == 0 {
			t.Errorf("%d requests to the model, which finds fault with %q", len(m.Requests()), m.Faults())
		}
	}
}

// checkReport holds the newest comment and the result's receipt against what took part.
func checkReport(t *testing.T, comments []forge.Comment, posted int, r review.RunResult) {
	t.Helper()
	if len(comments) != posted || len(r.Comments) != 1 {
		t.Fatalf("%d comments are posted, the result names %q; want %d and one", len(comments), r.Comments, posted)
	}
	body := comments[posted-1].Body
	if !strings.HasPrefix(body, markerLine+"\n") || !strings.HasSuffix(r.Comments[0], fmt.Sprint(comments[posted-1].ID)) {
		t.Errorf("the comment %s does not start with the marker:\n%s", r.Comments[0], body)
	}
	_, receipt, _ := strings.Cut(body, "<summary>Receipt: ")
	states := map[string]review.AgentState{}
	for _, a := range r.Receipt.Agents {
		states[a.Name] = a.State
		if !strings.Contains(receipt, a.Name) || a.State != review.AgentComplete && (a.Reason == "" || !strings.Contains(receipt, "time")) {
			t.Errorf("the posted receipt does not say how %s fared (%s: %s):\n%s", a.Name, a.State, a.Reason, receipt)
		}
		if a.Role == review.RoleReviewer && (a.FilesGiven == 0 || a.HunksGiven == 0) {
			t.Errorf("%s was handed %d files and %d hunks", a.Name, a.FilesGiven, a.HunksGiven)
		}
	}
	if _, asked := states["verifier"]; asked != (len(r.Findings) > 0) {
		t.Errorf("with %d findings the verifier was asked: %v", len(r.Findings), asked)
	} else if !asked {
		states["verifier"] = review.AgentComplete
	}
	for _, name := range []string{"model", "static", "clean", "second", "verifier"} {
		if states[name] != review.AgentComplete {
			t.Errorf("%s is %q, want complete", name, states[name])
		}
	}
	if states["hang"] != review.AgentFailed || len(states) != 7 {
		t.Errorf("agents are %v, want hang to have failed, and the comments analyzer", states)
	}
	if r.Receipt.Complete != 3 || r.Receipt.Files == 0 || r.Receipt.Hunks == 0 || r.Receipt.HeadSHA == "" {
		t.Errorf("the receipt counts %d answers, %d files and %d hunks at %q", r.Receipt.Complete, r.Receipt.Files, r.Receipt.Hunks, r.Receipt.HeadSHA)
	}
}

// caseEnv is a fresh home with five reviewers, whose second script answers with the findings given.
func caseEnv(t *testing.T, f *forge.Forge, m *fakemodel.Server, found []map[string]any) (env []string, home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.CopyFS(home, os.DirFS(filepath.Join("testdata", "share"))); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, "config.yml")
	write(t, filepath.Join(home, "picky.json"), envelope(found))
	write(t, config, []byte(`reviewers:
  - {name: model, use: builtin}
  - {name: static, use: static}
  - {name: clean, use: command, path: ./clean.sh}
  - {name: second, use: command, path: ./picky.sh}
  - {name: hang, use: command, path: ./hang.sh, timeout: 1s}
`))
	gh := filepath.Dir(forgetest.GH(t))
	return append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+home, "PRLOOP_STATE="+filepath.Join(home, "state"), "PRLOOP_CONFIG="+config,
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+gh, "OPENAI_API_KEY=sk-test-0123456789abcdef0123", "OPENAI_BASE_URL="+m.URL()), home
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

type ended struct {
	stdout, stderr []byte
	status         int
}

// start runs a program to its end.
func start(t testing.TB, env []string, dir, name string, args ...string) ended {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ended{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
}

// envelope is a reviewer's result (spec.md A2).
func envelope(found []map[string]any) json.RawMessage {
	conclusion := "approve"
	if len(found) > 0 {
		conclusion = "request_changes"
	}
	data, err := json.Marshal(map[string]any{
		"agent": "x", "prNumber": 0, "conclusion": conclusion, "findings": append([]map[string]any{}, found...), "fullReport": "Read it.",
		"issues": map[string]any{"p0_blocking": 0, "p1_critical": len(found), "p2_important": 0, "p3_suggestion": 0},
	})
	if err != nil {
		panic(err)
	}
	return data
}

func finding(file string, line int, evidence string) []map[string]any {
	return []map[string]any{{
		"id": "BUG-001", "priority": "P1", "category": "bug", "file": file, "line": line, "lineEnd": nil, "title": "This line is wrong",
		"description": "It fails for an empty input.", "suggestion": "Check the input.", "score": 8, "confidence": 0.9, "evidence": evidence, "language": nil,
		"source": map[string]any{"type": "agent", "name": "x", "reviewId": nil, "timestamp": "2026-01-02T03:04:05Z"},
	}}
}

// firstAdded finds the first added line with words in it.
func firstAdded(t *testing.T, diff string) (file string, line int, text string) {
	t.Helper()
	for l := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(l, "+++ b/"):
			file = l[len("+++ b/"):]
		case strings.HasPrefix(l, "@@ "):
			_, rest, _ := strings.Cut(l, "+")
			if _, err := fmt.Sscanf(rest, "%d", &line); err != nil {
				t.Fatal(err)
			}
			continue
		case strings.HasPrefix(l, "+") && len(strings.TrimSpace(l)) > 12:
			return file, line, l[1:]
		}
		if !strings.HasPrefix(l, "-") {
			line++
		}
	}
	t.Fatal("the diff adds nothing")
	return "", 0, ""
}
