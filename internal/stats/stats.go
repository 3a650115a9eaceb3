// Package stats adds up what finished runs came to: outcomes, rounds, findings and what became of them, agents and what they spent; and
// what is known of the probabilities that models stated.
package stats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// What rows are about.
const (
	ByAll        = "all"
	ByRepository = "repository"
	BySeverity   = "severity"
	ByCategory   = "category"
	ByAgent      = "agent"
	ByModel      = "model"
	// ByScore has rows about merged pull requests alone: runs do not keep what became of a score.
	ByScore = "score"
)

// groups are the groups of rows, in the order they are shown.
var groups = []string{ByAll, ByRepository, BySeverity, ByCategory, ByScore, ByAgent, ByModel}

// People is the name of the row of agents for findings that people raised.
const People = "(people)"

// Row is what one part of the runs comes to: all of them, those of a repository, or the findings and agents of one name. Where
// something makes no sense for a group it stays 0.
type Row struct {
	By, Name string
	// Runs have ended, Outcomes says how.
	Runs     int
	Outcomes map[review.Outcome]int
	// Rounds is how many reviews they had; Converged how many runs converged in one, two and three of them.
	Rounds    int
	Converged [3]int
	// Findings are distinct; Counted of them counted for a verdict, Prominent ones stood in the open part of a report.
	Findings, Counted, Prominent int
	Fates                        map[review.Fate]int
	// Unrecorded is how many runs ended before it was kept what became of their findings.
	Unrecorded int
	// Became says what became of findings that were posted, by the time their pull requests were merged.
	Became map[review.Became]int
	Spent
}

// Spent is what agents answered and spent.
type Spent struct {
	// Answers is how often an agent was asked; Degraded and Failed of these gave a broken answer or none.
	Answers, Degraded, Failed int
	// Tokens are known ones, input and output. Of Input, where Cached is known too, Cached came from a prompt cache.
	Tokens, Input, Cached int
	// CostUSD adds up known costs; Unpriced is how many answers called a model whose cost nobody knows.
	CostUSD  float64
	Unpriced int
	// Seconds are those of runs, and in rows of agents and models those of their answers.
	Seconds float64
}

// SetAside is how many findings were set aside in the end.
func (r *Row) SetAside() int { return r.Fates[review.FateRefuted] + r.Fates[review.FateUnproven] }

// converged is how many runs converged.
func (r *Row) converged() int { return r.Outcomes[review.Converged] }

// Digest is what the runs come to. Its zero value is that of no run.
type Digest struct {
	rows map[[2]string]*Row
	// unfinished runs have no result yet.
	unfinished int
	known      []calibration.Observation
	// scores are what became of posted findings, by repository and score.
	scores map[string]scores
}

func (d *Digest) row(by, name string) *Row {
	if d.rows == nil {
		d.rows = map[[2]string]*Row{}
	}
	k := [2]string{by, name}
	if d.rows[k] == nil {
		d.rows[k] = newRow(by, name)
	}
	return d.rows[k]
}

func newRow(by, name string) *Row {
	return &Row{By: by, Name: name, Outcomes: map[review.Outcome]int{}, Fates: map[review.Fate]int{}, Became: map[review.Became]int{}}
}

// Add takes a run. One that has not ended is only counted. The error is always nil.
func (d *Digest) Add(run store.Run) error {
	if run.Result == nil {
		d.unfinished++
		return nil
	}
	if run.Result.Again != "" { // what it came to was counted with that run
		return nil
	}
	r, repo := *run.Result, "(local)"
	if !run.Target.Local() {
		repo = run.Target.Repo.String()
	}
	for _, row := range []*Row{d.row(ByAll, ""), d.row(ByRepository, repo)} {
		row.run(r)
		for _, a := range takingPart(r) {
			row.take(a)
		}
		for _, f := range r.Fates {
			row.finding(f)
		}
	}
	for _, a := range takingPart(r) {
		rows := []*Row{d.row(ByAgent, a.Name)}
		if model := cmp.Or(a.Answered(), a.Model); model != "" {
			rows = append(rows, d.row(ByModel, model))
		}
		for _, row := range rows {
			row.take(a)
			row.Seconds += a.Seconds
		}
	}
	for _, f := range r.Fates {
		d.find(f)
	}
	return nil
}

// run takes a run as a whole.
func (r *Row) run(result review.RunResult) {
	r.Runs++
	r.Outcomes[result.Outcome]++
	r.Rounds += len(result.Rounds)
	r.Seconds += result.Seconds
	if n := len(result.Rounds); result.Outcome == review.Converged && n > 0 {
		r.Converged[min(n, len(r.Converged))-1]++
	}
	if result.Fates == nil && len(result.Findings)+len(result.Unverified) > 0 {
		r.Unrecorded++
	}
}

// takingPart are the answers of all agents of all rounds.
func takingPart(r review.RunResult) []review.AgentReceipt {
	var out []review.AgentReceipt
	for _, round := range r.Rounds {
		out = append(out, round.Agents...)
		if round.Fix != nil {
			out = append(out, round.Fix.Agent)
		}
	}
	return out
}

// take adds one answer, but for its time.
func (r *Row) take(a review.AgentReceipt) {
	r.Answers++
	switch a.State {
	case review.AgentDegraded:
		r.Degraded++
	case review.AgentFailed:
		r.Failed++
	}
	u := a.Usage
	for _, n := range []*int{u.InputTokens, u.OutputTokens} {
		if n != nil {
			r.Tokens += *n
		}
	}
	if u.InputTokens != nil && u.CachedTokens != nil {
		r.Input, r.Cached = r.Input+*u.InputTokens, r.Cached+*u.CachedTokens
	}
	switch {
	case u.CostUSD != nil:
		r.CostUSD += *u.CostUSD
	case u.LLMCalls > 0:
		r.Unpriced++
	}
}

func (r *Row) finding(f review.FindingFate) {
	r.Findings++
	r.Fates[f.Fate]++
	if f.Counted {
		r.Counted++
	}
	if f.Prominent {
		r.Prominent++
	}
}

// find adds a finding to the rows of what it is and of who raised it, and to what is known of probabilities.
func (d *Digest) find(f review.FindingFate) {
	rows := []*Row{d.row(BySeverity, string(f.Priority)), d.row(ByCategory, f.Category)}
	if f.Person {
		rows = append(rows, d.row(ByAgent, People))
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
		row.finding(f)
	}
	d.observe(f)
}

// observe keeps what a finding's fate says of the probabilities that were stated of it (decision 41).
func (d *Digest) observe(f review.FindingFate) {
	o := calibration.Observation{From: calibration.FromRuns, Held: f.Fate == review.FateFixed}
	aside := f.Fate == review.FateRefuted || f.Fate == review.FateUnproven
	if !o.Held && !aside && f.Fate != review.FateRejected {
		return
	}
	if f.Probability != nil && f.VerifiedBy != "" && !aside {
		o.Of, o.Model, o.Stated = calibration.Probability, f.VerifiedBy, *f.Probability
		d.known = append(d.known, o)
	}
	for _, v := range f.By {
		if v.Confidence != nil && v.Model != "" {
			o.Of, o.Model, o.Stated = calibration.Confidence, v.Model, *v.Confidence
			d.known = append(d.known, o)
		}
	}
}

// Observations are what the runs say of the probabilities that models stated.
func (d *Digest) Observations() []calibration.Observation { return d.known }

// Rows are all rows: all runs first, severities from the gravest, the rest of a group by how much there is of it and by name.
func (d *Digest) Rows() []*Row {
	rows := slices.Collect(maps.Values(d.rows))
	slices.SortFunc(rows, func(a, b *Row) int {
		byWeight := cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(b.Findings, a.Findings), cmp.Compare(b.Answers, a.Answers))
		switch a.By {
		case BySeverity:
			byWeight = 0
		case ByScore:
			byWeight = cmp.Compare(scoreOf(b.Name), scoreOf(a.Name))
		}
		return cmp.Or(cmp.Compare(slices.Index(groups, a.By), slices.Index(groups, b.By)), byWeight, cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// mean is a part of a whole; 0 where there is no whole.
func mean(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return part / float64(of)
}

// Since reads a time: a date, or how long ago in hours (h), days (d) or weeks (w).
func Since(text string, now time.Time) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, true
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit, ok := units[text[len(text)-1]]
	n := 0
	for _, c := range text[:len(text)-1] {
		if c < '0' || c > '9' || n > 100_000 {
			return time.Time{}, false
		}
		n = 10*n + int(c-'0')
	}
	if !ok || n == 0 {
		return time.Time{}, false
	}
	return now.Add(-time.Duration(n) * unit), true
}
