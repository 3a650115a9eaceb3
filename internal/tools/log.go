package tools

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// logArgs are those of git_log; without a path it is the whole history.
type logArgs struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Commit is one commit of git_log.
type Commit struct{ SHA, Date, Author, Subject string }

// Log is what git_log answers, newest first.
type Log struct{ Commits []Commit }

const logLimit = 30

// log asks git in prloop's own repository; nothing of the machine's or a user's configuration takes part (threats.md "Git environment").
func (b *Box) log(ctx context.Context, a logArgs) (Log, error) {
	name, err := b.check(a.Path)
	if err != nil {
		return Log{}, err
	}
	if a.Count <= 0 || a.Count > logLimit {
		a.Count = 10
	}
	args := []string{"--no-pager", "log", "--no-show-signature", "--no-decorate", "--no-color", "--no-mailmap",
		"-n" + strconv.Itoa(a.Count), "--date=short", "--format=%H%x00%ad%x00%an%x00%s", "--end-of-options", b.o.Head, "--"}
	if name != "." {
		args = append(args, name)
	}
	program, err := proc.LookPath("git")
	if err != nil {
		return Log{}, fail(Unavailable, "there is no git here")
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: program, Args: args, Timeout: 20 * time.Second, MaxStdout: 1 << 20, Direct: true, Dir: b.o.GitDir,
		Env: proc.BaseEnv("GIT_DIR="+b.o.GitDir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
			"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "LC_ALL=C"),
	})
	if err != nil {
		return Log{}, fail(Unavailable, "git has no history of this")
	}
	var out Log
	for l := range strings.Lines(string(res.Stdout)) {
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
		s = string(r[:200]) + "…"
	}
	return s
}
