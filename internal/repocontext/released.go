package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
)

// OmittedLink is the reason of a link to a file that goes unread: under the link's name nobody has read it either.
const OmittedLink = "a link to a file that goes unread"

// release finds what leaves an excuse (decision 30) and gives it whole: a file that went unread because of its name, an attribute,
// its mark or its kind, and that is excused no more, because it was renamed, can be run now, or lost what excused it. What is told to act
// is given in the same way: it was read as what it was before. The diff shows what changed in a file, which may be nothing.
func (b *builder) release(ctx context.Context, attrs attributes) error {
	b.whole = make([]bool, len(b.brief.Files))
	var left, ask []int
	links := 0
	for i := range b.brief.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		if bf.Omitted != "" || f.Change == diff.Deleted {
			continue
		}
		if f.NewMode == linkMode || f.NewMode == 0 && f.OldMode == linkMode {
			links++
			hides, err := links > mostLinks, error(nil)
			if !hides {
				hides, err = b.leadsToUnread(ctx, f)
			}
			if err != nil {
				return err
			}
			if hides {
				bf.Omitted = OmittedLink
			}
			continue
		}
		switch was := wasExcused(attrs, f); {
		case was == excusedSurely, toldToAct(f):
			left = append(left, i)
		case was == excusedNot && f.OldPath != "" && len(f.Hunks) == 0 && ofData(f.OldPath): // what it is decides its new place too (threats.md T908)
			bf.Omitted = OmittedBinary
		case was == excusedPerhaps, isElsewhere(f):
			ask = append(ask, i)
		}
	}
	for batch := range slices.Chunk(ask, diffBatch) {
		marked, err := b.wereUnread(ctx, attrs, batch)
		if err != nil {
			return err
		}
		left = append(left, marked...)
	}
	return b.giveWhole(ctx, left)
}

// linkMode is git's mode of a symbolic link.
const linkMode = 0o120000

// What a file's old name and mode say of whether it went unread.
const (
	excusedNot = iota
	excusedPerhaps
	excusedSurely
)

// wasExcused says whether a file that is excused no more went unread under the name and the mode it had before; perhaps where its
// text decides.
func wasExcused(attrs attributes, f *diff.File) int {
	if mode := cmp.Or(f.OldMode, f.NewMode); f.Change == diff.Added || mode != 0 && mode != plainMode {
		return excusedNot
	}
	old := cmp.Or(f.OldPath, f.Path)
	moved := f.OldPath != "" || f.NewMode == executable
	switch {
	case byNameOrAttribute(attrs, old):
		return excusedPerhaps // it may have begun with an interpreter
	case moved && ofData(old) && (f.NewMode == executable || !ofData(f.Path)):
		return excusedSurely
	case moved && !ofData(old): // without a move, askMarks looks for a mark that is lost
		return excusedPerhaps
	}
	return excusedNot
}

// samples are folders and names of what is shown, tried or compared, and not run as it stands, and what build tools pass over.
var samples = lazyregexp.New(`(?i)(^|/)[._]|(^|[/._-])(storie|example|sample|dist|template|mock|disabled|off|old|orig|bak)s?([._-][^/]*)?\.[^/]*$|` +
	`(^|/)([^/]*[._-])?(docs?|documentation|examples?|samples?|demos?|snippets?|tutorials?|playgrounds?|corpus|mocks?|(__)?(tests?|specs?|mocks|fixtures?)(__)?|test[_-]?(data|fixtures?)|fixtures?|testing|e2e|bench(es|marks?)?|` +
	`cookbooks?|websites?|attic|archived?|old|off|disabled|unused|legacy|deprecated)([._-][^/]*)?/|(^|/)(?-i:[A-Za-z]+(Test|Tests|TestFixtures))/`)

// toldToAct reports whether a file acts by its name or mode from now on, and did not before (threats.md T901). What tools obey by its name, they did not by another.
func toldToAct(f *diff.File) bool {
	obeyed := f.OldPath != "" && neverSkipped(f.Path)
	return mayAct(f) && (obeyed || !acts(cmp.Or(f.OldPath, f.Path)) && (acts(f.Path) || f.OldMode == plainMode && f.NewMode == executable))
}

// isElsewhere reports whether a text that may act in its place leaves samples, comes to where any text runs, or has another ending now and was no code. Nobody knows the name of all that
// runs.
func isElsewhere(f *diff.File) bool {
	if f.OldPath == "" || !mayAct(f) {
		return false
	}
	language := lang.Of(f.Path)
	toPeople := language == "text" || language != "mdx" && slices.Contains(prose, language)
	if (toPeople || !acts(f.OldPath)) && comesToRun(f) {
		return true
	}
	return !toPeople && (!acts(f.OldPath) && kind(f.OldPath) != kind(f.Path) || leavesSamples(f))
}

// comesToRun reports whether a file comes to where any text runs whatever its ending is, and lay in no such place, or in samples.
func comesToRun(f *diff.File) bool {
	return f.OldPath != "" && anyRuns(f.Path) && (!anyRuns(f.OldPath) || leavesSamples(f))
}

func anyRuns(name string) bool {
	return amongTemplates.MatchString("/"+name) || loaded(name) != "" || len(pushpolicy.Ways(name)) > 0
}

// leavesSamples reports whether a file was a sample and is none now, or had a name by which test runners come to a file, and has not.
func leavesSamples(f *diff.File) bool {
	return samples.MatchString(f.OldPath) && !samples.MatchString(f.Path) || len(pushpolicy.Ways(f.OldPath)) > 0 && len(pushpolicy.Ways(f.Path)) == 0
}

// mayAct reports whether a changed file is no link, and no other repository.
func mayAct(f *diff.File) bool {
	mode := cmp.Or(f.NewMode, f.OldMode)
	return f.Change != diff.Added && (mode == 0 || mode == plainMode || mode == executable)
}

// acts reports whether a file is code by its name, or a tool obeys it for that.
func acts(name string) bool {
	language := lang.Of(name)
	return neverSkipped(name) || language != "" && !slices.Contains(aboutCode, language)
}

func byNameOrAttribute(attrs attributes, name string) bool {
	why, _ := attrs.reason(name)
	return why != "" || attrs.named(name) != ""
}

// wereUnread are those of some files that their beginning before the change let go unread.
func (b *builder) wereUnread(ctx context.Context, attrs attributes, files []int) (unread []int, err error) {
	from, names := cmp.Or(b.o.From, b.o.Base), make([]string, len(files))
	for n, i := range files {
		names[n] = cmp.Or(b.o.Diff.Files[i].OldPath, b.o.Diff.Files[i].Path)
	}
	texts, err := b.beginnings(ctx, from, names, generatedHead)
	if err != nil {
		return nil, err
	}
	for n, i := range files {
		f, text := &b.o.Diff.Files[i], texts[names[n]]
		// Nobody has read what git took for binary; a name that may have it loaded, or a mode to run it, makes it more than data.
		isData := bytes.IndexByte(text[:min(len(text), generatedHead)], 0) >= 0
		runs := isData && (f.NewMode == executable || !staysData(names[n], f.Path) || leavesSamples(f) && !ofData(f.Path) || comesToRun(f))
		if runs || !isData && isElsewhere(f) || !hasInterpreter(text) && (byNameOrAttribute(attrs, names[n]) || !neverSkipped(names[n]) && carriesMark(names[n], text)) {
			unread = append(unread, i)
		}
	}
	return unread, nil
}

// plainData are endings of data of no kind in particular, which nothing loads as code for its name.
var plainData = strings.Fields("bin dat data raw blob db golden snap corpus img pack idx bak")

// staysData reports whether a file that is no text is named as data, or of the same kind as it was. A number at the end is a version (a.so.1).
func staysData(from, to string) bool {
	kind := func(name string) string {
		name = strings.ToLower(strings.TrimRight(path.Base(name), ".0123456789"))
		return strings.TrimPrefix(path.Ext(name), ".")
	}
	return !neverSkipped(to) && lang.Of(to) == "" && (ofData(to) || kind(from) == kind(to) || slices.Contains(plainData, kind(to)))
}

// giveWhole puts the whole text of files in the place of their diffs, as added lines, behind the lines that were removed.
func (b *builder) giveWhole(ctx context.Context, files []int) error {
	for batch := range slices.Chunk(files, diffBatch) {
		names := b.paths(batch)
		texts, err := b.src.ReadFiles(ctx, b.o.Head, names, sourceLimit)
		if err != nil {
			return err
		}
		for n, i := range batch {
			f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
			text, ok := texts[names[n]]
			switch {
			case !ok:
				bf.Omitted = omittedLarge
			case bytes.IndexByte(text, 0) >= 0:
				f.Binary, bf.Omitted = true, OmittedBinary // what it is lookInto says
			case len(text) > 0:
				if all, ok := wholly(f, text); ok {
					*f, b.whole[i] = all, true
					bf.Additions, bf.Deletions, bf.Hunks, bf.Size = f.Additions, f.Deletions, len(f.Hunks), f.Size()
				} else {
					bf.Omitted = omittedUnread
				}
			}
		}
	}
	return nil
}

// wholly is a file's diff with all of its text as added.
func wholly(f *diff.File, text []byte) (diff.File, bool) {
	var removed strings.Builder
	first, n := 0, 0
	for l := range f.Removed() {
		if n++; n == 1 {
			first = l.Old
		}
		removed.WriteString("-" + l.Text + "\n")
	}
	var raw strings.Builder
	for line := range strings.Lines(f.Header()) {
		if strings.HasPrefix(line, "--- ") {
			break
		}
		raw.WriteString(line)
	}
	side := func(mark, name string) {
		name = spelling.Name(name)
		if strings.Contains(name, " ") && name[0] != '"' {
			name += "\t" // as git ends it
		}
		raw.WriteString(mark + " " + name + "\n")
	}
	side("---", "a/"+cmp.Or(f.OldPath, f.Path))
	side("+++", "b/"+f.Path)
	lines := strings.TrimSuffix(string(text), "\n")
	fmt.Fprintf(&raw, "@@ -%d,%d +1,%d @@\n%s+%s\n", first, n, strings.Count(lines, "\n")+1, removed.String(), strings.ReplaceAll(lines, "\n", "\n+"))
	if text[len(text)-1] != '\n' {
		raw.WriteString("\\ No newline at end of file\n")
	}
	d, err := diff.Parse(raw.String())
	if err != nil || len(d.Files) != 1 || d.Files[0].Path != f.Path || d.Files[0].OldPath != f.OldPath {
		return diff.File{}, false
	}
	return d.Files[0], true
}

// mostLinks are the most links of a change, mostLinked the most files below the target of one, and mostSteps the most folders on the
// way to it, that are looked at. More count as unread.
const mostLinks, mostLinked, mostSteps = 100, 200, 40

const (
	// mostLinkText bounds what is read of the files that all links of a change lead to, in bytes; linkBatch is how many files are read at once.
	mostLinkText, linkBatch = 64 << 20, 16
	// mostAsked bounds of how many paths one thing is asked for all links of a change.
	mostAsked = 2000
)

// ledTo is what is known of the paths that the links of a change lead to or by. Many may lead to one.
type ledTo struct {
	files, cased, unread map[string]bool
	bytes                int // read of the files they lead to
}

// once answers a question about a path, and remembers the answer. Of more paths than mostAsked it is yes: what leads there counts as unread.
func once(known *map[string]bool, p string, ask func() (bool, error)) (bool, error) {
	if yes, ok := (*known)[p]; ok {
		return yes, nil
	}
	if len(*known) == mostAsked {
		return true, nil
	}
	yes, err := ask()
	if *known == nil {
		*known = map[string]bool{}
	}
	(*known)[p] = yes
	return yes, err
}

// leadsToUnread reports whether a new link stands for what goes unread, or may: by the name of its target, by the mark or the kind
// of a file there, or because it leads through another link. What is plainly out of the tree is no part of the review.
func (b *builder) leadsToUnread(ctx context.Context, f *diff.File) (bool, error) {
	to, err := b.begins(ctx, f.Path, 4096)
	if err != nil {
		return false, err
	}
	if bytes.ContainsAny(to, "\x00\n") || bytes.Count(to, []byte("/")) > mostSteps {
		return true, nil
	}
	steps := strings.Split(string(to), "/")
	switch {
	case len(to) == 0:
		return false, nil
	case path.IsAbs(string(to)):
		return b.comesBack(ctx, string(to), steps)
	}
	hides, outside, err := b.follow(ctx, path.Dir(f.Path), steps)
	if err == nil && !hides && len(outside) > 0 {
		return b.comesBack(ctx, string(to), outside)
	}
	return hides, err
}

// elsewhere matches where systems keep what is theirs, and no checkout, device where they keep no files; ownWay how they name what a program has open, such as its own folder.
var (
	elsewhere = lazyregexp.New(`^/(etc|s?bin|lib(32|64)?|boot|sys|nix/store|usr/(s?bin|lib(32|64|exec)?|share|include))(/|$)`)
	device    = lazyregexp.New(`^/(dev|proc)/`)
	ownWay    = lazyregexp.New(`(^|/)(proc/(.*/)?(cwd|root|fd|map_files)|dev/fd)(/|$)`)
)

// mostWays are the most ways back into the tree that are looked at, for one link. More count as one to what goes unread.
const mostWays = 3

// comesBack reports whether a link that leads out of the tree may lead into it again, to what goes unread: where a checkout lies nobody
// knows beforehand, so the last steps of the link may begin at its root, or be its root where none of them can begin there. steps are those from where it leaves the tree.
func (b *builder) comesBack(ctx context.Context, to string, steps []string) (bool, error) {
	steps = slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return step == "" || step == "." })
	all := strings.Join(steps, "/")
	switch {
	case !slices.Contains(steps, "..") && elsewhere.MatchString(path.Clean(to)):
		return false, nil
	case ownWay.MatchString(all), slices.ContainsFunc(steps, isGit):
		return true, nil
	}
	names, err := b.headNames(ctx)
	if err != nil {
		return false, err
	}
	top, last := map[string]bool{}, ""
	for _, name := range names {
		if first, _, _ := strings.Cut(name, "/"); first != last {
			top[spelling.Fold(first)], last = true, first
		}
	}
	for len(steps) > 0 && steps[0] == ".." {
		steps = steps[1:]
	}
	var ways []int // none at the first step: that is the name of a folder outside
	for i := 1; i < len(steps); i++ {
		if top[spelling.Fold(steps[i])] {
			ways = append(ways, i)
		}
	}
	if len(ways) == 0 || len(ways) > mostWays { // without a way, all of it may be the root
		return !device.MatchString(path.Clean(to)), nil
	}
	for _, i := range ways {
		if hides, _, err := b.follow(ctx, ".", steps[i:]); err != nil || hides {
			return hides, err
		}
	}
	return false, nil
}

// isGit reports whether a step leads to where git keeps what is its own: in no tree, and read by nobody.
func isGit(step string) bool { return strings.EqualFold(strings.TrimRight(step, ". "), ".git") }

// follow goes steps from a folder of the tree, as the system goes: what is a link leads elsewhere, and what is above that is not what is
// above its name. outside are those from the one that leads out of the tree.
func (b *builder) follow(ctx context.Context, from string, steps []string) (hides bool, outside []string, err error) {
	target := from
	var way []string
	for i, step := range steps {
		if target != "." && target != from {
			if file, err := once(&b.led.files, target, func() (bool, error) { return b.isFile(ctx, target) }); err != nil || file {
				return true, nil, err // a file where a folder should be: another link
			}
		}
		if isGit(step) {
			return true, nil, nil
		}
		if target = path.Join(target, step); target == ".." || strings.HasPrefix(target, "../") {
			return false, steps[i:], nil
		}
		way = append(way, target)
	}
	if target == "." {
		return true, nil, nil // what holds the link itself: holdsUnread says so of any folder
	}
	if other, err := b.otherCase(ctx, way); err != nil || other {
		return true, nil, err
	}
	hides, err = once(&b.led.unread, target, func() (bool, error) { return b.holdsUnread(ctx, target) })
	return hides, nil, err
}

// isFile reports whether a path of the head is a file or a link that is not empty.
func (b *builder) isFile(ctx context.Context, p string) (bool, error) {
	if all, err := b.headNames(ctx); err != nil || !slices.Contains(all, p) {
		return false, err
	}
	text, err := b.begins(ctx, p, 1)
	return len(text) > 0, err
}

// holdsUnread reports whether a file of the head, or one below a folder, goes unread, or may.
func (b *builder) holdsUnread(ctx context.Context, target string) (bool, error) {
	all, err := b.headNames(ctx)
	if err != nil {
		return false, err
	}
	var paths []string
	for _, p := range all {
		if p == target || strings.HasPrefix(p, target+"/") {
			paths = append(paths, p)
		}
	}
	if len(paths) > mostLinked {
		return true, nil
	}
	if links, err := b.src.Links(ctx, b.o.Head, target); err != nil || len(links) > 0 {
		return true, err
	}
	if !slices.Contains(paths, target) {
		paths = append(paths, target)
	}
	attrs, err := readAttributes(ctx, b.src, b.o, b.o.Head, paths)
	if err != nil {
		return false, err
	}
	for _, p := range paths {
		if byNameOrAttribute(attrs, p) || named(p) != "" || below(p, vendorFolders) || b.o.excluded(p) || ofData(p) {
			return true, nil
		}
	}
	for batch := range slices.Chunk(paths, linkBatch) {
		if unread, err := b.holdUnreadText(ctx, batch); err != nil || unread {
			return true, err
		}
	}
	return false, nil
}

// holdUnreadText reports whether one of some files of the head goes unread by its text, or may.
func (b *builder) holdUnreadText(ctx context.Context, paths []string) (bool, error) {
	if b.led.bytes > mostLinkText {
		return true, nil
	}
	texts, err := b.src.ReadFiles(ctx, b.o.Head, paths, sourceLimit)
	if err != nil {
		return false, err
	}
	for _, p := range paths {
		text, ok := texts[p]
		if !ok { // nothing is there, or it is too large
			if text, err = b.begins(ctx, p, generatedHead); err != nil {
				return false, err
			}
		}
		b.led.bytes += len(text)
		if bytes.IndexByte(text, 0) >= 0 || carriesMark(p, text) && !hasInterpreter(text) {
			return true, nil
		}
	}
	return false, nil
}

// otherCase reports whether one of some paths is not at the head, but stands for something there on a disk that takes small letters
// and capitals for the same.
func (b *builder) otherCase(ctx context.Context, paths []string) (bool, error) {
	all, err := b.headNames(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range paths {
		other, err := once(&b.led.cased, p, func() (bool, error) { return inOtherCase(all, p), nil })
		if err != nil || other {
			return true, err
		}
	}
	return false, nil
}

// inOtherCase reports whether a path is none of some names, nor a folder of one, but stands for one in another case.
func inOtherCase(names []string, p string) bool {
	there, other := p == ".", false
	for _, name := range names {
		if len(name) < len(p) || len(name) > len(p) && name[len(p)] != '/' {
			continue
		}
		there = there || name[:len(p)] == p
		other = other || strings.EqualFold(name[:len(p)], p)
	}
	return other && !there
}

// headNames are the names of all files at the head. They are listed once.
func (b *builder) headNames(ctx context.Context) (names []string, err error) {
	if b.tree == nil {
		if names, err = b.src.Files(ctx, b.o.Head, ""); err != nil {
			return nil, err
		}
		b.tree = append([]string{}, names...)
	}
	return b.tree, nil
}
