package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Evidence is what the machine found out about one finding's claim (design.md "Evidence"). It is established while the
// answer is still unredacted, and stored beside it.
type Evidence struct {
	// Status is verified, none, or false.
	Status EvidenceStatus `json:"status"`
	// Reason says in one line why Status is false.
	Reason string `json:"reason,omitempty"`
	// LineDropped is true when the claimed line does not exist in the file; the finding is shown without one.
	LineDropped bool `json:"lineDropped,omitempty"`
	// Line and LineEnd are where the quote stands in the head version, when it stands there once and elsewhere than claimed; else 0.
	Line    int `json:"line,omitempty"`
	LineEnd int `json:"lineEnd,omitempty"`
}

// EvidenceStatus is how a finding's evidence fared.
type EvidenceStatus string

// The three ways.
const (
	EvidenceVerified EvidenceStatus = "verified"
	EvidenceNone     EvidenceStatus = "none"
	EvidenceFalse    EvidenceStatus = "false"
)

// checker verifies findings against the files of a snapshot, reading each file once.
type checker struct {
	history reader
	snap    Snapshot
	changed map[string]review.BriefFile
	// also are other ways to write the names of changed files, each of one file alone.
	also  map[string]string
	cache map[string]checkedFile
}

// reader is the part of History that evidence needs.
type reader interface {
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
}

type checkedFile struct {
	text   string
	folded string
	lines  int
	exists bool
}

func newChecker(h reader, snap Snapshot) *checker {
	c := &checker{history: h, snap: snap, changed: map[string]review.BriefFile{}, also: map[string]string{}, cache: map[string]checkedFile{}}
	for _, f := range snap.Brief.Files {
		c.changed[f.Path] = f
		for _, other := range respelled(f.Path) {
			if _, taken := c.also[other]; taken {
				other = "" // of two files: of neither
			}
			c.also[other] = f.Path
		}
	}
	delete(c.also, "")
	return c
}

// respelled are the ways in which a reviewer that did not copy an unusual name may have written it, as they arrive here:
// without the quotes, or read as text.
func respelled(path string) []string {
	raw := spelling.Raw(path)
	if raw == path {
		return nil
	}
	return []string{spelling.Name(strings.Trim(path, `"`)), spelling.Name(spelling.Text(raw))}
}

// file gives the path of the changed file that a finding means.
func (c *checker) file(path string) string {
	if _, ok := c.changed[path]; ok {
		return path
	}
	return cmp.Or(c.also[path], path)
}

// meant is the path that a finding means: one that begins as in the header of a diff, and is there only without that, is read so.
func (c *checker) meant(ctx context.Context, path string) (string, error) {
	name := c.file(path)
	rest, ok := strings.CutPrefix(name, "a/")
	if !ok {
		rest, ok = strings.CutPrefix(name, "b/")
	}
	if _, changed := c.changed[name]; changed || !ok {
		return name, nil
	}
	as, err := c.read(ctx, c.snap.Range.Head, name)
	if err != nil || as.exists {
		return name, err
	}
	rest = c.file(rest)
	if _, changed := c.changed[rest]; changed {
		return rest, nil
	}
	if is, err := c.read(ctx, c.snap.Range.Head, rest); err != nil || !is.exists {
		return name, err
	}
	return rest, nil
}

// place establishes the facts about one finding, and puts its file and its lines right where they say what they can only be. note
// says what was put right of its lines.
func (c *checker) place(ctx context.Context, f *review.Finding, required bool) (ev Evidence, note string, err error) {
	file, err := c.meant(ctx, f.File)
	if err != nil {
		return ev, "", err
	}
	f.File = maskedName(file)
	if ev, err = c.check(ctx, *f, required); err != nil {
		return ev, "", err
	}
	if ev.Line > 0 {
		note = fmt.Sprintf("its line was %d, and its quote stands at %d", *f.Line, ev.Line)
		f.Line, f.LineEnd = &ev.Line, nil
		if ev.LineEnd > ev.Line {
			f.LineEnd = &ev.LineEnd
		}
	}
	if ev.LineDropped {
		f.Line, f.LineEnd = nil, nil
	}
	return ev, note, nil
}

// void tells which of an answer's findings have false evidence, by their ids, which are distinct: what is made of several has the evidence
// of one of them.
func (c *checker) void(ctx context.Context, findings []review.Finding, required bool) (func(review.Finding) bool, error) {
	wrong := map[string]bool{}
	for _, f := range findings {
		ev, _, err := c.place(ctx, &f, required)
		if err != nil {
			return nil, err
		}
		wrong[f.ID] = wrong[f.ID] || ev.Status == EvidenceFalse
	}
	return func(f review.Finding) bool { return wrong[f.ID] }, nil
}

// check establishes the facts about one finding. required is true for the builtin reviewer, which must give evidence.
// Excluded files are read by nothing, not even here; a finding there cannot be checked and is false.
func (c *checker) check(ctx context.Context, f review.Finding, required bool) (Evidence, error) {
	if f.File == "" {
		if required {
			return Evidence{Status: EvidenceFalse, Reason: "names no file, so there is no evidence to check"}, nil
		}
		return Evidence{Status: EvidenceNone}, nil
	}
	if bf, ok := c.changed[f.File]; ok && strings.Contains(bf.Omitted, "excluded") {
		return Evidence{Status: EvidenceFalse, Reason: "is about a file that is excluded by configuration"}, nil
	}
	head, err := c.read(ctx, c.snap.Range.Head, f.File)
	if err != nil {
		return Evidence{}, err
	}
	bf, changed := c.changed[f.File]
	if !head.exists && !changed {
		return Evidence{Status: EvidenceFalse, Reason: "names a file that does not exist at the reviewed commit"}, nil
	}
	ev := Evidence{Status: EvidenceNone, LineDropped: f.Line != nil && head.exists && (*f.Line < 1 || *f.Line > head.lines)}
	quote := fold(strings.TrimRight(f.Evidence, "\r")) // what is left of a line end: in the file a line feed follows
	switch {
	case strings.Trim(quote, " ") == "", strings.Trim(strings.ReplaceAll(quote, sanitize.Redacted, ""), " ") == "":
		if required {
			return Evidence{Status: EvidenceFalse, Reason: "gives no evidence", LineDropped: ev.LineDropped}, nil
		}
		return ev, nil
	case quotes(head.folded, quote):
		ev.Status = EvidenceVerified
		ev.move(f, head)
		return ev, nil
	// The diff as it was shown, masks included; a submodule, a link or a mode has no text but there.
	case changed && (strings.Contains(shownOf(bf), quote) || quotes(shownOf(bf), quote)):
		ev.Status = EvidenceVerified
		return ev, nil
	}
	// A finding about lines that were taken away quotes the version before.
	old := f.File
	if bf.OldPath != "" {
		old = bf.OldPath
	}
	base, err := c.read(ctx, c.snap.Range.MergeBase, old)
	if err != nil {
		return Evidence{}, err
	}
	switch {
	case changed && base.exists && quotes(base.folded, quote):
		ev.Status = EvidenceVerified
		return ev, nil
	case copied(fileLines(head.text, true), f.Evidence), changed && copied(diffLines(bf.Diff), f.Evidence),
		changed && copied(fileLines(base.text, false), f.Evidence):
		ev.Status = EvidenceVerified
		ev.move(f, head)
		return ev, nil
	}
	ev.Status, ev.Reason = EvidenceFalse, "quotes code that does not stand in the file at the reviewed commit"
	return ev, nil
}

// move notes where a quote stands that stands once in the file, and not where the finding says.
func (ev *Evidence) move(f review.Finding, head checkedFile) {
	if f.Line == nil {
		return
	}
	end := *f.Line
	if f.LineEnd != nil {
		end = *f.LineEnd
	}
	first, last := span(fileLines(head.text, true), f.Evidence)
	if first > 0 && (end < first || *f.Line > last) {
		ev.Line, ev.LineEnd, ev.LineDropped = first, last, false
	}
}

func (c *checker) read(ctx context.Context, commit, path string) (checkedFile, error) {
	key := commit + ":" + path
	if f, ok := c.cache[key]; ok {
		return f, nil
	}
	data, err := c.history.ReadFile(ctx, commit, spelling.Raw(path))
	var f checkedFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f, fmt.Errorf("check evidence in %s: %w", path, err)
	default:
		lines := strings.Count(string(data), "\n")
		if len(data) > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		f = checkedFile{text: string(data), folded: fold(string(data)), lines: lines, exists: true}
	}
	c.cache[key] = f
	return f, nil
}

// shownOf is the text of a file's diff without the marks at the beginning of its lines, folded.
func shownOf(f review.BriefFile) string {
	var b strings.Builder
	for line := range strings.Lines(f.Diff) {
		b.WriteString(strings.TrimLeft(line[:1], "+- ") + line[1:])
	}
	return fold(b.String())
}

var unreadable = lazyregexp.New("\ufffd+")

// fold makes every run of white space one blank, and every run of bytes that are no UTF-8 one replacement character: models
// re-indent and re-wrap what they quote, and some merge what cannot be read. Hidden characters are written as
// models were shown them.
func fold(s string) string {
	s, _ = sanitize.Visible(s)
	return unreadable.ReplaceAllString(strings.Join(strings.Fields(s), " "), "\ufffd")
}

const (
	// maskedMost bounds what one mask in a quote may stand for, in bytes: a private key of 4,096 bits.
	maskedMost = 4096
	// aroundMask is how much of what stands around a quote with masks is looked at, in bytes.
	aroundMask = 80
	// quoteTries bounds at how many places of a file the beginning of a quote with masks is tried.
	quoteTries = 100
)

// quotes reports whether a folded quote stands in a folded text. A mask within the quote says that a reviewer left a secret
// out, or was shown none: it stands for text in which, with what is around it, the rules find a secret.
func quotes(text, quote string) bool {
	pieces := strings.Split(quote, sanitize.Redacted)
	for i := range pieces {
		pieces[i] = strings.TrimSpace(pieces[i])
	}
	pieces = slices.DeleteFunc(pieces, func(s string) bool { return s == "" })
	if len(pieces) == 1 {
		return strings.Contains(text, pieces[0])
	}
	for at, tries := 0, 0; tries < quoteTries; tries++ {
		i := strings.Index(text[at:], pieces[0])
		if i < 0 {
			return false
		}
		at += i
		if n := reach(text[at:], pieces); n > 0 && secretive(text[max(0, at-aroundMask):min(len(text), at+n+aroundMask)]) {
			return true
		}
		at++
	}
	return false
}

// reach is how far pieces go that stand in text in order, none further on than a mask is wide; 0 when they do not.
func reach(text string, pieces []string) int {
	n := 0
	for _, p := range pieces {
		i := strings.Index(text[n:min(len(text), n+maskedMost+len(p))], p)
		if i < 0 {
			return 0
		}
		n += i + len(p)
	}
	return n
}

// secretive reports whether the rules find a secret in text.
func secretive(text string) bool { return sanitize.Redact(text) != text }
