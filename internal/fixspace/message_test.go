package fixspace

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/sanitize"
)

// Whatever mark an agent cuts a secret by, and wherever: the message that is made of it holds nothing that redacting would still change (threats.md T742).
func TestMessageJoinsNoSecret(t *testing.T) {
	tokens := []string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLF", "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
		"glpat-x7Yz_Q2w9RtLk4PbNm3s", "password = hunter2hunter9X", "sk-ant-api03-" + strings.Repeat("aB3dE5fG7h", 9)}
	for _, token := range tokens {
		for _, mark := range []string{"#", "##", "@", "^", "!", "***", "::", "+semver", "\u200b", "\u00ad", "\x00", "\ufe0f", " ", "/", "$", "[skip ci]", "fixup!", "BREAKING CHANGE"} {
			for at := range len(token) + 1 {
				for _, said := range []string{"use " + token[:at] + mark + token[at:], "A change\n\nuse " + token[:at] + mark + token[at:] + " here\n\nmore"} {
					m := plain(said)
					if strings.Contains(m, token) || sanitize.Redact(m) != m {
						t.Fatalf("%q becomes %q", said, m)
					}
					subject, body, _ := strings.Cut(m, "\n")
					if again := pushpolicy.Message(subject, body); again != m || !strings.HasPrefix(m, "use ") && !strings.HasPrefix(m, "A change\n") && !strings.HasPrefix(m, "Change: ") {
						t.Fatalf("%q becomes %q, and then %q", said, m, again)
					}
				}
			}
		}
	}
}
