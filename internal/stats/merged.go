package stats

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// AddMerge takes what became of the findings that were posted on a merged pull request. The error is always nil.
func (d *Digest) AddMerge(m store.Merge) error {
	for _, f := range m.Findings {
		rows := []*Row{d.row(ByAll, ""), d.row(ByRepository, m.Repo), d.row(BySeverity, string(f.Priority)), d.row(ByCategory, f.Category)}
		if f.Score > 0 {
			rows = append(rows, d.row(ByScore, strconv.Itoa(f.Score)))
			d.score(m.Repo, f.Score, f.Became, 1)
		}
		for _, v := range f.By {
			rows = append(rows, d.row(ByAgent, v.Name))
			if v.Model != "" {
				if row := d.row(ByModel, v.Model); !slices.Contains(rows, row) {
					rows = append(rows, row)
				}
			}
		}
		for _, row := range rows {
			row.Became[f.Became]++
		}
	}
	return nil
}

// Posted is how many findings were posted on pull requests that were merged, Judged of how many of these it is known what became of them.
func (r *Row) Posted() (n int) {
	for _, k := range r.Became {
		n += k
	}
	return n
}

// Judged is Posted without those of which nobody knows.
func (r *Row) Judged() int { return r.Posted() - r.Became[review.BecameUnknown] }

// MergeFigures are those of one merge, as the store adds them up.
func MergeFigures(m store.Merge) store.Figures {
	var d Digest
	_ = d.AddMerge(m) // never fails
	return d.figures()
}

// scores count, for each score from 1 to 10, findings of which it is known what became of them, and those that were fixed.
type scores [11]struct{ judged, fixed int }

func scoreOf(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > 10 {
		return 0
	}
	return n
}

func (d *Digest) score(repo string, score int, b review.Became, n int) {
	if score < 1 || score > 10 || b == review.BecameUnknown {
		return
	}
	if d.scores == nil {
		d.scores = map[string]scores{}
	}
	s := d.scores[repo]
	s[score].judged += n
	if b == review.BecameFixed {
		s[score].fixed += n
	}
	d.scores[repo] = s
}

// A Threshold is a value of problem_score_threshold that would have left a repository with findings that people fix more often.
type Threshold struct {
	Repo  string
	Score int
	// Kept of All posted findings have this score or a higher one. KeptFixed and AllFixed of them were fixed before the merge.
	Kept, KeptFixed, All, AllFixed int
}

// leastKept is how many findings a threshold must leave to be suggested: of fewer, a share says little.
const leastKept = 20

// Thresholds are suggestions, by repository. There is none for one where too little is known, or where no threshold does better than the
// scores that were posted.
func (d *Digest) Thresholds() []Threshold {
	var out []Threshold
	for repo, s := range d.scores {
		if t, ok := s.best(); ok {
			t.Repo = repo
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Threshold) int { return cmp.Compare(a.Repo, b.Repo) })
	return out
}

// best is the threshold whose share of fixed findings is highest, by the lower end of its 95 % interval: a high share of few findings does
// not win by chance. The lowest of equals leaves most.
func (s scores) best() (t Threshold, ok bool) {
	var kept, fixed [12]int
	for n := 10; n >= 1; n-- {
		kept[n], fixed[n] = kept[n+1]+s[n].judged, fixed[n+1]+s[n].fixed
	}
	sure := func(n int) int {
		low, _ := calibration.Bin{Findings: kept[n], Held: fixed[n]}.Interval()
		return low
	}
	t = Threshold{Score: 1, All: kept[1], AllFixed: fixed[1]}
	for n := 2; n <= 10 && kept[n] >= leastKept; n++ {
		if kept[n] < kept[t.Score] && sure(n) > sure(t.Score) {
			t.Score = n
		}
	}
	t.Kept, t.KeptFixed = kept[t.Score], fixed[t.Score]
	return t, t.Score > 1
}
