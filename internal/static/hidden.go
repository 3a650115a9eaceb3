package static

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/lineends"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hiddenKind says what an invisible character is good for; empty for ordinary ones.
func hiddenKind(r rune) string {
	switch kind := sanitize.Hidden(r); {
	case kind == "":
		return ""
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return "direction controls"
	case kind == "tag character", kind == "variation selector":
		return kind + "s"
	case r != 0x2800 && r != 0x200C && r != 0x200D && (kind == "blank filler" || kind == "zero-width character"):
		return "zero-width characters"
	}
	return withinWords
}

// visibleRuns are the parts of a line between hidden and control characters, and bytes that are no UTF-8.
func visibleRuns(line string) []string {
	return strings.FieldsFunc(spelling.Merged(line), func(r rune) bool {
		return hiddenKind(r) != "" || r == unicode.ReplacementChar || (unicode.IsControl(r) && r != '\t')
	})
}

// hiddenText finds characters that make a reviewer see other code than the machine (Trojan Source), or that carry text
// only a model reads.
func hiddenText(f *file) []hit {
	var out []hit
	f.each(func(i int, l diff.Line) {
		kind := concealed(l.Text, l.New == 1)
		if kind == "" || f.kind() == "" && (kind == withinWords || kind == "direction controls" && rightToLeft(l.Text)) {
			return
		}
		score := 8
		if kind == "zero-width characters" || kind == withinWords || kind == lineEnds && f.test { // recorded output has some
			score = 6
		}
		out = append(out, hit{
			rule: "hidden-text", category: review.CategorySecurity, score: score, confidence: 0.9, line: l.New, at: i,
			title: "Adds invisible characters",
			description: "The line holds " + kind + ", which no editor shows. They can make code read differently from what runs, " +
				"or carry instructions for tools.",
			suggestion: "Delete them, or write them as escapes.",
		})
	})
	return out
}

// lineEnds are characters at which some reader of a file ends the line, and editors do not: what stands behind a comment is code.
const lineEnds = "line ends of other kinds"

// withinWords are characters that have their use in prose, in other scripts and as icons. In code none stands in a word of ASCII or behind it, which it makes
// another that reads the same (threats.md T902).
const withinWords = "invisible characters in words"

// concealed names the hidden characters of a line that have no ordinary use where they stand. Ordinary are a byte order
// mark at the top, one variation selector behind a sign, and the tags of a flag.
func concealed(line string, first bool) string {
	run, flag, within := 0, false, ""
	var before, shown rune
	for i, r := range line {
		kind := hiddenKind(r)
		if kind == "" {
			if before != shown && inWord(shown) && r < utf8.RuneSelf {
				within = withinWords
			}
			shown = r
		}
		if kind == "variation selectors" {
			if run++; run >= 3 {
				return kind
			}
			before = r
			continue
		}
		run = 0
		switch {
		case lineends.Is(r) && strings.TrimSpace(line[:i]) != "" && strings.TrimSpace(line[i:]) != "":
			return lineEnds
		case r == 0x1F3F4: // the black flag, which tags turn into a country's
			flag = true
		case kind == "tag characters":
			if !flag {
				return kind
			}
			flag = r != 0xE007F
		case kind == "direction controls":
			return kind
		case kind == "zero-width characters":
			if !(first && i == 0 && r == 0xFEFF) && (before < 0x250 || i == 0) { // inside other scripts it shapes words
				return kind
			}
		default:
			flag = false
		}
		before = r
	}
	if before != shown && inWord(shown) {
		return withinWords
	}
	return within
}

func inWord(r rune) bool {
	return r < utf8.RuneSelf && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

func rightToLeft(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	})
}

// keyNames are files that hold credentials by their name.
var keyNames = map[string]string{
	"id_rsa": "a private SSH key", "id_dsa": "a private SSH key", "id_ecdsa": "a private SSH key", "id_ed25519": "a private SSH key",
	".env": "a file of environment values", ".env.local": "a file of environment values", ".env.production": "a file of environment values",
	".netrc": "a file of passwords", ".pypirc": "a file of passwords", ".git-credentials": "a file of passwords", ".pgpass": "a file of passwords",
	".htpasswd": "a file of passwords",
}

var keyEndings = map[string]string{
	".p12": "a key store", ".pfx": "a key store", ".jks": "a key store", ".keystore": "a key store", ".ppk": "a private SSH key",
	".kdbx": "a password database",
}

var secretValue = lazyregexp.New(`(?i)^\s*(?:export\s+)?[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY)[A-Z0-9_]*\s*=\s*["']?([^\s"'#]{8,})`)

// holdsValues tells an environment file with secrets from one of harmless settings.
func (f *file) holdsValues() bool {
	found := false
	f.each(func(_ int, l diff.Line) {
		m := secretValue.FindStringSubmatch(l.Text)
		found = found || (m != nil && !sanitize.MadeUp(m[1]))
	})
	return found
}

// keyFiles finds new files that are credentials by name; what stands in text files is found by the other rules too.
func keyFiles(f *file) []hit {
	base := strings.ToLower(path.Base(f.path))
	what := keyNames[base]
	if what == "" {
		what = keyEndings[path.Ext(base)]
	}
	if what == "" || !f.added || (strings.HasPrefix(base, ".env") && !f.holdsValues()) {
		return nil
	}
	h := hit{
		rule: "key-file", category: review.CategorySecurity, score: 8, confidence: 0.7, at: -1,
		title: "Adds " + what, suggestion: "Take it out of the branch's history, replace what it holds, and ignore it in git.",
		description: "The new file is " + what + " by its name. Such files belong into no repository.",
	}
	if f.test {
		h.score, h.confidence = 5, 0.5
	}
	f.each(func(i int, l diff.Line) {
		if h.line != 0 {
			return
		}
		name, _, _ := strings.Cut(l.Text, "=") // never a value: the file is full of them
		if q := quote(name); q != "" {
			h.line, h.evidence = l.New, q
		}
	})
	return []hit{h}
}
