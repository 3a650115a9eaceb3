package tools

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/prloop/prloop/sanitize"
)

// diffLimit is where the text of a diff is cut, in bytes.
const diffLimit = 40 << 10

// Changes is what diff answers.
type Changes struct {
	Files []string
	Diff  string
	// Missing is how many bytes longer the diff is than what is given; Files is whole.
	Missing int
}

// Diff is what the diff tool gives: computed from what was remembered, without git.
func (e *Editor) Diff() string { return e.changes().Diff }

func (e *Editor) changes() Changes {
	out := Changes{Files: e.Changed()}
	var b strings.Builder
	for _, name := range out.Files {
		from, to, old := "a/"+e.label(name), "b/"+e.label(name), ""
		if was := e.before[name]; was == nil {
			from = "/dev/null"
		} else {
			old = string(e.shown(was.text))
		}
		now, err := e.text(name)
		if err != nil {
			to = "/dev/null"
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", from, to, unified(old, string(e.shown(now))))
	}
	for i, name := range out.Files {
		out.Files[i] = e.label(name)
	}
	out.Diff = b.String()
	if len(out.Diff) > diffLimit {
		whole := len(out.Diff)
		out.Diff = sanitize.Beginning(out.Diff, diffLimit) + "\n(the diff is longer)\n"
		out.Missing = whole - diffLimit
	}
	return out
}

// unified is the hunks of two texts' comparison, line by line; empty when they are the same.
func unified(old, now string) string {
	d := string(diff.Diff("", []byte(old), "", []byte(now)))
	return d[max(strings.Index(d, "@@"), 0):] // without the names, which say nothing of new and deleted files
}
