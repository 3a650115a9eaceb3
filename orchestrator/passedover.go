package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// passedOver counts as unread what of a change nobody is given and what may hold the code of something grave that is open: each file that is new or changed since the commit
// on which it was raised, and the one that its thread is in now. That nobody raises it again says nothing then (threats.md T849).
func (l *Loop) passedOver(ctx context.Context, snap *Snapshot) error {
	grave, unseen := snap.graveOpen(), snap.unseen()
	if len(grave) == 0 || len(unseen) == 0 {
		return nil
	}
	snap.Brief.Files = slices.Clone(snap.Brief.Files)
	changed := map[string]func(file string) bool{}
	for _, t := range grave {
		if changed[t.Head] == nil {
			var err error
			if changed[t.Head], err = l.changedSinceThen(ctx, t.Head, snap.Range.Head); err != nil {
				return err
			}
		}
		for i, what := range unseen {
			f := &snap.Brief.Files[i]
			own := f.Path == snap.named(t)
			if f.Omitted != "" && !f.Excused || !own && (notCode(*f) || !changed[t.Head](f.Path)) {
				continue
			}
			f.Excused = false
			f.Omitted = fmt.Sprintf("%s%s%s, where something grave was raised that may be here now: a person looks and resolves its thread, or it goes where reviewers are given it", what, report.Later, short(t.Head))
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
