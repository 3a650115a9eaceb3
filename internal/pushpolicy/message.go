package pushpolicy

import (
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/runnerlog"
)

// Bounds of a message.
const (
	subjectRunes = 72
	lineRunes    = 200
	bodyLines    = 20
)

// DefaultSubject stands where the agent gave none.
const DefaultSubject = "fix: address review findings"

// Trailer is one line at the end of a message, such as "prloop-round: 2". Trailers are prloop's own: the agent's are taken
// out of its text.
type Trailer struct{ Key, Value string }

// RunTrailer names the run that made a commit, RoundTrailer the round of a fix.
const (
	RunTrailer   = "prloop-run"
	RoundTrailer = "prloop-round"
)

var fixTrailers = lazyregexp.New(`\n\n` + RunTrailer + `: [^\n]+\n` + RoundTrailer + `: [0-9]+\n*$`)

// IsFix reports whether a message ends as those of fixes do. Whose commit it is, is for its author to tell.
func IsFix(message string) bool { return fixTrailers.MatchString(message) }

// Message makes a commit message from an agent's words (threats.md T37): the subject in at most
// 72 runes, the body, then prloop's trailers. Whatever a forge or a CI would act on is made plain text: issue references and
// with them closing keywords, marks in square brackets, trailers, mentions, links, autosquash subjects, control and invisible
// characters, breaking changes and version marks that make a release, reverts, releases and merges that are none, issue keys after closing words, one or several, or with a
// command or a state, slash commands; and what ends a quotation or begins a command in a script that a workflow writes the message into (threats.md T694), or orders
// something in its log; lines that end such a text, or set a variable there (threats.md T728). The same words give the same message, and the message's own subject and body give
// themselves again. Secrets are not looked for here: the caller hands in text that went through sanitize.
func Message(subject, body string, trailers ...Trailer) string {
	subject = Subject(subject)
	var b strings.Builder
	b.WriteString(subject + "\n")
	if body = plainBody(body); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	for i, t := range trailers {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(trailerKey(t.Key) + ": " + cut(plain(t.Value), lineRunes) + "\n")
	}
	return b.String()
}

// Subject is the first line of Message: the words up to the first line end, made plain, or DefaultSubject.
func Subject(s string) string {
	s, _, _ = strings.Cut(strings.TrimLeftFunc(s, unicode.IsSpace), "\n")
	s = plain(s)
	for autosquash.MatchString(s) {
		s = plain(strings.TrimSpace(autosquash.ReplaceAllString(s, "")))
	}
	if s = strings.TrimSpace(s); s == "" || !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return DefaultSubject
	}
	if trailer.MatchString(s) {
		s = strings.Replace(s, ":", " -", 1)
	}
	if bare.MatchString(s) {
		s = "Change: " + s
	}
	return cut(s, subjectRunes)
}

// plainBody makes the lines plain and takes out those that would be trailers, diffs or separators.
func plainBody(body string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body), "\n") {
		line = cut(plain(line), lineRunes)
		switch {
		case trailer.MatchString(line), separator.MatchString(line):
			continue
		case word.MatchString(line):
			line = strings.Replace(line, ":", " -", 1)
		case bare.MatchString(line):
			line = cut("- "+strings.TrimSpace(line), lineRunes)
		case line == "" && (len(lines) == 0 || lines[len(lines)-1] == ""):
			continue
		}
		if len(lines) == bodyLines {
			break
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// closing words are those by which forges close an issue, wherever it is; linking words are those by which trackers know one of theirs.
const (
	closing = `(?i)\b(?:clos|fix|resolv|complet|implement)[a-z]*[\s:]+`
	linking = `(?i)\b(?:(?:clos|fix|resolv|complet|finish|deliver|implement|relat|contribut|toward)[a-z]*|part of|ref(?:s|er[a-z]*)?)(?:\s+to)?`
)

var (
	autosquash = lazyregexp.New(`(?i)^(fixup|squash|amend)!\s*`)
	// trailer is a line git and GitHub read as one when its key has a hyphen (Co-authored-by, skip-checks); word is any
	// other, which may be a sentence.
	trailer   = lazyregexp.New(`^\s*[A-Za-z0-9]+(-[A-Za-z0-9]+)+\s*:`)
	word      = lazyregexp.New(`^\s*[A-Za-z0-9]+\s*:`)
	separator = lazyregexp.New(`^\s*(-{3,}|\+{3}|diff --git |Index: |From [0-9a-f]{40} )`)

	// bare is a line that is more than words where a workflow writes the message into a text that ends at a word, or into a file of variables:
	// EOF, NAME=value, NAME<<EOF (threats.md T728).
	bare = lazyregexp.New(`^\s*(\S*[\pL\pN_][^\s.]*\s*$|[.-]*[\pL\pN_][\pL\pN_.-]*\s*(=|<<))`)

	link      = lazyregexp.New(`(?i)(?:\b[a-z][a-z0-9+.-]*)?://\S*|\bwww\.\S+`)
	reference = lazyregexp.New(`[\pL\pN_]?#+[\pL\pN_]`)
	short     = lazyregexp.New(`(?i)\b(GH)-(\d)`)
	mention   = lazyregexp.New(`(^|[^\pL\pN_])@+([\pL\pN_])`)
	stars     = lazyregexp.New(`\*{3,}`)
	// breaking, override, semver, key and command are what release tools, trackers and bots read.
	breaking = lazyregexp.New(`(?i)(BREAKING)[ _-]+(CHANGES?)`)
	override = lazyregexp.New(`(?i)(BEGIN|END)_+((?:NESTED_)?COMMIT)`)
	bang     = lazyregexp.New(`^(\s*[\pL\pN_-]+(?:\([^()]*\))?)!+(\s*:)`)
	semver   = lazyregexp.New(`(?i)\+(semver)`)
	releases = lazyregexp.New(`(?i)\b(release)[ _-]+(as)\b(\s*:)`)
	closed   = lazyregexp.New(`^` + closing)
	closes   = lazyregexp.New(closing + `(?:[\pL\pN_./-]*#+[0-9]|[^\s\x60]*://[^\s\x60]*)`)
	// item is a work item of Azure Boards, which any word before it may move: `Validate AB#12`.
	item = lazyregexp.New(`(?i)\bAB#+[0-9]`)
	key  = lazyregexp.New(linking + `(?:(?:\]\([^()]*\))?[^\pL\pN]+(?:(?:and|or)[^\pL\pN]+)?[a-z][a-z0-9_]+[- ][0-9]+)+`)
	// reverts takes what was reverted out of the next release, released, chore and announced are what workflows pass over, and others begins the subjects that git and forges
	// make, which linters and changelogs leave out.
	reverts   = lazyregexp.New(`(?i)\b(reverts)\s+(commits?)\b`)
	released  = lazyregexp.New(`(?i)\b(chore|build|ci)\((releases?)\)`)
	chore     = lazyregexp.New(`(?i)\b((?:chore|build|ci)(?:\([^()]*\))?)\s*:\s*(releases?|bump)\b`)
	announced = lazyregexp.New(`(?i)(\bbump|^\s*release)\s*:`)
	others    = lazyregexp.New(`(?i)^(\s*(?:revert|merge)):?\s+([″′]|pull request\b|(?:remote-tracking )?branch(?:es)?\b)`)
	// order and state are how YouTrack and ClickUp are told what becomes of an issue: ^ABC-12 Fixed, CU-8669abc[closed].
	order = lazyregexp.New(`(^|[^\pL\pN_])\^+([\pL][\pL\pN_]*-[0-9])`)
	state = lazyregexp.New(`(?i)\b(CU-[a-z0-9]+|[a-z][a-z0-9_]*-[a-z0-9]*[0-9][a-z0-9]*)\[([^\[\]]*)\]`)
	// smart is a command that Jira reads behind a key, bump what github-tag-action makes a release of.
	smart     = lazyregexp.New(`(\b[A-Z][A-Z0-9_]+-[0-9]+\b.*?\s)#+(\pL)`)
	bump      = lazyregexp.New(`(?i)#+(major|minor|patch|none)\b`)
	keyNumber = lazyregexp.New(`-([0-9])`)
	command   = lazyregexp.New(`^(\s*(?:[>*+-]\s+)*)[/!]+([\pL\pN_+-])`)
	bors      = lazyregexp.New(`(?i)\b(bors|homu)([\s:,]+\S)`)
	// expansion and logOrder are what a shell replaces, and what a runner of workflows obeys in the output of a step.
	expansion = lazyregexp.New(`\$+([({])`)
	logOrder  = lazyregexp.New(`^(\s*):{2,}|#{2,}(` + runnerlog.Order + `)`)
	// brackets with such words are marks that CIs know in Markdown, which needs others. Messages have round ones alone (threats.md T765).
	brackets  = lazyregexp.New(`\[([^\[\]]*)\]`)
	switching = lazyregexp.New(`(?i)skip|\bno\b|\bci\b|\bnoci\b|actions|^\W*(?:release|deploy|publish|merge|force|run|build|test)\b|\bbuild\W*$`)
)

var round = strings.NewReplacer("[", "(", "]", ")")

// plain makes one line plain. What one rule takes out may leave something for another, so they run until none finds any;
// each takes a mark away, or parts two, so that this ends.
func plain(s string) string {
	s = strings.Map(primes, strings.Map(visible, strings.ToValidUTF8(s, "\ufffd")))
	for before := ""; before != s; {
		before = s
		s = link.ReplaceAllStringFunc(s, func(string) string { return "(link)" })
		s = short.ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, "-", " ", 1) })
		s = reference.ReplaceAllStringFunc(s, dropMarks("#", "no. "))
		s = mention.ReplaceAllStringFunc(s, dropMarks("@", ""))
		s = others.ReplaceAllString(s, "${1} of ${2}")
		s = command.ReplaceAllString(s, "${1}${2}")
		s = bors.ReplaceAllStringFunc(s, func(m string) string { return m[:1] + "·" + m[1:] })
		s = expansion.ReplaceAllString(s, "$$ ${1}")
		s = round.Replace(inert(s))
	}
	return strings.TrimRightFunc(s, unicode.IsSpace)
}

// PlainMarkdown makes plain in Markdown what acts in the message of a commit, in code as well, which a message does not know: the body of a pull request becomes the message
// where commits are squashed (threats.md T697), and trackers read it as it is written (threats.md T740). What Markdown needs itself, and sanitize.Comment makes inert, stays:
// quotation marks and back quotes, mentions, addresses and references that no closing word is before.
func PlainMarkdown(markdown string) string {
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		for before := ""; before != line; {
			before, line = line, inert(line)
		}
		if (bare.MatchString(line) || trailer.MatchString(line)) && !strings.HasPrefix(line, " ") {
			line = " " + line // in Markdown that is the same line, and begins no trailer
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// inert is one pass over a line, for messages and for Markdown: what forges, CIs, trackers, release tools and the logs of runners act on. A rule belongs here unless Markdown or
// code would lose its meaning by it.
func inert(s string) string {
	s = closes.ReplaceAllStringFunc(s, func(m string) string {
		if strings.Contains(m, "://") {
			return closed.FindString(m) + "(link)"
		}
		return reference.ReplaceAllStringFunc(m, dropMarks("#", "no. "))
	})
	s = item.ReplaceAllStringFunc(s, dropMarks("#", "no. "))
	s = key.ReplaceAllStringFunc(s, func(m string) string { return keyNumber.ReplaceAllString(m, " ${1}") })
	s = order.ReplaceAllString(s, "${1}${2}")
	s = state.ReplaceAllString(s, "${1} (${2})")
	s = smart.ReplaceAllString(s, "${1}${2}")
	s = bump.ReplaceAllString(s, "${1}")
	s = logOrder.ReplaceAllString(s, "${1}${2}")
	s = stars.ReplaceAllString(s, "*")
	s = bang.ReplaceAllString(s, "${1}${2}")
	s = breaking.ReplaceAllString(s, "${1}, ${2}")
	s = override.ReplaceAllString(s, "${1} ${2}")
	s = semver.ReplaceAllString(s, "${1}")
	s = releases.ReplaceAllString(s, "${1}, ${2}${3}")
	s = reverts.ReplaceAllString(s, "${1}, ${2}")
	s = released.ReplaceAllString(s, "${1}, ${2}")
	s = chore.ReplaceAllString(s, "${1}, ${2}")
	s = announced.ReplaceAllString(s, "${1} -")
	return brackets.ReplaceAllStringFunc(s, func(m string) string {
		if !switching.MatchString(m) {
			return m
		}
		return "(" + m[1:len(m)-1] + ")"
	})
}

// dropMarks takes marks out of a match and puts a word before a number in their place.
func dropMarks(mark, number string) func(string) string {
	return func(m string) string {
		rest := m[strings.LastIndex(m, mark)+len(mark):]
		before := m[:strings.Index(m, mark)]
		if number != "" && rest[0] >= '0' && rest[0] <= '9' {
			if before != "" {
				before += " "
			}
			return before + number + rest
		}
		return before + rest
	}
}

// primes turns quotation marks into primes, which end nothing in a script: PowerShell takes those of prose for its own (threats.md T694). No letter that looks like
// one will do: what stands behind it would be the end of a word.
func primes(r rune) rune {
	switch r {
	case '"', '“', '”', '„', '‟':
		return '″'
	case '\'', '`', '‘', '’', '‚', '‛':
		return '′'
	}
	return r
}

// visible drops what cannot be seen and turns every white space into a blank.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co), r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r == 0x034f,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return -1
	}
	return r
}

// cut keeps the first n runes, the last of them an ellipsis when something was left out.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRightFunc(string(r[:n-1]), unicode.IsSpace) + "…"
}

// trailerKey keeps what may stand in a key.
func trailerKey(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, key)
}
