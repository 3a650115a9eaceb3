package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// usageView is what runs of a while cost and came to: the figures of `prloop stats`.
type usageView struct {
	Since, Repo string
	Periods     []string
	// Repos are some that have runs.
	Repos  []string
	All    *stats.Row
	Groups []usageGroup
	// Merged are groups of findings that were posted on pull requests that were merged, Thresholds what follows from them.
	Merged     []usageGroup
	Thresholds []stats.Threshold
	Days       []day
	// Most are the dollars and runs of the day that had most of them.
	MostUSD  float64
	MostRuns int
}

type usageGroup struct {
	Title, One string
	// Found is true where rows are about findings, and not about agents.
	Found bool
	Rows  []*stats.Row
	// More is how many rows there are beside these.
	More int
}

// day is one bar of a chart; Height is 0 to 100.
type day struct {
	Date    time.Time
	CostUSD float64
	Runs    int
	Index   int
	Height  int
}

// What a page may grow to: rows of a group, and repositories that a field offers while somebody types.
const (
	rowsOfGroup         = 25
	offeredRepositories = 100
)

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

// mergedTitles are the groups of posted findings.
var mergedTitles = []struct{ by, title, one string }{
	{stats.ByRepository, "Repositories", "Repository"}, {stats.ByAgent, "Reviewers", "Reviewer"}, {stats.ByModel, "Models", "Model"}, {stats.ByCategory, "Categories", "Category"},
	{stats.ByScore, "Scores", "Score"},
}

func (d *Dashboard) usagePage(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := r.URL.Query()
	since := q.Get("since")
	if !slices.Contains(periods, since) {
		since = periods[0]
	}
	repo := strings.TrimSpace(q.Get("repo"))
	if repo != "" && !v.called(repo) {
		return errNotHere
	}
	now := d.Now()
	from, _ := stats.Since(since, now)
	from = from.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1) // whole days, today's so far included
	over := store.Over{Since: from, Keys: v.keys()}           // none is not all
	switch {
	case repo != "" && v.Operator:
		over.Repos = []string{repo}
	case repo != "":
		over.Keys = slices.DeleteFunc(over.Keys, func(k review.RepoKey) bool {
			return !slices.Contains(v.Repos, signin.Repo{Name: repo, Key: k})
		})
	}
	sums, err := d.Runs.Usage(r.Context(), over)
	if err != nil {
		return err
	}
	repos, err := d.visible(r.Context(), v)
	if err != nil {
		return err
	}
	u := usageView{Since: since, Repo: repo, Periods: periods}
	for _, r := range repos[:min(len(repos), offeredRepositories)] {
		if v.called(r.Name) { // one that was renamed is asked for by its name of today
			u.Repos = append(u.Repos, r.Name)
		}
	}
	u.fill(sums.Rows)
	u.Thresholds = sums.Thresholds
	u.chart(sums.Days, from, now)
	d.render(w, r, http.StatusOK, "usage", view{Title: "Usage", Section: "usage", Data: u})
	return nil
}

func (u *usageView) fill(rows []*stats.Row) {
	add := func(to *[]usageGroup, group usageGroup, by string, has func(*stats.Row) bool) {
		for _, row := range rows {
			if row.By == by && has(row) {
				group.Rows = append(group.Rows, row)
			}
		}
		if n := len(group.Rows); n > rowsOfGroup {
			group.Rows, group.More = group.Rows[:rowsOfGroup], n-rowsOfGroup
		}
		if len(group.Rows) > 0 {
			*to = append(*to, group)
		}
	}
	for _, g := range groupTitles {
		add(&u.Groups, usageGroup{Title: g.title, One: g.one, Found: g.found}, g.by, func(r *stats.Row) bool { return r.Runs+r.Findings+r.Answers > 0 })
	}
	for _, g := range mergedTitles {
		add(&u.Merged, usageGroup{Title: g.title, One: g.one}, g.by, func(r *stats.Row) bool { return r.Posted() > 0 })
	}
	for _, row := range rows {
		if row.By == stats.ByAll {
			u.All = row
		}
	}
	u.All = cmp.Or(u.All, &stats.Row{})
}

// First and Last are the days that the chart begins and ends with.
func (u usageView) First() time.Time { return u.Days[0].Date }
func (u usageView) Last() time.Time  { return u.Days[len(u.Days)-1].Date }

// chart makes a bar of every day, those without a run too.
func (u *usageView) chart(days map[time.Time]*stats.Row, since, now time.Time) {
	for date := since.UTC().Truncate(24 * time.Hour); !date.After(now); date = date.AddDate(0, 0, 1) {
		bar := day{Date: date, Index: len(u.Days)}
		if row := days[date]; row != nil {
			bar.CostUSD, bar.Runs = row.CostUSD, row.Runs
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

// posted counts what posted findings became.
func posted(row *stats.Row, b string) int { return row.Became[review.Became(b)] }

// became is how many findings of a row were settled, and how.
func became(row *stats.Row, fates ...string) (n int) {
	for _, f := range fates {
		n += row.Fates[review.Fate(f)]
	}
	return n
}
