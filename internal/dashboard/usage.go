package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// usageView is what runs of a while cost and came to: the figures of `prloop stats`.
type usageView struct {
	Since, Repo string
	Periods     []string
	Repos       []string
	All         *stats.Row
	Groups      []usageGroup
	Days        []day
	// Most are the dollars and runs of the day that had most of them.
	MostUSD  float64
	MostRuns int
}

type usageGroup struct {
	Title, One string
	// Found is true where rows are about findings, and not about agents.
	Found bool
	Rows  []*stats.Row
}

// day is one bar of a chart; Height is 0 to 100.
type day struct {
	Date    time.Time
	CostUSD float64
	Runs    int
	Index   int
	Height  int
}

// periods are those one can choose.
var periods = []string{"7d", "30d", "90d"}

// groupTitles are the groups of rows, in the order of the page.
var groupTitles = []struct {
	by, title, one string
	found          bool
}{
	{stats.ByRepository, "Repositories", "Repository", true}, {stats.ByModel, "Models", "Model", false}, {stats.ByAgent, "Agents", "Agent", false},
	{stats.BySeverity, "Severities", "Severity", true}, {stats.ByCategory, "Categories", "Category", true},
}

// usages remembers what was added up a moment ago: results are large, and somebody may reload the page.
type usages struct {
	mu    sync.Mutex
	known map[string]usageAt
}

type usageAt struct {
	usageView
	at time.Time
}

// usageKept is how long figures are shown before they are added up again.
const usageKept = 30 * time.Second

func (d *Dashboard) usagePage(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := r.URL.Query()
	since := q.Get("since")
	if !slices.Contains(periods, since) {
		since = periods[0]
	}
	repos, err := d.visible(r.Context(), v)
	if err != nil {
		return err
	}
	repo := q.Get("repo")
	if repo != "" && !slices.Contains(repos, repo) {
		return errNotHere
	}
	f := store.Filter{Repo: repo}
	if !v.Operator {
		f.Repos = append([]string{}, v.Repos...)
	}
	u, err := d.usage(r.Context(), f, since, v)
	if err != nil {
		return err
	}
	u.Repo, u.Repos, u.Periods = repo, repos, periods
	d.render(w, r, http.StatusOK, "usage", view{Title: "Usage", Section: "usage", Data: u})
	return nil
}

// visible are the repositories with runs that a visitor may see.
func (d *Dashboard) visible(ctx context.Context, v visitor) ([]string, error) {
	repos, err := d.Runs.Repositories(ctx)
	return slices.DeleteFunc(repos, func(r string) bool { return !v.may(r) }), err
}

// usage adds up what runs came to, one visitor at a time.
func (d *Dashboard) usage(ctx context.Context, f store.Filter, since string, v visitor) (usageView, error) {
	d.usages.mu.Lock()
	defer d.usages.mu.Unlock()
	key := since + "\n" + f.Repo + "\n"
	if !v.Operator {
		key += v.Name
	}
	now := d.Now()
	if u, ok := d.usages.known[key]; ok && now.Sub(u.at) < usageKept {
		return u.usageView, nil
	}
	u := usageView{Since: since}
	f.Since, _ = stats.Since(since, now)
	var sum stats.Digest
	days := map[time.Time]*stats.Digest{}
	err := d.Runs.EachRun(ctx, f, func(run store.Run) error {
		date := run.Created.UTC().Truncate(24 * time.Hour)
		if days[date] == nil {
			days[date] = new(stats.Digest)
		}
		_ = days[date].Add(run) // never fails
		return sum.Add(run)
	})
	if err != nil {
		return u, err
	}
	u.fill(sum.Rows())
	u.chart(days, f.Since, now)
	if d.usages.known == nil || len(d.usages.known) > 100 {
		d.usages.known = map[string]usageAt{}
	}
	d.usages.known[key] = usageAt{u, now}
	return u, nil
}

func (u *usageView) fill(rows []*stats.Row) {
	for _, g := range groupTitles {
		group := usageGroup{Title: g.title, One: g.one, Found: g.found}
		for _, row := range rows {
			if row.By == g.by {
				group.Rows = append(group.Rows, row)
			}
		}
		if len(group.Rows) > 0 {
			u.Groups = append(u.Groups, group)
		}
	}
	for _, row := range rows {
		if row.By == stats.ByAll {
			u.All = row
		}
	}
	u.All = cmp.Or(u.All, &stats.Row{})
}

// chart makes a bar of every day, those without a run too.
func (u *usageView) chart(days map[time.Time]*stats.Digest, since, now time.Time) {
	for date := since.UTC().Truncate(24 * time.Hour); !date.After(now); date = date.AddDate(0, 0, 1) {
		bar := day{Date: date, Index: len(u.Days)}
		if sum := days[date]; sum != nil {
			for _, row := range sum.Rows() {
				if row.By == stats.ByAll {
					bar.CostUSD, bar.Runs = row.CostUSD, row.Runs
				}
			}
		}
		u.MostUSD, u.MostRuns = max(u.MostUSD, bar.CostUSD), max(u.MostRuns, bar.Runs)
		u.Days = append(u.Days, bar)
	}
	for i, bar := range u.Days {
		switch {
		case u.MostUSD > 0:
			u.Days[i].Height = int(100 * bar.CostUSD / u.MostUSD)
		case u.MostRuns > 0:
			u.Days[i].Height = 100 * bar.Runs / u.MostRuns
		}
	}
}

// became is how many findings of a row were settled, and how.
func became(row *stats.Row, fates ...string) (n int) {
	for _, f := range fates {
		n += row.Fates[review.Fate(f)]
	}
	return n
}

// repositoriesView is the page of all repositories.
type repositoriesView struct {
	Cards []card
}

// card is one repository at a glance.
type card struct {
	Repo string
	// Newest are its newest runs, the newest first.
	Newest []store.Run
}

func (d *Dashboard) repositoriesPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	repos, err := d.visible(r.Context(), v)
	if err != nil {
		return err
	}
	var p repositoriesView
	for _, repo := range repos {
		runs, err := d.Runs.Runs(r.Context(), store.Filter{Repo: repo, Limit: 10})
		if err != nil {
			return err
		}
		p.Cards = append(p.Cards, card{Repo: repo, Newest: runs})
	}
	slices.SortStableFunc(p.Cards, func(a, b card) int { return b.Newest[0].Created.Compare(a.Newest[0].Created) })
	d.render(w, r, http.StatusOK, "repositories", view{Title: "Repositories", Section: "repositories", Data: p})
	return nil
}
