package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Snapshot is the immutable facts of a round: all that agents are told, pinned to commits.
type Snapshot struct {
	PR    review.PullRequest `json:"pr"`
	Range Range              `json:"range"`
	Brief review.Brief       `json:"brief"`
	// Discussion is without every comment that carries the marker (spec.md A7).
	Discussion review.Discussion `json:"discussion"`
	// Pretenders are logins whose comments carry the marker but are not authentically ours (decision 2), sorted.
	Pretenders []string `json:"pretenders"`
	// Conversation is what we remember of our threads; nil for a local range. Gone are those, by id, whose quoted code does not stand in
	// their file any more, Unchanged those about something grave in which it stands as it did, or in another file, Untouched those of them in whose file nothing has changed.
	Conversation *conversation.State `json:"conversation,omitempty"`
	Gone         []string            `json:"gone,omitempty"`
	Unchanged    []string            `json:"unchanged,omitempty"`
	Untouched    []string            `json:"untouched,omitempty"`
	// Voided, Returned and Uncured are what voided gives.
	Voided   []string          `json:"voided,omitempty"`
	Returned []string          `json:"returned,omitempty"`
	Uncured  map[string]string `json:"uncured,omitempty"`
	Followed
	// People are those whose word matters in these threads; nil for a local range.
	People *conversation.People `json:"people,omitempty"`
	// LabelsRead is what Request.LabelsRead gives.
	LabelsRead string `json:"labelsRead,omitempty"`
	// Voiced is what voiced gives.
	Voiced string `json:"voiced,omitempty"`
	// Ours are the comments of ours that stand open, which a new report replaces.
	Ours []OurComment `json:"ours,omitempty"`
	// Unproven is what unproven gives.
	Unproven string `json:"unproven,omitempty"`
	// Owing is what newestRaised and recordedRaisers give.
	Owing []string `json:"owing,omitempty"`
	// Threadless is what threadless gives.
	Threadless *report.Threadless `json:"threadless,omitempty"`
	// Since is what firstRaised gives.
	Since []string `json:"since,omitempty"`
	// TestsChanged and TestsAdded are what FixedTests gives.
	TestsChanged []string `json:"weakened,omitempty"`
	TestsAdded   []string `json:"tests_added,omitempty"`
	// Fixed is what fixedStill gives.
	Fixed []string `json:"fixed,omitempty"`
	// Remembered are the objections that were open when the newest report was written, or the newest run ended that is on record here, as markers keep
	// them. Lost are those of them that are open and that stand in no thread of ours any more.
	Remembered []string `json:"remembered,omitempty"`
	Lost       []string `json:"lost,omitempty"`
	// Hidden is what hidden gives.
	Hidden string `json:"hidden,omitempty"`
	// Unreported is what unreported gives.
	Unreported string `json:"unreported,omitempty"`
	// Reports is what Reports gives.
	Reports []Reported `json:"reports,omitempty"`
	// Unapproved is what unapproved gives.
	Unapproved string `json:"unapproved,omitempty"`
	// Took is how long it took to read the change, for that step alone.
	Took time.Duration `json:"-"`
	// Listed is what listed gives, for the step that reads the pull request alone.
	Listed map[string]string `json:"-"`
	// Counted is what countedThen gives, for the step that reads the pull request alone.
	Counted map[string]Reported `json:"-"`
	// Keys are the lines of keys in the whole text of files of which a piece is shown, by path, for the step that masks the pieces shown of them.
	Keys map[string]sanitize.KeyLines `json:"-"`
	// Masked is how many values that look like secrets were taken out of all this.
	Masked int `json:"masked,omitempty"`
	// Opaque are the added lines of which a mask hides what may be code, once for each such value, OpaqueRemoved the removed ones, by
	// their number in the version before. Line 0 is the name of the file.
	Opaque        []masks.Added `json:"opaque,omitempty"`
	OpaqueRemoved []masks.Line  `json:"opaqueRemoved,omitempty"`
	// Alike are changed files, as they are called here, whose masked names may be those of other files too.
	Alike []string `json:"alike,omitempty"`
	// Dismissals are what people dismissed; nil when nobody did.
	Dismissals *Dismissals `json:"dismissals,omitempty"`
	// Untrusted is true when whoever opened the pull request may not write to the repository, where a trigger asks for it.
	Untrusted bool `json:"untrusted,omitempty"`
	// Held is what heldLabels gives.
	Held []string `json:"held,omitempty"`
	// Gate is what the commit status rests on; nil where none is set.
	Gate *gate.Facts `json:"gate,omitempty"`
	// Superseded says why there is nothing to review when the pull request moved on before the snapshot; the rest is then
	// empty.
	Superseded string `json:"superseded,omitempty"`
}

// snapshot reads the facts of a round at the head it is about.
func (l *Loop) snapshot(ctx context.Context, req Request, p progress) (Snapshot, error) {
	var (
		snap  Snapshot
		fixed fixedThen
	)
	if !req.Target.Local() {
		pr, err := l.Forge.PullRequest(ctx, req.Target.Repo, req.Target.PR)
		if err != nil {
			return snap, err
		}
		if why := staleReason(review.PullRequest{HeadSHA: p.head, BaseRef: cmp.Or(req.BaseRef, pr.BaseRef)}, pr); why != "" {
			return masked(ctx, Snapshot{PR: pr, Superseded: why}, l.Secrets, l.Learned)
		}
		snap.PR, snap.LabelsRead = pr, req.LabelsRead(pr)
		if snap.Remembered, err = l.recordedObjections(ctx, req); err != nil {
			return snap, err
		}
		if fixed, err = l.listen(ctx, req, &snap, p.urls); err != nil {
			return snap, err
		}
		if snap.Untrusted, err = l.untrusted(ctx, req, pr); err != nil {
			return snap, err
		}
		if snap.Held, err = l.heldLabels(ctx, req, pr); err != nil {
			return snap, err
		}
	}
	r, err := l.History.Pin(ctx, req.Target, snap.PR, req.Checkout)
	if err != nil {
		return snap, err
	}
	snap.Range = r
	left := req.wallTime() - p.spent
	if err := snap.within(ctx, left, func(ctx context.Context) (err error) {
		if !req.Target.Local() {
			if snap.TestsChanged, snap.TestsAdded, err = l.History.FixedTests(ctx, r); err != nil {
				return err
			}
		}
		snap.Voided, snap.Returned, snap.Uncured, err = l.voided(ctx, req, snap)
		return err
	}); err != nil {
		return snap, err
	}
	if err := l.apart(ctx, &snap); err != nil {
		return snap, err
	}
	switch {
	case !req.Target.Local():
	case req.Title != "":
		snap.PR.Title, snap.PR.Body = req.Title, req.Body
	case len(r.Subjects) > 0: // nobody wrote a description
		snap.PR.Body = "Subjects of the commits, newest first:\n- " + strings.Join(r.Subjects, "\n- ")
	}
	if err := l.read(ctx, &snap, req, left-snap.Took); err != nil {
		return snap, err
	}
	if snap.Dismissals, err = l.readDismissals(ctx, req, r, snap.Brief); err != nil {
		return snap, err
	}
	for _, s := range r.Skipped {
		snap.Brief.Files = append(snap.Brief.Files, review.BriefFile{Path: s.Path, Change: string(diff.Modified), Omitted: s.Reason, Excused: s.Excused})
	}
	if given := len(snap.Brief.Files); !req.Target.Local() && given != snap.PR.ChangedFiles {
		snap.Brief.Warnings = append(snap.Brief.Warnings,
			fmt.Sprintf("git shows %d changed files, GitHub counts %d", given, snap.PR.ChangedFiles))
	}
	if snap.Alike, err = l.alike(ctx, snap); err != nil {
		return snap, err
	}
	if snap.Keys, err = l.keys(ctx, snap); err != nil {
		return snap, err
	}
	err = snap.within(ctx, req.wallTime()-p.spent-snap.Took, func(ctx context.Context) (err error) {
		snap, err = masked(ctx, snap, l.Secrets, l.Learned)
		return err
	})
	if err != nil {
		return snap, err
	}
	snap.Fixed, err = l.fixedStill(ctx, snap, fixed) // the names in reports are of masked words (threats.md T753)
	return snap, err
}

// read reads the change, and what became of the code that threads are about.
func (l *Loop) read(ctx context.Context, snap *Snapshot, req Request, left time.Duration) error {
	return snap.within(ctx, left, func(ctx context.Context) (err error) {
		if snap.Brief, err = l.Briefer.Brief(ctx, snap.Range, req.Context, req.Limits); err != nil {
			return err
		}
		if snap.Followed, err = l.follow(ctx, *snap); err != nil {
			return err
		}
		names, since, err := l.recordedRaisers(ctx, req, *snap)
		if err != nil {
			return err
		}
		snap.Owing, snap.Since = append(snap.Owing, names...), append(snap.Since, since...)
		if err = l.passedOver(ctx, req, snap); err != nil {
			return err
		}
		return l.became(ctx, snap)
	})
}

// within does a part of reading the change within what is left of the run's wall time: what an author has written may be
// made to take for ever. errWallTime when the time did not suffice.
func (s *Snapshot) within(ctx context.Context, left time.Duration, part func(context.Context) error) (err error) {
	limited, cancel := context.WithTimeoutCause(ctx, left, errWallTime)
	defer cancel()
	began := time.Now()
	defer func() {
		if s.Took += time.Since(began); err != nil && limited.Err() != nil {
			err = fmt.Errorf("read the change: %w", context.Cause(limited))
		}
	}()
	return part(limited)
}

// checker holds claims against what a round is about. known is what the run learned of the change.
func (s Snapshot) checker(h evidence.Reader, known *sanitize.Learned) *evidence.Checker {
	return evidence.New(h, s.Range.Head, s.Range.MergeBase, s.Brief.Files).Unsure(s.Alike).Shown(s.Brief.Related).Knows(known).Came(s.Dismissals.came())
}

// wholeDiscussion is all that people said on the pull request, resolved threads included, for commands that may ask for it. What prloop posted is no part of it, but
// for its threads that are still about something.
func wholeDiscussion(snap Snapshot) *review.Discussion {
	all := snap.Discussion
	all.Threads = told(snap.Conversation)
	for _, t := range snap.Discussion.Threads {
		if !t.Own {
			all.Threads = append(all.Threads, t)
		}
	}
	if len(all.Threads)+len(all.Comments)+len(all.Reviews) == 0 {
		return nil
	}
	return &all
}

// Anybody may write on a pull request, and reviewers are told of it only so that they do not say it again: talkBytes bounds all that people said, remarkBytes one
// remark.
const (
	talkBytes   = 64 << 10
	remarkBytes = 4 << 10
)

// shortened is what is told of a remark.
func shortened(remark string) string { return sanitize.Beginning(remark, remarkBytes) }

// share is how much is told of each of some texts of agents, as of what people say.
func share(texts int) int { return min(remarkBytes, talkBytes/max(texts, 1)) }

// latest are the remarks in a thread that fit into so many bytes, of the author of the change and of developers each, so that neither talks the other
// away; the newest of each at least. What was said earlier is left out, which is said.
func latest(said []review.Remark, most int) []review.Remark {
	out, used, left := []review.Remark{}, map[string]int{}, false
	for _, r := range slices.Backward(said) {
		r.Body = shortened(r.Body)
		if used[r.By] > 0 && used[r.By]+len(r.Body) > most {
			used[r.By], left = most, true
			continue
		}
		used[r.By] += len(r.Body)
		out = append(out, r)
	}
	if left {
		out = append(out, review.Remark{By: "prloop", Body: "Earlier remarks are left out: there are too many to be read."})
	}
	slices.Reverse(out)
	return out
}

// openThreads is what reviewers see of the discussion: conversations that are still open, and our own with where they stand, the latter at least by what we said.
func openThreads(d review.Discussion, s *conversation.State) *review.Discussion {
	open, left := review.Discussion{Truncated: d.Truncated}, talkBytes
	add := func(t review.Thread, ours int) {
		said := t.Comments
		t.Comments = slices.Clone(said[:ours])
		for _, c := range said[ours:] {
			c.Body = shortened(c.Body)
			if left -= len(c.Body); left < 0 {
				open.Truncated = true
				break
			}
			t.Comments = append(t.Comments, c)
		}
		if len(t.Comments) > 0 {
			open.Threads = append(open.Threads, t)
		}
	}
	for _, t := range told(s) {
		add(t, 1)
	}
	for _, t := range d.Threads {
		if !t.Resolved && !t.Own {
			add(t, 0)
		}
	}
	if len(open.Threads) == 0 {
		return nil
	}
	return &open
}
