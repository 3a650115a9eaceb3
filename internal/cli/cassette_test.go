package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// passing is a model that reads a file in each pass of a review and finds something; it repeats what it was shown.
func passing(q fakemodel.Request) (fakemodel.Answer, bool) {
	if q.Schema != nil {
		f := finding("stock.go", 15, "return Count(shelves) / len(shelves)")
		first := q.Messages[1].Text
		f[0]["description"] = "You said: " + first[:strings.Index(first, "\n")]
		return fakemodel.Answer{JSON: envelope(f)}, true
	}
	pass := submit(q)
	if read := "read-" + pass.ID; !strings.Contains(string(q.Body), read) {
		return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{{ID: read, Name: "read_file", Arguments: `{"path":"stock.go"}`}, {ID: "log-" + pass.ID, Name: "git_log", Arguments: `{}`}}}, true
	}
	return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{pass}}, true
}

// What differs between two runs of the same review: ids, times, and the word around untrusted text.
var perRun = []*regexp.Regexp{
	regexp.MustCompile(`<!-- prloop v1 [^>]*-->`), regexp.MustCompile(`\b\d+\.\d s\b`), regexp.MustCompile(`\b[0-9a-f]{24}\b`),
}

func timeless(body string) string {
	for _, p := range perRun {
		body = p.ReplaceAllString(body, "…")
	}
	return body
}

// TestReplayedModels records the conversations of a run and has it again without any model: another run id, another word
// around untrusted text, no key, nobody listening; the same verdict and the same report (decision 20).
func TestReplayedModels(t *testing.T) {
	t.Parallel()
	m := endpoint(t, fakemodel.Script{Respond: passing})
	p, env, home := budgetWorld(t, m, "limits: {max_llm_calls: 12, max_tool_calls: 50}\npublish: {inline: off}", []string{"one", "two"})
	tape := filepath.Join(home, "talk.jsonl.gz")
	once := func(status int, env []string, args ...string) (review.RunResult, string) {
		got := start(t, env, home, "prloop", append([]string{"run", "7", "-R", "acme/widgets", "--json"}, args...)...)
		var r review.RunResult
		if err := json.Unmarshal(got.stdout, &r); err != nil || got.status != status {
			t.Fatalf("exit %d, want %d: %v\n%s", got.status, status, err, got.stderr)
		}
		c := p.Comments()
		return r, c[len(c)-1].Body
	}
	first, posted := once(3, env, "--record-models", "talk.jsonl.gz")
	asked := len(m.Requests())
	if asked < 10 || first.Receipt.Complete != 3 {
		t.Fatalf("%d calls, %d complete answers: nothing worth recording", asked, first.Receipt.Complete)
	}
	if info, err := os.Stat(tape); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the cassette: %v %v", info, err)
	}
	if !p.DeleteComment(p.Comments()[0].ID) { // to another store it would be somebody else's
		t.Fatal("the first report is not there")
	}
	_ = m.Close()
	offline := append(slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, "OPENAI_API_KEY=") }),
		"PRLOOP_STATE="+filepath.Join(home, "other"), "PRLOOP_REPLAY_MODELS="+tape)
	second, again := once(3, offline)
	if len(m.Requests()) != asked || second.Run == first.Run {
		t.Errorf("%d calls after %d, runs %s and %s", len(m.Requests()), asked, first.Run, second.Run)
	}
	if d := cmp.Diff(timeless(posted), timeless(again)); d != "" {
		t.Errorf("the replayed report differs:\n%s", d)
	}
	if first.Outcome != second.Outcome || first.Issues != second.Issues || *first.Consensus != *second.Consensus {
		t.Errorf("%s %+v, then %s %+v", first.Outcome, first.Issues, second.Outcome, second.Issues)
	}
	quoted := func(r review.RunResult) string {
		i := slices.IndexFunc(r.Findings, func(f review.Finding) bool { return strings.HasPrefix(f.Description, "You said") })
		return r.Findings[i].Description
	}
	if quoted(first) == quoted(second) {
		t.Error("both runs had the same word around untrusted text: the test proves nothing")
	}

	// Another question is not answered by guessing.
	write(t, filepath.Join(home, "config.yml"), []byte("model: another\nreviewers: [{name: one, use: builtin}]\nmodels: [{name: another, input_usd: 1, output_usd: 1}]\n"))
	if r, _ := once(6, offline); !strings.Contains(r.Receipt.Agents[0].Whole()+r.Receipt.Agents[1].Whole(), "record it again") {
		t.Errorf("the receipt does not say what is missing: %+v", r.Receipt.Agents)
	}
}

// Mistakes with cassettes are found before anything is asked or posted.
func TestCassetteMistakes(t *testing.T) {
	t.Parallel()
	m := endpoint(t, fakemodel.Script{Respond: passing})
	p, env, home := budgetWorld(t, m, "", nil)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--record-models", "a", "--replay-models", "b"}, 2, "cannot record conversations and replay them"},
		{[]string{"--record-models", "nowhere/a"}, 1, "write cassette"},
		{[]string{"--replay-models", "a"}, 1, "read cassette"},
	} {
		got := start(t, env, home, "prloop", append([]string{"run", "7", "-R", "acme/widgets"}, c.args...)...)
		if got.status != c.status || !strings.Contains(string(got.stderr), c.says) {
			t.Errorf("%q: exit %d, want %d and %q\n%s", c.args, got.status, c.status, c.says, got.stderr)
		}
	}
	if len(m.Requests()) != 0 || len(p.Comments()) != 0 {
		t.Errorf("%d calls and %d comments", len(m.Requests()), len(p.Comments()))
	}
}

// commitIDs are other ones in every run: a fix is committed when it is made.
var commitIDs = regexp.MustCompile(`\b([0-9a-f]{40}|[0-9a-f]{12})\b`)

// TestReplayedFix has a whole loop again without a model: review, a fix that does not verify, its second try, the push, and
// the round that finds it good.
func TestReplayedFix(t *testing.T) {
	t.Parallel()
	script, err := fakemodel.LoadScript("testdata/models/mend.json")
	if err != nil {
		t.Fatal(err)
	}
	m := endpoint(t, script)
	tape := filepath.Join(t.TempDir(), "talk.jsonl")
	var reports [2][]string
	for i, more := range [][]string{{"PRLOOP_RECORD_MODELS=" + tape}, {"PRLOOP_REPLAY_MODELS=" + tape, "OPENAI_API_KEY="}} {
		f := forgetest.Start(t)
		p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Author: "contributor",
			Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head")})
		repo, err := f.AddRepo("acme", "widgets")
		if err != nil {
			t.Fatal(err)
		}
		repo.SetPermission("octocat", forge.Write)
		repo.SetPermission("contributor", forge.Write)
		env, home := caseEnv(t, f, m, nil)
		write(t, filepath.Join(home, "config.yml"), []byte("reviewers: [{name: builtin, use: builtin}]\n"+
			"verify: [\"grep -q 'no shelves' stock.go || { printf 'the guard says %s of its reason' nothing; exit 1; }\"]\n"))
		asked := len(m.Requests())
		got := start(t, append(env, more...), home, "prloop", "run", "7", "-R", "acme/widgets", "--json")
		var r review.RunResult
		if err := json.Unmarshal(got.stdout, &r); err != nil || got.status != 0 || r.Outcome != review.Converged || r.Round != 2 {
			t.Fatalf("exit %d, %s in round %d (%s): %v\n%s", got.status, r.Outcome, r.Round, r.Reason, err, got.stderr)
		}
		if i == 1 && len(m.Requests()) != asked {
			t.Errorf("a model was asked %d times in the replay", len(m.Requests())-asked)
		}
		for _, c := range p.Comments() {
			reports[i] = append(reports[i], commitIDs.ReplaceAllString(timeless(c.Body), "…"))
		}
		if i == 0 {
			_ = m.Close()
		}
	}
	if d := cmp.Diff(reports[0], reports[1]); d != "" || len(reports[0]) < 3 {
		t.Errorf("%d reports; the replayed ones differ:\n%s", len(reports[0]), d)
	}
}
