package sanitize

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// guard stands before a line of code that other bots could take for an order, and after the at sign of a bot's name. Bots
// read the source of a comment, where a fence protects nothing; white space does not help either, since many trim it. A
// visible character that no code begins with keeps the line readable and tells that it was added.
const guard = "·"

var (
	// lead is what may stand before an order and is trimmed by those who look for one: white space, the marks of quotes,
	// lists, headings and table rows, and the boxes of task lists.
	lead = lazyregexp.New(`^(?:[ \t]+|>|\||[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|\[[ xX]\][ \t])*`)

	// order is what other bots obey when a line begins with it (threats.md T06): slash commands (Prow, GitLab, Azure
	// Pipelines, ...), exclamation marks, and the words of those that need neither. Words are here because the bot's own
	// documentation names them: bors and homu; rustbot; GHPRB for Jenkins; Zuul; cms-bot; ansibot; Atlantis, Digger and
	// Terrateam; branch-deploy; pre-commit.ci; Apache Beam; Elastic and Buildkite; Bugbot; CLA assistant lite.
	order = lazyregexp.New(`(?i)^(?:[/\x{2044}\x{2215}\x{29f8}][\pL\pN_+.?-]\S*|[!\x{1c3}]+[\pL\pN_]\S*` +
		`|(?:bors|homu|atlantis|terrateam|pre-commit\.ci)(?:[:,][ \t]*|[ \t]+)\S+|r[+?=]\S*` +
		`|jenkins,?[ \t]+\w+(?:[ \t]+\w+)?|(?:re)?test this(?: please)?\b|retest\b|build this please|ok to test|please[ \t]+test\b` +
		`|add to (?:whitelist|allowlist)|recheck(?:cla)?\b|reverify\b|check[ \t]+experimental\b` +
		`|lgtm\b|shipit\b|rebuild_merge\b|digger[ \t]+(?:plan|apply|run|lock|unlock|destroy)\b` +
		`|\.(?:deploy|noop|lock|unlock|restart|wcid)\b|run[ \t][^\n]{0,60}(?:pre|post)commit\b|run[ \t]+\S+-ci\b\S*` +
		`|buildkite,?[ \t]+\w+|cursor[ \t]+review\b|bugbot[ \t]+run\b|I have read the CLA\b)`)

	// mentionStart is a mention at the start of a line, also of somebody who is no bot.
	mentionStart = lazyregexp.New(`^@[0-9A-Za-z]`)

	// botName is a mention of a bot. Some look for their name anywhere in the source, so it is broken everywhere.
	botName = lazyregexp.New(`(?i)@((?:all-?contributors|ansibot|bors|claude|coderabbitai|codex|codiumai-pr-agent|copilot|craterbot|cursor|` +
		`cursoragent|dependabot|devin|devin-ai-integration|elasticmachine|ellipsis-dev|gemini|gemini-cli|github-actions|googlebot|greptile|` +
		`greptileai|homu|jenkins|jules|k8s-bot|k8s-ci-robot|meeseeksdev|mergify|mergifyio|nodejs-github-bot|openhands|openhands-agent|` +
		`openshift-bot|openshift-ci|openshift-ci-robot|prow|pytorchbot|pytorchmergebot|qodo-merge|renovate|renovate-bot|renovatebot|` +
		`rust-timer|rustbot|snyk-bot|sourcery-ai|sweep-ai|swift-ci)\b)`)
)

// maxOrder is how many bytes of a line are looked at for an order in other characters; those of bots are short.
const maxOrder = 256

// orderEnd returns the length of the order that s begins with, 0 when it begins with none. Compatibility forms of
// characters count as what they stand for.
func orderEnd(s string) int {
	if m := order.FindString(s); m != "" {
		return len(m)
	}
	head := s[:min(len(s), maxOrder)]
	if plain(head) {
		return 0
	}
	folded := norm.NFKC.String(head)
	if folded = folded[len(lead.FindString(folded)):]; !order.MatchString(folded) && !mentionStart.MatchString(folded) {
		return 0
	}
	if end := strings.IndexAny(s, " \t\n"); end > 0 {
		return end
	}
	return len(s)
}

// orderAt returns where in a raw line something begins that another bot may obey: an order, or a mention. It is -1 when
// nothing does.
func orderAt(line string) int {
	at := len(lead.FindString(line))
	if rest := line[at:]; orderEnd(rest) > 0 || mentionStart.MatchString(rest) {
		return at
	}
	return -1
}

// guarded is a line of code that no bot obeys.
func guarded(line string) string {
	if at := orderAt(line); at >= 0 {
		return line[:at] + guard + line[at:]
	}
	return line
}

// breakBots breaks the names of bots wherever they are mentioned.
func breakBots(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return botName.ReplaceAllString(s, "@"+guard+"$1")
}
