package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var (
	// ErrEmptyPatch: a patch changes nothing.
	ErrEmptyPatch = errors.New("the patch changes nothing")
	// ErrTwoReadings: whoever applies a patch with `git am`, `git apply` or `git apply --3way` gets another change than with another of them.
	ErrTwoReadings = errors.New("git am, git apply and git apply --3way make different changes of it")
	// ErrBuildsOnWithheld: a patch moves or copies a file that is withheld.
	ErrBuildsOnWithheld = errors.New("it builds on a file that may not be read")
)

// PatchError: a patch cannot be applied.
type PatchError struct {
	// To is the commit, Detail what git says of it, raw: whoever prints it sanitizes it.
	To, Detail string
	Err        error
}

func (e *PatchError) Error() string {
	return fmt.Sprintf("the patch does not apply to HEAD (%s): %s", e.To[:min(len(e.To), 10)], e.Detail)
}

func (e *PatchError) Unwrap() error { return e.Err }

// applyMemory is what git may hold that applies a patch, in bytes: it keeps every file that a patch makes until the last, and a line of one may copy any that is there.
const applyMemory = 512 << 20

// Patched makes a commit of a patch on top of HEAD of a checkout, in r: what `git apply` makes of it, or `git am` where it alone can read it. Where both can,
// both have to make the same of it. Neither index nor working tree of the checkout are read, what is binary in it may come to 64 MB, and git may hold applyMemory:
// *PatchError, ErrEmptyPatch.
func (r *Repository) Patched(ctx context.Context, dir string, patch []byte) (string, error) {
	c, err := r.git.Checkout(dir)
	if err != nil {
		return "", err
	}
	if len(bytes.TrimSpace(patch)) == 0 {
		return "", ErrEmptyPatch
	}
	if err := r.borrow(c.objects()); err != nil {
		return "", err
	}
	head, err := c.Resolve(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	q, err := r.Whole().patching(ctx, head)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(q.dir)
	tree, err := q.made(ctx, patch)
	if err == nil {
		err = q.give(ctx, r, tree)
	}
	if err != nil {
		return "", refusedPatch(head, err)
	}
	return r.onTop(ctx, head, tree, "patch\n", ErrEmptyPatch)
}

// refusedPatch is the error about a patch that cannot be applied to a commit, or err if that is about something else.
func refusedPatch(head string, err error) error {
	var failed *CommandError
	switch errors.As(err, &failed); {
	case errors.Is(err, ErrTwoReadings):
		return &PatchError{To: head, Detail: ErrTwoReadings.Error(), Err: err}
	case failed == nil && (errors.Is(err, ErrTooLarge) || errors.Is(err, errBinaryPatch)):
		return &PatchError{To: head, Detail: err.Error(), Err: err}
	case failed == nil || failed.Command != "apply" && failed.Command != "am":
		return err
	case errors.Is(err, ErrTooLarge):
		return &PatchError{To: head, Detail: failed.Error(), Err: err}
	}
	return &PatchError{To: head, Detail: complaints(failed), Err: err}
}

// patching applies patches to a commit in a quarantine, which reads r's objects, or those alone that r does not withhold. No file of the commit stands in its
// working tree: git takes from the index what it needs.
type patching struct {
	*quarantined
	head   string
	hidden []string
}

func (r *Repository) patching(ctx context.Context, head string) (*patching, error) {
	hidden, err := r.hidden(ctx, head)
	if err != nil {
		return nil, err
	}
	q, err := r.quarantine(ctx)
	if err != nil {
		return nil, err
	}
	if r.withheld != nil {
		if err = os.Remove(filepath.Join(q.dir, "objects", "info", "alternates")); err == nil {
			err = r.copyVisible(ctx, q.place(), head, "refs/heads/prloop")
		}
	}
	if err != nil {
		os.RemoveAll(q.dir)
		return nil, err
	}
	return &patching{quarantined: q, head: head, hidden: hidden}, nil
}

// place is where git applies.
func (q *patching) place() place {
	return place{dir: q.dir, work: filepath.Join(q.dir, "tree"), index: filepath.Join(q.dir, "index")}
}

// run applies something.
func (q *patching) run(ctx context.Context, c command) error {
	c.at, c.memory, c.packs, c.limit = q.place(), applyMemory, true, listLimit
	_, err := q.git.run(ctx, c)
	return err
}

// made is the tree that a patch makes of the commit.
func (q *patching) made(ctx context.Context, patch []byte) (string, error) {
	if err := checkBinary(patch); err != nil {
		return "", err
	}
	if err := q.reset(ctx); err != nil {
		return "", err
	}
	unreadable := q.run(ctx, command{name: "apply", args: []string{"--numstat", "-"}, stdin: patch})
	whole, notWhole := "", unreadable
	if unreadable == nil {
		whole, notWhole = q.applied(ctx, nil, patch)
	}
	if notWhole == nil { // with --3way git applies to the file that the patch says it was made against, and merges
		if merged, err := q.applied(ctx, nil, patch, "--3way"); err == nil && merged != whole {
			return "", ErrTwoReadings
		}
	}
	if ctx.Err() != nil || errors.Is(notWhole, ErrTooLarge) {
		return "", cmp.Or(notWhole, ctx.Err())
	}
	mailed, err := q.mailed(ctx, nil, patch)
	switch {
	case err != nil && unreadable == nil && notWhole != nil: // nobody can apply it
		return "", notWhole
	case err != nil:
		return "", err
	case mailed == "":
		return whole, notWhole
	case unreadable == nil && mailed != whole: // in a working tree it may apply where it does not here
		return "", ErrTwoReadings
	}
	return mailed, nil
}

// reset goes back to the commit. Files whose objects are not there stay in its trees.
func (q *patching) reset(ctx context.Context) error {
	at := q.place()
	if err := errors.Join(os.RemoveAll(at.work), os.Mkdir(at.work, 0o700)); err != nil {
		return err
	}
	commands := []command{
		{name: "update-ref", args: []string{"--end-of-options", "refs/heads/prloop", q.head}},
		{name: "read-tree", args: []string{"--end-of-options", q.head}},
	}
	if len(q.hidden) > 0 {
		commands = append(commands, command{name: "update-index", args: []string{"-z", "--skip-worktree", "--stdin"}, stdin: []byte(strings.Join(q.hidden, "\x00") + "\x00")})
	}
	for _, c := range commands {
		c.at = at
		if _, err := q.git.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// applied is the tree that `git apply` makes of the commit. What it does to the files without is passed over.
func (q *patching) applied(ctx context.Context, without []string, patch []byte, more ...string) (string, error) {
	if err := q.reset(ctx); err != nil {
		return "", err
	}
	args := append(append(more, "--cached", "--whitespace=nowarn"), excluded(without)...)
	if err := q.run(ctx, command{name: "apply", args: append(args, "-"), stdin: patch}); err != nil {
		return "", err
	}
	out, err := q.git.run(ctx, command{name: "write-tree", at: q.place()})
	return strings.TrimSpace(string(out)), err
}

// mailed is the tree that `git am` makes of the commit, from a file of any kind that it knows and from standard input; empty where it finds no mail with a
// change. ErrTwoReadings where the two differ, or it begins and fails: who goes on then gets another change.
func (q *patching) mailed(ctx context.Context, without []string, patch []byte) (tree string, err error) {
	file, state := filepath.Join(q.dir, "patch"), filepath.Join(q.dir, "rebase-apply")
	if err := os.WriteFile(file, patch, 0o600); err != nil {
		return "", err
	}
	for _, format := range [][]string{nil, {"--patch-format=mbox"}} {
		if err := q.reset(ctx); err != nil {
			return "", err
		}
		args := append(append([]string{"--quiet", "--empty=drop", "--no-gpg-sign"}, format...), excluded(without)...)
		err := q.run(ctx, command{name: "am", args: append(args, file), extra: committer})
		var failed *CommandError
		if ctx.Err() != nil || err != nil && !errors.As(err, &failed) || errors.Is(err, ErrTooLarge) {
			return "", err
		}
		if err != nil {
			mails, notBegun := os.ReadFile(filepath.Join(state, "last"))
			if err := os.RemoveAll(state); err != nil {
				return "", err
			}
			if notBegun == nil && (format == nil || strings.TrimSpace(string(mails)) != "1") {
				return "", fmt.Errorf("%w: %w", ErrTwoReadings, err)
			}
			continue
		}
		out, err := q.git.run(ctx, command{name: "rev-parse", at: q.place(), args: []string{"refs/heads/prloop", "refs/heads/prloop^{tree}"}})
		if err != nil {
			return "", err
		}
		commit, made, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if commit == q.head {
			continue
		}
		if tree != "" && made != tree {
			return "", ErrTwoReadings
		}
		tree = made
	}
	return tree, nil
}

// give gives r the objects of a tree, and no others that git wrote on its way.
func (q *patching) give(ctx context.Context, r *Repository, tree string) error {
	list, err := q.git.run(ctx, command{name: "rev-list", at: q.place(), limit: listLimit, args: []string{"--objects", "--no-object-names", "--end-of-options", tree, "^" + q.head}})
	if err != nil || len(list) == 0 {
		return err
	}
	base := filepath.Join(q.dir, "objects", "pack", "pack")
	if _, err := q.git.run(ctx, command{name: "pack-objects", at: q.place(), stdin: list, args: []string{"-q", base}}); err != nil {
		return err
	}
	return q.release(r)
}

// committer is who commits what mails bring.
var committer = []string{"GIT_COMMITTER_NAME=prloop", "GIT_COMMITTER_EMAIL=prloop@localhost", "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z"}

// excluded are arguments that have git pass over files.
func excluded(names []string) (args []string) {
	for _, name := range names {
		args = append(args, "--exclude="+globSigns.Replace(name))
	}
	return args
}

// globSigns has a glob stand for a name.
var globSigns = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// complaints are the first errors git printed, in one line.
func complaints(failed *CommandError) string {
	var said []string
	for line := range strings.Lines(failed.Stderr) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), "error: "); is && len(said) < 3 {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return "git " + failed.Command + " refuses it"
	}
	return strings.Join(said, "; ")
}

// Readable refuses a patch, of which Patched made commit on top of head, that builds on what is withheld, such as one that copies it to another name: whoever reads
// commit would read that. Files that are withheld may change. It is applied where those objects are not: *PatchError.
func (r *Repository) Readable(ctx context.Context, head, commit string, patch []byte) error {
	if r.withheld == nil {
		return nil
	}
	changes, err := r.changes(ctx, head, commit, "--no-renames")
	if err != nil {
		return err
	}
	var without []string
	for _, c := range changes {
		if r.hides(c.path) {
			without = append(without, c.path)
		}
	}
	q, err := r.patching(ctx, head)
	if err != nil {
		return err
	}
	defer os.RemoveAll(q.dir)
	_, err = q.applied(ctx, without, patch)
	var failed *CommandError
	if ctx.Err() == nil && errors.As(err, &failed) && failed.Command == "apply" {
		var made string
		if made, err = q.mailed(ctx, without, patch); err == nil && made == "" {
			err = ErrBuildsOnWithheld
		}
	}
	if ctx.Err() != nil || err == nil || failed == nil {
		return err
	}
	return &PatchError{To: head, Detail: ErrBuildsOnWithheld.Error(), Err: fmt.Errorf("%w: %w", ErrBuildsOnWithheld, err)}
}
