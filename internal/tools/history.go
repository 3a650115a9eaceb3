package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/sanitize"
)

const (
	// pathsLimit is how many paths one call names.
	pathsLimit = 50
	// changedShown is how many changed files are listed, diffFiles of how many one diff is made.
	changedShown = 300
	diffFiles    = 100
)

// ChangedFile is one file that two commits have differently.
type ChangedFile struct{ Change, Path string }

// ChangedFiles is what get_changed_files answers, in the order of paths. Renamed files are deleted and added.
type ChangedFiles struct {
	Files []ChangedFile
	// Missing is how many more there are.
	Missing int
}

// Diffed is what get_diff and git_diff_range answer.
type Diffed struct {
	Text string
	// Left are files whose diff is not given, Missing how many more there are.
	Left    []string
	Missing int
}

// diffArgs are those of get_diff; without paths it is the whole change.
type diffArgs struct {
	Paths []string `json:"paths"`
}

// rangeArgs are those of git_diff_range.
type rangeArgs struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Paths []string `json:"paths"`
}

func (b *Box) changedFiles(ctx context.Context, _ struct{}) (ChangedFiles, error) {
	names, changes, err := b.differing(ctx, b.o.Base, b.o.Head, nil)
	var out ChangedFiles
	for i, name := range names {
		if i == changedShown {
			out.Missing = len(names) - i
			break
		}
		out.Files = append(out.Files, ChangedFile{changes[i], b.label(name)})
	}
	return out, err
}

func (b *Box) changeDiff(ctx context.Context, a diffArgs) (Diffed, error) {
	return b.diffOf(ctx, b.o.Base, b.o.Head, a.Paths)
}

func (b *Box) rangeDiff(ctx context.Context, a rangeArgs) (Diffed, error) {
	from, err := b.commit(ctx, a.From)
	if err != nil {
		return Diffed{}, err
	}
	to := b.o.Head
	if a.To != "" {
		if to, err = b.commit(ctx, a.To); err != nil {
			return Diffed{}, err
		}
	}
	return b.diffOf(ctx, from, to, a.Paths)
}

// revision is how a model may name a commit: a hash, HEAD or base, and steps back from it. prloop's own repository holds no names
// of the pull request's making.
var revision = lazyregexp.New(`^(HEAD|base|[0-9a-f]{7,64})((\^|~)[0-9]{0,4}){0,4}$`)

// commit is the commit that a model names, if it is one of the history under review: the repository may hold others' too (threats.md T136).
func (b *Box) commit(ctx context.Context, written string) (string, error) {
	m := revision.FindStringSubmatch(written)
	if m == nil {
		return "", fail(BadArguments, "a commit is a hash of 7 digits at least, HEAD or base, such as HEAD~3")
	}
	name := written
	switch m[1] {
	case "HEAD":
		name = b.o.Head + written[len("HEAD"):]
	case "base":
		if b.o.Base == "" {
			return "", fail(NotFound, "there is no base here")
		}
		name = b.o.Base + written[len("base"):]
	}
	out, err := b.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fail(NotFound, "there is no commit %.80q in this history", written)
	}
	sha := strings.TrimSpace(string(out))
	for _, tip := range []string{b.o.Head, b.o.Base} {
		if tip == "" {
			continue
		}
		if _, err := b.git(ctx, "merge-base", "--is-ancestor", sha, tip); err == nil {
			return sha, nil
		}
	}
	return "", fail(NotFound, "there is no commit %.80q in this history", written)
}

// changeWords are git's letters in words.
var changeWords = map[string]string{"A": "added", "M": "modified", "D": "deleted", "T": "modified"}

// differing lists the files that two commits have differently and that may be seen.
func (b *Box) differing(ctx context.Context, from, to string, written []string) (names, changes []string, err error) {
	paths, err := b.checkAll(written)
	if err != nil {
		return nil, nil, err
	}
	out, err := b.git(ctx, append([]string{"diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--end-of-options", from, to, "--"}, paths...)...)
	if err != nil {
		return nil, nil, fail(Unavailable, "git cannot compare these commits here")
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if name := fields[i+1]; !b.hidden(name) {
			names, changes = append(names, name), append(changes, changeWords[fields[i]])
		}
	}
	return names, changes, nil
}

// diffOf is the diff of the files that may be seen, as much of it as one answer holds, whole files first.
func (b *Box) diffOf(ctx context.Context, from, to string, written []string) (Diffed, error) {
	names, _, err := b.differing(ctx, from, to, written)
	if err != nil || len(names) == 0 {
		return Diffed{}, err
	}
	asked := names[:min(len(names), diffFiles)]
	text, err := b.git(ctx, slices.Concat([]string{"diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--end-of-options", from, to, "--"}, asked)...)
	if err != nil {
		return Diffed{}, fail(TooLarge, "the diff cannot be given as a whole; ask for single paths")
	}
	parsed, err := diff.Parse(string(text))
	if err != nil {
		return Diffed{}, fail(Unavailable, "git gave no diff of these commits")
	}
	// A path is taken for a folder too: where a file took the place of one, git gives what was below it.
	parsed.Files = slices.DeleteFunc(parsed.Files, func(f diff.File) bool { return b.hidden(f.Path) || b.hidden(f.OldPath) })
	var out Diffed
	var all strings.Builder
	left := names[len(asked):]
	for i, f := range parsed.Files {
		one := b.fileDiff(ctx, from, to, f)
		if all.Len() > 0 && all.Len()+len(one) > diffLimit {
			var rest []string
			for _, r := range parsed.Files[i:] {
				rest = append(rest, r.Path)
			}
			left = append(slices.Compact(rest), left...)
			break
		}
		if len(one) > diffLimit {
			one = sanitize.Beginning(one, diffLimit) + "\n(the diff of this file is longer)\n"
		}
		all.WriteString(one)
	}
	out.Text = all.String()
	for i, name := range left {
		if i == pathsLimit {
			out.Missing = len(left) - i
			break
		}
		out.Left = append(out.Left, b.label(name))
	}
	return out, nil
}

// fileDiff is the diff of one file between two commits as a model may see it.
func (b *Box) fileDiff(ctx context.Context, from, to string, f diff.File) string {
	old, now := "a/"+b.label(f.Path), "b/"+b.label(f.Path)
	switch f.Change {
	case diff.Added:
		old = "/dev/null"
	case diff.Deleted:
		now = "/dev/null"
	}
	out := fmt.Sprintf("--- %s\n+++ %s\n", old, now)
	if f.Binary {
		return out + "(binary, or too large)\n"
	}
	var hunks strings.Builder
	for _, h := range f.Hunks {
		hunks.WriteString(h.Raw)
	}
	text := hunks.String()
	shown := sanitize.Spelled(text)
	if !b.o.Unmasked {
		shown = b.known.MaskDiff(shown, b.keys(ctx, from, to, f, text))
	}
	for _, l := range splitLines([]byte(shown)) {
		out += cut(l) + "\n"
	}
	return out
}

// keys are the lines of keys in both versions of a file, whose hunks may show a piece of a key, or a secret without its id (threats.md T335, T631). A version that
// cannot be read is taken to have a key wherever the hunks look like one.
func (b *Box) keys(ctx context.Context, from, to string, f diff.File, hunks string) sanitize.KeyLines {
	keys := sanitize.KeyLines{}
	if f.Change == diff.Added || f.Change == diff.Deleted || !sanitize.MayHoldKey(hunks) {
		return keys // all of a new or a deleted file is in its hunks
	}
	for _, commit := range []string{from, to} {
		if text, err := b.textOf(ctx, commit, f.Path); err == nil {
			keys.Learn(string(text))
		} else {
			keys.LearnPiece(hunks)
		}
	}
	return keys
}

func (c ChangedFiles) text() string {
	if len(c.Files) == 0 {
		return "no changed files\n"
	}
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&b, "%-8s %s\n", f.Change, f.Path)
	}
	if c.Missing > 0 {
		fmt.Fprintf(&b, "(%d more are missing)\n", c.Missing)
	}
	return b.String()
}

func (d Diffed) text() string {
	if d.Text == "" {
		return "no differences\n"
	}
	out := d.Text
	if len(d.Left) > 0 {
		out += "(not given, ask for them by path: " + strings.Join(d.Left, ", ")
		if d.Missing > 0 {
			out += fmt.Sprintf(" and %d more", d.Missing)
		}
		out += ")\n"
	}
	return out
}
