package secretrules

import (
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const key = "9f86d081884c7d659a2feaa0c55ad015"
	for _, c := range []struct {
		clause, text string
		want         []string
	}{
		{"the group of a rule is the secret", `adafruit_key = "` + key + `"`, []string{key}},
		{"the group that a rule names is the secret", `sonar_login = "squ_` + key + `9f86d081"`, []string{"squ_" + key + "9f86d081"}},
		{"a rule without groups takes all it matches", "x LTAI5tBv8Qd3rW7nZc1pKf0a\n", []string{"LTAI5tBv8Qd3rW7nZc1pKf0a"}},
		{"what is not random enough is no secret", `adobe_id = "` + strings.Repeat("ab", 16) + `"`, nil},
		{"what all rules allow is no secret", `adafruit_key = "` + strings.Repeat("a", 32) + `"`, nil},
		{"a stop word is no secret", `client_key = "example-9f86d081884c"`, nil},
		{"without it, it is one", `client_key = "9f86d081884c-7d659a2f"`, []string{"9f86d081884c-7d659a2f"}},
		{"an allowed line hides what stands in it", `--mount=type=secret,client_key="9f86d081884c-7d659a2f"`, nil},
		{"and no other line", "--mount=type=secret,id\nclient_key=\"9f86d081884c-7d659a2f\"\n", []string{"9f86d081884c-7d659a2f"}},
		{"an allowed name hides its value", `primary_key = "9f86d081884c-7d659a2f"`, nil},
		{"the rule that knows the issuer is heard", `adafruit_token = "` + key + `"`, []string{key}},
		{"text without a keyword", key, nil},
		{"no text", "", nil},
	} {
		found, ok := Find(c.text, 100)
		var got []string
		for _, secret := range found {
			if got = append(got, secret.Text); secret.Generic != strings.Contains(c.text, "client_key") {
				t.Errorf("%s: %+v in %q", c.clause, secret, c.text)
			}
		}
		if slices.Sort(got); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: in %q %q, want %q", c.clause, c.text, got, c.want)
		}
	}
	if got, ok := Find("adafruit adobe airtable", 3); ok || got != nil {
		t.Errorf("four rules were tried where three may be: %v", got)
	}
	if _, ok := Find("adafruit adobe airtable", 4); !ok {
		t.Error("four rules were not tried where four may be")
	}
}

// The table holds all rules, and none that would be tried on every text.
func TestRules(t *testing.T) {
	if n := len(Rules()); n < 200 {
		t.Errorf("%d rules", n)
	}
	for _, r := range Rules() {
		if len(r.Keywords) == 0 || slices.Contains(r.Keywords, "") || strings.ToLower(strings.Join(r.Keywords, "")) != strings.Join(r.Keywords, "") {
			t.Errorf("%s: keywords %q", r.id, r.Keywords)
		}
	}
}
