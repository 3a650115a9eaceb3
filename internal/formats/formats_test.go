package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// compile reads a published schema. Strict closes every object, so that a misspelt field is a fault.
func compile(t *testing.T, file string, strict bool) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		text = bytes.ReplaceAll(text, []byte(`"additionalProperties": true`), []byte(`"additionalProperties": false`))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(file, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fits(s *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func at(n int) *int { return &n }

func finding(p review.Priority, file string, line int, title string) review.Finding {
	f := review.Finding{
		ID: title, Priority: p, Category: "bug", File: spelling.Name(file), Title: title, Description: "Why " + title + ".", Suggestion: "Mend " + title + ".",
		Source: review.Source{Type: "agent", Name: "reviewer-1"},
	}
	if line != 0 {
		f.Line = at(line)
	}
	return f
}

// run is a finished run; each finding is a distinct one, and those before uncounted count.
func run(outcome review.Outcome, uncounted int, findings ...review.Finding) Run {
	r := review.RunResult{
		Run: "01J000RUN", Outcome: outcome, Reason: "1 finding is P1", Findings: findings, Groups: []review.Group{}, Started: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
		Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "shop"}, PR: 7}, Receipt: review.Receipt{HeadSHA: strings.Repeat("a", 40)},
	}
	for i := range findings {
		r.Groups = append(r.Groups, review.Group{Findings: []int{i}, Counts: i < len(findings)-uncounted})
	}
	return Run{Result: r, Policy: sanitize.Policy{Repo: r.Target.Repo}, Version: "v1.2.3"}
}

var oddNames = []string{
	"src/stock.go", "docs/zażółć gęślą/日本.md", "caf\xe9.py", "new\nline.js", `src\a.js`, `say "hi".md`, "a\u202eb.go", "C:a.go", "a%20b#c?d.go", "http:/x", "-rf", `"caf\351.py"`, "a&b<c>.xml",
}

func read(t *testing.T, r Run) (sarifLog, checkstyle, []diagnostic) {
	t.Helper()
	var log sarifLog
	var style checkstyle
	var list []diagnostic
	text, err := r.SARIF()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	if text, err = r.Checkstyle(); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &style); err != nil {
		t.Fatal(err)
	}
	if text, err = r.RDJSONL(); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var d diagnostic
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return log, style, list
}

// all gives each format as text.
func all(t *testing.T, r Run) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range (Files{"-", "-", "-"}).wanted() {
		text, err := f.render(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.flag] = string(text)
	}
	return out
}

func samples() map[string]Run {
	var odd []review.Finding
	for i, name := range oddNames {
		odd = append(odd, finding(review.P1, name, i+1, fmt.Sprint("odd ", i)))
	}
	ranged := finding(review.P2, "a.go", 4, "ranged")
	ranged.LineEnd = at(9)
	backwards := finding(review.P3, "a.go", 4, "backwards")
	backwards.LineEnd = at(2)
	negative := finding(review.P1, "a.go", -3, "before the file")
	stranger := finding(review.P0, "", 0, "about no file")
	stranger.Category, stranger.Description, stranger.Suggestion = "made up {0} by a model", "", ""
	braces := finding(review.P1, "日本.go", 1, "{0} ünïcode 🎉 [x](1) [y](https://evil.example)")
	static := run(review.StaticOnly, 0)
	local := run(review.ChangesRequested, 0, finding(review.P1, "a.go", 1, "x"))
	local.Result.Target, local.Version, local.Result.Started = review.Target{Base: "main"}, "dev", time.Time{}
	return map[string]Run{
		"odd names": run(review.ChangesRequested, 0, odd...), "places": run(review.Stuck, 0, ranged, backwards, negative, stranger, braces),
		"nothing found": run(review.Converged, 0), "not reviewed": run(review.NotReviewed, 0), "static": static, "local": local,
		"set aside": run(review.SetAside, 1, finding(review.P1, "a.go", 1, "x")),
	}
}

func TestSchemas(t *testing.T) {
	sarif, rdf := compile(t, "sarif-schema-2.1.0.json", false), compile(t, "rdf-diagnostic.json", true)
	if fits(sarif, []byte(`{"version":"2.1.0"}`)) == nil || fits(rdf, []byte(`{"message":"x","path":"y"}`)) == nil {
		t.Fatal("the schemas refuse nothing")
	}
	for name, r := range samples() {
		text := all(t, r)
		if err := fits(sarif, []byte(text["--sarif"])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(text["--rdjsonl"]) {
			if err := fits(rdf, []byte(line)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, line)
			}
		}
		log, _, _ := read(t, r)
		accepted(t, name, log)
	}
}

// accepted holds a log against what code scanning asks for beyond the schema.
func accepted(t *testing.T, name string, log sarifLog) {
	t.Helper()
	run := log.Runs[0]
	ids := map[string]bool{}
	if !strings.HasPrefix(run.Automation.ID, "prloop/") || len(run.Results) > 5000 || run.Tool.Driver.Name != "prloop" {
		t.Errorf("%s: %d results of %q by %q", name, len(run.Results), run.Automation.ID, run.Tool.Driver.Name)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.ShortDescription.Text == "" || rule.Help.Text == "" || ids[rule.ID] {
			t.Errorf("%s: rule %q is without help, or there twice", name, rule.ID)
		}
		ids[rule.ID] = true
	}
	seen := map[string]bool{}
	for _, r := range run.Results {
		print := r.Fingerprints["primaryLocationLineHash"]
		if r.RuleID == "" || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || len(r.Locations) != 1 || print == "" || seen[r.RuleID+print] {
			t.Errorf("%s: %+v", name, r)
		}
		seen[r.RuleID+print] = true
		place := r.Locations[0].Physical
		u, err := url.Parse(place.Artifact.URI)
		if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || u.Path == "" || u.RawQuery != "" || u.Fragment != "" || place.Region.StartLine < 1 {
			t.Errorf("%s: %+v is no place in a repository: %v", name, place, err)
		}
	}
}

func TestNamesComeBack(t *testing.T) {
	r := samples()["odd names"]
	log, style, list := read(t, r)
	var uris, names, paths []string
	for _, one := range log.Runs[0].Results {
		raw, err := url.PathUnescape(one.Locations[0].Physical.Artifact.URI)
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, raw)
	}
	for _, one := range style.Files {
		names = append(names, spelling.Raw(one.Name))
	}
	for _, one := range list {
		paths = append(paths, spelling.Raw(one.Location.Path))
	}
	want := slices.Clone(oddNames)
	for _, got := range [][]string{uris, names, paths} {
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	// What can stand as it is stands as it is: tools look names up.
	for raw, want := range map[string]string{`src\a.js`: `src\a.js`, "zażółć.md": "zażółć.md", "a b.go": "a b.go", "caf\xe9.py": `"caf\351.py"`, "a\nb": `"a\nb"`, `"caf\351.py"`: `"\"caf\\351.py\""`} {
		if got := name(raw); got != want {
			t.Errorf("name(%q) = %s, want %s", raw, got, want)
		}
	}
}

func TestNoPlaceOutside(t *testing.T) {
	for _, bad := range []string{"/etc/passwd", "../x", "a/../../x", "a//b", "./a"} {
		f := finding(review.P1, "", 3, "x")
		f.File = bad
		log, _, list := read(t, run(review.ChangesRequested, 0, f))
		if uri := log.Runs[0].Results[0].Locations[0].Physical.Artifact.URI; uri != nowhere || list[0].Location.Path != "" {
			t.Errorf("%s stands as %s and %q", bad, uri, list[0].Location.Path)
		}
	}
}

func TestPlacesAndLevels(t *testing.T) {
	ranged := finding(review.P2, "a.go", 4, "ranged")
	ranged.LineEnd = at(9)
	r := run(review.ChangesRequested, 1, finding(review.P0, "a.go", 0, "no line"), finding(review.P1, "b.go", 2, "one line"), ranged, finding(review.P3, "c.go", 1, "nit"), finding(review.P1, "d.go", 1, "uncounted"))
	log, style, list := read(t, r)
	var got []string
	for _, one := range log.Runs[0].Results {
		place := one.Locations[0].Physical
		got = append(got, fmt.Sprintf("%s %s %d-%d %s %v", one.Level, place.Artifact.URI, place.Region.StartLine, place.Region.EndLine, one.Properties.Priority, one.Properties.MustFix))
	}
	if d := cmp.Diff([]string{"error a.go 1-0 P0 true", "error b.go 2-0 P1 true", "warning a.go 4-9 P2 true", "note d.go 1-0 P1 false", "note c.go 1-0 P3 false"}, got); d != "" {
		t.Error(d)
	}
	got = nil
	for _, file := range style.Files {
		for _, one := range file.Errors {
			got = append(got, fmt.Sprintf("%s %s %d %s", file.Name, one.Severity, one.Line, one.Source))
		}
	}
	if d := cmp.Diff([]string{"a.go error 0 prloop.bug", "a.go warning 4 prloop.bug", "b.go error 2 prloop.bug", "d.go info 1 prloop.bug", "c.go info 1 prloop.bug"}, got); d != "" {
		t.Error(d)
	}
	got = nil
	for _, one := range list {
		place := "nowhere"
		if rng := one.Location.Range; rng != nil {
			if place = fmt.Sprint(rng.Start.Line); rng.End != nil {
				place += fmt.Sprint("-", rng.End.Line)
			}
		}
		got = append(got, fmt.Sprintf("%s %s %s", one.Severity, one.Location.Path, place))
	}
	if d := cmp.Diff([]string{"ERROR a.go nowhere", "ERROR b.go 2", "WARNING a.go 4-9", "INFO d.go 1", "INFO c.go 1"}, got); d != "" {
		t.Error(d)
	}
}

// A finding keeps its identity in other words, on other lines and in another order, and equal ones are told apart.
func TestIdentity(t *testing.T) {
	first := finding(review.P1, "a.go", 4, "Close is ignored")
	first.Evidence = "defer resp.Body.Close()"
	again := first
	again.Title, again.Line, again.Evidence = "error of Close", at(90), "defer  resp.Body.Close()"
	bare := finding(review.P1, "b.go", 4, "A loop never ends")
	moved := bare
	moved.Title, moved.Line = "a loop  never ends", at(7)
	prints := func(r Run) []string {
		log, _, _ := read(t, r)
		var out []string
		for _, one := range log.Runs[0].Results {
			out = append(out, one.Fingerprints["primaryLocationLineHash"])
		}
		return out
	}
	a, b := prints(run(review.ChangesRequested, 0, first, bare)), prints(run(review.ChangesRequested, 0, moved, again))
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	twice := prints(run(review.ChangesRequested, 0, first, again))
	if !strings.HasSuffix(twice[0], ":1") || twice[1] != strings.TrimSuffix(twice[0], "1")+"2" {
		t.Errorf("two of one identity: %v", twice)
	}
	first.Fingerprint = "0123456789abcdef"
	if got := prints(run(review.ChangesRequested, 0, first)); got[0] != "0123456789abcdef:1" {
		t.Errorf("the run's own fingerprint: %v", got)
	}
	first.Fingerprint = "::stop-commands::"
	if got := prints(run(review.ChangesRequested, 0, first)); got[0] != a[0] {
		t.Errorf("what is no fingerprint: %v", got)
	}
}

func TestJoinedFindingsStandOnce(t *testing.T) {
	a, b, c := finding(review.P2, "a.go", 4, "slow"), finding(review.P1, "a.go", 5, "races"), finding(review.P2, "a.go", 5, "races too")
	b.Source.Name, c.Source.Name, c.Suggestion = "reviewer-2", "static", a.Suggestion
	r := run(review.ChangesRequested, 0, a, b, c)
	r.Result.Groups = []review.Group{{Findings: []int{0, 1, 2}, Counts: true}}
	log, _, list := read(t, r)
	want := "P1 races (reviewer-2, reviewer-1, static)\n\nWhy races.\n\nSuggestion: Mend races.\n\nSuggestion: Mend slow."
	if len(list) != 1 || len(log.Runs[0].Results) != 1 || list[0].Message != want {
		t.Errorf("%d and %d: %s", len(list), len(log.Runs[0].Results), list[0].Message)
	}
}

// What was set aside is no finding of these; but a run that approves nothing says so.
func TestSilenceIsNoApproval(t *testing.T) {
	for _, row := range []struct {
		says       string
		r          Run
		results    int
		rule       string
		successful bool
	}{
		{"approved, and nothing found", run(review.Converged, 0), 0, "", true},
		{"static checks alone approve nothing, and are no failure", run(review.StaticOnly, 0), 0, "", true},
		{"not reviewed", run(review.NotReviewed, 0), 1, notApproved, false},
		{"failed", run(review.Failed, 0), 1, notApproved, false},
		{"superseded", run(review.Superseded, 0), 1, notApproved, false},
		{"partly reviewed, with a nit", run(review.Partial, 0, finding(review.P3, "a.go", 1, "x")), 2, notApproved, false},
		{"partly reviewed, with something to fix", run(review.Partial, 0, finding(review.P1, "a.go", 1, "x")), 1, "bug", false},
		{"changes requested by a person alone", run(review.ChangesRequested, 0), 1, notApproved, true},
		{"a P0 was set aside", run(review.SetAside, 0), 1, notApproved, true},
	} {
		row.r.Result.Unverified = []review.Unverified{{Finding: finding(review.P0, "a.go", 1, "set aside"), Reason: "refuted"}}
		log, style, list := read(t, row.r)
		results := log.Runs[0].Results
		if len(results) != row.results || len(list) != row.results || log.Runs[0].Invocations[0].Successful != row.successful {
			t.Errorf("%s: %+v, %+v", row.says, log.Runs[0], list)
			continue
		}
		if row.results > 0 && (results[0].RuleID != row.rule || list[0].Severity != "ERROR" || style.Files[0].Errors[0].Severity != "error") {
			t.Errorf("%s: %+v", row.says, results[0])
		}
		if row.rule == notApproved && !strings.Contains(list[0].Message, "1 finding is P1") {
			t.Errorf("%s: %s", row.says, list[0].Message)
		}
		if text := all(t, row.r); row.says == "approved, and nothing found" && text["--rdjsonl"] != "" || strings.Contains(text["--sarif"], "set aside") {
			t.Errorf("%s: %s", row.says, text)
		}
	}
}

func TestTextsPassTheGate(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	known := "not-a-shape-anybody-knows-77"
	f := finding(review.P1, "a.go", 1, "cc @octocat ##[error]x ##vso[task.prependpath]y ::stop-commands::"+token)
	f.Description = "see http://evil.example/x\n/approve\n<script>alert(1)</script>\x1b[31m\u202e\n::add-mask::y\n" + token
	f.Suggestion, f.Source.Name, f.Category = "use "+known+" there ##teamcity[message]", token, token
	odd := finding(review.P1, "b/"+token+".go", 1, "named so")
	leaking := finding(review.P1, "c/"+known+".go", 1, "named otherwise")
	inside := finding(review.P1, "d/##[error]##vso[x].go", 1, "a name with a command")
	r := run(review.ChangesRequested, 0, f, odd, leaking, inside)
	r.Policy.Known = []string{known}
	for flag, text := range all(t, r) {
		for _, bad := range []string{token, known, "@octocat", "<script>", "\x1b", "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", flag, bad, text)
			}
		}
		for line := range strings.Lines(text) {
			if runnerlog.Inert(line) != line {
				t.Errorf("%s has a command: %s", flag, line)
			}
		}
	}
	log, _, list := read(t, r)
	accepted(t, "odd texts", log)
	for _, d := range list {
		for line := range strings.Lines(d.Message) {
			if strings.HasPrefix(strings.TrimSpace(line), "/approve") {
				t.Errorf("a command of a bot survives: %s", line)
			}
		}
	}
	if log.Runs[0].Results[0].RuleID != otherRule {
		t.Errorf("a category is made up by a model: %s", log.Runs[0].Results[0].RuleID)
	}
}

func TestManyFindings(t *testing.T) {
	var many []review.Finding
	for i := range 6000 {
		f := finding(review.P2, fmt.Sprintf("f%d.go", i%50), i+1, fmt.Sprint("finding ", i))
		if i == 5990 {
			f.Priority = review.P0
		}
		many = append(many, f)
	}
	started := time.Now()
	log, style, list := read(t, run(review.ChangesRequested, 0, many...))
	t.Logf("%d findings in three formats: %v", len(many), time.Since(started))
	accepted(t, "many", log)
	errors := 0
	for _, f := range style.Files {
		errors += len(f.Errors)
	}
	if len(log.Runs[0].Results) != 5000 || errors != 6000 || len(list) != 6000 || len(style.Files) != 50 {
		t.Errorf("%d results, %d errors in %d files, %d diagnostics", len(log.Runs[0].Results), errors, len(style.Files), len(list))
	}
	if first := log.Runs[0].Results[0]; first.Level != "error" || first.Properties.Priority != "P0" {
		t.Errorf("the most urgent is not first: %+v", first)
	}
	if n := log.Runs[0].Invocations[0].Notifications; len(n) != 1 || !strings.Contains(n[0].Message.Text, "1000 more findings") {
		t.Errorf("what is left out is not said: %+v", n)
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3-rc.1", "v0.1.0-3-gabc123-dirty": "0.1.0-3-gabc123-dirty", "dev": "", "abc123": "", "v1": "", "": ""} {
		if got := semanticVersion(version); got != want {
			t.Errorf("semanticVersion(%q) = %q, want %q", version, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "taken"), []byte("a longer text that was there before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.WriteFile(outside, []byte("mine"), 0o600), os.Symlink(outside, filepath.Join(dir, "link")), os.Symlink("taken", filepath.Join(dir, "near")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "up")), os.Symlink("nowhere", filepath.Join(dir, "dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		says  string
		files Files
		json  bool
		want  string
	}{
		{"nothing is wanted", Files{}, true, ""},
		{"one prints, the others have files", Files{"-", "a.xml", filepath.Join(dir, "taken")}, false, ""},
		{"two print", Files{"-", "", "-"}, false, "--sarif and --rdjsonl both print to standard output"},
		{"one prints beside --json", Files{"", "-", ""}, true, "--json and --checkstyle both print to standard output"},
		{"a folder", Files{RDJSONL: "."}, false, "--rdjsonl: . is a folder"},
		{"a folder that is not there", Files{SARIF: "x/y.sarif"}, false, "--sarif: there is no folder x"},
		{"a link that leads out", Files{SARIF: "link"}, false, "--sarif: link is a link or a pipe, not a file"},
		{"a link to a file beside it", Files{SARIF: filepath.Join(dir, "near")}, false, "--sarif: " + filepath.Join(dir, "near") + " is a link or a pipe, not a file"},
		{"a link to nothing", Files{SARIF: "dangling"}, false, "--sarif: dangling is a link or a pipe, not a file"},
		{"a folder that leads out", Files{Checkstyle: "up/x.xml"}, false, "--checkstyle: up/x.xml leads through a link to another folder"},
		{"a device of the operator's", Files{SARIF: "/dev/null"}, false, ""},
		{"a file where a folder has to be", Files{SARIF: "taken/y.sarif"}, false, "--sarif: there is no folder taken"},
	} {
		err := row.files.Check(dir, row.json)
		if got := fmt.Sprint(err); row.want == "" && err != nil || row.want != "" && got != row.want {
			t.Errorf("%s: %s", row.says, got)
		}
	}
	r, out := run(review.Converged, 0), bytes.Buffer{}
	for _, path := range []string{"link", "up/victim", "near"} {
		if err := (Files{SARIF: path}).Write(&out, dir, r); err == nil {
			t.Errorf("%s was written to", path)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	if err := (Files{SARIF: "-", Checkstyle: "taken"}).Write(&out, dir, r); err != nil {
		t.Fatal(err)
	}
	want := all(t, r)
	written, err := os.ReadFile(filepath.Join(dir, "taken"))
	if err != nil || string(written) != want["--checkstyle"] || out.String() != want["--sarif"] {
		t.Errorf("%v: %s, %s", err, written, out.String())
	}
	var told advice.Error
	if err := (Files{RDJSONL: "x/y"}).Write(&out, dir, r); !errors.As(err, &told) || told.Next != "write it again: prloop show 01J000RUN --rdjsonl FILE" {
		t.Errorf("%v, %+v", err, told)
	}
}
