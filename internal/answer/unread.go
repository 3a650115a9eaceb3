package answer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// MayBlock reports whether text, read loosely, may say that something is a P0 or P1.
func MayBlock(text []byte) bool { return unread(text, ofReviewer, nil, nil) != "" }

// unread says why what is left of a broken answer, without the findings that were kept at these places, may hold a P0 or P1; empty when it
// plainly does not (decision 34).
func unread(answer []byte, list listing, kept []review.Finding, at []span) string {
	spans, count := minors(answer, list, at)
	listed := review.Count(kept)
	listed.P3 += count
	return loosely(without(answer, slices.Concat(at, spans)), listed, false, true)
}

// loosely says why what is left of an answer may hold a P0 or P1. It does not parse: whatever the shape, a word of severity, a name of a field for
// it, a field that only findings have, a list that is not empty, or a claim that what is listed does not meet is enough. What is plainly denied
// counts for nothing in an answer that was corrected; lists count where they may be that of the findings.
func loosely(left []byte, listed review.Counts, corrected, mayList bool) string {
	if n := len(left) - bytes.Count(left, []byte{0}); n > 2*maxLoose { // looking for colours and escapes takes it several times over
		return tooLong(n)
	}
	text := legible(left)
	if len(text) > maxLoose {
		return tooLong(len(text))
	}
	lower := strings.ToLower(text)
	if !strings.Contains(lower, `[`) && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) }) {
		return "" // expressions are slow, and floods long
	}
	if why := overclaim(claims(lower), listed); why != "" {
		return why
	}
	lower = askers.ReplaceAllString(nothing.ReplaceAllString(lower, "$3"), "")
	mayHold := lower // lists of findings
	if corrected {
		lower = undenied(lower)
		mayHold = otherLists.ReplaceAllString(lower, "")
	}
	why := calls(text, lower)
	switch {
	case why != "":
		return why
	case graveLines(lower):
		return "a line of it calls something a P0 or P1"
	case !corrected && joinedWord.MatchString(lower):
		return "it names " + schema.Quote(joinedWord.FindString(lower))
	case findingField.MatchString(lower):
		return "it has a finding's field outside a valid finding"
	case mayList && (someList.MatchString(mayHold) || lists(mayHold, findingsKey)), corrected && lists(mayHold, quotedKey):
		return "it has a list whose entries are no valid findings"
	}
	return ""
}

// calls says what calls something a P0 or P1 in text: a word for it, in the numbers of priorities and scores too, or the name of a field. lower is
// text in lower case, without what is denied where that counts for nothing.
func calls(text, lower string) string {
	switch {
	case severeWord.MatchString(lower):
		return "it names " + schema.Quote(strings.Trim(severeWord.FindString(lower), ":=\"'` \t\r\n"))
	case graveObject.MatchString(lower) || graveScore.MatchString(lower):
		return "it rates something as a P0 or P1"
	case named(text):
		return "it has a field for P0 or P1"
	}
	return ""
}

// named reports whether a field in text, in any shape, says by its name that it holds a P0 or P1, and is not plainly empty. The counts of an answer
// are claims, and a number beside one of the lesser words may be that of a version.
func named(text string) bool {
	left := maxValues
	for _, m := range fieldName.FindAllStringSubmatchIndex(text, -1) {
		name := text[max(m[2], m[4], m[6]):max(m[3], m[5], m[7])]
		if !graveNamed(name) || slices.Contains(schema.FieldNames(reflect.TypeFor[review.Counts]()), strings.ToLower(name)) {
			continue
		}
		value, _ := valueIn(text[m[1]:], &left)
		if _, number := value.(float64); left < 0 || says(value) && !(number && lesserName.MatchString(name)) {
			return true
		}
	}
	return false
}

// speaks reports whether an answer without a list of findings does not plainly say nothing: it has a list under no key, or a field that no answer has.
func speaks(answer []byte) bool {
	text := toolCall.ReplaceAllString(plainly(answer), "")
	if bareList.MatchString(otherLists.ReplaceAllString(text, "")) {
		return true
	}
	for left := maxValues; ; {
		m := fieldName.FindStringSubmatchIndex(text)
		if m == nil {
			return false
		}
		name, quoted := "", m[2] >= 0
		if quoted {
			name = text[m[2]:m[3]]
		}
		if text = text[m[1]:]; !quoted {
			continue
		}
		value, size := valueIn(text, &left)
		text = text[size:]
		counts, whole := value.(map[string]any)
		maps.DeleteFunc(counts, func(_ string, v any) bool { _, number := v.(float64); return number && name == "issues" })
		known := name == "issues" && !whole && strings.HasPrefix(text, "{") || // its fields come next
			slices.ContainsFunc(ofAnswers, func(f string) bool { return strings.EqualFold(f, name) })
		if left < 0 || !known && says(value) {
			return true
		}
	}
}

// valueIn is the value that a text begins with, and how long it is as JSON: else it is the first line within it. What is read for it is taken from left, as
// values that are cut off may stand in each other.
func valueIn(text string, left *int) (value any, size int) {
	from := strings.NewReader(text)
	dec := json.NewDecoder(from)
	err := dec.Decode(&value)
	*left -= len(text) - from.Len()
	if size = int(dec.InputOffset()); err == nil && valueEnd.MatchString(text[size:]) {
		return value, size
	}
	if pythonNone.MatchString(text) {
		return nil, 0
	}
	line, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n,[{"), "\n")
	return line, 0
}

// ofAnswers are the fields of answers that list findings, but for those that may hold them and the counts of them.
var ofAnswers = slices.DeleteFunc(slices.Concat(schema.FieldNames(reflect.TypeFor[review.ReviewerResult]()), schema.FieldNames(reflect.TypeFor[review.CommandResult]()), schema.FieldNames(reflect.TypeFor[review.CommentsResult]()),
	schema.FieldNames(reflect.TypeFor[review.Counts]()), schema.FieldNames(reflect.TypeFor[review.EarlierVerdict]())), func(name string) bool { return slices.Contains([]string{"findings", "pendingIssues", "issues"}, name) })

// maxValues is how much of a text is read for the values of its fields, in bytes.
const maxValues = 2 * maxLoose

// without copies a text but for spans of it that do not overlap: what is left of a flood is little, and the flood is not held twice.
func without(text []byte, spans []span) []byte {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	size := len(text)
	for _, s := range spans {
		size -= s.end - s.start
	}
	left, from := make([]byte, 0, size), 0
	for _, s := range spans {
		left, from = append(left, text[from:s.start]...), s.end
	}
	return append(left, text[from:]...)
}

func tooLong(n int) string { return fmt.Sprintf("%d bytes of it are no valid findings", n) }

// plainly is text in lower case as it is looked through.
func plainly(text []byte) string { return strings.ToLower(legible(text)) }

// legible is text without NUL bytes and the colours of terminals, its escapes undone.
func legible(text []byte) string {
	s := string(bytes.ReplaceAll(text, []byte{0}, nil))
	if strings.Contains(s, `\u00`) {
		s = escape.ReplaceAllStringFunc(s, func(e string) string {
			n, _ := strconv.ParseUint(e[len(e)-2:], 16, 8) // two hexadecimal digits
			return string(rune(n))
		})
	}
	if strings.Contains(s, "\x1b") {
		s = colour.ReplaceAllString(s, "")
	}
	return s
}

// maxLoose is how much is read loosely, in bytes.
const maxLoose = 2 << 20

// words are those of which one stands in every text that the expressions below find something in; but for lists.
var words = []string{
	"p0", "p1", "p 0", "p 1", "p-0", "p-1", "p_0", "p_1", "critical", "blocker", "severe", "high", "major", "urgent", "blocking", "changes",
	"block", "level", "score", "priority", "severity", "title", "description", "suggestion", "evidence", "category", "findings", "pending",
}

var (
	escape = lazyregexp.New(`\\+u00[0-9a-fA-F]{2}`)
	colour = lazyregexp.New(`\x1b\[[0-9;:]*m`)
	// nothing is a count of P0 or P1 that is zero.
	nothing = lazyregexp.New(`\bp[01](_[a-z]+)?["'\\]*\s*[:=]\s*["'\\]*(0|\[\s*\])["'\\]*\s*([,}\]\n]|$)`)
	// otherLists are those of an answer that hold no findings.
	otherLists = lazyregexp.New(`["'](earlier|notes|wishes)["']\s*:\s*\[[^\]]*(\]|$)`)
	// askers is the list of people who ask for changes: GitHub's data says who they are.
	askers = lazyregexp.New(`"changesrequestedby"\s*:\s*\[[^\]]*(\]|$)`)
	// severeWord are the words for P0 and P1 of all scales (review.Levels) and their common synonyms; those that mean other things in
	// running text count as a value or beside a word for a finding.
	severeWord = lazyregexp.New(`\bp[\s_-]?[01]s?\b|\bcriticals?\b|\bblockers?\b|\bsevere\b` +
		`|[:=][\s"'\\\x60*]*(high|highest|major|urgent|blocking)\b|["'](high|highest|major|urgent|blocking)\\*["']\s*([,}\]]|$)` +
		`|\b(high|highest|major|urgent|blocking)[\s"'*_-]*(severity|priority|risk|impact|issue|finding|problem|bug|vulnerabilit)`)
	// joinedWord is one of them that begins a longer name.
	joinedWord = lazyregexp.New(`\b(critical|blockers?|severe)_[a-z]`)
	// findingField is a name that findings have and envelopes do not, as a key of an object or of a YAML list.
	findingField = lazyregexp.New(`(?m)([{,]|^\s*-)[\s"'\\\x60]*\b(priority|severity|title|description|suggestion|evidence|category)\b["'\\\x60]*\s*[:=]`)
	// fieldName is the name of a field: a key in quotes, or at the beginning of a line one of joined words, or of one word over a list; lesserName says less by a number, and
	// pythonNone is a value of Python that says nothing, or an empty one.
	fieldName  = lazyregexp.New(`(?m)["'\x60]([A-Za-z][\w .-]*)\\*["'\x60]\s*:\s*|^[\s>*-]*([A-Za-z]+_\w+|[a-z0-9]+[A-Z]\w*)\s*:\s*|^([A-Za-z]+):\s*\n\s*-\s+`)
	lesserName = lazyregexp.New(`(?i)^(highest|high|major|urgent)$`)
	pythonNone = lazyregexp.New(`^((?i:None|False)\s*[,}\n]|[\s,\[{]*([}\]]|$))`)
	// valueEnd is what may follow a value of JSON.
	valueEnd = lazyregexp.New(`^[ \t\r]*([,}\]\n\\]|$)`)
	// someList is a list under any quoted key that is not empty.
	someList = lazyregexp.New(`["'\x60]\s*[:=]\s*\[[\s,\[]*[^\s,\[\]]`)
	// toolCall is a call of one of prloop's tools that a model wrote as text: it asks, and says nothing.
	toolCall = lazyregexp.New(`\{\s*"(?:name|tool|tool_name|function)"\s*:\s*"(?:read_file|search_code|list|get_function_context|git_log|run_linter|web_fetch|web_search)"[^{}]*(?:\{[^{}]*\}[^{}]*)?\}`)
	// bareList is a list that a line begins with.
	bareList = lazyregexp.New(`(?m)^\s*\[[\s,\[]*["'{]`)
	// findingsKey is the key of the findings, however it is written, and the heading over them; quotedKey is one in quotes.
	findingsKey = lazyregexp.New(`(?m)\b(findings|pending[ _-]?issues)\b["'\x60\\]*\s*[:=]|^[^\w\n]*(findings|pending issues)[^\w\n]*$`)
	quotedKey   = lazyregexp.New(`["'](findings|pending[ _-]?issues)\\*["']\s*[:=]`)
	claim       = lazyregexp.New(`\bp([01])_[a-z]+["'\\]*\s*[:=]\s*["'\\]*([^\s"'\\,}]+)`)
	// graveObject is an object that says of itself that it is a P0 or P1; in numbers too, as 0 and 1 are those of the priorities.
	graveObject = lazyregexp.New(`["'](priority|severity|level)["']\s*:\s*(["'](p0|p1|blocking|blocker|critical|high)["']|[01]\s*[,}])`)
	// graveScore is a score that is a P0's or a P1's.
	graveScore = lazyregexp.New(`["']score["']\s*:\s*["']?([7-9]|10)\b`)
	// graveField is a field that says so, and graveTag such a word in brackets, in bold or as code; graveHead is one at the beginning
	// of a line, and what follows it.
	graveField = lazyregexp.New(`^(overall )?(priority|severity|level)[\s*_\x60"']*[:=|\x{2013}\x{2014}-][\s*_\x60"']*(p0|p1|blocking|blocker|critical|severe|high)\b`)
	graveTag   = lazyregexp.New(`(\*\*|__|\x60|[\[(])\s*(p[01]|critical|blocker|blocking|severe)\s*(\*\*|__|\x60|[\])])`)
	graveHead  = lazyregexp.New(`^(p[01]|critical|blocker|blocking|severe)((\s+[a-z]+)?\s+(issue|finding|problem|bug|vulnerability|flaw))?([\s*_\x60]*[\])])?[\s*_\x60]*(\([^)]*\)[\s*_\x60]*)?[:|)\]\x{2013}\x{2014}-](.*)$`)
	// graveOpening begins an entry of a list with such a word and what is the matter; graveEnd ends one with it; graveHeading is a heading
	// over P0 or P1; graveTitle begins the title of a finding.
	graveOpening = lazyregexp.New(`^p[01]\s+([a-z]+)`)
	graveEnd     = lazyregexp.New(`(.*\S)\s+[:\x{2013}\x{2014}-]+\s*[*_\x60]*(p[01]|critical|blocker|blocking|severe)[\s*_\x60.]*$`)
	graveHeading = lazyregexp.New(`^(p[01]|critical|blockers?|blocking|severe)(\s*[/,&:(\x{2013}\x{2014}-]?\s*(p[01]|critical|blockers?|blocking|severe)\)?)?((\s+(security|safety|correctness))?\s+(issues?|findings?|problems?|bugs?|vulnerabilit(y|ies)))?(\s*\((?:[^0)][^)]*)?\))?[\s*_\x60:]*$`)
	graveTitle   = lazyregexp.New(`^[^\w\x60]*(p[01]|critical|blocker|blocking|severe)[*_\s]*([\])}]|:[*_]*(\s|$))`)
	// notOne are words behind P0 or P1 that make it none in particular.
	notOne = []string{"and", "or", "issue", "issues", "finding", "findings", "problem", "problems", "bug", "bugs", "are", "is", "was", "were", "means", "none", "count", "level", "to", "through",
		"not", "there", "nothing", "found", "candidates", "check", "checks", "checked", "pass", "passes", "review", "reviewed", "criteria"}
	// lineMarks are what stands before the words of a line: marks of lists, headings and quotes, signs and numbers.
	lineMarks = lazyregexp.New(`^(\[[ x]?\]|[0-9]+[.)]\s|[^\pL\pN\n])*`)
	// listMarks are those of a list or a heading.
	listMarks = lazyregexp.New(`^[\s>]*([-*+#|\x{2022}]|[0-9]+[.)]\s)`)
	// none is a count, a list or a word of P0 or P1 that is none, and says no more; denial is prose that denies them.
	none = lazyregexp.New(`(?m)["'\x60*]*\b(?:p[01]|critical|blockers?|severe|high|highest|major|urgent|blocking)(?:_?[a-z]+)?["'\x60*\\)]*\s*[:=]["'\x60\\*\s]*(?:0|null|none|false|\[\s*\]|\{\s*\}|["']["'])` +
		`(?:[ \t]+(?:issues?|findings?|problems?|found|identified|detected|reported))*["'\x60\\* \t]*([,;|)}\]\r]|\.(?:[\s"\\]|$)|$)`)
	denial = lazyregexp.New(`\b(no|zero|without|nor)\s+((any|new|known|other|more|further|such|remaining|additional|obvious|apparent|clear|real|actual|open|outstanding|serious|single|potential|possible|` +
		`security|severity|p[0-3]|critical|severe|high|major|urgent|blocking|or|and|of|the)[\s/-]+){0,3}(p[01]|critical|blockers?|severe|high|major|urgent|blocking)\b`)
	// joint is where two words of a name in capitals and small letters meet; denied are words of a name that are no severity;
	// graveName are words of a name for P0 and P1; nobody is a text that says none.
	joint     = lazyregexp.New(`([a-z0-9])([A-Z])`)
	denied    = lazyregexp.New(`\b(non|not|no|un) ?(critical|blocking|blockers?|severe)\b`)
	graveName = lazyregexp.New(`\bp ?[01]s?\b|\bcriticals?\b|\bblock(ers?|ing)\b|\bsevere\b|^(highest|high|major|urgent)$|` +
		`\b(highest|high|major|urgent) (severity|priority|risk|impact|issue|finding|problem|bug|vulnerabilit)`)
	nobody = lazyregexp.New(`^\W*((no|none|not|nothing|null|nil|zero|false|0|n/a)(\s+(p[01]|critical|blocking|severe|any|issues?|findings?|problems?|blockers?|found|present|identified|detected|reported|noted|to report|was|were))*(\s+(in|by|of|with)( (the|this|that|these))? (diff|change|changes|code|patch|pr|pull request|file|files|review))?)?\W*$`)
	// nothingSaid begins what denies. denies are words before a severity that say that there is none; severityCell is what heads the column or the row of a severity.
	nothingSaid = lazyregexp.New(`^(no|none|nothing|not|nil|zero|without|n/a)\b|^non[- ]?(critical|blocking)\b|^there (is|are|was|were) (none|nothing)\b` +
		`|^(i|we) (found|saw|see|have) (none|nothing)\b|^(i|we) (did not|didn.t|could not|couldn.t|do not|don.t) (find|see|spot|notice)\b` +
		`|^((i|we) )?(have )?(checked|verified|reviewed|examined|inspected|looked|searched)(\W*$|:| (for|at|that|whether|all|the|each|every)\b)` +
		`|^(all|everything|it all|looks)( is| are| looks?)? (good|fine|ok|okay|well|clear|clean)\W*$`)
	denies       = lazyregexp.New(`\b(no|nor|not|zero|without)\b`)
	severityCell = lazyregexp.New(`^(p[0-3]|blocking|blocker|critical|priority|severity|level|high|medium|low|important|suggestions?|counts?|total|-+|[0-9]+|#)$`)
	// conclusions are the two that claim findings.
	majorWork = lazyregexp.New(`\bneeds[ _-]major[ _-]work\b`)
	changes   = lazyregexp.New(`\brequest[ _-]?changes\b`)
)

// lists reports whether the findings' key has a value that is not plainly empty.
func lists(text string, key *lazyregexp.Regexp) bool {
	for left := maxValues; ; {
		at := key.FindStringIndex(text)
		if at == nil {
			return false
		}
		text = strings.TrimLeft(text[at[1]:], " \t\r\n*#>_-")
		if value, _ := valueIn(text, &left); left < 0 || says(value) {
			return true
		}
	}
}

// stray says which unknown field of a valid answer, or of a finding in it that is not severe itself, may hold a P0 or P1.
func stray(data []byte, shape reflect.Type, notes *schema.Notes) string {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(data, &fields) // the answer is valid
	counts := map[string]json.RawMessage{}
	_ = json.Unmarshal(fields["issues"], &counts)
	if why := unknown(counts, reflect.TypeFor[review.Counts]()); why != "" {
		return why
	}
	list := ofReviewer
	switch shape {
	case reflect.TypeFor[review.CommandResult]():
		list = ofCommand
	case reflect.TypeFor[review.CommentsResult]():
		list = ofComments
	}
	var all []map[string]json.RawMessage
	_ = json.Unmarshal(fields[list.key], &all)
	for i, f := range all {
		p := review.Priority(strings.Trim(string(f["priority"]), `"`))
		if list == ofCommand {
			p, _ = review.PriorityOfSeverity(strings.Trim(string(f["severity"]), `"`))
		}
		if p.Severe() {
			continue
		}
		if list != ofCommand { // severity and confidence are its own fields
			rated(f, ratesFinding, fmt.Sprintf("%s/%d", list.key, i), notes)
		}
		if why := list.graver(f); why != "" {
			return why
		}
	}
	if list != ofCommand {
		rated(fields, ratesChange, "", notes)
	}
	return unknown(fields, shape)
}

// graver says what in fields of an entry that is listed as P2 or P3 calls it a P0 or P1 all the same.
func (l listing) graver(fields map[string]json.RawMessage) string {
	var title string
	_ = json.Unmarshal(fields["title"], &title)
	if l != ofComments && graveTitle.MatchString(undenied(strings.ToLower(title))) { // in pendingIssues people word it, and rules say how grave it is
		return "the title of a finding that is listed as less calls it a P0 or P1"
	}
	source := map[string]json.RawMessage{}
	_ = json.Unmarshal(fields["source"], &source)
	if l != ofCommand {
		fields = maps.Clone(fields)
		rated(fields, ratesFinding, "", &schema.Notes{})
	}
	return cmp.Or(unknown(fields, l.entry), unknown(source, reflect.TypeFor[review.Source]()))
}

// unknown says which field that is not of the shape may hold a P0 or P1.
func unknown(fields map[string]json.RawMessage, shape reflect.Type) string {
	fields = maps.Clone(fields)
	for _, name := range schema.FieldNames(shape) {
		delete(fields, name)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(fields[name]) > maxLoose {
			return "the unknown field " + schema.Quote(name) + " is too long to be read"
		}
		text := strings.ToLower(fmt.Sprintf("{%q:%s}", name, fields[name]))
		var value any
		_ = json.Unmarshal(fields[name], &value)
		if graveObject.MatchString(text) || severeWord.MatchString(undenied(text)) || grave(name, value) {
			return "the unknown field " + schema.Quote(name) + " may hold a P0 or P1"
		}
	}
	return ""
}

// grave reports whether a field says by its name that it holds a P0 or P1, however the words of the name are joined, and is not
// plainly empty.
func grave(name string, value any) bool {
	if graveNamed(name) && says(value) {
		return true
	}
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return grave("", e) })
	case map[string]any:
		for key, e := range v {
			if grave(key, e) {
				return true
			}
		}
	}
	return false
}

// graveNamed reports whether a name has a word for P0 or P1.
func graveNamed(name string) bool {
	words := joint.ReplaceAllString(name, "$1 $2")
	return graveName.MatchString(denied.ReplaceAllString(strings.ToLower(joiners.Replace(words)), ""))
}

// joiners are what joins the words of a name.
var joiners = strings.NewReplacer("_", " ", "-", " ", ".", " ")

// says reports whether a JSON value holds anything but zeros, empty values and words for none.
func says(value any) bool {
	switch v := value.(type) {
	case string:
		return !nobody.MatchString(strings.ToLower(v))
	case []any:
		return slices.ContainsFunc(v, says)
	case map[string]any:
		for _, e := range v {
			if says(e) {
				return true
			}
		}
		return false
	}
	return value != nil && value != false && value != 0.0
}

// Doubt adds the finding that stands for what an answer may have said and does not list.
func Doubt(findings []review.Finding, why string) []review.Finding {
	all := append(slices.Clone(findings), unreadable(why))
	distinctIDs(all, &schema.Notes{})
	return all
}
