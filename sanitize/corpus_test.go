package sanitize

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// attacks are the kinds of input with which the gate was attacked, several of each kind.
var attacks = map[string][]string{
	"markers": {PlainMarker, "x\n" + PlainMarker, "<!--pr-review-loop-marker-->", "`" + PlainMarker + "`", "<!-- pr-review-loop&#45;marker -->", "<!-- prloop v1 kid=00000000 -->",
		"<!-- code-review-agent:review_id=x -->", "> " + PlainMarker, "<!-- pr\u200b-review-loop-marker -->"},
	"entities": {"&commat;octocat", "&#64;octocat", "&#x40;octocat", "&amp;#38;#64;octocat", "&AMP;commat;octocat", "&lt;img src=x&gt;", "&#60;script&#62;", "&num;1", "&#35;1", "&NewLine;/approve", "&#10;/approve",
		"&lpar;", "&lbrack;a&rbrack;&lpar;https://evil.example&rpar;", "&#0;", "&#xD800;", "&#x110000;"},
	"HTML": {"<img src=https://evil.example/x>", "<script>alert(1)</script>", "<a href='https://evil.example'>x</a>", "<details open>\n<summary>x</summary>", "</details>", "<details>", "<summary>@octocat</summary>",
		"<details>\n<summary><img src=x></summary>\n\nx\n\n</details>", "<style>*{}</style>", "<svg onload=x>", "<iframe src=//evil.example>", "<!DOCTYPE x>", "<?php x ?>", "<![CDATA[x]]>", "<b\n>x</b>", "<picture><source srcset=x></picture>",
		"<sub>@octocat</sub>", "<br/>/approve", "<pre>\n@octocat\n</pre>"},
	"mentions": {"@octocat", "@octo/team", "@\u200boctocat", "\uff20octocat", "@*octocat*", "**@**octocat", "[@octocat](x)", "@`octocat`", "a@octocat", "_@octocat_", "@[octocat](x)", "~@octocat~", "@&#111;ctocat",
		"| @octocat |\n| --- |", "# @octocat", "@octocat's", "(@octocat)", "@<!-- -->octocat", "\\@octocat", "@\\octocat", "`@octocat", "x[^1]\n\n[^1]: @octocat"},
	"references": {"#1", "octo/x#1", "GH-1", "fixes #1", "closes octo/x#1", "Resolves: https://github.com/octo/x/issues/1", "fixes <b></b>#1", "https://github.com/evil/x/pull/1", "evil/x@1a2b3c4d5e6f"},
	"links": {"[a](https://evil.example)", "[a](javascript:alert(1))", "[a]: https://evil.example\n[a]", "<https://evil.example>", "https://evil.example", "www.evil.example", "[a](//evil.example)", "[a](https://github.com.evil.example/octo/hello/pull/1)",
		"[a](https://github.com/octo/hello/blob/x/../../../evil)", "[a](https://github.com/octo/hello/pull/1?x=secret)", "[a](data:text/html,x)", "[![x](y)](https://evil.example)", "ftp://evil.example", "mailto:a@evil.example", "[a](<https://evil.example>)",
		"[a](https://x@github.com/octo/hello/pull/1)", "[a][b]\n\n[b]: https://evil.example 'x'", "https://github.com\\@evil.example/"},
	"images": {"![](https://evil.example/x)", "![a][b]\n\n[b]: https://evil.example/x", "![](…)", "!\\[a](x)", "![a]\n(x)", "\\![a](https://evil.example)", "!&#91;a](x)"},
	"hidden": {"a\u202eb", "\u2066x\u2069", "\u200b/approve", "@\u00adoctocat", "\U000E0041\U000E0042", "\ufeff", "a\u2028/approve", "\x1b]0;x\x07", "\x1b[31m@octocat", "\x9b31m", "\x00", "\xff\xfe", "\xed\xa0\x80", "@\ufe0foctocat", "e\u0301", "\u2800\u3164"},
	"diffs": {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "```diff\ndiff --git a/x b/x\n+a\n```", "@@ -1,3 +1,3 @@\n-a\n+b\n c", "di\u200bff --git a/x b/x", "> diff --git a/x b/x", "- diff --cc x",
		"{\"d\":\"diff --git a/x b/x\\n+a\"}", "diff  --git a/x b/x", "&#100;iff --git a/x b/x", "di**ff --g**it a/x b/x"},
	"secrets": {"ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT", "gh\\p_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT", "gh**p_**q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT", "gh\u200bp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT", "&#103;hp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT",
		"AKIAQ9ZT7LW2XC4VB6NM", "`AKIA`Q9ZT7LW2XC4VB6NM", "password = \"q9Zt7Lw2Xc4Vb6\"", "| ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT |\n| --- |", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----",
		"https://a:q9Zt7Lw2Xc4@evil.example/", "xoxb-294857203947-q9Zt7Lw2Xc4", "Authorization: Bearer q9Zt7Lw2Xc4Vb6Nm8Kj0", "<details>\n<summary>ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT</summary>\n\nx\n\n</details>"},
	"fences":       {"```\n@octocat\n/approve", "~~~\n```\n@octocat\n~~~", "```suggestion\nx\n```", "```mermaid\nx\n```", "````\n```\n````\n@octocat", "> ```\n@octocat", "- ```\n@octocat\n  ```", "    @octocat\n\t/approve", "``` `x\n@octocat", "```\n\n\n/approve\n```", "`` ` @octocat ``"},
	"tables":       {"| a | b |\n| --- | --- |\n| @octocat | `x|y` |", "|a|\n|-|\n|<img src=x>|", "a|b\n-|-\n/approve|!deploy", "|`a\\|@octocat`|\n|-|", "| a |\n| --- |\n| fixes #1 | b | c |"},
	"unterminated": {"<!-- x", "<!-- x\n\n@octocat", "<!--", "<!-->@octocat", "<details>\n\n<!-- x", "```\n<!-- x", "a <!-- b\nc --> @octocat", "<a href=\"", "[a](", "![", "**", "`", "<", "&", "\\", "|", "<!-- a --><!-- b -->/approve"},
}

// planted are credentials of attacks that stand in no result; the last is known and in no pattern.
var planted = []string{"ghp_q9Zt7Lw2Xc4", "AKIAQ9ZT7LW2XC4", "MIIEvQIBADAN", "a:q9Zt7Lw2Xc4", "Bearerq9Zt7Lw2Xc4", "xoxb-294857203947", "b7Yk2Pq8Wn4Rz6Tm"}

// laws are what every result keeps to, whatever went in (threats.md "Sanitization").
func laws(t *testing.T, what, in string) {
	t.Helper()
	p := testPolicy
	p.Known = []string{"b7Yk2Pq8Wn4Rz6TmLx3V"}
	results := []string{Field(in, p), Inline(in, p)}
	if Leaks(in, p) {
		if _, err := Comment(in, testMarker(), p); err == nil {
			t.Errorf("%s: a known secret was let through: %q", what, in)
		}
	} else {
		lawsOfField(t, in)
		lawsOfComment(t, in)
		parts, err := Comment(in, testMarker(), p)
		if err != nil {
			t.Errorf("%s: Comment(%q): %v", what, in, err)
		}
		for _, part := range parts {
			if err := check(part.String(), p); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			h, _ := readHeader(part.String())
			results = append(results, h.rest)
		}
	}
	for _, out := range results {
		for _, s := range planted {
			if strings.Contains(squeeze(out), s) {
				t.Errorf("%s: %q stands in %q", what, s, out)
			}
		}
		for line := range strings.SplitSeq(out, "\n") {
			if l := bare(line); len(l) > 1 && (l[0] == '@' || l[0] == '/' || l[0] == '!') && alnum(l[1]) {
				t.Errorf("%s: the line %q is an order", what, line)
			}
		}
	}
}

// Every attack alone, in every kind of place, and doubled.
func TestAttackCorpus(t *testing.T) {
	n := 0
	for kind, list := range attacks {
		for _, s := range append(list, strings.Join(list, " "), strings.Join(list, "\n"), strings.Join(list, "\n\n")) {
			laws(t, kind, s)
			n++
		}
		for _, s := range list {
			laws(t, kind, "> "+strings.ReplaceAll(s, "\n", "\n> "))
			laws(t, kind, "```\n"+s+"\n```\n\n"+s)
			n += 2
		}
	}
	for _, s := range spellings("b7Yk2Pq8Wn4Rz6TmLx3V") {
		laws(t, "a known secret", "it is "+s)
		n++
	}
	if n < 279 {
		t.Errorf("only %d attacks", n)
	}
}

// Random mixtures of them, the same each time.
func TestAttackMixtures(t *testing.T) {
	var all []string
	for _, kind := range []string{"markers", "entities", "HTML", "mentions", "references", "links", "images", "hidden", "diffs", "secrets", "fences", "tables", "unterminated"} {
		all = append(all, attacks[kind]...)
	}
	all = append(all, orders...)
	glue := []string{"", " ", "\n", "\n\n", "\n> ", "\n- ", "\n    ", "`", "*", "|", "\\", "\n```\n", "&", "<", "\u200b"}
	random := rand.New(rand.NewPCG(679, 400))
	for i := range 400 {
		var b strings.Builder
		for range 2 + random.IntN(7) {
			b.WriteString(all[random.IntN(len(all))] + glue[random.IntN(len(glue))])
		}
		laws(t, fmt.Sprintf("mixture %d", i), b.String())
	}
	laws(t, "base64", base64.StdEncoding.EncodeToString([]byte("b7Yk2Pq8Wn4Rz6TmLx3V")))
}
