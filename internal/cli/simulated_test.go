package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// simulatedRuns names how many runs TestSimulatedRuns does; by default ten.
const simulatedRuns = "PRLOOP_SIMULATED_RUNS"

// seed is what one pull request holds: findings as a reviewer raises them, and the truth about each.
type seed struct {
	// stated is what the verifier says of it, in thousandths, nothing where it is 0; title tells the fixer whether it is real.
	stated int
	title  string
	fate   review.Fate
}

// shares are how often what the verifier gives a chance, in thousandths, is real, in percent: it is sure of too much.
var shares = []struct{ stated, percent int }{{900, 60}, {500, 30}, {200, 20}}

// simulation is n pull requests with a known truth.
type simulation struct {
	n     int
	pulls [][]seed
}

func simulate(n int) simulation {
	s := simulation{n: n}
	decided := map[int]int{}
	for i := range n {
		var all []seed
		for _, share := range shares {
			p := seed{stated: share.stated, title: "phantom", fate: review.FateRejected}
			if j := decided[share.stated]; (j+1)*share.percent/100 > j*share.percent/100 {
				p.title, p.fate = "real", review.FateFixed
			}
			if s.open(i) {
				p.fate = review.FateOpen
			} else {
				decided[share.stated]++
			}
			all = append(all, p)
		}
		switch {
		case s.failing(i):
			all = append(all, seed{stated: 10, title: "refuted", fate: review.FateRefuted})
		case s.stuck(i):
			all = append(all, seed{stated: 50, title: "stubborn", fate: review.FateStuck})
		}
		certain := seed{title: "real", fate: review.FateFixed} // the last, and one that is fixed: work that fixes nothing is not pushed
		if s.open(i) {
			certain.fate = review.FateOpen
		}
		all = append(all, certain)
		for k := range all {
			what := fmt.Sprintf("stated %d, %s", all[k].stated, all[k].title)
			if all[k].stated == 0 {
				what = "certain"
			}
			all[k].title = fmt.Sprintf("Loses %s in step %d (%s)", []string{"the remainder", "every second name", "the connection", "the last line", "a lock"}[k], k, what)
		}
		s.pulls = append(s.pulls, all)
	}
	return s
}

// Of ten runs one has a reviewer that fails and a finding that is refuted, one a finding that comes back, and one no fixer.
func (simulation) failing(i int) bool { return i%10 == 4 }
func (simulation) stuck(i int) bool   { return i%10 == 7 }
func (simulation) open(i int) bool    { return i%10 == 9 }

// head is the changed file of a pull request: a mark of it, the line the fixer changes, and a line for each finding.
func head(i, steps int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package stock\n\n// run-%d\n// state: open\n", i)
	for k := range steps {
		fmt.Fprintf(&b, "%s\nfunc step%d() int { return %d }\n", strings.Repeat("\n", 20), k, k)
	}
	return b.String()
}

var (
	ofRun   = regexp.MustCompile(`// run-(\d+)\n`)
	suspect = regexp.MustCompile(`(?s)finding (F\d+)\n.*?\(stated (\d+), (\w+)\)`)
)

// answer plays the models: careful raises what is planted, flaky fails now and then, boaster gives the chances.
func (s simulation) answer(q fakemodel.Request) fakemodel.Answer {
	var text strings.Builder
	for _, m := range q.Messages {
		text.WriteString(m.Text + "\n")
	}
	spent := 0.01
	usage := &fakemodel.Usage{Input: 6000, Cached: 3600, Output: 100, CostUSD: &spent}
	run := ofRun.FindStringSubmatch(text.String())
	if run == nil {
		return fakemodel.Answer{Status: 400, Message: "which run is this?"}
	}
	i, _ := strconv.Atoi(run[1])
	switch q.Model {
	case "boaster":
		var list []map[string]any
		for _, f := range suspect.FindAllStringSubmatch(text.String(), -1) {
			stated, _ := strconv.Atoi(f[2])
			a := map[string]any{"findingId": f[1], "status": "plausible", "reason": "It may be so.", "fact": nil, "duplicateOf": nil, "introduced": true, "probability": float64(stated) / 1000, "importance": 1 + len(list)}
			if f[3] == "refuted" {
				a["status"], a["fact"] = "refuted", map[string]any{"file": "stock.go", "line": 25, "evidence": "func step0() int { return 0 }"}
			}
			list = append(list, a)
		}
		data, _ := json.Marshal(map[string]any{"agent": "verifier", "prNumber": i + 1, "assessments": list, "fullReport": "Looked."})
		return fakemodel.Answer{JSON: data, Usage: usage}
	case "flaky":
		if s.failing(i) {
			return fakemodel.Answer{Text: "I would rather not.", Usage: usage}
		}
		return fakemodel.Answer{JSON: envelope(nil), Usage: usage}
	}
	var list []map[string]any
	for k, p := range s.pulls[i] {
		if strings.Contains(text.String(), "// state: done") && p.fate != review.FateStuck {
			continue
		}
		f := finding("stock.go", 4+22*(k+1), fmt.Sprintf("func step%d() int { return %d }", k, k))[0]
		f["id"], f["title"], f["priority"], f["score"], f["confidence"] = fmt.Sprintf("S-%d", k), p.title, "P2", 6, 0.8
		list = append(list, f)
	}
	conclusion := review.Counts{P2: len(list)}.Conclusion()
	data, _ := json.Marshal(map[string]any{"agent": "careful", "prNumber": i + 1, "conclusion": conclusion, "findings": append([]map[string]any{}, list...), "fullReport": "Read it.",
		"issues": map[string]any{"p0_blocking": 0, "p1_critical": 0, "p2_important": len(list), "p3_suggestion": 0}})
	return fakemodel.Answer{JSON: data, Usage: usage}
}

// A team runs prloop on many pull requests whose truth is known: `prloop stats` says what is true of them, and the calibration finds what
// the verifier's word is worth. The table then weighs a further run, whose replay keeps it when the file has changed.
func TestSimulatedRuns(t *testing.T) {
	t.Parallel()
	n, err := strconv.Atoi(os.Getenv(simulatedRuns))
	if err != nil {
		n = 10
	}
	s := simulate(n + 1) // and one that is weighed
	last := n
	f := forgetest.Start(t)
	m, err := fakemodel.Start(fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) { return s.answer(q), true }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	home := t.TempDir()
	table := filepath.Join(home, "table.json")
	book, err := json.Marshal(playbook{Rejects: "phantom", Edits: []edit{{File: "stock.go", Old: "// state: open", New: "// state: done"}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "playbook.json"), book)
	config := fmt.Sprintf(`reviewers:
  - {name: careful, use: builtin, model: careful}
  - {name: flaky, use: builtin, model: flaky}
min_reviewers: 1
comments_analyzer: {use: static}
verifier: {use: builtin, model: boaster}
judge: none
escalation_model: none
fixer: {use: command, path: mender, args: [%q]}
fix: {untrusted_authors: true}
verify: []
`, filepath.Join(home, "playbook.json"))
	write(t, filepath.Join(home, "config.yml"), []byte(config))
	write(t, filepath.Join(home, "weighed.yml"), []byte(config+"calibration: table.json\nconsensus: {rule: verified}\n"))
	env := append(f.Env(""), "PRLOOP_SANDBOX=off", "HOME="+home, "PRLOOP_STATE="+filepath.Join(home, "state"), "PRLOOP_CONFIG="+filepath.Join(home, "config.yml"),
		"OPENAI_BASE_URL="+m.URL(), "OPENAI_API_KEY=sk-test-0123456789abcdef0123", "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(forgetest.GH(t)))
	for i := range n + 1 {
		spec := forge.PullSpec{Owner: "acme", Repo: fmt.Sprintf("w%d", i%3), Number: i + 1, Title: "Count the stock", Author: "contributor", HeadRef: fmt.Sprintf("topic-%d", i),
			Head: fstest.MapFS{"stock.go": {Data: []byte(head(i, len(s.pulls[i])))}, "go.mod": {Data: []byte("module stock\n")}}}
		if i < 3 {
			spec.Base = fstest.MapFS{"go.mod": {Data: []byte("module stock\n")}}
		}
		forgetest.Open(t, f, spec)
		repo, err := f.AddRepo("acme", spec.Repo)
		if err != nil {
			t.Fatal(err)
		}
		repo.SetPermission("octocat", forge.Write)
	}
	do := func(i int, more ...string) ended {
		args := []string{"run", fmt.Sprint(i + 1), "-R", fmt.Sprintf("acme/w%d", i%3), "--json"}
		if s.open(i) {
			args = append(args, "--no-fix")
		}
		return start(t, append(env[:len(env):len(env)], more...), home, "prloop", args...)
	}
	began := time.Now()
	var g errgroup.Group
	g.SetLimit(3)
	for i := range n {
		g.Go(func() error {
			want := 0
			switch {
			case s.open(i):
				want = review.ChangesRequested.ExitStatus()
			case s.stuck(i):
				want = review.Stuck.ExitStatus()
			}
			if got := do(i); got.status != want {
				return fmt.Errorf("run %d: exit %d, want %d\n%s\n%s", i, got.status, want, got.stderr, got.stdout)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs in %.0f s", n, time.Since(began).Seconds())
	asked := len(m.Requests())

	tell := func(args ...string) string {
		t.Helper()
		got := start(t, env, home, "prloop", append([]string{"stats"}, args...)...)
		if got.status != 0 {
			t.Fatalf("prloop stats %q: exit %d\n%s", args, got.status, got.stderr)
		}
		return string(got.stdout)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(tell("--json", "by,name,runs,outcomes,rounds,converged,findings,counted,setAside,fixed,rejected,stuck,open,refuted,answers,failed,tokens,cachedShare,costUsd")), &rows); err != nil {
		t.Fatal(err)
	}
	s.checkRows(t, n, asked, rows)
	if list := tell("-R", "acme/w1", "--json", "by,name,runs", "--jq", `.[] | select(.by == "repository") | "\(.name) \(.runs)"`); strings.TrimSpace(list) != fmt.Sprintf("acme/w1 %d", (n+1)/3) {
		t.Errorf("of one repository: %q", list)
	}
	if list := tell("--since", "2999-01-01", "--json", "by"); strings.TrimSpace(list) != "[]" {
		t.Errorf("of the far future: %q", list)
	}

	shown := tell("--calibration", "--out", "table.json")
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	known, err := calibration.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	s.checkCurve(t, n, known)
	if !strings.Contains(shown, "probability of boaster") || !strings.Contains(shown, "confidence of careful") {
		t.Errorf("%s", shown)
	}

	weighed := do(last, "PRLOOP_CONFIG="+filepath.Join(home, "weighed.yml"))
	var r review.RunResult
	if err := json.Unmarshal(weighed.stdout, &r); err != nil {
		t.Fatalf("exit %d: %v\n%s", weighed.status, err, weighed.stderr)
	}
	report, err := os.ReadFile(filepath.Join(r.Artifacts, "round-1", "review.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "- Calibration: table `" + known.ID() + "`: probability of `boaster`"; !strings.Contains(string(report), want) || !strings.Contains(r.Receipt.Calibration, known.ID()) {
		t.Errorf("%q is missing in\n%s", want, report)
	}
	write(t, table, []byte("gone"))
	if got := start(t, env, home, "prloop", "replay", r.Run); got.status != 0 {
		t.Errorf("replay without the table: exit %d\n%s", got.status, got.stderr)
	}
	if got := do(last, "PRLOOP_CONFIG="+filepath.Join(home, "weighed.yml")); got.status != 2 || !strings.Contains(string(got.stderr), "read calibration "+table) {
		t.Errorf("with a table that is none: exit %d\n%s", got.status, got.stderr)
	}
	if faults := m.Faults(); len(faults) > 0 {
		t.Errorf("the model finds fault with requests: %q", faults)
	}
}

// checkRows holds the rows of stats against the truth.
func (s simulation) checkRows(t *testing.T, n, asked int, rows []map[string]any) {
	t.Helper()
	fates, converged, failing, raised := map[review.Fate]int{}, 0, 0, 0
	for i := range n {
		if !s.open(i) && !s.stuck(i) {
			converged++
		}
		if s.failing(i) {
			failing++
		}
		for _, p := range s.pulls[i] {
			fates[p.fate]++
			raised++
		}
	}
	found := map[string]map[string]any{}
	for _, r := range rows {
		found[strings.TrimSpace(fmt.Sprint(r["by"], " ", r["name"]))] = r
	}
	want := map[string]map[string]int{
		"all": {"runs": n, "findings": raised, "counted": raised - fates[review.FateRefuted], "setAside": fates[review.FateRefuted], "fixed": fates[review.FateFixed], "rejected": fates[review.FateRejected],
			"stuck": fates[review.FateStuck], "open": fates[review.FateOpen], "refuted": fates[review.FateRefuted], "tokens": asked * 6100, "failed": 2 * failing},
		"repository acme/w0": {"runs": (n + 2) / 3}, "repository acme/w1": {"runs": (n + 1) / 3}, "repository acme/w2": {"runs": n / 3},
		"severity P2": {"findings": raised, "fixed": fates[review.FateFixed]}, "category bug": {"findings": raised},
		"agent careful": {"findings": raised, "failed": 0}, "agent flaky": {"findings": 0, "failed": 2 * failing, "answers": 2*n - n/10},
		"model careful": {"findings": raised, "rejected": fates[review.FateRejected]}, "model boaster": {"findings": 0},
	}
	for name, fields := range want {
		for field, want := range fields {
			if got, ok := found[name][field].(float64); !ok || int(got) != want {
				t.Errorf("%s of %s is %v, want %d", field, name, found[name][field], want)
			}
		}
	}
	all := found["all"]
	if outcomes, ok := all["outcomes"].(map[string]any); !ok || outcomes["converged"] != float64(converged) || outcomes["stuck"] != float64(n/10) || outcomes["changes_requested"] != float64(n/10) {
		t.Errorf("outcomes are %v, want %d converged and %d each of stuck and changes requested", all["outcomes"], converged, n/10)
	}
	if in, ok := all["converged"].([]any); !ok || in[1] != float64(converged) {
		t.Errorf("converged is %v, want %d in two rounds", all["converged"], converged)
	}
	if share, cost := all["cachedShare"], all["costUsd"].(float64); share != 0.6 || cost < float64(asked)*0.01-1e-6 || cost > float64(asked)*0.01+1e-6 {
		t.Errorf("cached are %v, and %v dollars spent of %d calls", share, cost, asked)
	}
}

// checkCurve holds the calibration of the verifier against the truth: counts to the finding, and the planted share within its interval.
func (s simulation) checkCurve(t *testing.T, n int, table calibration.Table) {
	t.Helper()
	c := table.Find(calibration.Probability, "boaster")
	if c == nil {
		t.Fatalf("the table has no curve of the verifier: %+v", table)
	}
	settled := 0
	for _, share := range shares {
		held, all := 0, 0
		for i := range n {
			for _, p := range s.pulls[i] {
				if p.stated == share.stated && p.fate != review.FateOpen {
					all++
					if p.fate == review.FateFixed {
						held++
					}
				}
			}
		}
		settled += all
		b := c.Bins[share.stated/100]
		low, high := b.Interval()
		if b.Findings != all || b.Held != held || b.Stated != share.stated || 10*share.percent < low || 10*share.percent > high {
			t.Errorf("of what is called %d, %d of %d held, in truth %d of %d; the interval is %d to %d, planted %d", share.stated, b.Held, b.Findings, held, all, low, high, 10*share.percent)
		}
		worth := c.Worth(float64(share.stated) / 1000)
		if worth < low || worth > high {
			t.Errorf("%d is worth %d, outside of %d to %d", share.stated, worth, low, high)
		}
		if all >= 80 && (worth < 10*share.percent-60 || worth > 10*share.percent+60) {
			t.Errorf("of %d findings, %d is worth %d, planted %d", all, share.stated, worth, 10*share.percent)
		}
	}
	if c.Runs != settled || c.Eval != 0 {
		t.Errorf("the curve is of %d findings, want %d: open, stuck and refuted ones say nothing of a verifier", c.Runs, settled)
	}
}
