package git

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Checkout is somebody's working copy. It is only read, by plumbing that runs no hook, filter or program its
// configuration names; nothing in it is changed.
type Checkout struct {
	git *Git
	// Top is the root of the working tree.
	Top string
	// gitDir is its .git folder; common the one it shares with other working trees.
	gitDir, common string
}

// Checkout finds the working copy that dir is in: ErrNotRepository. git itself does not search: it would refuse folders of
// other owners, which is what CI checkouts are.
func (g *Git) Checkout(dir string) (*Checkout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find checkout %s: %w", dir, err)
	}
	for at := abs; ; at = filepath.Dir(at) {
		gitDir, err := dotGit(at)
		if err == nil {
			c := &Checkout{git: g, Top: at, gitDir: gitDir, common: gitDir}
			if text, err := firstLine(filepath.Join(gitDir, "commondir")); err == nil {
				c.common = relative(gitDir, text)
			}
			if _, err := os.Stat(c.objects()); err != nil {
				return nil, fmt.Errorf("find checkout %s: %w", dir, ErrNotRepository)
			}
			return c, nil
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("find checkout %s: %w", dir, ErrNotRepository)
		}
	}
}

// dotGit gives the git folder of a working tree's root: .git, or what the file .git points to.
func dotGit(top string) (string, error) {
	name := filepath.Join(top, ".git")
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		text, err := firstLine(name)
		if err != nil {
			return "", err
		}
		target, ok := strings.CutPrefix(text, "gitdir: ")
		if !ok {
			return "", ErrNotRepository
		}
		name = relative(top, target)
	}
	if _, err := os.Stat(filepath.Join(name, "HEAD")); err != nil {
		return "", err
	}
	return name, nil
}

func relative(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// firstLine reads the first line of a small regular file.
func firstLine(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", ErrNotRepository
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 4096).ReadSlice('\n')
	return strings.TrimRight(string(line), "\r\n"), nil
}

func (c *Checkout) objects() string { return filepath.Join(c.common, "objects") }

func (c *Checkout) place() place { return place{dir: c.gitDir} }

// Branch is the branch HEAD is on, without refs/heads/: ErrDetached.
func (c *Checkout) Branch(ctx context.Context) (string, error) {
	out, err := c.git.run(ctx, command{name: "symbolic-ref", at: c.place(), args: []string{"--quiet", "HEAD"}, ok: 1})
	if errors.Is(err, errAnswer) {
		err = ErrDetached
	}
	if err != nil {
		return "", fmt.Errorf("current branch of %s: %w", c.Top, err)
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	if !ok {
		return "", fmt.Errorf("current branch of %s: %w", c.Top, ErrDetached)
	}
	return branch, nil
}

// Remote is one remote of a checkout.
type Remote struct{ Name, URL string }

// Remotes are the checkout's remotes with their fetch URLs as written in its configuration, in that order. URLs are data.
func (c *Checkout) Remotes(ctx context.Context) ([]Remote, error) {
	values, err := c.config(ctx, `^remote\..*\.url$`)
	if err != nil {
		return nil, fmt.Errorf("remotes of %s: %w", c.Top, err)
	}
	var remotes []Remote
	seen := map[string]bool{}
	for _, v := range values {
		name := strings.TrimSuffix(strings.TrimPrefix(v.key, "remote."), ".url")
		if !seen[name] { // the first of several URLs is the one git fetches from
			seen[name] = true
			remotes = append(remotes, Remote{Name: name, URL: v.value})
		}
	}
	return remotes, nil
}

// Hooks is the folder of the checkout's hooks. None is run.
func (c *Checkout) Hooks(ctx context.Context) (string, error) {
	values, err := c.config(ctx, `^core\.hookspath$`)
	if err != nil {
		return "", fmt.Errorf("hooks of %s: %w", c.Top, err)
	}
	for _, v := range slices.Backward(values) {
		if v.value != os.DevNull { // that is ours, for every command
			return relative(c.Top, v.value), nil
		}
	}
	return filepath.Join(c.common, "hooks"), nil
}

// Author is the name of whoever works in the checkout, as git would call them: that of the environment, of the checkout's
// configuration, or of their own; the name of the account without one. It proves nothing.
func (c *Checkout) Author(ctx context.Context, env func(string) string) (string, error) {
	if name := strings.TrimSpace(env("GIT_AUTHOR_NAME")); name != "" {
		return name, nil
	}
	own := filepath.Join(env("HOME"), ".gitconfig")
	for _, where := range [][]string{{"--local"}, {"--file", own}, {"--file", filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(env("HOME"), ".config")), "git", "config")}} {
		out, err := c.git.run(ctx, command{name: "config", at: c.place(), args: append(where, "--get", "user.name"), ok: 1})
		if err != nil && !errors.Is(err, errAnswer) {
			return "", fmt.Errorf("who works in %s: %w", c.Top, err)
		}
		if name := strings.TrimSpace(string(out)); name != "" {
			return name, nil
		}
	}
	return cmp.Or(env("USER"), env("LOGNAME"), "unknown"), nil
}

// Upstream is the remote and the branch there (without refs/heads/) that a branch follows; empty when it follows none.
func (c *Checkout) Upstream(ctx context.Context, branch string) (remote, ref string, err error) {
	values, err := c.config(ctx, `^branch\..*\.(remote|merge)$`)
	if err != nil {
		return "", "", fmt.Errorf("upstream of %q: %w", branch, err)
	}
	for _, v := range values {
		switch v.key {
		case "branch." + branch + ".remote":
			remote = v.value
		case "branch." + branch + ".merge":
			ref = strings.TrimPrefix(v.value, "refs/heads/")
		}
	}
	return remote, ref, nil
}

// config reads entries whose key matches a regular expression. It runs nothing.
func (c *Checkout) config(ctx context.Context, pattern string) ([]setting, error) {
	out, err := c.git.run(ctx, command{name: "config", at: c.place(), args: []string{"--null", "--get-regexp", pattern}, ok: 1})
	if errors.Is(err, errAnswer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var values []setting
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		values = append(values, setting{key, value})
	}
	return values, nil
}

// Tracked are the paths in the checkout's index.
func (c *Checkout) Tracked(ctx context.Context) ([]string, error) {
	out, err := c.git.run(ctx, command{name: "ls-files", at: c.place(), args: []string{"-z"}, limit: listLimit})
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", c.Top, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// Base is the branch that work usually leaves from, as a person names it: HEAD where no name says so, empty where there are no commits.
func (c *Checkout) Base(ctx context.Context) string {
	names := append(slices.Clone(likelyBases), "HEAD")
	asked := strings.Join(names, "^{commit}\n") + "^{commit}\n"
	out, err := c.git.run(ctx, command{name: "cat-file", at: c.place(), args: []string{"--batch-check=%(objectname)"}, stdin: []byte(asked), limit: listLimit})
	if err != nil {
		return ""
	}
	for i, answer := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if i < len(names) && IsOID(answer) {
			return names[i]
		}
	}
	return ""
}

// likelyBases are the names that Base tries, in this order.
var likelyBases = []string{"origin/HEAD", "main", "master"}

// mostBranches bounds how many names a person is told.
const mostBranches = 5

// branches are a few names of branches: likely bases first, then those with the newest commits. None where git cannot say.
func (c *Checkout) branches(ctx context.Context) []string {
	out, err := c.git.run(ctx, command{name: "for-each-ref", at: c.place(), args: []string{"--sort=-committerdate", "--format=%(refname)", "refs/heads", "refs/remotes"}, limit: listLimit})
	if err != nil {
		return nil
	}
	names := strings.Fields(strings.NewReplacer("refs/heads/", "", "refs/remotes/", "").Replace(string(out)))
	unlikely := func(name string) int {
		if i := slices.Index(likelyBases, name); i >= 0 {
			return i
		}
		return len(likelyBases)
	}
	slices.SortStableFunc(names, func(a, b string) int { return unlikely(a) - unlikely(b) })
	return names[:min(len(names), mostBranches)]
}

// Resolve gives the commit of a revision as a person types it ("main", "HEAD~3", "origin/main"): *UnknownRevisionError, *AmbiguousError, or
// ErrNoCommits where there is none at all.
func (c *Checkout) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("revision %q: %w", rev, ErrName)
	}
	commit, err := c.git.resolve(ctx, c.place(), rev)
	if err == nil {
		return commit, c.oneMeaning(ctx, rev)
	}
	if errors.Is(err, ErrUnknownRevision) || errors.As(err, new(*CommandError)) { // such as of a range
		_, missing := c.git.resolve(ctx, c.place(), "HEAD")
		if errors.Is(missing, ErrUnknownRevision) {
			return "", fmt.Errorf("revision %q: %w", rev, ErrNoCommits)
		}
		if missing != nil {
			return "", err
		}
		_, shallow := os.Stat(filepath.Join(c.common, "shallow"))
		return "", &UnknownRevisionError{Revision: rev, Branches: c.branches(ctx), Shallow: shallow == nil}
	}
	return "", err
}

// oneMeaning refuses a revision whose name several refs have that differ, or a ref and the short name of another commit: git takes a tag for it before any
// branch, and any ref before a short name, and whoever may push tags would choose what is reviewed.
func (c *Checkout) oneMeaning(ctx context.Context, rev string) error {
	name, _, _ := strings.Cut(rev, "@{")
	if end := strings.IndexAny(name, "~^:"); end >= 0 {
		name = name[:end]
	}
	if name == "HEAD" || name == "" || IsOID(name) {
		return nil
	}
	refs := []string{"refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
	out, err := c.git.run(ctx, command{name: "for-each-ref", at: c.place(), args: append([]string{"--format=%(refname) %(objectname) %(*objectname)"}, refs...), limit: listLimit})
	if err != nil {
		return err
	}
	var found []string
	commits := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if at := strings.Fields(line); slices.Contains(refs, at[0]) { // and not only below it
			found, commits[at[len(at)-1]] = append(found, at[0]), true // of a tag with a text the last is what it stands on
		}
	}
	if len(found) == 0 {
		return nil
	}
	short, err := c.shortFor(ctx, name)
	if err != nil {
		return err
	}
	for _, commit := range short {
		commits[commit] = true
	}
	if len(commits) > 1 {
		return &AmbiguousError{Revision: rev, Refs: append(short, found...)}
	}
	return nil
}

// abbreviated is a name that git takes for a short one of a commit where no ref has it, also as git describe gives it.
var abbreviated = lazyregexp.New(`(?:^|-g)([0-9a-fA-F]{4,})$`)

// shortFor are the commits that a name is short for.
func (c *Checkout) shortFor(ctx context.Context, name string) ([]string, error) {
	m := abbreviated.FindStringSubmatch(name)
	if m == nil {
		return nil, nil
	}
	objects, err := c.git.run(ctx, command{name: "rev-parse", at: c.place(), args: []string{"--disambiguate=" + m[1]}, limit: listLimit})
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	kinds, err := c.git.run(ctx, command{name: "cat-file", at: c.place(), args: []string{"--batch-check"}, stdin: objects, limit: listLimit})
	if err != nil {
		return nil, err
	}
	var commits []string
	for line := range strings.Lines(string(kinds)) {
		if object, kind, _ := strings.Cut(line, " "); strings.HasPrefix(kind, "commit ") {
			commits = append(commits, object)
		}
	}
	return commits, nil
}
