package git

import (
	"encoding/hex"
	"os/exec"
	"testing"

	"github.com/prloop/prloop/internal/neverread"
)

// brings writes a bundle with objects of a repository, and with the text of another, if any, and an x, as a difference to that: whoever has
// its id and its size can write that.
func brings(t *testing.T, repo, tip, longer string, oids ...string) string {
	t.Helper()
	read := func(oid string) (kind string, text []byte) {
		kind = shell(t, repo, "cat-file", "-t", oid)
		text, err := exec.Command("git", "-C", repo, "cat-file", kind, oid).Output()
		if err != nil {
			t.Fatal(err)
		}
		return kind, text
	}
	var entries [][]byte
	for _, oid := range oids {
		kind, text := read(oid)
		entries = append(entries, packed(map[string]byte{"commit": 1, "tree": 2, "blob": 3}[kind], uint64(len(text)), nil, text))
	}
	if longer != "" {
		id, err := hex.DecodeString(longer)
		if err != nil {
			t.Fatal(err)
		}
		_, text := read(longer)
		size := byte(len(text)) // below 128, where it is its own number in a difference
		entries = append(entries, packed(7, 6, id, []byte{size, size + 1, 0x90, size, 1, 'x'}))
	}
	return bundleOf(t, tip, entries...)
}

// Our repository has more than a fixer's clone: what is withheld, and other pull requests. Whoever knows an id brings none of it onto the
// branch, as a file, a folder, a commit or what a difference builds on; what a bundle brings itself, and what the clone had, may be there.
func TestACommitHoldsWhatItsFixerHad(t *testing.T) {
	dir := origin(t, map[string]string{"was.txt": "an earlier text\n", "main.go": "package main\n", "secret/plan.txt": canary + "\n", "open/x.txt": "x\n"})
	base := commit(t, dir, map[string]string{"was.txt": "a later text\n"})
	at := func(name string) string { return shell(t, dir, "rev-parse", name) }
	earlier := at("HEAD~1:was.txt")
	shell(t, dir, "checkout", "-q", "-b", "other")
	other := commit(t, dir, map[string]string{"other/o.txt": newCanary + "\n"})
	shell(t, dir, "checkout", "-q", "main")
	whole := open(t, find(t))
	fetch(t, whole, dir, "refs/heads/main", "refs/heads/other")
	without := whole.Without(neverread.Paths{"secret"}.Has)

	// with is a commit on base with one more entry.
	with := func(mode, oid, name string) (tip, tree string) {
		if mode == "040000" {
			shell(t, dir, "read-tree", "--prefix="+name+"/", oid)
		} else {
			shell(t, dir, "update-index", "--add", "--cacheinfo", mode+","+oid+","+name)
		}
		tree = shell(t, dir, "write-tree")
		shell(t, dir, "read-tree", "HEAD")
		return shell(t, dir, "commit-tree", "-p", base, "-m", "fix", tree), tree
	}
	file := func(oid string) func() string {
		return func() string {
			tip, tree := with("100644", oid, "notes.txt")
			return brings(t, dir, tip, "", tip, tree)
		}
	}
	folder := func(oid string) func() string {
		return func() string {
			tip, tree := with("040000", oid, "notes")
			return brings(t, dir, tip, "", tip, tree)
		}
	}
	longer := func(oid string) func() string {
		return func() string {
			write(t, dir, "longer", shell(t, dir, "cat-file", "blob", oid)+"\nx")
			tip, tree := with("100644", shell(t, dir, "hash-object", "-w", "longer"), "notes.txt")
			return brings(t, dir, tip, oid, tip, tree)
		}
	}
	plan, theirs := at("HEAD:secret/plan.txt"), at("other:other/o.txt")
	for name, c := range map[string]struct {
		r    *Repository
		make func() string
		rule string
	}{
		"a withheld file under another name":    {without, file(plan), "foreign-object"},
		"a withheld folder under another name":  {without, folder(at("HEAD:secret")), "foreign-object"},
		"a withheld file with more behind it":   {without, longer(plan), "foreign-object"},
		"an earlier text, where none was given": {without, file(earlier), "foreign-object"},
		"a file of another pull request":        {whole, file(theirs), "foreign-object"},
		"a folder of another pull request":      {whole, folder(at("other:other")), "foreign-object"},
		"one of another with more behind it":    {whole, longer(theirs), "foreign-object"},
		"a commit of another pull request":      {whole, func() string { return brings(t, dir, other, "", at("HEAD:main.go")) }, "foreign-object"},
		"a commit of the tree of another": {whole, func() string {
			c := shell(t, dir, "commit-tree", "-p", base, "-m", "x", "other^{tree}")
			return brings(t, dir, c, "", c)
		}, "foreign-object"},
		"a file of the clone under another name":  {without, file(at("HEAD:main.go")), ""},
		"a folder of the clone":                   {without, folder(at("HEAD:open")), ""},
		"a file of the clone with more behind it": {without, longer(at("HEAD:main.go")), ""},
		"an earlier text of the clone's history":  {whole, file(earlier), ""},
		"a text it brings, as another has it": {whole, func() string {
			tip, tree := with("100644", theirs, "notes.txt")
			return brings(t, dir, tip, "", tip, tree, theirs)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			taken, err := c.r.TakeBundle(t.Context(), c.make(), base)
			if c.rule == "" && (err != nil || len(taken) != 1) || c.rule != "" && (takeRule(err) != c.rule || taken != nil) {
				t.Errorf("%d commits, want the rule %q: %v", len(taken), c.rule, err)
			}
		})
	}
}

// A view of a view withholds what either does.
func TestWithoutAddsUp(t *testing.T) {
	r := (&Repository{}).Without(neverread.Paths{"a"}.Has).Without(neverread.Paths{"b"}.Has).Without(nil)
	if !r.hides("a") || !r.hides("b") || r.hides("c") || r.Whole().hides("a") {
		t.Error("it does not add up")
	}
}
