package tools

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/sanitize"
)

// logArgs are those of git_log; without a path it is the whole history.
type logArgs struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// windowArgs are those of a command's git_log.
type windowArgs struct {
	Paths      []string `json:"paths"`
	SinceHours int      `json:"sinceHours"`
	Count      int      `json:"count"`
}

// Commit is one commit of git_log.
type Commit struct{ SHA, Date, Author, Subject string }

// Log is what git_log answers, newest first.
type Log struct{ Commits []Commit }

const (
	logLimit = 30
	// windowLimit is how many commits a time window may give.
	windowLimit = 100
)

func (b *Box) log(ctx context.Context, a logArgs) (Log, error) {
	name, err := b.check(a.Path)
	if err != nil {
		return Log{}, err
	}
	if a.Count <= 0 || a.Count > logLimit {
		a.Count = 10
	}
	var paths []string
	if name != "." {
		paths = []string{name}
	}
	return b.commits(ctx, []string{"-n" + strconv.Itoa(a.Count)}, paths)
}

// window lists commits of the last hours, or of the whole history, that touched one of the paths.
func (b *Box) window(ctx context.Context, a windowArgs) (Log, error) {
	paths, err := b.checkAll(a.Paths)
	if err != nil {
		return Log{}, err
	}
	if a.Count <= 0 || a.Count > windowLimit {
		a.Count = logLimit
	}
	limits := []string{"-n" + strconv.Itoa(a.Count)}
	switch {
	case a.SinceHours < 0 || a.SinceHours > 24*366:
		return Log{}, fail(BadArguments, "sinceHours is a number of hours, at most a year")
	case a.SinceHours > 0:
		limits = append(limits, fmt.Sprintf("--since-as-filter=%d hours ago", a.SinceHours))
	}
	return b.commits(ctx, limits, paths)
}

// checkAll is check for several paths. The root is left out: it is all of them.
func (b *Box) checkAll(written []string) ([]string, error) {
	if len(written) > pathsLimit {
		return nil, fail(BadArguments, "there are more than %d paths", pathsLimit)
	}
	var out []string
	for _, w := range written {
		name, err := b.check(w)
		if err != nil {
			return nil, err
		}
		if name == "." {
			return nil, nil
		}
		out = append(out, name)
	}
	return out, nil
}

func (b *Box) commits(ctx context.Context, limits, paths []string) (Log, error) {
	args := append([]string{"log", "--no-show-signature", "--no-decorate", "--no-color", "--no-mailmap"}, limits...)
	args = append(append(args, "--date=short", "--format=%H%x00%ad%x00%an%x00%s", "--end-of-options", b.o.Head, "--"), paths...)
	text, err := b.git(ctx, args...)
	if err != nil {
		return Log{}, fail(Unavailable, "git has no history of this")
	}
	var out Log
	for l := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "\x00")
		if len(f) == 4 {
			out.Commits = append(out.Commits, Commit{f[0], f[1], short(b.safe(f[2])), short(b.safe(f[3]))})
		}
	}
	return out, nil
}

func short(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > 200 {
		s = sanitize.Beginning(s, len(string(r[:200])))
	}
	return s
}
