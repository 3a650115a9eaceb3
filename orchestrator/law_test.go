package orchestrator

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var (
	lawCases = flag.Int("law-cases", 10_000, "how many generated changes TestConvergedImpliesCoverage tries")
	lawSeed  = flag.Uint64("law-seed", 1, "the seed of the first of them")
)

// TestConvergedImpliesCoverage holds the law of coverage against generated changes and agents (decision 30): when a run
// converges, every changed line of text stood in the requests of enough complete reviewers other than static, and no P0 that
// anybody raised was passed over. What is text, what changed, and what was sent is known here from the generator and from
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
	files   []changedFile
	tokens  int
	need    int // Request.MinReviewers
	actors  map[string]*actor
	agents  []AgentPlan
	content map[string]map[string]string // commit, path, bytes
	parsed  *diff.Diff
}

// changedFile is one file of a change and what is true of it.
type changedFile struct {
	name, old string // bytes
	kind      string
	// text is true when a person can read it; excused when a rule lets it go unread.
	text, excused bool
	// lines are the changed lines with their marks, as bytes.
	lines []string
	// section is what git prints of it; empty for one that is listed alone, for the reason omitted.
	section string
	omitted string
	binary  bool
	change  diff.Change
}

// actor is one reviewer, and what it did.
type actor struct {
	mood string
	kind string
	rnd  *rand.Rand
	seen *review.Task
	// state is what became of it; grave whether it raised a P0.
	state review.AgentState
	grave bool
}

var (
	oddNames = []string{"src/a.go", "lib/b.kt", "web/c.lua", "caf\xe9.lua", "new\nline.kt", `back\slash.lua`, "cr\rname.kt", "\xff\xfe.swift", "q\"uote.lua", " lead.kt",
		"tab\tname.lua", "tag\U000e0041.swift", "rtl\u202egnp.kt", "\ufffd.lua", "C:drive.kt", "ünï/日本.swift", "-rf.lua", "ctl\x01\x7f.kt", "dir\xe9/x.lua", "a`b|c.md", "noend"}
	excusedNames = []string{"go.sum", "vendor/x/y.go", "web/all.min.js", "package-lock.json"}
	oddLines     = []string{"x := 1", "return nil", "system(\"convert \xff\xfe\" . $_GET[\"f\"]);", "cut(\"\xed\xa0\x80\")", "", "\tif err != nil {", "a\rb", "\\ No newline at end of file",
		"--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\u202eevil", "zero\u200bwidth", "\x00"[:0] + "end", "caf\xe9", "key = 1 // \x1b[31m", "<<<<<<< HEAD", "[REDACTED]"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func generate(r *rand.Rand) *pull {
	p := &pull{actors: map[string]*actor{}, content: map[string]map[string]string{baseSHA: {}, headSHA: {}}, tokens: 100_000}
	if r.IntN(8) == 0 {
		p.tokens = 200 + r.IntN(600)
	}
	names := map[string]bool{}
	for range 1 + r.IntN(3) {
		name := pick(r, oddNames)
		excused := r.IntN(8) == 0
		if excused {
			name = pick(r, excusedNames)
		}
		if names[name] {
			continue
		}
		names[name] = true
		p.add(r, name, excused)
	}
	kinds := []string{"builtin", "command", "command", "acp", kindStatic}
	moods := []string{"silent", "silent", "silent", "honest", "liar", "failed", "degraded", "unsure"}
	if r.IntN(2) == 0 {
		moods = moods[:3]
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
	return p
}

// add makes one changed file.
func (p *pull) add(r *rand.Rand, name string, excused bool) {
	f := changedFile{name: name, kind: pick(r, []string{"edit", "edit", "edit", "add", "delete", "nul", "utf16", "large", "picture", "rename", "mode", "link", "module"}), excused: excused, text: true}
	var old, now []string
	for range 1 + r.IntN(6) {
		old, now = append(old, pick(r, oddLines)), append(now, pick(r, oddLines))
	}
	join := func(l []string) string { return strings.Join(l, "\n") + "\n" }
	base, head := p.content[baseSHA], p.content[headSHA]
	a, b := spelling.Name("a/"+name), spelling.Name("b/"+name)
	start := fmt.Sprintf("diff --git %s %s\n", a, b)
	body := func(old, now []string) string {
		var s strings.Builder
		fmt.Fprintf(&s, "@@ -%s +%s @@\n", extent(len(old)), extent(len(now)))
		for _, l := range old {
			f.lines = append(f.lines, "-"+l)
		}
		for _, l := range now {
			f.lines = append(f.lines, "+"+l)
		}
		s.WriteString(strings.Join(f.lines, "\n") + "\n")
		return s.String()
	}
	switch f.kind {
	case "edit":
		f.change, f.section = diff.Modified, start+"index 1111111..2222222 100644\n--- "+a+"\n+++ "+b+"\n"+body(old, now)
		base[name], head[name] = join(old), join(now)
	case "add":
		f.change, f.section = diff.Added, start+"new file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ "+b+"\n"+body(nil, now)
		head[name] = join(now)
	case "delete":
		f.change, f.section = diff.Deleted, start+"deleted file mode 100644\nindex 1111111..0000000\n--- "+a+"\n+++ /dev/null\n"+body(old, nil)
		base[name] = join(old)
	case "nul":
		f.change, f.binary = diff.Modified, true
		f.section = start + "index 1111111..2222222 100644\nBinary files " + a + " and " + b + " differ\n"
		base[name], head[name] = join(old), join(now)+"\x00\n"
		f.lines = []string{"+\x00"}
	case "utf16":
		f.change, f.binary = diff.Added, true
		f.section = start + "new file mode 100644\nindex 0000000..2222222\nBinary files /dev/null and " + b + " differ\n"
		var s strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeffimport os\nos.system('x')\n")) {
			s.Write([]byte{byte(u), byte(u >> 8)})
		}
		head[name] = s.String()
		f.lines = []string{"+import os"}
	case "large":
		f.change, f.omitted = diff.Modified, "too large"
		f.section = start + "index 1111111..2222222 100644\nBinary files " + a + " and " + b + " differ\n"
		base[name], head[name] = join(old), strings.Repeat(join(now)+"long\n", 200)
		f.lines = []string{"+long"}
	case "picture":
		f.name, f.text = strings.TrimRight(name, "/")+".png", false
		f.section = fmt.Sprintf("diff --git %[1]s %[2]s\nnew file mode 100644\nindex 0000000..2222222\nBinary files /dev/null and %[2]s differ\n", spelling.Name("a/"+f.name), spelling.Name("b/"+f.name))
		f.change, f.binary = diff.Added, true
		head[f.name] = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10"
	case "rename":
		f.change, f.old = diff.Renamed, "old-"+strings.ReplaceAll(name, "/", "-")
		f.section = fmt.Sprintf("diff --git %s %s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", spelling.Name("a/"+f.old), b, spelling.Name(f.old), spelling.Name(name))
		base[f.old], head[name] = join(now), join(now)
	case "mode":
		f.change, f.section = diff.Modified, start+"old mode 100644\nnew mode 100755\n"
		base[name], head[name] = join(now), join(now)
	case "link":
		f.change = diff.Added
		f.section = start + "new file mode 120000\nindex 0000000..2222222\n--- /dev/null\n+++ " + b + "\n@@ -0,0 +1 @@\n+../../etc/passwd\n\\ No newline at end of file\n"
		f.lines, head[name] = []string{"+../../etc/passwd"}, "../../etc/passwd"
	case "module":
		f.change = diff.Modified
		f.section = start + "index 1111111..2222222 160000\n--- " + a + "\n+++ " + b + "\n@@ -1 +1 @@\n-Subproject commit " + sha(3) + "\n+Subproject commit " + sha(4) + "\n"
		f.lines = []string{"-Subproject commit " + sha(3), "+Subproject commit " + sha(4)}
	}
	p.files = append(p.files, f)
}

func extent(n int) string {
	if n == 0 {
		return "0,0"
	}
	return fmt.Sprintf("1,%d", n)
}

func (p *pull) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "budget %d tokens, %d needed\n", p.tokens, p.need)
	for _, f := range p.files {
		fmt.Fprintf(&b, "  %-8s %q %s\n", f.kind, f.name, f.change)
	}
	for name, a := range p.actors {
		fmt.Fprintf(&b, "  %s: %s, %s, %s, P0 %v\n", name, a.kind, a.mood, a.state, a.grave)
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
	return l.Run(ctx, newSteps(), Request{
		Run: "run", ReviewID: "0123456789abcdef", Target: review.Target{Base: "main"}, Agents: p.agents, MinReviewers: p.need, DryRun: true,
		Started: time.Unix(1_800_000_000, 0), Limits: review.Limits{ContextTokens: p.tokens},
	})
}

// broken says how a run that converged breaks the law; empty when it does not.
func (p *pull) broken() string {
	counting := 0
	for _, a := range p.actors {
		if a.kind != kindStatic {
			counting++
		}
		if a.grave && a.state != review.AgentFailed {
			return "a P0 was raised, and the run converged"
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
		readers := 0
		for _, a := range p.actors {
			if a.kind != kindStatic && a.state == review.AgentComplete && a.saw(f) {
				readers++
			}
		}
		if readers < need {
			return fmt.Sprintf("%d of %d needed reviewers were given all of %q, and the run converged", readers, need, f.name)
		}
	}
	return ""
}

// saw reports whether every changed line of a file stood in the request of an agent, under the file's name.
func (a *actor) saw(f changedFile) bool {
	for _, bf := range a.seen.Brief.Files {
		if spelling.Raw(bf.Path) != f.name {
			continue
		}
		there := map[string]int{}
		for l := range strings.SplitSeq(bf.Diff, "\n") {
			there[l]++
		}
		for _, l := range f.lines {
			want := perByte(l)
			if a.kind != "command" && a.kind != kindStatic { // what a model is shown has no hidden characters
				want, _ = sanitize.Visible(want)
			}
			if there[want]--; there[want] < 0 {
				return false
			}
		}
		return bf.Diff != ""
	}
	return false
}

// perByte writes each byte that is no UTF-8 as one replacement character.
func perByte(s string) string { return string([]rune(s)) }

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

func (p *pull) Begins(_ context.Context, commit, path string, n int) ([]byte, error) {
	s := p.content[commit][path]
	return []byte(s[:min(n, len(s))]), nil
}

func (p *pull) Files(context.Context, string, string) ([]string, error) { return nil, nil }

func (p *pull) Diff(context.Context, string, string) (*diff.Diff, error) { return p.parsed, nil }

func (p *pull) Brief(ctx context.Context, r Range, _ ContextOptions, limits review.Limits) (review.Brief, error) {
	return repocontext.Build(ctx, p, repocontext.Options{Diff: p.parsed, Base: r.Base, Head: r.Head, MaxTokens: limits.ContextTokens})
}

func (p *pull) Save(context.Context, string, string, []byte) error { return nil }
func (p *pull) Round(context.Context, review.RunResult) error      { return nil }
func (p *pull) Finish(context.Context, review.RunResult) error     { return nil }

// Ask is an agent behind the wire: it has what JSON carried to it, and what it says goes the same way back.
func (p *pull) Ask(_ context.Context, plan AgentPlan, task review.Task, _ func(review.Event)) Answer {
	a := p.actors[plan.Name]
	answer := Answer{Receipt: review.AgentReceipt{Name: plan.Name, Role: plan.Role, Kind: plan.Kind, State: review.AgentFailed}}
	data, err := json.Marshal(task)
	if err == nil {
		var seen review.Task
		if seen, _, err = wire.DecodeTask(data); err == nil {
			a.seen = &seen
		}
	}
	a.state = review.AgentFailed
	if err != nil || a.mood == "failed" {
		return answer
	}
	text, err := json.Marshal(review.ReviewerResult{Agent: plan.Name, Conclusion: review.Approve, Findings: a.say()})
	if err != nil {
		return answer
	}
	r, _, err := wire.DecodeReviewer(text)
	switch {
	case err != nil: // an answer that is refused is nobody's
		a.grave = false
		return answer
	case a.mood == "degraded":
		a.state = review.AgentDegraded
	default:
		a.state = review.AgentComplete
	}
	answer.Reviewer, answer.Receipt.State = &r, a.state
	return answer
}

// say is what the agent finds: an honest one a P0 on a line it was shown, a liar one that is not there.
func (a *actor) say() []review.Finding {
	out := []review.Finding{}
	f := review.Finding{ID: "X-1", Priority: review.P0, Category: "bug", Title: "it is wrong", Description: "very", Source: review.Source{Type: "agent"}}
	switch a.mood {
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
