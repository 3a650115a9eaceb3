package progress

import (
	"bytes"
	"strings"
	"testing"
)

// An error is one annotation: its words can start no other command, mention nobody, and hold no secret.
func TestAnnotateError(t *testing.T) {
	for _, c := range []struct{ what, sentence, next, want string }{
		{"with a next step", "no model is configured", "set OPENAI_API_KEY", "::error title=prloop::no model is configured%0Atry: set OPENAI_API_KEY\n"},
		{"without", "interrupted", "", "::error title=prloop::interrupted\n"},
		{"untrusted words", "HTTP 400: cc @octocat\n::set-output name=a::b 100%", "", ""},
		{"a secret", "refused ghp_16C7e42F292c6912E7710c838347Ae178B4a", "", ""},
	} {
		var b bytes.Buffer
		AnnotateError(&b, c.sentence, c.next)
		got := b.String()
		if c.want != "" && got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if strings.Count(got, "\n") != 1 || strings.Contains(got, "@octocat") || strings.Contains(got, "ghp_16") || strings.Contains(got, "100%\n") {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}
