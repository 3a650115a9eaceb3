package sanitize

import "strings"

// Redact takes secrets and full diffs out of text for logs and artifacts; everything else stays as it is, hidden
// characters included, except on lines where they split a secret. Doing it twice changes nothing.
func Redact(s string) string {
	if !plain(s) {
		s = redactHidden(s)
	}
	for range 6 {
		t := redactDeep(redactOwn(s))
		if t == s {
			return s
		}
		s = t
	}
	return s
}

// redactOwn does everything but the second pass: diffs, key blocks, patterns, assignments (threats.md S5, S6).
func redactOwn(s string) string {
	return redactAssignments(redactPatterns(redactKeys(redactDiffs(s))))
}

// redactHidden cleans those lines that hold a secret only once hidden characters are gone.
func redactHidden(s string) string {
	lines := strings.Split(strings.ToValidUTF8(s, "\uFFFD"), "\n")
	for i, line := range lines {
		if plain(line) {
			continue
		}
		if c := strings.ReplaceAll(clean(line), "\n", " "); redactOwn(c) != c {
			lines[i] = redactOwn(c)
		}
	}
	return strings.Join(lines, "\n")
}
