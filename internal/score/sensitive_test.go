package score

import "testing"

func TestSensitive(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"a dependency names it (spec.md D3.1)", `{"dependencies":{"stripe":"^1"}}`, "stripe"},
		{"a README names it", "We store personal data of our customers.", "personal data"},
		{"usual words do not", "A parser for user orders, with tokens and accounts.", ""},
		{"part of a word does not", "bankruptcy of embankments", ""},
	} {
		if got, ok := Sensitive(c.text); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v", c.rule, got, ok)
		}
	}
}
