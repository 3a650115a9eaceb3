package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Signature is who a rewritten commit is by, and when. The same signature gives the same object ids (threats.md K20).
type Signature struct {
	// Name and Email are author and committer.
	Name, Email string
	// At is the date of every commit, to the second, in UTC.
	At time.Time
	// Keep is the ref of ours that keeps the result from being collected (FixRef).
	Keep string
}

// Rewritten is one commit in its new form.
type Rewritten struct {
	// Old is Taken.Commit, New the object id now.
	Old, New string
	Message  string
}

// fixRefs is where the fixes of all runs are kept.
const fixRefs = "refs/prloop/fix/"

// FixRef is the ref that keeps the fix of a round.
func FixRef(run string, round int) string { return fixRefs + run + "/" + strconv.Itoa(round) }

// Rewrite makes the commits anew, one after another onto base: the trees they have, the messages the caller set, one author
// and one date (decision 6). Nothing else of the old commits is left: no names, no dates, no signatures, no extra headers.
// A commit that changes nothing is left out, and Rewritten.New of it is the commit before. The same input always gives the
// same object ids.
func (r *Repository) Rewrite(ctx context.Context, base string, commits []Taken, sign Signature) ([]Rewritten, error) {
	done, err := r.rewrite(ctx, base, commits, sign)
	if err != nil {
		return nil, fmt.Errorf("rewrite %d commits onto %s: %w", len(commits), base, err)
	}
	return done, nil
}

func (r *Repository) rewrite(ctx context.Context, base string, commits []Taken, sign Signature) ([]Rewritten, error) {
	if !IsOID(base) {
		return nil, ErrName
	}
	if err := sign.check(); err != nil {
		return nil, err
	}
	before, _, _, err := r.git.commitAt(ctx, r.place(), base)
	if err != nil {
		return nil, err
	}
	if err := r.checkTaken(ctx, commits); err != nil {
		return nil, err
	}
	parent := base
	done := make([]Rewritten, 0, len(commits))
	for _, c := range commits {
		if c.Tree != before {
			if parent, err = r.commitTree(ctx, c.Tree, c.Message, sign, parent); err != nil {
				return nil, err
			}
			before = c.Tree
		}
		done = append(done, Rewritten{Old: c.Commit, New: parent, Message: c.Message})
	}
	if parent == base {
		return done, nil
	}
	_, err = r.update(ctx, command{name: "update-ref", at: r.place(), args: []string{"--end-of-options", sign.Keep, parent}})
	return done, err
}

// checkTaken makes sure that the trees are there and that the messages can stand in a commit.
func (r *Repository) checkTaken(ctx context.Context, commits []Taken) error {
	names := make([]string, len(commits))
	for i, c := range commits {
		if !IsOID(c.Tree) {
			return fmt.Errorf("tree %q: %w", c.Tree, ErrName)
		}
		if strings.IndexByte(c.Message, 0) >= 0 || !utf8.ValidString(c.Message) {
			return fmt.Errorf("message of tree %s: %w: not plain text", c.Tree, ErrName)
		}
		names[i] = c.Tree + "^{tree}"
	}
	infos, err := r.check(ctx, names)
	if err != nil {
		return err
	}
	for i, in := range infos {
		if in.oid != commits[i].Tree {
			return fmt.Errorf("tree %s: %w", commits[i].Tree, ErrUnknownRevision)
		}
	}
	return nil
}

// commitTree writes one commit object, every byte of it ours, and checks it as a fetched one would be.
func (r *Repository) commitTree(ctx context.Context, tree, message string, sign Signature, parents ...string) (string, error) {
	who := fmt.Sprintf("%s <%s> %d +0000", sign.Name, sign.Email, sign.At.Unix())
	text := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s\n", tree, strings.Join(parents, "\nparent "), who, who, strings.TrimRight(message, "\n"))
	out, err := r.git.run(ctx, command{name: "hash-object", at: r.place(), args: []string{"-t", "commit", "-w", "--stdin"}, stdin: []byte(text)})
	if err != nil {
		return "", err
	}
	oid := strings.TrimSpace(string(out))
	if !IsOID(oid) {
		return "", errAnswerShape
	}
	return oid, nil
}

func (s Signature) check() error {
	if !strings.HasPrefix(s.Keep, "refs/prloop/") {
		return fmt.Errorf("keep under %q: %w: not a ref of ours", s.Keep, ErrName)
	}
	for _, text := range []string{s.Name, s.Email} {
		if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "<>\n\r\x00") {
			return fmt.Errorf("signature %q: %w", text, ErrName)
		}
	}
	if s.At.Unix() <= 0 {
		return fmt.Errorf("signature of %q: %w: it has no date", s.Name, ErrName)
	}
	return checkRef(s.Keep)
}
