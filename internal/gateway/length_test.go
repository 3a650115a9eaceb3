package gateway

import (
	"fmt"
	"strings"
	"testing"
)

// A whole answer is held to the tokens its request allowed, as a stream is, in the shapes of both APIs.
func TestOverlong(t *testing.T) {
	long, short := strings.Repeat("x", 100*bytesPerToken+outputSlack+1), strings.Repeat("x", 100*bytesPerToken)
	chat, responses := `{"choices":[{"message":{"role":"assistant","content":%q}}]}`, `{"output":[{"type":"message","content":[{"type":"output_text","text":%q}]}]}`
	within, beyond := 100, 101
	for _, c := range []struct {
		rule  string
		data  string
		count *int
		over  bool
	}{
		{"a chat answer within the limit", fmt.Sprintf(chat, short), nil, false},
		{"a chat answer beyond it", fmt.Sprintf(chat, long), nil, true},
		{"a responses answer within the limit", fmt.Sprintf(responses, short), nil, false},
		{"a responses answer beyond it", fmt.Sprintf(responses, long), nil, true},
		{"tool arguments count too", fmt.Sprintf(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":%q}}]}}]}`, long), nil, true},
		{"the endpoint's own count is believed", fmt.Sprintf(chat, long), &within, false},
		{"an endpoint that owns up to more is not", fmt.Sprintf(chat, long), &beyond, true},
		{"a short answer is short whatever it cost", fmt.Sprintf(chat, short), &beyond, false},
		{"what is no JSON counts as it stands", long, nil, true},
	} {
		err := overlong([]byte(c.data), spent{output: c.count}, 100)
		if (err != nil) != c.over {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}
