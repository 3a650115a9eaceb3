package sanitize

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Some bots look for their orders anywhere in the source of a comment (threats.md T06), so a fence or a code span hides nothing from
// them: for a mention of their name, for OpenCode's /oc, for the phrases of GHPRB, which are regular expressions, and for the words that
// approve, object, merge or hold back.

// breakAnywhere breaks what bots look for anywhere: mentions, whoever they name, and orders. In code copied from a posted text the guard
// has to be taken out again; names that code is full of are left whole (codeNames, pinned).
func breakAnywhere(s string) string { return breakAll(s, false) }

// breakAll is breakAnywhere; with links it leaves words that hold an address as they are, for they may become links.
func breakAll(s string, links bool) string {
	var b strings.Builder
	done := 0
	address := false // the word so far holds a scheme
	for i := range len(s) {
		at := 0
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\v', '\f', '\r', '<', '>', '"', '`', '|', '\\':
			address = false
		case ':':
			address = address || strings.HasPrefix(s[i:], "://")
			at = approvalAt(s, i)
		case '=':
			at = approvalAt(s, i)
		case '@':
			at = mentionAt(s, i)
		case '/':
			if foldedPrefix(s[i+1:], "oc") || foldedPrefix(s[i+1:], "opencode") {
				at = i + 1
			}
		case 't', 'T', 'a', 'A', 'o', 'O':
			at = phraseAt(s, i)
		}
		if at == 0 || at < done || links && address && strings.IndexFunc(s[i:at], func(r rune) bool { return r < utf8.RuneSelf && wordEnd(byte(r)) }) < 0 {
			continue
		}
		b.WriteString(s[done:at] + guard)
		done = at
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// mentionAt gives where the mention at i is to be broken, 0 when there is none.
func mentionAt(s string, i int) int {
	rest := s[i+1:]
	switch {
	case rest == "":
		return 0
	case rest[0] >= utf8.RuneSelf: // a letter that folds to one of a bot's name
		if !botName.MatchString(s[i:min(i+maxOrder, len(s))]) {
			return 0
		}
	case !alnum(rest[0]) || whole(s[:i], rest):
		return 0
	}
	return i + 1
}

// whole reports whether the name after an at sign is left as it is. No bot is called by one of those.
func whole(before, rest string) bool {
	n := 0
	for n < len(rest) && n < maxOrder && partOf(rest[n], "_-") {
		n++
	}
	name, after := rest[:n], rest[n:]
	left := false
	switch {
	case before != "" && partOf(before[len(before)-1], "_.-/}"):
		for n < len(rest) && n < maxOrder && partOf(rest[n], "_.+-") {
			n++
		}
		left = pinned.MatchString(strings.TrimRight(rest[:n], "."))
	case strings.HasPrefix(after, "/"):
		left = slices.Contains(scopes, name)
	default:
		left = slices.Contains(codeNames, name)
	}
	return left && !botName.MatchString("@"+name)
}

// What stands after an at sign in code.
var (
	// pinned is what stands after the at sign of a version, a revision or a remote: name@1.2.3, action@v4, git@github.com.
	pinned = lazyregexp.New(`^(?:v[1-9][0-9]*|v?[0-9]+(?:\.[0-9A-Za-z+-]+)+|[0-9]+|[0-9a-f]{7,64}|latest|next|main|master|HEAD|github\.com|gitlab\.com|bitbucket\.org|example\.(?:com|org|net))$`)
	// scopes are those of well-known packages of npm.
	scopes = strings.Fields("angular angular-devkit babel emotion eslint jest mui nestjs ngrx node octokit playwright radix-ui react-native reduxjs rollup storybook svelte swc tanstack testing-library types typescript-eslint vitejs vitest vue")
	// codeNames are decorators, annotations, tags of documentation and rules of style sheets that languages and their libraries define.
	codeNames = strings.Fields("After AfterAll AfterEach Autowired Bean Before BeforeAll BeforeEach Component Configuration Controller Deprecated Disabled Entity FunctionalInterface " +
		"GetMapping Id Injectable Input JsonProperty Module NgModule NonNull NotNull Nullable ObservedObject Output Override ParameterizedTest PathVariable PostMapping Published RequestBody RequestMapping RequestParam " +
		"RestController SafeVarargs Service SpringBootApplication State SuppressWarnings Test Throws Transactional Valid Value MainActor Observable Environment Binding " +
		"abstractmethod asynccontextmanager author cached_property charset classmethod contextmanager dataclass deprecated escaping example extends functools import include interface keyframes layer media " +
		"mixin module moduledoc doc spec impl override param private property pytest return returns see since staticmethod supports tailwind template throws type typedef typing ts todo unittest value version")
)

// phrases are what GHPRB looks for in its default configuration, with anything that is no letter, digit or underscore between the words.
var phrases = [][]string{{"test", "this", "please"}, {"add", "to", "whitelist"}, {"add", "to", "allowlist"}, {"ok", "to", "test"}}

// approvals are what bots look for letter by letter: what approves and objects where a rule of policy-bot names nothing else, and what
// bulldozer's documentation has one write to merge or to hold back. thumbs are the marks of one character, which nothing can be put into.
var (
	approvals = []string{":+1:", ":-1:", "==MERGE_WHEN_READY==", "==MERGE_WHEN_GREEN==", "==DO_NOT_MERGE=="}
	thumbs    = strings.NewReplacer("👍", "(thumbs up)", "👎", "(thumbs down)")
)

// approvalAt gives where the one that begins at i is to be broken, 0 when there is none.
func approvalAt(s string, i int) int {
	for _, mark := range approvals {
		if strings.HasPrefix(s[i:], mark) {
			return i + 2
		}
	}
	return 0
}

// phraseAt gives where the phrase that begins at i is to be broken, within its last word, 0 when there is none.
func phraseAt(s string, i int) int {
	for _, words := range phrases {
		if at := phraseEnd(s, i, words); at > 0 {
			return at
		}
	}
	return 0
}

func phraseEnd(s string, i int, words []string) int {
	for n, word := range words {
		if !foldedPrefix(s[i:], word) {
			return 0
		}
		if n == len(words)-1 {
			return i + 1
		}
		i += len(word)
		from := i
		for i < len(s) && !partOf(s[i], "_") {
			i++
		}
		if i == from {
			return 0
		}
	}
	return 0
}

func foldedPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
