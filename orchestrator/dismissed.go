package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A Dismisser reads what people dismissed (decision 45).
type Dismisser interface {
	// Dismissed is the file of dismissals of a checkout's working tree, empty when there is none: *dismissals.LineError for one that is
	// not read.
	Dismissed(checkout string) ([]byte, error)
	// Brought gives for each line of a file at a commit the commit that brought it onto the branch; "" where that is not certain.
	Brought(ctx context.Context, commit, path string) ([]string, error)
	// Holding reads those of some files at a commit that hold a word. Those that are not there or too large are left out.
	Holding(ctx context.Context, commit string, paths []string, word string) (map[string][]byte, error)
	// MergedBy is the person who made a commit of a branch by merging a pull request into it; ok is false when nobody is proven to.
	MergedBy(ctx context.Context, repo review.Repo, branch, commit string) (p review.Person, ok bool, err error)
}

// Dismissals are what people dismissed, as it was read for a round.
type Dismissals struct {
	List []dismissals.Dismissal `json:"list,omitempty"`
	// Today is the day they were read, in UTC.
	Today string `json:"today"`
	// Notes name those that do nothing, a sentence each.
	Notes []string `json:"notes,omitempty"`
	// Added are the files in which a change adds or changes dismissals that do not count for it.
	Added []string `json:"added,omitempty"`
}

// mostNamed bounds how many dismissals of a kind the notes name, mostMergers how many merges GitHub is asked about in a round.
const (
	mostNamed   = 5
	mostMergers = 30
)

// readDismissals reads what counts for a round: at the base commit of a pull request, which cannot dismiss what is found in it, and of
// the working tree of a local change. A commit or a patch may be anybody's: comments are read at its parent (threats.md T758).
func (l *Loop) readDismissals(ctx context.Context, req Request, r Range, b review.Brief) (*Dismissals, error) {
	if l.Dismissals == nil {
		return nil, nil
	}
	out := &Dismissals{Today: l.Now().UTC().Format(time.DateOnly)}
	file, comments := l.fileAtBase, l.commentsAtBase
	if req.Target.Local() {
		file = l.fileHere
		if req.Target.Change != review.ChangeCommit && req.Target.Change != review.ChangePatch {
			comments = l.commentsHere
		}
	}
	faults, err := file(ctx, req, r, out)
	if err == nil {
		var more []dismissals.Fault
		more, err = comments(ctx, req, r, b, out)
		faults = append(faults, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("read dismissals: %w", err)
	}
	var wrong, over []string
	for _, f := range faults {
		wrong = append(wrong, fmt.Sprintf("%s dismisses nothing: %s.", sanitize.CodeSpan(fmt.Sprintf("%s:%d", sanitize.MaskSpelled(f.File), f.Line)), sanitize.Redact(f.What)))
	}
	for i := range out.List {
		d := &out.List[i]
		d.File, d.By, d.Why = sanitize.MaskSpelled(d.File), sanitize.Redact(d.By), sanitize.Redact(d.Why)
		if d.Code != nil {
			d.Code.File, d.Code.Text = sanitize.MaskSpelled(d.Code.File), sanitize.Redact(d.Code.Text)
		} else {
			d.Mark.Category, d.Mark.File, d.Mark.Title = sanitize.Redact(d.Mark.Category), sanitize.MaskSpelled(d.Mark.File), sanitize.Redact(d.Mark.Title)
		}
		if d.Expired(out.Today) {
			over = append(over, fmt.Sprintf("%s expired after %s and dismisses nothing.", saidIn(*d), d.Until))
		}
	}
	out.Notes = append(some(wrong), some(over)...)
	if len(out.List) == 0 && out.Notes == nil && out.Added == nil {
		return nil, nil
	}
	return out, nil
}

// masked is a copy without what was learned.
func (d *Dismissals) masked(learned *sanitize.Learned) *Dismissals {
	if d == nil {
		return nil
	}
	out := *d
	out.List, out.Notes = slices.Clone(d.List), slices.Clone(d.Notes)
	for i := range out.List {
		one := &out.List[i]
		one.By, one.Why = learned.Mask(one.By), learned.Mask(one.Why)
		if one.Code != nil {
			code := *one.Code
			code.Text = learned.Mask(code.Text)
			one.Code = &code
		}
		if one.Mark != nil {
			mark := *one.Mark
			mark.Title = learned.Mask(mark.Title)
			one.Mark = &mark
		}
	}
	for i := range out.Notes {
		out.Notes[i] = learned.Mask(out.Notes[i])
	}
	return &out
}

// came are the commits that brought lines about a file, by its name.
func (d *Dismissals) came() map[string][]string {
	out := map[string][]string{}
	if d != nil {
		for _, line := range d.List {
			if m := line.Mark; m != nil && line.Commit != "" && !slices.Contains(out[m.File], line.Commit) {
				out[m.File] = append(out[m.File], line.Commit)
			}
		}
	}
	return out
}

func saidIn(d dismissals.Dismissal) string {
	return sanitize.CodeSpan(fmt.Sprintf("%s:%d", d.File, d.Line))
}

// some are the first of a list of sentences, and how many more there are.
func some(list []string) []string {
	if n := len(list) - mostNamed; n > 0 {
		return append(list[:mostNamed:mostNamed], fmt.Sprintf("%d more are like the last.", n))
	}
	return list
}

// fileHere reads the file of dismissals in the working tree of a local change.
func (l *Loop) fileHere(_ context.Context, req Request, _ Range, out *Dismissals) (faults []dismissals.Fault, err error) {
	text, err := l.Dismissals.Dismissed(req.Checkout)
	out.List, faults = dismissals.Read(text)
	if unread := (*dismissals.LineError)(nil); errors.As(err, &unread) {
		return []dismissals.Fault{{File: dismissals.Name, Line: 1, What: unread.What}}, nil
	}
	return faults, err
}

// commentsHere reads the comments of the code under review.
func (l *Loop) commentsHere(ctx context.Context, _ Request, r Range, b review.Brief, out *Dismissals) (faults []dismissals.Fault, err error) {
	var names []string
	for _, f := range b.Files {
		names = append(names, spelling.Raw(f.Path))
	}
	files, err := l.Dismissals.Holding(ctx, r.Head, names, dismissals.Word)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	own, err := l.History.Diff(ctx, r.MergeBase, r.Head)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		comments, wrong := dismissals.ReadCode(spelling.Name(name), files[name])
		unchanged := kept(own, sanitize.MaskPath(name))
		for _, d := range comments {
			d.Code.Beside(d.Line, unchanged)
		}
		out.List, faults = append(out.List, comments...), append(faults, wrong...)
	}
	return faults, nil
}

// kept reports of lines of a file, by its name at the head, whether a change leaves them as they were.
func kept(d *diff.Diff, name string) func(line int) bool {
	f, added := d.File(name), map[int]bool{}
	if f == nil {
		return func(int) bool { return true }
	}
	for l := range f.Added() {
		added[l.New] = true
	}
	return func(line int) bool { return f.Omitted == "" && !f.Binary && !added[line] }
}

// fileAtBase reads the file of dismissals at the base commit of a pull request.
func (l *Loop) fileAtBase(ctx context.Context, _ Request, r Range, out *Dismissals) (faults []dismissals.Fault, err error) {
	text, err := l.History.ReadFile(ctx, r.Base, dismissals.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out.List, faults = dismissals.Read(text)
	if len(out.List) > 0 {
		brought, err := l.Dismissals.Brought(ctx, r.Base, dismissals.Name)
		if err != nil {
			return nil, err
		}
		for i := range out.List {
			if at := out.List[i].Line - 1; at < len(brought) {
				out.List[i].Commit = brought[at]
			}
		}
	}
	return faults, nil
}

// commentsAtBase reads the comments at the base commit. One counts for the code it stood at there, as far as the change leaves both as they were.
func (l *Loop) commentsAtBase(ctx context.Context, req Request, r Range, b review.Brief, out *Dismissals) (faults []dismissals.Fault, err error) {
	if out.Added, err = l.dismissalsAdded(ctx, req, r, b); err != nil {
		return nil, err
	}
	var names []string
	for _, f := range b.Files {
		if f.OldPath != "" {
			names = append(names, spelling.Raw(f.OldPath))
		} else {
			names = append(names, spelling.Raw(f.Path))
		}
	}
	files, err := l.Dismissals.Holding(ctx, r.Base, names, dismissals.Word)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	since, err := l.History.Diff(ctx, r.Base, r.Head)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		comments, wrong := dismissals.ReadCode(spelling.Name(name), files[name])
		faults = append(faults, wrong...)
		now, _, _ := since.MapLine(sanitize.MaskPath(name), 1)
		unchanged := kept(since, now)
		for _, d := range comments {
			_, comment, stands := since.MapLine(sanitize.MaskPath(name), d.Line)
			_, line, same := since.MapLine(sanitize.MaskPath(name), d.Code.Line)
			if stands && same {
				d.Code.File, d.Code.Line = spelling.Name(now), line
				d.Code.Beside(comment, unchanged)
				out.List = append(out.List, d)
			}
		}
	}
	return faults, nil
}

// dismissalsAdded are the files in which the change itself dismisses something that does not count for it.
func (l *Loop) dismissalsAdded(ctx context.Context, req Request, r Range, b review.Brief) ([]string, error) {
	list := func(path string) bool { return path == dismissals.Name && !req.Target.Local() }
	may := func(f review.BriefFile) bool {
		return list(f.Path) || f.Omitted != "" || f.HunksGiven < f.Hunks || strings.Contains(f.Diff, dismissals.Word)
	}
	if !slices.ContainsFunc(b.Files, may) {
		return nil, nil
	}
	own, err := l.History.Diff(ctx, r.MergeBase, r.Head)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range own.Files {
		f := &own.Files[i]
		if f.Change != diff.Deleted && (list(f.Path) || adds(f)) {
			out = append(out, spelling.Name(f.Path))
		}
	}
	return out, nil
}

func adds(f *diff.File) bool {
	for line := range f.Added() {
		if dismissals.Commented(line.Text) {
			return true
		}
	}
	return false
}

// mergedDismissals asks GitHub who merged the dismissals of grave findings, as a step of its own; nobody is asked where there are none.
// Only people other than the author of the pull request are among the answers, by commit. Where GitHub does not say, nobody is.
func (l *Loop) mergedDismissals(ctx context.Context, steps Steps, req Request, in Inputs) (map[string]string, error) {
	in.Reports = ordered(in.Reports)
	if req.Target.Local() || in.Snapshot.Dismissals == nil {
		return nil, nil
	}
	commits := gather(in).unproven()
	for _, h := range in.Reports { // commands that do not count for the verdict have findings too
		for _, commit := range in.said(h).unproven() {
			if !slices.Contains(commits, commit) {
				commits = append(commits, commit)
			}
		}
	}
	if len(commits) == 0 {
		return nil, nil
	}
	author := in.Snapshot.PR.Author // who had an app open it is not shown (threats.md T223)
	return doJSON(ctx, steps, fmt.Sprintf("round %d: who merged dismissals", in.Round), func(ctx context.Context) (map[string]string, error) {
		merged := map[string]string{}
		for _, commit := range commits[:min(len(commits), mostMergers)] {
			p, ok, err := l.Dismissals.MergedBy(ctx, req.Target.Repo, in.Snapshot.PR.BaseRef, commit)
			switch {
			case ctx.Err() != nil:
				return nil, err
			case err != nil: // what is not proven silences nothing
				l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "dismissals of P0, P1 and security count for nothing: " + sanitize.Redact(err.Error())})
			case ok && author.Login != "" && author.Login != "ghost" && !author.Bot && !in.Snapshot.PR.By(p):
				merged[commit] = p.Login
			}
		}
		return merged, nil
	})
}

// silence takes the findings out that people dismissed. What is left is as if they had not been raised; what was taken out is listed.
func (g gathered) silence() gathered {
	known := g.in.Snapshot.Dismissals
	if known == nil || len(known.List) == 0 || len(g.findings) == 0 {
		return g
	}
	old := g.oldNames()
	groups := identity.Join(g.findings)
	same := returning(g.in.Earlier, g.findings, groups)
	cases := make([]dismissals.Case, len(groups))
	for n, group := range groups {
		for _, i := range group {
			cases[n].Wordings = append(cases[n].Wordings, g.findings[i])
		}
		if same[n] >= 0 {
			cases[n].Earlier = g.in.Earlier[same[n]].Findings
		}
	}
	then := slices.Clone(cases)
	for n := range then {
		then[n].Wordings = named(then[n].Wordings, old)
		if !cases[n].Grave() { // where code lies is part of what people accept (threats.md T752)
			cases[n] = then[n]
		}
	}
	facts := dismissals.Facts{List: atBase(known.List, old), Today: known.Today, Merged: g.in.Merged}
	met, renamed := facts.Apply(cases), map[int]bool{}
	for n, a := range facts.Apply(then) {
		if met[n] == nil && a != nil {
			a.Silent, met[n], renamed[n] = false, a, true
		}
	}
	return g.without(groups, same, met, renamed)
}

// named are findings under the names that files have at the base, which lines of dismissals name.
func named(findings []review.Finding, old map[string]string) []review.Finding {
	findings = slices.Clone(findings)
	for i, f := range findings {
		if was, renamed := old[f.File]; renamed {
			findings[i].File, findings[i].Fingerprint = was, ""
		}
	}
	return findings
}

// oldNames are the names at the base of files that the change renames, by their names at the head.
func (g gathered) oldNames() map[string]string {
	old := map[string]string{}
	for _, f := range g.in.Snapshot.Brief.Files {
		if f.Change == string(diff.Renamed) && f.OldPath != "" {
			old[f.Path] = f.OldPath
		}
	}
	return old
}

// atBase gives code under the names at the base, as findings are when they are compared with dismissals.
func atBase(list []dismissals.Dismissal, old map[string]string) []dismissals.Dismissal {
	list = slices.Clone(list)
	for i, d := range list {
		if d.Code != nil && old[d.Code.File] != "" {
			code := *d.Code
			code.File = old[code.File]
			list[i].Code = &code
		}
	}
	return list
}

// without takes groups of findings out that met a dismissal and fall silent. renamed are those of which the dismissal has the older name of a file.
func (g gathered) without(groups [][]int, same []int, met []*dismissals.Applied, renamed map[int]bool) gathered {
	out, gone := g, map[int]bool{}
	out.dismissed, out.held = nil, nil
	for n, a := range met {
		if a == nil {
			continue
		}
		first := g.findings[groups[n][0]]
		if !a.Silent {
			out.held = append(out.held, held{first, a.Dismissal, a.Apart, a.OtherValue, a.MergedBy != "", renamed[n]})
			continue
		}
		var all []review.Finding
		for _, i := range groups[n] {
			gone[i], all = true, append(all, g.findings[i])
		}
		out = out.quiet(same[n], all)
		out.dismissed = append(out.dismissed, review.Dismissed{
			ID: identity.ID(all), Finding: first, By: a.By, Why: a.Why, Until: a.Until, File: a.File, Line: a.Line, MergedBy: a.MergedBy,
		})
	}
	out.findings, out.support = []review.Finding{}, map[int]evidence.Status{}
	for i, f := range g.findings {
		if !gone[i] {
			out.support[len(out.findings)] = g.support[i]
			out.findings = append(out.findings, f)
		}
	}
	return out
}

// quiet lets what is said of an earlier finding fall silent with findings of this round that are it again; -1 is none.
func (g gathered) quiet(earlier int, silenced []review.Finding) gathered {
	if earlier < 0 {
		return g
	}
	g.in.Earlier = slices.Clone(g.in.Earlier)
	for _, f := range silenced {
		g.in.Earlier[earlier] = g.in.Earlier[earlier].quieted(f)
	}
	return g
}

// held is a finding that counts although it was dismissed.
type held struct {
	finding review.Finding
	by      dismissals.Dismissal
	// apart and otherValue are those of Applied.
	apart, otherValue bool
	// merged is true where somebody other than the author is proven to have merged the line.
	merged bool
	// renamed is true where the line is for the name that the file has at the base.
	renamed bool
}

// unproven are the commits whose mergers would decide, those of dismissals that were met first.
func (g gathered) unproven() []string {
	var out []string
	add := func(d dismissals.Dismissal) {
		if d.Commit != "" && !slices.Contains(out, d.Commit) {
			out = append(out, d.Commit)
		}
	}
	for _, h := range g.held {
		add(h.by)
	}
	if len(g.held) > 0 { // a finding may be dismissed twice
		for _, d := range g.in.Snapshot.Dismissals.List {
			add(d)
		}
	}
	return out
}

// dismissalNotes say what of the dismissals does nothing, and why.
func (g gathered) dismissalNotes() []string {
	known := g.in.Snapshot.Dismissals
	if known == nil {
		return nil
	}
	notes := slices.Clone(known.Notes)
	for _, h := range g.held {
		f := h.finding
		why := "nobody but the author of the pull request is proven to have merged its line"
		switch {
		case h.renamed && h.by.Mark != nil && !g.in.Request.Target.Local():
			why = "its line is for its file under another name; `prloop dismiss` writes one for this name"
		case h.otherValue:
			why = "its line is for another value, or from before values were told apart; `prloop dismiss` writes one for this value"
		case h.apart:
			why = "another reviewer says it in other words, or of other code, and nobody dismissed that"
		case h.by.Code != nil && g.in.Request.Target.Local():
			why = "a comment in the code cannot dismiss a P0, a P1 or a security finding, and in a local review nothing can; fix it, or push past the hook with `git push --no-verify`"
		case h.by.Mark != nil && !h.by.Covers(f) && !g.in.Request.Target.Local():
			why = "its line is for a less grave finding, or for one that is not about security; `prloop dismiss` writes one for it"
		case h.by.Code != nil:
			why = "a comment in the code cannot dismiss a P0, a P1 or a security finding; a line of " + sanitize.CodeSpan(dismissals.Name) + " that somebody else merged can"
		case h.merged:
			why = "its line names it in other words than all that it is said in now; `prloop dismiss` writes one for these"
		case g.in.Request.Target.Local():
			why = "P0, P1 and security findings always count in a local review; push past the hook with `git push --no-verify`; in pull requests the line counts once somebody other than the author has merged it"
		}
		notes = append(notes, fmt.Sprintf("%s %q is dismissed in %s and counts all the same: %s.", f.Priority, strings.TrimSpace(f.Title), saidIn(h.by), why))
	}
	return notes
}

// settledGrave says which P0, P1 and security findings are raised again and do not count because somebody resolved their threads: whoever merges the change reads it, and sees
// whether that still holds (threats.md T605).
func (g gathered) settledGrave() (out []string) {
	for _, x := range g.dismissed {
		if x.Thread != "" && objections.Grave(x.Finding) {
			out = append(out, fmt.Sprintf("Raised again, and settled by %s, who resolved its thread: %s %s (%s).", sanitize.CodeSpan(x.By), x.Finding.Priority, strings.TrimSpace(x.Finding.Title), x.Thread))
		}
	}
	if more := len(out) - mostNamed; more > 0 {
		out = append(out[:mostNamed], fmt.Sprintf("%s, as the receipt says.", plural(more, "more such finding is settled", "more such findings are settled")))
	}
	return out
}

// addedWords say that a pull request dismisses findings itself; empty when it does not.
func (g gathered) addedWords() string {
	known := g.in.Snapshot.Dismissals
	if known == nil || len(known.Added) == 0 {
		return ""
	}
	var names []string
	for _, name := range known.Added[:min(len(known.Added), mostNamed)] {
		names = append(names, sanitize.CodeSpan(name))
	}
	if more := len(known.Added) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more files", more))
	}
	return fmt.Sprintf("This change adds or changes dismissals in %s, which do not count for it: dismissals are read at the base commit.", strings.Join(names, ", "))
}

// dismissed are findings that were dismissed as the report shows them.
func (c cleaner) dismissed(list []review.Dismissed) []report.Dismissed {
	var out []report.Dismissed
	for _, x := range list {
		f := report.Dismissed{
			Priority: x.Finding.Priority, Title: c.inline(x.Finding.Title), File: x.Finding.File, By: x.By, MergedBy: x.MergedBy, Until: x.Until,
			Why: c.inline(x.Why), Said: fmt.Sprintf("%s:%d", x.File, x.Line), Thread: x.Thread,
		}
		if x.Finding.Line != nil {
			f.Line = *x.Finding.Line
		}
		out = append(out, f)
	}
	return out
}
