package orchestrator

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// became keeps which threads are gone, whose quoted code stood in their file and does not any more, white space folded, and in which grave ones code stands as it did, or in another file. One
// without a quote is not gone, nor one that quotes what was taken away, and one of which we maintained the finding where its quote was gone is not gone for that reason.
func (l *Loop) became(ctx context.Context, snap *Snapshot) error {
	if snap.Conversation == nil {
		return nil
	}
	c := snap.checker(l.History, l.Learned)
	for _, t := range snap.Conversation.Threads {
		older, grave := !t.Closed && t.Head != snap.Range.Head, objections.GraveThread(t)
		name := snap.named(t)
		excluded := c.Excluded(name) // nothing reads it, so it says of no finding that it is gone
		if !snap.persons().Live(t) || !grave && (excluded || !older) {
			continue
		}
		file, err := c.Read(ctx, snap.Range.Head, name)
		if err != nil {
			return err
		}
		if grave {
			stands, err := l.standsAsItDid(ctx, c, snap.Range.Head, t, file)
			if err != nil {
				return err
			}
			if stands {
				snap.Unchanged = append(snap.Unchanged, t.ID)
				if l.untouched(ctx, snap.Range.Head, t) {
					snap.Untouched = append(snap.Untouched, t.ID)
				}
				continue
			}
		}
		if !older || excluded || t.Evidence == "" {
			continue
		}
		if lost, err := l.lost(ctx, c, t, file); err != nil {
			return err
		} else if !lost {
			continue
		}
		if grave {
			moved, err := l.moved(ctx, c, snap.Range.Head, t, name)
			if err != nil {
				return err
			}
			if moved {
				snap.Unchanged = append(snap.Unchanged, t.ID)
				continue
			}
		}
		before, err := l.goneAt(ctx, c, t, t.Maintained)
		if err != nil {
			return err
		}
		if !before {
			snap.Gone = append(snap.Gone, t.ID)
		}
	}
	return nil
}

// untouched reports whether nothing has changed in the file of a thread since its commit. Where that is gone, as after a forced push, something may have.
func (l *Loop) untouched(ctx context.Context, head string, t conversation.Thread) bool {
	if t.Head == head {
		return true
	}
	d, err := l.History.Diff(ctx, t.Head, head)
	return err == nil && !slices.ContainsFunc(d.Files, func(f diff.File) bool { return spelling.Name(f.Path) == t.File || spelling.Name(f.OldPath) == t.File })
}

// standsAsItDid reports whether code that a thread says something grave about stands in its file at the head where it stood, white space aside: the lines of what it quotes, or
// its line where it quotes nothing that was there. Where nobody has the commit of the thread any more, a quote may stand anywhere, and of a line GitHub tells.
func (l *Loop) standsAsItDid(ctx context.Context, c *evidence.Checker, head string, t conversation.Thread, file evidence.File) (bool, error) {
	d := &diff.Diff{}
	if t.Head != head {
		var err error
		if d, err = l.History.Diff(ctx, t.Head, head); ctx.Err() != nil {
			return false, context.Cause(ctx)
		} else if err != nil {
			d = nil
		}
	}
	shown, places := t.Shown(), t.Places()
	for n, f := range shown {
		if !objections.Grave(f) {
			continue
		}
		was := places[max(0, n+len(places)-len(shown))]
		if f.Evidence == "" && was.Line == 0 { // it is about the same code
			f.Evidence, was = t.Evidence, places[0]
		}
		if d == nil {
			read, _ := file.Find(f.Evidence, 0)
			if f.Evidence == "" && t.Line > 0 || f.Evidence != "" && read != "" {
				return true, nil
			}
			continue
		}
		old, err := c.Read(ctx, t.Head, t.File)
		if err != nil {
			return false, err
		}
		around := func(lines [2]int) (from, to int) { return d.Around(spelling.Raw(t.File), lines[0], lines[1]) }
		if keeps(old, file, f.Evidence, cmp.Or(was.Quoted[0], was.Line, places[0].Line), around) {
			return true, nil
		}
	}
	return false, nil
}

// keeps reports whether the lines of a quote, those nearest one line, stand in a newer version of their file as they did. Where it stood nowhere, as one of lines that were taken
// away, that line does, and these do not stand there again. around says between which lines of the newer version something may stand now.
func keeps(old, now evidence.File, quote string, line int, around func([2]int) (from, to int)) bool {
	read, parts := old.Find(quote, line)
	if read == "" && now.Restored(quote) {
		return false
	}
	if len(parts) == 0 {
		parts = [][2]int{{line, line}}
	}
	return !slices.ContainsFunc(parts, func(lines [2]int) bool {
		from, to := around(lines)
		return !now.Keeps(old, lines, from, to)
	})
}

// lost reports whether all that a thread quotes stood in its file when it was opened, and nothing of it does in another version. Where nobody has the commit of the thread any
// more, it counts as having stood there.
func (l *Loop) lost(ctx context.Context, c *evidence.Checker, t conversation.Thread, file evidence.File) (bool, error) {
	have, err := l.History.Have(ctx, t.Head)
	if err != nil {
		return false, err
	}
	var old evidence.File
	if have {
		if old, err = c.Read(ctx, t.Head, t.File); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(t.Shown(), func(f review.Finding) bool {
		read, _ := old.Find(f.Evidence, 0)
		if !have {
			read, _ = file.Find(f.Evidence, 0)
			return read != ""
		}
		return f.Evidence != "" && (read == "" || file.Bears(read))
	}), nil
}

// unseenMost bounds how many files of a push are read of which its diff shows no lines.
const unseenMost = 100

// moved reports whether lines of code that a thread quotes stand among those that another file gained since the thread was opened, or are not known to be missing there. Where
// nobody has the commit of the thread any more it counts as not moved.
func (l *Loop) moved(ctx context.Context, c *evidence.Checker, head string, t conversation.Thread, name string) (bool, error) {
	d, err := l.History.Diff(ctx, t.Head, head)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	} else if err != nil {
		return false, nil //nolint:nilerr // that commit may be gone, as after a forced push
	}
	old, err := c.Read(ctx, t.Head, t.File)
	if err != nil {
		return false, err
	}
	var ways [][]string
	for _, f := range t.Shown() {
		_, parts := old.Find(f.Evidence, t.Places()[0].Line)
		ways = append(ways, old.Known(parts)...)
	}
	unseen := 0
	for i := range d.Files {
		f := &d.Files[i]
		var lines []string
		switch path := spelling.Name(f.Path); {
		case f.Change == diff.Deleted, path == name, len(ways) == 0:
			continue
		case f.Binary, f.Omitted != "":
			if unseen++; unseen > unseenMost {
				return true, nil
			}
			now, err := c.Read(ctx, head, path)
			if err != nil {
				return false, err
			}
			lines = now.Lines(1, math.MaxInt)
		default:
			for line := range f.Added() {
				lines = append(lines, line.Text)
			}
		}
		if evidence.AnyKnown(ways, lines) {
			return true, nil
		}
	}
	return false, nil
}

// goneAt reports whether nothing of what a thread quotes stood in its file at a commit. Of one that nobody has any more, nobody can tell.
func (l *Loop) goneAt(ctx context.Context, c *evidence.Checker, t conversation.Thread, commit string) (bool, error) {
	if commit == "" || commit == t.Head || t.Evidence == "" {
		return false, nil
	}
	if have, err := l.History.Have(ctx, commit); err != nil || !have {
		return false, err
	}
	name := t.File
	if d, err := l.History.Diff(ctx, t.Head, commit); err == nil { // where the commit of the thread is gone it counts as called so then
		path, _, _ := d.MapLine(spelling.Raw(t.File), 1)
		name = spelling.Name(path)
	}
	file, err := c.Read(ctx, commit, name)
	if err != nil {
		return false, err
	}
	return l.lost(ctx, c, t, file)
}

// changedAt reports whether the code of a thread had changed at a commit: its lines had, or nothing stood in its file of what it quotes. A quote that somebody
// keeps elsewhere does not say that the code is as it was, and not every thread has one.
func (l *Loop) changedAt(ctx context.Context, c *evidence.Checker, t conversation.Thread, commit string) (bool, error) {
	if commit == "" || commit == t.Head {
		return false, nil
	}
	d, err := l.History.Diff(ctx, t.Head, commit)
	if err == nil && slices.ContainsFunc(t.Places(), func(was conversation.Stood) bool { return spot(d, spelling.Raw(t.File), was).Gone }) {
		return true, nil
	}
	return l.goneAt(ctx, c, t, commit)
}

// saidAfter marks what people who may object said in our threads at heads at which the code of the thread had changed, and what counted as an
// objection before: prloop's own answer, against which they said it, may be deleted since.
func (l *Loop) saidAfter(ctx context.Context, snap Snapshot) error {
	c, people, kept := snap.checker(l.History, l.Learned), snap.persons(), objections.Parse(snap.Remembered)
	for _, t := range snap.Conversation.Threads {
		for i := range t.DeveloperReplies {
			r := &t.DeveloperReplies[i]
			if !t.Live() || !people.MayObject(*r) {
				continue
			}
			if r.After = slices.ContainsFunc(kept, func(o objections.Objection) bool { return o.Counted(*r) }); r.After {
				continue
			}
			var err error
			if r.After, err = l.changedAt(ctx, c, t, r.Commit); err != nil {
				return err
			}
		}
	}
	return nil
}
