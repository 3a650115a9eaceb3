// Package trigger reads what a comment on a pull request asks of prloop: commands such as `!docs-drift "last 48 hours"`, the words of
// `!prloop`, and mentions of the bot. It says what is asked; who may ask is decided elsewhere. A comment is Markdown, so it is read
// with a Markdown parser: only plain lines of a comment ask for something, and nothing in quotes, code, comments or words does.
package trigger

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// The words of `!prloop` and of a mention of the bot.
const (
	Review = "review"
	Fix    = "fix"
	Stop   = "stop"
	Status = "status"
	Help   = "help"
)

// Unsure is a sentence that may ask for a stop, or say something about one: whoever wrote it is asked, and nothing begins.
const Unsure = "unsure"

// Words are all that people say.
var Words = []string{Review, Fix, Stop, Status, Help}

// Name is the word for prloop itself: `!prloop WORD`. No command can have it as its id.
const Name = "prloop"

// Most is how many lines of one comment are answered.
const Most = 3

// Bounds of what is read, in bytes. A longer comment, or a line with longer arguments, asks for nothing: anybody can write a comment whose Markdown
// costs the square of its length to read.
const (
	longestComment = 16 << 10
	longestArgs    = 4 << 10
)

// Ask is what one line of a comment asks for.
type Ask struct {
	// Word is one of Words; empty when a command of the repository is meant.
	Word string
	// ID is the command's id. Whether there is such a command is for the repository to say.
	ID string
	// Args is the text behind the command, as it was written, and Argv its words: split at white space, quotes keep words together.
	Args string
	Argv []string

	// Sentence is true where a mention in a sentence asks for Word.
	Sentence bool

	// prose is the word that a mention in what may be a sentence means when ID is no command: Review or Unsure.
	prose string
}

// id is the shape of a command's id.
var id = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// Parse reads what the lines of a comment ask for, in their order. bot is the login that is mentioned, without "@"; empty for none.
// Which ids are known is not asked yet: see Choose.
func Parse(comment, bot string) []Ask {
	if len(comment) > longestComment {
		return nil
	}
	var asks []Ask
	all := lines(comment)
	from, talks := 0, false // of the block that is read
	for i, l := range all {
		if i > 0 && all[i-1].block != l.block {
			from, talks = len(asks), false
		}
		if i+1 < len(all) {
			l.next = all[i+1].text
		}
		a, ok := l.ask(strings.TrimSuffix(strings.TrimPrefix(bot, "@"), "[bot]"))
		if talks = talks || a.prose != "" || !ok && !says(l.text); talks {
			for j := range asks[from:] {
				asks[from+j] = asks[from+j].beside()
			}
			a = a.beside()
		}
		if ok && (!l.heading || a.Word == Stop || a.Word == Unsure) {
			asks = append(asks, a)
		}
	}
	return asks
}

// beside is what is asked for in a paragraph that says something else too: "fix" may be a word of its sentence (threats.md T692).
func (a Ask) beside() Ask {
	if a.Word == Fix {
		a.Word = Help
	}
	return a
}

// Choose leaves what is answered: words of prloop and commands that are known, each once, Most of them. Of a comment that asks for a stop, no sentence asks for a review,
// and nothing before the stop for a run.
func Choose(asks []Ask, known []string) (chosen []Ask) {
	stop := -1
	for i, a := range asks {
		if a.Word == Stop {
			stop = i
		}
	}
	for i, a := range asks {
		switch {
		case stop >= 0 && a.prose != "" && !slices.Contains(known, a.ID), i < stop && a.Word != Status && a.Word != Help:
			continue
		case a.Word != "", slices.Contains(known, a.ID):
			a.Sentence, a.prose = a.prose != "" && a.Word != "", ""
		case a.prose != "":
			a = Ask{Word: a.prose, Sentence: true}
		default:
			continue
		}
		same := func(b Ask) bool { return a.Word == b.Word && a.ID == b.ID && a.Args == b.Args }
		if len(chosen) < Most && !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

// ask reads one line.
func (l line) ask(bot string) (Ask, bool) {
	first, rest := cutWord(l.text)
	if name, ok := strings.CutPrefix(first, "!"); ok && bare(name) != Name && l.plain(0, len(first)) {
		return command(name, rest)
	}
	if begin := l.marks(); strings.HasPrefix(l.text[begin:], "!") {
		if first, rest = cutWord(l.text[begin:]); bare(first) == Name && l.plain(begin, begin+len("!"+Name)) {
			return word(l.text[:begin] + rest)
		}
	}
	if bot == "" {
		return Ask{}, false
	}
	at, end := l.mention(bot)
	if at < 0 {
		return Ask{}, false
	}
	before, after := l.text[:at], l.text[end:]
	below := asksOnly(before) && bare(after) == "" // the sentence stands in the next line
	switch {
	case questions(before) && stops(after) && !slices.ContainsFunc(slices.Concat(parts(before), parts(after)[1:]), plain):
		return Ask{Word: Unsure, prose: Unsure}, true
	case commands(after), below && commands(l.next):
		return Ask{Word: Stop}, true
	case stops(after), asksOnly(before) && stops(before), l.tells(at, end), below && stops(l.next):
		if requests(before) || requests(after) || below && requests(l.next) {
			return Ask{Word: Unsure, prose: Unsure}, true
		}
		return Ask{Word: Stop}, true
	case at > 0:
		return sentence(before + "," + after)
	}
	rest = strings.TrimLeftFunc(after, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == ',' })
	if rest == "" {
		return sentence(l.next)
	}
	name, args := cutWord(rest)
	if bare(name) == Fix && !fixes(rest) {
		return sentence(rest)
	}
	if slices.Contains(Words, bare(name)) {
		return word(rest)
	}
	a, ok := command(name, args)
	said, asks := sentence(rest)
	if !ok {
		return said, asks
	}
	// "@bot nosuch" and "@bot nosuch --all" name a command that is not there; "@bot please look again" is a sentence.
	if said.Word == Unsure || slices.Contains(refusing, bare(name)) || len(a.Argv) > 0 && !slices.ContainsFunc(a.Argv, func(s string) bool { return strings.HasPrefix(s, "-") }) {
		a.prose = said.prose
	}
	return a, true
}

// marks is where the line begins behind emphasis and emoji. Any other sign may be that of a quote or a list (threats.md T852).
func (l line) marks() int {
	return len(l.text) - len(strings.TrimLeftFunc(pictures.ReplaceAllStringFunc(l.text, func(m string) string { return strings.Repeat(" ", len(m)) }), func(r rune) bool {
		return strings.ContainsRune("*_", r) || unicode.IsSpace(r)
	}))
}

// pictures are the emoji before what a line says, with what joins and tones them. Signs of text, which may be those of a quote, are none.
var pictures = lazyregexp.New(`^(?:[ \t*_]|[` + emoji + `][\x{FE0F}\x{200D}\x{1F3FB}-\x{1F3FF}]*)+`)

// emoji are the signs that are shown as pictures (Unicode's Emoji, without digits and signs of ASCII).
const emoji = `\x{A9}\x{AE}\x{203C}\x{2049}\x{2122}\x{2139}\x{2194}-\x{2199}\x{21A9}\x{21AA}\x{231A}\x{231B}\x{2328}\x{23CF}\x{23E9}-\x{23F3}\x{23F8}-\x{23FA}\x{2600}-\x{2604}\x{260E}\x{2611}\x{2614}\x{2615}\x{2618}\x{261D}\x{2620}` +
	`\x{2622}\x{2623}\x{2626}\x{262A}\x{262E}\x{262F}\x{2638}-\x{263A}\x{2640}\x{2642}\x{2648}-\x{2653}\x{265F}\x{2660}\x{2663}\x{2665}\x{2666}\x{2668}\x{267B}\x{267E}\x{267F}\x{2692}-\x{2697}\x{2699}\x{269B}\x{269C}\x{26A0}\x{26A1}\x{26A7}` +
	`\x{26AA}\x{26AB}\x{26B0}\x{26B1}\x{26BD}\x{26BE}\x{26C4}\x{26C5}\x{26C8}\x{26CE}\x{26CF}\x{26D1}\x{26D3}\x{26D4}\x{26E9}\x{26EA}\x{26F0}-\x{26F5}\x{26F7}-\x{26FA}\x{26FD}\x{2702}\x{2705}\x{2708}-\x{270D}\x{270F}\x{2712}\x{2714}` +
	`\x{2716}\x{271D}\x{2721}\x{2728}\x{2733}\x{2734}\x{2744}\x{2747}\x{274C}\x{274E}\x{2753}-\x{2755}\x{2757}\x{2763}\x{2764}\x{2795}-\x{2797}\x{27A1}\x{27B0}\x{27BF}\x{2934}\x{2935}\x{2B05}-\x{2B07}\x{2B1B}\x{2B1C}\x{2B50}\x{2B55}` +
	`\x{1F1E6}-\x{1F1FF}\x{1F300}-\x{1F64F}\x{1F680}-\x{1F6FF}\x{1F7E0}-\x{1F7EB}\x{1F900}-\x{1F9FF}\x{1FA70}-\x{1FAFF}`

// sentence is a mention in what is no command and no plain stop.
func sentence(text string) (Ask, bool) {
	switch {
	case unsure(text), refuses(text):
		return Ask{Word: Unsure, prose: Unsure}, true
	case needless.MatchString(text):
		return Ask{}, false
	}
	return Ask{Word: Review, prose: Review}, true
}

// word is one of prloop's own words, behind what is polite. What stands behind it is not read, but for a fix, which pushes: "fix looks wrong" asks for none (threats.md T692).
// Whoever says anything else gets help.
func word(rest string) (Ask, bool) {
	name := wanted(rest)
	switch {
	case slices.Contains(stopping, name):
		name = Stop
	case !slices.Contains(Words, name), name == Fix && !fixes(rest):
		name = Help
	}
	return Ask{Word: name}, true
}

// bare is a word as people mean it, in whatever case they write it and whatever stands at its ends.
func bare(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }))
}

// The words by which people ask for a stop, and those that may stand before or around them.
var (
	stopping = []string{Stop, "cancel", "abort"}
	polite   = strings.Fields("please pls hey hi ok okay thanks sorry just now and so can could would will you someone somebody it this that")
)

// wanted is the first word of a text that is not polite, and what it asks for, if it asks for anything.
func wanted(text string) string {
	for w := range strings.FieldsSeq(text) {
		if w = bare(w); w != "" && !slices.Contains(polite, w) {
			return w
		}
	}
	return ""
}

// stops reports whether a stop is the first thing that a text asks for.
func stops(text string) bool { return slices.Contains(stopping, wanted(text)) }

// parts are what stands between the marks of a text.
func parts(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".,;:!?", r) }), func(part string) bool { return bare(part) == "" })
}

// question is a sentence that asks something.
var question = lazyregexp.New(`[^.!?]+\?`)

// tells reports whether a part of the line, up to one of its marks, asks for nothing but a stop, or for one of what the mention behind it does. A sentence that asks
// something is about something else.
func (l line) tells(at, end int) bool {
	said := question.ReplaceAllStringFunc(l.text, func(asked string) string { return strings.Repeat("x", len(asked)-1) + "?" })
	before := parts(said[:at])
	return len(before) > 0 && stops(before[len(before)-1]) || slices.ContainsFunc(slices.Concat(before, parts(said[end:])), plain)
}

// plain reports whether a text asks for a stop and says nothing else.
func plain(text string) bool { return asksOnly(text) && stops(text) }

// questions reports whether a text before a mention makes what follows a question about what is mentioned: "why did @bot stop". "Can @bot stop?" is a polite stop.
func questions(before string) bool {
	asked := before[strings.LastIndexAny(before, ".,;:!?")+1:]
	words := strings.Fields(asked)
	return wanted(asked) != "" && slices.Contains(auxiliary, bare(words[len(words)-1]))
}

// commands reports whether the first part of a text is a plain stop: what stands behind it is not read.
func commands(text string) bool {
	all := parts(text)
	return len(all) > 0 && plain(all[0])
}

// The words by which people ask for what is no stop, the first also without a please.
var (
	requesting = []string{Review, Fix}
	looking    = slices.Concat(requesting, []string{"look", "check"})
	beginning  = slices.Concat(looking, []string{"take", "have"}) // "please take another look", and not "please let Mona review it"
	asking     = lazyregexp.New(`(?i)\b(?:please|pls|plz)\b`)
	auxiliary  = strings.Fields("did didn't didn’t does doesn't doesn’t should shouldn't shouldn’t would will can could")
)

// requests reports whether a part of a text that says nothing of a stop asks for a review or fixes: beside a stop nobody can tell which is meant.
func requests(text string) bool {
	return slices.ContainsFunc(parts(text), func(part string) bool {
		among := func(list []string) bool {
			return slices.ContainsFunc(strings.Fields(part), func(w string) bool { return slices.Contains(list, bare(w)) })
		}
		return !among(stopping) && !declines(part) && (slices.Contains(requesting, wanted(part)) || asking.MatchString(part) && among(looking))
	})
}

// unsure reports whether a text that asks nothing has a stop as a word of its own.
func unsure(text string) bool {
	return !strings.Contains(text, "?") && slices.ContainsFunc(strings.Fields(strings.ReplaceAll(text, "/", " ")), func(w string) bool { return slices.Contains(stopping, bare(w)) })
}

// asksOnly reports whether a text is short of everything but asking for a stop: what stands before a mention is mostly about something else.
func asksOnly(text string) bool { return says(text, stopping...) }

// says reports whether a text has no words but these and polite ones.
func says(text string, words ...string) bool {
	for w := range strings.FieldsSeq(text) {
		if w = bare(w); w != "" && !slices.Contains(polite, w) && !slices.Contains(words, w) {
			return false
		}
	}
	return true
}

// fixes reports whether a text asks for a fix and says nothing else, by a sign or a word that is struck out neither.
func fixes(text string) bool {
	return says(text, Fix) && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '`' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsPunct(r) && !unicode.IsSpace(r)
	})
}

// How people say no: that no review is needed, or that something shall not be done or go on, which may mean the run in hand, also by the first word of a part of a text.
var (
	needless = lazyregexp.New(`(?i)\b(?:no need|no thanks|not needed|needn['’]?t)\b`)
	no       = lazyregexp.New(`(?i)\b(?:don['’]?t|do not|never ?mind|not now|not yet|skip (?:this|it|that))\b`)
	puzzled  = lazyregexp.New(`(?i)\b(?:I|we) (?:don['’]?t|do not) (?:understand|know|see|get)\b`)
	mild     = strings.Fields("no wait hold enough")
	refusing = slices.Concat(mild, strings.Fields("nope halt pause quit kill"))
	doing    = lazyregexp.New(`(?i)\b(?:review|fix|push|commit|chang|edit)`) // what a refusal is about, whatever else is asked for
)

// refuses reports whether a text says that something shall not be done or go on. A mild no ("wait, …", "no longer a draft") is none
// before a part that asks for a review. Behind one it may take that back, but for "no hurry".
func refuses(text string) bool {
	text = needless.ReplaceAllString(text, "")
	all := parts(text)
	asked := func(parts []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return requests(part) && slices.Contains(beginning, wanted(part)) })
	}
	if asked(all) {
		text = puzzled.ReplaceAllString(text, "")
	}
	for i, part := range all {
		first := wanted(part)
		alone := first != "no" || says(part, slices.Concat(refusing, []string{"more"})...)
		if slices.Contains(refusing, first) && (!slices.Contains(mild, first) || doing.MatchString(part) || !asked(all[i:]) && (alone || !asked(all))) {
			return true
		}
	}
	return no.MatchString(text)
}

// declines reports whether a text says no: a review costs money, and one that is wanted is asked for in a word.
func declines(text string) bool { return needless.MatchString(text) || no.MatchString(text) }

func command(name, args string) (Ask, bool) {
	if name == Name || !id.MatchString(name) || len(args) > longestArgs {
		return Ask{}, false
	}
	return Ask{ID: name, Args: args, Argv: Split(args)}, true
}

// cutWord is the first word of a text and what follows, without the white space around it.
func cutWord(s string) (first, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}
