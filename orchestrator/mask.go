package orchestrator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ShowSecrets is the word of Request.Secrets that lets models see the values in files.
const ShowSecrets = "show"

// masked takes the values that look like secrets out of everything that was read for a round, and counts them. What it gives is
// stored and told to agents; nothing else of the snapshot is. Lines, hunks and the order of files stay. Commits are not
// touched, so what is masked can be read again from git. Lines that give a credential of known away, in any spelling, are masked
// whole. What may be a secret anywhere learned has from then on, but for what prloop says to
// everybody: the names of changed files as they are told, and the commits of the round. What files have themselves that is written like a mask is spelled
// otherwise. It ends with the context.
func masked(ctx context.Context, s Snapshot, known []string, learned *sanitize.Learned) (Snapshot, error) {
	var texts, diffs []*string
	b := &s.Brief
	b.Files, b.Guidance, b.Warnings = slices.Clone(b.Files), slices.Clone(b.Guidance), slices.Clone(b.Warnings)
	names := make([]string, 0, len(b.Files)) // for the values in them
	pieces := map[*string]sanitize.KeyLines{}
	for i := range b.Files {
		f := &b.Files[i]
		keys := s.Keys[f.Path]
		unnamed := false
		for _, name := range []*string{&f.Path, &f.OldPath} {
			if shown := sanitize.MaskSpelled(*name); shown != *name {
				names = append(names, *name)
				unnamed = unnamed || masks.NameHidden(*name)
				head, hunks, cut := strings.Cut(f.Diff, "\n@@ ")
				f.Diff = strings.ReplaceAll(head, *name, shown)
				if cut {
					f.Diff += "\n@@ " + hunks
				}
				*name = shown
			}
		}
		if unnamed {
			s.Opaque = append(s.Opaque, masks.Added{Line: masks.Line{File: f.Path}})
		}
		diffs, pieces[&f.Diff] = append(diffs, &f.Diff), keys
		f.Context = slices.Clone(f.Context)
		for j := range f.Context {
			pieces[&f.Context[j].Text] = keys
			texts = append(texts, &f.Context[j].Text, &f.Context[j].Symbol)
		}
	}
	b.Related = slices.Clone(b.Related)
	for i := range b.Related {
		f := &b.Related[i]
		keys := s.Keys[f.Path]
		if shown := sanitize.MaskSpelled(f.Path); shown != f.Path {
			names = append(names, f.Path)
			f.Path = shown
		}
		f.Regions = slices.Clone(f.Regions)
		for j := range f.Regions {
			pieces[&f.Regions[j].Text] = keys
			texts = append(texts, &f.Regions[j].Text, &f.Regions[j].Symbol)
		}
	}
	for i := range b.Guidance {
		g := &b.Guidance[i]
		g.Path = sanitize.MaskSpelled(g.Path)
		texts = append(texts, &g.Text)
	}
	s.Range.Skipped = slices.Clone(s.Range.Skipped)
	for i := range s.Range.Skipped {
		s.Range.Skipped[i].Path = sanitize.MaskSpelled(s.Range.Skipped[i].Path)
	}
	for _, names := range []*[]string{&s.TestsChanged, &s.TestsAdded} {
		*names = slices.Clone(*names)
		for i := range *names {
			(*names)[i] = sanitize.MaskSpelled((*names)[i])
		}
	}
	spelledBrief(b)
	texts = append(texts, each(names)...)
	s.PR.Labels = slices.Clone(s.PR.Labels)
	words := [][]*string{{&s.PR.Title, &s.PR.Body, &s.PR.HeadRef, &s.PR.BaseRef}}
	said := slices.Concat(each(s.PR.Labels), each(b.Warnings))
	s.Discussion, said = discussionTexts(s.Discussion, said)
	s.Conversation, said = conversationTexts(s.Conversation, said)
	words = slices.AppendSeq(words, slices.Chunk(said, 1)) // each by somebody else
	learned = cmp.Or(learned, &sanitize.Learned{})
	var told []string
	for _, f := range b.Files {
		for _, side := range []string{"a/", "b/", "./"} { // as diffs and agents write them
			told = append(told, side+f.Path, side+f.OldPath)
		}
	}
	for _, id := range []string{s.Range.Base, s.Range.MergeBase, s.Range.Head, s.PR.BaseSHA, s.PR.HeadSHA} {
		told = append(told, "`"+id+"`") // as reports have it, which are read again
	}
	learned.Spare(told...)
	before := make([]string, len(b.Files))
	for i := range b.Files {
		before[i] = b.Files[i].Diff
	}
	var err error
	if s.Masked, err = sanitize.MaskChange(ctx, learned, texts, diffs, pieces, words...); err != nil {
		return s, err
	}
	s.Keys, s.Dismissals = nil, s.Dismissals.masked(learned)
	own := sanitize.Policy{Known: known}
	for _, text := range slices.Concat(texts, slices.Concat(words...)) {
		*text = sanitize.MaskKnown(*text, own)
	}
	for _, text := range diffs {
		*text = sanitize.MaskKnownDiff(*text, own)
	}
	for i, f := range b.Files {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if f.Diff != before[i] {
			added, removed := masks.Hides(f.Path, before[i], f.Diff, static.Secrets(f.Path, before[i]))
			s.Opaque, s.OpaqueRemoved = append(s.Opaque, added...), append(s.OpaqueRemoved, removed...)
		}
	}
	return s, nil
}

// relearn learns anew what the snapshot of a round had, which another process took or this one before a restore: values are not stored.
func (l *Loop) relearn(ctx context.Context, req Request, snap Snapshot) error {
	now := Snapshot{Range: snap.Range}
	return now.within(ctx, req.wallTime(), func(ctx context.Context) (err error) {
		if now.Brief, err = l.Briefer.Brief(ctx, snap.Range, req.Context, req.Limits); err != nil {
			return err
		}
		if now.Keys, err = l.keys(ctx, now); err != nil {
			return err
		}
		_, err = masked(ctx, now, nil, l.Learned)
		return err
	})
}

// clear reports whether no mask hides what may be code, or which file something is.
func (s Snapshot) clear() bool { return len(s.Opaque)+len(s.OpaqueRemoved)+len(s.Alike) == 0 }

// mostMaskedNames bounds how many files with a masked name are looked up for a round.
const mostMaskedNames = 100

// alike lists changed files whose masked names do not lead back to them: another one that changed is masked alike, or one of the head is, or is
// called so. The names are as masked will give them. Files past the bound are among them.
func (l *Loop) alike(ctx context.Context, s Snapshot) (out []string, err error) {
	by := map[string]string{} // a file, by what it is called
	looked := 0
	for _, f := range s.Brief.Files {
		shown := sanitize.MaskSpelled(f.Path)
		other, again := by[shown]
		by[shown] = f.Path
		same := again && other != f.Path || f.OldPath != "" && f.OldPath != f.Path && sanitize.MaskSpelled(f.OldPath) == shown
		if !same && shown != f.Path && !strings.HasPrefix(f.Omitted, repocontext.OmittedExcluded) {
			if looked++; looked > mostMaskedNames {
				same = true
			} else if same, err = l.differ(ctx, s.Range.Head, spelling.Raw(f.Path), spelling.Raw(shown)); err != nil {
				return nil, err
			}
		}
		if same {
			out = append(out, shown)
		}
	}
	return sortedSet(out), nil
}

// differ reports whether two names of a commit stand for other texts.
func (l *Loop) differ(ctx context.Context, commit, a, b string) (bool, error) {
	one, err := l.History.ReadFile(ctx, commit, a)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	none := err != nil
	two, err := l.History.ReadFile(ctx, commit, b)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return none != (err != nil) || !bytes.Equal(one, two), nil
}

// each gives the places of a list's texts.
func each(list []string) []*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// discussionTexts is a copy of a discussion, and the places of what people wrote in it.
func discussionTexts(d review.Discussion, texts []*string) (review.Discussion, []*string) {
	comments := func(list []review.Comment) []review.Comment {
		list = slices.Clone(list)
		for i := range list {
			texts = append(texts, &list[i].Body)
		}
		return list
	}
	d.Comments, d.Threads, d.Reviews = comments(d.Comments), slices.Clone(d.Threads), slices.Clone(d.Reviews)
	for i := range d.Threads {
		d.Threads[i].File = sanitize.MaskSpelled(d.Threads[i].File)
		d.Threads[i].Comments = comments(d.Threads[i].Comments)
	}
	for i := range d.Reviews {
		texts = append(texts, &d.Reviews[i].Body)
	}
	return d, texts
}

// agentTask is the task as an agent is agentTask it. The static reviewer looks for secrets by rules of our own and asks no model, so it
// reads the change as it is, as do all agents when the operator says so. What is stored has no values, so the brief is built
// again from the pinned commits; title, body and discussion stay masked.
func (l *Loop) agentTask(ctx context.Context, req Request, plan AgentPlan, task review.Task, r Range) (review.Task, error) {
	if plan.Role == review.RoleCommentsAnalyzer || plan.Kind != review.KindStatic && req.Secrets != ShowSecrets {
		return task, nil
	}
	brief, err := l.Briefer.Brief(ctx, r, req.Context, req.Limits)
	if err != nil {
		return task, err
	}
	found := task.Brief.Found // masked, as it was read
	if plan.Kind != review.KindStatic {
		spelledBrief(&brief)
	}
	task.Brief = req.narrowed(plan, brief)
	task.Brief.Found = found
	return visible(plan, task), nil
}

// spelledBrief spells what files have themselves that is written like what stands for something else (threats.md T806).
func spelledBrief(b *review.Brief) {
	regions := func(list []review.Region) {
		for i := range list {
			list[i].Text, list[i].Symbol = sanitize.Spelled(list[i].Text), sanitize.Spelled(list[i].Symbol)
		}
	}
	for i := range b.Files {
		b.Files[i].Diff = sanitize.SpelledDiff(b.Files[i].Diff)
		regions(b.Files[i].Context)
	}
	for i := range b.Related {
		regions(b.Related[i].Regions)
	}
	for i := range b.Guidance {
		b.Guidance[i].Text = sanitize.Spelled(b.Guidance[i].Text)
	}
}

// branch is a pull request with the name of its branch as it is: what is stored has it masked.
func (l *Loop) branch(ctx context.Context, pr review.PullRequest) (review.PullRequest, error) {
	if !strings.Contains(pr.HeadRef, sanitize.Redacted) {
		return pr, nil
	}
	now, err := l.Forge.PullRequest(ctx, pr.Repo, pr.Number)
	pr.HeadRef = now.HeadRef
	return pr, err
}
