// Package discovery is what a finder is shown of a repository, what of it is read when the finder asks, and which lines reviewers are
// given in the end. The finder wishes, and the rules here decide: only files of the listings are read, only lines of these files are
// given, and every bound is ours. What is excluded is neither listed nor read.
package discovery

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Source reads the repository at a commit.
type Source interface {
	// ReadFiles reads files; those that do not exist or are larger than limit bytes are left out of the map.
	ReadFiles(ctx context.Context, commit string, paths []string, limit int) (map[string][]byte, error)
	// Files lists the paths below prefix, Links the symbolic links at prefix and below it.
	Files(ctx context.Context, commit, prefix string) ([]string, error)
	Links(ctx context.Context, commit, prefix string) ([]string, error)
}

// Bounds are how much a finder is shown, and may have.
type Bounds struct {
	// Fragments is how many files may be asked for, Chars how many characters one excerpt may have.
	Fragments int `json:"fragments"`
	Chars     int `json:"chars"`
	// Dirs is how many folders are listed, Entries how many names of each.
	Dirs    int `json:"dirs"`
	Entries int `json:"entries"`
}

const (
	// fileLimit is the largest file that is read, in bytes; perFragment how many excerpts of the largest size are shown of one.
	fileLimit   = 1 << 20
	perFragment = 3
	// mostExcerpts is how many excerpts are given.
	mostExcerpts = 20
	// mostReason bounds a finder's words, in characters.
	mostReason = 200
)

// Options say where to look.
type Options struct {
	Bounds
	// Commit is the version that is looked at, by its full object id.
	Commit string
	// Include and Exclude are doublestar patterns of paths. With Include only what matches is listed; what matches Exclude never is.
	Include, Exclude []string
	// Always are folders that are listed whether or not the change touches them.
	Always []string
}

func (o Options) excluded(name string) bool {
	match := func(p string) bool { return doublestar.MatchUnvalidated(p, name) }
	return slices.ContainsFunc(o.Exclude, match) || len(o.Include) > 0 && !slices.ContainsFunc(o.Include, match)
}

// List lists the folders that come first: those that are always listed, those of changed files (the most changed ones first), those
// around them, and the root. changed are paths as bytes.
func List(ctx context.Context, src Source, o Options, changed []string) ([]review.Listing, error) {
	tree, err := src.Files(ctx, o.Commit, "")
	if err != nil {
		return nil, err
	}
	links, err := src.Links(ctx, o.Commit, "")
	if err != nil {
		return nil, err
	}
	linked := map[string]bool{}
	for _, l := range links {
		linked[l] = true
	}
	files, folders := map[string][]string{}, map[string]map[string]bool{}
	for _, name := range tree {
		// A name of which a part has to be masked, or made visible, is one that nobody can ask for.
		_, hidden := sanitize.Visible(name)
		if linked[name] || o.excluded(name) || !utf8.ValidString(name) || len(hidden) > 0 || sanitize.MaskPath(name) != name {
			continue
		}
		dir := parent(name)
		files[dir] = append(files[dir], path.Base(name))
		for at := dir; at != ""; at = parent(at) {
			up := parent(at)
			if folders[up] == nil {
				folders[up] = map[string]bool{}
			}
			folders[up][path.Base(at)] = true
		}
	}
	out := []review.Listing{}
	for _, dir := range o.order(changed) {
		if len(out) == o.Dirs {
			break
		}
		l := review.Listing{Folder: spelling.Name(dir), Files: []string{}}
		if dir == "" {
			l.Folder = ""
		}
		left := o.Entries
		take := func(names []string) (taken []string) {
			slices.Sort(names)
			n := min(left, len(names))
			left, l.More = left-n, l.More+len(names)-n
			for _, name := range names[:n] {
				taken = append(taken, spelling.Name(name))
			}
			return taken
		}
		l.Files = append(l.Files, take(files[dir])...)
		var below []string
		for name := range folders[dir] {
			below = append(below, name)
		}
		l.Folders = take(below)
		if len(l.Files)+len(l.Folders) > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}

// order are the folders to list, each once, the first ones first.
func (o Options) order(changed []string) (all []string) {
	add := func(dir string) {
		if dir = strings.Trim(path.Clean("/"+dir), "/"); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	for _, dir := range o.Always {
		add(dir)
	}
	n := map[string]int{}
	for _, name := range changed {
		n[parent(name)]++
	}
	own := []string{}
	for dir := range n {
		own = append(own, dir)
	}
	slices.SortFunc(own, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for _, dir := range own {
		add(dir)
	}
	add("")
	for _, dir := range own {
		for at := dir; at != ""; at = parent(at) {
			add(parent(at))
		}
	}
	return all
}

// parent is the folder of a path; empty for the root.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." && dir != "/" {
		return dir
	}
	return ""
}

// Read reads what a finder asked for, as far as the listings offered it, and says what it refused. Texts are masked.
func Read(ctx context.Context, src Source, o Options, listings []review.Listing, wanted []review.Wanted) (fragments []review.Fragment, refused []string, err error) {
	offered := map[string]bool{}
	for _, l := range listings {
		for _, name := range l.Files {
			offered[path.Join(spelling.Raw(l.Folder), spelling.Raw(name))] = true
		}
	}
	var names []string
	reasons := map[string]string{}
	for _, w := range wanted {
		name := spelling.Raw(w.File)
		switch {
		case slices.Contains(names, name):
		case !offered[name]:
			refused = append(refused, what(w)+" was not offered")
		case len(names) == o.Fragments:
			refused = append(refused, fmt.Sprintf("%s is more than %d files", what(w), o.Fragments))
		default:
			names, reasons[name] = append(names, name), reason(w.Reason)
		}
	}
	texts, err := src.ReadFiles(ctx, o.Commit, names, fileLimit)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		text, ok := texts[name]
		f := review.Fragment{File: spelling.Name(name), Reason: reasons[name]}
		switch {
		case !ok:
			refused = append(refused, f.File+" cannot be read, or is too large")
			continue
		case strings.ContainsRune(string(text), 0):
			refused = append(refused, f.File+" is no text")
			continue
		}
		f.Text, f.Cut = begins(spelling.Text(string(text)), perFragment*o.Chars)
		if f.Text == "" {
			refused = append(refused, f.File+" has no line that could be shown")
			continue
		}
		sanitize.MaskChange([]*string{&f.Text, &f.Reason}, nil)
		f.Lines = strings.Count(strings.TrimSuffix(f.Text, "\n"), "\n") + 1
		fragments = append(fragments, f)
	}
	return fragments, refused, nil
}

// begins is as many whole lines of a text as fit into so many characters.
func begins(text string, most int) (string, bool) {
	if utf8.RuneCountInString(text) <= most {
		return text, false
	}
	n, end := 0, 0
	for line := range strings.Lines(text) {
		if n += utf8.RuneCountInString(line); n > most {
			break
		}
		end += len(line)
	}
	return text[:end], true
}

// what names a wish for a person: whatever a finder wrote is one short line.
func what(w review.Wanted) string { return sanitize.Line(sanitize.Redact(w.File), mostReason) }

// reason is why, in the finder's words.
func reason(text string) string { return sanitize.Line(sanitize.Redact(text), mostReason) }

// Excerpts are the lines that reviewers are given: those a finder named, of the fragments that were read, but for lines they are shown
// anyway. chars bounds all of them together.
func Excerpts(b Bounds, fragments []review.Fragment, wanted []review.Wanted, shown func(file string, line int) bool, chars int) ([]review.RelatedFile, review.Found) {
	found := review.Found{Excerpts: []review.Excerpt{}}
	refuse := func(w review.Wanted, why string) { found.Refused = append(found.Refused, what(w)+" "+why) }
	taken := map[string]map[int]bool{}
	type piece struct {
		review.Region
		file string
	}
	var pieces []piece
	for _, w := range wanted {
		i := slices.IndexFunc(fragments, func(f review.Fragment) bool { return f.File == w.File })
		switch {
		case i < 0:
			refuse(w, "was not read")
			continue
		case w.Line == nil:
			refuse(w, "names no lines")
			continue
		}
		f := fragments[i]
		lines := strings.SplitAfter(strings.TrimSuffix(f.Text, "\n"), "\n")
		first, last := *w.Line, *w.Line
		if w.LineEnd != nil {
			last = *w.LineEnd
		}
		if first < 1 || last < first || first > len(lines) {
			refuse(w, fmt.Sprintf("has no lines %d to %d among those that were read", first, last))
			continue
		}
		last = min(last, len(lines))
		if len(found.Excerpts) == mostExcerpts {
			refuse(w, fmt.Sprintf("is more than %d excerpts", mostExcerpts))
			continue
		}
		if taken[f.File] == nil {
			taken[f.File] = map[int]bool{}
		}
		left, full := b.Chars, false
		why := reason(w.Reason)
		var open *piece
		end := func() {
			if open != nil {
				pieces = append(pieces, *open)
				found.Excerpts = append(found.Excerpts, review.Excerpt{File: f.File, Line: open.Start, LineEnd: open.End, Reason: why})
				open = nil
			}
		}
		fresh := false
		for n := first; n <= last; n++ {
			size := utf8.RuneCountInString(lines[n-1])
			if taken[f.File][n] || shown(f.File, n) {
				end()
				continue
			}
			if size > left || size > chars {
				full = true
				break
			}
			left, chars, fresh = left-size, chars-size, true
			taken[f.File][n] = true
			if open == nil {
				open = &piece{Region: review.Region{Start: n, Symbol: why}, file: f.File}
			}
			open.End = n
			open.Text += lines[n-1]
		}
		end()
		switch {
		case full:
			refuse(w, fmt.Sprintf("is cut: lines %d to %d are more than there is room for", first, last))
		case !fresh:
			refuse(w, "is shown already")
		}
	}
	slices.SortStableFunc(found.Excerpts, func(x, y review.Excerpt) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line)) })
	slices.SortStableFunc(pieces, func(x, y piece) int { return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.Start, y.Start)) })
	var out []review.RelatedFile
	for _, p := range pieces {
		if n := len(out) - 1; n < 0 || out[n].Path != p.file {
			out = append(out, review.RelatedFile{Path: p.file})
		}
		last := &out[len(out)-1]
		last.Regions = append(last.Regions, p.Region)
	}
	return out, found
}
