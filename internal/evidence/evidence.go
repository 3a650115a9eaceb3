// Package evidence holds what an agent claims against the files of a commit: whether the code that a finding quotes stands where the finding
// says, and whether a fact does (design.md "Evidence").
package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Result is what the machine found out about one claim. It is established while the answer is still unredacted, and stored beside it.
type Result struct {
	// Status is verified, none, or false.
	Status Status `json:"status"`
	// Reason says in one line why Status is false, or why a fact was not looked for.
	Reason string `json:"reason,omitempty"`
	// LineDropped is true when the claimed line does not exist in the file; the finding is shown without one.
	LineDropped bool `json:"lineDropped,omitempty"`
	// Line and LineEnd are where the quote stands in the head version, when it stands there once and nothing, or something else, is claimed; else 0.
	Line    int `json:"line,omitempty"`
	LineEnd int `json:"lineEnd,omitempty"`
	// Quoted are the first and the last line of the quote there, zeros where nobody can tell which of several places is meant.
	Quoted [2]int `json:"quoted,omitzero"`
	// Altered is true where the file had the quote before, and the change adds these lines, or changes others near them. So it is where the file had it when a dismissal came
	// (Came), and has it no more at the base.
	Altered bool `json:"altered,omitempty"`
	// Named are the lines that the finding claimed where the quote gave it others, else zeros.
	Named [2]int `json:"named,omitzero"`
}

// Status is how a finding's evidence fared.
type Status string

// The three ways.
const (
	Verified Status = "verified"
	None     Status = "none"
	False    Status = "false"
)

// Checker holds claims against the files of a commit. It keeps files that it has read, as far as there is room for them.
type Checker struct {
	history    Reader
	head, base string
	changed    map[string]review.BriefFile
	// also are the changed files by the ways to write their names, as readAs makes one of them.
	also map[string][]string
	kept kept
	// read is how much it has read of files, in bytes, ruled how much of them the rules for secrets have read for it.
	read, ruled int
	// found are the results that were established, by what of a claim they depend on: the findings of an answer are checked before they are scored, and after.
	found map[claim]Result
	// was are the changed files by the names they had, regions what reviewers were shown of files beside the diff, as it was masked.
	was     map[string][]string
	regions map[string][]review.Region
	// unsure are files whose names may be those of others too.
	unsure []string
	// known is what the run learned of the change: tools show a mask in its place.
	known *sanitize.Learned
	// came are the commits that brought dismissals about a file, by its name there.
	came map[string][]string
}

// claim is what of a finding its result depends on.
type claim struct {
	file, evidence string
	line, end      int
	lined          bool
	required       bool
}

// Reader reads files of commits. One that is not there is fs.ErrNotExist.
type Reader interface {
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
}

// File is a file at a commit.
type File struct {
	Exists bool
	text   *source
	folded string
	lines  int
	known  *sanitize.Learned
}

// New makes a checker of claims about a commit. changed are the files that differ from base; what was taken away may be quoted from there.
func New(h Reader, head, base string, changed []review.BriefFile) *Checker {
	c := &Checker{history: h, head: head, base: base, changed: map[string]review.BriefFile{}, also: map[string][]string{}, found: map[claim]Result{}, kept: kept{files: map[string]File{}}, was: map[string][]string{}, regions: map[string][]review.Region{}}
	for _, f := range changed {
		c.changed[f.Path], c.regions[f.Path] = f, f.Context
		if f.OldPath != "" {
			c.was[f.OldPath] = append(c.was[f.OldPath], f.Path)
		}
		for _, way := range append(respelled(f.Path), f.Path) {
			key := readAs(way)
			if files := c.also[key]; len(files) == 0 || files[len(files)-1] != f.Path {
				c.also[key] = append(files, f.Path)
			}
		}
	}
	return c
}

// Unsure makes the checker hold nothing against a finding about one of these files, whose names may be those of others too.
func (c *Checker) Unsure(files []string) *Checker {
	c.unsure = files
	return c
}

// Knows tells the checker which values masks in quotes may stand for beside those that the rules find.
func (c *Checker) Knows(values *sanitize.Learned) *Checker {
	c.known = values
	return c
}

// Came tells the checker which commits brought dismissals about files, by their names there.
func (c *Checker) Came(commits map[string][]string) *Checker {
	c.came = commits
	return c
}

// Shown tells the checker what reviewers were shown of other code, which they may quote with the masks that it has there.
func (c *Checker) Shown(related []review.RelatedFile) *Checker {
	for _, f := range related {
		c.regions[f.Path] = slices.Concat(c.regions[f.Path], f.Regions)
	}
	return c
}

// Quotes reports whether a quote stands in the file, white space folded, or is not known to be missing.
func (f File) Quotes(quote string) bool {
	stands, all := (&search{known: f.known}).looked(f.folded, Fold(quote))
	return stands || !all
}

// Like counts the lines of the file that are like one, white space around them aside.
func (f File) Like(line string) (n int) {
	if f.text == nil {
		return 0
	}
	for l := range strings.Lines(f.text.text) {
		if strings.TrimSpace(l) == strings.TrimSpace(line) {
			n++
		}
	}
	return n
}

// Bears reports whether a quote stands in the file, also as models copy what they are shown, or is not known to be missing.
func (f File) Bears(quote string) bool {
	s := search{left: vainMost}
	return f.Exists && (silent(quote) || f.Quotes(quote) || s.copied(fileLines(f.text, true), quote) || s.reads(f, quote, true) || s.gaveUp())
}

// respelled are the ways in which a reviewer that did not copy an unusual name may have written it, as they arrive here:
// without the quotes, or read as text.
func respelled(path string) []string {
	raw := spelling.Raw(path)
	if raw == path {
		return nil
	}
	return []string{spelling.Name(strings.Trim(path, `"`)), spelling.Name(string([]rune(raw)))}
}

// readAs is what names are read as that differ in how a letter and its accent are written alone: reviewers write them as one character.
func readAs(name string) string { return norm.NFC.String(name) }

// File gives the path of the changed file that a finding means. A name that several may have, and none has, is of none of them.
func (c *Checker) File(path string) string {
	if files := c.also[readAs(path)]; len(files) == 1 {
		return files[0]
	}
	return path
}

// mostAlike bounds in how many files of names that read alike a quote is looked for.
const mostAlike = 10

// among looks for a finding, of which its own file shows nothing, in the changed files whose names read like the one it wrote. Where these are
// several, nothing is held against it: nobody can tell them apart by what is shown of them.
func (c *Checker) among(ctx context.Context, wrote string, f *review.Finding, required bool) (Result, bool, error) {
	files := c.also[readAs(wrote)]
	if rest, ok := cutSide(wrote); ok && len(files) == 0 {
		files = c.also[readAs(rest)]
	}
	if len(files) < 2 {
		return Result{}, false, nil
	}
	for _, file := range files[:min(len(files), mostAlike)] {
		one := *f
		one.File = sanitize.MaskSpelled(file)
		if ev, err := c.check(ctx, one, required); err != nil || ev.Status == Verified {
			f.File = one.File
			return ev, true, err
		}
	}
	return Result{Status: None}, true, nil
}

// withoutSide reads a finding as one about a changed file, whose name it may have as the header of the diff has it, where there is a file of just the name it
// wrote: if its quote stands there, and not in that, or that did not change.
func (c *Checker) withoutSide(ctx context.Context, file string, f *review.Finding, ev Result) (Result, error) {
	_, changed := c.changed[file]
	if _, own := c.changed[f.File]; !changed || own && ev.Status != False {
		return ev, nil
	}
	one := *f
	one.File = sanitize.MaskSpelled(file)
	is, err := c.check(ctx, one, true)
	if err != nil || is.Status != Verified {
		return ev, err
	}
	f.File = one.File
	return is, nil
}

// cutSide is a name without the side of a diff, in whose header it stands.
func cutSide(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest, true
	}
	return strings.CutPrefix(name, "b/")
}

// Excluded reports whether configuration keeps everybody from reading a changed file.
func (c *Checker) Excluded(path string) bool {
	return strings.Contains(c.changed[path].Omitted, "excluded")
}

// meant is the path that a finding means: one that begins as in the header of a diff, and is there only without that, is read so, one that is
// there only with its accents written otherwise, and one that is there no more, as a file with another name was called so.
func (c *Checker) meant(ctx context.Context, path string) (string, error) {
	name := c.File(path)
	ways := []string{name, norm.NFC.String(name), norm.NFD.String(name)}
	if rest, ok := cutSide(name); ok {
		ways = append(ways, c.File(rest))
	}
	for _, way := range ways {
		if _, changed := c.changed[way]; changed || name == "" {
			return way, nil
		}
		if as, err := c.Read(ctx, c.head, way); err != nil || as.Exists {
			return way, err
		}
	}
	for _, way := range ways {
		if files := c.was[way]; len(files) == 1 {
			return files[0], nil
		}
	}
	return name, nil
}

// Place establishes the facts about one finding, and puts its file and its lines right where they say what they can only be. note
// says what was put right of its lines.
func (c *Checker) Place(ctx context.Context, f *review.Finding, required bool) (ev Result, note string, err error) {
	file, err := c.meant(ctx, f.File)
	if err != nil {
		return ev, "", err
	}
	wrote := f.File
	f.File = sanitize.MaskSpelled(file)
	if ev, err = c.check(ctx, *f, required); err == nil && ev.Status == False {
		is, alike, wrong := c.among(ctx, wrote, f, required)
		if err = wrong; alike {
			ev = is
		}
	}
	if rest, ok := cutSide(wrote); ok && err == nil {
		ev, err = c.withoutSide(ctx, c.File(rest), f, ev)
	}
	if err != nil {
		return ev, "", err
	}
	if ev.Line > 0 {
		if f.Line != nil {
			note = fmt.Sprintf("its line was %d, and its quote stands at %d", *f.Line, ev.Line)
			ev.Named[0], ev.Named[1] = lines(*f)
		}
		f.Line, f.LineEnd = &ev.Line, nil
		if ev.LineEnd > ev.Line {
			f.LineEnd = &ev.LineEnd
		}
	}
	if ev.LineDropped {
		f.Line, f.LineEnd = nil, nil
	}
	ev.Altered, err = c.altered(ctx, *f, ev)
	return ev, note, err
}

// check establishes the facts about one finding once. A run that is ended checks nothing more.
func (c *Checker) check(ctx context.Context, f review.Finding, required bool) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	line, end := lines(f)
	key := claim{f.File, f.Evidence, line, end, f.Line != nil, required}
	if ev, ok := c.found[key]; ok {
		return ev, nil
	}
	ev, err := c.establish(ctx, f, required)
	if err == nil {
		c.found[key] = ev
	}
	return ev, err
}

// establish establishes the facts about one finding. required is true for the builtin reviewer, which must give evidence.
// Excluded files are read by nothing, not even here; a finding there cannot be checked and is false.
func (c *Checker) establish(ctx context.Context, f review.Finding, required bool) (Result, error) {
	if f.File == "" {
		if required {
			return Result{Status: False, Reason: "names no file, so there is no evidence to check"}, nil
		}
		return Result{Status: None}, nil
	}
	if slices.Contains(c.unsure, f.File) {
		return Result{Status: None}, nil
	}
	if c.Excluded(f.File) {
		return Result{Status: False, Reason: "is about a file that is excluded by configuration"}, nil
	}
	if c.read > readMost { // as where a search gave up
		return Result{Status: None}, nil
	}
	head, err := c.Read(ctx, c.head, f.File)
	if err != nil {
		return Result{}, err
	}
	bf, changed := c.changed[f.File]
	if !head.Exists && !changed {
		return Result{Status: False, Reason: "names a file that does not exist at the reviewed commit"}, nil
	}
	ev := Result{Status: None, LineDropped: f.Line != nil && head.Exists && (*f.Line < 1 || *f.Line > head.lines)}
	s := search{left: vainMost, ruled: c.ruled, known: c.known}
	defer func() { c.ruled = s.ruled }()
	quote := Fold(strings.TrimRight(f.Evidence, "\r")) // what is left of a line end: in the file a line feed follows
	switch {
	case silent(bare(f.Evidence)):
		if required {
			return Result{Status: False, Reason: "gives no evidence", LineDropped: ev.LineDropped}, nil
		}
		return ev, nil
	case s.quotes(head.folded, quote):
		ev.Status = Verified
		ev.move(f, head)
		return ev, nil
	}
	var shown File
	if changed {
		shown = c.shown(bf)
	}
	// The diff as it was shown, masks included; a submodule, a link or a mode has no text but there.
	if changed && (strings.Contains(shown.folded, quote) || s.quotes(shown.folded, quote)) {
		ev.Status = Verified
		return ev, nil
	}
	// A finding about lines that were taken away quotes the version before.
	old := f.File
	if bf.OldPath != "" {
		old = bf.OldPath
	}
	base, err := c.Read(ctx, c.base, old)
	if err != nil {
		return Result{}, err
	}
	switch {
	case changed && base.Exists && s.quotes(base.folded, quote):
		ev.Status = Verified
		return ev, nil
	case s.copied(fileLines(head.text, true), f.Evidence), s.copied(fileLines(shown.text, true), f.Evidence),
		changed && s.copied(fileLines(base.text, false), f.Evidence), c.inRegions(&s, f):
		ev.Status = Verified
		if ev.move(f, head); ev.Quoted[0] == 0 && s.from > 0 && !masked(f.Evidence) && touches(f, s.from, s.to) {
			ev.Quoted = [2]int{s.from, s.to}
		}
		return ev, nil
	case s.reads(head, f.Evidence, true), s.reads(shown, f.Evidence, true), changed && s.reads(base, f.Evidence, false):
		ev.Status, f.Evidence = Verified, seen(f.Evidence)
		ev.move(f, head.asSeen())
		return ev, nil
	case s.gaveUp(): // like a file whose name may be that of others: nothing is held against the finding
		return ev, nil
	}
	ev.Status, ev.Reason = False, "quotes code that is not in the file at the reviewed commit"
	return ev, nil
}

// move notes where a quote stands: in the one place there is, or in the one that the finding's lines touch. One that stands once, and not where the
// finding says, or says nothing, gives the finding its lines.
func (ev *Result) move(f review.Finding, head File) {
	all := spans(fileLines(head.text, true), f.Evidence)
	touched := slices.DeleteFunc(slices.Clone(all), func(at [2]int) bool { return !touches(f, at[0], at[1]) })
	switch {
	case len(touched) == 1:
		ev.Quoted = touched[0]
	case len(all) == 1:
		ev.Quoted = all[0]
		ev.Line, ev.LineEnd, ev.LineDropped = all[0][0], all[0][1], false
	}
}

// touches reports whether the lines of a finding are some of these.
func touches(f review.Finding, from, to int) bool {
	first, last := lines(f)
	return first <= to && from <= last
}

// lines are the first and the last line that a finding claims, zeros for none.
func lines(f review.Finding) (first, last int) {
	if f.Line != nil {
		first, last = *f.Line, *f.Line
	}
	if f.LineEnd != nil {
		last = *f.LineEnd
	}
	return first, last
}

// Read is a file at a commit, by its spelled name.
func (c *Checker) Read(ctx context.Context, commit, path string) (File, error) {
	key := commit + ":" + path
	if f, ok := c.kept.files[key]; ok {
		return f, nil
	}
	data, err := c.history.ReadFile(ctx, commit, spelling.Raw(path))
	var f File
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f, fmt.Errorf("check evidence in %s: %w", path, err)
	default:
		text := string(data)
		f = File{text: &source{text: text}, folded: Fold(text), lines: countLines(text), Exists: true, known: c.known}
		c.read += len(text)
	}
	c.kept.add(key, f)
	return f, nil
}

// shown is the diff of a changed file as reviewers were shown it.
func (c *Checker) shown(f review.BriefFile) File {
	key := "diff:" + f.Path
	if is, ok := c.kept.files[key]; ok {
		return is
	}
	is := File{text: &source{lines: diffLines(f.Diff)}, folded: shownOf(f), lines: countLines(f.Diff)}
	if diff := seen(f.Diff); diff != f.Diff {
		is.text.seen = &File{text: &source{lines: diffLines(diff)}}
	}
	c.kept.add(key, is)
	return is
}

// shownOf is the text of a file's diff without the marks at the beginning of its lines, folded.
func shownOf(f review.BriefFile) string {
	var b strings.Builder
	for line := range strings.Lines(f.Diff) {
		b.WriteString(strings.TrimLeft(line[:1], "+- ") + line[1:])
	}
	return Fold(b.String())
}

// Fold makes every run of white space one blank, and every run of bytes that are no UTF-8 one replacement character: models
// re-indent and re-wrap what they quote, and some merge what cannot be read. Hidden characters are written as
// models were shown them, and a letter with its accent as one character, which is how models write what a file may hold as two. A word of the file that is
// written like a mask is that word, however it is spelled.
func Fold(s string) string {
	s, _ = sanitize.Visible(s)
	s = sanitize.AnySpelling(s)
	s = norm.NFC.String(s)
	return spelling.Merged(strings.Join(strings.Fields(s), " "))
}
