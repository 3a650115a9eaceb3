package git

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// For random linear histories: rewriting twice, and in another repository, gives the same ids; the trees and their order are
// those of the fixer; nothing of its names, dates or headers is left (threats.md K20).
func TestRewriteIsDeterministic(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	second := open(t, find(t))
	fetch(t, second, b.origin, b.ref)
	random := rand.New(rand.NewPCG(1, 2))
	for history := range 4 {
		shell(t, b.clone, "checkout", "-q", "-B", "work", b.head)
		for range 1 + random.IntN(4) {
			files := map[string]string{}
			for range random.IntN(3) { // none now and then: an empty commit
				files[fmt.Sprintf("d%d/f%d", random.IntN(3), random.IntN(5))] = fmt.Sprint(random.Uint64())
			}
			commit(t, b.clone, files)
		}
		file := b.bundle(t)
		var first []Rewritten
		for try, r := range []*Repository{b.r, b.r, second} {
			taken, err := r.TakeBundle(t.Context(), file, b.head)
			if err != nil {
				t.Fatal(err)
			}
			for i := range taken {
				taken[i].Message = fmt.Sprintf("fix: %d of %d", i, history)
			}
			done, err := r.Rewrite(t.Context(), b.head, taken, signature())
			if err != nil {
				t.Fatal(err)
			}
			if try == 0 {
				first = done
			}
			parent, tree := b.head, shell(t, r.dir, "rev-parse", b.head+"^{tree}")
			for i, d := range done {
				if d != first[i] || d.Old != taken[i].Commit {
					t.Fatalf("history %d, try %d, commit %d: %+v, first %+v", history, try, i, d, first[i])
				}
				if taken[i].Tree == tree {
					if d.New != parent {
						t.Fatalf("an empty commit became %s", d.New)
					}
					continue
				}
				want := fmt.Sprintf("tree %s\nparent %s\nauthor prloop <prloop@localhost> 1700000000 +0000\ncommitter prloop <prloop@localhost> 1700000000 +0000\n\n%s",
					taken[i].Tree, parent, d.Message)
				if got := shell(t, r.dir, "cat-file", "commit", d.New); got != want {
					t.Fatalf("commit %d reads\n%s\nwant\n%s", i, got, want)
				}
				parent, tree = d.New, taken[i].Tree
			}
		}
		shell(t, b.r.dir, "fsck", "--strict", "--no-dangling")
	}
}

func TestRewriteRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	tree := shell(t, b.r.dir, "rev-parse", b.head+"~1^{tree}")
	ok := signature()
	for _, c := range []struct {
		rule string
		base string
		tree string
		edit func(*Signature)
	}{
		{"a base that is no object id", "main", tree, nil},
		{"a tree that is no object id", b.head, "HEAD", nil},
		{"a ref outside of ours", b.head, tree, func(s *Signature) { s.Keep = "refs/heads/main" }},
		{"a ref that is an option", b.head, tree, func(s *Signature) { s.Keep = FixRef("--x", 1) }},
		{"a name with a header in it", b.head, tree, func(s *Signature) { s.Name = "x\nparent y" }},
		{"no name", b.head, tree, func(s *Signature) { s.Name = " " }},
		{"an email that ends early", b.head, tree, func(s *Signature) { s.Email = "a> 0 +0000\nauthor <b" }},
		{"no date", b.head, tree, func(s *Signature) { s.At = time.Time{} }},
	} {
		sign := ok
		if c.edit != nil {
			c.edit(&sign)
		}
		if done, err := b.r.Rewrite(t.Context(), c.base, []Taken{{Tree: c.tree, Message: "m"}}, sign); !errors.Is(err, ErrName) {
			t.Errorf("%s: %+v %v", c.rule, done, err)
		}
	}
	if _, err := b.r.Rewrite(t.Context(), b.head, []Taken{{Tree: tree, Message: "nul \x00"}}, ok); !errors.Is(err, ErrName) {
		t.Errorf("a message with NUL: %v", err)
	}
	if _, err := b.r.Rewrite(t.Context(), b.head, []Taken{{Tree: strings.Repeat("1", 40), Message: "m"}}, ok); !errors.Is(err, ErrUnknownRevision) {
		t.Error("a tree that is not there:", err)
	}
}
