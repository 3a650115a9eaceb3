package sanitize

import "strings"

// Redact takes secrets and full diffs out of text for logs and artifacts; everything else stays as it is, hidden
// characters included, except where they split a secret. Doing it twice changes nothing.
func Redact(s string) string {
	for range 6 {
		t := redactDeep(redactOwn(redactHidden(s)))
		if t == s {
			return s
		}
		s = t
	}
	return s
}

// redactOwn does everything but the second pass: diffs, Secrets of Kubernetes, key blocks, patterns, assignments (threats.md S5, S6).
func redactOwn(s string) string {
	s = redactDiffs(s)
	return redactAssignments(redactPatterns(redactKeys(replaceSpans(s, KeptValues(s)))))
}

// redactHidden takes out what shows only once hidden characters are gone. The text is seen as a whole: a key has many lines.
func redactHidden(s string) string {
	if see(s).same() {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if plain(line) {
			continue
		}
		if c := strings.ReplaceAll(clean(line), "\n", " "); redactDiffs(c) != c {
			lines[i] = redactDiffs(c)
		}
	}
	s = strings.Join(lines, "\n")
	v := see(s)
	if v.same() {
		return s
	}
	found := joinSpans(KeptValues(v.text), keyRegions(v.text), patternSpans(v.text), assignmentSpans(v.text))
	if len(found) == 0 {
		found = deepSpans(v.text)
	}
	return replaceSpans(s, joinSpans(v.inRaw(found)))
}
