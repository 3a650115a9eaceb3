package static

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// linters returns those that are known, in the order they run.
func linters() []linter {
	goDirs := func(first ...string) func([]string) []string {
		return func(files []string) []string {
			var dirs []string
			for _, f := range files {
				dirs = append(dirs, "./"+path.Dir(f))
			}
			slices.Sort(dirs)
			return append(slices.Clone(first), slices.Compact(dirs)...)
		}
	}
	with := func(first ...string) func([]string) []string {
		return func(files []string) []string {
			out := append(slices.Clone(first), "--")
			return append(out, files...)
		}
	}
	fixed := func(args ...string) func([]string) []string { return func([]string) []string { return args } }
	return []linter{
		{name: goVet, kinds: []string{"go"}, needs: []string{"go.mod", "go.work"}, args: goDirs("vet"),
			parse: func(_, stderr []byte) []remark { return lines(stderr) }, score: vetScore},
		{name: "staticcheck", kinds: []string{"go"}, needs: []string{"go.mod", "go.work"}, args: goDirs("-f", "json"),
			parse: func(stdout, _ []byte) []remark { return staticcheck(stdout) }, score: staticcheckScore},
		{name: "shellcheck", kinds: []string{"shell"}, args: with("-f", "gcc"),
			parse: func(stdout, _ []byte) []remark { return lines(stdout) }, score: byLevel(6, 5, 3)},
		{name: "ruff", kinds: []string{"python"}, args: with("check", "--no-cache", "--output-format=concise"),
			parse: func(stdout, _ []byte) []remark { return lines(stdout) }, score: ruffScore},
		{name: "eslint", kinds: []string{"js"}, local: "node_modules/.bin/eslint", args: with("-f", "json"),
			needs: []string{"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc.json", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.yml"},
			parse: func(stdout, _ []byte) []remark { return eslint(stdout) }, score: byLevel(5, 3, 3)},
		{name: "tsc", kinds: []string{"js"}, local: "node_modules/.bin/tsc", needs: []string{"tsconfig.json"},
			args:  fixed("--noEmit", "--pretty", "false", "-p", "tsconfig.json"),
			parse: func(stdout, _ []byte) []remark { return lines(stdout) }, score: func(remark) int { return 7 }},
	}
}

func byLevel(failure, warning, rest int) func(remark) int {
	return func(r remark) int {
		switch r.level {
		case "error":
			return failure
		case "warning":
			return warning
		}
		return rest
	}
}

// vetScore: what does not compile fails for certain; the rest of vet is suspicious code.
func vetScore(r remark) int {
	if r.level == "error" {
		return 8
	}
	return 6
}

func staticcheckScore(r remark) int {
	switch {
	case r.code == "compile":
		return 8
	case strings.HasPrefix(r.code, "SA"):
		return 6
	}
	return 3
}

func ruffScore(r remark) int {
	switch {
	case strings.HasPrefix(r.code, "E9"), r.code == "invalid-syntax":
		return 8
	case r.code == "F821":
		return 7
	case strings.HasPrefix(r.code, "F"), strings.HasPrefix(r.code, "B"):
		return 4
	}
	return 3
}

var (
	// colons is file:line:column: message, the column optional; parens is file(line,column): message.
	colons = lazyregexp.New(`^(vet: )?(.+?):(\d+):(?:(\d+):)? (.*)$`)
	parens = lazyregexp.New(`^(.+?)\((\d+),\d+\): (.*)$`)
	level  = lazyregexp.New(`^(error|warning|note|style|info)(?: (TS\d+))?: `)
	coded  = lazyregexp.New(`^([A-Z]+\d+|invalid-syntax)(?: \[\*\])?:? |\[(SC\d+)\]$`)
)

// lines reads what most linters write: one remark on a line, with its place in front.
func lines(out []byte) []remark {
	var remarks []remark
	for text := range strings.Lines(string(out)) {
		text = strings.TrimRight(text, "\r\n")
		var r remark
		var rest string
		if m := parens.FindStringSubmatch(text); m != nil {
			r.file, r.line, rest = m[1], number(m[2]), m[3]
		} else if m := colons.FindStringSubmatch(text); m != nil {
			r.file, r.line, rest = m[2], number(m[3]), m[5]
			if m[1] != "" {
				r.level = "error"
			}
		} else {
			continue
		}
		if m := level.FindStringSubmatch(rest); m != nil {
			r.level, r.code, rest = m[1], m[2], rest[len(m[0]):]
		}
		if m := coded.FindStringSubmatch(rest); m != nil && r.code == "" {
			r.code = m[1] + m[2]
			rest = strings.TrimSpace(strings.Replace(rest, m[0], "", 1))
		}
		r.message = rest
		remarks = append(remarks, r)
	}
	return remarks
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// staticcheck reads one JSON object on a line.
func staticcheck(out []byte) []remark {
	var remarks []remark
	for line := range bytes.Lines(out) {
		var v struct {
			Code, Severity, Message string
			Location                struct {
				File string
				Line int
			}
		}
		if json.Unmarshal(line, &v) == nil && v.Location.Line > 0 {
			remarks = append(remarks, remark{v.Location.File, v.Location.Line, v.Code, v.Severity, v.Message})
		}
	}
	return remarks
}

// eslint reads its JSON: files with messages, severity 2 for errors.
func eslint(out []byte) []remark {
	var files []struct {
		FilePath string
		Messages []struct {
			RuleID   string
			Severity int
			Message  string
			Line     int
		}
	}
	if json.Unmarshal(out, &files) != nil {
		return nil
	}
	var remarks []remark
	for _, f := range files {
		for _, m := range f.Messages {
			word := "warning"
			if m.Severity == 2 {
				word = "error"
			}
			remarks = append(remarks, remark{f.FilePath, m.Line, m.RuleID, word, m.Message})
		}
	}
	return remarks
}
