package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// TestAnEndpointThatReadOnlyAPart has an endpoint say how much it read of 6,000 words and 2,000 runs of punctuation, in each protocol.
func TestAnEndpointThatReadOnlyAPart(t *testing.T) {
	change := strings.Repeat("return compute(value, other) // ordinary words\n", 1000)
	said := func(role, text string) map[string]any { return map[string]any{"role": role, "content": text} }
	for _, row := range []struct {
		name   string
		system string
		own    string // what the model said before
		usage  *fakemodel.Usage
		unread bool
	}{
		{"all", "", "", &fakemodel.Usage{Input: 11000, Output: 5}, false},
		{"a tokenizer that takes some two words for one", "", "", &fakemodel.Usage{Input: 6200, Output: 5}, false},
		{"more than half", "", "", &fakemodel.Usage{Input: 5900, Output: 5}, true},
		{"the end", "", "", &fakemodel.Usage{Input: 2302, Output: 5}, true},
		{"nearly all from a cache", "", "", &fakemodel.Usage{Input: 11000, Cached: 10900, Output: 5}, false},
		{"a part, some of it from a cache", "", "", &fakemodel.Usage{Input: 2302, Cached: 1000, Output: 5}, true},
		{"a part, all of it from a cache", "", "", &fakemodel.Usage{Input: 2302, Cached: 2302, Output: 5}, true},
		{"it says nothing", "", "", nil, false},
		{"it says that it read nothing", "", "", &fakemodel.Usage{Output: 5}, false},
		{"what came first is dropped", change, "", &fakemodel.Usage{Input: 6200, Output: 5}, true},
		{"what the model said itself is dropped", "", change, &fakemodel.Usage{Input: 6200, Output: 5}, false},
	} {
		for _, path := range completions {
			for _, stream := range []bool{false, true} {
				t.Run(row.name+path+map[bool]string{true: " in a stream"}[stream], func(t *testing.T) {
					r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "all is well", Usage: row.usage, NoUsage: row.usage == nil}}, review.Limits{})
					talk := []any{said("user", change)}
					if row.own != "" {
						talk = append(talk, said("assistant", row.own), said("user", "go on"))
					}
					fields := map[string]any{"model": mini, "stream": stream}
					switch path {
					case pathChat:
						fields["messages"] = append([]any{said("system", "Review it. "+row.system)}, talk...)
					case pathResponses:
						fields["input"], fields["instructions"] = talk, row.system
					default:
						fields["messages"], fields["system"], fields["max_tokens"] = talk, row.system, 100
					}
					body, _ := json.Marshal(fields)
					req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway/v1"+path, bytes.NewReader(body))
					req.Header.Set("Authorization", "Bearer "+r.token)
					resp, err := r.client().Do(req)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					var answer bytes.Buffer
					_, cut := answer.ReadFrom(resp.Body)
					var unread *UnreadError
					if got := errors.As(r.g.Err("r1"), &unread); got != row.unread {
						t.Fatalf("%v, want unread %v: %s", r.g.Err("r1"), row.unread, answer.String())
					}
					if whole := resp.StatusCode == http.StatusOK && cut == nil; whole == row.unread || strings.Contains(answer.String(), CodeUnread) != row.unread {
						t.Errorf("%d %v %s", resp.StatusCode, cut, answer.String())
					}
					if row.unread && unread.Read != row.usage.Input {
						t.Errorf("%v of %+v", unread, row.usage)
					}
				})
			}
		}
	}
}

// TestCachedTokensAreNotReadTwice has an endpoint count what its cache held as a part of its input, as most do, or apart.
func TestCachedTokensAreNotReadTwice(t *testing.T) {
	for _, row := range []struct {
		input, cached int
		unread        bool
	}{{2300, 2300, true}, {100, 2300, true}, {100, 5900, false}, {6000, 5900, false}} {
		if err := unreadBy(&upstream{}, spent{input: &row.input, cached: &row.cached}, &call{words: 6000}); (err != nil) != row.unread {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestCountWords(t *testing.T) {
	for _, row := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"import org.springframework.context.Configuration;\r\n", 6},
		{"if (m := a[i].next(); m != nil) { // x/y", 15},
		{"</td></tr> /* */ \"a\": 'b', don't e.g. 1.5 -1", 16},
		{"a。) (“b”)", 2},
		{strings.Repeat(" \t", 1000) + strings.Repeat("-+", 1000) + strings.Repeat("\n", 1000), 1},
		{strings.Repeat("=", 80) + strings.Repeat("─", 80) + strings.Repeat("x", 80), 1},
		{strings.Repeat("iVBORw0KGgo", 16), 11},
		{"हिन्दी में लिखा", 3},
		{"이 함수는 값을 돌려준다", 4},
		{"これはテストです", 1},
	} {
		if got := countWords(row.text); got != row.want {
			t.Errorf("%.40q has %d words, want %d", row.text, got, row.want)
		}
	}
}
