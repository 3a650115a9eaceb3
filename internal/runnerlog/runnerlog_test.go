package runnerlog

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"testing"
)

// The runner of GitHub Actions ends a line at a carriage return as well as at a line feed; text without commands stays as it is.
func TestInert(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\r\ntext\n\n":   "plain\r\ntext\n\n",
		"a\r::add-mask::x":    "a\r> ::add-mask::x",
		"a\n ::error::x\r\nb": "a\n>  ::error::x\r\nb",
		"a ##[add-path]x":     "a ## [add-path]x",
		"a ##vso[task.x]y":    "a ## vso[task.x]y",
		"##TeamCity[x] ##b":   "## TeamCity[x] ##b",
		"###[a]##[b]####vso[": "### [a]## [b]#### vso[",
		"\r\r::x":             "\r\r> ::x",
		"":                    "",
		"std::vector":         "std::vector",
	} {
		if got := Inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What is read of JSON and XML is what was written.
func TestEscapes(t *testing.T) {
	t.Parallel()
	order := regexp.MustCompile("##" + Order)
	for _, s := range []string{"##[error]x", "###vso[a]##teamcity[b]", "####[", "## [x", "#", "plain"} {
		var fromJSON, fromXML string
		text, _ := json.Marshal(s)
		if out := JSON(string(text)); order.MatchString(out) || json.Unmarshal([]byte(out), &fromJSON) != nil || fromJSON != s {
			t.Errorf("%q as JSON: %s", s, out)
		}
		text, _ = xml.Marshal(s)
		if out := XML(string(text)); order.MatchString(out) || xml.Unmarshal([]byte(out), &fromXML) != nil || fromXML != s {
			t.Errorf("%q as XML: %s", s, out)
		}
	}
}
