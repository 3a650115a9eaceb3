package sources

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

// label is what pr-labels.json of Code Review Bench says of a pull request.
type label struct {
	Derived struct {
		Language string `json:"language"`
	} `json:"derived"`
	Labels struct {
		Size    string `json:"pr_size_category"`
		Context string `json:"requires_context"`
	} `json:"labels"`
	Bugs []string `json:"bug_types"`
}

// CodeReviewBench makes cases of one recording of Code Review Bench, and a result set of each tool with the verdicts of one judge: each
// judge saw findings of its own wording. An empty recording is the first one, an empty judge too. The cases have no places
// and no code, so they are scored by that judge or by words.
func CodeReviewBench(dir, out, recording, judge string) (Imported, error) {
	i := Imported{Cases: filepath.Join(out, "cases")}
	b, err := eval.Open(dir)
	if err != nil {
		return i, err
	}
	r := b.Recordings[0]
	if recording != "" {
		at := slices.IndexFunc(b.Recordings, func(r eval.Recording) bool { return r.Name == recording })
		if at < 0 {
			return i, fmt.Errorf("%w: there is no recording %q", ErrEmpty, recording)
		}
		r = b.Recordings[at]
	}
	if judge == "" {
		judge = r.Judges[0]
	}
	if !slices.Contains(r.Judges, judge) {
		return i, fmt.Errorf("%w: the judges are %s", ErrEmpty, strings.Join(r.Judges, ", "))
	}
	labels := map[string]label{}
	data, err := os.ReadFile(filepath.Join(dir, "code-review-bench", "pr-labels.json"))
	if err == nil {
		err = json.Unmarshal(data, &labels)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return i, fmt.Errorf("pr-labels.json: %w", err)
	}
	ids := map[string]string{} // address -> id
	for _, p := range r.Pulls {
		c, err := benchCase(p, labels[p.URL], b)
		if err != nil {
			return i, err
		}
		if err := i.add(c, nil, nil); err != nil {
			return i, err
		}
		ids[p.URL] = c.ID
		if slices.ContainsFunc(p.Golden, func(g eval.Golden) bool { return g.Text == "" }) {
			i.note("%s: texts are held out; score it by the judge", c.ID)
		}
	}
	known, err := cases.Read(i.Cases)
	if err != nil {
		return i, err
	}
	tools := map[string]bool{}
	for _, p := range r.Pulls {
		for tool := range p.Reviews[judge] {
			tools[tool] = true
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		if !cases.ValidID(tool) {
			return i, fmt.Errorf("the tool %q has no name a folder can have", tool)
		}
		to := filepath.Join(out, "results", tool)
		if err := benchResults(to, tool, judge, r, known, ids); err != nil {
			return i, fmt.Errorf("%s: %w", tool, err)
		}
		i.Results = append(i.Results, to)
	}
	return i.done()
}

func benchCase(p eval.Pull, l label, b eval.Dataset) (cases.Case, error) {
	c, err := identify(p.URL)
	if err != nil {
		return c, err
	}
	c.Language, c.SizeClass = strings.ToLower(l.Derived.Language), l.Labels.Size
	c.Source, c.AnnotationLicence = "Code Review Bench: "+b.Origin, b.Licence
	for k, g := range p.Golden {
		e := cases.Expected{ID: g.ID, Text: g.Text, Severity: severityOf(g.Severity), Categories: cases.Categories(), Context: l.Labels.Context, Origin: "human"}
		if len(l.Bugs) == len(p.Golden) {
			e.Original = l.Bugs[k]
		}
		c.Golden = append(c.Golden, e)
	}
	return c, nil
}

func benchResults(dir, tool, judge string, r eval.Recording, known cases.Set, ids map[string]string) error {
	byID := map[string]cases.Case{}
	for _, c := range known.Cases {
		byID[c.ID] = c
	}
	m := results.Manifest{Name: tool, Agents: []string{tool}, Repeats: 1}
	for _, p := range r.Pulls {
		if _, ok := p.Reviews[judge][tool]; ok {
			m.Cases = append(m.Cases, results.Planned{ID: ids[p.URL], Input: byID[ids[p.URL]].InputDigest})
		}
	}
	w, err := results.Create(dir, m)
	if err != nil {
		return err
	}
	for _, p := range r.Pulls {
		rev, ok := p.Reviews[judge][tool]
		if !ok {
			continue
		}
		out := results.Review{Case: ids[p.URL], Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK}}
		for _, id := range rev.Findings() {
			out.Result.Issues = append(out.Result.Issues, review.Issue{Key: id, Title: rev.Text[id]})
		}
		v := results.Verdict{Same: []results.Same{}}
		for _, h := range rev.True {
			v.Same = append(v.Same, results.Same(h))
		}
		for n := range rev.SetAside() {
			key := fmt.Sprintf("set-aside-%d", n+1) // its text is not recorded
			out.Result.Issues, v.Repeats = append(out.Result.Issues, review.Issue{Key: key}), append(v.Repeats, key)
		}
		out.Verdicts = map[string]results.Verdict{judge: v}
		if err := w.Add(out); err != nil {
			return err
		}
	}
	return w.Seal()
}
