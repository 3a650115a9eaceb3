// Package results keeps what agents said about review cases (eval.md "Cases and results"): a folder with a manifest that pins
// what was asked and of whom, a file for each review in the shapes of spec.md R1, and a seal that is written last.
package results

import (
	"bytes"
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
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/review"
)

// Format is the version of the folder's layout.
const Format = 1

// Manifest says what was asked and of whom. It is written before the first review.
type Manifest struct {
	Format int `json:"format"`
	// Name stands in tables.
	Name string `json:"name"`
	// Agents and Models are who answered.
	Agents []string `json:"agents"`
	Models []string `json:"models"`
	// Prompts are the SHA-256 of each prompt by name, Settings that of the configuration; what nobody knows is left out.
	Prompts  map[string]string `json:"prompts,omitempty"`
	Settings string            `json:"settings,omitempty"`
	Seed     uint64            `json:"seed"`
	// Program is the SHA-256 of the program that reviewed, Replayed that of the manifest of the set whose cassettes answered instead of
	// models; empty where there was none.
	Program  string `json:"program,omitempty"`
	Replayed string `json:"replayed,omitempty"`
	// Repeats is how often each case is reviewed.
	Repeats int       `json:"repeats"`
	Cases   []Planned `json:"cases"`
}

// Planned is a case of the run, and the hash of what its reviewers were given.
type Planned struct {
	ID    string `json:"id"`
	Input string `json:"input"`
}

// Review is one file: one review of one case.
type Review struct {
	// Case and Repeat (from 1) say which.
	Case   string              `json:"case"`
	Repeat int                 `json:"repeat"`
	Result review.ReviewResult `json:"review"`
	// Outcome is how prloop's run ended, Reason why; Agents are who took part and what each of them spent. Empty in sets of others.
	Outcome review.Outcome        `json:"outcome,omitempty"`
	Reason  string                `json:"reason,omitempty"`
	Agents  []review.AgentReceipt `json:"agents,omitempty"`
	// Stages are the findings at each stage of the judgement; those of Result are the counted ones. Nil in sets of others.
	Stages *review.Stages `json:"stages,omitempty"`
	// Cassette is the SHA-256 of the recorded conversations with models, in the file CassetteName gives; empty when there are none.
	Cassette string `json:"cassette,omitempty"`
	// Verdicts are what judges made of it, by their names.
	Verdicts map[string]Verdict `json:"verdicts,omitempty"`
}

// Verdict is what a judge made of one review: which findings are expected ones, and which only say again what another
// finding says. Findings are named by their dedupe_key.
type Verdict struct {
	Same    []Same   `json:"same"`
	Repeats []string `json:"repeats,omitempty"`
}

// Same says that a finding is an expected one. Confidence is the judge's, 0 to 1.
type Same struct {
	Golden     string  `json:"golden"`
	Finding    string  `json:"finding"`
	Confidence float64 `json:"confidence"`
}

// Set is a result set as it was read.
type Set struct {
	Manifest Manifest
	// Reviews are sorted by case and repeat.
	Reviews []Review
	// Missing are the planned reviews there is no file of, as CASE/REPEAT; Sealed is true once the run has ended.
	Missing []string
	Sealed  bool
}

// Interrupted reports whether the set holds less than was planned, or never ended.
func (s Set) Interrupted() bool { return !s.Sealed || len(s.Missing) > 0 }

// At makes the findings at a stage of the judgement those that are scored. What judges said is about others, and goes.
func (s *Set) At(stage string) error {
	for i := range s.Reviews {
		r := &s.Reviews[i]
		if r.Stages == nil {
			return fmt.Errorf("%w: %s: %s/%d has no stages: prloop eval run keeps them", ErrBad, s.Manifest.Name, r.Case, r.Repeat)
		}
		list, there := Lists(*r.Stages)[stage]
		if !there {
			return fmt.Errorf("%w: %s: there is no stage %q: answered, set_aside, counted and prominent are", ErrBad, s.Manifest.Name, stage)
		}
		r.Result.Issues, r.Verdicts = list, nil
	}
	s.Manifest.Name += " (" + stage + ")"
	return nil
}

// ErrBad is wrapped by every refusal of a result set.
var ErrBad = errors.New("bad result set")

// ManifestName is the file of the manifest.
const ManifestName = "set.json"

const (
	sealName  = "seal.json"
	folder    = "reviews"
	cassettes = "cassettes"
	maxBytes  = 64 << 20
)

// seal holds the SHA-256 of every file but itself.
type seal struct {
	Files map[string]string `json:"files"`
}

// Open reads and checks a result set. One that was interrupted is read as far as it goes; one that was changed after it
// was sealed is refused.
func Open(dir string) (Set, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrBad, err)
	}
	defer root.Close()
	s, err := read(root.FS())
	if err != nil {
		return s, fmt.Errorf("%w: %s: %w", ErrBad, dir, err)
	}
	return s, nil
}

func read(f fs.FS) (Set, error) {
	var s Set
	hashes := map[string]string{}
	data, err := readFile(f, ManifestName)
	if err != nil {
		return s, err
	}
	hashes[ManifestName] = sum(data)
	if err := decode(data, &s.Manifest); err != nil {
		return s, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if err := s.Manifest.check(); err != nil {
		return s, err
	}
	planned := map[string]bool{}
	for _, c := range s.Manifest.Cases {
		for n := range s.Manifest.Repeats {
			name := fileName(c.ID, n+1)
			planned[name] = true
			data, err := readFile(f, name)
			if errors.Is(err, fs.ErrNotExist) {
				s.Missing = append(s.Missing, fmt.Sprintf("%s/%d", c.ID, n+1))
				continue
			}
			if err != nil {
				return s, err
			}
			hashes[name] = sum(data)
			var r Review
			if err := decode(data, &r); err != nil {
				return s, fmt.Errorf("%s: %w", name, err)
			}
			if r.Case != c.ID || r.Repeat != n+1 {
				return s, fmt.Errorf("%s is of %s/%d", name, r.Case, r.Repeat)
			}
			if err := r.check(); err != nil {
				return s, fmt.Errorf("%s: %w", name, err)
			}
			s.Reviews = append(s.Reviews, r)
		}
	}
	entries, err := fs.ReadDir(f, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	for _, e := range entries {
		if name := path.Join(folder, e.Name()); !planned[name] && strings.HasSuffix(name, ".json") {
			return s, fmt.Errorf("%s is a review nobody planned", name)
		}
	}
	return s, s.readSeal(f, hashes)
}

func (s *Set) readSeal(f fs.FS, hashes map[string]string) error {
	data, err := readFile(f, sealName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var l seal
	if err == nil {
		err = decode(data, &l)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", sealName, err)
	}
	s.Sealed = true
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		if l.Files[name] != hashes[name] {
			return fmt.Errorf("%s is not the one that was sealed", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if hashes[name] == "" {
			return fmt.Errorf("%s was sealed and is gone", name)
		}
	}
	return nil
}

func (m Manifest) check() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("it has format %d, not %d", m.Format, Format)
	case m.Name == "":
		return errors.New("it has no name")
	case m.Repeats < 1 || m.Repeats > 1000:
		return fmt.Errorf("it has %d repeats", m.Repeats)
	case len(m.Cases) == 0:
		return errors.New("it has no cases")
	}
	seen := map[string]bool{}
	for _, c := range m.Cases {
		if !cases.ValidID(c.ID) || c.Input == "" || seen[c.ID] {
			return fmt.Errorf("case %q has no id or no input of its own", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// check refuses what cannot be counted. A finding without place is allowed: it is one that no place confirms.
func (r Review) check() error {
	switch r.Result.Status {
	case review.StatusOK, review.StatusTruncated, review.StatusError:
	default:
		return fmt.Errorf("status %q", r.Result.Status)
	}
	keys, err := checkIssues(r.Result.Issues)
	if err != nil {
		return err
	}
	if r.Stages != nil {
		for name, list := range Lists(*r.Stages) {
			if _, err := checkIssues(list); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, judge := range slices.Sorted(maps.Keys(r.Verdicts)) {
		if err := r.Verdicts[judge].check(keys); err != nil {
			return fmt.Errorf("judge %s: %w", judge, err)
		}
	}
	return nil
}

// Lists are the findings of the stages by the stage's name.
func Lists(s review.Stages) map[string][]review.Issue {
	return map[string][]review.Issue{"answered": s.Answered, "set_aside": s.SetAside, "counted": s.Counted, "prominent": s.Prominent}
}

// checkIssues gives the keys of findings that can be counted.
func checkIssues(issues []review.Issue) (map[string]bool, error) {
	keys := map[string]bool{}
	for i, f := range issues {
		switch {
		case f.Key == "" || keys[f.Key]:
			return nil, fmt.Errorf("finding %d has no dedupe_key of its own", i+1)
		case f.Severity != "" && !slices.Contains(cases.Severities(), f.Severity):
			return nil, fmt.Errorf("finding %d has severity %q", i+1, f.Severity)
		case f.LineStart < 0 || f.LineEnd != nil && *f.LineEnd < f.LineStart:
			return nil, fmt.Errorf("finding %d stands on no line", i+1)
		case f.Confidence != nil && (*f.Confidence < 0 || *f.Confidence > 1):
			return nil, fmt.Errorf("finding %d has confidence %v", i+1, *f.Confidence)
		}
		keys[f.Key] = true
	}
	return keys, nil
}

func (v Verdict) check(keys map[string]bool) error {
	answered, matched := map[string]bool{}, map[string]bool{}
	for _, s := range v.Same {
		switch {
		case !keys[s.Finding]:
			return fmt.Errorf("there is no finding %q", s.Finding)
		case answered[s.Golden]:
			return fmt.Errorf("%s is found twice", s.Golden)
		case s.Confidence < 0 || s.Confidence > 1:
			return fmt.Errorf("%s has confidence %v", s.Golden, s.Confidence)
		}
		answered[s.Golden], matched[s.Finding] = true, true
	}
	for _, f := range v.Repeats {
		if !keys[f] || matched[f] {
			return fmt.Errorf("%q repeats another finding and is an expected one, or is not there", f)
		}
	}
	return nil
}

// Writer makes a result set, review by review. Several goroutines may add some.
type Writer struct {
	root *os.Root
	// hashes are those of the files that were written, by name.
	mu     sync.Mutex
	hashes map[string]string
}

// Create begins a result set in a folder that is empty or not there yet.
func Create(dir string, m Manifest) (*Writer, error) {
	m.Format = Format
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("create result set: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
		return nil, fmt.Errorf("create result set: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("create result set: %w", err)
	}
	w := &Writer{root: root, hashes: map[string]string{}}
	if _, err := root.Stat(ManifestName); err == nil {
		root.Close()
		return nil, fmt.Errorf("create result set: %s holds one already", dir)
	}
	return w, w.write(ManifestName, m)
}

// CassetteName is where in a result set the conversations of a review stand.
func CassetteName(id string, repeat int) string {
	return path.Join(cassettes, fmt.Sprintf("%s.%d.jsonl.gz", id, repeat))
}

// Add writes one review.
func (w *Writer) Add(r Review) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := r.check(); err != nil {
		return fmt.Errorf("write review of %s: %w", r.Case, err)
	}
	return w.write(fileName(r.Case, r.Repeat), r)
}

// Seal ends the set.
func (w *Writer) Seal() error {
	err := w.write(sealName, seal{w.hashes})
	return errors.Join(err, w.root.Close())
}

// write replaces a file whole, so that no reader sees half of one.
func (w *Writer) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	tmp := name + ".tmp"
	if err := w.root.WriteFile(tmp, data, 0o666); err != nil {
		return err
	}
	if name != sealName {
		w.hashes[name] = sum(data)
	}
	return w.root.Rename(tmp, name)
}

func fileName(id string, repeat int) string {
	return path.Join(folder, fmt.Sprintf("%s.%d.json", id, repeat))
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	return nil
}

func readFile(f fs.FS, name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s is over %d bytes", name, maxBytes)
	}
	return data, err
}
