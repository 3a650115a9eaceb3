package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// perPage is how many runs a page lists.
const perPage = 50

// runList is a page of runs.
type runList struct {
	Runs []store.Run
	// Search and Outcome are what was asked for; Wrong says what of it makes no sense.
	Search, Outcome, Wrong string
	Outcomes               []review.Outcome
	// Next is the address of the next page; empty on the last.
	Next string
	// Live is true when one of them goes on.
	Live bool
}

// outcomes are those that people look for, in the order of the list.
var outcomes = []review.Outcome{
	review.Converged, review.ChangesRequested, review.Stuck, review.SetAside, review.Diverging, review.Budget, review.Partial, review.NotReviewed,
	review.StaticOnly, review.Failed, review.Superseded, review.Opened, review.Updated, review.NothingToDo, review.Refused, review.Answered,
	review.LGTM, review.Flagged,
}

func (d *Dashboard) home(w http.ResponseWriter, r *http.Request, _ visitor) error {
	http.Redirect(w, r, "/runs", http.StatusSeeOther)
	return nil
}

func (d *Dashboard) runsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := r.URL.Query()
	list := runList{Search: strings.TrimSpace(q.Get("q")), Outcome: q.Get("outcome"), Outcomes: outcomes}
	f, id, wrong := search(list.Search)
	list.Wrong = wrong
	if id != "" { // a part of an id that means one run
		if run, err := d.Runs.Find(r.Context(), id); err == nil && v.may(run.RepoKey) {
			http.Redirect(w, r, runLink(run.ID), http.StatusSeeOther)
			return nil
		}
		list.Wrong = "There is no such run. Search for OWNER/REPO, OWNER/REPO#123, or a part of a run's id."
	}
	if list.Wrong == "" {
		if err := d.list(r, v, f, &list); err != nil {
			return err
		}
	}
	d.render(w, r, http.StatusOK, "runs", view{Title: "Runs", Section: "runs", Data: list})
	return nil
}

// list fills in the runs.
func (d *Dashboard) list(r *http.Request, v visitor, f store.Filter, list *runList) error {
	switch state := store.RunState(list.Outcome); state {
	case store.Running:
		f.State = state
	default:
		f.Outcome = review.Outcome(list.Outcome)
	}
	f.Keys = v.keys()
	f.Limit = perPage + 1
	f.Before = mark(r.URL.Query().Get("before"))
	runs, err := d.Runs.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	if len(runs) > perPage {
		runs = runs[:perPage]
		last := runs[perPage-1]
		next := url.Values{"before": {strconv.FormatInt(last.Created.UnixMicro(), 10) + "-" + last.ID}}
		for name, value := range map[string]string{"q": list.Search, "outcome": list.Outcome} {
			if value != "" {
				next.Set(name, value)
			}
		}
		list.Next = "/runs?" + next.Encode()
	}
	list.Runs = runs
	for _, run := range runs {
		list.Live = list.Live || run.State == store.Running
	}
	return nil
}

// mark reads where a page begins; the first page for what is none.
func mark(s string) store.Mark {
	micros, id, _ := strings.Cut(s, "-")
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || id == "" {
		return store.Mark{}
	}
	return store.Mark{Created: time.UnixMicro(n).UTC(), ID: id}
}

// search reads what somebody typed: a repository, a pull request, or a part of a run's id.
func search(s string) (f store.Filter, id, wrong string) {
	switch repo, number, pull := strings.Cut(s, "#"); {
	case s == "":
	case s == app.Latest:
		id = s
	case pull:
		n, err := strconv.Atoi(number)
		if err != nil || n <= 0 || strings.Count(repo, "/") < 1 {
			return f, "", "A pull request is written OWNER/REPO#123."
		}
		f.Repo, f.PR = repo, n
	case strings.Contains(s, "/"):
		f.Repo = s
	default:
		id = s
	}
	return f, id, ""
}

// tone is how it is coloured how a run stands: good, bad, warn, live or quiet.
func tone(r store.Run) string {
	switch r.State {
	case store.Running:
		return "live"
	case app.Interrupted:
		return "warn"
	}
	if r.Outcome == review.StaticOnly && r.Consensus != nil {
		return tones[review.ChangesRequested]
	}
	return cmp.Or(tones[r.Outcome], "quiet")
}

var tones = map[review.Outcome]string{
	review.Converged: "good", review.Opened: "good", review.Updated: "good", review.Answered: "good", review.LGTM: "good", review.Flagged: "bad",
	review.ChangesRequested: "bad", review.Stuck: "bad", review.Diverging: "bad", review.SetAside: "bad", review.Failed: "bad", review.Refused: "bad",
	review.Budget: "warn", review.Partial: "warn", review.NotReviewed: "warn", review.StaticOnly: "warn",
}
