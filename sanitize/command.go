package sanitize

import (
	"strings"
	"unicode/utf8"

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
	order = lazyregexp.New(orderExpr)

	// botName is a mention of a bot that no exception leaves whole.
	botName = lazyregexp.New(botNameExpr)
)

// The expressions of order and botName.
const (
	orderExpr = `(?i)^(?:[/\x{2044}\x{2215}\x{29f8}][\pL\pN_+.?-]\S*|[!\x{1c3}]+[\pL\pN_]\S*` +
		`|(?:bors|homu|atlantis|terrateam|pre-commit\.ci)(?:[:,][ \t]*|[ \t]+)\S+|r[+?=]\S*` +
		`|jenkins[^\w\n]+\w+(?:[ \t]+\w+)?|(?:re)?test[^\w\n]+this(?:[^\w\n]+please)?\b|retest\b|build[^\w\n]+this[^\w\n]+please|ok[^\w\n]+to[^\w\n]+test|please[^\w\n]+test\b` +
		`|add[^\w\n]+to[^\w\n]+(?:whitelist|allowlist)|recheck(?:cla)?\b|reverify\b|check[^\w\n]+experimental\b` +
		`|lgtm\b|shipit\b|rebuild_merge\b|digger[^\w\n]+(?:plan|apply|run|lock|unlock|destroy)\b` +
		`|\.(?:deploy|noop|lock|unlock|restart|wcid)\b|run[ \t][^\n]{0,60}(?:pre|post)commit\b|run[^\w\n]+\S+-ci\b\S*` +
		`|buildkite[^\w\n]+\w+|(?:cursor|augment)[^\w\n]+review\b|bugbot[^\w\n]+run\b|I[^\w\n]+have[^\w\n]+read[^\w\n]+the[^\w\n]+(?:CLA|DCO)\b` +
		`|(?:bot_(?:status|skip|broken)|close_me|ready_for_review|resolved_by_pr|needs_(?:info|rebase|revision|contributor))\b)`
	botNameExpr = `^(?i)@(?:all-?contributors|ansibot|bors|claude|coderabbitai|codex|codiumai-pr-agent|copilot|craterbot|cursor|` +
		`cursoragent|dependabot|devin|devin-ai-integration|elasticmachine|ellipsis-dev|gemini|gemini-cli|github-actions|googlebot|greptile|` +
		`greptileai|homu|jenkins|jules|k8s-bot|k8s-ci-robot|meeseeksdev|mergify|mergifyio|nodejs-github-bot|openhands|openhands-agent|` +
		`openshift-bot|openshift-ci|openshift-ci-robot|prow|pytorchbot|pytorchmergebot|qodo-merge|renovate|renovate-bot|renovatebot|` +
		`rust-timer|rustbot|snyk-bot|sourcery-ai|sweep-ai|swift-ci)\b`
)

// maxOrder is how many bytes of a line are looked at for an order in other characters; those of bots are short.
const maxOrder = 256

// orderEnd returns the length of the order that s begins with, 0 when it begins with none. Compatibility forms of
// characters count as what they stand for.
func orderEnd(s string) int {
	if mayBeOrder(s) {
		if m := order.FindString(s); m != "" {
			return len(m)
		}
	}
	head := s[:min(len(s), maxOrder)]
	if plain(head) {
		return 0
	}
	folded := norm.NFKC.String(head)
	if folded = folded[len(lead.FindString(folded)):]; !order.MatchString(folded) && !mentionStart(folded) {
		return 0
	}
	if end := strings.IndexAny(s, " \t\n"); end > 0 {
		return end
	}
	return len(s)
}

// orderHeads are the characters of ASCII that an order may begin with.
const orderHeads = "!./ABCDHIJLNOPRSTabcdhijlnoprst"

// mayBeOrder is a quick refusal for lines that order cannot match: trying its words at each line takes longest.
func mayBeOrder(s string) bool {
	return len(s) > 1 && (s[0] >= utf8.RuneSelf || strings.IndexByte(orderHeads, s[0]) >= 0)
}

// mentionStart reports whether s begins with a mention, also of somebody who is no bot.
func mentionStart(s string) bool { return len(s) > 1 && s[0] == '@' && alnum(s[1]) }

// orderAt returns where in a raw line something begins that another bot may obey: an order, or a mention. It is -1 when
// nothing does.
func orderAt(line string) int {
	at := leadEnd(line)
	if rest := line[at:]; orderEnd(rest) > 0 || mentionStart(rest) {
		return at
	}
	return -1
}

// leadEnd is the length of what lead matches, which is nothing on most lines.
func leadEnd(line string) int {
	if line == "" || strings.IndexByte(" \t>|-*+0123456789#[", line[0]) < 0 {
		return 0
	}
	return len(lead.FindString(line))
}

// guarded is a line of code that no bot obeys.
func guarded(line string) string {
	if at := orderAt(line); at >= 0 {
		return line[:at] + guard + line[at:]
	}
	return line
}
