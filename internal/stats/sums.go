package stats

import (
	"context"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// counters are the whole numbers of a row as the store adds them up, beside those of its maps.
var counters = map[string]func(*Row) *int{
	"runs":        func(r *Row) *int { return &r.Runs },
	"rounds":      func(r *Row) *int { return &r.Rounds },
	"converged/1": func(r *Row) *int { return &r.Converged[0] },
	"converged/2": func(r *Row) *int { return &r.Converged[1] },
	"converged/3": func(r *Row) *int { return &r.Converged[2] },
	"findings":    func(r *Row) *int { return &r.Findings },
	"counted":     func(r *Row) *int { return &r.Counted },
	"prominent":   func(r *Row) *int { return &r.Prominent },
	"unrecorded":  func(r *Row) *int { return &r.Unrecorded },
	"answers":     func(r *Row) *int { return &r.Answers },
	"degraded":    func(r *Row) *int { return &r.Degraded },
	"failed":      func(r *Row) *int { return &r.Failed },
	"tokens":      func(r *Row) *int { return &r.Tokens },
	"input":       func(r *Row) *int { return &r.Input },
	"cached":      func(r *Row) *int { return &r.Cached },
	"unpriced":    func(r *Row) *int { return &r.Unpriced },
}

// measures are the rest of its numbers.
var measures = map[string]func(*Row) *float64{
	"costUsd": func(r *Row) *float64 { return &r.CostUSD },
	"seconds": func(r *Row) *float64 { return &r.Seconds },
}

// The maps of a row: each of their entries is a figure of its own.
const (
	outcomeFigure = "outcome/"
	fateFigure    = "fate/"
	becameFigure  = "became/"
)

// Figures are those of one run. What is about its repository is about all of it.
func Figures(run store.Run) store.Figures {
	var d Digest
	_ = d.Add(run) // never fails
	return d.figures()
}

func (d *Digest) figures() store.Figures {
	out := store.Figures{}
	for _, r := range d.rows {
		if r.By == ByRepository {
			continue
		}
		add := func(figure string, value float64) {
			if value != 0 {
				out.Add(r.By, r.Name, figure, value)
			}
		}
		for figure, of := range counters {
			add(figure, float64(*of(r)))
		}
		for figure, of := range measures {
			add(figure, *of(r))
		}
		for o, n := range r.Outcomes {
			add(outcomeFigure+string(o), float64(n))
		}
		for f, n := range r.Fates {
			add(fateFigure+string(f), float64(n))
		}
		for b, n := range r.Became {
			add(becameFigure+string(b), float64(n))
		}
	}
	return out
}

// add adds figures. One that this program does not know is left out.
func (r *Row) add(figures map[string]float64) {
	for figure, value := range figures {
		if of := counters[figure]; of != nil {
			*of(r) += int(value)
		} else if of := measures[figure]; of != nil {
			*of(r) += value
		} else if o, ok := strings.CutPrefix(figure, outcomeFigure); ok {
			r.Outcomes[review.Outcome(o)] += int(value)
		} else if f, ok := strings.CutPrefix(figure, fateFigure); ok {
			r.Fates[review.Fate(f)] += int(value)
		} else if b, ok := strings.CutPrefix(figure, becameFigure); ok {
			r.Became[review.Became(b)] += int(value)
		}
	}
}

// Usage is what the runs of some days came to.
type Usage struct {
	// Rows are in the order of Digest.Rows. Of repositories there are those with the most runs.
	Rows []*Row
	// Days are all runs of each day that had any, by the time at which it began in UTC.
	Days map[time.Time]*Row
	// Thresholds are suggested for these repositories.
	Thresholds []Threshold
}

// mostRepositories is how many repositories have a row in Usage.
const mostRepositories = 25

// ReadUsage adds up the runs that nobody has added up yet and gives the figures of those that over is about; without Repos and Keys these
// are all, local changes too. A repository has one row, under the name that it had last.
func ReadUsage(ctx context.Context, s *store.Store, over store.Over) (Usage, error) {
	u := Usage{Days: map[time.Time]*Row{}}
	if err := s.AddUp(ctx, Figures); err != nil {
		return u, err
	}
	all := over.Repos == nil && over.Keys == nil
	if all {
		busiest, err := s.Busiest(ctx, over.Since, mostRepositories)
		if err != nil {
			return u, err
		}
		over.Repos = append(busiest, store.Everywhere)
	}
	days, err := s.Days(ctx, over)
	if err != nil {
		return u, err
	}
	names := map[review.RepoKey]string{}
	for _, day := range days {
		names[day.Key] = day.Repo
	}
	var d Digest
	for _, day := range days {
		name := day.Repo
		if day.Key != "" {
			name = names[day.Key]
		}
		if day.Repo != store.Everywhere && day.Repo != "" {
			d.row(ByRepository, name).add(day.Figures[ByAll][""])
			d.scored(name, day.Figures[ByScore])
		}
		if all && day.Repo != store.Everywhere { // is part of everywhere
			continue
		}
		for part, names := range day.Figures {
			for name, figures := range names {
				d.row(part, name).add(figures)
			}
		}
		if u.Days[day.Began] == nil {
			u.Days[day.Began] = newRow(ByAll, "")
		}
		u.Days[day.Began].add(day.Figures[ByAll][""])
	}
	u.Rows, u.Thresholds = d.Rows(), d.Thresholds()
	return u, nil
}

// scored adds what the store says of the scores of a repository.
func (d *Digest) scored(repo string, names map[string]map[string]float64) {
	for name, figures := range names {
		for figure, n := range figures {
			if b, ok := strings.CutPrefix(figure, becameFigure); ok {
				d.score(repo, scoreOf(name), review.Became(b), int(n))
			}
		}
	}
}
