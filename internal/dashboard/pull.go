package dashboard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// pullView is the page of a pull request: its runs, its findings over time, and what was said.
type pullView struct {
	Target review.Target
	URL    string
	Runs   []pullRun
	// Findings are in the order in which they were first raised.
	Findings []pullFinding
	Bill     review.Bill
	// Merged is when the merge was recorded; zero before that.
	Merged time.Time
	// Talk is what was said on it; nil when no run kept that.
	Talk *talk
}

type pullRun struct {
	store.Run
	Counts review.Counts
}

// pullFinding is a finding of one or several runs of a pull request, under its identity.
type pullFinding struct {
	review.Finding
	Identity string
	// First and Last are the runs that raised it; Open is true when the newest review did.
	First, Last store.Run
	Open        bool
	// Became is what the finding became by the merge, Why how that is known; empty where nobody looked.
	Became review.Became
	Why    string
	// Thread is the newest one that it opened; nil when there is none.
	Thread *thread
}

// manyRuns is how many runs of a pull request its page is made of.
const manyRuns = 100

// runsOf are the runs about a pull request that a visitor may see, the newest first: those of the repository that had the name last, under all
// its names.
func (d *Dashboard) runsOf(ctx context.Context, v visitor, t review.Target) ([]store.Run, error) {
	f := store.Filter{Repo: t.Repo.String(), PR: t.PR, Keys: v.keys(), Limit: 1}
	newest, err := d.Runs.Runs(ctx, f)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	f.Limit, f.Keys = manyRuns, []review.RepoKey{newest[0].RepoKey}
	if newest[0].RepoKey != "" {
		f.Repo = ""
	}
	return d.Runs.Runs(ctx, f)
}

func (d *Dashboard) pullPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || number <= 0 {
		return errNotHere
	}
	p := pullView{Target: review.Target{Repo: review.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}, PR: number}}
	p.URL = "https://" + p.Target.Repo.Host + "/" + p.Target.Repo.Owner + "/" + p.Target.Repo.Name + "/pull/" + strconv.Itoa(number)
	runs, err := d.runsOf(r.Context(), v, p.Target)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return errNotHere
	}
	places := map[string]int{}
	var asked []review.AgentReceipt
	for i, run := range slices.Backward(runs) {
		whole, err := d.Runs.Find(r.Context(), run.ID)
		if err != nil {
			return err
		}
		run.Result = whole.Result
		row := pullRun{Run: run}
		if res := run.Result; res != nil {
			row.Counts = res.DistinctIssues
			for _, x := range res.Rounds {
				asked = append(asked, x.Agents...)
				if x.Fix != nil {
					asked = append(asked, x.Fix.Agent)
				}
			}
			for _, f := range distinct.Of(*res) {
				at, known := places[f.ID]
				if !known || f.ID == "" {
					at = len(p.Findings)
					places[f.ID] = at
					p.Findings = append(p.Findings, pullFinding{Identity: f.ID, First: run})
				}
				p.Findings[at].Finding, p.Findings[at].Last, p.Findings[at].Open = f.Wordings[0], run, i == 0
			}
		}
		p.Runs = append(p.Runs, row)
	}
	slices.Reverse(p.Runs)
	p.Bill = review.BillOf(asked...)
	if err := d.addMerge(r.Context(), runs[0].RepoKey, &p); err != nil {
		return err
	}
	if p.Talk, err = d.talkOf(p.Runs); err != nil {
		return err
	}
	p.link()
	d.render(w, r, http.StatusOK, "pull", view{Title: p.Target.String(), Section: "runs", Data: p})
	return nil
}

// link gives findings the threads that they opened.
func (p *pullView) link() {
	if p.Talk == nil {
		return
	}
	for i := range p.Talk.Threads {
		t := &p.Talk.Threads[i]
		if at := slices.IndexFunc(p.Findings, func(f pullFinding) bool { return f.Identity != "" && f.Identity == t.Identity }); at >= 0 {
			p.Findings[at].Thread = t
		}
	}
}

// addMerge adds what became of the findings, once the pull request is merged.
func (d *Dashboard) addMerge(ctx context.Context, key review.RepoKey, p *pullView) error {
	m, err := d.Runs.Merge(ctx, key, p.Target.PR)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p.Merged = m.Recorded
	for _, f := range m.Findings {
		if i := slices.IndexFunc(p.Findings, func(row pullFinding) bool { return row.Identity == f.ID }); i >= 0 {
			p.Findings[i].Became, p.Findings[i].Why = f.Became, f.Why
		}
	}
	return nil
}

// becameTones are how what findings became is coloured.
var becameTones = map[review.Became]string{review.BecameFixed: "good", review.BecameDismissed: "quiet", review.BecameDisputed: "warn", review.BecameIgnored: "bad", review.BecameUnknown: "quiet"}
