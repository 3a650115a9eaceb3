package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ShowSecrets is the word of Request.Secrets that lets models see the values in files.
const ShowSecrets = "show"

// masked takes the values that look like secrets out of everything that was read for a round, and counts them. What it gives is
// stored and told to agents; nothing else of the snapshot is. Lines, hunks and the order of files stay. Commits are not
// touched, so what is masked can be read again from git. Lines that give a credential of known away, in any spelling, are masked
// whole. It ends with the context.
func masked(ctx context.Context, s Snapshot, known []string) (Snapshot, error) {
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
				unnamed = unnamed || nameHidden(*name)
				head, hunks, cut := strings.Cut(f.Diff, "\n@@ ")
				f.Diff = strings.ReplaceAll(head, *name, shown)
				if cut {
					f.Diff += "\n@@ " + hunks
				}
				*name = shown
			}
		}
		if unnamed {
			s.Opaque = append(s.Opaque, Line{File: f.Path})
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
		if shown := sanitize.MaskSpelled(f.Path); shown != f.Path {
			names = append(names, f.Path)
			f.Path = shown
		}
		f.Regions = slices.Clone(f.Regions)
		for j := range f.Regions {
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
	texts = append(texts, each(names)...)
	s.PR.Labels = slices.Clone(s.PR.Labels)
	words := [][]*string{{&s.PR.Title, &s.PR.Body, &s.PR.HeadRef, &s.PR.BaseRef}}
	said := slices.Concat(each(s.PR.Labels), each(b.Warnings))
	s.Discussion, said = discussionTexts(s.Discussion, said)
	s.Conversation, said = conversationTexts(s.Conversation, said)
	words = slices.AppendSeq(words, slices.Chunk(said, 1)) // each by somebody else
	before := make([]string, len(b.Files))
	for i := range b.Files {
		before[i] = b.Files[i].Diff
	}
	var err error
	if s.Masked, err = sanitize.MaskChange(ctx, texts, diffs, pieces, words...); err != nil {
		return s, err
	}
	s.Keys = nil
	own := sanitize.Policy{Known: known}
	for _, text := range slices.Concat(texts, slices.Concat(words...)) {
		*text = sanitize.MaskKnown(*text, own)
	}
	for _, text := range diffs {
		*text = sanitize.MaskKnownDiff(*text, own)
	}
	for i := range b.Files {
		added, removed := opaque(b.Files[i].Path, before[i], b.Files[i].Diff)
		s.Opaque, s.OpaqueRemoved = append(s.Opaque, added...), append(s.OpaqueRemoved, removed...)
	}
	return s, nil
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
		if !same && shown != f.Path && f.Omitted != repocontext.OmittedExcluded {
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

// opaque lists the added and the removed lines of a file of which a mask hides what may be code: one for each value that is not
// sure to be a secret.
func opaque(path, before, after string) (added, removed []Line) {
	if before == after {
		return nil, nil
	}
	wasAdded, wasRemoved := changedLines(before)
	isAdded, isRemoved := changedLines(after)
	return hides(path, wasAdded, isAdded, maskedValue.secret),
		hides(path, wasRemoved, isRemoved, func(v maskedValue) bool { return v.secret() || v.gone(path) })
}

// hides lists the lines in which a value that harmless does not know is masked, once for each of them.
func hides(path string, was, is map[int]string, harmless func(maskedValue) bool) []Line {
	var out []Line
	for n, line := range is {
		if line == was[n] {
			continue
		}
		values, ok := maskedValues(was[n], line)
		if !ok {
			out = append(out, Line{path, n}, Line{path, n}) // no finding is about all of it
		}
		for _, v := range values {
			if !harmless(v) {
				out = append(out, Line{path, n})
			}
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return a.Line - b.Line })
	return out
}

// changedLines are a diff's added and removed lines by number. A diff that cannot be read is not whole, and counts as unread for
// that.
func changedLines(text string) (added, removed map[int]string) {
	added, removed = map[int]string{}, map[int]string{}
	d, err := diff.Parse(text)
	if err != nil {
		return added, removed
	}
	for i := range d.Files {
		for l := range d.Files[i].Added() {
			added[l.New] = l.Text
		}
		for l := range d.Files[i].Removed() {
			removed[l.Old] = l.Text
		}
	}
	return added, removed
}

var (
	// plainValue is a value that is no code by itself in a setting or an address.
	plainValue = lazyregexp.New(`^[0-9A-Za-z_.~%+-]+$`)
	// addressed is what stands before a password in an address.
	addressed = lazyregexp.New(`[a-z]://[^\s/:@"'` + "`" + `]*:$`)
	// inertText is a value that is no code within quotes: nothing in it is put in, called or ended by any language.
	inertText = lazyregexp.New(`^[^\s$(){}\[\]<>;|\\"'` + "`" + `]+$`)
	// settingsFile is the name of a file of settings, in which what stands alone behind a name is a value.
	settingsFile = lazyregexp.New(`(?:^|/)(?:\.env[^/]*|[^/]*\.(?:env|ini|cfg|conf|properties|toml|ya?ml))$`)
	// used begins what stands behind a name that is called, asked for a part, or given a type. The end of an element, or of a sentence, is none of it.
	used        = lazyregexp.New(`^(?:[(\[{]|\.\S|<[^/])`)
	settingName = lazyregexp.New(`^[^'"` + "`" + `]*[\w.-][ \t]*[=:][ \t]*$`)
	// keyLine is the first or the last line of a key, perhaps with the rest of the key, or a line of its text.
	keyLine = lazyregexp.New(`^-----(?:BEGIN|END) [A-Z0-9 ]+-----(?:[A-Za-z0-9+/=\\]*(?:-----END [A-Z0-9 ]+-----[\\nr]*)?)?$|^[A-Za-z0-9+/]{60,}$|^[A-Za-z0-9+/]+={1,2}$`)
)

// maskedValue is one value that is masked in a line, with what the mask leaves of the line on both sides.
type maskedValue struct{ before, value, behind string }

// maskedValues are the values that are masked in a line. It cannot tell them apart in every line.
func maskedValues(was, is string) (values []maskedValue, ok bool) {
	pieces := strings.Split(is, sanitize.Redacted)
	rest, ok := strings.CutPrefix(was, pieces[0])
	if !ok {
		return nil, false
	}
	for i, piece := range pieces[1:] {
		end := strings.Index(rest, piece)
		if i == len(pieces)-2 { // the last piece goes to the end of the line
			end = len(rest) - len(piece)
		}
		if end < 0 || !strings.HasPrefix(rest[end:], piece) {
			return nil, false
		}
		values = append(values, maskedValue{pieces[i], rest[:end], piece})
		rest = rest[end+len(piece):]
	}
	return values, true
}

// quoted reports whether a value is a whole quoted text. What stands in backticks is run by a shell.
func (v maskedValue) quoted() bool {
	return v.before != "" && v.behind != "" && strings.IndexByte("\"'", v.before[len(v.before)-1]) >= 0 && v.behind[0] == v.before[len(v.before)-1]
}

// inAddress reports whether a value is the password of an address.
func (v maskedValue) inAddress() bool {
	return strings.HasPrefix(v.behind, "@") && addressed.MatchString(v.before)
}

// secret reports whether a value can be nothing but a secret: the random password of an address. How a text in quotes is written is not enough: it may be a
// command of a shell, a macro of C between two texts, or the name of an image, a package or a repository, and who offers that may choose a random name, or one
// of an issuer's form.
func (v maskedValue) secret() bool {
	return sanitize.Random(v.value) && v.inAddress()
}

// gone reports whether a value in a removed line is no code. The line was there before and nobody could write it for this
// purpose, so it is enough that no name of something that runs is written like the value.
func (v maskedValue) gone(path string) bool {
	alone := strings.TrimSpace(v.behind) == ""
	switch {
	case v.djangoKey():
		return true
	case sanitize.Random(v.value):
		return !used.MatchString(v.behind) || settingsFile.MatchString(path) && settingName.MatchString(v.before) && sanitize.Generated(v.value+v.behind)
	case v.quoted():
		return inertText.MatchString(v.value) || keyLine.MatchString(v.value) || sanitize.Generated(v.value)
	case v.inAddress():
		return plainValue.MatchString(v.value)
	case settingsFile.MatchString(path):
		return settingName.MatchString(v.before) && (alone && plainValue.MatchString(v.value) || sanitize.Generated(v.value+v.behind)) || alone && keyLine.MatchString(v.value)
	}
	return alone && strings.TrimSpace(v.before) == "" && keyLine.MatchString(v.value)
}

var (
	djangoText = lazyregexp.New(`^(?:django-insecure-)?([a-z0-9!@#$%^&*(_=+)-]{40,})$`)
	djangoRuns = lazyregexp.New(`[a-z]+|[0-9]+`)
)

// djangoKey reports whether a value is, or with what the mask leaves of it begins, a quoted key of an application of Django, which has all kinds of signs in it. It is
// drawn at random: its runs of letters and of digits are shorter than the names that code is made of.
func (v maskedValue) djangoKey() bool {
	if v.before == "" || strings.IndexByte("\"'", v.before[len(v.before)-1]) < 0 {
		return false
	}
	rest, _, ended := strings.Cut(v.behind, v.before[len(v.before)-1:])
	m := djangoText.FindStringSubmatch(v.value + rest)
	return ended && m != nil && len(m[1])*100 <= len(djangoRuns.FindAllString(m[1], -1))*maxDjangoRun
}

// maxDjangoRun is the mean length of such runs, with the signs between, in hundredths of a byte; it is 2.4 in the mean.
const maxDjangoRun = 330

// nameMasked reports whether a part of a file's name is masked. Such a name cannot be held against a pattern: whatever a match
// would decide for safety is taken to be decided.
func nameMasked(name string) bool { return strings.Contains(name, sanitize.Redacted) }

// nameHidden reports whether the mask of a file's name hides more than values that can be nothing but secrets. A name may decide
// what runs a file, and a rename shows nothing else.
func nameHidden(spelled string) bool {
	raw := spelling.Raw(spelled)
	shown := strings.Split(sanitize.MaskPath(raw), "/")
	for i, part := range strings.Split(raw, "/") {
		if shown[i] == part {
			continue
		}
		spans := sanitize.Secrets(part)
		if len(spans) == 0 || slices.ContainsFunc(spans, func(p sanitize.Span) bool { return !sanitize.Random(part[p.Start:p.End]) }) {
			return true
		}
	}
	return false
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
	task.Brief = req.narrowed(plan, brief)
	task.Brief.Found = found
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
