package stats

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// merge is a merge with findings of one score: so many that were fixed, and so many that were not.
func merge(repo string, pr, score, fixed, ignored, unknown int) store.Merge {
	m := store.Merge{Key: review.RepoKey("github.com/" + repo), Repo: repo, PR: pr, Head: "abc"}
	for b, n := range map[review.Became]int{review.BecameFixed: fixed, review.BecameIgnored: ignored, review.BecameUnknown: unknown} {
		for range n {
			m.Findings = append(m.Findings, review.PostedFinding{ID: fmt.Sprint(pr), Became: b, Priority: review.P2, Category: "bug", Score: score, By: []review.Voice{{Name: "alpha", Model: "m"}, {Name: "beta", Model: "m"}}})
		}
	}
	return m
}

// A threshold is suggested where it leaves enough findings and a better share of them is fixed for certain, and nowhere else.
func TestThresholds(t *testing.T) {
	for _, row := range []struct {
		name   string
		merges []store.Merge
		want   []Threshold
	}{
		{"nothing is known", nil, nil},
		{"low scores are ignored, high ones fixed", []store.Merge{merge("o/r", 1, 5, 10, 40, 3), merge("o/r", 2, 8, 36, 4, 0)}, []Threshold{{Repo: "o/r", Score: 6, Kept: 40, KeptFixed: 36, All: 90, AllFixed: 46}}},
		{"all are fixed alike", []store.Merge{merge("o/r", 1, 5, 30, 30, 0), merge("o/r", 2, 8, 30, 30, 0)}, nil},
		{"a few high ones that were all fixed prove little", []store.Merge{merge("o/r", 1, 5, 20, 20, 0), merge("o/r", 2, 9, 19, 0, 0)}, nil},
		{"the high ones are worse", []store.Merge{merge("o/r", 1, 5, 40, 5, 0), merge("o/r", 2, 9, 5, 40, 0)}, nil},
		{"one repository is not another", []store.Merge{merge("o/a", 1, 5, 5, 60, 0), merge("o/b", 2, 8, 60, 5, 0)}, nil},
		{"nobody knows what became of them", []store.Merge{merge("o/r", 1, 5, 0, 0, 60), merge("o/r", 2, 9, 0, 0, 60)}, nil},
	} {
		var d Digest
		for _, m := range row.merges {
			_ = d.AddMerge(m)
		}
		got := d.Thresholds()
		for i := range got {
			if n := got[i].Score; n == 6 || n == 7 || n == 8 { // between two scores that were given, they leave the same
				got[i].Score = 6
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s:\n%s", row.name, diff)
		}
	}
}

// What the store adds up of merges is what a digest says of them, thresholds included; a finding of two reviewers with one model counts once for it.
func TestMergesInUsage(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var d Digest
	for _, m := range []store.Merge{merge("o/r", 1, 5, 10, 40, 3), merge("o/r", 2, 8, 36, 4, 0)} {
		_ = d.AddMerge(m)
		if first, err := s.RecordMerge(ctx, m, MergeFigures(m)); err != nil || !first {
			t.Fatal(first, err)
		}
	}
	for name, repos := range map[string][]string{"everywhere": nil, "one repository": {"o/r"}} {
		u, err := ReadUsage(ctx, s, store.Over{Repos: repos})
		if diff := cmp.Diff(d.Rows(), u.Rows); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if diff := cmp.Diff(d.Thresholds(), u.Thresholds); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	var out strings.Builder
	if err := d.Write(&out, &out, true, 120); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"POSTED, AND MERGED", "o/r: problem_score_threshold 6 would have left 40 of 90 posted findings, 90 % of them fixed before the merge instead of 51 %. Nothing was changed."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "0 runs") {
		t.Errorf("without a run:\n%s", out.String())
	}
	for _, row := range d.Rows() {
		if (row.By == ByAgent || row.By == ByModel) && (row.Posted() != 93 || row.Judged() != 90 || row.Map()["resolutionRate"] != 46.0/90) {
			t.Errorf("%s %s: %d posted, %v", row.By, row.Name, row.Posted(), row.Map()["resolutionRate"])
		}
	}
}
