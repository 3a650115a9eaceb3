package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// pushed are two versions of a file: that of "before", and that of the head.
type pushed struct{ shelf }

func (p pushed) Diff(context.Context, string, string) (*diff.Diff, error) {
	return oneHunk(p.shelf["before"]["a.go"], p.shelf["head"]["a.go"])
}

// oneHunk is a diff of one hunk, from the first line that differs to the last.
func oneHunk(before, after string) (*diff.Diff, error) {
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	old, now = old[:len(old)-1], now[:len(now)-1]
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	for len(old) > same && len(now) > same && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	begins := func(lines []string) int {
		if len(lines) == same {
			return same
		}
		return same + 1
	}
	text := fmt.Sprintf("diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -%d,%d +%d,%d @@\n", begins(old), len(old)-same, begins(now), len(now)-same)
	for _, line := range old[same:] {
		text += "-" + line
	}
	for _, line := range now[same:] {
		text += "+" + line
	}
	return diff.Parse(text)
}

// The code of something grave stands as it did while its quote does in its place, or its line where it quotes nothing, whatever white space somebody changes, and whatever
// becomes of what others say in the thread (threats.md T599, T603).
func TestCodeThatStandsAsItDid(t *testing.T) {
	const before = "func mean(a []int) int {\n\t// The mean.\n\treturn sum(a) / len(a)\n}\n\nfunc more() {}\n"
	const quote = "return sum(a) / len(a)"
	said := func(p review.Priority, line int, quote string) review.Finding {
		return quoting(saidBy("one", foundAt(p, line, ""), "Mean of an empty list divides by zero"), line, quote)
	}
	grave := showing(said(review.P1, 3, quote))
	unquoted := showing(said(review.P1, 3, ""))
	unplaced := showing(said(review.P1, 3, quote))
	unplaced.Origin.Quoted = [2]int{}
	comment := showing(said(review.P1, 3, quote), said(review.P3, 2, "// The mean."))
	other := showing(said(review.P3, 2, "// The mean."), said(review.P1, 3, quote))
	quiet := showing(said(review.P3, 2, "// The mean."), said(review.P1, 3, ""))
	nowhere := showing(said(review.P3, 3, quote), said(review.P1, 3, ""))
	nowhere.Also[0].Line = 0
	quotes := func(quote string) conversation.Thread {
		out := showing(said(review.P1, 3, quote))
		out.Origin.Quoted = [2]int{}
		return out
	}
	removed := quotes("\tif len(a) == 0 {\n\t\treturn 0\n\t}")
	restored := "\tif len(a) == 0 {\n\t\treturn 0\n\t}\n\treturn sum(a)"
	replaced := func(old, now string) string { return strings.Replace(before, old, now, 1) }
	for what, c := range map[string]struct {
		thread conversation.Thread
		head   string
		want   bool
	}{
		"nothing changed":                         {grave, before + "// more\n", true},
		"lines above it":                          {grave, "package a\n\n" + before, true},
		"it is indented":                          {grave, replaced("\treturn sum(a) / len(a)\n", "\t{\n\t\treturn sum(a) / len(a)\n\t}\n"), true},
		"its blanks are gone":                     {grave, replaced("sum(a) / len(a)", "sum(a)/len(a)"), true},
		"it stands on two lines":                  {grave, replaced("sum(a) / len(a)", "sum(a) /\n\t\tlen(a)"), true},
		"all lines end otherwise":                 {grave, strings.ReplaceAll(before, "\n", "\r\n"), true},
		"it is another":                           {grave, replaced("len(a)", "max(1, len(a))"), false},
		"it is gone":                              {grave, replaced("\treturn sum(a) / len(a)\n", ""), false},
		"a less grave wording changed":            {comment, replaced("The mean.", "The mean of all."), true},
		"the thread begins with it":               {other, replaced("The mean.", "The mean of all."), true},
		"what the grave wording quotes changed":   {other, replaced("len(a)", "max(1, len(a))"), false},
		"a line":                                  {unquoted, before + "// more\n", true},
		"a line is indented":                      {unquoted, replaced("\treturn", "\t\treturn"), true},
		"a line is another":                       {unquoted, replaced("len(a)", "max(1, len(a))"), false},
		"the line of a grave wording changed":     {quiet, replaced("len(a)", "max(1, len(a))"), false},
		"that of a less grave one did":            {quiet, replaced("The mean.", "The mean of all."), true},
		"a grave wording without a place":         {nowhere, replaced("len(a)", "max(1, len(a))"), false},
		"one of which the thread's code stands":   {nowhere, replaced("The mean.", "The mean of all."), true},
		"a quote of which nobody knows the place": {unplaced, replaced("sum(a) / len(a)", "sum(a)/len(a)"), true},
		"that changed":                            {unplaced, replaced("len(a)", "max(1, len(a))"), false},
		"a mark copied with it":                   {quotes("+\t" + quote), "package a\n\n" + before, true},
		"a number":                                {quotes("3 | " + quote), "package a\n\n" + before, true},
		"lines taken away before it":              {quotes("-\tif len(a) == 0 {\n-\t}\n+\t" + quote), before + "// more\n", true},
		"a part left out":                         {quotes("return ... len(a)"), before + "// more\n", true},
		"what is left out changed":                {quotes("func mean ... " + quote), replaced("The mean.", "The mean of all."), true},
		"a part of it changed":                    {quotes("func mean ... " + quote), replaced("len(a)", "max(1, len(a))"), false},
		"it stands twice, and not at its line":    {quotes("a []int"), before + "func most(a []int) {}\n", true},
		"a part of a line, which says more now":   {quotes("len(a)"), replaced("len(a)", "max(1, len(a))"), false},
		"the line goes on":                        {quotes(quote), replaced("len(a)", "len(a) + 1"), false},
		"lines that were taken away":              {removed, before + "// more\n", true},
		"the line that they stood before":         {removed, replaced("len(a)", "max(1, len(a))"), false},
		"they stand there again":                  {removed, replaced("\treturn sum(a)", restored), false},
		"they stand in a comment":                 {quotes("if len(a) == 0 {"), before + "// if len(a) == 0 {\n", true},
	} {
		l := &Loop{History: pushed{shelf{"before": {"a.go": before}, "head": {"a.go": c.head}}}}
		excluded := review.BriefFile{Path: "a.go", Change: "added", Omitted: "excluded by configuration"}
		c.thread.Head, c.thread.Closed = "before", false
		snap := Snapshot{Range: Range{Head: "head"}, Conversation: &conversation.State{Threads: []conversation.Thread{c.thread}}}
		hidden := snap
		err := l.became(t.Context(), &snap)
		if stands := len(snap.Unchanged) == 1; err != nil || stands != c.want || stands && len(snap.Gone) > 0 {
			t.Errorf("%s: gone %v, unchanged %v, %v", what, snap.Gone, snap.Unchanged, err)
		}
		hidden.Brief.Files = []review.BriefFile{excluded} // somebody moved it where nobody reads it
		if err := l.became(t.Context(), &hidden); err != nil || len(hidden.Gone) > 0 || (len(hidden.Unchanged) == 1) != c.want {
			t.Errorf("%s, excluded: gone %v, unchanged %v, %v", what, hidden.Gone, hidden.Unchanged, err)
		}
	}
}

// spread are two versions of several files, whose diffs git would show; of those under "unseen" it shows no lines.
type spread struct{ shelf }

func (s spread) Diff(context.Context, string, string) (*diff.Diff, error) {
	var text strings.Builder
	for path, now := range s.shelf["head"] {
		if _, ok := s.shelf["before"][path]; ok {
			continue
		}
		lines := strings.SplitAfter(strings.TrimSuffix(now, "\n"), "\n")
		fmt.Fprintf(&text, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n+%[3]s\n", path, len(lines), strings.Join(lines, "+"))
	}
	d, err := diff.Parse(text.String())
	for path := range s.shelf["unseen"] {
		d.Files = append(d.Files, diff.File{Path: path, Change: diff.Modified, Binary: true})
	}
	return d, err
}

// Code that something grave is about is not gone where it stands in another file now, known by a line that stood once in its own (threats.md T675).
func TestMovedCodeIsNotGone(t *testing.T) {
	const before = "func mean(a []int) (int, error) {\n\treturn sum(a) / len(a), nil\n}\n\nfunc most(a []int) error {\n\tif len(a) == 0 {\n\t\treturn nil\n\t}\n\treturn nil\n}\n"
	const quote = "return sum(a) / len(a)"
	grave := func(quote string) conversation.Thread {
		out := showing(quoting(saidBy("one", foundAt(review.P1, 2, ""), "Mean of an empty list divides by zero"), 2, quote))
		out.Head, out.Closed = "before", false
		return out
	}
	minor := showing(quoting(saidBy("one", foundAt(review.P2, 2, ""), "The name could be shorter"), 2, quote))
	minor.Head, minor.Closed = "before", false
	mostly := "package deep\n" + strings.Replace(before, "len(a), nil", "max(1, len(a)), nil", 1)
	for what, c := range map[string]struct {
		thread conversation.Thread
		moved  string
		unseen bool
		want   bool
	}{
		"it is in another file":                  {grave(quote), "package deep\n" + before, false, true},
		"it is indented there":                   {grave(quote), "package deep\n\t\treturn sum(a)/len(a),\n\t\t\tnil\n", false, true},
		"a part of its line is":                  {grave(quote), "package deep\n\treturn sum(a) / len(a)\n", false, false},
		"git shows no lines of the file":         {grave(quote), "package deep\n" + before, true, true},
		"that has others":                        {grave(quote), mostly, true, false},
		"it is nowhere":                          {grave(quote), mostly, false, false},
		"nothing grave is about it":              {minor, "package deep\n" + before, false, false},
		"a common line, in the same function":    {grave("\t\treturn nil"), "package deep\n\nfunc most(a []int) error {\n\treturn nil\n}\n", false, true},
		"a common line, in another":              {grave("\t\treturn nil"), "package deep\n\nfunc least(a []int) error {\n\treturn nil\n}\n", false, false},
		"common lines, before what follows them": {grave("}\n\nfunc most"), "}\nfunc most(a []int) error {\n", false, true},
	} {
		files := shelf{"before": {"a.go": before}, "head": {"a.go": "package a\n", "deep/b.go": c.moved}}
		if c.unseen {
			files["before"]["deep/b.go"], files["unseen"] = "package deep\n", map[string]string{"deep/b.go": ""}
		}
		l := &Loop{History: spread{files}}
		snap := Snapshot{Range: Range{Head: "head"}, Conversation: &conversation.State{Threads: []conversation.Thread{c.thread}}}
		err := l.became(t.Context(), &snap)
		gone, unchanged := snap.Gone, snap.Unchanged
		if err != nil || (len(unchanged) == 1) != c.want || (len(gone) == 1) == c.want {
			t.Errorf("%s: gone %v, unchanged %v, %v", what, gone, unchanged, err)
		}
	}
}
