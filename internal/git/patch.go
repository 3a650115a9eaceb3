package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// ErrEmptyPatch: a patch changes nothing.
	ErrEmptyPatch = errors.New("the patch changes nothing")
	// ErrTwoReadings: whoever applies a patch of mails with `git am` gets another change than with `git apply`.
	ErrTwoReadings = errors.New("git am and git apply make different changes of it")
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

const (
	// applyMemory is what `git apply` may hold, in bytes: it keeps every file that a patch makes until the last, and a line of one may copy any that is there.
	applyMemory = 512 << 20
	// mostMails is how many mails a patch may be.
	mostMails = 500
)

// Patched makes a commit of a patch on top of HEAD of a checkout, in r: as `git apply` reads it, or `git am` where it is mails and the two do not
// differ. Neither index nor working tree of the checkout are read, what is binary in it may come to 64 MB, and git may hold applyMemory:
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
	tree, err := r.patched(ctx, head, patch)
	if err != nil {
		return "", refusedPatch(head, err)
	}
	return r.onTop(ctx, head, tree, "patch\n", ErrEmptyPatch)
}

// refusedPatch is the error about a patch that cannot be applied to a commit, or err if that is about something else.
func refusedPatch(head string, err error) error {
	var failed *CommandError
	switch errors.As(err, &failed); {
	case failed == nil && (errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTwoReadings) || errors.Is(err, errBinaryPatch)):
		return &PatchError{To: head, Detail: err.Error(), Err: err}
	case failed == nil || !slices.Contains([]string{"apply", "mailinfo", "mailsplit"}, failed.Command):
		return err
	case errors.Is(err, ErrTooLarge):
		return &PatchError{To: head, Detail: failed.Error(), Err: err}
	}
	return &PatchError{To: head, Detail: complaints(failed), Err: err}
}

// patched is the tree that a patch makes of a commit.
func (r *Repository) patched(ctx context.Context, head string, patch []byte) (string, error) {
	mails, err := r.mails(ctx, patch)
	if err := cmp.Or(err, checkBinary(patch), checkBinary(bytes.Join(mails, nil))); err != nil {
		return "", err
	}
	whole, notWhole := r.applied(ctx, r.dir, head, nil, patch)
	if len(mails) == 0 || ctx.Err() != nil || errors.Is(notWhole, ErrTooLarge) {
		return whole, notWhole
	}
	byMail, notMails := r.applied(ctx, r.dir, head, nil, mails...)
	switch {
	case notWhole != nil:
		return byMail, notMails
	case ctx.Err() == nil && byMail != whole:
		return "", ErrTwoReadings
	}
	return whole, ctx.Err()
}

// applied is the tree that patches make of a commit, one after another, in a repository. What they do to the files without is passed over.
func (r *Repository) applied(ctx context.Context, gitDir, head string, without []string, patches ...[]byte) (string, error) {
	args := []string{"--cached", "--whitespace=nowarn"}
	for _, name := range without {
		args = append(args, "--exclude="+globSigns.Replace(name))
	}
	fill := []command{{name: "read-tree", args: []string{"--end-of-options", head}}}
	for _, p := range patches {
		fill = append(fill, command{name: "apply", args: append(args, "-"), stdin: p, memory: applyMemory})
	}
	// Where a commit has files whose objects are withheld, they stay in its tree.
	return r.git.inIndex(ctx, gitDir, append(fill, command{name: "write-tree", args: []string{"--missing-ok"}})...)
}

// globSigns has a glob stand for a name.
var globSigns = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// mails are the patches that `git am` takes out of a text. There are none where it takes nothing for the mail of somebody.
func (r *Repository) mails(ctx context.Context, text []byte) (patches [][]byte, err error) {
	if bytes.Count(text, []byte("\nFrom ")) >= mostMails {
		return nil, fmt.Errorf("it may be more than %d mails: %w", mostMails, ErrTooLarge)
	}
	tmp, err := os.MkdirTemp(r.dir, "index-mails-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if _, err := r.git.run(ctx, command{name: "mailsplit", at: r.place(), args: []string{"-b", "-o" + tmp}, stdin: text}); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil {
		return nil, err
	}
	signed := false
	for _, name := range names {
		mail, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		head, err := r.git.run(ctx, command{name: "mailinfo", at: r.place(), args: []string{name + ".message", name + ".patch"}, stdin: mail})
		if err != nil {
			return nil, err
		}
		patch, err := os.ReadFile(name + ".patch")
		if err != nil {
			return nil, err
		}
		if len(patch) == 0 { // as of a cover letter
			continue
		}
		patches = append(patches, patch)
		signed = signed || authored(head)
	}
	if !signed { // such as what `git diff` prints
		return nil, nil
	}
	return patches, nil
}

// authored reports whether `git mailinfo` names who wrote a mail. `git am` makes no commit without.
func authored(info []byte) bool {
	for line := range strings.Lines(string(info)) {
		if name, is := strings.CutPrefix(line, "Author: "); is && strings.TrimSpace(name) != "" {
			return true
		}
	}
	return false
}

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
	tmp, err := os.MkdirTemp(r.dir, "index-readable-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	at := place{dir: tmp}
	if _, err := r.git.run(ctx, command{name: "init", at: at, args: []string{"--quiet", "--bare", "--template="}}); err != nil {
		return err
	}
	if err := r.copyVisible(ctx, at, head, "refs/heads/readable"); err != nil {
		return err
	}
	patches, err := r.mails(ctx, patch)
	if err != nil {
		return err
	}
	if len(patches) == 0 {
		patches = [][]byte{patch}
	}
	_, err = r.applied(ctx, tmp, head, without, patches...)
	var failed *CommandError
	if errors.As(err, &failed) && failed.Command == "apply" && ctx.Err() == nil {
		return &PatchError{To: head, Detail: ErrBuildsOnWithheld.Error(), Err: fmt.Errorf("%w: %w", ErrBuildsOnWithheld, err)}
	}
	return err
}
