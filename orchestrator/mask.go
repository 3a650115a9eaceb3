package orchestrator

import (
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ShowSecrets is the word of Request.Secrets that lets models see the values in files.
const ShowSecrets = "show"

// masked takes the values that look like secrets out of everything that was read for a round, and counts them. What it gives is
// stored and told to agents; nothing else of the snapshot is. Lines, hunks and the order of files stay. Commits are not
// touched, so what is masked can be read again from git.
func masked(s Snapshot) Snapshot {
	var texts, diffs []*string
	s.PR.Labels = slices.Clone(s.PR.Labels)
	texts = append(texts, &s.PR.Title, &s.PR.Body, &s.PR.HeadRef, &s.PR.BaseRef)
	texts = append(texts, each(s.PR.Labels)...)
	b := &s.Brief
	b.Files, b.Guidance, b.Warnings = slices.Clone(b.Files), slices.Clone(b.Guidance), slices.Clone(b.Warnings)
	names := make([]string, 0, len(b.Files)) // for the values in them
	for i := range b.Files {
		f := &b.Files[i]
		for _, name := range []*string{&f.Path, &f.OldPath} {
			if shown := maskedName(*name); shown != *name {
				names = append(names, *name)
				head, hunks, cut := strings.Cut(f.Diff, "\n@@ ")
				f.Diff = strings.ReplaceAll(head, *name, shown)
				if cut {
					f.Diff += "\n@@ " + hunks
				}
				*name = shown
			}
		}
		diffs = append(diffs, &f.Diff)
		f.Context = slices.Clone(f.Context)
		for j := range f.Context {
			texts = append(texts, &f.Context[j].Text, &f.Context[j].Symbol)
		}
	}
	for i := range b.Guidance {
		g := &b.Guidance[i]
		g.Path = maskedName(g.Path)
		texts = append(texts, &g.Text)
	}
	s.Range.Skipped = slices.Clone(s.Range.Skipped)
	for i := range s.Range.Skipped {
		s.Range.Skipped[i].Path = maskedName(s.Range.Skipped[i].Path)
	}
	texts = append(texts, each(b.Warnings)...)
	texts = append(texts, each(names)...)
	s.Discussion, texts = discussionTexts(s.Discussion, texts)
	before := make([]string, len(b.Files))
	for i := range b.Files {
		before[i] = b.Files[i].Diff
	}
	s.Masked = sanitize.MaskAll(texts, diffs)
	for i := range b.Files {
		s.Opaque = append(s.Opaque, opaque(b.Files[i].Path, before[i], b.Files[i].Diff)...)
	}
	return s
}

// opaque lists the added lines of a file of which a mask hides more than a plain value: something that may be code.
func opaque(path, before, after string) []Line {
	if before == after {
		return nil
	}
	was, is := addedLines(before), addedLines(after)
	var out []Line
	for n, line := range is {
		if line != was[n] && !plainValues(was[n], line) {
			out = append(out, Line{path, n})
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return a.Line - b.Line })
	return out
}

// addedLines are a diff's added lines by number. A diff that cannot be read is not whole, and counts as unread for that.
func addedLines(text string) map[int]string {
	out := map[int]string{}
	d, err := diff.Parse(text)
	if err != nil {
		return out
	}
	for i := range d.Files {
		for l := range d.Files[i].Added() {
			out[l.New] = l.Text
		}
	}
	return out
}

var (
	// plainValue is a value that is no code by itself, wherever it stands.
	plainValue = lazyregexp.New(`^[0-9A-Za-z_.~%+-]+$`)
	// addressed is what stands before a password in an address.
	addressed = lazyregexp.New(`[a-z]://[^\s/:@"'` + "`" + `]*:$`)
)

// plainValues reports whether all that is masked in a line are plain values, each a whole quoted text or the password of an
// address.
func plainValues(was, is string) bool {
	pieces := strings.Split(is, sanitize.Redacted)
	rest, ok := strings.CutPrefix(was, pieces[0])
	if !ok {
		return false
	}
	for i, piece := range pieces[1:] {
		end := strings.Index(rest, piece)
		if i == len(pieces)-2 { // the last piece goes to the end of the line
			end = len(rest) - len(piece)
		}
		if end < 0 || !strings.HasPrefix(rest[end:], piece) {
			return false
		}
		value, before := rest[:end], pieces[i]
		quoted := before != "" && piece != "" && strings.IndexByte("\"'`", before[len(before)-1]) >= 0 && piece[0] == before[len(before)-1]
		password := strings.HasPrefix(piece, "@") && addressed.MatchString(before)
		if !plainValue.MatchString(value) || !quoted && !password {
			return false
		}
		rest = rest[end+len(piece):]
	}
	return true
}

// maskedName masks the spelling of a file name.
func maskedName(spelled string) string {
	raw := spelling.Raw(spelled)
	if shown := sanitize.MaskPath(raw); shown != raw {
		return spelling.Name(shown)
	}
	return spelled
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
		d.Threads[i].File = maskedName(d.Threads[i].File)
		d.Threads[i].Comments = comments(d.Threads[i].Comments)
	}
	for i := range d.Reviews {
		texts = append(texts, &d.Reviews[i].Body)
	}
	return d, texts
}

// told is the task as an agent is told it. The static reviewer looks for secrets by rules of our own and asks no model, so it
// reads the change as it is, as do all agents when the operator says so. What is stored has no values, so the brief is built
// again from the pinned commits; title, body and discussion stay masked.
func (l *Loop) told(ctx context.Context, req Request, plan AgentPlan, task review.Task, r Range) (review.Task, error) {
	if plan.Role == review.RoleCommentsAnalyzer || plan.Kind != kindStatic && req.Secrets != ShowSecrets {
		return task, nil
	}
	brief, err := l.Briefer.Brief(ctx, r, req.Context, req.Limits)
	if err != nil {
		return task, err
	}
	task.Brief = brief
	return visible(plan, task), nil
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
