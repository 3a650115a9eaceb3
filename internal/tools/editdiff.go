package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a diff.
const (
	// diffLimit is where the text is cut, in bytes.
	diffLimit = 40 << 10
	// diffEdits is how many lines may differ in one file before it is shown as replaced as a whole.
	diffEdits = 1000
	// diffContext is how many lines stand around a change.
	diffContext = 3
)

// Changes is what diff answers.
type Changes struct {
	Files []string `json:"files"`
	Diff  string   `json:"diff"`
	// Truncated is true when the diff is longer than what is given; Files is whole.
	Truncated bool `json:"truncated,omitempty"`
}

// Diff is what the diff tool gives: computed from what was remembered, without git.
func (e *Editor) Diff() string { return e.changes().Diff }

func (e *Editor) changes() Changes {
	out := Changes{Files: e.Changed()}
	if out.Files == nil {
		out.Files = []string{}
	}
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
		out.Diff = strings.ToValidUTF8(out.Diff[:diffLimit], "") + "\n(the diff is longer)\n"
		out.Truncated = true
	}
	return out
}

// edit is one line of a comparison.
type edit struct {
	op   byte // ' ', '-' or '+'
	line string
}

// unified compares two texts line by line.
func unified(old, now string) string {
	edits := compare(whole(old), whole(now))
	var b strings.Builder
	a, z := 1, 1 // the line numbers of edits[i]
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i, a, z = i+1, a+1, z+1
			continue
		}
		start := i
		for start > 0 && i-start < diffContext && edits[start-1].op == ' ' {
			start--
		}
		end, quiet := i, 0
		for j := i; j < len(edits) && quiet <= 2*diffContext; j++ {
			if quiet++; edits[j].op != ' ' {
				end, quiet = j+1, 0
			}
		}
		end = min(len(edits), end+diffContext)
		first, second := a-(i-start), z-(i-start)
		olds, news := 0, 0
		var hunk strings.Builder
		for _, e := range edits[start:end] {
			if e.op != '+' {
				olds++
			}
			if e.op != '-' {
				news++
			}
			hunk.WriteByte(e.op)
			hunk.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				hunk.WriteString("\n\\ No newline at end of file\n")
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", span(first, olds), span(second, news), hunk.String())
		a, z, i = first+olds, second+news, end
	}
	return b.String()
}

// span writes a range as unified diffs do: an empty one names the line before it.
func span(first, count int) string {
	if count == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// whole splits a text into lines with their ends.
func whole(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// compare is Myers' shortest edit script, after common lines at both ends are taken off. Texts too different for it are
// shown as all removed and all added.
func compare(old, now []string) []edit {
	head := 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	a, b := old[head:len(old)-tail], now[head:len(now)-tail]
	var out []edit
	for _, l := range old[:head] {
		out = append(out, edit{' ', l})
	}
	out = append(out, shortest(a, b)...)
	for _, l := range old[len(old)-tail:] {
		out = append(out, edit{' ', l})
	}
	return out
}

// shortest finds the script. far[i] of a step of d edits is how far into a the diagonal 2*i-d was followed.
func shortest(a, b []string) []edit {
	n, m := len(a), len(b)
	var steps [][]int
	for d := 0; d <= min(n+m, diffEdits); d++ {
		far := make([]int, d+1)
		steps = append(steps, far)
		for i := range far {
			x := 0
			if d > 0 {
				x, _ = comesFrom(steps[d-1], i)
			}
			for y := x - 2*i + d; x < n && y < m && a[x] == b[y]; y++ {
				x++
			}
			if far[i] = x; x >= n && x-2*i+d >= m {
				return walkBack(a, b, steps)
			}
		}
	}
	var out []edit
	for _, l := range a {
		out = append(out, edit{'-', l})
	}
	for _, l := range b {
		out = append(out, edit{'+', l})
	}
	return out
}

// comesFrom is where a diagonal is entered from the step before: by taking a line of b in (added), or one of a out.
func comesFrom(before []int, i int) (x int, added bool) {
	if i == 0 || i < len(before) && before[i-1] < before[i] {
		return before[i], true
	}
	return before[i-1] + 1, false
}

// walkBack reads the script off the steps, from its end.
func walkBack(a, b []string, steps [][]int) []edit {
	var out []edit
	x, y := len(a), len(b)
	for d := len(steps) - 1; d >= 0; d-- {
		from, added := 0, false
		if d > 0 {
			from, added = comesFrom(steps[d-1], (x-y+d)/2)
		}
		for x > from {
			x, y = x-1, y-1
			out = append(out, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case added:
			y--
			out = append(out, edit{'+', b[y]})
		default:
			x--
			out = append(out, edit{'-', a[x]})
		}
	}
	slices.Reverse(out)
	return out
}
