package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Evidence is what the machine found out about one finding's claim (design 4, "Evidence"). It is established while the
// answer is still unredacted, and stored beside it.
type Evidence struct {
	// Status is verified, none, or false.
	Status EvidenceStatus `json:"status"`
	// Reason says in one line why Status is false.
	Reason string `json:"reason,omitempty"`
	// LineDropped is true when the claimed line does not exist in the file; the finding is shown without one.
	LineDropped bool `json:"lineDropped,omitempty"`
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
	cache   map[string]checkedFile
}

// reader is the part of History that evidence needs.
type reader interface {
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
}

type checkedFile struct {
	folded string
	lines  int
	exists bool
}

func newChecker(h reader, snap Snapshot) *checker {
	c := &checker{history: h, snap: snap, changed: map[string]review.BriefFile{}, cache: map[string]checkedFile{}}
	for _, f := range snap.Brief.Files {
		c.changed[f.Path] = f
	}
	return c
}

// check establishes the facts about one finding. required is true for builtin reviewers, who must give evidence.
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
	if !head.exists && (!changed || bf.Change != "deleted") {
		return Evidence{Status: EvidenceFalse, Reason: "names a file that does not exist at the reviewed commit"}, nil
	}
	ev := Evidence{Status: EvidenceNone, LineDropped: f.Line != nil && head.exists && (*f.Line < 1 || *f.Line > head.lines)}
	quote := fold(unmarked(f.Evidence))
	switch {
	case quote == "" && required:
		return Evidence{Status: EvidenceFalse, Reason: "gives no evidence", LineDropped: ev.LineDropped}, nil
	case quote == "":
		return ev, nil
	case strings.Contains(head.folded, quote):
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
	if changed && base.exists && strings.Contains(base.folded, quote) {
		ev.Status = EvidenceVerified
		return ev, nil
	}
	ev.Status, ev.Reason = EvidenceFalse, "quotes code that does not stand in the file at the reviewed commit"
	return ev, nil
}

func (c *checker) read(ctx context.Context, commit, path string) (checkedFile, error) {
	key := commit + ":" + path
	if f, ok := c.cache[key]; ok {
		return f, nil
	}
	data, err := c.history.ReadFile(ctx, commit, path)
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
		f = checkedFile{folded: fold(string(data)), lines: lines, exists: true}
	}
	c.cache[key] = f
	return f, nil
}

// fold makes every run of white space one blank: models re-indent and re-wrap what they quote (design 4). Hidden characters
// are written as models were shown them.
func fold(s string) string {
	s, _ = sanitize.Visible(s)
	return strings.Join(strings.Fields(s), " ")
}

// unmarked takes the marks off the ends of a quote, where a reviewer says that it left a secret out; they stand in no file.
func unmarked(s string) string {
	for {
		cut := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), sanitize.Redacted), sanitize.Redacted)
		if cut == s {
			return s
		}
		s = cut
	}
}
