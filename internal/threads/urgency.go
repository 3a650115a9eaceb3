package threads

import (
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// signs are what may stand around a priority: Markdown, HTML that only shows it otherwise, and emoji of alarm.
const signs = "(?:[\\[(*_\\s#!`🔴🟠🟡🔥🚨⚠🛑⛔❗❌\ufe0f-]|:(?:rotating_light|red_circle|warning|fire|no_entry|no_entry_sign|octagonal_sign|x|exclamation|bangbang):|</?(?:b|strong|em|i|code|h[1-6]|p)>)*"

var (
	// stated is an explicit priority in the first words, behind whom it is said to and signs of alarm: "P1:", "[P0]", "**P1** -", "@mona P1: ...", "- `P1` ...",
	// "__P1__", "🔴 P1", "Still P1:", "**Priority:** P1". What is struck out, in quotation marks, or ticked off is not stated.
	stated = lazyregexp.New("(?i)^(?:@[a-z0-9/._-]+[,:]?\\s+)*" + signs + "(?:still\\s+(?:an?\\s+)?" + signs + "|(?:priority|prio|severity)[*_\\s]*[:=–-]" + signs + ")?P([0-3])_*\\b")
	// over is said of what was a priority and is none any more, where nothing but thanks follows: "P1 is fixed, thanks."
	over = lazyregexp.New("(?i)^[*_`\\])]*\\s+(?:is|was|has been)\\s+(?:now\\s+)?(?:fixed|resolved|gone|done|addressed)\\b")
	// label is a leading word as in Conventional Comments, with its decorations: "issue (blocking, security): ...".
	label = lazyregexp.New(`(?i)^[\[(*_\s]*([a-z]+)[*_\s]*(?:\(([^)\n]{0,80})\))?[\])*_\s]*:`)
	// minor are leading words that people use without a colon too.
	minor = lazyregexp.New(`(?i)^[\[(*_\s]*(nit|nits|nitpick|typo|optional|minor)\b`)
	// asks is a sentence that wants to know something. "Can you", "could we" and "shouldn't this" are requests in the
	// shape of a question and do not match.
	asks = lazyregexp.New(`(?i)^(why|what|how|when|where|who|which|is|are|was|were|does|do|did|has|have)\b[^.!?]*\?+$`)

	fenced   = lazyregexp.New("(?s)(```|~~~).*?(```|~~~|$)")
	comments = lazyregexp.New(`(?s)<!--.*?(-->|$)`)
	sentence = lazyregexp.New(`[^.!?]+[.!?]*`)
)

// light are the labels that ask for nothing that must be done.
var light = map[string]bool{
	"nit": true, "nits": true, "nitpick": true, "typo": true, "minor": true, "optional": true, "suggestion": true,
	"praise": true, "thought": true, "note": true, "fyi": true, "question": true, "style": true, "polish": true,
}

// urgency reads a priority out of a first comment; trusted people may raise it above P2.
func urgency(body string, trusted bool) review.Priority {
	text := prose(body)
	if m := stated.FindStringSubmatch(text); m != nil && !isOver(text[len(m[0]):]) {
		return floor(review.Priority("P"+m[1]), trusted)
	}
	if m := label.FindStringSubmatch(text); m != nil {
		for d := range strings.SplitSeq(strings.ToLower(m[2]), ",") {
			switch strings.TrimSpace(d) {
			case "blocking":
				return floor(review.P1, trusted)
			case "non-blocking", "if-minor":
				return review.P3
			}
		}
		if light[strings.ToLower(m[1])] {
			return review.P3
		}
	}
	if minor.MatchString(text) || onlyAsks(text) {
		return review.P3
	}
	return review.P2
}

// isOver reports whether what stands behind a priority says that it is none any more, and nothing else but thanks: of another place it may still be true.
func isOver(said string) bool {
	is := over.FindString(said)
	return is != "" && conversation.OnlyThanks("done "+said[len(is):])
}

// Severe reports whether somebody says in the first words of a comment that something is P0 or P1, and may block by what GitHub says of them.
func Severe(body, association string) bool {
	return urgency(body, review.MayBlock(association)).Severe()
}

// floor keeps what outsiders say at P2 or below.
func floor(p review.Priority, trusted bool) review.Priority {
	if !trusted && p.Rank() < review.P2.Rank() {
		return review.P2
	}
	return p
}

// onlyAsks reports whether every sentence wants to know something and nothing else is said.
func onlyAsks(text string) bool {
	found := sentence.FindAllString(strings.Join(strings.Fields(text), " "), -1)
	for _, s := range found {
		if !asks.MatchString(strings.TrimSpace(s)) {
			return false
		}
	}
	return len(found) > 0
}

// prose is the text without code blocks, HTML comments and quoted lines.
func prose(body string) string {
	body = comments.ReplaceAllString(fenced.ReplaceAllString(body, "\n"), "")
	var keep []string
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, ">") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "\n")
}

// headline is the first line of prose, on one line and short.
func headline(body string) string {
	first, _, _ := strings.Cut(prose(body), "\n")
	return clip(strings.Join(strings.Fields(first), " "), titleLimit)
}
