package static

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Options say what the reviewer may use besides the task. The zero value reads the diff and nothing else.
type Options struct {
	// CheckoutDir is the folder of a local range. Linters run there, and only when the task is about no pull request.
	CheckoutDir string
	// Exact tells that CheckoutDir holds what is reviewed and nothing else: an export.
	Exact bool
	// LinterTimeout is the wall time of one linter; 0 means 10 seconds.
	LinterTimeout time.Duration

	now func() time.Time
}

// Review reads the task's diff. It fails only when ctx ends: a diff that cannot be read is a note in the report, and
// what was found elsewhere still counts.
func Review(ctx context.Context, task review.Task, opts Options, emit func(review.Event)) (review.ReviewerResult, error) {
	if opts.now == nil {
		opts.now = time.Now
	}
	if emit == nil {
		emit = func(review.Event) {}
	}
	w := &work{task: task, opts: opts, emit: emit}
	w.say("reading the added lines of %s", files(len(task.Brief.Files)))
	for _, bf := range task.Brief.Files {
		if err := context.Cause(ctx); err != nil {
			return review.ReviewerResult{}, fmt.Errorf("static review: %w", err)
		}
		w.read(bf)
	}
	if err := w.lint(ctx); err != nil {
		return review.ReviewerResult{}, fmt.Errorf("static review: %w", err)
	}
	return w.result(), nil
}

type work struct {
	task  review.Task
	opts  Options
	emit  func(review.Event)
	files []*file
	found []placed
	notes []string
}

// placed is a hit in its file.
type placed struct {
	hit
	file *file
}

func (w *work) say(format string, args ...any) {
	w.emit(review.Event{Kind: review.EventProgress, Message: fmt.Sprintf(format, args...)})
}

// files is how many there are.
func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// tell notes what the receipt of the run says too.
func (w *work) tell(format string, args ...any) {
	w.note(format, args...)
	w.emit(review.Event{Kind: review.EventLog, Level: "info", Message: fmt.Sprintf(format, args...)})
}

func (w *work) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// read applies the rules to one file. Files left out are judged by their name at most; excluded ones by nothing.
func (w *work) read(bf review.BriefFile) {
	f := &file{path: bf.Path, language: bf.Language, added: bf.Change == string(diff.Added), test: isTest(bf.Path)}
	if bf.Change == string(diff.Deleted) || strings.Contains(bf.Omitted, "excluded") {
		return
	}
	if bf.Omitted != "" || bf.Diff == "" {
		w.keep(f, keyFiles(f))
		return
	}
	if err := f.read(bf.Diff); err != nil {
		w.note("The diff of %s could not be read: %v.", code(bf.Path), err)
		return
	}
	w.files = append(w.files, f)
	for _, rule := range allRules() {
		w.keep(f, rule(f))
	}
}

// read takes the lines of the file from its diff.
func (f *file) read(text string) error {
	parsed, err := diff.Parse(headed(text))
	if err != nil {
		return err
	}
	for i := range parsed.Files {
		for h := range parsed.Files[i].Hunks {
			for l := range parsed.Files[i].Hunks[h].Lines() {
				if l.Op != '-' && len(l.Text) <= maxLineBytes {
					f.lines = append(f.lines, l)
				}
			}
		}
	}
	return nil
}

// headed gives a bare list of hunks the header the parser wants; the names in it mean nothing.
func headed(text string) string {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.HasPrefix(text, "@@ ") {
		return "diff --git a/x b/x\n--- a/x\n+++ b/x\n" + text
	}
	return text
}

// keep takes the hits of one rule in one file. After a few of one kind the rest only lengthens the last: a generated
// file must not drown the report. What has to be fixed stays apart, as each is judged by its own line (threats.md T505, T858).
func (w *work) keep(f *file, hits []hit) {
	count := map[string]int{}
	last := map[string]int{}
	for _, h := range hits {
		if !h.alone() {
			if count[h.rule]++; count[h.rule] > perFile {
				continue
			}
			last[h.rule] = len(w.found)
		}
		w.found = append(w.found, placed{h, f})
	}
	for rule, n := range count {
		if n > perFile {
			w.found[last[rule]].description += fmt.Sprintf(" The file has %d more such lines.", n-perFile)
		}
	}
}

// result orders the findings by urgency and place and holds them to their limits.
func (w *work) result() review.ReviewerResult {
	slices.SortStableFunc(w.found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.line, b.line), cmp.Compare(a.rule, b.rule))
	})
	omitted := w.bound()
	findings := make([]review.Finding, 0, len(w.found))
	at, seen := w.opts.now().UTC().Truncate(time.Second), map[string]int{}
	for _, p := range w.found {
		if p.at >= 0 {
			p.evidence = p.file.around(p.at)
		}
		findings = append(findings, w.finding(p, at, seen))
	}
	return review.ReviewerResult{
		Agent: w.task.Agent, PRNumber: w.task.PRNumber, Findings: findings, Omitted: omitted, Issues: review.Count(findings),
		Conclusion: consensus.Decide(findings, review.ReviewState{}).Consensus,
		FullReport: w.report(len(findings)),
	}
}

// bound leaves out what is beyond the limits and says how much that is. Secrets, and what else has to be fixed, take nobody's place and lose theirs to nobody: those that
// are dismissed in a change count too, and what is found behind them is not passed over (threats.md T489).
func (w *work) bound() (omitted int) {
	limit := w.task.Limits.Findings
	if limit <= 0 {
		limit = review.DefaultLimits().Findings
	}
	kinds := []struct {
		of    func(hit) bool
		most  int
		words string
		count int
	}{
		{of: hit.secret, most: review.MostSecrets, words: "secrets"},
		{of: hit.alone, most: review.MostGrave, words: "findings that have to be fixed"},
		{of: func(hit) bool { return true }, most: limit, words: "findings of lower urgency"},
	}
	w.found = slices.DeleteFunc(w.found, func(p placed) bool {
		for i := range kinds {
			if k := &kinds[i]; k.of(p.hit) {
				k.count++
				return k.count > k.most
			}
		}
		return false
	})
	for _, k := range kinds {
		if n := k.count - k.most; n > 0 {
			w.note("%d %s are left out (limit %d).", n, k.words, k.most)
			omitted += n
		}
	}
	return omitted
}

// finding gives a hit the wire's shape. The id depends on rule, file and the words of the evidence, so that it stays when lines
// move.
func (w *work) finding(p placed, at time.Time, seen map[string]int) review.Finding {
	words := strings.ReplaceAll(p.evidence, sanitize.Redacted, "")
	sum := sha256.Sum256([]byte(p.rule + "\x00" + p.file.path + "\x00" + words))
	id := "STATIC-" + strings.ToUpper(strings.NewReplacer(".", "-").Replace(p.rule)) + "-" + hex.EncodeToString(sum[:4])
	if seen[id]++; seen[id] > 1 {
		id += fmt.Sprintf("-%d", seen[id])
	}
	f := review.Finding{
		ID: id, Priority: review.PriorityOfScore(p.score), Category: p.category, File: p.file.path,
		Title: p.title, Description: p.description, Suggestion: p.suggestion,
		Source: review.Source{Type: "agent", Name: w.task.Agent, Timestamp: at},
		Score:  p.score, Confidence: &p.confidence, Evidence: p.evidence, Language: p.file.language,
	}
	if p.line > 0 {
		f.Line = &p.line
	}
	if p.end > p.line {
		f.LineEnd = &p.end
	}
	return f
}

// report is the reviewer's own account, in Markdown.
func (w *work) report(findings int) string {
	var b strings.Builder
	lines := 0
	for _, f := range w.files {
		f.each(func(int, diff.Line) { lines++ })
	}
	fmt.Fprintf(&b, "Static review, without a model: %d added lines of %d files read (%d files in the diff), %d findings.\n",
		lines, len(w.files), len(w.task.Brief.Files), findings)
	for _, n := range w.notes {
		b.WriteString("\n- " + n)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// code writes a name for Markdown without letting it end the span.
func code(s string) string { return "`" + strings.ReplaceAll(printable(s, 200), "`", "'") + "`" }
