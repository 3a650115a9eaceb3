// Package eval measures rules of prloop against recorded reviews: which findings are the same one, and what agreement
// between reviewers is worth. No model takes part: the recordings hold what real tools said about real pull requests and
// what judging models made of it. The figures and how they come about are in docs/eval.md.
package eval

import (
	"cmp"
	"compress/gzip"
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
)

// Dataset is a folder of recorded reviews.
type Dataset struct {
	// Origin and Licence say where the recordings come from, as index.json tells.
	Origin, Licence string
	// Recordings are sorted by name.
	Recordings []Recording
}

// Recording is the state of the benchmark on one day.
type Recording struct {
	// Name is the file's name without its ending.
	Name string
	// Judges are the judging models, sorted; Pulls those of all of them, sorted by address.
	Judges []string
	Pulls  []Pull
}

// Pull is one pull request: what people expected to be found there, and what each judge made of each tool's review.
type Pull struct {
	// URL is the pull request's address.
	URL    string
	Golden []Golden
	// Reviews are judge -> tool -> review.
	Reviews map[string]map[string]Review
}

// Golden is a finding people expected.
type Golden struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Severity is Critical, High, Medium or Low.
	Severity string `json:"severity"`
}

// Review is one tool's review of one pull request, as one judge saw it. Findings the recording's own deduplication set
// aside are in neither list, since nobody judged them.
type Review struct {
	// Total is how many findings the tool made, those that were set aside included; 0 where it was not recorded.
	Total int `json:"total_candidates"`
	// True pairs an expected finding with the tool's finding that is the same one; False are the others' ids.
	True  []Hit    `json:"tp"`
	False []string `json:"fp"`
	// Text is the wording of each finding by id. It is missing where a pull request is held out for other tests.
	Text map[string]string `json:"text"`
}

// Hit says that a tool's finding is an expected one.
type Hit struct {
	Golden, Finding string
	// Confidence is the judge's, 0 to 1; 0 where it was not recorded.
	Confidence float64
}

// UnmarshalJSON reads [golden, finding] and [golden, finding, confidence of the judge].
func (h *Hit) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) < 2 {
		return fmt.Errorf("a verdict has %d parts, not two", len(parts))
	}
	err := errors.Join(json.Unmarshal(parts[0], &h.Golden), json.Unmarshal(parts[1], &h.Finding))
	if len(parts) > 2 {
		err = errors.Join(err, json.Unmarshal(parts[2], &h.Confidence))
	}
	return err
}

// Findings are the ids of all judged findings, in the order the tool made them: c2 stands before c10.
func (r Review) Findings() []string {
	ids := slices.Clone(r.False)
	for _, h := range r.True {
		ids = append(ids, h.Finding)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return slices.Compact(ids)
}

// worded reports whether every judged finding has its text.
func (r Review) worded() bool {
	for _, id := range r.Findings() {
		if _, ok := r.Text[id]; !ok {
			return false
		}
	}
	return true
}

// ErrNoBench is returned for a folder that holds no recorded reviews.
var ErrNoBench = errors.New("not a folder of recorded reviews")

const (
	// indexName names what is in the folder; recordings stand in the subfolder section under names with prefix.
	indexName = "index.json"
	section   = "code-review-bench"
	prefix    = "verdicts-"
	suffix    = ".json.gz"
	// maxBytes is how large one recording may get when it is unpacked.
	maxBytes = 256 << 20
)

// Open reads the recordings of the folder dir, which is ErrNoBench if there is none.
func Open(dir string) (Dataset, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Dataset{}, fmt.Errorf("open recorded reviews: %w: %w", ErrNoBench, err)
	}
	defer root.Close()
	b, err := Read(root.FS())
	if err != nil {
		return b, fmt.Errorf("%s: %w", dir, err)
	}
	return b, nil
}

// Read reads the recordings named by the folder's index.json.
func Read(folder fs.FS) (Dataset, error) {
	var index map[string]struct {
		Origin, Licence string
		Files           map[string]string
	}
	data, err := fs.ReadFile(folder, indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return Dataset{}, fmt.Errorf("%w: it has no %s", ErrNoBench, indexName)
	}
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err != nil {
		return Dataset{}, fmt.Errorf("read %s: %w", indexName, err)
	}
	part := index[section]
	b := Dataset{Origin: part.Origin, Licence: part.Licence}
	for _, name := range slices.Sorted(maps.Keys(part.Files)) {
		if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, suffix) {
			continue
		}
		r, err := readRecording(folder, path.Join(section, name))
		if err != nil {
			return Dataset{}, fmt.Errorf("read %s/%s: %w", section, name, err)
		}
		r.Name = strings.TrimSuffix(name, suffix)
		b.Recordings = append(b.Recordings, r)
	}
	if len(b.Recordings) == 0 {
		return Dataset{}, fmt.Errorf("%w: %s names no %s files in %s", ErrNoBench, indexName, prefix, section)
	}
	return b, nil
}

func readRecording(folder fs.FS, name string) (Recording, error) {
	f, err := folder.Open(name)
	if err != nil {
		return Recording{}, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return Recording{}, err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxBytes+1))
	if err != nil {
		return Recording{}, err
	}
	if len(data) > maxBytes {
		return Recording{}, fmt.Errorf("more than %d bytes", maxBytes)
	}
	var judges map[string]map[string]struct {
		Golden []Golden          `json:"golden"`
		Tools  map[string]Review `json:"tools"`
	}
	if err := json.Unmarshal(data, &judges); err != nil {
		return Recording{}, err
	}
	r := Recording{Judges: slices.Sorted(maps.Keys(judges))}
	at := map[string]int{}
	for _, judge := range r.Judges {
		for _, url := range slices.Sorted(maps.Keys(judges[judge])) {
			seen := judges[judge][url]
			if _, ok := at[url]; !ok {
				at[url] = len(r.Pulls)
				r.Pulls = append(r.Pulls, Pull{URL: url, Golden: seen.Golden, Reviews: map[string]map[string]Review{}})
			}
			r.Pulls[at[url]].Reviews[judge] = seen.Tools
		}
	}
	slices.SortFunc(r.Pulls, func(a, b Pull) int { return strings.Compare(a.URL, b.URL) })
	return r, nil
}

// SetAside is how many of the tool's findings nobody judged, for they repeat others.
func (r Review) SetAside() int { return max(0, r.Total-len(r.Findings())) }
