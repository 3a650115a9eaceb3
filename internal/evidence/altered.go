package evidence

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// nearLines is how far a change is from a quote that it may concern, in lines.
const nearLines = 10

// altered reports whether a file had what a finding quotes before the change, and the lines that are meant are added by it, or have another change near them. One that had it when
// a dismissal came, by its name or by the one that the change takes from it, and lost it before the change, has other code now (threats.md T914).
func (c *Checker) altered(ctx context.Context, f review.Finding, ev Result) (bool, error) {
	bf, changed := c.changed[f.File]
	if !changed || ev.Status != Verified {
		return false, nil
	}
	name := cmp.Or(bf.OldPath, f.File)
	if had, err := c.had(ctx, c.base, name, f, ev); err != nil || !had {
		for _, n := range slices.Compact([]string{f.File, name}) {
			for _, commit := range c.came[n] {
				if had, err := c.had(ctx, commit, n, f, ev); err != nil || had {
					return true, context.Cause(ctx) // where it cannot be read nobody can tell
				}
			}
		}
		return false, err
	}
	if same, err := c.moved(ctx, bf, f.File); err != nil || same {
		return false, err
	}
	d, err := diff.Parse(bf.Diff)
	if err != nil || len(d.Files) == 0 || ev.Quoted[0] == 0 {
		return true, nil //nolint:nilerr // nobody can tell
	}
	for i := range d.Files[0].Hunks {
		h := &d.Files[0].Hunks[i]
		at := h.NewStart // the line of the head that stands where something was taken away, or the next
		for l := range h.Lines() {
			if l.Op != '-' {
				at = l.New
			}
			if l.Op != ' ' && at >= ev.Quoted[0]-nearLines && at <= ev.Quoted[1]+nearLines {
				return true, nil
			}
			if l.Op != '-' {
				at++
			}
		}
	}
	return false, nil
}

// moved reports whether the change gives a file another name and nothing else, though its text may be given as if it were new (decision 30).
func (c *Checker) moved(ctx context.Context, bf review.BriefFile, name string) (bool, error) {
	if bf.OldPath == "" {
		return false, nil
	}
	was, err := c.Read(ctx, c.base, bf.OldPath)
	if err != nil {
		return false, err
	}
	is, err := c.Read(ctx, c.head, name)
	return err == nil && was.Exists && is.Exists && was.text != nil && is.text != nil && was.text.text == is.text.text, err
}

// had reports whether a file had at a commit what a finding quotes: as it is written there, or as the lines read that it has at the head. A quote that stands neither there nor
// at the head, but in the diff with its margins, is of nobody knows what.
func (c *Checker) had(ctx context.Context, commit, name string, f review.Finding, ev Result) (bool, error) {
	was, err := c.Read(ctx, commit, name)
	if err != nil || !was.Exists || masked(f.Evidence) {
		return false, err
	}
	head, err := c.Read(ctx, c.head, f.File)
	switch {
	case err != nil || len(spans(fileLines(was.text, true), f.Evidence)) > 0 || was.Bears(f.Evidence):
		return err == nil, err
	case ev.Quoted[0] == 0:
		return !head.Bears(f.Evidence), nil
	}
	return was.Bears(strings.Join(slices.Collect(head.between(ev.Quoted[0], ev.Quoted[1])), "")), nil
}
