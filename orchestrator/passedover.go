package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// passedOver counts as unread what of a change nobody is given and what may hold the code of something grave that is open: each file that is new or changed since the commit
// on which it was raised, or was given to reviewers then, and the one that its thread is in now. That nobody raises it again says nothing then (threats.md T849). Nor does it of
// what has no thread (threats.md T850).
func (l *Loop) passedOver(ctx context.Context, req Request, snap *Snapshot) error {
	unseen := snap.unseen()
	own := map[string][]string{} // the files that threads are in, by the commit on which they were opened
	for _, commit := range snap.Since {
		own[commit] = nil
	}
	for _, t := range snap.graveOpen() {
		own[t.Head] = append(own[t.Head], snap.named(t))
	}
	if len(own) == 0 || len(unseen) == 0 {
		return nil
	}
	snap.Brief.Files = slices.Clone(snap.Brief.Files)
	for _, commit := range slices.Sorted(maps.Keys(own)) {
		changed, err := l.changedSinceThen(ctx, commit, snap.Range.Head)
		if err != nil {
			return err
		}
		excused, err := l.excusedThen(ctx, req, snap.Range, commit)
		if err != nil {
			return err
		}
		help := "a person looks and resolves its thread, or it goes where reviewers are given it"
		if len(own[commit]) == 0 {
			help = "it has no thread to be resolved, so this goes where reviewers are given it, or into a pull request of its own"
		}
		for i, what := range unseen {
			f := &snap.Brief.Files[i]
			if f.Omitted != "" && !f.Excused || !slices.Contains(own[commit], f.Path) && (notCode(*f) || excused[f.Path] && !changed(f.Path)) {
				continue
			}
			f.Excused = false
			f.Omitted = fmt.Sprintf("%s%s%s, where something grave was raised that may be here now: %s", what, report.Later, cmp.Or(short(commit), "(unknown)"), help)
		}
	}
	return nil
}

// graveOpen are our threads about something grave that nobody has settled who may.
func (s Snapshot) graveOpen() (out []conversation.Thread) {
	if s.Conversation == nil {
		return nil
	}
	for i, t := range s.Conversation.Threads {
		if s.persons().Live(t) && objections.GraveThread(t) && !s.decided(i, true) {
			out = append(out, t)
		}
	}
	return out
}

// firstRaised are the first commits on which something grave was raised that no thread says, or that stands in no thread of ours any more, by whoever is asked again; since are
// those that reports tell.
func (s Snapshot) firstRaised(req Request, since []string) []string {
	if slices.ContainsFunc(req.deciding(), func(a AgentPlan) bool { return slices.Contains(s.Owing, sanitize.RaisedBy(a.Name)) }) {
		return since
	}
	return nil
}

// sinceGrave is what the marker of a report keeps of that: of what has no thread the first commit that is known, else the one of the first thread, else the head.
func (d verdict) sinceGrave() string {
	s := d.in.Snapshot
	if len(d.raised()) == 0 {
		return ""
	}
	first := slices.Clone(s.Since)
	for _, t := range s.graveOpen() {
		first = append(first, t.Head)
	}
	return append(first, s.Range.Head)[0]
}

// unseen says of files of the brief, by index, what they are of which nobody is given the content, and which may go unread.
func (s Snapshot) unseen() map[int]string {
	out := map[int]string{}
	submodules, pointers := coverage.Submodules(s.Brief), coverage.Pointers(s.Brief)
	for i, f := range s.Brief.Files {
		switch {
		case f.Change == string(diff.Deleted):
		case f.Omitted != "" && f.Excused:
			out[i] = f.Omitted
		case f.Omitted != "":
		case slices.Contains(submodules, f.Path):
			out[i] = "a submodule"
		case slices.Contains(pointers, f.Path):
			out[i] = "kept in Git LFS"
		}
	}
	return out
}

// notCode reports whether a file is left out as data, or as what package managers read as data.
func notCode(f review.BriefFile) bool {
	return f.Omitted == repocontext.OmittedBinary || f.Omitted == repocontext.OmittedLockFile
}

// changedSinceThen tells which files of the head are new or changed since a commit; of one that nobody has any more, all may be.
func (l *Loop) changedSinceThen(ctx context.Context, commit, head string) (func(file string) bool, error) {
	if commit == head {
		return func(string) bool { return false }, nil
	}
	have, err := l.History.Have(ctx, commit)
	if err != nil {
		return nil, err
	}
	var d *diff.Diff
	if have {
		if d, err = l.History.Diff(ctx, commit, head); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return func(file string) bool { return d == nil || err != nil || d.File(spelling.Raw(file)) != nil }, nil
}

// excusedThen are the files of which a review of an earlier commit gave nobody the content: left out by rule, as the base branch was where that commit was made, or a submodule or a
// pointer. Of what cannot be told nothing was excused.
func (l *Loop) excusedThen(ctx context.Context, req Request, now Range, commit string) (map[string]bool, error) {
	out := map[string]bool{}
	if have, err := l.History.Have(ctx, commit); err != nil || !have {
		return out, err
	}
	base, err := l.History.MergeBase(ctx, now.Base, commit)
	if err != nil {
		return out, context.Cause(ctx)
	}
	req.Context.DiffOnly, req.Context.HunksOnly = true, true // nobody reads this brief
	then := Snapshot{Range: Range{Base: base, MergeBase: base, Head: commit}}
	if then.Brief, err = l.Briefer.Brief(ctx, then.Range, req.Context, req.Limits); err != nil {
		return out, context.Cause(ctx)
	}
	for i := range then.unseen() {
		out[then.Brief.Files[i].Path] = true
	}
	return out, nil
}
