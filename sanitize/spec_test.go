package sanitize

import (
	"strings"
	"testing"
)

// body is what Comment writes after the marker.
func body(t *testing.T, s string, p Policy) string {
	t.Helper()
	out, err := Comment(s, Marker{}, p)
	if err != nil {
		t.Fatalf("Comment(%q): %v", s, err)
	}
	if len(out) != 1 {
		t.Fatalf("Comment made %d parts, want 1", len(out))
	}
	rest, ok := strings.CutPrefix(out[0].String(), PlainMarker+"\n")
	if !ok {
		t.Fatalf("the marker is not the first line: %q", out[0])
	}
	return strings.Trim(rest, "\n")
}

// spec.md L3, clause by clause.
func TestSecretsOfTheReviewLoopSpec(t *testing.T) {
	for _, c := range []struct{ clause, in, want string }{
		{"AKIA-style AWS keys are redacted", "key AKIAIOSFODNN7EXAMPLE here", "key [REDACTED] here"},
		{"BEGIN PRIVATE KEY is redacted, header only", "-----BEGIN PRIVATE KEY-----", "[REDACTED]"},
		{"BEGIN PRIVATE KEY is redacted without its dashes", "see BEGIN PRIVATE KEY there", "see [REDACTED] there"},
		{"any kind of private key is one", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567\n-----END RSA PRIVATE KEY-----\nafter", "[REDACTED]\nafter"},
		{"xoxb- Slack tokens are redacted", "slack xoxb-1234-abcd.", "slack [REDACTED]."},
		{"ghp_ GitHub tokens are redacted", "token: ghp_abcDEF123", "token: [REDACTED]"},
		{"the pattern alone is enough", "`ghp_`", "`[REDACTED]`"},
		{"text right before a token does not hide it", "xghp_abc", "[REDACTED]"},
		{"several on one line all go", "ghp_a xoxb-b AKIA1234", "[REDACTED] [REDACTED] [REDACTED]"},
		{"a table row keeps its shape", "| a | b |\n| --- | --- |\n| ghp_abc | x |", "| a | b |\n| --- | --- |\n| [REDACTED] | x |"},
		{"a heading keeps its shape", "## Token ghp_abc leaks", "## Token [REDACTED] leaks"},
		{"a fence keeps its shape", "```go\nx := \"ghp_abc\"\n```", "```go\nx := \"[REDACTED]\"\n```"},
		{"a key cut off by its fence leaves the fence", "```\n-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSx\n```\nafter", "```\n[REDACTED]\n```\n\nafter"},
		{"escapes do not hide a token", `gh\p\_abc`, "[REDACTED]"},
		{"entities do not hide a token", "gh&#112;&#95;abc", "[REDACTED]"},
		{"zero-width characters do not hide a token", "gh\u200bp_abc", "[REDACTED]"},
	} {
		t.Run(c.clause, func(t *testing.T) {
			if got := body(t, c.in, testPolicy); !sameText(got, c.want) {
				t.Errorf("Comment(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

// sameText compares what matters here; gh\p has a backslash that stays in the word.
func sameText(got, want string) bool {
	return got == want || strings.ReplaceAll(got, `gh\p_abc`, Redacted) == want && !strings.Contains(got, "ghp_")
}

func TestDiffsAreRedacted(t *testing.T) {
	full := "diff --git a/x.go b/x.go\nindex 123..456 100644\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-a\n+b\n c"
	for _, c := range []struct{ clause, in, want string }{
		{"a full diff in a fence (spec.md L3)", "```diff\n" + full + "\n```\n\nafter", "```diff\n[DIFF REDACTED]\n```\n\nafter"},
		{"a full diff in the text", full + "\n\nafter", "[DIFF REDACTED]\n\nafter"},
		{"a diff in a quote (threats.md T32)", "> " + strings.ReplaceAll(full, "\n", "\n> ") + "\n\nafter", "> [DIFF REDACTED]\n\nafter"},
		{"a diff in a list (threats.md T32)", "- ```\n  " + strings.ReplaceAll(full, "\n", "\n  ") + "\n  ```\n- b", "- ```\n  [DIFF REDACTED]\n  ```\n- b"},
		{"a diff split by zero-width characters (threats.md T32)", "```\ndi\u200bff --g\u200bit a/x b/x\n+++ b/x\n```", "```\n[DIFF REDACTED]\n```"},
		{"a combined diff (threats.md T32)", "```\ndiff --cc x.go\n@@@ -1,1 -1,1 +1,1 @@@\n++a\n```", "```\n[DIFF REDACTED]\n```"},
		{"hunks without a header (threats.md T32)", "```\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n```", "```\n[DIFF REDACTED]\n```"},
		{"file headers before a hunk (threats.md T32)", "```\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n```", "```\n[DIFF REDACTED]\n```"},
		{"the words inside a sentence", "the `diff --git` header", "the `[DIFF REDACTED]` header"},
		{"a diff inside words keeps them", "x `diff --git a/x b/x` y", "x `[DIFF REDACTED]`"},
		{"words in a sentence hide no diff", "Look: diff --git a/x b/x", "Look: [DIFF REDACTED]"},
		{"a short quote of changed lines stays (7.3)", "```diff\n-a := 1\n+a := 2\n```", "```diff\n-a := 1\n+a := 2\n```"},
		{"a long one does not (7.3)", "```diff\n" + strings.Repeat("+a\n", 21) + "```", "```diff\n[DIFF REDACTED]\n```"},
	} {
		t.Run(c.clause, func(t *testing.T) {
			if got := body(t, c.in, testPolicy); got != c.want {
				t.Errorf("Comment(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
	t.Run("a diff inside a JSON string goes, the JSON stays", func(t *testing.T) {
		got := Redact(`{"a":"x","diff":"diff --git a/x b/x\n--- a/x\n+++ b/x\n","b":1}`)
		if want := `{"a":"x","diff":"[DIFF REDACTED]","b":1}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestFieldIsInactive(t *testing.T) {
	page := "https://github.com/octo/hello/blob/main/a.go#L1-L2"
	for _, c := range []struct{ clause, in, want string }{
		{"probe: a comment inside a mention (finding 9)", "@<!-- -->octocat", "`@·octocat`"},
		{"probe: entities in entities (finding 9)", "&amp;#38;commat;octocat", "@·octocat"},
		{"probe: an encoded ampersand (finding 9)", "&#38;#64;octocat", "@·octocat"},
		{"probe: an unclosed backtick (finding 9)", "`@octocat", "\\`@·octocat"},
		{"probe: an unterminated comment (threats.md T39)", "<!-- x\n\nfooter", "\\<!-- x\n\nfooter"},
		{"probe: tag characters (threats.md T40)", "a\U000E0061\U000E0062b", "ab"},
		{"probe: bidirectional controls (threats.md T40)", "a\u202eb\u2066c\u200fd", "abcd"},
		{"probe: zero width in a mention (threats.md T36)", "@\u200boctocat", "@·octocat"},
		{"probe: a soft hyphen in a mention (threats.md T36)", "@\u00adoctocat", "@·octocat"},
		{"probe: a full-width at sign (threats.md T36)", "\uff20octocat", "@·octocat"},
		{"probe: an escaped at sign (threats.md T36)", `\@octocat`, "@·octocat"},
		{"probe: a mention cut by emphasis (threats.md T36)", "@*octocat*", "`@`*octocat*"},
		{"probe: a numeric reference (threats.md T36)", "&#x40;octocat", "@·octocat"},
		{"probe: a mention in a table (threats.md T36)", "| @octo |\n| - |\n| @cat |", "| @·octo |\n| --- |\n| @·cat |"},
		{"probe: a mention in a heading (threats.md T36)", "# @octo/team", "##### @·octo/team"},
		{"probe: a mention in a link (threats.md T36)", "[@octo](" + page + ")", "[@·octo](" + page + ")"},
		{"probe: a variation selector in a mention (threats.md T40)", "@\ufe0foctocat", "@·octocat"},
		{"probe: an escape sequence (7.2 step 1)", "a\x1b]0;title\x07b\x1b[31mc", "abc"},
		{"a reference to another repository (threats.md T37)", "see evil/repo#1", "see `evil/repo#1`"},
		{"a closing word (threats.md T37)", "This fixes #12.", "This `fixes #12`."},
		{"an issue's address (threats.md T37)", "https://github.com/evil/repo/issues/1", "`https://github.com/evil/repo/issues/1`"},
		{"an image (threats.md T38)", "![a](https://evil.test/?d=1)", "a (`https://evil.test/?d=1`)"},
		{"an image tag (threats.md T38)", `<img src="x">`, `\<img src="x">`},
		{"a foreign link (threats.md T38)", "[a](https://evil.test/x)", "a (`https://evil.test/x`)"},
		{"a reference link (threats.md T38)", "[a][x]\n\n[x]: https://evil.test/x", "a (`https://evil.test/x`)"},
		{"a bare address (threats.md T38)", "www.evil.test/x.", "`www.evil.test/x`."},
		{"an autolink (threats.md T38)", "<https://evil.test>", "`https://evil.test`"},
		{"a mail address", "me@evil.test", "me@·evil.test"},
		{"a link to a pull request (threats.md T564)", "like [it](https://github.com/octo/hello/pull/12#discussion_r1)", "like it (`https://github.com/·octo/hello/pull/12#discussion_r1`)"},
		{"a pull request's bare address (threats.md T564)", "see https://GitHub.com/octo/hello/pull/3/files.", "see `https://GitHub.com/·octo/hello/pull/3/files`."},
		{"a file below a folder of that name stays", "[a](https://github.com/octo/hello/blob/x/pull/1)", "[a](https://github.com/octo/hello/blob/x/pull/1)"},
		{"our own page stays", "[a](" + page + ")", "[a](" + page + ")"},
		{"our own page with a climbing path does not", "[a](https://github.com/octo/hello/blob/../../evil)", "a (`https://github.com/·octo/hello/blob/../../evil`)"},
		{"our own page with user information does not", "[a](https://x@github.com/octo/hello/pull/1)", "a (`https://x@github.com/·octo/hello/pull/1`)"},
		{"details of an agent are text (threats.md T39)", "<details>\n\nx\n\n</details>", "\\<details>\n\nx\n\n\\</details>"},
		{"a suggestion is plain code (threats.md T39)", "```suggestion\nx\n```", "```text\nx\n```"},
		{"a diagram is plain code (threats.md T39)", "```mermaid\nx\n```", "```text\nx\n```"},
		{"a state block is plain code (threats.md T33)", "```rmcoc\n{}\n```", "```text\n{}\n```"},
		{"a formula is text (threats.md T39)", "$x$", `\$x\$`},
		{"commands at line starts (threats.md T06)", "ok\n/lgtm\n!merge\nbors r+\n@dependabot merge", "ok\n`/lgtm`\n`!merge`\n`bors r+`\n@·dependabot merge"},
		{"commands inside code, which bots read too (threats.md T06)", "```\n/lgtm\n```", "```\n·/lgtm\n```"},
		{"a decorator at a line start is a mention to whoever reads the source (threats.md T06)", "```python\n@property\ndef x(self): ...\n```", "```python\n·@property\ndef x(self): ...\n```"},
		{"a bot's name in the middle of code is broken (threats.md T06)", "```\nx # @claude push\n```", "```\nx # @·claude push\n```"},
		{"another name in the middle of code", "```\nx # @octo push\n```", "```\nx # @·octo push\n```"},
		{"our marker in a field (threats.md T33)", "a " + PlainMarker + " b", "a  b"},
		{"our marker in code (threats.md T33)", "`" + PlainMarker + "`", "`<!-- pr-review-loop marker -->`"},
		{"a footnote", "a[^1]\n\n[^1]: b", "a^1 (`b`)"},
		{"a footnote without a definition", "a[^1]", "a\\[^1]"},
		{"a list of tasks (threats.md T521)", "- [ ] open\n- [x] done\n\n1. [X] numbered\n   > - [ ] inside", "- ☐ open\n- ☑ done\n\n1. ☑ numbered\n\n   > - ☐ inside"},
		{"a box alone, and before a command (threats.md T521)", "- [ ]\n- [x] /lgtm", "- ☐\n- ☑ /lgtm"},
		{"a box that is no task stays", "[ ] open", "\\[ ] open"},
	} {
		t.Run(c.clause, func(t *testing.T) {
			if got := Field(c.in, testPolicy); got != c.want {
				t.Errorf("Field(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestLegitTextSurvives(t *testing.T) {
	for _, s := range []string{
		"The call in `pkg/server/http.go` drops `err`; snake_case_names and camelCase stay.",
		"```go\nfunc Map[K comparable, V any](m map[K]V) []K {\n\treturn nil // <T>\n}\n```",
		"```go\n// a comment\n/* another */\nx := !ok && a/b != `c@1.2.3` // @param @types/node actions/x@v4 git@github.com:a/b\n```",
		"`Map<String, List<T>>` and a < b && c > d, x[i] = y[0], 100 % sure.",
		"- one\n- two\n  - nested\n\n1. first\n2. second",
		"| File | Line |\n| --- | --: |\n| `a.go` | 12 |",
		"> quoted\n> twice\n\n**bold**, *emphasis*, ~~gone~~, ***both***",
		"C:\\temp\\new and /usr/bin are paths, e.g. ./a/b.",
		"Café, 日本語, emoji \U0001F600 ❤️.",
		"file:// and https:// URLs differ.",
		"line one\\\nline two",
	} {
		if got := Field(s, testPolicy); got != s {
			t.Errorf("Field changed legitimate text\n got %q\nwant %q", got, s)
		}
	}
}

func TestTemplateVocabularySurvives(t *testing.T) {
	s := "# Review\n\n<details>\n<summary>3 more findings in <code>a.go</code></summary>\n\n## Inner\n\n| a |\n| --- |\n| b |\n\n" +
		"<details>\n<summary>deeper</summary>\n\ntext\n\n</details>\n\n</details>\n\n---\n\nSee [a.go](https://github.com/octo/hello/blob/abc1234/a.go#L3)."
	if got := body(t, s, testPolicy); got != s {
		t.Errorf("got  %q\nwant %q", got, s)
	}
	for in, want := range map[string]string{
		"<details>\n\nx":      "\\<details>\n\nx",
		"x\n\n</details>":     "x\n\n\\</details>",
		"<details open>\n\nx": "\\<details open>\n\nx",
		"<details>\n<summary>@octo `x` <i>y</i> <img src=x></summary>\n\nx\n\n</details>": "<details>\n<summary>@·octo <code>x</code> <i>y</i> &lt;img src=x&gt;</summary>\n\nx\n\n</details>",
	} {
		if got := body(t, in, testPolicy); got != want {
			t.Errorf("Comment(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestInlineFitsAnywhere(t *testing.T) {
	for in, want := range map[string]string{
		"# not a heading":      `\# not a heading`,
		"- not an item":        `\- not an item`,
		"1. not an item":       `1\. not an item`,
		"a | b":                `a \| b`,
		"`a|b`":                "`a`\\|`b`",
		"two\nlines":           "two lines",
		"/lgtm now":            "`/lgtm` now",
		"**bold** @octo _x_":   "**bold** @·octo *x*",
		"":                     "",
		"<summary>x</summary>": `\<summary>x\</summary>`,
	} {
		if got := Inline(in, testPolicy); got != want {
			t.Errorf("Inline(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a.go": "`a.go`", "a`b": "``a`b``", "a|b": "`a`\\|`b`", "": "", "x\ny\u202e": "`x y`", "`": "`` ` ``"} {
		if got := CodeSpan(in); got != want {
			t.Errorf("CodeSpan(%q) = %q, want %q", in, got, want)
		}
	}
}
