package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Gate is what the commit status is set with, and what it rests on (decision 52).
type Gate interface {
	effects.Statuses
	// Labelled gives the events of labels of a pull request, the newest first, without what who did it may do, and whether these are all.
	Labelled(ctx context.Context, pr review.PullRequest, labels []string) (events []gate.Labelling, whole bool, err error)
	// Permission is what somebody may do with the repository, in GitHub's words.
	Permission(ctx context.Context, repo review.Repo, login string) (string, error)
	// PendingStatuses are the commits of a pull request on which a status of ours is pending.
	PendingStatuses(ctx context.Context, pr review.PullRequest) ([]string, error)
	// Beside says of another open pull request that has the commit as its head that it is not approved; empty when there is none.
	Beside(ctx context.Context, target review.Target, head string) (string, error)
	// Rebased says that the pull request of a run has another base branch now than the run reviewed; empty when it has not.
	Rebased(ctx context.Context, target review.Target, run string) (string, error)
	// Later reports whether another run has set the status of a commit since a run did.
	Later(ctx context.Context, target review.Target, run, head string) (bool, error)
	// Denied reports whether an error says that the credential lacks the permission, or that GitHub takes no more statuses of the commit.
	Denied(err error) bool
}

// gated is what a run knows of its status.
type gated struct {
	// facts are those of the last snapshot; nil before the first.
	facts *gate.Facts
	// pending is the commit on which a status of this run is pending; empty when there is none.
	pending string
	// missing says why no status can be set; empty when nothing has shown so.
	missing string
}

// gates reports whether the run sets a commit status.
func (r Request) gates() bool {
	return r.Gate != nil && r.Gate.Policy != gate.Off && !r.DryRun && !r.Target.Local()
}

// gateFacts reads what the status rests on; nil where none is set.
func (l *Loop) gateFacts(ctx context.Context, req Request, snap Snapshot) (*gate.Facts, error) {
	if !req.gates() {
		return nil, nil
	}
	f := snap.size()
	if f.Complexity != gate.Ordinary || f.Small { // by names; what else is protected stands in the trees (threats.md T771)
		sensitive, err := l.History.Sensitive(ctx, snap.Range, req.Context.Guidance)
		if err != nil {
			return nil, err
		}
		if sensitive {
			f = &gate.Facts{Complexity: gate.Ordinary}
		}
	}
	softened := req.Gate.Policy != gate.Verdict
	var asked []string
	for _, label := range gate.Labels {
		stands := hasLabel(snap.PR, label)
		switch allowed := slices.Contains(req.Gate.Labels, label); {
		case allowed && (stands || label == gate.Strict && softened): // which may hold though it was taken off
			asked, softened = append(asked, label), true
		case stands:
			f.Labels = append(f.Labels, gate.Labelling{Label: label})
		}
	}
	told, err := l.telling(ctx, snap.PR, asked)
	if err != nil {
		return nil, err
	}
	f.Labels = append(f.Labels, told...)
	return f, nil
}

// heldLabels are the labels that ask for a full review and were taken off by nobody who may (threats.md T772).
func (l *Loop) heldLabels(ctx context.Context, req Request, pr review.PullRequest) (labels []string, err error) {
	if l.Gate == nil || req.Quick == nil || req.Quick.Tier != escalate.Auto || req.Target.Local() {
		return nil, nil
	}
	asked := req.Quick.Triggers.Labels
	if slices.ContainsFunc(asked, func(label string) bool { return hasLabel(pr, label) }) { // one is enough
		return nil, nil
	}
	told, err := l.telling(ctx, pr, asked)
	for _, e := range told {
		labels = append(labels, e.Label)
	}
	return labels, err
}

// LabelsRead tells what stands of the labels that a verdict rests on from what stands later (Receipt.LabelsRead): of those of the gate, and of those that ask for a full review.
func (r Request) LabelsRead(pr review.PullRequest) string {
	var full []string
	if r.Quick != nil {
		full = r.Quick.Triggers.Labels
	}
	return intake.LabelsRead(pr, gate.Labels) + " " + intake.LabelsRead(pr, full)
}

func hasLabel(pr review.PullRequest, label string) bool {
	return slices.ContainsFunc(pr.Labels, func(s string) bool { return strings.EqualFold(s, label) })
}

// telling are the events that tell what labels say, of those that say something.
func (l *Loop) telling(ctx context.Context, pr review.PullRequest, labels []string) (out []gate.Labelling, err error) {
	if len(labels) == 0 {
		return nil, nil
	}
	events, whole, err := l.labelEvents(ctx, pr, labels)
	if err != nil {
		return nil, err
	}
	for _, label := range labels {
		of := slices.DeleteFunc(slices.Clone(events), func(e gate.Labelling) bool { return e.Label != label })
		if told, says := gate.Telling(label, hasLabel(pr, label), whole, of); says {
			out = append(out, told)
		}
	}
	return out, nil
}

// labelEvents are the events of labels, with what who did it may do now.
func (l *Loop) labelEvents(ctx context.Context, pr review.PullRequest, labels []string) (events []gate.Labelling, whole bool, err error) {
	if events, whole, err = l.Gate.Labelled(ctx, pr, labels); err != nil {
		return nil, false, err
	}
	may := map[string]string{"": ""}
	for i, e := range events {
		permission, known := may[e.By]
		if !known {
			permission, err = l.Gate.Permission(ctx, pr.Repo, e.By)
			if err != nil && !l.Gate.Denied(err) {
				return nil, false, err
			}
			may[e.By] = permission
		}
		events[i].ByApp, events[i].Permission = pr.Author.Bot, permission
	}
	return events, whole, nil
}

// size says how much there is to a change, as far as the names of its files tell.
func (s Snapshot) size() *gate.Facts {
	if !s.clear() {
		return &gate.Facts{Complexity: gate.Ordinary}
	}
	files := gateFiles(s.Brief)
	return &gate.Facts{Complexity: gate.Assess(files, pushpolicy.Protected), Small: gate.Small(files, pushpolicy.Protected)}
}

// lines is how many changed lines the pull request counts for. What reviews leave out makes it no larger than GitHub says.
func (s Snapshot) lines() int {
	n := 0
	for _, f := range s.Brief.Files {
		if f.Omitted == "" {
			n += f.Lines()
		} else {
			n += f.Additions + f.Deletions
		}
	}
	return max(n, s.PR.Additions+s.PR.Deletions)
}

// gateFiles are the changed files as the rule on complexity looks at them.
func gateFiles(b review.Brief) (out []gate.File) {
	elsewhere := append(coverage.Submodules(b), coverage.Pointers(b)...)
	for _, f := range b.Files {
		plain, ordinary := f.Change == "modified", !slices.Contains(elsewhere, f.Path)
		for line := range strings.SplitSeq(f.Diff, "\n") {
			if strings.HasPrefix(line, "@@") {
				break
			}
			switch mode := strings.Fields(line); {
			case len(mode) == 3 && mode[1] == "mode" || len(mode) == 4 && mode[2] == "mode":
				plain, ordinary = false, ordinary && strings.HasSuffix(line, "100644")
			case len(mode) == 3 && mode[0] == "index": // it is the same before and after
				ordinary = ordinary && (mode[2] == "100644" || mode[2] == "100755")
			}
		}
		out = append(out, gate.File{
			Path: spelling.Raw(f.Path), OldPath: spelling.Raw(f.OldPath), Lines: f.Lines(), Plain: plain,
			Whole: f.Omitted == "" && f.HunksGiven == f.Hunks && ordinary && unknown(f) == "",
		})
	}
	return out
}

// objected reports whether people say what a trivial change does not pass over.
func objected(said review.CommentsResult) bool {
	requested := slices.Contains(consensus.Decide(nil, said.ReviewState).Rules, 0)
	severe := func(f review.Finding) bool { return f.Priority.Severe() }
	return requested || said.ThreadsTruncated || slices.ContainsFunc(said.PendingIssues, severe)
}

// gate is what the status says of a round, if it ends the run.
func (in Inputs) gate(r review.RunResult) *review.Gate {
	if in.Snapshot.Gate == nil || in.Request.Gate == nil {
		return nil
	}
	g := gate.Decide(*in.Request.Gate, in.scouted(*in.Snapshot.Gate), gate.End(r))
	g.Missing = in.GateMissing
	return &g
}

// reviewing says that a round has begun. Statuses that others of our processes left pending on older commits are settled first: no
// run that is still at work there can come to anything.
func (l *Loop) reviewing(ctx context.Context, steps Steps, req Request, p *progress, f facts) error {
	if !req.gates() {
		return nil
	}
	if p.round == 1 {
		if err := l.settleOlder(ctx, steps, req, p, f.Snapshot.PR); err != nil {
			return err
		}
	}
	switch {
	case f.Again != nil && f.Again.Stands != nil: // it ends at once, with what is said already
		return nil
	case f.Again != nil || f.Scanned != nil: // a comment may come before the last status, and whoever dies between the two leaves an older one
		return l.pending(ctx, steps, req, p, "again", "The answers are those of an earlier run")
	}
	if p.round == 1 && req.Quick != nil && p.escalated == "" {
		return l.pending(ctx, steps, req, p, "scanning", "Quick scan: the scout is at work")
	}
	return l.reviewersAtWork(ctx, steps, req, p)
}

// reviewersAtWork says that reviewers are at work.
func (l *Loop) reviewersAtWork(ctx context.Context, steps Steps, req Request, p *progress) error {
	said := fmt.Sprintf("Round %d of %d: %s at work", p.round, req.rounds(), plural(len(req.reviewers()), "reviewer is", "reviewers are"))
	return l.pending(ctx, steps, req, p, "reviewing", said)
}

// fixes says that the fixer is at work.
func (l *Loop) fixes(ctx context.Context, steps Steps, req Request, p *progress, payload review.FixPayload) error {
	if !req.gates() {
		return nil
	}
	said := fmt.Sprintf("Round %d of %d: %s being fixed", p.round, req.rounds(), plural(len(payload.IssuesToFix), "finding is", "findings are"))
	return l.pending(ctx, steps, req, p, "fixing", said)
}

// pending sets the status of the head to pending.
func (l *Loop) pending(ctx context.Context, steps Steps, req Request, p *progress, what, said string) error {
	p.gate.pending = p.head
	_, err := l.status(ctx, steps, req, p, fmt.Sprintf("%d/%s", p.round, what), p.head, effects.CommitStatus{State: review.GatePending, Description: said})
	return err
}

// reviewed leaves the verdict of a round on its commit: a fix has made a new one.
func (l *Loop) reviewed(ctx context.Context, steps Steps, req Request, p *progress, g *review.Gate) error {
	if g == nil || p.gate.pending == "" {
		return nil
	}
	p.gate.pending = ""
	ended := *g
	ended.Description += "; a newer commit has a fix"
	return l.ends(ctx, steps, req, p, fmt.Sprintf("%d/reviewed", p.round), p.head, &ended)
}

// concludeStatus sets the status that a run ends with. A run that was overtaken says something of a commit only where it had said that it
// is at work, and nobody has said anything since.
func (l *Loop) concludeStatus(ctx context.Context, steps Steps, req Request, p *progress, result review.RunResult) (*review.Gate, error) {
	if !req.gates() {
		return nil, nil
	}
	head := p.head
	if result.Outcome == review.Superseded {
		if head = p.gate.pending; head == "" {
			return nil, nil
		}
		later, err := doJSON(ctx, steps, "status: later", func(ctx context.Context) (bool, error) { return l.Gate.Later(ctx, req.Target, req.Run, head) })
		if err != nil || later { // a run about another pull request with the commit: what it said stays
			return nil, err
		}
	}
	f := gate.Facts{Complexity: gate.Ordinary}
	if p.gate.facts != nil {
		f = *p.gate.facts
	}
	g := gate.Decide(*req.Gate, f, gate.End(result))
	if err := l.ends(ctx, steps, req, p, lastStatus, head, &g); err != nil {
		return nil, err
	}
	g.Missing = p.gate.missing
	return &g, nil
}

// lastStatus names the status that a run ends with.
const lastStatus = "end"

// ends sets what a review came to. A success that another pull request with the same commit has not come to is none: the status speaks for both.
func (l *Loop) ends(ctx context.Context, steps Steps, req Request, p *progress, what, head string, g *review.Gate) error {
	s := effects.CommitStatus{State: g.State, Description: g.Description}
	withheld, err := l.status(ctx, steps, req, p, what, head, s)
	if withheld != "" {
		s = s.Withheld(withheld)
	}
	g.State, g.Description = s.State, s.Description
	return err
}

// set is what became of a status.
type set struct {
	URL string `json:"url,omitempty"`
	// Missing says why no status can be set.
	Missing string `json:"missing,omitempty"`
	// Withheld says what kept a success from being set, when it was to be sent: at first that was another pull request beside it alone.
	Withheld string `json:"beside,omitempty"`
}

// status sets the status of a commit in a step of its own. A credential that may not is told of, once, and does not stop the run; any
// other error does, as that of a comment does, and it is resumed. The last status is tried even so: GitHub may have refused the ones before
// for a moment only, and an older run's success would stay. withheld says what turned a success into a failure.
func (l *Loop) status(ctx context.Context, steps Steps, req Request, p *progress, what, head string, s effects.CommitStatus) (withheld string, err error) {
	told := p.gate.missing != ""
	if told && what != lastStatus {
		return "", nil
	}
	s.Target = p.page(req)
	done, err := doJSON(ctx, steps, "status: "+what, func(ctx context.Context) (set, error) {
		e := l.statusEffect(req, what, head, s)
		made, err := l.setStatus(ctx, e, s.State)
		if err != nil && !told && what == lastStatus && p.gate.pending == head && l.Gate.Denied(err) {
			// GitHub took one of this run: what it refuses now it may take in a moment, and who waits for the commit waits for this one (threats.md T466).
			if err = l.Sleep(ctx, effects.Quarantine); err == nil {
				made, err = l.setStatus(ctx, e, s.State)
			}
		}
		if err == nil && l.Newer != "" { // what that one said stays
			return set{}, nil
		}
		if err == nil && made.Overtaken != "" {
			var now effects.Done
			now, err = l.setStatus(ctx, l.statusEffect(req, what+"/beside", head, s.Withheld(made.Overtaken)), review.GateFailure)
			made.Ref = now.Ref
		}
		if err != nil && ctx.Err() == nil && l.Gate.Denied(err) {
			why := sanitize.Redact(err.Error())
			if !told {
				l.warn("the commit status " + gate.Context + " is not set: " + why)
			}
			return set{Missing: why}, nil
		}
		return set{URL: made.Ref, Withheld: made.Overtaken}, err
	})
	if err != nil {
		return "", fmt.Errorf("set the commit status: %w", err)
	}
	p.gate.missing = done.Missing
	return done.Withheld, nil
}

func (l *Loop) statusEffect(req Request, what, head string, s effects.CommitStatus) effects.Effect {
	return effects.Effect{Key: effects.StatusKey(req.Run, what), Run: req.Run, Target: req.Target, Head: head, Payload: s.Payload()}
}

// setStatus makes the effect. A status is about its commit, and stays true of it when the pull request moves on; a success is not sent once the pull
// request has another base branch, or another one with the commit has come to something else, which may have happened while this run was interrupted.
func (l *Loop) setStatus(ctx context.Context, e effects.Effect, state review.GateState) (effects.Done, error) {
	viewer, err := l.Forge.Viewer(ctx, e.Target.Repo.Host)
	if err != nil {
		return effects.Done{}, err
	}
	e.As, e.Nonce = viewer, l.Nonce()
	d := effects.Delivery{Outbox: l.Outbox, Sleep: l.Sleep, Overtaken: func(ctx context.Context) (string, error) {
		if l.Newer != "" || state != review.GateSuccess {
			return l.Newer, nil
		}
		if why, err := l.Gate.Beside(ctx, e.Target, e.Head); err != nil || why != "" {
			return why, err
		}
		return l.Gate.Rebased(ctx, e.Target, e.Run) // last: one request stands between its answer and the success
	}}
	later := func(ctx context.Context) (bool, error) { return l.Gate.Later(ctx, e.Target, e.Run, e.Head) }
	return d.DeliverStatus(ctx, effects.Status{Statuses: l.Gate, Policy: l.policy(e.Target.Repo)}, e, later)
}

// page is what a status leads to: the newest report, else the pull request.
func (p *progress) page(req Request) string {
	if n := len(p.urls); n > 0 {
		return p.urls[n-1]
	}
	return cmp.Or(p.own.URL, fmt.Sprintf("https://%s/%s/%s/pull/%d", req.Target.Repo.Host, req.Target.Repo.Owner, req.Target.Repo.Name, req.Target.PR))
}

// mostLeft bounds how many statuses of older commits one run settles.
const mostLeft = 20

// settleOlder ends what is pending on older commits of the pull request and was set by our account: the store may know nothing of who did.
// Where it cannot be done the run goes on.
func (l *Loop) settleOlder(ctx context.Context, steps Steps, req Request, p *progress, pr review.PullRequest) error {
	_, err := doJSON(ctx, steps, "statuses of older commits", func(ctx context.Context) ([]string, error) {
		left, err := l.Gate.PendingStatuses(ctx, pr)
		left = slices.DeleteFunc(left, func(sha string) bool { return sha == pr.HeadSHA })
		var done []string
		for _, sha := range left[:min(len(left), mostLeft)] {
			s := effects.CommitStatus{State: review.GateError, Description: "Superseded: the pull request has a newer commit", Target: p.page(req)}
			if _, err = l.setStatus(ctx, l.statusEffect(req, "older/"+sha, sha, s), s.State); err != nil {
				break
			}
			done = append(done, sha)
		}
		if ctx.Err() != nil {
			return nil, errors.Join(context.Cause(ctx), err)
		}
		if err != nil {
			l.warn("a status of an older commit stays pending: " + sanitize.Redact(err.Error()))
		}
		return done, nil
	})
	return err
}

func (l *Loop) warn(message string) {
	l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: message})
}
