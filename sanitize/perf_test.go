//go:build unix

package sanitize

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/sanitize/secretrules"
)

// units are pieces that cost time when there are very many of them side by side.
var units = []string{
	PlainMarker, PlainMarker + "\n", "&", "& ", "&#", "&amp;#38;", "@a ", "@a\n", "@a(", "a@b ", "#1 ", "gh-1 ", "fixes #1 ", "www.a ", "http://a ", "a://b:c@d ", "a:b1c2d3@tcp(h) ", "a:b", "@tcp(", "1,", "0x1f, [",
	"[", "(", "*", "_", "~", "`", "` ", "<", "|", "|\n", "# ", "> - ", "- [ ] a\n", "+ a\n* b\n", "a\n", "a\n\n", "a-", "\\", "\u200b", "e\u0301", "\U0001F600",
	"/approve x\n", "!x\n", "/oc", ":+1", "==MERGE_WHEN_", "👍", "ok to ", "ok-to-test ", "test this ", "a://x/oc@a", "@types/", "x@v4 ", "recheck\n", "bors r+\n", "+a\n", "-u a:bcdef ", "ghp_abc ", "eyJ", "password=\"hunter2x9\" ", "pass=", "a1-", "login(a, 'S3cretPw', \"", "'a:5432:b:c:", "-p aB3xK9mQ2tR5w ", "-u a:-u a/", "api_tokens = [\n", "\"api_token1\",\n", "token: [\n\"a\",\n", "a://aB3xK9mQ2tR5w", "token:\n default: abcdefg1\n", "<key>token</key>\n<string>abcdefg1</string>\n", "a: >-\n {\"kind\":\n \"Secret\"}\n", "Authorization: Bearer ",
	"<!--a--> `x` ", "-->", "<details>\n<summary><b>a</b></summary>\n\nx\n\n</details>\n\n", "|a|b|\n|-|-|\n", "[a](b)", "![a](", "https://github.com/octo/hello/commit/0123456 ",
	"-----BEGIN PRIVATE KEY-----\n", "@@ -1 +1 @@\n-a\n+b\n c\n", "diff --git a/x b/x\n", "kind: Secret\ndata:\n  a: cTdSejJMbTlYYzRWYjhOdDFX\n", "'{\"kind\":\"Secret\"", "\"{\\\"kind\\\":\\\"Secret\\\"", "''{\"kind Secret ", "```\n", "token ", "ab1234567890 cd\n", "<a@b.c>", "\x1b[", "\xff",
}

// hostile are texts of about n bytes made to cost time.
func hostile(n int) map[string]string {
	out := structures()
	for name, s := range out {
		out[name] = cut(s, n)
	}
	for _, unit := range units {
		out[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, n/len(unit))
	}
	return out
}

// structures are megabytes whose parts depend on each other.
func structures() map[string]string {
	var ticks, nest, prefixes, keywords strings.Builder
	for _, p := range append(append([]pattern{}, specPatterns...), ownPatterns()...) {
		prefixes.WriteString(strings.Join(p.words, " ") + " ")
	}
	for _, r := range secretrules.Rules() {
		keywords.WriteString(strings.Join(r.Keywords, " ") + " ab1234567890\n")
	}
	for i := 1; i < 1400; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
		nest.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	var secrets strings.Builder
	for i := range 1 << 14 {
		fmt.Fprintf(&secrets, "discord_token = \"%x\"\n", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	return map[string]string{
		"nested quotes":           strings.Repeat(">", 1<<20),
		"nested quotes, spaced":   strings.Repeat("> ", 1<<19),
		"nested list marks":       strings.Repeat("- ", 1<<19),
		"nested lists":            nest.String(),
		"open brackets":           strings.Repeat("[", 1<<20),
		"open images":             strings.Repeat("![a](", 1<<18),
		"links":                   strings.Repeat("[a](b)", 1<<17),
		"definitions":             strings.Repeat("[a]: b\n", 1<<17),
		"runs of backticks":       ticks.String(),
		"emphasis":                strings.Repeat("*a ", 1<<18),
		"mixed emphasis":          strings.Repeat("*a_b~~", 1<<17),
		"tags":                    strings.Repeat("<a ", 1<<18),
		"open comments":           strings.Repeat("<!--", 1<<18),
		"entities":                strings.Repeat("&amp;", 1<<18),
		"one entity, many times":  "&" + strings.Repeat("amp;", 1<<18),
		"mentions":                strings.Repeat("@a", 1<<19),
		"one word":                strings.Repeat("a", 1<<20),
		"token lines":             strings.Repeat("ab1234567890 cd\n", 1<<16),
		"token prefixes":          strings.Repeat("ghp_", 1<<18),
		"key headers":             strings.Repeat("-----BEGIN PRIVATE KEY-----\n", 1<<15),
		"diff headers":            strings.Repeat("diff --git a/x b/x\n", 1<<16),
		"wide tables":             strings.Repeat(strings.Repeat("|a", 1000)+"|\n"+strings.Repeat("|-", 1000)+"|\n"+strings.Repeat("|b\n", 1300)+"\n", 120),
		"table rows":              "|a|b|\n|-|-|\n" + strings.Repeat("|a|b|\n", 1<<17),
		"details":                 strings.Repeat("<details>\n", 1<<16) + strings.Repeat("</details>\n", 1<<15),
		"assignments":             strings.Repeat("token = \"a\" ", 1<<16),
		"prefixes of all secrets": prefixes.String() + " key= @ :// authorization " + strings.Repeat("abc def ghi ", 1<<16),
		"all rules at once":       strings.Repeat(strings.ReplaceAll(keywords.String(), "\n", " ")+"\n", 1<<20/keywords.Len()),
		"all rules on lines":      strings.Repeat(keywords.String(), 1<<20/keywords.Len()),
		"fence in nested quotes":  strings.Repeat("> ", 12) + "```\n" + strings.Repeat(strings.Repeat("> ", 12)+"x\n", 1<<15),
		"fence in nested lists":   strings.Repeat("- ", 12) + "```\n" + strings.Repeat(strings.Repeat("  ", 12)+"x\n", 1<<15),
		"address with brackets":   "http://a" + strings.Repeat(")", 1<<20),
		"row of cells":            "|a|\n|-|\n|" + strings.Repeat("`a`|", 1<<18),
		"different secrets":       secrets.String(),
		"prose":                   strings.Repeat("The quick *brown* fox `jumps` over the lazy dog.\nAnd T1000 has foo_bar, see [x](y).\n\n- item one\n- item two\n\n", 1<<13),
	}
}

// cpu is the processor time of this process so far. A loaded machine stretches the clock, not this.
func cpu(t testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// gates are the ways through the package, by name. Known secrets are looked for as well.
func gates(t testing.TB) map[string]func(string) {
	p := testPolicy
	p.Known = []string{"q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5Po", "ghp_q9Zt7Lw2Xc4Vb6Nm8Kj0Hg1Fd3Sa5PoQwErT"}
	return map[string]func(string){
		"Comment": func(s string) {
			if _, err := Comment(s, testMarker(), p); err != nil {
				t.Errorf("Comment: %v", err)
			}
		},
		"Inline": func(s string) { Inline(s, p) },
		"Redact": func(s string) { Redact(s) },
	}
}

// 3.5 times the text takes about 3.5 times as long (threats.md "Sanitization"); a quadratic step takes twelve times. The sizes are those of
// which all becomes one comment, also when every character is escaped, and with which paragraphs are too crowded to be read. Under the race detector time says nothing, so a small text looks for panics only.
func TestHostileInputTakesLinearTime(t *testing.T) {
	const small, large, floor = 8_000, 28_000, 20 * time.Millisecond // 0.7 s for a megabyte
	short, long := hostile(small), hostile(large)
	for gate, pass := range gates(t) {
		for name := range short {
			if underRace || testing.Short() {
				pass(cut(short[name], small/10))
				continue
			}
			took := func(s string) time.Duration {
				start := cpu(t)
				pass(s)
				return cpu(t) - start
			}
			slow := func() bool {
				b := took(long[name])
				return b > floor && b > 9*took(short[name])
			}
			times := 0
			for times < 3 && slow() { // once says little on a machine that does other work
				times++
			}
			if times == 3 {
				t.Errorf("%s of %s: 3.5 times the text takes more than 9 times as long", gate, name)
			}
		}
	}
}

// A megabyte of each is to take at most a second on an idle core: at least 1 MB/s. What is too long for a comment is cut
// before it is read. A machine that does other work stretches ns/op, not cpu-s/op.
func BenchmarkHostile(b *testing.B) { benchmarkGates(b, hostile(1<<20), gates(b)) }

// Agents wait for a mask as for a comment: a second for a megabyte.
func BenchmarkMask(b *testing.B) {
	inputs := hostile(1 << 20)
	maps.Copy(inputs, hostileValues(1<<20))
	benchmarkGates(b, inputs, map[string]func(string){"Mask": func(s string) { Mask(s) }, "MaskDiff": func(s string) { maskedDiff(s) }})
}

func benchmarkGates(b *testing.B, inputs map[string]string, gates map[string]func(string)) {
	for name, s := range inputs {
		for gate, pass := range gates {
			b.Run(gate+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				start := cpu(b)
				for b.Loop() {
					pass(s)
				}
				b.ReportMetric((cpu(b)-start).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
