package orchestrator

import (
	"context"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/review"
)

const ratio = `package a

// Ratio is a by b.
func Ratio(a, b int) int {
	if b == 0 {
		return 0
	}
	return a / b
}
`

const shell = `#!/bin/sh
ratio() {
	[ "$2" = 0 ] && return
	echo $(($1 / $2))
}
`

const python = `class Safe:
    def ratio(self, a, b):
        if b == 0:
            return 0
        return a / b
`

// What a person settles of a grave thread is about the function in which its line stands: git takes new lines for the old ones where they are the same (threats.md T617).
func TestALineOfAnotherFunctionIsNotTheThreads(t *testing.T) {
	edit := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	const line, looked = "\treturn a / b\n", "\treturn a / b // b was looked at\n"
	mean := "}\n\n// Mean is a by all shelves.\nfunc Mean(a int, shelves []int) int {\n\tb := len(shelves)\n"
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q")
	for what, c := range map[string]struct {
		name, old, now, quote string
		plain, want           bool
	}{
		"a function that ends alike":         {now: edit(ratio, line, looked+mean+line), want: true},
		"with more that is alike":            {now: edit(ratio, "\t}\n"+line, "\t}\n\n"+looked+mean+"\tif a == 0 {\n\t\treturn 0\n\t}\n"+line), want: true},
		"under the old name":                 {now: edit(ratio, "Ratio(", "Quot(", line, looked+"}\n\nfunc Ratio(a, b int) int {\n\tprintln(a)\n"+line), want: true},
		"with all before it rewritten":       {old: edit(ratio, line, "\tprintln()\n"+line), now: edit(ratio, "Ratio(a, b int)", "Quot(a, b  int)", "b == 0", "0 == b", "return 0", "return 0 // none", "\t}\n", "\t} // b\n", line, looked+"}\n\nfunc Mean(a, b int) int {\n\tprintln()\n"+line), want: true},
		"beside one of another name":         {now: edit(ratio, "Ratio(", "Quot(", line, looked+mean+line), want: true},
		"in the function above":              {old: edit(ratio, "// Ratio is", "func add(a, b int) int {\n\tprintln(a)\n}\n\n// Ratio is"), now: edit(ratio, "// Ratio is a by b.\nfunc Ratio(a, b int) int {\n", "func add(a, b int) int {\n\tprintln(a)\n"), want: true},
		"a line without a quote":             {now: edit(ratio, line, looked+mean+line), plain: true, want: true},
		"a type in the place of a file's":    {name: "a.py", old: python, now: edit(python, "a, b):", "a, b): # safe", "return a / b\n", "return a / b # looked at\n\nclass Other:\n    def ratio(self, a, b):\n        return a / b\n"), quote: "return a / b", want: true},
		"no language that is known":          {name: "a.sh", old: shell, now: edit(shell, "\techo", "\techo \"\" $(($1 / $2))\n}\n\nmean() {\n\techo"), quote: "$1 / $2", want: true},
		"a line below there":                 {name: "a.sh", old: shell, now: edit(shell, "2))\n", "2))\n\techo\n"), quote: "$1 / $2", want: true},
		"other lines there":                  {name: "a.sh", old: shell, now: "#!/bin/sh\n# More.\n" + strings.TrimPrefix(shell, "#!/bin/sh\n") + "\nratio 4 2\n", quote: "$1 / $2"},
		"outside of functions":               {old: "package a\n\nimport \"os\"\n", now: "package a\n\nimport \"fmt\"\nimport \"os\"\n", quote: "\"os\"", want: true},
		"other functions":                    {now: edit(ratio, "// Ratio", "// Sum is both.\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\n// Ratio") + "\nfunc Min(a, b int) int {\n\treturn 0\n}\n"},
		"a line above it":                    {now: edit(ratio, line, "\tprintln(a)\n"+line)},
		"a line below it":                    {now: edit(ratio, line, line+"\t// That is all.\n")},
		"another name":                       {now: edit(ratio, "Ratio", "Quot")},
		"another signature below new lines":  {now: edit(ratio, "// Ratio is a by b.\n", "// Ratio is a by b,\n// as all know.\n", "(a, b int)", "(a, b, _ int)")},
		"a new function above a renamed one": {now: edit(ratio, "// Ratio is a by b.\nfunc Ratio(", "func one() int { return 1 }\n\nfunc Quot("), want: true},
		"a quote that begins above it":       {now: edit(ratio, "// Ratio is", "// It divides.\n// Ratio is"), quote: "// Ratio is a by b.\nfunc Ratio("},
		"a quote of two functions":           {old: ratio + "\n" + edit(ratio, "package a\n\n", "", "Ratio", "Other"), now: edit(ratio, "\treturn 0", "\t// None.\n\t\treturn 0") + "\n" + edit(ratio, "package a\n\n", "", "Ratio", "Other"), quote: line + "}\n\n// Other is"},
		"its line is gone":                   {now: edit(ratio, line, looked)},
		"other files":                        {now: ratio},
	} {
		t.Run(what, func(t *testing.T) {
			if c.name == "" {
				c.name = "a.go"
			}
			if c.old == "" {
				c.old = ratio
			}
			if c.quote == "" {
				c.quote = strings.TrimSpace(line)
			}
			before := gittest.Commit(t, dir, map[string]string{c.name: c.old})
			now := gittest.Commit(t, dir, map[string]string{c.name: c.now, "other.txt": what})
			d, err := diff.Parse(gittest.Run(t, dir, "diff", before, now) + "\n")
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Count(c.old[:strings.Index(c.old, c.quote)], "\n") + 1
			f := quoting(saidBy("one", foundAt(review.P1, 0, ""), "Division by zero"), at, c.quote)
			if c.plain {
				f.Quoted, f.Evidence = [2]int{}, ""
			}
			thread := showing(f)
			thread.File, thread.Head = c.name, before
			l := &Loop{History: recorded{shelf{before: {c.name: c.old}, now: {c.name: c.now}}, d}}
			for _, priority := range []review.Priority{review.P1, review.P2} {
				thread.Priority = priority
				in := raised(nil, thread)
				in.Snapshot.Range.Head = now
				followed, err := l.follow(t.Context(), in.Snapshot)
				if err != nil {
					t.Fatal(err)
				}
				in.Snapshot.Followed = followed
				spot := followed.Spots[thread.ID][0]
				again := f
				again.Quoted, again.Line = spot.Quoted, &spot.Line
				if c.plain {
					*again.Line++ // said of a line close by
				}
				if got := !spot.Gone && in.Snapshot.changedSince(thread, again); got != (c.want && priority == review.P1) {
					t.Errorf("%s: %v at %v, changed %v", priority, got, spot, followed.Changed)
				}
			}
		})
	}
}

// recorded is a history with one diff.
type recorded struct {
	shelf
	diff *diff.Diff
}

func (r recorded) Diff(context.Context, string, string) (*diff.Diff, error) { return r.diff, nil }
