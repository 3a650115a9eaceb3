package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/diff"
)

// Reasons of diff.File.Omitted this package sets.
const (
	OmittedTooLarge = "too large"
	OmittedOverCap  = "over the size cap of the pull request"
)

// DiffOptions bound a diff (threats.md T27). What is over a bound is listed with its reason, never an error.
type DiffOptions struct {
	// MaxFile is the largest blob compared as text, in bytes; 0 means 1 MB, which is also the most.
	MaxFile int64
	// MaxTotal is the most diff text kept, in bytes; 0 means 64 MB. The files after it are listed without their hunks.
	MaxTotal int64
}

// renameLimit bounds inexact rename detection, whose cost grows with the square of it.
const renameLimit = 400

// Diff compares two commits (full object ids; usually the merge base and the head). Renames are detected. Nothing of the
// repository's attributes or configuration takes part. The result is checked to hold exactly the files git lists.
func (r *Repository) Diff(ctx context.Context, base, head string, o DiffOptions) (*diff.Diff, error) {
	if !IsOID(base) || !IsOID(head) {
		return nil, fmt.Errorf("diff %q %q: %w", base, head, ErrName)
	}
	if o.MaxFile <= 0 || o.MaxFile > bigFile {
		o.MaxFile = bigFile
	}
	if o.MaxTotal <= 0 {
		o.MaxTotal = 64 << 20
	}
	d, err := r.compare(ctx, base, head, o)
	if errors.Is(err, ErrUnknownRevision) && r.partial() {
		err = fmt.Errorf("%w: %w", ErrPartial, err)
	}
	if err != nil {
		return nil, fmt.Errorf("diff %s %s: %w", base, head, err)
	}
	return d, nil
}

// partial reports whether objects are borrowed from a partial clone, which marks what it has from its server.
func (r *Repository) partial() bool {
	lent, err := r.Borrowed()
	return err == nil && slices.ContainsFunc(lent, func(objects string) bool {
		marked, err := fs.Glob(os.DirFS(objects), "pack/*.promisor")
		return err == nil && len(marked) > 0
	})
}

func (r *Repository) compare(ctx context.Context, base, head string, o DiffOptions) (*diff.Diff, error) {
	changes, large, renames, err := r.listed(ctx, base, head, o.MaxFile)
	if err != nil {
		return nil, err
	}
	text, whole, err := r.patch(ctx, base, head, renames, o.MaxTotal)
	if err != nil {
		return nil, err
	}
	d, err := diff.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := complete(d, changes, whole); err != nil {
		return nil, err
	}
	byPath := make(map[string]change, len(changes))
	for _, c := range changes {
		byPath[c.path] = c
	}
	for i := range d.Files {
		f := &d.Files[i]
		if c, ok := byPath[f.Path]; ok && f.OldMode == 0 && f.NewMode == 0 {
			f.OldMode = c.oldMode // git prints none of a file that was renamed and nothing more; a link is one all the same
		}
		if r.hides(f.Path) || r.hides(f.OldPath) {
			f.Withhold()
		}
		if c, ok := byPath[f.Path]; ok && (large[c.oldOID] || large[c.newOID]) && len(f.Hunks) == 0 && c.oldOID != c.newOID {
			f.Omitted = OmittedTooLarge
		}
	}
	return d, nil
}

// listed are the changes with renames found, the blobs among them that are over the cap, and how renames were looked for.
func (r *Repository) listed(ctx context.Context, base, head string, limit int64) (all []change, large map[string]bool, renames string, err error) {
	if err = r.comparable(ctx, head); err != nil {
		return nil, nil, "", err
	}
	if all, err = r.changes(ctx, base, head, "--no-renames"); err != nil {
		return nil, nil, "", err
	}
	if large, err = r.largeBlobs(ctx, all, limit); err != nil {
		return nil, nil, "", err
	}
	// Comparing the contents of large files for similarity is the expensive part of a hostile diff.
	renames = "-M"
	added, gone := false, false
	for _, c := range all {
		added, gone = added || c.status == 'A', gone || c.status == 'D'
		if (c.status == 'A' || c.status == 'D') && (large[c.oldOID] || large[c.newOID]) {
			renames = "-M100%"
		}
	}
	if added && gone { // else no file has another name
		all, err = r.changes(ctx, base, head, renames)
	}
	return all, large, renames, err
}

// patch is the diff's text. whole is false when it was cut at the cap; then it ends with the last complete file.
func (r *Repository) patch(ctx context.Context, base, head, renames string, limit int64, only ...string) (string, bool, error) {
	out := &limited{left: limit}
	c := command{name: "diff-tree", at: r.place(), out: out, limit: 4 * (limit + 1<<20), args: append(diffArgs(base, head, "-p", "-U3", renames), inFiles(only)...)}
	question := c.question()
	if text, known := r.kept.get(question); known && int64(len(text)) <= limit {
		return text, true, nil
	}
	_, err := r.git.run(ctx, c)
	text := out.String()
	if out.full && ctx.Err() == nil {
		i := strings.LastIndex(text, "\ndiff --git ")
		return text[:i+1], false, nil
	}
	if err == nil {
		r.kept.put(question, text)
	}
	return text, true, err
}

func diffArgs(base, head string, more ...string) []string {
	args := append([]string{"-r", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", "-l" + strconv.Itoa(renameLimit)}, more...)
	return append(args, "--end-of-options", base, head)
}

// inFiles are the arguments that leave out all but some files; none leaves out nothing.
func inFiles(only []string) []string {
	if len(only) == 0 {
		return nil
	}
	return append([]string{"--"}, only...)
}

// limited keeps the first bytes of a stream and then stops its writer.
type limited struct {
	strings.Builder
	left int64
	full bool
}

var errFull = errors.New("the cap is reached")

func (l *limited) Write(p []byte) (int, error) {
	n := min(int64(len(p)), l.left)
	l.Builder.Write(p[:n])
	l.left -= n
	if n < int64(len(p)) {
		l.full = true
		return int(n), errFull
	}
	return len(p), nil
}

// complete checks the parsed files against git's own list and, when the text was cut, adds those that are missing.
func complete(d *diff.Diff, changes []change, whole bool) error {
	var want []diff.File
	for _, c := range changes {
		want = append(want, c.files()...)
	}
	if len(d.Files) > len(want) || (whole && len(d.Files) != len(want)) {
		return d.Check(len(want))
	}
	for i := range d.Files {
		if d.Files[i].Path != want[i].Path {
			return fmt.Errorf("file %d of the diff is not the one git lists: %w", i+1, diff.ErrIncomplete)
		}
	}
	for _, f := range want[len(d.Files):] {
		f.Omitted = OmittedOverCap
		d.Files = append(d.Files, f)
	}
	return nil
}
