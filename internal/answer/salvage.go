package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/values"
	"github.com/prloop/prloop/review"
)

// Next stands between the answers to one question that are handed on as one text. Each takes them apart.
const Next = "\n=== the next answer ===\n"

// Each are the answers in a text.
func Each(text []byte) [][]byte { return bytes.SplitN(text, []byte(Next), mostHanded) }

// mostHanded is more than prloop's own agents hand on.
const mostHanded = 20

// SalvageReviewer keeps the findings of a broken reviewer answer that are valid one by one. The envelope may
// be cut off, have faults elsewhere or stand in other text. What is left of the answer without them is read loosely: where it may
// hold a P0 or P1, one finding "that could not be read" stands for all of it (decision 34). It never makes an answer complete:
// what comes back can only add findings to a verdict.
func SalvageReviewer(data []byte) ([]review.Finding, schema.Notes) { return salvage(data, ofReviewer) }

// SalvageCommand is SalvageReviewer for the findings of a command.
func SalvageCommand(data []byte) ([]review.Finding, schema.Notes) { return salvage(data, ofCommand) }

// SalvageComments is SalvageReviewer for the comments analyzer's pendingIssues.
func SalvageComments(data []byte) ([]review.Finding, schema.Notes) { return salvage(data, ofComments) }

// listing is the list of findings that answers of one kind have: its key, and what its entries are.
type listing struct {
	key   string
	entry reflect.Type
}

var (
	ofReviewer = listing{"findings", reflect.TypeFor[review.Finding]()}
	ofCommand  = listing{"findings", reflect.TypeFor[review.CommandFinding]()}
	ofComments = listing{"pendingIssues", reflect.TypeFor[review.Finding]()}
)

func (l listing) decode(object []byte) (review.Finding, schema.Notes, error) {
	if l == ofCommand {
		return decodeCommandFinding(object)
	}
	return DecodeFinding(object)
}

// Corrected adds to the findings of a corrected reviewer answer the P0 and P1 findings of the one it corrects that it has none like:
// asking for another form is no second look that makes them go away (decision 32). What could not be read there, and does not
// plainly deny them, leaves one that stands for it, whatever else is listed (threats.md T899). None of them is counted, nor do they count
// against what an answer may hold.
func Corrected(refused []byte, findings []review.Finding) ([]review.Finding, schema.Notes) {
	return corrected(refused, ofReviewer, findings)
}

// CorrectedCommand is Corrected for the findings of a command.
func CorrectedCommand(refused []byte, findings []review.Finding) ([]review.Finding, schema.Notes) {
	return corrected(refused, ofCommand, findings)
}

// CorrectedComments is Corrected for the comments analyzer's pendingIssues.
func CorrectedComments(refused []byte, pending []review.Finding) ([]review.Finding, schema.Notes) {
	return corrected(refused, ofComments, pending)
}

func corrected(refused []byte, list listing, findings []review.Finding) ([]review.Finding, schema.Notes) {
	var notes schema.Notes
	kept, _ := salvage(refused, list)
	for _, f := range unsaid(severe(kept), findings) {
		if !Unreadable(f) {
			f.Unconfirmed = "was in an earlier answer of the same reviewer, and not in its last one"
			findings = append(findings, f)
			notes.Add("%s %s", schema.Quote(f.Title), f.Unconfirmed)
		}
	}
	doubt := slices.ContainsFunc(kept, Unreadable) && doubtful(refused, list, findings)
	if !doubt {
		rest, unlisted := leftOf(refused, list, nil)
		doubt = unlisted && speaks(rest)
	}
	if doubt && !slices.ContainsFunc(findings, Unreadable) {
		const why = "an earlier answer of the same reviewer may hold one, and its last one does not"
		findings = append(findings, unreadable(why))
		notes.Add("%s", why)
	}
	distinctIDs(findings, &notes)
	return findings, notes
}

// unsaid are the findings of an answer for which none of another answer to the same question stands. Each stands for one (threats.md T900): by
// title and line of a file, else by title in it, else by a line of it that both name, in akin words, else by title where one names no file; and only
// where it is as grave. Ids are places in a list, which the next answer gives to others.
func unsaid(findings, others []review.Finding) []review.Finding {
	title := func(a, b review.Finding) bool { return a.Title == b.Title }
	file := func(a, b review.Finding) bool { return a.File == b.File }
	line := func(a, b review.Finding) bool {
		return a.File != "" && file(a, b) && a.Line != nil && b.Line != nil && *a.Line == *b.Line
	}
	left, free := slices.Clone(findings), slices.Clone(others)
	for _, like := range []func(a, b review.Finding) bool{
		func(a, b review.Finding) bool { return title(a, b) && line(a, b) },
		func(a, b review.Finding) bool { return title(a, b) && file(a, b) },
		func(a, b review.Finding) bool { return line(a, b) && identity.Akin(a, b) },
		func(a, b review.Finding) bool { return title(a, b) && (a.File == "" || b.File == "") },
	} {
		left = slices.DeleteFunc(left, func(f review.Finding) bool {
			i := slices.IndexFunc(free, func(o review.Finding) bool { return o.Priority.Rank() <= f.Priority.Rank() && like(f, o) })
			if i >= 0 {
				free = slices.Delete(free, i, i+1)
			}
			return i >= 0
		})
	}
	return left
}

// doubtful reports whether what could not be read of a refused answer may hold a P0 or P1 that none of findings stands for: outside the
// entries of its list, or in one of them.
func doubtful(refused []byte, list listing, findings []review.Finding) bool {
	if len(refused) > 2*maxLoose { // more than is read loosely
		return true
	}
	open, at, ok := entries(refused, list)
	listed := review.Count(findings)
	if listed.P3 += len(at); askedOfClaims(refused) {
		listed.P0 = math.MaxInt32 // it meets every claim
	}
	rest, unlisted := leftOf(refused, list, at)
	return !ok || loosely(rest, listed, true, unlisted) != "" || len(unsaid(open, findings)) > 0
}

// leftOf is an answer without its report and what stands at these places; unlisted says that it is one and has no list of findings.
func leftOf(refused []byte, list listing, at []span) (rest []byte, unlisted bool) {
	rest = []byte(report.ReplaceAllString(string(without(refused, at)), ""))
	return rest, afterKey(refused, list.key) == nil && answers.MatchString(string(rest))
}

// askedOfClaims reports whether an answer was refused for what it claims: it was asked about that, and the next answer says what is so.
func askedOfClaims(refused []byte) bool {
	claim := (*ClaimError)(nil)
	from := max(0, bytes.IndexByte(refused, '{'))
	_, _, err := DecodeModel(refused[from:max(from, bytes.LastIndexByte(refused, '}')+1)])
	return errors.As(err, &claim)
}

// entries are those of a refused answer's list of findings that do not say plainly that they are P2 or P3, whatever their keys. at is where
// entries stand, between their braces. ok is false where one cannot be taken apart, and where they are too many, or too much to be read.
func entries(answer []byte, list listing) (open []review.Finding, at []span, ok bool) {
	for rest := afterKey(answer, list.key); rest != nil; rest = afterKey(rest, list.key) {
		for {
			if rest = bytes.TrimLeft(rest, " \t\r\n,"); len(rest) == 0 || rest[0] == ']' {
				break
			}
			object, next := nextObject(rest)
			brace := 1
			if object == nil && rest[0] == '{' { // cut off
				object, brace = rest, 0
			}
			var none any
			if dec := json.NewDecoder(bytes.NewReader(rest)); object == nil && rest[0] != '[' && dec.Decode(&none) == nil && !says(none) {
				rest = rest[dec.InputOffset():]
				continue
			}
			if object == nil || len(at) == schema.MaxFindings || values.MoreThan(schema.MaxValues, object) {
				return nil, nil, false
			}
			f, plain, ok := entry(object, list)
			if !ok {
				return nil, nil, false
			}
			if !plain {
				open = append(open, f)
			}
			end := len(answer) - len(next)
			at, rest = append(at, span{end - len(object) + 1, end - brace}), next
		}
	}
	return open, at, true
}

// entry reads an entry of a list as far as it is JSON: as a P0 or P1 where it names one, else as a P3, for which each finding may stand. plain
// says that it is P2 or P3, in a word of any scale or by its score, or says nothing. ok is false where it cannot be taken apart.
func entry(object []byte, list listing) (f review.Finding, plain, ok bool) {
	rated, lesser, least, empty, graver := false, true, false, true, false
	f.Priority = review.P3
	whole, ok := fields(object, func(name string, value any) {
		text := strings.TrimSpace(fmt.Sprint(value))
		number, _ := strconv.Atoi(text)
		raw, _ := json.Marshal(value)
		graver = graver || list.graver(map[string]json.RawMessage{name: raw}) != ""
		empty = empty && !says(value)
		switch name {
		case "file":
			f.File = text
			if clean, ok := cleanPath(text); ok {
				f.File = clean
			}
		case "title":
			f.Title = text
		case "line":
			f.Line = &number
		case "score":
			least = number >= 1 && !review.PriorityOfScore(number).Severe()
		case "priority", "severity", "level":
			text = denied.ReplaceAllString(strings.ReplaceAll(strings.ToLower(text), "-", " "), "")
			rated, lesser = true, lesser && lesserRating.MatchString(text)
			if highest.MatchString(text) {
				f.Priority = review.P0
			}
		case "id", "category", "suggestion", "evidence":
		default:
			f.Description += text + "\n"
		}
	})
	if f.Priority != review.P0 && (graver || calls(legible(object), undenied(plainly(object))) != "") {
		f.Priority = review.P1
	}
	return f, whole && !f.Priority.Severe() && (empty || rated && lesser || !rated && least), ok
}

// fields hands on the fields of an object, as far as it is JSON, and those of a command's location; whole says that it is, up to its end or that of
// the answer. ok is false where it holds another object, or may hold one behind a fault.
func fields(object []byte, each func(name string, value any)) (whole, ok bool) {
	object = bytes.Map(func(r rune) rune { return max(r, ' ') }, object) // a line break within a text hides nothing
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // the brace that it begins with
	for whole, ok = true, true; ; {
		var raw json.RawMessage
		key, err := dec.Token()
		if key == json.Delim('}') {
			return whole, ok
		} else if err == nil {
			err = dec.Decode(&raw)
		}
		if err != nil {
			return whole && ended(err), ok && bytes.IndexByte(object[dec.InputOffset():], '{') < 0
		}
		var value any
		_ = json.Unmarshal(raw, &value) // it is one
		switch name := strings.ToLower(key.(string)); {
		case name == "location" && raw[0] == '{':
			_, inner := fields(raw, each)
			ok = ok && inner
		case name == "source" || name == "cause" || value == nil:
		case raw[0] != '"' && bytes.IndexByte(raw, '{') >= 0:
			ok = false
		default:
			each(name, value)
		}
	}
}

const lesserWord = `(p[234]|[234]|medium|moderate|important|low|minor|suggestion|info|informational|note|nit|trivial|optional|style|warning)`

var (
	// lesserRating is a rating of the words for P2 and P3 of all scales, and none but those that say what they are; highest are the words for P0.
	lesserRating = lazyregexp.New(`^[\s\pP\pS]*((priority|severity|level|risk|impact)[\s\pP\pS]+)?` + lesserWord + `([\s\pP\pS]+(` + lesserWord + `|priority|severity|level|risk|impact|issue|finding|to|or|and))*[\s\pP\pS]*$`)
	highest      = lazyregexp.New(`\bp[\s_-]?0\b|\bblock|^0$`)
	// answers is a line that begins as an answer: with an object, a list, or the key of the findings.
	answers = lazyregexp.New(`(?mi)^\W*(findings|pending[ _-]?issues)\b|^\s*[{\[]`)
	// report is the free text of an answer, which may be cut off.
	report = lazyregexp.New(`(?i)"fullreport"\s*:\s*"(?:[^"\\]|\\.)*("|\\?$)`)
)

func severe(findings []review.Finding) []review.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f review.Finding) bool { return !f.Priority.Severe() })
}

// Salvaged joins what was kept of several answers of one agent, the newest last: the findings of the one that has most of them, and each
// P0 and P1 of the others, and place of what could not be read, that none of those stands for.
func Salvaged(answers ...[]review.Finding) (best []review.Finding) {
	for _, kept := range answers {
		if len(kept) >= len(best) {
			best = kept
		}
	}
	best = slices.Clone(best)
	for _, kept := range answers {
		best = append(best, unsaid(severe(kept), best)...)
	}
	distinctIDs(best, &schema.Notes{})
	return best
}

// salvage reads the entries of a list one by one.
func salvage(data []byte, list listing) ([]review.Finding, schema.Notes) {
	if bytes.IndexByte(data, 0) >= 0 {
		data = bytes.ReplaceAll(data, []byte{0}, nil) // what of UTF-16 can be read
	}
	whole := data
	if len(data) > schema.MaxBytes {
		data = data[:schema.MaxBytes]
	}
	var kept []review.Finding
	var at []span // where those stand
	var notes schema.Notes
	refused := 0
	for rest := afterKey(data, list.key); rest != nil; rest = afterKey(rest, list.key) {
		for len(kept)+refused < schema.MaxFindings {
			var object []byte
			object, rest = nextObject(rest)
			if object == nil {
				break
			}
			f, n, err := list.decode(object)
			if err != nil {
				refused++
				notes.Add("finding %d was not kept: %v", len(kept)+refused, err)
				continue
			}
			end := len(data) - len(rest)
			// A small one that calls itself a P0 all the same is looked at once more, as what is left.
			fields := map[string]json.RawMessage{}
			_ = json.Unmarshal(object, &fields) // it is valid
			if kept = append(kept, f); f.Priority.Severe() || !named(legible(object)) && list.graver(fields) == "" {
				at = append(at, span{end - len(object), end})
			}
			for _, note := range n {
				notes.Add("finding %d: %s", len(kept)+refused, note)
			}
		}
		if len(kept)+refused >= schema.MaxFindings {
			break
		}
	}
	if why := unread(whole, list, kept, at); why != "" {
		notes.Add("a part of the answer could not be read: %s", why)
		kept = append(kept, unreadable(why))
	}
	distinctIDs(kept, &notes)
	return kept, notes
}

// unreadable stands for what an answer may have said and nobody could read. It is not counted, and a person has to look.
func unreadable(why string) review.Finding {
	return review.Finding{
		ID: unreadableID, Priority: review.P0, Category: unreadableID, Title: "A finding that could not be read",
		Description: "The reviewer's answer may hold a P0 or P1 that prloop could not read: " + why + ".", Unconfirmed: "could not be read",
	}
}

const unreadableID = "unreadable"

// Unreadable reports whether a finding stands for a part of an answer that could not be read.
func Unreadable(f review.Finding) bool { return f.Category == unreadableID && f.Unconfirmed != "" }

// afterKey returns what follows the next `"key": [`, or nil. A key quoted inside a JSON string has escaped quotes and is
// not taken for one.
func afterKey(data []byte, key string) []byte {
	quoted := []byte(`"` + key + `"`)
	for {
		i := bytes.Index(data, quoted)
		if i < 0 {
			return nil
		}
		data = data[i+len(quoted):]
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(":")); ok {
			if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("[")); ok {
				return rest
			}
		}
	}
}

// nextObject cuts the next complete {...} of an array off data; nil when the array ends, or something else or half an
// object follows.
func nextObject(data []byte) (object, rest []byte) {
	start := bytes.TrimLeft(data, " \t\r\n,")
	if len(start) == 0 || start[0] != '{' {
		return nil, start
	}
	depth, quoted := 0, false
	for i := 0; i < len(start); i++ {
		switch c := start[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return start[:i+1], start[i+1:]
			}
		}
	}
	return nil, nil
}
