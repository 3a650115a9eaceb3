package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An answer about objects that are named by their ids never changes, and is kept for whoever opened a repository if it is short: a process of git costs
// more than most of them.
const (
	// keptAnswer is how long an answer that is kept may be, keptAnswers how long all of them together, in bytes.
	keptAnswer, keptAnswers = 128 << 10, 8 << 20
	// fewFiles is how many files a tree may have that is listed as a whole when something is asked about it, and fewBytes how long that list.
	fewFiles, fewBytes = 2000, 256 << 10
)

// kept are answers by their questions.
type kept struct {
	mu      sync.Mutex
	answers map[string]string
	bytes   int
	lists   map[string][]Entry // of trees with few files; nil for a tree that has more, or cannot be listed
}

func newKept() *kept { return &kept{answers: map[string]string{}, lists: map[string][]Entry{}} }

func (k *kept) get(question string) (answer string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	answer, known = k.answers[question]
	return answer, known
}

func (k *kept) put(question, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(question) + len(answer); n <= keptAnswer && k.bytes+n <= keptAnswers {
		k.answers[question] = answer
		k.bytes += n
	}
}

// question is what a command asks.
func (c command) question() string { return fmt.Sprintf("%s %q %q", c.name, c.args, c.stdin) }

// lasting runs a command that asks about objects by their ids, or gives what it answered before.
func (r *Repository) lasting(ctx context.Context, c command) (string, error) {
	question := c.question()
	if answer, known := r.kept.get(question); known {
		return answer, nil
	}
	out, err := r.git.run(ctx, c)
	if err != nil {
		return "", err
	}
	r.kept.put(question, string(out))
	return string(out), nil
}

// fewListed are all files of a commit or tree with few; nil for one that has more, and one that cannot be listed. The list must not be changed.
func (r *Repository) fewListed(ctx context.Context, tree string) []Entry {
	r.kept.mu.Lock()
	entries, known := r.kept.lists[tree]
	r.kept.mu.Unlock()
	if known || !IsOID(tree) {
		return entries
	}
	out := &fileList{fileCounter: fileCounter{left: fewFiles, most: fewBytes}}
	_, err := r.git.run(ctx, command{name: "ls-tree", at: r.place(), out: out, limit: 4 * fewBytes, args: []string{"-r", "-l", "-z", "--full-tree", "--end-of-options", tree}})
	if ctx.Err() != nil {
		return nil
	}
	// git knows no size of an object that is not there.
	if err == nil && !strings.Contains(out.String(), " BAD\t") {
		if entries, err = parseTree(out.String()); err == nil && entries == nil {
			entries = []Entry{}
		}
	}
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	r.kept.lists[tree] = entries
	return entries
}

// below are the entries at a path of a tree and below it, all for an empty path.
func below(entries []Entry, path string) []Entry {
	if path == "" {
		return slices.Clone(entries)
	}
	var in []Entry
	for _, e := range entries {
		if e.Path == path || strings.HasPrefix(e.Path, path+"/") {
			in = append(in, e)
		}
	}
	return in
}
