package static

import (
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// conflicts finds merge conflict markers, one finding for each conflict.
func conflicts(f *file) []hit {
	var out []hit
	open := -1
	f.each(func(i int, l diff.Line) {
		begins := conflictBegin.MatchString(l.Text)
		ends := conflictEnd.MatchString(l.Text)
		switch {
		case ends && open >= 0:
			out[open].end, open = l.New, -1
		case begins || ends:
			out = append(out, hit{
				rule: "conflict", category: review.CategoryBug, score: 9, confidence: 0.95, line: l.New, at: i,
				title:       "Leaves a merge conflict marker",
				description: "The line is a marker git writes into a file whose two sides it could not merge. Both sides now stand in the file.",
				suggestion:  "Settle the conflict and delete the markers.",
			})
			if f.kind() == "" {
				out[len(out)-1].score = 6
			}
			if begins {
				open = len(out) - 1
			}
		}
	})
	return out
}

var (
	conflictBegin = lazyregexp.New(`^<<<<<<< \S`)
	conflictEnd   = lazyregexp.New(`^>>>>>>> \S`)
)

// pattern is one statement of one family of languages. Patterns begin at the start of the line, so that texts which only
// mention a statement are not taken for one.
type pattern struct {
	kind  string
	re    *lazyregexp.Regexp
	score int
	what  string
}

var focused = []pattern{
	{"js", lazyregexp.New(`^\s*(?:describe|it|test|context|suite|specify|fixture)(?:\.\w+)?\.only(?:\.\w+)?\s*[(` + "`" + `]`), 7, ""},
	{"js", lazyregexp.New(`^\s*(?:fit|fdescribe|fcontext)\s*\(\s*["'` + "`" + `]`), 7, ""},
	{"ruby", lazyregexp.New(`^\s*(?:fit|fdescribe|fcontext|fspecify)\s+["']`), 7, ""},
	{"ruby", lazyregexp.New(`^\s*(?:it|describe|context|specify)\s.*(?:,\s*:focus\b|\bfocus:\s*true\b)`), 7, ""},
	{"go", lazyregexp.New(`^\s*(?:FIt|FDescribe|FContext|FEntry|FWhen)\(`), 7, ""},
}

// focusedTests silently switch all the others off.
func focusedTests(f *file) []hit {
	return match(f, focused, hit{
		rule: "focused-test", category: review.CategoryTests, confidence: 0.9,
		title:       "Focuses a single test",
		description: "A focused test makes the runner leave out all others, so the suite passes without running them.",
		suggestion:  "Take the focus away.",
	}, func(*file, int, string) int { return 0 })
}

var skipped = []pattern{
	{"js", lazyregexp.New(`^\s*(?:describe|it|test|context|suite|specify)(?:\.\w+)?\.skip\s*\(\s*["'` + "`" + `]`), 5, ""},
	{"js", lazyregexp.New(`^\s*(?:xit|xdescribe|xtest|xcontext)\s*\(\s*["'` + "`" + `]`), 5, ""},
	{"ruby", lazyregexp.New(`^\s*(?:xit|xdescribe|xcontext|xspecify)\s+["']`), 5, ""},
	{"go", lazyregexp.New(`^\s*(?:func (?:Test|Benchmark)\w*\(\w+ \*testing\.[TB]\)\s*\{\s*)?[tb]\.(?:Skip|Skipf|SkipNow)\(`), 5, ""},
	{"python", lazyregexp.New(`^\s*@(?:pytest\.mark\.skip|unittest\.skip)\b`), 5, ""},
	{"java", lazyregexp.New(`^\s*@(?:Ignore|Disabled)\b`), 5, ""},
	{"rust", lazyregexp.New(`^\s*#\[ignore\b`), 5, ""},
	{"csharp", lazyregexp.New(`^\s*\[Ignore\b`), 5, ""},
}

var hasReason = lazyregexp.New(`(?:\(\s*|=\s*|reason\s*=\s*)["'` + "`" + `][^"'` + "`" + `]{4,}`)

// skippedTests are fine with a written reason, and when they depend on the surroundings.
func skippedTests(f *file) []hit {
	if !f.test && f.kind() != "rust" {
		return nil
	}
	return match(f, skipped, hit{
		rule: "skipped-test", category: review.CategoryTests, confidence: 0.8,
		title:       "Skips a test",
		description: "The test no longer runs, so what it guards can break unseen.",
		suggestion:  "Repair the test, or write down why it is skipped and until when.",
	}, func(f *file, i int, text string) int {
		switch {
		case strings.Contains(text, "skipif") || strings.Contains(text, "skipIf") || conditional(f, i):
			return -1
		case f.kind() != "js" && f.kind() != "ruby" && hasReason.MatchString(text):
			return 3
		}
		return 0
	})
}

// conditional reports whether the line before opens a condition, as in "if testing.Short() {".
func conditional(f *file, i int) bool {
	for j := i - 1; j >= 0 && j >= i-2 && f.lines[j].New == f.lines[i].New-(i-j); j-- {
		t := strings.TrimSpace(f.lines[j].Text)
		if strings.HasPrefix(t, "if ") || strings.HasPrefix(t, "} else") || strings.HasPrefix(t, "case ") || strings.HasPrefix(t, "default:") {
			return true
		}
	}
	return false
}

const printed = `["'` + "`" + `]\W*(?i:debug\b(?:ging)?\W|debug["'` + "`" + `]|got here|here\W{0,3}["'` + "`" + `]|here\d|xxx+|asdf|wtf\b)`

var debugging = []pattern{
	{"js", lazyregexp.New(`^\s*debugger\s*;?\s*$`), 6, "stops in the debugger"},
	{"js", lazyregexp.New(`^\s*console\.(?:log|error|warn)\(\s*` + printed), 4, "prints a debugging line"},
	{"python", lazyregexp.New(`^\s*(?:import i?pdb\s*;\s*)?(?:i?pdb|pudb)\.set_trace\(\)`), 7, "stops in the debugger"},
	{"python", lazyregexp.New(`^\s*breakpoint\(\)`), 7, "stops in the debugger"},
	{"python", lazyregexp.New(`^\s*print\(\s*f?` + printed), 4, "prints a debugging line"},
	{"ruby", lazyregexp.New(`^\s*(?:binding\.(?:pry|irb|break)|byebug)\b`), 7, "stops in the debugger"},
	{"ruby", lazyregexp.New(`^\s*puts?\s+` + printed), 4, "prints a debugging line"},
	{"php", lazyregexp.New(`^\s*dd\(.*\)\s*;`), 7, "dumps a value and ends the request"},
	{"php", lazyregexp.New(`^\s*(?:var_dump|dump|print_r)\(.*\)\s*;\s*$`), 5, "dumps a value"},
	{"go", lazyregexp.New(`^\s*(?:fmt\.Print(?:ln|f)?|println|spew\.Dump)\(\s*` + printed), 4, "prints a debugging line"},
	{"go", lazyregexp.New(`^\s*(?:runtime\.Breakpoint\(\)|spew\.Dump\()`), 5, "is a debugging aid"},
	{"java", lazyregexp.New(`^\s*System\.(?:out|err)\.print(?:ln|f)?\(\s*` + printed), 4, "prints a debugging line"},
	{"java", lazyregexp.New(`^\s*println\(\s*` + printed), 4, "prints a debugging line"},
	{"rust", lazyregexp.New(`^\s*(?:let\s+\w+\s*=\s*)?dbg!\(`), 5, "prints a value for debugging"},
	{"rust", lazyregexp.New(`^\s*e?println!\(\s*` + printed), 4, "prints a debugging line"},
	{"elixir", lazyregexp.New(`^\s*(?:require IEx\s*;\s*)?IEx\.pry\b`), 7, "stops in the debugger"},
}

// leftovers are aids somebody forgot to take out.
func leftovers(f *file) []hit {
	return match(f, debugging, hit{
		rule: "debug", category: review.CategoryBug, confidence: 0.85,
		title:       "Leaves a debugging aid",
		description: "The line",
		suggestion:  "Delete it.",
	}, func(f *file, _ int, _ string) int { return 0 })
}

// match applies a table of patterns. adjust may change a score, or drop the hit with -1; 0 keeps the table's score.
func match(f *file, table []pattern, like hit, adjust func(f *file, i int, text string) int) []hit {
	var out []hit
	kind := f.kind()
	f.each(func(i int, l diff.Line) {
		for _, p := range table {
			if p.kind != kind || len(l.Text) > maxLineBytes || !p.re.MatchString(l.Text) {
				continue
			}
			h := like
			h.line, h.score, h.at = l.New, p.score, i
			if p.what != "" {
				h.description = "The line " + p.what + ". It looks like an aid from development that was left behind."
			}
			if s := adjust(f, i, l.Text); s > 0 {
				h.score = s
			} else if s < 0 {
				return
			}
			out = append(out, h)
			return
		}
	})
	return out
}
