package tools

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// functionArgs are those of get_function_context.
type functionArgs struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// definitionLimit bounds a definition, in bytes.
const definitionLimit = 20 << 10

// FunctionContext is what get_function_context answers.
type FunctionContext struct {
	Path string `json:"path"`
	Function
	// Truncated is true when the definition is longer than what is given.
	Truncated bool `json:"truncated,omitempty"`
}

func (b *Box) function(_ context.Context, a functionArgs) (FunctionContext, error) {
	name, err := b.check(a.Path)
	if err != nil {
		return FunctionContext{}, err
	}
	text, err := b.text(name)
	if err != nil {
		return FunctionContext{}, err
	}
	f, ok := b.o.Functions(name, b.shown(text), a.Line)
	if !ok {
		return FunctionContext{}, fail(NotFound, "no function stands around line %d of %.200q", a.Line, name)
	}
	end, err := b.allow(name, f.Start, f.End)
	if err != nil {
		return FunctionContext{}, err
	}
	out := FunctionContext{Path: b.label(name), Function: f}
	out.Imports = append([]string{}, f.Imports[:min(len(f.Imports), 60)]...)
	for i, l := range out.Imports {
		out.Imports[i] = cut(l)
	}
	var def strings.Builder
	out.End = f.Start - 1
	for i, l := range splitLines([]byte(f.Definition)) {
		l = cut(l)
		if f.Start+i > end || def.Len()+len(l) > definitionLimit {
			break
		}
		def.WriteString(l + "\n")
		out.End = f.Start + i
	}
	out.Definition, out.Truncated = def.String(), out.End < f.End
	return out, nil
}

// logArgs are those of git_log; without a path it is the whole history.
type logArgs struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Commit is one commit of git_log.
type Commit struct {
	SHA     string `json:"sha"`
	Date    string `json:"date"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

// Log is what git_log answers, newest first.
type Log struct {
	Commits []Commit `json:"commits"`
}

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
	out := Log{Commits: []Commit{}}
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

// lintArgs are those of run_linter.
type lintArgs struct {
	Files []string `json:"files"`
}

// Remarks is what run_linter answers.
type Remarks struct {
	Remarks   []Remark `json:"findings"`
	Truncated bool     `json:"truncated,omitempty"`
}

const remarkLimit = 60

func (b *Box) lint(ctx context.Context, a lintArgs) (Remarks, error) {
	if len(a.Files) == 0 || len(a.Files) > 20 {
		return Remarks{}, fail(BadArguments, "name 1 to 20 files")
	}
	var names []string
	for _, f := range a.Files {
		name, err := b.check(f)
		if err != nil {
			return Remarks{}, err
		}
		if _, err := b.text(name); err != nil {
			return Remarks{}, err
		}
		names = append(names, name)
	}
	all, err := b.o.Lint(ctx, names)
	if err != nil {
		return Remarks{}, fail(Unavailable, "no linter gave an answer")
	}
	out := Remarks{Remarks: []Remark{}}
	for _, r := range all {
		if name, err := b.check(r.File); err != nil || name == "." {
			continue
		}
		if len(out.Remarks) == remarkLimit {
			out.Truncated = true
			break
		}
		r.File, r.Message = b.label(r.File), short(b.safe(r.Message))
		out.Remarks = append(out.Remarks, r)
	}
	return out, nil
}
