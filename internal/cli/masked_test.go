package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// planted is what every planted value has in it.
const planted = "16C7e42F292c6912E7710c83"

// plant is a value that the secret rules find; place tells it from those planted elsewhere.
func plant(place string) string { return "ghp_" + planted + fmt.Sprintf("%012s", place) }

// mendMasked plays the fixer, who keeps a value it is not shown, then the others.
func mendMasked(q fakemodel.Request) (fakemodel.Answer, bool) {
	body := string(q.Body)
	switch {
	case strings.Contains(q.Messages[0].Text, "who fixes a pull request"):
		value := "[REDACTED]"
		if strings.Contains(body, plant("diff")) {
			value = plant("diff")
		}
		again := strings.Contains(body, "exit status 1") // the try before did not pass
		edit := map[string]string{"path": "stock.go", "old": "const token = \"" + value + "\"", "new": "const shopToken = \"" + value + "\""}
		if again {
			edit["old"], edit["new"] = "len(shelves)\n", "max(1, len(shelves))\n"
		}
		args, err := json.Marshal(edit)
		if err != nil {
			panic(err)
		}
		submit := fakemodel.ToolCall{ID: "submit", Name: "submit_fix_result",
			Arguments: `{"fixed":[{"findingId":"BUG-001","description":"Divides by one at least."}],"rejected":[` + rejections(body) + `]}`}
		if strings.Contains(body, `"tool_call_id"`) {
			return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{submit}}, true
		}
		return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{
			{ID: "read", Name: "read_file", Arguments: `{"path":"stock.go"}`}, {ID: "list", Name: "list", Arguments: `{"path":"conf"}`},
			{ID: "edit", Name: "edit_file", Arguments: string(args)}, {ID: "diff", Name: "diff", Arguments: `{}`},
		}}, true
	case strings.Contains(body, "claim about BUG-001"):
		return fakemodel.Answer{JSON: envelope(nil)}, true
	case strings.Contains(string(q.Schema), "pendingIssues"): // the conversations are worded well enough
		return fakemodel.Answer{JSON: json.RawMessage(`{"agent":"comments-analyzer","prNumber":7,"reviewState":{"hasChangesRequested":false,"changesRequestedBy":[]},` +
			`"stats":{"totalThreads":1,"resolvedThreads":0,"unresolvedThreads":1},"threadsTruncated":false,` +
			`"issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"pendingIssues":[],"fullReport":"One thread is open."}`)}, true
	case q.Schema != nil:
		return fakemodel.Answer{JSON: envelope(finding("stock.go", 17, "const token = \"[REDACTED]\" // of the shop"))}, true
	}
	return passing(q)
}

// rejections leave every finding of the static reviewer to a person.
func rejections(body string) string {
	var out []string
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(body, func(r rune) bool { return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789-", r) }) {
		if strings.HasPrefix(word, "STATIC-") && !seen[word] {
			seen[word] = true
			out = append(out, `{"findingId":"`+word+`","reason":"A person has to revoke it."}`)
		}
	}
	return strings.Join(out, ",")
}

// TestSecretsStayHome plants values in everything a pull request and its fix bring, and looks for them in everything prloop
// stores, sends, prints and posts.
func TestSecretsStayHome(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"mask", "show"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			secretsStayHome(t, word)
		})
	}
}

func secretsStayHome(t *testing.T, word string) {
	f := forgetest.Start(t)
	share := os.DirFS("testdata/share")
	stock, err := fs.ReadFile(share, "head/stock.go")
	if err != nil {
		t.Fatal(err)
	}
	base, err := fs.Sub(share, "base")
	if err != nil {
		t.Fatal(err)
	}
	name := "conf/" + plant("name") + ".txt"
	p := forgetest.Open(t, f, forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: 7, Title: "Use " + plant("title"), Body: "With " + plant("body"), Author: "contributor",
		HeadRef: "topic-" + plant("branch"), Labels: []string{plant("label")}, Base: base,
		Head: fstest.MapFS{
			"stock.go": {Data: append(stock, "\nconst token = \""+plant("diff")+"\" // of the shop\n"...)},
			name:       {Data: []byte("one " + plant("file") + "\nfdescribe(1)\n")},
			"a.js":     {Data: []byte("// " + plant("js") + "\ndescribe.only('x', f)\n")},
		},
	})
	repo, err := f.AddRepo("acme", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	repo.SetPermission("contributor", forge.Write)
	p.Comment("somebody", "I use "+plant("comment"))
	p.AddThread(forge.Thread{Path: name, Line: 1, Comments: []*forge.Comment{{Author: "somebody", Body: "Is " + plant("thread") + " right?"}}})

	var mu sync.Mutex
	var told bytes.Buffer
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&told, r.Body)
	}))
	t.Cleanup(c.Close)
	m := endpoint(t, fakemodel.Script{Respond: mendMasked})
	env, home := caseEnv(t, f, m, nil)
	write(t, filepath.Join(home, "config.yml"), []byte(`model: scripted
escalation_model: none
reviewers:
  - {name: model, use: builtin}
  - {name: static, use: static}
models:
  - {name: scripted, input_usd: 2, output_usd: 8}
limits: {max_llm_calls: 12, max_tool_calls: 50}
fixer: {use: builtin}
verify: ["cat conf/* stock.go >&2; grep -q max stock.go"]
`))
	tape := filepath.Join(home, "tape.jsonl")
	env = append(env, "PRLOOP_SECRETS="+word, "PRLOOP_LOG=debug", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	got := start(t, env, home, "prloop", "run", "7", "-R", "acme/widgets", "--json", "--record-models", tape)
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		t.Fatalf("exit %d, standard output is not a result: %v\n%s", got.status, err, got.stderr)
	}
	if len(r.Rounds) < 2 || r.Rounds[0].Fix == nil || r.Rounds[0].Fix.State != review.FixPushed || r.Rounds[0].Fix.Tries != 2 {
		t.Fatalf("%s: %s; want a second round, after a fix of two tries: %+v\n%s", r.Outcome, r.Reason, r.Rounds, got.stderr)
	}

	// Nothing of it leaves, unless the operator lets models see it.
	state := filepath.Join(home, "state")
	nowhereIn(t, state, planted)
	sent := 0
	for _, q := range m.Requests() {
		if strings.Contains(string(q.Body), planted) {
			sent++
		}
	}
	if word == "mask" && sent > 0 || word == "show" && sent == 0 {
		t.Errorf("%d requests to models hold a planted value", sent)
	}
	texts := map[string]string{"standard output": string(got.stdout), "standard error": string(got.stderr), "telemetry": told.String(), "recording": string(read(t, tape))}
	for i, c := range p.Comments()[1:] {
		texts[fmt.Sprintf("comment %d", i+1)] = c.Body
	}
	for _, args := range [][]string{{"show", r.Run}, {"runs"}} {
		out := start(t, env, home, "prloop", args...)
		texts["prloop "+args[0]] = string(out.stdout) + string(out.stderr)
	}
	for where, text := range texts {
		if i := strings.Index(text, planted); i >= 0 {
			t.Errorf("a planted value stands in the %s: …%s…", where, text[max(0, i-80):min(len(text), i+80)])
		}
	}

	// What was found of it is known all the same, and true.
	found := map[string]bool{}
	if len(r.Unverified) > 0 {
		t.Errorf("set aside is %+v", r.Unverified)
	}
	for _, g := range r.Findings {
		found[g.Title+" in "+g.File] = true
	}
	masked := ""
	for _, l := range []string{"Adds a GitHub token in stock.go", "Adds a GitHub token in conf/[REDACTED]~"} {
		for title := range found {
			if strings.HasPrefix(title, l) {
				masked += title + "\n"
			}
		}
	}
	if strings.Count(masked, "\n") != 2 {
		t.Errorf("static found %v", found)
	}
	if word == "mask" && r.Receipt.Masked < 5 {
		t.Errorf("%d values are counted as masked", r.Receipt.Masked)
	}
	if report := start(t, env, home, "prloop", "show", r.Run); (word == "mask") != strings.Contains(string(report.stdout), "- Masked: ") {
		t.Errorf("the report counts wrongly what was masked:\n%s", report.stdout)
	}
	if out := start(t, env, home, "prloop", "replay", r.Run); out.status != 0 {
		t.Errorf("replay ends with %d: %s%s", out.status, out.stdout, out.stderr)
	}

	// The fix has the true value, on the branch whose name was masked.
	cmd := exec.CommandContext(t.Context(), "git", "show", "refs/heads/topic-"+plant("branch")+":stock.go")
	cmd.Dir = repo.Bare
	pushed, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(pushed), "const shopToken = \""+plant("diff")+"\"") || !strings.Contains(string(pushed), "max(1, len(shelves))") {
		t.Errorf("pushed was %v\n%s", err, pushed)
	}
}

// nowhereIn looks for a text in the names and the bytes of all files of a folder.
func nowhereIn(t *testing.T, folder, text string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.Contains(d.Name(), text) {
			t.Errorf("a planted value stands in the name %s", path)
		}
		if d.Type().IsRegular() {
			if data := read(t, path); bytes.Contains(data, []byte(text)) {
				i := bytes.Index(data, []byte(text))
				t.Errorf("a planted value stands in %s: %q", path, data[max(0, i-80):min(len(data), i+80)])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKeysNearAChangeStayHome changes lines beside a private key and in it, and takes its header and footer away: no line of the key is
// in a request or in a file of the run.
func TestKeysNearAChangeStayHome(t *testing.T) {
	t.Parallel()
	const begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n"
	r := rand.New(rand.NewPCG(1, 2))
	body := func(n int) []string {
		lines := make([]string, n)
		for i := range lines {
			text := make([]byte, 48)
			for j := range text {
				text[j] = byte(r.Uint32())
			}
			lines[i] = base64.StdEncoding.EncodeToString(text)
		}
		return lines
	}
	for name, change := range map[string]func(key []string, whole string) (base, head string){
		"the line behind it":    func(_ []string, whole string) (string, string) { return whole + "x=1\n", whole + "x=2\n" },
		"three lines behind it": func(_ []string, whole string) (string, string) { return whole + "\n\n\nx=1\n", whole + "\n\n\nx=2\n" },
		"the line before it":    func(_ []string, whole string) (string, string) { return "x=1\n" + whole, "x=2\n" + whole },
		"its header and footer": func(key []string, whole string) (string, string) { return whole, strings.Join(key, "\n") + "\n" },
		"a block of YAML": func(_ []string, whole string) (string, string) {
			in := "k: |\n  " + strings.ReplaceAll(whole, "\n", "\n  ")
			return in + "p: 1\n", in + "p: 2\n"
		},
		"a line in the middle": func(key []string, whole string) (string, string) {
			return whole, strings.Replace(whole, key[13], strings.Repeat("A", 63)+"b", 1)
		},
		"the commands of a script, in narrow lines": func(key []string, whole string) (string, string) {
			for i := range key {
				key[i] = key[i][:32]
			}
			in := "echo " + strings.ReplaceAll(strings.TrimSpace(begin+strings.Join(key, "\n")+"\n"+end), "\n", " >> k\necho ") + " >> k\n"
			return in + "x=1\n", in + "x=2\n"
		},
		"the lines of a constant": func(_ []string, whole string) (string, string) {
			return "package a\n\nconst Key = `" + whole + "`\n\nconst Debug = false\n", "package a\n\nconst Key = `" + whole + "`\n\nconst Debug = true\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			key := body(26)
			base, head := change(key, begin+strings.Join(key, "\n")+"\n"+end)
			tape := filepath.Join(t.TempDir(), "tape")
			o := newOddity(t, playbook{Tape: tape}, oneObserver)
			o.commit("main", map[string]string{"README.md": "# Odd\n", "k.go": base})
			o.commit("topic", map[string]string{"k.go": head})
			o.open(7, "main", "topic")
			res, got := o.run("7", "-R", "acme/odd")
			if len(res.Receipt.Agents) == 0 {
				t.Fatalf("exit %d: %s", got.status, got.stderr)
			}
			files := map[string][]byte{"what is printed": append(got.stdout, got.stderr...)}
			asked, err := os.ReadFile(tape)
			if err != nil || !bytes.Contains(asked, []byte("k.go")) {
				t.Fatalf("nobody was asked: %v", err)
			}
			files["the requests"] = asked
			err = filepath.WalkDir(filepath.Join(o.home, "state", "runs"), func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					files[filepath.Base(path)], err = os.ReadFile(path)
				}
				return err
			})
			if err != nil || len(files) < 4 {
				t.Fatalf("%d files: %v", len(files), err)
			}
			for file, data := range files {
				if n := len(slices.DeleteFunc(slices.Clone(key), func(l string) bool { return !bytes.Contains(data, []byte(l)) })); n > 0 {
					t.Errorf("%d of %d lines of the key are in %s", n, len(key), file)
				}
			}
		})
	}
}
