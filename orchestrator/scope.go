package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/symbols"
)

// outlines are the functions and types of files, by commit and path, each read once.
type outlines struct {
	history History
	known   map[[2]string][]symbols.Definition
}

func newOutlines(h History) outlines { return outlines{h, map[[2]string][]symbols.Definition{}} }

// of are those of a file; none where nobody knows its structure.
func (o outlines) of(ctx context.Context, commit, path string) ([]symbols.Definition, error) {
	key := [2]string{commit, path}
	if known, ok := o.known[key]; ok {
		return known, nil
	}
	text, err := o.history.ReadFile(ctx, commit, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the functions of %s: %w", spelling.Name(path), err)
	}
	f, _ := symbols.Read(lang.Of(path), text)
	o.known[key] = slices.DeleteFunc(f.Definitions, func(d symbols.Definition) bool { return d.Kind == symbols.Value })
	return o.known[key], nil
}

// parted are the lines at the head, with those close by, at which places in a file of a commit stand that are as they were, but not in the same function: of a new function
// that ends like theirs, git may take the new lines for those that stood there (threats.md T617). d is what changed since that commit.
func (o outlines) parted(ctx context.Context, d *diff.Diff, commit, file, head string, places []conversation.Stood, spots []Spot) (lines [][2]int, err error) {
	path := spelling.Raw(file)
	name, _, _ := d.MapLine(path, 1)
	if d.File(name) == nil {
		return nil, nil
	}
	was, err := o.of(ctx, commit, path)
	if err != nil {
		return nil, err
	}
	is, err := o.of(ctx, head, name)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		then, now := linesOf(place), linesOf(spots[i].Stood)
		if spots[i].Gone || then[0] == 0 || sameScope(d, path, around(was, then), around(is, now), is) &&
			(len(around(is, now)) > 0 || !d.Touched(name, now[0]-1) && !d.Touched(name, now[1]+1)) {
			continue
		}
		lines = append(lines, [2]int{now[0] - unquoted, now[1] + unquoted})
	}
	return lines, nil
}

// stands reports whether the code that shows what we conceded, or what cured something, is as it was in the file of that name, with all that stands above it: there it can be made to
// be no code any more, as under another name (threats.md T749, T773). So is all down to the spots, which are in the same file. d is what changed since; nil is no diff that anybody knows.
func stands(d *diff.Diff, fact *conversation.Place, spots ...Spot) bool {
	if d == nil || fact == nil {
		return false
	}
	path := spelling.Raw(fact.File)
	if name, _, there := d.MapLine(path, 1); !there || name != path {
		return false
	}
	last := max(fact.Line, fact.LineEnd)
	for _, at := range spots {
		last = max(last, at.Line, at.Quoted[1])
		if at == (Spot{Gone: true}) { // somewhere
			last = math.MaxInt32
		}
	}
	return !slices.ContainsFunc(changedIn(d, fact.File), func(r [2]int) bool { return fact.Line == 0 || r[0] <= last })
}

// linesOf are the lines of a place: those of its quote, or its own.
func linesOf(p conversation.Stood) [2]int {
	if p.Quoted[0] > 0 {
		return p.Quoted
	}
	return [2]int{p.Line, p.Line}
}

// around are the definitions that hold some of these lines.
func around(all []symbols.Definition, lines [2]int) (out []symbols.Definition) {
	for _, d := range all {
		if d.Start <= lines[1] && lines[0] <= d.End {
			out = append(out, d)
		}
	}
	return out
}

// sameScope reports whether definitions of a file, from without to within, are those that were there before a diff, whatever they are called now. all are those that the file
// has now.
func sameScope(d *diff.Diff, path string, was, is, all []symbols.Definition) bool {
	return slices.EqualFunc(was, is, func(old, now symbols.Definition) bool {
		if _, at, ok := d.MapLine(path, old.At); ok {
			return at == now.At
		}
		from, to := d.Around(path, old.At, old.At)
		there := func(at int) bool { return from <= at && at <= to }
		return there(now.At) && !slices.ContainsFunc(all, func(o symbols.Definition) bool { return there(o.At) && o.End < now.At })
	})
}
