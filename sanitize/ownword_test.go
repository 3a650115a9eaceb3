package sanitize

import "testing"

// What a text has itself is never what stands for a hidden value, and comes back as it was.
func TestOwnWordsAreSpelled(t *testing.T) {
	for s, want := range map[string]string{
		"a [REDACTED] b":                                     "a [REDACTED~] b",
		"[REDACTED~][REDACTED][REDACTED]":                    "[REDACTED~~][REDACTED~][REDACTED~]",
		"[REDACTED] [REDACTED]~1f3a":                         "[REDACTED~] [REDACTED~]~1f3a",
		"[[REDACTED]] [REDACTED [redacted] \xff[REDACTED~~]": "[[REDACTED~]] [REDACTED [redacted] \xff[REDACTED~~~]",
		"a ⟨U+001F⟩ \x1f":                                    "a ⟨~U+001F⟩ \x1f",
		"⟨~U+001F⟩ ⟨0xE9⟩ ⟨U+1F⟩ U+001F":                     "⟨~~U+001F⟩ ⟨0xE9⟩ ⟨U+1F⟩ U+001F",
	} {
		if got := Spelled(s); got != want || Unspelled(got) != s {
			t.Errorf("Spelled(%q) is %q, and that %q again", s, got, Unspelled(got))
		}
	}
	const head = "+++ b/[REDACTED]~1f3a\n"
	if got := SpelledDiff(head + "@@ -1 +1 @@ [REDACTED]\n+[REDACTED]\n"); got != head+"@@ -1 +1 @@ [REDACTED~]\n+[REDACTED~]\n" {
		t.Errorf("a diff is %q", got)
	}
}

// What a whole file, or its name, says of a line is known of it as it is spelled.
func TestKeysOfSpelledLines(t *testing.T) {
	const line, other = `password = "Zq5NmA75mADh" # not [REDACTED]`, `# [REDACTED] password = "Zq5NmA75mADh"`
	keys := KeyLines{}
	keys.LearnNamed("prod.tfvars", line+"\n")
	keys.LearnNamed("a.tf", other)
	piece := "+" + Spelled(line) + "\n+" + Spelled(other)
	if maskChange(t, nil, &piece, map[*string]KeyLines{&piece: keys}); piece != "+password = \"[REDACTED]\" # not [REDACTED~]\n+# [REDACTED~] password = \"[REDACTED]\"" {
		t.Error(piece)
	}
}
