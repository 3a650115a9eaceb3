// Package cases reads review cases: pull requests with the findings people expect there (eval.md "Cases and results"). What is
// read is checked: a case that cannot be scored honestly is refused by name.
package cases

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Set is a folder of cases, sorted by id.
type Set struct{ Cases []Case }

// Case is one pull request and what people expect of its review.
type Case struct {
	// ID is the name of the case's folder: letters, digits, dots, hyphens and underscores.
	ID    string `json:"id"`
	Repo  string `json:"repo"`
	PR    int    `json:"pr_number"`
	URL   string `json:"pr_url"`
	Title string `json:"title"`
	Body  string `json:"body"`
	// Language is the main language of the repository, lower case.
	Language string `json:"language"`
	BaseSHA  string `json:"base_sha"`
	HeadSHA  string `json:"head_sha"`
	// Diff counts the changed files and lines; all are 0 where the source does not tell.
	Diff struct {
		Files     int `json:"files"`
		Additions int `json:"additions"`
		Deletions int `json:"deletions"`
	} `json:"diff"`
	// Changed is the number of changed lines where only their sum is known.
	Changed int `json:"changed_lines,omitempty"`
	// SizeClass is the source's own word for the size, where it has no counts.
	SizeClass string `json:"size,omitempty"`
	// BaseTree is nil for a case without code.
	BaseTree *Tree `json:"base_tree,omitempty"`
	// HeadFiles are the changed files at the head.
	HeadFiles map[string]HeadFile `json:"head_files,omitempty"`
	// Clean says that nothing is expected to be found: without it, a case without expected findings is refused.
	Clean  bool   `json:"clean,omitempty"`
	Source string `json:"source_benchmark"`
	// AnnotationLicence is that of the expected findings, CodeLicence that of the tree and the diff.
	AnnotationLicence string `json:"annotation_licence"`
	CodeLicence       string `json:"code_licence,omitempty"`

	// Golden are the findings people expect, Negatives comments that people judged wrong.
	Golden    []Expected `json:"-"`
	Negatives []Expected `json:"-"`
	// Code is what the base tree and the diff give; nil for a case without code.
	Code *Code `json:"-"`
	// InputDigest is the SHA-256 of what a reviewer is given, ExpectedDigest that of what is expected of it.
	InputDigest    string `json:"-"`
	ExpectedDigest string `json:"-"`
	// kept is how many bytes of it stay in memory.
	kept int
}

// Tree is the archive of the repository at the merge base.
type Tree struct {
	Archive string `json:"archive"`
	// SHA256 is that of the archive; empty where nobody pinned it.
	SHA256 string `json:"sha256,omitempty"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
}

// HeadFile is a changed file at the head.
type HeadFile struct {
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"`
}

// Expected is a finding people expect, or a comment they judged wrong.
type Expected struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Original string `json:"category_original"`
	// Categories are those of spec.md R1 that are right for it.
	Categories []string `json:"categories_accepted"`
	// Severity is critical, high, medium or low; empty where nobody said.
	Severity string `json:"severity"`
	// Context is how much has to be read to see it, in the source's words.
	Context      string `json:"context_needed,omitempty"`
	Origin       string `json:"origin,omitempty"`
	OriginModel  string `json:"origin_model,omitempty"`
	AnchorOrigin string `json:"anchor_origin,omitempty"`
	// Anchors are the places where it may be reported; none when the source has no places.
	Anchors []Anchor `json:"anchors"`
}

// Anchor is a range of lines, 1-based and inclusive, of the head when Side is right, of the base when it is left.
type Anchor struct {
	File  string `json:"file"`
	Start int    `json:"line_start"`
	End   int    `json:"line_end"`
	Side  string `json:"side"`
}

// Sides of an anchor.
const (
	Right = "right"
	Left  = "left"
)

// Places are the anchors as lines of the head: those of the base are followed through the diff. Without a diff they are
// not known.
func (c Case) Places(e Expected) []Anchor {
	var out []Anchor
	for _, a := range e.Anchors {
		if a.Side == Left {
			if c.Code == nil {
				continue
			}
			file, start, _ := c.Code.diff.MapLine(a.File, a.Start)
			_, end, _ := c.Code.diff.MapLine(a.File, a.End)
			a = Anchor{File: file, Start: max(start, 1), End: max(end, start, 1), Side: Right}
		}
		out = append(out, a)
	}
	return out
}

// Lines is how many lines the pull request changes; ok is false when that is not known.
func (c Case) Lines() (n int, ok bool) {
	n = cmp.Or(c.Diff.Additions+c.Diff.Deletions, c.Changed)
	return n, n > 0
}

// Size is the class of the pull request by changed lines. The bounds are near the quartiles and the 90 % of merged pull
// requests: half have at most 40 lines, three quarters 170, nine of ten 600.
func (c Case) Size() string {
	n, ok := c.Lines()
	switch {
	case !ok:
		return cmp.Or(c.SizeClass, Unknown)
	case n <= 40:
		return "1-40 lines"
	case n <= 170:
		return "41-170 lines"
	case n <= 600:
		return "171-600 lines"
	}
	return "over 600 lines"
}

// Unknown stands where a source does not say.
const Unknown = "not said"

// ErrBad is wrapped by every refusal of a case.
var ErrBad = errors.New("bad case")

// Bounds of what is read, in bytes: cases come from anywhere, and what is packed grows a thousand times (threats.md T122).
const (
	// archiveBytes bounds an archive, and what it unpacks to.
	archiveBytes = 256 << 20
	// textBytes bounds each other file of a case.
	textBytes = 32 << 20
	// codeBytes bounds one changed file of the base tree; prloop compares files of up to 1 MB.
	codeBytes = 4 << 20
	// setBytes bounds what is kept of all cases together.
	setBytes = 512 << 20
)

// Read reads and checks every case in the folders directly below dir. A fault of any case refuses them all.
func Read(dir string) (Set, error) { return read(dir, setBytes) }

// read is Read, for cases of which at most so many bytes are kept.
func read(dir string, most int) (Set, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Set{}, fmt.Errorf("read cases: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return Set{}, fmt.Errorf("read cases: %w", err)
	}
	var s Set
	var faults []error
	kept := 0
	for _, e := range entries {
		if _, err := root.Stat(path.Join(e.Name(), "case.json")); err != nil {
			continue
		}
		c, err := readCase(root.FS(), e.Name())
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: %s: %w", ErrBad, e.Name(), err))
		}
		s.Cases = append(s.Cases, c)
		if kept += c.kept; kept > most {
			return s, errors.Join(append(faults, fmt.Errorf("%w: %s holds more than %d bytes of findings and code", ErrBad, dir, most))...)
		}
	}
	if len(s.Cases) == 0 {
		faults = append(faults, fmt.Errorf("%w: %s has no folder with a case.json", ErrBad, dir))
	}
	return s, errors.Join(faults...)
}

func readCase(folder fs.FS, name string) (Case, error) {
	var c Case
	read := func(file string, v any) error {
		n, err := readJSON(folder, path.Join(name, file), v)
		c.kept += n
		return err
	}
	if err := read("case.json", &c); err != nil {
		return c, err
	}
	if c.ID != name || !ValidID(name) {
		return c, fmt.Errorf("its id %q is not the name of its folder, in letters, digits, dots, hyphens and underscores", c.ID)
	}
	if err := read("golden.json", &c.Golden); err != nil && (!c.Clean || !errors.Is(err, fs.ErrNotExist)) {
		return c, err
	}
	if err := read("negatives.json", &c.Negatives); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if err := c.checkExpected(); err != nil {
		return c, err
	}
	diffText, err := readFile(folder, path.Join(name, "pr.diff"), textBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if c.BaseTree != nil {
		if c.Code, err = c.readCode(folder, diffText); err != nil {
			return c, err
		}
		c.kept += c.Code.size() + len(diffText)
	}
	tree := ""
	if c.Code != nil {
		tree = c.Code.archive
	}
	c.InputDigest = digest(c.Repo, c.PR, c.Title, c.Body, c.BaseSHA, c.HeadSHA, digest(string(diffText)), tree)
	c.ExpectedDigest = digest(c.Clean, c.Golden, c.Negatives)
	return c, nil
}

// ValidID reports whether a name can be the id of a case, and so the name of a folder.
func ValidID(s string) bool {
	const some = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return s != "" && len(s) <= 120 && s[0] != '.' && strings.Trim(s, some) == ""
}

func (c Case) checkExpected() error {
	if len(c.Golden) == 0 && !c.Clean {
		return errors.New(`it expects no finding; a case that is meant to have none says "clean": true`)
	}
	if len(c.Golden) > 0 && c.Clean {
		return errors.New("it is clean and expects findings")
	}
	for _, list := range [][]Expected{c.Golden, c.Negatives} {
		seen := map[string]bool{}
		for _, e := range list {
			if e.ID == "" || seen[e.ID] {
				return fmt.Errorf("an expected finding has no id of its own: %q", e.ID)
			}
			seen[e.ID] = true
			if err := e.check(); err != nil {
				return fmt.Errorf("%s: %w", e.ID, err)
			}
		}
	}
	return nil
}

func (e Expected) check() error {
	if len(e.Categories) == 0 {
		return errors.New("it has no accepted category")
	}
	for _, k := range e.Categories {
		if !slices.Contains(Categories(), k) {
			return fmt.Errorf("category %q is none of %s", k, strings.Join(Categories(), ", "))
		}
	}
	if e.Severity != "" && !slices.Contains(Severities(), e.Severity) {
		return fmt.Errorf("severity %q is none of %s", e.Severity, strings.Join(Severities(), ", "))
	}
	for _, a := range e.Anchors {
		if a.File == "" || a.Start < 1 || a.End < a.Start || a.Side != Right && a.Side != Left {
			return fmt.Errorf("its place %s:%d-%d (%s) is none", a.File, a.Start, a.End, a.Side)
		}
	}
	return nil
}

// Categories are the six of spec.md R1.
func Categories() []string {
	return []string{review.CategorySecurity, review.CategoryBug, review.CategoryErrorHandling, review.CategoryPerformance, review.CategoryStyle, review.CategoryLogic}
}

// Severities are the four words, most severe first.
func Severities() []string {
	var out []string
	for _, l := range review.Levels() {
		out = append(out, l.Severity)
	}
	return out
}

// Digest is the SHA-256 of what all reviewers are given and what is expected of them.
func (s Set) Digest() string {
	pairs := map[string][2]string{}
	for _, c := range s.Cases {
		pairs[c.ID] = [2]string{c.InputDigest, c.ExpectedDigest}
	}
	var list []any
	for _, id := range slices.Sorted(maps.Keys(pairs)) {
		list = append(list, id, pairs[id])
	}
	return digest(list...)
}

// digest is the SHA-256 of values as JSON, which keeps them apart.
func digest(values ...any) string {
	data, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings, numbers and our own structs
	}
	return sum(data)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// readJSON decodes a file, and gives its length.
func readJSON(folder fs.FS, name string, v any) (int, error) {
	data, err := readFile(folder, name, textBytes)
	if err != nil {
		return 0, err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		return len(data), fmt.Errorf("%s: %w", path.Base(name), err)
	}
	return len(data), nil
}

func readFile(folder fs.FS, name string, most int64) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	defer f.Close()
	return readAll(f, path.Base(name), most)
}

func readAll(r io.Reader, name string, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s is over %d bytes", name, most)
	}
	return data, nil
}
