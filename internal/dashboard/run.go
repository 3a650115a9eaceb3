package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// runView is the page of one run.
type runView struct {
	store.Run
	// Report is the last review's, Fix that of the fix the run ended with; empty when there is none.
	Report, Fix template.HTML
	Must        []finding
	Optional    []finding
	Rounds      []round
	Agents      []review.AgentReceipt
	Now         *atWork
	Effects     []store.Entry
	Incidents   []store.Incident
	Files       []string
	// Bill is what all agents cost, Tokens are the known ones.
	Bill   review.Bill
	Tokens int
	Took   time.Duration
	// Cancel and Resume are true when the visitor can; Live when the page goes on changing.
	Cancel, Resume, Live bool
	// Asked is true when the visitor has just had it resumed.
	Asked bool
	// Over is true in the last part of a page that was live: the browser then fetches the whole.
	Over bool
	At   time.Time
}

// finding is a distinct finding: what was said of it first, and where its lines are seen.
type finding struct {
	review.Finding
	Identity, Source string
	// Said are the other wordings.
	Said []review.Finding

	prose *prose // of the page
}

// Show is a text of the finding as a part of the page.
func (f finding) Show(s string) template.HTML { return f.prose.show(s) }

// round is one round as the page lists it.
type round struct {
	Number    int
	Head      string
	Consensus string
	Counts    review.Counts
	Fix       *review.FixOutcome
}

// run finds a run that the visitor may see.
func (d *Dashboard) run(r *http.Request, v visitor) (store.Run, error) {
	id := r.PathValue("run")
	run, err := d.Runs.Find(r.Context(), id)
	if err == nil && (run.ID != id || !v.may(run.RepoKey)) {
		err = errNotHere
	}
	var several *store.AmbiguousError
	if errors.As(err, &several) {
		err = errNotHere
	}
	return run, err
}

func (d *Dashboard) runPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	page, err := d.assemble(r.Context(), run, v)
	if err != nil {
		return err
	}
	page.Asked = r.URL.Query().Has("resumed")
	page.Files = slices.DeleteFunc(page.Files, func(name string) bool { return !v.opens(name) })
	d.render(w, r, http.StatusOK, "run", view{Title: run.Target.String(), Section: "runs", Data: page})
	return nil
}

// assemble gathers what is known of a run.
func (d *Dashboard) assemble(ctx context.Context, run store.Run, v visitor) (*runView, error) {
	if r := run.Result; r != nil && r.Outcome == review.Failed && !v.Operator {
		told := *r
		told.Reason, run.Result = queue.Failed, &told
	}
	now, _ := d.Feed.at(run.ID)
	if now != nil && run.State == app.Interrupted { // it has just begun
		run.State = store.Running
	}
	p := &runView{Run: run, Now: now, At: d.Now(), Live: run.State == store.Running || now != nil} // files are written after the end is recorded
	p.Cancel = run.State == store.Running && d.Control != nil
	p.Resume = run.State == app.Interrupted && d.Control != nil && run.Target.PR > 0
	p.Took = run.Updated.Sub(run.Created)
	if p.Live {
		p.Took = d.Now().Sub(run.Created)
	}
	rounds, err := d.Runs.Rounds(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if run.Result != nil {
		p.ended(*run.Result)
	} else {
		p.goesOn(rounds)
	}
	p.Bill = review.BillOf(p.Agents...)
	for i, a := range p.Agents {
		if !v.Operator {
			p.Agents[i].Detail = ""
		}
		p.Tokens += value(a.Usage.InputTokens) + value(a.Usage.OutputTokens)
	}
	if now != nil {
		for _, a := range now.Agents {
			p.Bill.USD, p.Bill.Unknown = p.Bill.USD+a.CostUSD, p.Bill.Unknown || a.Unpriced
			p.Tokens += a.Tokens
		}
	}
	if p.Effects, err = d.Runs.Effects(ctx, run.ID); err != nil {
		return nil, err
	}
	if p.Incidents, err = d.Runs.Incidents(ctx, run.ID); err != nil {
		return nil, err
	}
	if p.Files, err = d.Runs.Files(run.ID); err != nil {
		return nil, err
	}
	p.Report, err = d.report(run.ID, "review.md")
	if err == nil && run.Result != nil {
		p.Fix, err = d.report(run.ID, fmt.Sprintf("round-%d/fix.md", run.Result.Round))
	}
	return p, err
}

func (d *Dashboard) report(run, name string) (template.HTML, error) {
	body, err := d.Runs.File(run, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return rendered(body), err
}

// ended takes what a run that has ended says.
func (p *runView) ended(r review.RunResult) {
	all := &prose{}
	for _, f := range distinct.Of(r) {
		row := finding{prose: all, Finding: f.Wordings[0], Identity: f.ID, Source: source(r.Target, r.Receipt.HeadSHA, f.Wordings[0]), Said: f.Wordings[1:]}
		if f.Must {
			p.Must = append(p.Must, row)
		} else {
			p.Optional = append(p.Optional, row)
		}
	}
	for _, x := range r.Rounds {
		p.Rounds = append(p.Rounds, round{Number: x.Round, Head: x.Head, Consensus: value(x.Consensus), Counts: x.Shown(), Fix: x.Fix})
		p.Agents = append(p.Agents, x.Agents...)
		if x.Fix != nil && x.Fix.Agent.Name != "" {
			p.Agents = append(p.Agents, x.Fix.Agent)
		}
	}
}

// goesOn takes the rounds that are over of a run that has not ended.
func (p *runView) goesOn(rounds []store.Round) {
	for _, x := range rounds {
		p.Rounds = append(p.Rounds, round{Number: x.Number, Head: x.Receipt.HeadSHA, Consensus: string(x.Verdict.Consensus), Counts: x.Verdict.Issues})
		p.Agents = append(p.Agents, x.Receipt.Agents...)
	}
}

// follow sends the changing part of a run's page whenever it changes, until the run ends or the visitor leaves. After a while the browser has to
// come again: who has signed out, or lost a repository, sees no more then.
func (d *Dashboard) follow(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	if !v.Operator {
		leave, ok := d.comes("following "+v.Name, mostFollowed)
		if !ok {
			w.WriteHeader(http.StatusTooManyRequests) // the browser does not come again
			return nil
		}
		defer leave()
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	ctx, cancel := context.WithTimeout(r.Context(), d.live)
	defer cancel()
	var sent string
	for {
		page, err := d.assemble(r.Context(), run, v)
		if err != nil {
			return err
		}
		page.Over = !page.Live
		var b strings.Builder
		if err := templates()["run"].ExecuteTemplate(&b, "live", page); err != nil {
			return err
		}
		event := "run"
		if !page.Live {
			event = "ended"
		}
		if b.String() != sent || event == "ended" {
			sent = b.String()
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, strings.ReplaceAll(sent, "\n", "\ndata: ")); err != nil || out.Flush() != nil {
				return nil //nolint:nilerr // the visitor has left
			}
		}
		if event == "ended" {
			return nil
		}
		_, changed := d.Feed.at(run.ID)
		if !wait(ctx, changed) {
			return nil
		}
		if run, err = d.Runs.Find(r.Context(), run.ID); err != nil {
			return err
		}
	}
}

// mostFollowed is how many connections of one person follow runs at a time: a browser has room for fewer.
const mostFollowed = 8

// How often the page of a run that goes on is looked at, at most and at least, and how long a part of it may take to be sent.
const (
	soonest   = 500 * time.Millisecond
	latest    = 3 * time.Second
	writeTime = 20 * time.Second
)

// wait waits for the next look; false when the visitor has left.
func wait(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(soonest):
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed: // nil for a run of another process: the store is all there is
	case <-time.After(latest - soonest):
	}
	return true
}

// replayed is a run that was judged again.
type replayed struct {
	Run    store.Run
	Rounds []replayedRound
}

type replayedRound struct {
	Number        int
	Same          bool
	Stored, Again string
}

func (d *Dashboard) replay(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	out := replayed{Run: run}
	for n := 1; ; n++ {
		again, err := d.Runs.Replay(run.ID, n)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		out.Rounds = append(out.Rounds, replayedRound{Number: n, Same: again.Stored == again.Again.Report, Stored: again.Stored, Again: again.Again.Report})
	}
	d.render(w, r, http.StatusOK, "replay", view{Title: "Replay", Section: "runs", Data: out})
	return nil
}

// opens reports whether a visitor may open a file of a run that they may see. What people read, what agents answered and what was said on the pull
// request are for all of them. The rest holds how the run was set up, with endpoints and programs of the operator's machine (threats.md T288).
func (v visitor) opens(name string) bool {
	name = path.Base(name)
	return v.Operator || slices.Contains([]string{"review.json", "snapshot.json", "conversation.json"}, name) ||
		slices.ContainsFunc([]string{".md", ".patch", ".answer.json"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// file sends one of a run's files, as text that no browser takes for anything else.
func (d *Dashboard) file(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	names, err := d.Runs.Files(run.ID)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) || !v.opens(name) { // a folder, say
		return errNotHere
	}
	data, err := d.Runs.File(run.ID, name)
	if err == nil && !v.Operator && strings.HasSuffix(name, ".json") {
		data, err = forOthers(data)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !utf8.Valid(data) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", "attachment")
	}
	_, _ = w.Write(data)
	return nil
}

// forOthers is a file as others than the operator read it: without what receipts hold for the operator alone (threats.md T681), and why a run failed (threats.md T682).
func forOthers(data []byte) ([]byte, error) {
	var doc any
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read a file of the run: %w", err)
	}
	withhold(doc)
	if result, ok := doc.(map[string]any); ok && result["outcome"] == string(review.Failed) {
		result["reason"] = queue.Failed
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(doc)
	return out.Bytes(), err
}

// withhold takes out every review.AgentReceipt.Detail and Next, and the standard error that review.Answer has beside its receipt.
func withhold(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		delete(doc, "operatorDetail")
		delete(doc, "operatorNext")
		if doc["receipt"] != nil {
			delete(doc, "log")
		}
		for _, v := range doc {
			withhold(v)
		}
	case []any:
		for _, v := range doc {
			withhold(v)
		}
	}
}

func (d *Dashboard) cancel(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	if d.Control == nil {
		return errNotHere
	}
	if err := d.Control.Cancel(r.Context(), run.ID); err != nil {
		return err
	}
	d.Log.Info("a run was cancelled", "run", run.ID, "by", v.Name)
	http.Redirect(w, r, runLink(run.ID), http.StatusSeeOther)
	return nil
}

// resume has a run gone on with that stopped before its end. That spends money: GitHub is asked whether who signed in may still.
func (d *Dashboard) resume(w http.ResponseWriter, r *http.Request, v visitor) error {
	run, err := d.run(r, v)
	if err != nil {
		return err
	}
	if d.Control == nil || run.Target.PR == 0 {
		return errNotHere
	}
	if run.State != app.Interrupted {
		d.refuse(w, r, http.StatusConflict, "Only a run that was interrupted can be resumed, and this one is not.")
		return nil
	}
	if !v.Operator {
		may, err := d.administers(r.Context(), run, v)
		if err != nil {
			return &unansweredError{err}
		}
		if !may {
			d.refuse(w, r, http.StatusForbidden, "Nothing was done: GitHub does not show that you administer this repository now.")
			return nil
		}
	}
	if err := d.Control.Resume(r.Context(), run.ID, run.Target); err != nil {
		return err
	}
	d.Log.Info("a run is to be resumed", "run", run.ID, "by", v.Name)
	http.Redirect(w, r, runLink(run.ID)+"?resumed=1", http.StatusSeeOther)
	return nil
}

// administers asks GitHub; nobody does where it cannot be asked.
func (d *Dashboard) administers(ctx context.Context, run store.Run, v visitor) (bool, error) {
	if d.Policies == nil {
		return false, nil
	}
	at, err := d.Policies.PolicyRepo(ctx, run.Target.Repo.String(), "")
	if err != nil || at.Key() != run.RepoKey { // the name is another repository's now
		return false, err
	}
	return d.Policies.Administers(ctx, at, v.Name)
}
