package fixspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// bundleScript writes the commits since $2 to $1; nothing when there are none. The bundle is made in a repository of its own, which borrows
// the clone's objects: the clone's configuration may say otherwise than git does what a bundle has to bring.
const bundleScript = `head=$(git rev-parse --verify --quiet --end-of-options 'HEAD^{commit}')
[ "$head" != "$2" ] || exit 0
clone=$GIT_DIR
export GIT_DIR="$1.git"
unset GIT_WORK_TREE
git init --quiet --bare --template= --initial-branch=fix
mkdir -p "$GIT_DIR/objects/info"
printf '%s\n' "$clone/objects" >"$GIT_DIR/objects/info/alternates"
[ ! -f "$clone/shallow" ] || cp "$clone/shallow" "$GIT_DIR/shallow"
git update-ref HEAD "$head"
git bundle create --quiet "$1" HEAD "^$2"`

// neverFlat are the rules of commits by which the whole work is refused: who makes such objects means harm.
var neverFlat = []string{git.TakeMalformed, git.TakeForeign, git.TakeBadName}

// takeOut takes the fixer's work out of its clone, oldest commit first: what it committed by a bundle made in the sandbox,
// what it left uncommitted as a plain tree on top. A history that cannot be taken is left behind and the tree taken whole.
// What may not be taken at all is a refusal in work.
func (b *Workspace) takeOut(ctx context.Context, o review.FixOrder, c *clone, work *outcome, emit func(review.Event)) ([]git.Taken, error) {
	taken, err := b.takeCommits(ctx, o, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		refused := (*git.TakeError)(nil)
		if errors.As(err, &refused) && slices.Contains(neverFlat, refused.Rule) {
			work.refuse(refused.Refusal())
			return nil, nil
		}
		work.Notes = append(work.Notes, "the fixer's commits were not taken, its files were: "+b.notTaken(err, emit))
		taken = nil
	}
	said, err := b.words(taken, work)
	if err != nil {
		return nil, err
	}
	tip := o.From
	if len(taken) > 0 {
		tip = taken[len(taken)-1].Commit
	}
	tree, err := b.seen().TakeTree(ctx, c.tree, tip)
	if err != nil {
		if work.refused(err) {
			return taken, nil
		}
		return nil, err
	}
	return append(taken, git.Taken{Parent: tip, Tree: tree, Message: said}), nil
}

// notTaken is why commits were not taken, as everybody may read it. The operator hears all of it: git names folders of this machine (threats.md T681).
func (b *Workspace) notTaken(err error, emit func(review.Event)) string {
	emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "commits of the agent were not taken: " + b.oneLine(err.Error()), Time: time.Now().UTC()})
	var take *git.TakeError
	var changed changedError
	switch {
	case errors.As(err, &take):
		own := *take
		own.Err = nil
		return b.oneLine(own.Error())
	case errors.As(err, &changed):
		return changed.Error()
	}
	return "git could not read them"
}

// words are the fixer's for what it did not commit. A part of a known secret in any of its words of commits, or cut up between them, is sanitize.ErrKnownSecret (threats.md L0).
func (b *Workspace) words(taken []git.Taken, work *outcome) (said string, err error) {
	commits := work.Answer.Fix.Commits
	if len(taken) == 0 && len(commits) > 0 {
		said = commits[len(commits)-1].Message // a fixer that does not commit may say what it would have written
	}
	var all strings.Builder
	for _, t := range taken {
		all.WriteString(t.Message + "\n\n")
	}
	for _, c := range commits { // what the answer says of commits is replaced by what they are
		all.WriteString(c.Message + "\n\n")
	}
	if sanitize.Leaks(all.String(), sanitize.Policy{Known: b.Secrets}) {
		return "", fmt.Errorf("commit messages of the fixer: %w", sanitize.ErrKnownSecret)
	}
	return said, nil
}

func (b *Workspace) takeCommits(ctx context.Context, o review.FixOrder, c *clone) ([]git.Taken, error) {
	bundle := filepath.Join(c.out, "fix.bundle")
	if err := c.gitThere(); err != nil {
		return nil, err
	}
	if err := b.inClone(ctx, c, bundleScript, bundle, o.From); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(bundle); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b.seen().TakeBundle(ctx, bundle, o.From)
}

// gitThere sees that the clone's git is still a folder with plain files: git would wait at a pipe until its time is up.
func (c *clone) gitThere() error {
	for _, name := range []string{".git", ".git/HEAD", ".git/config"} { // the folder first: it may be a link
		info, err := os.Lstat(filepath.Join(c.tree, filepath.FromSlash(name)))
		dir := name == ".git"
		if err != nil || info.IsDir() != dir || !dir && !info.Mode().IsRegular() {
			return changedError(name)
		}
	}
	return nil
}

// changedError names what of a clone's git is not what it was.
type changedError string

func (e changedError) Error() string { return string(e) + " of its clone is not what it was" }

// message is a commit message of ours around a fixer's words.
func (b *Workspace) message(o review.FixOrder, said string) string {
	return b.plain(said, pushpolicy.Trailer{Key: pushpolicy.RunTrailer, Value: o.Run}, pushpolicy.Trailer{Key: pushpolicy.RoundTrailer, Value: fmt.Sprint(o.Round)})
}

// mostMade is how often a message is made of what was made.
const mostMade = 6

// plain makes a message of an agent's words. A mark that is taken out may have stood in the middle of a secret: what is made is redacted and made plain again, until neither
// changes anything (threats.md T742, T800). Words that never come to rest are left out.
func (b *Workspace) plain(said string, trailers ...pushpolicy.Trailer) string {
	for range mostMade {
		subject, body, _ := strings.Cut(b.Learned.Redact(said), "\n")
		made := pushpolicy.Message(subject, body)
		if made == said {
			return pushpolicy.Message(subject, body, trailers...)
		}
		said = made
	}
	return pushpolicy.Message("", "", trailers...)
}

// subject is the first line of a message.
func subject(message string) string {
	s, _, _ := strings.Cut(message, "\n")
	return s
}

// oneLine makes an error fit for a note: it may quote what a fixer chose.
func (b *Workspace) oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(sanitize.Terminal(b.Learned.Redact(s))), " "))
	if len(r) > 300 {
		r = append(r[:299], '…')
	}
	return string(r)
}
