package static

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// linter is one program that may be on the machine.
type linter struct {
	name string
	// kinds are the families of files it reads.
	kinds []string
	// needs are files of which one must stand in the checkout's root; empty when none is needed.
	needs []string
	// local is where a project keeps its own copy, below the checkout; empty when there is no such custom.
	local string
	// args makes the command line for the changed files of its kinds.
	args func(files []string) []string
	// parse reads its output.
	parse func(stdout, stderr []byte) []remark
	// score rates one remark.
	score func(remark) int
}

// remark is what a linter says about a line.
type remark struct {
	file string
	line int
	// code is the linter's name of the rule, level its own word for how bad it is; both may be empty.
	code, level, message string
}

// defaultLinterTimeout is what a person waits for: what a slow linter compiled stands in its cache by the next run.
const defaultLinterTimeout = 10 * time.Second

// cacheNames are the variables by which a user moves the caches of Go's tools away from HOME.
var cacheNames = []string{"GOCACHE", "GOMODCACHE", "GOPATH", "XDG_CACHE_HOME"}

// CacheEnv gives the variables ("NAME=value") of this process by which linters find caches: without a warm one go vet compiles
// the standard library anew, which takes half a minute. They hold no credential.
func CacheEnv() []string {
	var env []string
	for _, name := range cacheNames {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// lint runs the linters on a local change, all at once (threats.md T01: never on a pull request). A linter that is missing, fails or
// takes too long is a note.
func (w *work) lint(ctx context.Context) error {
	if w.task.PRNumber != 0 || w.opts.CheckoutDir == "" {
		return nil
	}
	w.compare()
	var missing []string
	var answers []*answer
	vetted := true // or there is no Go to vet
	var running sync.WaitGroup
	for _, l := range linters() {
		names := w.filesOf(l)
		if len(names) == 0 {
			continue
		}
		program, err := l.program(w.opts.CheckoutDir)
		if err != nil {
			vetted = vetted && l.name != goVet
			missing = append(missing, l.name)
			continue
		}
		if !w.hasOneOf(l.needs) {
			w.note("%s was left out: the checkout has no %s.", l.name, strings.Join(l.needs, " or "))
			continue
		}
		if l.name == goVet && w.opts.LinterTimeout == 0 && nothingCompiled() {
			vetted = false
			w.tell("go vet was left out: it would first compile the standard library, for half a minute or so. Run `go vet ./...` once; prloop runs it from then on.")
			continue
		}
		w.say("running %s on %s", l.name, files(len(names)))
		a := new(answer)
		answers = append(answers, a)
		running.Go(func() { *a = w.run(ctx, l, program, names) })
	}
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var ran []string
	for _, a := range answers {
		if a.note != "" {
			vetted = vetted && a.linter.name != goVet
			w.tell("%s", a.note)
			continue
		}
		if a.linter.name == goVet && slices.ContainsFunc(a.remarks, notHere) {
			vetted = false // it has not read the package then
		}
		ran = append(ran, a.linter.name)
		w.place(a.linter, a.remarks)
	}
	if !vetted {
		w.readGo(ctx)
	}
	if len(ran) > 0 {
		w.tell("Linters that ran: %s.", strings.Join(ran, ", "))
	}
	if len(missing) > 0 {
		w.note("Not on this machine: %s.", strings.Join(missing, ", "))
	}
	return nil
}

// compare finds the changed files that stand in the checkout as they are reviewed. A linter reads the checkout, which may have
// gone on since: what it says of another text is not said of the change.
func (w *work) compare() {
	root, err := os.OpenRoot(w.opts.CheckoutDir)
	if err != nil {
		return
	}
	defer root.Close()
	var other []string
	for _, f := range w.files {
		name := filepath.FromSlash(spelling.Raw(f.path))
		if !filepath.IsLocal(name) || !slices.ContainsFunc(linters(), func(l linter) bool { return slices.Contains(l.kinds, f.kind()) }) {
			continue
		}
		lines := f.lines
		if w.opts.Exact {
			lines = nil
		}
		if f.stands = sameLines(root, name, lines); !f.stands && !w.opts.Exact {
			other = append(other, code(f.path))
		}
	}
	if len(other) > 0 {
		w.tell("No linter read %s: the working tree has other text than is reviewed.", printable(strings.Join(other, ", "), 300))
	}
}

// sameLines reports whether a file has the lines of a diff at their places.
func sameLines(root *os.Root, name string, lines []diff.Line) bool {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > lintedBytes {
		return false
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return false
	}
	text := strings.Split(string(data), "\n")
	return !slices.ContainsFunc(lines, func(l diff.Line) bool {
		return l.New < 1 || l.New > len(text) || strings.TrimSuffix(spelling.Text(text[l.New-1]), "\r") != strings.TrimSuffix(l.Text, "\r")
	})
}

// lintedBytes is the largest file that is given to a linter.
const lintedBytes = 8 << 20

// filesOf are the changed files a linter reads.
func (w *work) filesOf(l linter) []string {
	var out []string
	for _, f := range w.files {
		if f.stands && slices.Contains(l.kinds, f.kind()) {
			out = append(out, spelling.Raw(f.path))
		}
	}
	return out
}

func (w *work) standing(name string) bool {
	root, err := os.OpenRoot(w.opts.CheckoutDir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

func (w *work) hasOneOf(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, w.standing)
}

func (l linter) program(checkout string) (string, error) {
	if l.local != "" {
		if p := filepath.Join(checkout, filepath.FromSlash(l.local)); exists(p) {
			return filepath.Abs(p)
		}
	}
	name, _, _ := strings.Cut(l.name, " ")
	return proc.LookPath(name)
}

// Linters are the names of those that local changes of a checkout would be read by, and of those that are not on this machine.
func Linters(checkout string) (here, missing []string) {
	for _, l := range linters() {
		if _, err := l.program(checkout); err != nil {
			missing = append(missing, l.name)
			continue
		}
		here = append(here, l.name)
	}
	return here, missing
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// answer is what became of a linter: its remarks, or a note that says why there are none.
type answer struct {
	linter  linter
	remarks []remark
	note    string
}

// run starts a linter. Its exit status says only that it found something; what counts is what it wrote.
func (w *work) run(ctx context.Context, l linter, program string, files []string) answer {
	timeout := w.opts.LinterTimeout
	if timeout <= 0 {
		timeout = defaultLinterTimeout
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: program, Args: l.args(files), Dir: w.opts.CheckoutDir, Timeout: timeout, KeepTail: 256 << 10,
		Env: proc.BaseEnv(append(CacheEnv(), "NO_COLOR=1", "CI=1", "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GIT_OPTIONAL_LOCKS=0")...),
	})
	var exit *proc.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Reason != proc.ReasonNone || exit.Signal != "") {
		if exit != nil && exit.Reason == proc.ReasonTimeout {
			return answer{linter: l, note: fmt.Sprintf("%s was ended after %v. Run it yourself, or again: what it has compiled by now is cached.", l.name, timeout)}
		}
		return answer{linter: l, note: fmt.Sprintf("%s gave no answer: %s.", l.name, printable(err.Error(), 200))}
	}
	remarks := l.parse(res.Stdout, res.StderrTail)
	if err != nil && len(remarks) == 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(string(res.StderrTail)), "\n")
		return answer{linter: l, note: fmt.Sprintf("%s gave no answer: %s: %s.", l.name, printable(err.Error(), 100), code(first))}
	}
	return answer{linter: l, remarks: remarks}
}

// lintRule begins the names of the rules that are linters.
const lintRule = "lint-"

// place keeps the remarks about added lines.
func (w *work) place(l linter, remarks []remark) {
	hits := map[*file][]hit{}
	for _, r := range remarks {
		f, i := w.added(r.file, r.line)
		if f == nil {
			continue
		}
		name, _, _ := strings.Cut(l.name, " ")
		title := l.name
		if r.code != "" {
			title += " " + printable(r.code, 60)
		}
		h := hit{
			rule: lintRule + name, category: review.CategoryBug, score: l.score(r), confidence: 0.8, line: r.line,
			at: i, title: title, description: code(withoutSecrets(r.message).marked()) + " (" + l.name + ")",
			suggestion: "Do what " + l.name + " asks, or switch the rule off where it is wrong.",
		}
		if h.score <= 4 {
			h.category = review.CategoryStyle
		}
		if l.name == goVet && r.level == "error" {
			h.title, h.suggestion = "Does not compile", "Make it compile: `go vet` says the same of its package."
		}
		hits[f] = append(hits[f], h)
	}
	for _, f := range w.files {
		w.keep(f, hits[f])
	}
}

// added finds the added line a linter speaks of. Linters name files absolutely or relative to where they ran.
func (w *work) added(name string, line int) (*file, int) {
	if filepath.IsAbs(name) {
		for _, dir := range []string{w.opts.CheckoutDir, real(w.opts.CheckoutDir)} {
			if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
				name = rel
				break
			}
		}
	}
	name = spelling.Name(path.Clean(filepath.ToSlash(name)))
	for _, f := range w.files {
		if f.path != name {
			continue
		}
		if i := slices.IndexFunc(f.lines, func(l diff.Line) bool { return l.Op == '+' && l.New == line }); i >= 0 {
			return f, i
		}
	}
	return nil, 0
}

func real(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return p
	}
	return dir
}

// printable cuts a text of others to one short line without control and hidden characters.
func printable(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || hiddenKind(r) != ""
	}), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
