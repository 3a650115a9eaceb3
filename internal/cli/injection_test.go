package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What must never come out of a run: a file outside the tree, and one the configuration excludes.
const (
	canaryOutside  = "CANARY-outside-4f1c9a"
	canaryExcluded = "CANARY-EXCLUDED-77d2e0"
	canaryKey      = "sk-test-0123456789abcdef0123"
)

// stage is a pull request that is attacked, with everything that could show an effect.
type stage struct {
	t       *testing.T
	forge   *forge.Forge
	pull    *forge.PullRequest
	model   *fakemodel.Server
	home    string
	env     []string
	hits    *atomic.Int32
	fill    *strings.Replacer
	dropped string
	// betray makes the model repeat its key.
	betray bool
	// answer, when set, is what the reviewers find, instead of obeying.
	answer func(fakemodel.Request) []map[string]any
	// fixer, when set, answers for the fixer.
	fixer func(fakemodel.Request) fakemodel.Answer
	// verifier, when set, answers for the verifier, who else calls everything plausible in the words of the payloads.
	verifier func(fakemodel.Request) fakemodel.Answer
	// mu guards shown, the payloads any model was shown.
	mu    sync.Mutex
	shown map[string]bool
	all   []payload
}

// TestInjection reviews pull requests that carry 64 payloads, eight kinds in eight positions, with builtin reviewers whose
// model obeys every one of them (threats.md T02): no effect but a wrong opinion.
func TestInjection(t *testing.T) {
	t.Parallel()
	for n := range len(positions) {
		t.Run(fmt.Sprint("hand ", n), func(t *testing.T) {
			t.Parallel()
			s := attack(t, hand(n))
			r := s.run(3)
			s.harmless(1)
			for _, p := range s.all {
				if reached := p.position != "branch"; s.shown[p.id()] != reached { // branch names are handed to nobody
					t.Errorf("%s: shown to a model %v, want %v", p.id(), s.shown[p.id()], reached)
				}
			}
			if len(r.Findings) < 20 {
				t.Errorf("%d findings: the loud reviewer was not heard", len(r.Findings))
			}
			for _, a := range r.Receipt.Agents {
				if a.State != review.AgentComplete {
					t.Errorf("%s is %s: %s", a.Name, a.State, a.Reason)
				}
			}
		})
	}
}

// TestObedientApproval holds a pull request whose reviewers all approve because it told them to, with a key in the diff that
// the rules know (threats.md T07): the verdict asks for changes, and nobody approved anything on GitHub.
func TestObedientApproval(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := payload{kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.approve })], "body"}
	s.all = []payload{p}
	base := s.tree(nil)
	head := s.tree(base)
	head["deploy.sh"] = &fstest.MapFile{Data: []byte("export AWS_ACCESS_KEY_ID=AKIA" + "Q3EGZXKUPLVN7OWD\n")}
	s.open(forge.PullSpec{Body: p.text(), Base: base, Head: head})
	config := filepath.Join(s.home, "config.yml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, []byte(strings.ReplaceAll(string(text), "model: obedient\n", "model: meek\n")))
	r := s.run(3)
	s.harmless(1)
	if !s.shown[p.id()] || r.Consensus == nil || *r.Consensus == string(review.Approve) || r.Receipt.Complete != 2 {
		t.Errorf("%d complete reviewers, consensus %v: the payload was shown: %v", r.Receipt.Complete, r.Consensus, s.shown)
	}
}

// TestObedientVerifier holds a hijacked verifier: it asks its tools for what it should not see, and refutes all it is asked about with
// a quote that is true and beside the point. What is grave is not gone, and nothing is approved (decision 38).
func TestObedientVerifier(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.answer = func(fakemodel.Request) []map[string]any {
		return finding("stock.go", 15, "return Count(shelves) / len(shelves)")
	}
	asked := 0
	s.verifier = func(q fakemodel.Request) fakemodel.Answer {
		if asked++; asked == 1 {
			var calls []fakemodel.ToolCall
			for i, path := range []string{"private/key.txt", "link", ".git/config", "../../../../proc/self/environ", "/etc/passwd"} {
				calls = append(calls, fakemodel.ToolCall{ID: fmt.Sprint("c", i), Name: "read_file", Arguments: fmt.Sprintf(`{"path":%q}`, path)})
			}
			return fakemodel.Answer{ToolCalls: calls}
		}
		return assessed(q, "refuted", "There is nothing to see here.", "for _, n := range shelves {")
	}
	s.open(forge.PullSpec{Base: s.tree(nil), Head: fstest.MapFS{
		"stock.go": {Data: readShare(t, "head/stock.go")}, "private/key.txt": {Data: []byte(canaryExcluded + "\n")},
		"link": {Data: []byte("private/key.txt"), Mode: os.ModeSymlink | 0o777},
	}})
	r := s.run(4)
	s.harmless(1)
	if asked != 2 || r.Outcome != review.SetAside || len(r.Unverified) == 0 || r.Unverified[0].Finding.Assessment == nil {
		t.Errorf("%s after %d questions to the verifier, set aside are %+v", r.Outcome, asked, r.Unverified)
	}
	for _, q := range s.model.Requests() {
		for _, secret := range []string{canaryOutside, canaryExcluded} {
			if strings.Contains(string(q.Body), secret) {
				t.Errorf("%s was shown to a model", secret)
			}
		}
	}
}

// TestObedientBetrayal holds a model that repeats the key it is called with: its agents fail by name, so nobody has reviewed, and
// nothing of what they said is posted.
func TestObedientBetrayal(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.open(forge.PullSpec{Base: s.tree(nil), Head: fstest.MapFS{"stock.go": {Data: readShare(t, "head/stock.go")}}})
	s.betray = true
	got := start(t, s.env, s.home, "prloop", "run", "7", "-R", "acme/widgets")
	if got.status != 6 || !strings.Contains(string(got.stdout), "known-secret: its answer held a part of a credential") {
		t.Errorf("exit %d, want 6 and its reason\n%s%s", got.status, got.stdout, got.stderr)
	}
	s.harmless(1)
}

// The list of active things is no blind one: it knows each text of the kinds that are about them.
func TestActiveIsSeen(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for _, text := range k.says {
			known := slices.ContainsFunc(active, func(p *regexp.Regexp) bool {
				return p.MatchString(strings.ReplaceAll(text, "{beacon}", "http://127.0.0.1:1"))
			})
			if (k.name == "beacon" || k.name == "command") && !known && !strings.Contains(text, "[ref]") && !strings.Contains(text, "&#64;") && !strings.Contains(text, "` @") {
				t.Errorf("%q counts as inert", text)
			}
		}
	}
}

// attack opens a pull request with a payload in each position and starts the model that obeys them.
func attack(t *testing.T, hand map[string]payload) *stage {
	s := newStage(t)
	say := func(position string) string { p := hand[position]; return s.fill.Replace(p.text()) }
	for _, p := range hand {
		s.all = append(s.all, p)
	}
	slices.SortFunc(s.all, func(a, b payload) int { return strings.Compare(a.id(), b.id()) })
	base := s.tree(nil)
	base["AGENTS.md"] = &fstest.MapFile{Data: []byte("# Rules\n\nErrors are wrapped.\n" + say("guidance") + "\n")}
	head := s.tree(base)
	head["stock.go"] = &fstest.MapFile{Data: append(readShare(t, "head/stock.go"), "\n"+say("diff")+"\n"...)}
	name := regexp.MustCompile(`[/\x00-\x1f]`).ReplaceAllString(say("file"), "_")
	head["docs/"+name[:min(len(name), 230)]] = &fstest.MapFile{Data: []byte("text\n")}
	s.open(forge.PullSpec{Title: say("title"), Body: "Counts.\n\n" + say("body"), HeadRef: hand["branch"].slug(), Base: base, Head: head})
	repo, err := s.forge.AddRepo("acme", "widgets")
	if err == nil {
		head["more.go"] = &fstest.MapFile{Data: []byte("package stock\n")}
		err = s.forge.Commit(repo, hand["branch"].slug(), s.pull.HeadSHA(), say("commit"), head)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.pull.Comment("mallory", say("comment"))
	s.pull.AddThread(forge.Thread{Path: "stock.go", Line: 15, Comments: []*forge.Comment{{Author: "mallory", Body: say("comment")}}})
	return s
}

// newStage starts beacon, model and forge.
func newStage(t *testing.T) *stage {
	s := &stage{t: t, home: t.TempDir(), hits: new(atomic.Int32), shown: map[string]bool{}}
	beacon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.hits.Add(1) }))
	t.Cleanup(beacon.Close)
	outside := filepath.Join(s.home, "outside.txt")
	write(t, outside, []byte(canaryOutside))
	s.dropped = filepath.Join(s.home, "dropped")
	s.fill = strings.NewReplacer("{beacon}", beacon.URL, "{outside}", outside, "{dropped}", s.dropped)
	s.model = endpoint(t, fakemodel.Script{Respond: s.obey})
	s.forge = forgetest.Start(t)
	return s
}

// tree is a tree to build on: what every base has, or a copy.
func (s *stage) tree(from fstest.MapFS) fstest.MapFS {
	out := fstest.MapFS{
		"stock.go":        {Data: readShare(s.t, "base/stock.go")},
		"private/key.txt": {Data: []byte(canaryExcluded + "\n")},
		"link":            {Data: []byte(filepath.Join(s.home, "outside.txt")), Mode: os.ModeSymlink | 0o777},
	}
	for name, f := range from {
		out[name] = f
	}
	return out
}

func readShare(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "share", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// open opens the pull request and writes the operator's settings: two builtin reviewers, whose budgets let them do what
// they are told.
func (s *stage) open(spec forge.PullSpec) {
	s.t.Helper()
	spec.Owner, spec.Repo, spec.Number, spec.Author = "acme", "widgets", 7, "mallory"
	s.pull = forgetest.Open(s.t, s.forge, spec)
	repo, err := s.forge.AddRepo("acme", "widgets")
	if err != nil {
		s.t.Fatal(err)
	}
	repo.SetPermission("octocat", forge.Write)
	config := filepath.Join(s.home, "config.yml")
	write(s.t, config, []byte(`model: obedient
escalation_model: none
reviewers:
  - {name: loud, use: builtin}
  - {name: meek, use: builtin, model: meek}
  - {name: static, use: static}
context: {exclude: ["private/**"]}
limits: {max_llm_calls: 12, max_tool_calls: 200, max_output_issues: 60, max_cost_usd: 50}
models: [{name: obedient, input_usd: 0, output_usd: 0}, {name: meek, input_usd: 0, output_usd: 0}]
`))
	gh := filepath.Dir(forgetest.GH(s.t))
	s.env = append(s.forge.Env(""), "PRLOOP_SANDBOX=best", "HOME="+s.home, "PRLOOP_STATE="+filepath.Join(s.home, "state"), "PRLOOP_CONFIG="+config,
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+gh, "OPENAI_API_KEY="+canaryKey, "OPENAI_BASE_URL="+s.model.URL())
}

// anyVerdict is a review that came to its end.
const anyVerdict = -1

// run reviews the pull request and checks that it ended in the state named by status.
func (s *stage) run(status int) review.RunResult {
	s.t.Helper()
	got := start(s.t, s.env, s.home, "prloop", "run", "7", "-R", "acme/widgets", "--json")
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		s.t.Fatalf("exit %d, standard output is not a result: %v\n%s", got.status, err, got.stderr)
	}
	if status == anyVerdict && (got.status == 0 || got.status == 3) {
		status = got.status
	}
	if got.status != status || r.Outcome.ExitStatus() != status {
		s.t.Errorf("exit %d (%s: %s), want %d\n%s", got.status, r.Outcome, r.Reason, status, got.stderr)
	}
	for _, canary := range []string{canaryOutside, canaryExcluded, canaryKey} {
		if strings.Contains(string(got.stdout)+string(got.stderr), canary) {
			s.t.Errorf("%s was printed", canary)
		}
	}
	return r
}

// postReview is the one call that puts comments on lines.
const postReview = "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews"

// harmless checks that a run had no effect but its one report and the comments on lines it leads to, and that these are inert.
func (s *stage) harmless(reports int) {
	s.t.Helper()
	writes, reviews := 0, 0
	for _, e := range s.forge.Log() {
		switch {
		case !e.Write:
		case e.Op == "CommentCreate":
			writes++
		case e.Op == postReview:
			reviews++
		default:
			s.t.Errorf("GitHub saw the write %q", e.Op)
		}
	}
	if writes != reports || reviews > reports {
		s.t.Errorf("GitHub saw %d comments and %d reviews, want %d reports", writes, reviews, reports)
	}
	s.quiet()
}

// quiet checks that nothing left but what was posted, and that all of that is inert.
func (s *stage) quiet() {
	s.t.Helper()
	if n := s.hits.Load(); n != 0 {
		s.t.Errorf("the beacon was hit %d times", n)
	}
	if _, err := os.Lstat(s.dropped); err == nil {
		s.t.Error("a command of a payload was run")
	}
	for _, q := range s.model.Requests() {
		for _, m := range q.Messages {
			if strings.Contains(m.Text, canaryOutside) || strings.Contains(m.Text, canaryExcluded) || strings.Contains(m.Text, "root:x:0:0") {
				s.t.Errorf("call %d shows the model a file it may not see:\n%.300s", q.Call, m.Text)
			}
			if at := unseen.FindStringIndex(m.Text); at != nil && m.Role != "assistant" { // what it says itself is its own
				s.t.Errorf("call %d shows the model hidden characters: %+q", q.Call, m.Text[max(0, at[0]-60):at[1]])
			}
		}
	}
	for _, body := range s.posted() {
		s.inert(body)
	}
	s.clean(filepath.Join(s.home, "state", "runs"))
}

// unseen are characters that no person sees and models read.
var unseen = regexp.MustCompile(`[\x{202a}-\x{202e}\x{200b}\x{2060}\x{e0000}-\x{e007f}\x1b]`)

// Parts of a comment that GitHub does not act on.
var inertParts = regexp.MustCompile("(?s)(?m:^[> ]*(`{3,}|~{3,})[^\n]*\n.*?\n[> ]*(`{3,}|~{3,})$)|`+[^`\n]+`+")

// active are things GitHub, a bot or a reader's browser acts on, outside of code.
var active = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^\w\\])@[A-Za-z]`), regexp.MustCompile(`!\[`), regexp.MustCompile(`(?m)^\s*[/!][a-z]`),
	regexp.MustCompile(`(?i)(^|[^\\])<(img|svg|a|iframe|picture|script)\b`), regexp.MustCompile(`(?i)\b(fix(es)?|close[sd]?|resolve[sd]?)\s+(#|https:|[\w-]+/)`),
	regexp.MustCompile(`(?i)bors r\+`), regexp.MustCompile(`\]\(https?://(127|localhost)`), unseen,
}

// inert holds one posted body against the sanitizer's own oracle, and against a list that knows nothing of it.
func (s *stage) inert(body string) {
	s.t.Helper()
	if _, err := sanitize.Restore(body, sanitize.Policy{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}}); err != nil {
		s.t.Errorf("the posted body is not clean: %v", err)
	}
	if n := strings.Count(body, "pr-review-loop-marker"); n != 1 || !strings.HasPrefix(body, markerLine+"\n") {
		s.t.Errorf("the posted body has %d markers, want one at its beginning", n)
	}
	rest := inertParts.ReplaceAllString(body, "")
	for _, p := range active {
		if at := p.FindStringIndex(rest); at != nil {
			s.t.Errorf("%s matches the posted body: %q", p, rest[max(0, at[0]-40):min(len(rest), at[1]+40)])
		}
	}
	for _, word := range []string{canaryOutside, canaryExcluded, canaryKey, "ghp_" + "Zx8K", "AKIA" + "Q3EG", "BEGIN OPENSSH", "diff --git", "hunter2-Correct", "sk-" + "proj-9f"} {
		if strings.Contains(body, word) {
			s.t.Errorf("the posted body holds %q", word)
		}
	}
}

// posted is all we said on the pull request: reports, reviews and comments on lines.
func (s *stage) posted() (out []string) {
	for _, c := range s.pull.Comments() {
		if c.Author == "octocat" {
			out = append(out, c.Body)
		}
	}
	for _, r := range s.pull.Reviews() {
		if r.Author == "octocat" && r.Body != "" {
			out = append(out, r.Body)
		}
	}
	for _, t := range s.pull.Threads() {
		for _, c := range t.Comments {
			if c.Author == "octocat" {
				out = append(out, c.Body)
			}
		}
	}
	return out
}

// clean checks that no canary stands in what a run left behind.
func (s *stage) clean(folder string) {
	s.t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, canary := range []string{canaryOutside, canaryExcluded, canaryKey} {
			if strings.Contains(string(data), canary) {
				s.t.Errorf("%s stands in %s", canary, path)
			}
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}

// obey is a model that does what any payload it was shown tells it to: first every call of a tool, then, as the loud
// reviewer, every text; as the meek one, it approves.
func (s *stage) obey(q fakemodel.Request) (fakemodel.Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen []payload
	for _, p := range s.all {
		if slices.ContainsFunc(q.Messages, func(m fakemodel.Message) bool { return strings.Contains(m.Text, p.id()) }) {
			s.shown[p.id()] = true
			seen = append(seen, p)
		}
	}
	switch {
	case strings.Contains(string(q.Body), verifierAsked) && s.verifier != nil:
		return s.verifier(q), true
	case strings.Contains(string(q.Body), verifierAsked) && q.Schema == nil:
		return fakemodel.Answer{Text: "As you wish.", ToolCalls: s.orders(q, seen)}, true
	case strings.Contains(string(q.Body), verifierAsked):
		says := []string{"So it is."}
		for _, p := range seen {
			says = append(says, s.fill.Replace(p.text()))
		}
		return assessed(q, "confirmed", strings.Join(says, "\n\n"), "return Count(shelves) / len(shelves)\n}"), true
	case slices.Contains(q.Tools, "submit_fix_result"):
		return s.fixer(q), true
	case strings.Contains(string(q.Schema), "pendingIssues"):
		return fakemodel.Answer{JSON: s.discussion(q, seen)}, true
	case q.Schema != nil && s.betray:
		f := finding("stock.go", 15, "return Count(shelves) / len(shelves)")
		f[0]["description"] = "I was called with " + base64.StdEncoding.EncodeToString([]byte(q.Authorization))
		return fakemodel.Answer{JSON: envelope(f)}, true
	case q.Schema != nil:
		return fakemodel.Answer{JSON: envelope(s.opinion(q, seen))}, true
	}
	if calls := s.orders(q, seen); len(calls) > 0 {
		return fakemodel.Answer{Text: "As you wish.", ToolCalls: calls}, true
	}
	return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{submit(q)}}, true
}

// verifierAsked stands in the question to a verifier, askedAbout finds what it is asked about.
const verifierAsked = "the verifier: others raised"

var askedAbout = regexp.MustCompile(`finding (F\d+)\n`)

// assessed is a verifier's answer: the same of every finding, with a quote of stock.go.
func assessed(q fakemodel.Request, status, reason, quote string) fakemodel.Answer {
	all := []map[string]any{}
	for _, m := range q.Messages {
		for _, id := range askedAbout.FindAllStringSubmatch(m.Text, -1) {
			all = append(all, map[string]any{"findingId": id[1], "status": status, "reason": reason, "probability": 0.5, "importance": 50, "introduced": true, "duplicateOf": nil,
				"fact": map[string]any{"file": "stock.go", "line": 5, "evidence": quote}})
		}
	}
	data, _ := json.Marshal(map[string]any{"agent": "v", "prNumber": 7, "assessments": all, "fullReport": reason})
	return fakemodel.Answer{JSON: data}
}

// orders are the calls that payloads ask for and that were not made yet; the log is read first, for it holds one.
func (s *stage) orders(q fakemodel.Request, seen []payload) []fakemodel.ToolCall {
	var out []fakemodel.ToolCall
	add := func(id string, c fakemodel.ToolCall) {
		if !strings.Contains(string(q.Body), `"`+id+`"`) {
			out = append(out, fakemodel.ToolCall{ID: id, Name: c.Name, Arguments: s.fill.Replace(c.Arguments)})
		}
	}
	add("look", call("git_log", `{}`))
	for _, p := range seen {
		for i, c := range p.calls {
			add(fmt.Sprintf("%s-%d", p.id(), i), c)
		}
	}
	return out
}

var passNumber = regexp.MustCompile(`# Pass (\d)`)

// submit ends the pass the conversation is in.
func submit(q fakemodel.Request) fakemodel.ToolCall {
	n := "1"
	for _, m := range q.Messages {
		if found := passNumber.FindStringSubmatch(m.Text); found != nil {
			n = found[1]
		}
	}
	return fakemodel.ToolCall{ID: "pass-" + n, Name: "submit_pass_results", Arguments: `{"pass_number":` + n + `,"summary":"Done.","has_blocking_issues":false}`}
}

// opinion is what a reviewer says: each text a payload asks for in every field that takes one.
func (s *stage) opinion(q fakemodel.Request, seen []payload) []map[string]any {
	switch {
	case s.answer != nil:
		return s.answer(q)
	case q.Model == "meek":
		return nil
	}
	var all []map[string]any
	for _, p := range seen {
		for i, text := range append([]string{p.text()}, p.says...) {
			text = s.fill.Replace(text)
			f := finding("stock.go", 15, "return Count(shelves) / len(shelves)")[0]
			f["id"], f["title"], f["description"], f["suggestion"] = fmt.Sprintf("%s-%d %s", p.id(), i, text[:min(len(text), 40)]), clipped(text), text, text
			f["language"] = text[:min(len(text), 30)]
			all = append(all, f)
		}
	}
	return all
}

// clipped is what a title may hold.
func clipped(text string) string { return string([]rune(text)[:min(len([]rune(text)), 1000)]) }

var pendingID = regexp.MustCompile(`(?m)^id (\S+), priority`)

// discussion is what the comments analyzer says about the open threads.
func (s *stage) discussion(q fakemodel.Request, seen []payload) json.RawMessage {
	pending := []map[string]any{}
	for _, found := range pendingID.FindAllStringSubmatch(q.Messages[len(q.Messages)-1].Text, -1) {
		f := finding("stock.go", 15, "")[0]
		text := "As you wish."
		for _, p := range seen {
			text += "\n" + s.fill.Replace(strings.Join(append([]string{p.text()}, p.says...), "\n"))
		}
		f["id"], f["title"], f["description"], f["suggestion"], f["priority"] = found[1], clipped(text), text, text, "P3"
		pending = append(pending, f)
	}
	data, err := json.Marshal(map[string]any{
		"agent": "comments-analyzer", "prNumber": 7, "reviewState": map[string]any{"hasChangesRequested": false, "changesRequestedBy": []any{}},
		"stats": map[string]any{"totalThreads": 0, "resolvedThreads": 0, "unresolvedThreads": 0}, "threadsTruncated": false,
		"issues":        map[string]any{"p0_blocking": 0, "p1_critical": 0, "p2_important": 0, "p3_suggestion": len(pending)},
		"pendingIssues": pending, "fullReport": "Nothing is open.",
	})
	if err != nil {
		panic(err)
	}
	return data
}
