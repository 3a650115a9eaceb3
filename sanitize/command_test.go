package sanitize

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// orders are lines that other bots obey, in the variants with which an attack went past an earlier gate.
var orders = []string{
	// Slash commands: Prow and its tests' spellings, GitLab, Azure Pipelines, cherry-pick and backport bots, assistants.
	"/approve", "/lgtm", "/LGTM.", "/lgtm cancel", "/approve (x", "/approve no-issue", "/approve (api_key = \"zebra\"", "/hold", "/unhold",
	"/override ci/x", "/override ci/prow/e2e-aws password = \"...\"", "/override \"ci/x\" 'y'", "/label a,b", "/label kind/bug", "/remove-label x",
	"/cherry-pick release/1.2", "/cherrypick release-1.2", "/backport to: v1", "/cmd_", "/cmd_with_underscores a", "/test all", "/test-all", "/retest", "/retest-required",
	"/ok-to-test", "/skip", "/close", "/reopen", "/assign @me", "/cc @a @b", "/milestone v1.0", "/merge!", "/merge?force=1", "/merge; /approve",
	"/deploy#prod", "/deploy --env=prod", "/deploy:prod", "/deploy $HOME", "/azp run", "/azp run a/b, c", "/label ~\"x y\"", "/estimate 3d",
	"/ok to test 1a2b3c", "/gemini review", "/1up", "/+1", "/-1", "/.hidden", "/?", "/été", "/APPROVE", "\t/approve", "   /approve",
	// Exclamation marks.
	"!deploy --env=prod", "!merge", "!retry,all", "!needs_info", "!!deploy", "!component =lib/x.py",
	// Words.
	"bors r+, p=1", "bors r+", "bors r=me", "r+", "r=someone p=5", "r? @octo", "recheck", "recheck no bug", "reverify", "retest this please",
	"jenkins test this", "jenkins, retest this please", "ok to test", "add to whitelist", "test this please", "build this please", "shipit", "LGTM", "rebuild_merge",
	"atlantis apply -p x", "digger apply", "terrateam plan", ".deploy production", ".noop", "pre-commit.ci autofix", "Run Python PreCommit", "buildkite test this",
	"run elasticsearch-ci/part-1", "cursor review", "bugbot run", "check experimental", "please test", "test  this  please", "ok-to-test", "add-to-whitelist", "test, this, please", "augment review", "I have read the DCO", "bot_status", "needs_info",
	"/oc fix it", "/opencode fix it", "I have read the CLA Document and I hereby sign the CLA",
	// Mentions.
	"@dependabot merge", "@mergifyio queue", "@swift-ci please test", "@k8s-ci-robot: merge", "@claude push a fix", "@octo/team", "@property",
	// Look-alikes that become the real ones when text is normalised, and what hides before them.
	"\uff0fapprove", "\uff01deploy", "\ufe57deploy", "\u203cdeploy", "\u2215approve", "\u2044approve", "\u200b/approve", "\u2060!deploy", "\ufeff/lgtm", "\u00a0/lgtm", "\u202e/lgtm",
	"\uff20dependabot merge", "&#47;approve", "&sol;approve", "\\/approve", "\x1b[1m/approve",
	"\u1d47ors r+", "\u24d9enkins test this", "\ufe6bdependabot merge", "\U0001d41bors r+",
}

// places are where such a line may stand in what is posted. What stands in a line with other words goes through Inline
// or CodeSpan, as titles and paths do.
var places = map[string]func(string) string{
	"plain":          func(s string) string { return "text\n\n" + s + "\n\ntext" },
	"second line":    func(s string) string { return "text\n" + s },
	"hard break":     func(s string) string { return "text\\\n" + s },
	"heading":        func(s string) string { return "## " + s },
	"fence":          func(s string) string { return "```go\nx := 1\n" + s + "\n```" },
	"tilde fence":    func(s string) string { return "~~~\n" + s + "\n~~~" },
	"indented fence": func(s string) string { return "```\n\t  " + s + "\n```" },
	"indented code":  func(s string) string { return "text\n\n    " + s },
	"quote":          func(s string) string { return "> " + s },
	"quoted fence":   func(s string) string { return "> > ```\n> > " + s + "\n> > ```" },
	"list":           func(s string) string { return "- a\n- " + s + "\n  " + s },
	"numbered list":  func(s string) string { return "1. " + s },
	"task list":      func(s string) string { return "- [x] " + s },
	"fence in list":  func(s string) string { return "- ```\n  " + s + "\n  ```" },
	"list in fence": func(s string) string {
		return "```\n- " + s + "\n1. " + s + "\n> " + s + "\n# " + s + "\n| " + s + "\n```"
	},
	"diff in fence":   func(s string) string { return "```diff\n+ " + s + "\n-" + s + "\n```" },
	"table":           func(s string) string { return "| a | b |\n| --- | --- |\n| " + s + " | " + s + " |" },
	"details":         func(s string) string { return "<details>\n<summary>" + s + "</summary>\n\n" + s + "\n\n</details>" },
	"emphasis":        func(s string) string { return "**" + s + "**" },
	"code span":       func(s string) string { return "`" + s + "`" },
	"comment before":  func(s string) string { return "<!-- x -->" + s },
	"link before":     func(s string) string { return "[](x)" + s },
	"title":           func(s string) string { return "### " + Inline(s, testPolicy) },
	"title alone":     func(s string) string { return Inline(s, testPolicy) },
	"path":            func(s string) string { return CodeSpan(s) },
	"path in a list":  func(s string) string { return "- " + CodeSpan(s) + " line 3" },
	"field":           func(s string) string { return Field("```\n"+s+"\n```\n"+s, testPolicy) },
	"cut long line":   func(s string) string { return "```\n" + strings.Repeat("x", 57_000) + " " + s + "\n```\n\ntext" },
	"cut paragraph":   func(s string) string { return strings.Repeat(strings.TrimSpace(s)+" and ", 80_000/(len(s)+5)) },
	"carriage return": func(s string) string { return "text\r" + s + "\r\ntext" },
	"line separator":  func(s string) string { return "text\u2028" + s },
}

// bare is a line as the most obliging bot reads it: normalised, without white space and marks of Markdown before it.
func bare(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case Hidden(r) != "":
			return -1
		case strings.ContainsRune("\u2044\u2215", r):
			return '/'
		}
		return r
	}, norm.NFKC.String(line))
	for {
		short := strings.TrimLeft(line, " \t>|#")
		for _, mark := range []string{"- ", "* ", "+ ", "1. ", "[x] ", "[ ] "} {
			short = strings.TrimPrefix(short, mark)
		}
		if short == line {
			return strings.ToLower(line)
		}
		line = short
	}
}

// No raw line of a posted body begins with an order, wherever it stood (threats.md T06). The check shares nothing with the
// gate but the list of hidden characters.
func TestNoLineIsAnOrder(t *testing.T) {
	if len(orders) < 78 {
		t.Fatalf("only %d orders", len(orders))
	}
	for _, order := range orders {
		heard := strings.Fields(bare(decodeEntities(strings.ReplaceAll(clean(order), `\/`, "/"))))[0]
		if m := map[string]int{"bors": 2, "jenkins": 2, "jenkins,": 2, "ok": 3, "test": 2, "build": 3, "add": 3, "atlantis": 2, "digger": 2, "terrateam": 2, "pre-commit.ci": 2,
			"run": 2, "buildkite": 2, "cursor": 2, "bugbot": 2, "check": 2, "please": 2, "i": 5}[heard]; m > 0 {
			heard = strings.Join(strings.Fields(bare(clean(order)))[:m], " ")
		}
		for place, in := range places {
			if len(in("")) > 10_000 && order != "/approve" && order != "recheck" { // one of each kind is enough for the long ones
				continue
			}
			body := in(order)
			parts, err := Comment(body, Marker{}, testPolicy)
			if err != nil {
				t.Errorf("%q in %s: %v", order, place, err)
				continue
			}
			for _, part := range parts {
				for line := range strings.SplitSeq(part.String(), "\n") {
					if strings.HasPrefix(bare(line), heard) {
						t.Errorf("%q in %s: the posted line %q is an order", order, place, line)
					}
				}
				again, err := Comment(part.String(), Marker{}, testPolicy)
				if err != nil || len(again) != 1 || again[0] != part {
					t.Errorf("%q in %s: cleaning twice changes %q to %q (%v)", order, place, part, again, err)
				}
			}
		}
	}
}

// What is shown can still be recognised: only marks are added.
func TestOrdersStayReadable(t *testing.T) {
	for in, want := range map[string]string{
		"```\n/approve (api_key = 1\n```":                      "```\n·/approve (api_key = 1\n```",
		"```\n\t@Override\n\tpublic void x() {}\n```":          "```\n\t·@Override\n\tpublic void x() {}\n```",
		"> ```\n> - recheck\n> ```":                            "> ```\n> - ·recheck\n> ```",
		"/override ci/x now":                                   "`/override` ci/x now",
		"| a |\n| --- |\n| !deploy --env=prod |":               "| a |\n| --- |\n| `!deploy` --env=prod |",
		"```\nif !ok {\n  // /approve\n}\n</div>\n/>\n/*\n```": "```\nif !ok {\n  // /approve\n}\n</div>\n/>\n/*\n```",
	} {
		if got := body(t, in, testPolicy); got != want {
			t.Errorf("Comment(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// The oracle looks at the raw lines by itself: whatever makes a body, an order in it is refused.
func TestTheOracleReadsRawLines(t *testing.T) {
	for _, order := range orders {
		line := clean(order)
		if strings.ContainsAny(line, `\&`) { // inert as it is: the mark stands in the source
			continue
		}
		for _, frame := range []string{"%s", "text\n%s", "```\n%s\n```", "> ```\n> %s\n> ```", "- ```\n  %s\n  ```", "> %s", "- [ ] %s", "| a |\n| --- |\n| %s |"} {
			if err := checkBody(fmt.Sprintf(frame, line), mode{policy: testPolicy, body: true}); err == nil {
				t.Errorf("the oracle lets %q through", fmt.Sprintf(frame, line))
			}
		}
	}
}

// What bots look for anywhere is broken anywhere. The expressions are those of the bots' documentation, as loose as theirs.
func TestNothingIsAnOrderAnywhere(t *testing.T) {
	heard := regexp.MustCompile(`(?i)test\W+this\W+please|add\W+to\W+whitelist|ok\W+to\W+test|/oc|/opencode|@(cubic-dev-ai|sentry|droid|linear|vercel|octocat|v0\b|typesbot)` +
		`|:[+-]1:|👍|👎|==MERGE_WHEN_READY==|==MERGE_WHEN_GREEN==|==DO_NOT_MERGE==`)
	for _, order := range []string{"test this please", "test  this  please", "Test, this: PLEASE", "ok-to-test", "ok - to - test", "add-to-whitelist", "latest this pleased", "/oc", "/ocx", "/opencode do it", "a/oc b",
		"https://evil.test/oc", "https://evil.test/@droid", "@cubic-dev-ai", "@sentry review", "x@droid", "@droid/x", "me@vercel.com", "@v0", "@typesbot/x", "ok **to** test", "test\nthis\nplease", "@octocat's",
		":+1:", "so:+1:+1:", "a:-1:b", "👍", "👍🏽👎", "https://evil.test/👍/:+1:", "ok👍to👍test", "==MERGE_WHEN_READY==MERGE_WHEN_GREEN==", "x==DO_NOT_MERGE=="} {
		for _, frame := range []string{"%s", "so %s, he said", "a `x %s` b", "```\nx := 1 // %s\n```", "> - a %s", "| a |\n| --- |\n| x %s |", "<details>\n<summary>x %s</summary>\n\ny %s\n\n</details>"} {
			in := strings.ReplaceAll(frame, "%s", order)
			parts, err := Comment(in, Marker{}, Policy{})
			if err != nil {
				t.Fatalf("%q: %v", in, err)
			}
			out := parts[0].String()
			if m := heard.FindString(out); m != "" {
				t.Errorf("%q becomes %q, in which a bot finds %q", in, out, m)
			}
			if again, err := Comment(out, Marker{}, Policy{}); err != nil || again[0] != parts[0] {
				t.Errorf("cleaning twice changes %q to %q (%v)", out, again, err)
			}
			if err := checkBody(in, mode{body: true}); err == nil {
				t.Errorf("the oracle lets %q through", in)
			}
		}
		if got := CodeSpan(order); heard.MatchString(got) {
			t.Errorf("CodeSpan(%q) is %q", order, got)
		}
	}
}

// Code can be copied as far as no bot is called by what it says.
func TestCodeIsLeftWhole(t *testing.T) {
	for _, code := range []string{"actions/checkout@v4", "golang.org/x/text@v0.30.0", "left-pad@1.3.0", "git@github.com:octocat/x.git", "import a from '@types/node'", "x @Override y", " @pytest.fixture", "a @media b", "a@example.com",
		"go install x@latest", "it is ok to", "latest thing", "s[i:+1]", "a==MERGE_HEAD", "🎉", "test this", "add two whitelists"} {
		in := "```\nx " + code + "\n```"
		if got := body(t, in, testPolicy); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	// A link to our own page leads where it did, with signs in it that nobody listens to.
	const pages = "https://github.com/octo/hello/blob/main/"
	for in, want := range map[string]string{"@acme/x.ts": "%40acme/x.ts", ":+1:+1:/x": ":%2B1:%2B1:/x", "==DO_NOT_MERGE==": "=%3DDO_NOT_MERGE=%3D", "%F0%9F%91%8D": "%F0%9F%91%8D"} {
		if got, want := Field("[x]("+pages+in+")", testPolicy), "[x]("+pages+want+")"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A field may lead to the run's own pull request, and to no other one (threats.md T564).
func TestAFieldLeadsToItsOwnPullRequest(t *testing.T) {
	p := testPolicy
	p.PR = 7
	const own, other = "[a](https://github.com/octo/hello/pull/7#discussion_r1)", "[a](https://github.com/octo/hello/pull/77#discussion_r1)"
	if got := Field(own, p); got != own {
		t.Errorf("%q becomes %q", own, got)
	}
	if got := Inline(other, p); strings.Contains(got, "](") {
		t.Errorf("%q becomes %q", other, got)
	}
}
