package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// evaluation is a home with agents that review the carried cases with a scripted model.
type evaluation struct {
	t     *testing.T
	model *fakemodel.Server
	home  string
	env   []string
	cases string
	// answer is the model's.
	answer func(fakemodel.Request) (fakemodel.Answer, bool)
	// answered counts answers; while slow is set the model of that name is silent.
	answered atomic.Int32
	slow     atomic.Bool
}

// reads is a model that finds a line of a changed file wrong, and another thing whose quoted code stands nowhere.
func reads(t *testing.T, folder string) func(fakemodel.Request) (fakemodel.Answer, bool) {
	t.Helper()
	known, err := cases.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return func(q fakemodel.Request) (fakemodel.Answer, bool) {
		for _, c := range known.Cases {
			for _, file := range slices.Sorted(maps.Keys(c.Code.Head)) {
				if !strings.Contains(string(q.Body), file) {
					continue
				}
				at, quote := 0, ""
				for i, line := range strings.Split(c.Code.Head[file], "\n") {
					if len(line) > len(quote) && !strings.Contains(line, "secret") {
						at, quote = i+1, line
					}
				}
				list := append(finding(file, at, quote), finding(file, at, "this code is nowhere")...)
				list[0]["title"], list[0]["priority"], list[0]["score"] = "This line fails for an empty input", "P2", 7
				list[1]["id"] = "BUG-002"
				return fakemodel.Answer{JSON: envelope(list)}, true
			}
		}
		return fakemodel.Answer{}, false
	}
}

func newEvaluation(t *testing.T) *evaluation {
	t.Helper()
	folder, err := filepath.Abs("../testkit/forge/testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluation{t: t, home: t.TempDir(), cases: folder, answer: reads(t, folder)}
	e.model = endpoint(t, fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
		if q.Model == "slow" && e.slow.Load() {
			return fakemodel.Answer{Hang: true}, true
		}
		e.answered.Add(1)
		return e.answer(q)
	}})
	write(t, filepath.Join(e.home, "config.yml"), []byte("verifier: off\nmodels:\n  - {name: scripted, input_usd: 2, output_usd: 8}\n"))
	if err := os.Mkdir(filepath.Join(e.home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]string{"one": "}]", "two": ", lens: security}]\ncontext: {related_code: false}"} {
		write(t, filepath.Join(e.home, "agents", name+".yml"), []byte("reviewers: [{name: reader, use: builtin, model: scripted"+more+"\n"))
	}
	e.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + e.home, "PRLOOP_STATE=" + filepath.Join(e.home, "state"), "PRLOOP_CONFIG=" + filepath.Join(e.home, "config.yml"),
		"PRLOOP_SANDBOX=best", "OPENAI_BASE_URL=" + e.model.URL(), "OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwxyz",
	}
	return e
}

// run runs `prloop eval` with the cases and the agents of the home.
func (e *evaluation) run(status int, says string, args ...string) string {
	e.t.Helper()
	got := start(e.t, e.env, e.home, "prloop", append([]string{"eval"}, args...)...)
	if out := string(got.stdout) + string(got.stderr); got.status != status || !strings.Contains(out, says) {
		e.t.Fatalf("eval %v: status %d, want %d and %q:\n%s", args, got.status, status, says, out)
	}
	return string(got.stdout)
}

func (e *evaluation) review(status int, says, out string, args ...string) {
	e.t.Helper()
	e.run(status, says, append([]string{"run", e.cases, "--config", "agents", "--out", out}, args...)...)
}

func (e *evaluation) open(set string) results.Set {
	e.t.Helper()
	s, err := results.Open(filepath.Join(e.home, set))
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

// TestEvalBase has a confined reviewer read a file of the base and the history: the repository that prloop lends it borrows the objects of the case's.
func TestEvalBase(t *testing.T) {
	t.Parallel()
	e := newEvaluation(t)
	finds := e.answer
	var told atomic.Pointer[string]
	e.answer = func(q fakemodel.Request) (fakemodel.Answer, bool) {
		if q.Schema != nil {
			return finds(q)
		}
		pass := submit(q)
		if base := "base-" + pass.ID; !strings.Contains(string(q.Body), base) {
			return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{
				{ID: base, Name: "read_file", Arguments: `{"path":"go.mod","version":"base"}`}, {ID: "log-" + pass.ID, Name: "git_log", Arguments: `{}`},
			}}, true
		}
		body := string(q.Body)
		told.Store(&body)
		return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{pass}}, true
	}
	write(t, filepath.Join(e.home, "agents", "passes.yml"), []byte("reviewers: [{name: reader, use: builtin, model: scripted}]\nlimits: {max_llm_calls: 12, max_tool_calls: 20}\n"))
	e.review(0, "[1/1]", "passes", "--agents", "passes", "--only", "go-gofr-1355")
	for _, want := range []string{"module gofr.dev", "Base of go-gofr-1355", "Head of go-gofr-1355"} {
		if told.Load() == nil || !strings.Contains(*told.Load(), want) {
			t.Errorf("nobody read %q", want)
		}
	}
}

// TestEvalRun reviews cases with agents, goes on with what is missing, and has it all again from the recordings without any model.
func TestEvalRun(t *testing.T) {
	t.Parallel()
	e := newEvaluation(t)
	e.review(0, "[6/6]", "first", "--agents", "one,two", "--parallel", "3")
	asked := len(e.model.Requests())
	first := e.open("first/one")
	if asked < 6 || first.Interrupted() || len(first.Reviews) != 3 {
		t.Fatalf("%d calls, %+v", asked, first)
	}
	for _, r := range first.Reviews {
		s := r.Stages
		if len(s.Answered) != 2 || len(s.SetAside) != 1 || len(s.Counted) != 1 || len(s.Prominent) != 1 || r.Outcome != review.ChangesRequested || r.Cassette == "" ||
			r.Result.Stats.Tokens == 0 || r.Result.Stats.CostUSD == 0 || len(r.Result.Issues) != 1 || r.Result.Issues[0].Title != "This line fails for an empty input" {
			data, _ := json.MarshalIndent(r, "", " ")
			t.Errorf("%s", data)
		}
	}
	for _, q := range e.model.Requests() {
		if !strings.Contains(string(q.Body), "Incorrect MongoDB Connection Logs") && strings.Contains(string(q.Body), "datasource/mongo") {
			t.Error("the title of the pull request is not told")
		}
	}

	with, without := 0, 0
	for _, q := range e.model.Requests() {
		if strings.Contains(string(q.Body), "# Code outside the changes") {
			with++
		} else {
			without++
		}
	}
	if with == 0 || with != without {
		t.Errorf("%d requests with code outside the changes, %d without", with, without)
	}

	e.review(0, "COUNTED", "first", "--agents", "one,two")
	if n := len(e.model.Requests()); n != asked {
		t.Errorf("what was complete is done again: %d calls after %d", n, asked)
	}
	half := filepath.Join(e.home, "first/one/reviews", first.Reviews[0].Case+".1.json")
	write(t, half, []byte(`{"case": "`))
	e.review(0, first.Reviews[0].Case+"/1: unexpected EOF: dropped, and done again", "first", "--agents", "one")
	if again := e.open("first/one"); again.Interrupted() || len(e.model.Requests()) == asked {
		t.Error("a half review is not done again")
	}
	write(t, filepath.Join(e.home, "agents/one.yml"), []byte("reviewers: [{name: reader, use: builtin, model: scripted}]\nreasoning_effort: high\n"))
	e.review(2, "its settings was", "first", "--agents", "one")
	e.review(2, "there is no recording of it", "changed", "--agents", "one", "--replay", "first")

	// Without a model.
	_ = e.model.Close()
	e.env = slices.DeleteFunc(e.env, func(v string) bool { return strings.HasPrefix(v, "OPENAI_") })
	e.review(0, "[3/3]", "again", "--agents", "two", "--replay", "first")
	once, twice := e.open("first/two"), e.open("again/two")
	for i, r := range twice.Reviews {
		if d := cmp.Diff(once.Reviews[i].Stages, r.Stages); d != "" {
			t.Errorf("%s: replayed it is another review\n%s", r.Case, d)
		}
	}
	e.run(0, "same", "compare", "first/two", "again/two", "--cases", e.cases, "--gate")
	e.run(0, "two (prominent)", "compare", "first/two", "first/two", "--cases", e.cases, "--stage", "answered,prominent")
	e.run(2, `there is no stage "last"`, "score", "first/two", "--cases", e.cases, "--stage", "last")
	write(t, filepath.Join(e.home, "first/two", filepath.FromSlash(results.CassetteName(first.Reviews[1].Case, 1))), []byte("{}"))
	e.review(2, first.Reviews[1].Case+"/1", "third", "--agents", "two", "--replay", "first")
}

// TestEvalRunInterrupted: Ctrl-C ends with 130 and says how to go on; the answers that were given are not asked for again.
func TestEvalRunInterrupted(t *testing.T) {
	t.Parallel()
	e := newEvaluation(t)
	write(t, filepath.Join(e.home, "agents/two.yml"), []byte("reviewers:\n  - {name: reader, use: builtin, model: scripted}\n  - {name: slow, use: builtin, model: slow}\n"+
		"wall_time: 10m\nlimits: {max_wall_time_seconds: 300}\n"))
	e.slow.Store(true)
	args := []string{"eval", "run", e.cases, "--config", "agents", "--out", "out", "--agents", "two", "--only", "go-gofr-1355"}
	path, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var said bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr = e.env, e.home, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// asked counts the questions to a model: the first ones of a conversation, and those about false evidence.
	asked := func(model string, first bool) (n int) {
		for _, q := range e.model.Requests() {
			if q.Model == model && first == !strings.Contains(string(q.Body), "this code is nowhere") {
				n++
			}
		}
		return n
	}
	// Who asks about an answer has it: it is recorded.
	eventually.True(t, "one reviewer has answered and the other is asked", func() bool { return asked("scripted", false) == 1 && asked("slow", true) == 1 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, words := range []string{"two: 0 of 1 reviews are done and kept in " + filepath.Join(e.home, "out", "two"), "go on with the same command", "interrupted"} {
		if status := cmd.ProcessState.ExitCode(); status != 130 || !strings.Contains(said.String(), words) {
			t.Fatalf("status %d, no %q:\n%s", status, words, said.String())
		}
	}
	if left, err := filepath.Glob(filepath.Join(e.home, "state/eval/*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %q, %v", left, err)
	}
	e.slow.Store(false)
	e.run(0, "[1/1]", args[1:]...)
	if asked("scripted", true) != 1 || asked("slow", true) != 2 || len(e.open("out/two").Reviews[0].Stages.Answered) != 4 {
		t.Errorf("the first is asked %d times, the second %d", asked("scripted", true), asked("slow", true))
	}
}

// TestEvalRunRefuses: what is wrong with an order is said before anybody is asked.
func TestEvalRunRefuses(t *testing.T) {
	t.Parallel()
	e := newEvaluation(t)
	damaged := filepath.Join(e.home, "cases")
	if err := os.CopyFS(damaged, os.DirFS(e.cases)); err != nil {
		t.Fatal(err)
	}
	e.run(0, "", "import", "cases", e.cases, "pinned")
	tree := filepath.Join(e.home, "pinned/cases/go-gofr-1355/base.tar.gz")
	data, err := os.ReadFile(tree)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tree, append(data, 0))
	write(t, filepath.Join(damaged, "rust-linera-4639/golden.json"), []byte("[]"))
	write(t, filepath.Join(e.home, "agents/wrong.yml"), []byte("reviewers: [{name: reader, use: crystal_ball}]\n"))
	for _, row := range []struct {
		says string
		args []string
	}{
		{"not said where the results go", []string{e.cases, "--agents", "one"}},
		{"--repeat is 1 to 1000", []string{e.cases, "--out", "o", "--repeat", "0"}},
		{"--parallel is 1 to 64", []string{e.cases, "--out", "o", "--parallel", "0"}},
		{"two agents one", []string{e.cases, "--out", "o", "--agents", "one,one"}},
		{"is no name of an agent", []string{e.cases, "--out", "o", "--agents", "../one"}},
		{"agent three:", []string{e.cases, "--out", "o", "--agents", "three"}},
		{"crystal_ball", []string{e.cases, "--out", "o", "--agents", "wrong"}},
		{"there is no such case: nowhere", []string{e.cases, "--out", "o", "--agents", "one", "--only", "nowhere"}},
		{"cannot be replayed into themselves", []string{e.cases, "--out", "o", "--agents", "one", "--replay", "o"}},
		{"--replay asks no model", []string{e.cases, "--out", "o", "--agents", "one", "--replay", "p", "--reuse", "q"}},
		{"go-gofr-1355: base.tar.gz is not the one case.json names", []string{"pinned/cases", "--out", "o", "--agents", "one"}},
		{"rust-linera-4639: it expects no finding", []string{damaged, "--out", "o", "--agents", "one"}},
	} {
		e.run(2, row.says, append(append([]string{"run"}, row.args...), "--config", "agents")...)
	}
	e.run(5, "the budget is used up", "run", e.cases, "--config", "agents", "--out", "o", "--agents", "one", "--max-cost", "0.01")
	if n := len(e.model.Requests()); n > 0 {
		t.Errorf("a model was asked %d times", n)
	}
}
