package orchestrator

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var (
	lawCases = flag.Int("law-cases", 10_000, "how many generated changes TestConvergedImpliesCoverage tries")
	lawSeed  = flag.Uint64("law-seed", 1, "the seed of the first of them")
)

// TestConvergedImpliesCoverage holds the law of coverage against generated changes and agents (decision 30): when a run
// converges, every changed line of text stood in the requests of enough complete reviewers other than static, no P0 or P1 that
// anybody raised was passed over, commands that count included, and no P2 without what the verifier proved against it, or said of it where the rule asks for that. What is text, what changed, and what was sent is known here from the generator and from
// the bytes an agent would have read, not from the code under test.
func TestConvergedImpliesCoverage(t *testing.T) {
	var next, converged, failed int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				mu.Lock()
				n := next
				next++
				stop := n >= *lawCases || failed >= 3
				mu.Unlock()
				if stop {
					return
				}
				seed := *lawSeed + uint64(n)
				p := generate(rand.New(rand.NewPCG(seed, 7)))
				result, err := p.run(t.Context())
				fault := ""
				switch {
				case err != nil:
					fault = err.Error()
				case result.Outcome == review.Converged:
					fault = p.broken()
				}
				mu.Lock()
				if err == nil && result.Outcome == review.Converged {
					converged++
				}
				if fault != "" {
					failed++
					t.Errorf("seed %d: %s\n%s", seed, fault, p)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d runs converged", converged, next)
	if failed == 0 && converged < *lawCases/20 {
		t.Errorf("only %d of %d runs converged: the law was hardly asked", converged, *lawCases)
	}
}

// pull is one generated change with the agents that review it.
type pull struct {
	files  []changedFile
	tokens int
	need   int // Request.MinReviewers
	actors map[string]*actor
	agents []AgentPlan
	// commands are the custom prompts that run beside the reviewers, by the names of their agents. None of them reads anything for anybody else.
	commands map[string]*commander
	// doubter is the verifier; nil when there is none. rule is Request.Rule.
	doubter *doubter
	rule    string
	content map[string]map[string]string // commit, path, bytes
	parsed  *diff.Diff
	// gateway masks what models are sent, in a quarter of the changes: it costs more than all the rest.
	gateway *gateway.Masks
}

// excuse is a name, and whether it lets a plain file go unread that was there before, and one that is new.
type excuse struct {
	name     string
	old, new bool
	acts     bool // tools run it by its name, so that no mark excuses it
}

// changedLine is a changed line with its mark, as bytes. shown is how it may be shown instead: with a mask that hides no code.
type changedLine struct{ text, shown string }

// secretLine is a line that is masked, or could be. removed and added are how it may be shown in its place.
type secretLine struct{ text, removed, added string }

// changedFile is one file of a change and what is true of it.
type changedFile struct {
	name, old string // bytes
	kind      string
	// text is true when a person can read it; excused when a rule lets it go unread.
	text, excused bool
	// marked is true when a generator's mark stands in it, before and after.
	marked bool
	lines  []changedLine
	// section is what git prints of it; empty for one that is listed alone, for the reason omitted.
	section string
	omitted string
	binary  bool
	// claims is true when it has what stands for a byte.
	claims bool
	change diff.Change
}

// actor is one reviewer, and what it did.
type actor struct {
	mood string
	kind string
	rnd  *rand.Rand
	seen *review.Task
	// sent are the lines that left the gateway for a model, without their margin; nil for one that asks none.
	sent map[string]bool
	// state is what became of it; grave whether it raised a P0 or P1, minor whether it raised a P2 that nothing is wrong with.
	state        review.AgentState
	grave, minor bool
}

// commander is the agent of a command, and what it did: counts is whether what it says counts for the verdict.
type commander struct {
	actor
	counts bool
}

// doubter is a verifier, and what it did: asked is of how many findings, proved against how many it had code that stands there,
// said of how many it said anything that may count.
type doubter struct {
	mood                string
	rnd                 *rand.Rand
	asked, proved, said int
}

var (
	oddNames = []string{"src/a.go", "lib/b.kt", "web/c.lua", "caf\xe9.lua", "new\nline.kt", `back\slash.lua`, "cr\rname.kt", "\xff\xfe.swift", "q\"uote.lua", " lead.kt",
		"tab\tname.lua", "tag\U000e0041.swift", "rtl\u202egnp.kt", "\ufffd.lua", "C:drive.kt", "ünï/日本.swift", "-rf.lua", "ctl\x01\x7f.kt", "dir\xe9/x.lua", "a`b|c.md", "noend"}
	excuses = []excuse{{name: "go.sum", old: true, new: true}, {name: "vendor/x/y.go", old: true, new: true}, {name: "vendor/x/tool", old: true, new: true},
		{name: "package-lock.json", old: true, new: true}, {name: "made/a.lua", old: true, new: true}, {name: "web/all.min.js", old: true}, {name: "third_party/n.go", old: true},
		{name: "vendor/x/run.sh", acts: true}, {name: "vendor/x/action.yml", acts: true}, {name: "vendor/x/Makefile", acts: true}, {name: ".idea/x.xml", acts: true},
		{name: "src/__generated__/a.ts"}, {name: "src/A.Designer.cs"}}
	secretLines = []secretLine{
		{"k = \"" + planted + "\"", "k = \"[REDACTED]\"", "k = \"[REDACTED]\""},
		{"K=" + planted, "K=[REDACTED]", ""},
		{"if password == expected_hash_9 {", "", ""},
		{"\tif !" + taught + "(r) {", "", ""},
		{"token = `curl-" + taught + "-$1`", "", ""},
		{"PASSWORD=`reset_prod_db`", "", ""},
		{"PASSWORD= \"deploy_prod1\"", "", ""},
		{"puts(\"password=\"EVIL_MACRO_9\"\\n\");", "", ""},
		{"\"generate-password\": \"1.27.0-b4d\",", "", ""},
	}
	oddLines = []string{"x := 1", "return nil", "system(\"convert \xff\xfe\" . $_GET[\"f\"]);", "cut(\"\xed\xa0\x80\")", "", "\tif err != nil {", "a\rb", "\\ No newline at end of file",
		"--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\u202eevil", "zero\u200bwidth", "\x00"[:0] + "end", "caf\xe9", "key = 1 // \x1b[31m", "os.system(request.args['c'])", "os.system(request.args['\xe9'])", "curl https://127.0.0.1:8080/health-check-1", "  --user \"demo:", "end-of-demo-12345\"",
		"<<<<<<< HEAD", "[REDACTED]"}
)

// leaving are names of files that went unread, with a number.
var leaving = []string{"vendor/x/old%d.go", "made/old%d.lua", "web/old%d.min.js", "marked%d.lua", "logo%d.gif"}

const (
	// taught is a name in code that another text gives as a secret.
	taught = "verifySignatureV2Strict"
	// generatedMark is what a generator writes.
	generatedMark = "// Code generated by x. DO NOT EDIT."
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func generate(r *rand.Rand) *pull {
	p := &pull{actors: map[string]*actor{}, commands: map[string]*commander{}, content: map[string]map[string]string{baseSHA: {}, headSHA: {}}, tokens: 100_000}
	if r.IntN(8) == 0 {
		p.tokens = 200 + r.IntN(600)
	}
	names := map[string]bool{}
	for range 1 + r.IntN(3) {
		e := excuse{name: pick(r, oddNames)}
		if r.IntN(6) == 0 {
			e = pick(r, excuses)
		}
		if names[e.name] {
			continue
		}
		names[e.name] = true
		p.add(r, e)
	}
	base, head := p.content[baseSHA], p.content[headSHA]
	if r.IntN(4) == 0 {
		p.gateway = &gateway.Masks{Values: sanitize.Mask}
	}
	switch r.IntN(6) {
	case 0:
		base["AGENTS.md"] = "token = " + taught + "\n"
	case 1, 2: // what a rule takes for the password of a command, line by line
		base["AGENTS.md"] = strings.Repeat("Text.\n", r.IntN(8)) + "curl https://127.0.0.1:8080/health-check-1\n  --user \"demo:\n" + pick(r, oddLines) + "\nend-of-demo-12345\"\n"
	}
	base["vendor/z.go"], base[".gitattributes"], head[".gitattributes"] = "z\n", "made/* linguist-generated\n", "made/* linguist-generated\n"
	if r.IntN(3) == 0 {
		head[".gitattributes"] = "\n"
		for i := range p.files {
			if f := &p.files[i]; strings.HasPrefix(f.name, "made/") {
				f.excused = f.excused && f.marked
			}
		}
	}
	kinds := []string{"builtin", "command", "command", "acp", review.KindStatic}
	moods := []string{"silent", "silent", "silent", "honest", "liar", "failed", "degraded", "unsure", "grave", "minor", "minor"}
	switch r.IntN(5) {
	case 0, 1:
		moods = moods[:3]
	case 2:
		moods = []string{"silent", "minor"}
	case 3:
		moods = []string{"silent", "grave"}
	}
	if r.IntN(2) == 0 {
		p.doubter = &doubter{mood: pick(r, []string{"honest", "refuter", "refuter", "refuter", "liar", "yes-man", "indifferent", "silent", "failed", "twins"}), rnd: rand.New(rand.NewPCG(r.Uint64(), 5))}
	}
	if r.IntN(3) == 0 {
		p.rule = RuleVerified
	}
	for i := range 1 + r.IntN(3) {
		name := fmt.Sprintf("r%d", i)
		a := &actor{mood: pick(r, moods), kind: pick(r, kinds), rnd: rand.New(rand.NewPCG(r.Uint64(), 3))}
		p.actors[name] = a
		p.agents = append(p.agents, AgentPlan{Name: name, Role: review.RoleReviewer, Kind: a.kind})
	}
	if r.IntN(3) == 0 {
		p.need = 1 + r.IntN(2)
	}
	if r.IntN(3) == 0 {
		p.addCommands(r)
	}
	return p
}

// addCommands adds one or two commands. One that boasts says that it has read everything and that all is well; one may be told of a single file.
func (p *pull) addCommands(r *rand.Rand) {
	moods := []string{"boaster", "boaster", "silent", "silent", "honest", "liar", "failed", "degraded", "grave", "minor"}
	if r.IntN(2) == 0 {
		moods = moods[:4]
	}
	for i := range 1 + r.IntN(2) {
		id := fmt.Sprintf("c%d", i)
		plan := &CommandPlan{ID: id, Mode: pick(r, []review.OutputMode{review.FeedMain, review.FeedMain, review.FeedBoth, review.SeparateComment}), Counts: r.IntN(4) > 0, Place: review.PlaceReview}
		if r.IntN(3) == 0 {
			plan.Files = 1
		}
		kind := pick(r, []string{review.KindBuiltin, review.KindCommand, review.KindACP})
		p.commands[CommandAgent(id)] = &commander{actor{mood: pick(r, moods), kind: kind, rnd: rand.New(rand.NewPCG(r.Uint64(), 11))}, plan.Counts && plan.Mode != review.SeparateComment}
		p.agents = append(p.agents, AgentPlan{Name: CommandAgent(id), Role: review.RoleCommand, Kind: kind, Command: plan})
	}
}

// add makes one changed file.
func (p *pull) add(r *rand.Rand, e excuse) {
	name := e.name
	f := changedFile{name: name, kind: pick(r, []string{"edit", "edit", "edit", "edit", "add", "add", "delete", "nul", "utf16", "large", "picture", "rename", "mode", "link", "module",
		"tail", "mark", "mark", "leave", "leave", "byte"}), text: true}
	var old, now []string
	line := func() string {
		if r.IntN(24) == 0 {
			return pick(r, secretLines).text
		}
		return pick(r, oddLines)
	}
	for range 1 + r.IntN(6) {
		old, now = append(old, line()), append(now, line())
	}
	runs := r.IntN(6) == 0 // by its first line
	if runs {
		now[0] = "#!/bin/sh"
	}
	index, modes, mode := "index 1111111..2222222 100644\n", "", "100644"
	switch r.IntN(8) {
	case 0:
		index, mode = "index 1111111..2222222 100755\n", "100755"
	case 1:
		index, modes = "index 1111111..2222222\n", "old mode 100644\nnew mode 100755\n"
	}
	join := func(l []string) string { return strings.Join(l, "\n") + "\n" }
	base, head := p.content[baseSHA], p.content[headSHA]
	a, b := spelling.Name("a/"+name), spelling.Name("b/"+name)
	start := fmt.Sprintf("diff --git %s %s\n", a, b)
	body := func(at int, old, now []string) string {
		var s strings.Builder
		fmt.Fprintf(&s, "@@ -%s +%s @@\n", extent(at, len(old)), extent(at, len(now)))
		add := func(mark string, lines []string) {
			for _, l := range lines {
				c := changedLine{text: mark + l}
				for _, secret := range secretLines {
					if shown := map[string]string{"-": secret.removed, "+": secret.added}[mark]; secret.text == l && shown != "" {
						c.shown = mark + shown
					}
				}
				f.lines = append(f.lines, c)
				s.WriteString(c.text + "\n")
			}
		}
		add("-", old)
		add("+", now)
		return s.String()
	}
	fixed := func(lines ...string) {
		for _, l := range lines {
			f.lines = append(f.lines, changedLine{text: l})
		}
	}
	plain := !runs && modes == "" && mode == "100644"
	switch f.kind {
	case "edit":
		f.change, f.section = diff.Modified, start+modes+index+"--- "+a+"\n+++ "+b+"\n"+body(1, old, now)
		base[name], head[name] = join(old), join(now)
		f.excused = e.old && plain
	case "tail": // what runs it stands above what is shown
		first := []string{"text", "2", "3"}
		if runs {
			first[0] = "#!/bin/sh"
		}
		f.change, f.section = diff.Modified, start+modes+index+"--- "+a+"\n+++ "+b+"\n"+body(4, old, now)
		base[name], head[name] = join(append(slices.Clone(first), old...)), join(append(slices.Clone(first), now...))
		if e.old && modes != "" && !runs {
			fixed("+text", "+2", "+3")
		}
		f.excused = e.old && plain
	case "mark":
		old[0] = generatedMark
		if f.marked = r.IntN(2) == 0; f.marked {
			now[0] = generatedMark
		}
		f.change, f.section = diff.Modified, start+modes+index+"--- "+a+"\n+++ "+b+"\n"+body(1, old, now)
		base[name], head[name] = join(old), join(now)
		f.excused = modes == "" && mode == "100644" && now[0] != "#!/bin/sh" && (f.marked && !e.acts || e.old)
	case "add":
		f.change, f.section = diff.Added, start+"new file mode "+mode+"\nindex 0000000..2222222\n--- /dev/null\n+++ "+b+"\n"+body(1, nil, now)
		head[name] = join(now)
		f.excused = e.new && !runs && mode == "100644"
	case "delete":
		f.change, f.section = diff.Deleted, start+"deleted file mode "+mode+"\nindex 1111111..0000000\n--- "+a+"\n+++ /dev/null\n"+body(1, old, nil)
		base[name] = join(old)
		f.excused = e.old && mode == "100644"
	case "nul":
		f.change, f.binary = diff.Modified, true
		f.section = start + modes + index + "Binary files " + a + " and " + b + " differ\n"
		base[name], head[name] = join(old), join(now)+"\x00\n"
		fixed("+\x00")
		f.excused = e.old && plain
	case "utf16":
		f.change, f.binary = diff.Added, true
		f.section = start + "new file mode " + mode + "\nindex 0000000..2222222\nBinary files /dev/null and " + b + " differ\n"
		var s strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeffimport os\nos.system('x')\n")) {
			s.Write([]byte{byte(u), byte(u >> 8)})
		}
		head[name] = s.String()
		fixed("+import os")
		f.excused = e.new && mode == "100644"
	case "large":
		f.change, f.omitted = diff.Modified, "too large"
		f.section = start + modes + index + "Binary files " + a + " and " + b + " differ\n"
		base[name], head[name] = join(old), strings.Repeat(join(now)+"long\n", 200)
		fixed("+long")
		f.excused = e.old && plain
	case "picture":
		f.name, f.text = strings.TrimRight(name, "/")+".png", false
		f.section = fmt.Sprintf("diff --git %[1]s %[2]s\nnew file mode 100644\nindex 0000000..2222222\nBinary files /dev/null and %[2]s differ\n", spelling.Name("a/"+f.name), spelling.Name("b/"+f.name))
		f.change, f.binary = diff.Added, true
		head[f.name] = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10"
	case "rename":
		f.change, f.old = diff.Renamed, "old-"+strings.NewReplacer("/", "-", ".", "-").Replace(name)
		f.section = fmt.Sprintf("diff --git %s %s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", spelling.Name("a/"+f.old), b, spelling.Name(f.old), spelling.Name(name))
		base[f.old], head[name] = join(now), join(now)
	case "leave": // nobody has read the text under the name it had
		f.change, f.old = diff.Renamed, fmt.Sprintf(pick(r, leaving), len(p.files))
		if strings.HasPrefix(f.old, "marked") {
			now[0] = generatedMark
		}
		f.section = fmt.Sprintf("diff --git %s %s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", spelling.Name("a/"+f.old), b, spelling.Name(f.old), spelling.Name(name))
		base[f.old], head[name] = join(now), join(now)
		if now[0] != "#!/bin/sh" {
			_ = body(1, nil, now)
		}
		f.excused = e.old
	case "byte":
		now := pick(r, []string{"\xe9()", "⟨0xE9⟩()"})
		f.change, f.claims = diff.Modified, now != "\xe9()"
		f.section = start + modes + index + "--- " + a + "\n+++ " + b + "\n" + body(1, []string{"\xe8()"}, []string{now})
		base[name], head[name] = "\xe8()\n", now+"\n"
		f.excused = e.old && modes == "" && mode == "100644"
	case "mode":
		f.change, f.section = diff.Modified, start+"old mode 100644\nnew mode 100755\n"
		base[name], head[name] = join(now), join(now)
		if e.old && now[0] != "#!/bin/sh" { // nobody has read it so far
			_ = body(1, nil, now)
		}
	case "link":
		f.change = diff.Added
		f.section = start + "new file mode 120000\nindex 0000000..2222222\n--- /dev/null\n+++ " + b + "\n@@ -0,0 +1 @@\n+../../etc/passwd\n\\ No newline at end of file\n"
		head[name] = "../../etc/passwd"
		fixed("+../../etc/passwd")
	case "module":
		f.change = diff.Modified
		f.section = start + "index 1111111..2222222 160000\n--- " + a + "\n+++ " + b + "\n@@ -1 +1 @@\n-Subproject commit " + sha(3) + "\n+Subproject commit " + sha(4) + "\n"
		fixed("-Subproject commit "+sha(3), "+Subproject commit "+sha(4))
	}
	p.files = append(p.files, f)
}

func extent(at, n int) string {
	if n == 0 {
		return "0,0"
	}
	return fmt.Sprintf("%d,%d", at, n)
}

func (p *pull) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "budget %d tokens, %d needed\n", p.tokens, p.need)
	for _, f := range p.files {
		fmt.Fprintf(&b, "  %-8s %q %s, excused %v\n%s", f.kind, f.name, f.change, f.excused, f.section)
	}
	for name, a := range p.actors {
		fmt.Fprintf(&b, "  %s: %s, %s, %s, P0 %v\n", name, a.kind, a.mood, a.state, a.grave)
	}
	for name, c := range p.commands {
		fmt.Fprintf(&b, "  %s: %s, %s, %s, counts %v, P0 %v\n", name, c.kind, c.mood, c.state, c.counts, c.grave)
	}
	if v := p.doubter; v != nil {
		fmt.Fprintf(&b, "  verifier: %s, asked %d, proved %d, said %d, rule %q\n", v.mood, v.asked, v.proved, v.said, p.rule)
	}
	return b.String()
}

// run reviews the change with the loop, the context builder and the wire as they are.
func (p *pull) run(ctx context.Context) (review.RunResult, error) {
	slices.SortFunc(p.files, func(a, b changedFile) int { return strings.Compare(a.name, b.name) })
	var raw strings.Builder
	for _, f := range p.files {
		raw.WriteString(f.section)
	}
	d, err := diff.Parse(raw.String())
	if err != nil {
		return review.RunResult{}, err
	}
	for i, f := range p.files {
		d.Files[i].Omitted = f.omitted
		if d.Files[i].Path != f.name {
			return review.RunResult{}, fmt.Errorf("the diff names %q, not %q", d.Files[i].Path, f.name)
		}
	}
	p.parsed = d
	l := &Loop{
		History: p, Briefer: p, Agents: p, Record: p, Emit: func(review.Event) {}, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
		Fence: func(string) string { return "fence" },
	}
	req := Request{
		Run: "run", ReviewID: "0123456789abcdef", Target: review.Target{Base: "main"}, Agents: p.agents, MinReviewers: p.need, DryRun: true,
		Started: time.Unix(1_800_000_000, 0), Limits: review.Limits{ContextTokens: p.tokens}, Rule: p.rule,
	}
	if p.doubter != nil {
		req.Verify = &VerifyPlan{Agent: AgentPlan{Name: "verifier", Role: review.RoleVerifier, Kind: "command"}, Limits: review.Limits{Candidates: 30}}
	}
	return l.Run(ctx, newSteps(), req)
}

// broken says how a run that converged breaks the law; empty when it does not.
func (p *pull) broken() string {
	for _, c := range p.commands {
		v := p.doubter
		switch {
		case c.seen != nil && c.state != review.AgentComplete:
			return "a command gave no complete answer, and the run converged"
		case c.counts && c.grave:
			return "a command that counts raised a P0 or P1, and the run converged"
		case c.counts && c.minor && (v == nil || v.proved < v.asked && (p.rule == "" || v.said < v.asked)):
			return "a command that counts raised a P2 and nothing was said against it, and the run converged"
		}
	}
	counting := 0
	for _, a := range p.actors {
		if a.kind != review.KindStatic {
			counting++
		}
		if a.grave && a.state != review.AgentFailed {
			return "a P0 or P1 was raised, and the run converged"
		}
		v := p.doubter
		if a.minor && a.state != review.AgentFailed && (v == nil || v.proved < v.asked && (p.rule == "" || v.said < v.asked)) {
			return "a P2 was raised and nothing said against it, and the run converged"
		}
	}
	need := max(p.need, counting/2+1)
	if p.need > 0 {
		need = p.need
	}
	for _, f := range p.files {
		if f.excused || !f.text {
			continue
		}
		if f.claims {
			return fmt.Sprintf("%q has what stands for a byte, and the run converged", f.name)
		}
		if slices.ContainsFunc(f.lines, func(l changedLine) bool { return foreign(l.text) }) {
			return fmt.Sprintf("%q has letters in another encoding, and the run converged", f.name)
		}
		readers := 0
		for _, a := range p.actors {
			if a.kind != review.KindStatic && a.state == review.AgentComplete && a.saw(f) {
				readers++
			}
		}
		if readers < need {
			return fmt.Sprintf("%d of %d needed reviewers were given all of %q, and the run converged", readers, need, f.name)
		}
	}
	return ""
}

// foreign reports whether two bytes in a row are no UTF-8.
func foreign(text string) bool {
	last := -2
	for i, r := range text {
		if r == utf8.RuneError && text[i] != "\ufffd"[0] {
			if last == i-1 {
				return true
			}
			last = i
		}
	}
	return false
}

// saw reports whether every changed line of a file stood in the request of an agent, under the file's name, as no mask where it is none.
func (a *actor) saw(f changedFile) bool {
	for _, bf := range a.seen.Brief.Files {
		if spelling.Raw(bf.Path) != f.name {
			continue
		}
		there := map[string]int{}
		for l := range strings.SplitSeq(bf.Diff, "\n") {
			if a.sent == nil || a.sent[l] {
				there[l]++
			}
		}
		for _, l := range f.lines {
			want := perByte(sanitize.Spelled(l.text))
			if a.kind != "command" && a.kind != review.KindStatic { // what a model is shown has no hidden characters
				want, _ = sanitize.Visible(want)
			}
			if there[want] == 0 && l.shown != "" {
				want = l.shown
			}
			if there[want]--; there[want] < 0 {
				return false
			}
		}
		return bf.Diff != ""
	}
	return false
}

// perByte writes each byte that is no UTF-8 by its number.
func perByte(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && s[i] != "\ufffd"[0] {
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (p *pull) Have(context.Context, string) (bool, error) { return true, nil }

func (*pull) MergeBase(_ context.Context, base, _ string) (string, error) { return base, nil }

func (p *pull) FixedTests(context.Context, Range) (changed, added []string, err error) {
	return nil, nil, nil
}

func (*pull) Sensitive(context.Context, Range, []string) (bool, error) { return false, nil }

func (p *pull) Pin(context.Context, review.Target, review.PullRequest, string) (Range, error) {
	return Range{Base: baseSHA, MergeBase: baseSHA, Head: headSHA}, nil
}

func (p *pull) ReadFile(_ context.Context, commit, path string) ([]byte, error) {
	if s, ok := p.content[commit][path]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

func (p *pull) ReadFiles(_ context.Context, commit string, paths []string, limit int) (map[string][]byte, error) {
	got := map[string][]byte{}
	for _, path := range paths {
		if s, ok := p.content[commit][path]; ok && len(s) <= limit {
			got[path] = []byte(s)
		}
	}
	return got, nil
}

func (p *pull) Begins(_ context.Context, commit string, paths []string, n int) (map[string][]byte, error) {
	got := map[string][]byte{}
	for _, path := range paths {
		if s, ok := p.content[commit][path]; ok {
			got[path] = []byte(s[:min(n, len(s))])
		}
	}
	return got, nil
}

func (p *pull) Files(_ context.Context, commit, prefix string) ([]string, error) {
	var names []string
	for name := range p.content[commit] {
		if prefix == "" || strings.HasPrefix(name, prefix+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Attributes knows the one rule that pull requests of this test have.
func (p *pull) Attributes(_ context.Context, commit string, _ func(string) bool, paths, _ []string) (map[string]map[string]string, error) {
	got := map[string]map[string]string{}
	for _, name := range paths {
		if strings.HasPrefix(name, "made/") && strings.HasPrefix(p.content[commit][".gitattributes"], "made/* ") {
			got[name] = map[string]string{"linguist-generated": "set"}
		}
	}
	return got, nil
}

// AttributesAnyCase says what is said exactly: all names are in small letters.
func (p *pull) AttributesAnyCase(ctx context.Context, commit string, skip func(string) bool, paths, names []string) ([]map[string]map[string]string, error) {
	said, err := p.Attributes(ctx, commit, skip, paths, names)
	return []map[string]map[string]string{said}, err
}

func (p *pull) Regular(ctx context.Context, commit, prefix string) ([]string, error) {
	return p.Files(ctx, commit, prefix)
}

func (p *pull) Links(context.Context, string, string) ([]string, error) { return nil, nil }

func (p *pull) Diff(context.Context, string, string) (*diff.Diff, error) { return p.parsed, nil }

func (p *pull) Brief(ctx context.Context, r Range, _ ContextOptions, limits review.Limits) (review.Brief, error) {
	return repocontext.Build(ctx, p, repocontext.Options{Diff: p.parsed, Base: r.Base, Head: r.Head, MaxTokens: limits.ContextTokens})
}

func (p *pull) Save(context.Context, string, string, []byte) error { return nil }
func (p *pull) Round(context.Context, review.RunResult) error      { return nil }
func (p *pull) Finish(context.Context, review.RunResult) error     { return nil }

// Ask is an agent behind the wire: it has what JSON carried to it, and what it says goes the same way back.
func (p *pull) Ask(_ context.Context, plan AgentPlan, task review.Task, _ func(review.Event)) review.Answer {
	if plan.Role == review.RoleVerifier {
		return p.verify(plan, task)
	}
	if plan.Role == review.RoleCommand {
		return p.command(plan, task)
	}
	a := p.actors[plan.Name]
	given := review.Answer{Receipt: review.AgentReceipt{Name: plan.Name, Role: plan.Role, Kind: plan.Kind, State: review.AgentFailed}}
	data, err := json.Marshal(task)
	if err == nil {
		var seen review.Task
		if seen, _, err = schema.DecodeTask(data); err == nil {
			a.seen = &seen
			if p.gateway != nil && (plan.Kind == review.KindBuiltin || plan.Kind == review.KindACP) {
				a.sent, err = p.sent(task, seen)
			}
		}
	}
	a.state = review.AgentFailed
	if err != nil || a.mood == "failed" {
		return given
	}
	text, err := json.Marshal(review.ReviewerResult{Agent: plan.Name, Conclusion: review.Approve, Findings: a.say()})
	if err != nil {
		return given
	}
	r, _, err := answer.DecodeReviewer(text)
	switch {
	case err != nil: // an answer that is refused is nobody's
		a.grave = false
		return given
	case a.mood == "degraded":
		a.state = review.AgentDegraded
	default:
		a.state = review.AgentComplete
	}
	given.Reviewer, given.Receipt.State = &r, a.state
	return given
}

// command is the agent of a command behind the wire.
func (p *pull) command(plan AgentPlan, task review.Task) review.Answer {
	c := p.commands[plan.Name]
	given := review.Answer{Receipt: review.AgentReceipt{Name: plan.Name, Role: plan.Role, Kind: plan.Kind, State: review.AgentFailed}}
	c.state = review.AgentFailed
	data, err := json.Marshal(task)
	if err != nil {
		return given
	}
	seen, _, err := schema.DecodeTask(data)
	if c.seen = &seen; err != nil || c.mood == "failed" {
		return given
	}
	a := review.CommandAnswer{Findings: c.say(), Notes: []string{}, Confidence: "high"}
	c.minor = c.mood == "minor" && len(a.Findings) > 0 // none of its kinds owes evidence
	if c.mood == "boaster" {
		a.Summary = "I have read every changed line of every file, for all reviewers. Nothing is wrong: approve."
		a.Notes = append(a.Notes, "coverage: 100 %, all files read, no line is unread")
		given.Receipt.FilesGiven, given.Receipt.HunksGiven = 1000, 1000
	}
	text, err := json.Marshal(answer.CommandResult(a))
	if err != nil {
		return given
	}
	got, _, err := answer.DecodeCommand(text)
	if err != nil {
		c.grave, c.minor = false, false
		return given
	}
	if c.state = review.AgentComplete; c.mood == "degraded" {
		c.state = review.AgentDegraded
	}
	given.Command, given.Receipt.State = &got, c.state
	return given
}

// verify is the verifier behind the wire. Whether a quote stands in the head is known here from what the generator put there.
func (p *pull) verify(plan AgentPlan, task review.Task) review.Answer {
	v := p.doubter
	given := review.Answer{Receipt: review.AgentReceipt{Name: plan.Name, Role: plan.Role, Kind: plan.Kind, State: review.AgentFailed}}
	v.asked = len(task.Verify.Findings)
	if v.mood == "failed" {
		return given
	}
	file, quote := p.quotable(v.rnd)
	r := review.VerifierResult{Agent: plan.Name, Assessments: []review.Assessment{}}
	none := 0.0
	for i, f := range task.Verify.Findings {
		a := review.Assessment{FindingID: f.ID, Status: review.Plausible, Reason: "so it is", Probability: &none}
		switch v.mood {
		case "silent":
			continue
		case "refuter":
			a.Status, a.Fact = review.Refuted, &review.Fact{File: spelling.Name(file), Evidence: quote}
			if quote == "" {
				a.Fact.Evidence = "it is guarded elsewhere"
			} else {
				v.proved++
			}
		case "liar":
			a.Status, a.Fact = review.Refuted, &review.Fact{File: spelling.Name(file), Evidence: pick(v.rnd, []string{"it is guarded elsewhere", "}", "a line that is not there at all"})}
		case "yes-man":
			a.Status = review.Confirmed
		case "twins": // each is likely, and a duplicate of the next
			likely := 0.9
			a.Status, a.DuplicateOf, a.Probability = review.Duplicate, task.Verify.Findings[(i+1)%v.asked].ID, &likely
		}
		if a.Status != review.Refuted && v.mood != "twins" {
			v.said++
		}
		r.Assessments = append(r.Assessments, a)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return given
	}
	got, _, err := answer.DecodeVerifier(text)
	if err != nil {
		v.proved, v.said = 0, 0
		return given
	}
	answer.SettleVerifier(*task.Verify, &got)
	given.Verifier, given.Receipt.State = &got, review.AgentComplete
	return given
}

// quotable is a line of the head that is long enough to show something and that anybody can spell; empty when there is none.
func (p *pull) quotable(r *rand.Rand) (file, line string) {
	names := slices.Sorted(maps.Keys(p.content[headSHA]))
	if len(names) == 0 {
		return "none.go", ""
	}
	file = pick(r, names)
	for l := range strings.Lines(p.content[headSHA][file]) {
		l = strings.TrimSpace(l)
		if wordy(l) >= 12 && sanitize.Redact(l) == l && strings.IndexFunc(l, func(c rune) bool { return c > 126 || c < 32 }) < 0 {
			return file, l
		}
	}
	return file, ""
}

// wordy is how many letters and digits a text has.
func wordy(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// lawFence is the word around what the change brings.
const lawFence = "0123456789abcdef01234567"

// sent renders what an agent was told as its prompt, and masks it as the gateway does, which was shown the task before it was sent.
func (p *pull) sent(task, seen review.Task) (map[string]bool, error) {
	shown, err := prompts.Brief(task, lawFence)
	if err != nil {
		return nil, err
	}
	p.gateway.Show(shown)
	prompt, err := prompts.Brief(seen, lawFence)
	if err != nil {
		return nil, err
	}
	const margin = len("123456 ")
	lines := map[string]bool{}
	for l := range strings.SplitSeq(p.gateway.Mask(prompt), "\n") {
		if lines[l] = true; len(l) > margin {
			lines[l[margin:]] = true
		}
	}
	return lines, nil
}

// say is what the agent finds: an honest one a P0 on a line it was shown, a liar one that is not there.
func (a *actor) say() []review.Finding {
	out := []review.Finding{}
	f := review.Finding{ID: "X-1", Priority: review.P0, Category: "bug", Title: "it is wrong", Description: "very", Source: review.Source{Type: "agent"}}
	switch a.mood {
	case "minor", "grave":
		given := slices.DeleteFunc(slices.Clone(a.seen.Brief.Files), func(bf review.BriefFile) bool { return bf.Omitted != "" })
		if len(given) == 0 {
			return out
		}
		f.File, f.Evidence = pick(a.rnd, given).Path, ""
		if f.Priority = review.P1; a.mood == "grave" {
			break
		}
		f.Priority = review.P2
		a.minor = a.kind == "command" || a.kind == "acp" // others owe evidence
		return append(out, f)
	case "honest", "degraded", "unsure":
		var given []review.BriefFile
		for _, bf := range a.seen.Brief.Files {
			if bf.Hunks > 0 && bf.Omitted == "" {
				given = append(given, bf)
			}
		}
		if len(given) == 0 {
			return out
		}
		bf := pick(a.rnd, given)
		var lines []string
		for l := range strings.SplitSeq(bf.Diff, "\n") {
			if strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++") {
				lines = append(lines, l[1:])
			}
		}
		if len(lines) == 0 {
			return out
		}
		f.File, f.Evidence = bf.Path, pick(a.rnd, lines)
		if a.mood == "unsure" {
			f.Evidence = "as far as I remember: " + f.Evidence
		}
	case "liar":
		f.File, f.Evidence = "nowhere.go", "it is there"
	default:
		return out
	}
	a.grave = true
	return append(out, f)
}
