package static

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hit is one place a rule objects to.
type hit struct {
	// rule is its short name, also the front of the finding's id.
	rule     string
	category string
	// score is on the rubric of spec.md D3.1.
	score      int
	confidence float64
	// line and end are 1-based in the head version; 0 for the file as a whole.
	line, end   int
	title       string
	description string
	suggestion  string
	// at is the index of the line in file.lines; evidence is taken from there when the hit is reported, because looking for
	// it costs more than the rule (threats.md T510). -1 when evidence is already here, or there is none.
	at       int
	evidence string
	// value is where a secret stands in that line, and more where the text of a key goes on, by the numbers of other lines.
	value sanitize.Span
	more  map[int]sanitize.Span
}

// secret reports whether a hit is one of the rules about secrets.
func (h hit) secret() bool { return strings.HasPrefix(h.rule, "secret.") }

// alone reports whether a hit is never joined to others: who settles one that has to be fixed says nothing of the next. Linters speak of local changes alone, where
// nobody else settles anything.
func (h hit) alone() bool {
	return !strings.HasPrefix(h.rule, lintRule) && (h.category == review.CategorySecurity || review.PriorityOfScore(h.score) != review.P3)
}

// file is one changed file as the rules see it.
type file struct {
	path     string
	language string
	// added tells that the file is new.
	added bool
	// lines are those of the head side of all hunks, in order.
	lines []diff.Line
	// quoted are the quotes of those of them that were asked for.
	quoted map[int]string
	// test is true for tests, fixtures, examples and documentation of such, where made-up values are common.
	test bool
	// stands tells that linters may read the file: the checkout has the text that is reviewed.
	stands bool
}

// rule looks at one file.
type rule func(*file) []hit

func allRules() []rule {
	return []rule{secrets, conflicts, focusedTests, skippedTests, leftovers, hiddenText, keyFiles}
}

// each calls fn for every added line.
func (f *file) each(fn func(i int, l diff.Line)) {
	for i, l := range f.lines {
		if l.Op == '+' {
			fn(i, l)
		}
	}
}

var testPath = lazyregexp.New(`(?i)(^|[/_.-])(tests?|specs?|__tests__|testdata|fixtures?|examples?|samples?|mocks?|e2e|cypress)([/_.-]|$)|Tests?\.[a-z]+$`)

func isTest(p string) bool { return testPath.MatchString(p) }

// kinds maps file endings to the families whose syntax rules know.
var kinds = map[string]string{
	".js": "js", ".jsx": "js", ".mjs": "js", ".cjs": "js", ".ts": "js", ".tsx": "js", ".mts": "js", ".cts": "js",
	".vue": "js", ".svelte": "js", ".go": "go", ".py": "python", ".rb": "ruby", ".php": "php", ".java": "java",
	".kt": "java", ".kts": "java", ".scala": "java", ".groovy": "java", ".rs": "rust", ".cs": "csharp",
	".ex": "elixir", ".exs": "elixir", ".c": "c", ".h": "c", ".cc": "c", ".cpp": "c", ".hpp": "c", ".swift": "swift",
	".sh": "shell", ".bash": "shell", ".sql": "sql", ".lua": "lua", ".pl": "perl", ".dart": "dart", ".zig": "zig",
}

// kind is the family of a file's syntax; empty for text, data and what is not known.
func (f *file) kind() string { return kinds[strings.ToLower(path.Ext(f.path))] }

// commented reports whether a line is nothing but a comment, as far as one line tells.
func commented(line string) bool {
	t := strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "*", "/*", "--", "<!--", ";"} {
		if strings.HasPrefix(t, mark) && !strings.HasPrefix(t, "#[") && !strings.HasPrefix(t, "#HttpOnly_") {
			return true
		}
	}
	return false
}

const (
	maxQuote     = 200 // bytes of evidence
	minQuote     = 4   // less would stand anywhere
	perFile      = 3   // small findings of one rule in one file; more are joined to the last
	maxLineBytes = 20_000
)

// quote is the evidence for a line: its text without secrets, hidden characters and overlength. It is the line as others are
// shown it, masks in the place of its values. Where that says too little, or something else has to be left out, it is a whole
// run of the line, so that it stands in the file; a mark at its ends says that something was left out there.
func quote(text string) string {
	if whole := strings.TrimSpace(sanitize.Mask(text)); quotable(whole) {
		return whole
	}
	part := withoutSecrets(text)
	runs := visibleRuns(strings.ReplaceAll(part.text, sanitize.Redacted, "\x00")) // a mark that the line has itself stands for nothing
	var best piece
	for i, run := range runs {
		if run = strings.TrimSpace(fromLetter(run)); len(run) > len(best.text) {
			best = piece{run, part.before && i == 0, part.after && i == len(runs)-1}
		}
	}
	if len(best.text) > maxQuote {
		best.text, best.after = strings.ToValidUTF8(best.text[:letterAt(best.text, maxQuote)], ""), false
	}
	if len(best.text) < minQuote {
		return ""
	}
	return best.marked()
}

// fromLetter is a text without the accents at its beginning: they belong to a letter that was left out, and evidence is compared letter by letter.
func fromLetter(s string) string {
	for s != "" && !norm.NFC.PropertiesString(s).BoundaryBefore() {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	return s
}

// letterAt is the last place up to n at which a letter begins, its accents included.
func letterAt(s string, n int) int {
	for n > 0 && (!utf8.RuneStart(s[n]) || !norm.NFC.PropertiesString(s[n:]).BoundaryBefore()) {
		n--
	}
	return n
}

// quotable reports whether a masked line may be shown as it is.
func quotable(line string) bool {
	words := strings.TrimSpace(strings.ReplaceAll(line, sanitize.Redacted, ""))
	return line != words && len(words) >= minQuote && len(line) <= maxQuote && strings.Join(visibleRuns(line), "") == line &&
		find(line) == nil && privateKeyIn(line) == nil && !slices.ContainsFunc(opaque.FindAllString(line, -1), sanitize.LettersAndDigits)
}

// around gives evidence for a line by the line itself or, when nothing of it can be shown, by its nearest neighbour of
// the same hunk side.
func (f *file) around(i int) string {
	for _, j := range []int{i, i - 1, i + 1, i - 2, i + 2} {
		if j < 0 || j >= len(f.lines) || abs(f.lines[j].New-f.lines[i].New) != abs(j-i) {
			continue
		}
		if q := f.quote(j); q != "" {
			return q
		}
	}
	return ""
}

// quote is quote of one of the file's lines, which may have many hits.
func (f *file) quote(i int) string {
	q, known := f.quoted[i]
	if !known {
		if f.quoted == nil {
			f.quoted = map[int]string{}
		}
		q = quote(f.lines[i].Text)
		f.quoted[i] = q
	}
	return q
}

func abs(n int) int { return max(n, -n) }
