package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// Images of a few bytes are reserved as what they may cost (threats.md T354).
func TestMediaAreReserved(t *testing.T) {
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	body := fmt.Sprintf(`{"model":"%s","messages":[{"role":"user","content":[%s]}]}`, mini, strings.TrimSuffix(strings.Repeat(image+",", 40), ","))
	c, no := inspect(pathChat, []byte(body), nil)
	if no != nil || c.media != 40*40_000 {
		t.Fatalf("%+v, %v", c, no)
	}
	r, _, _ := pair(t, fakemodel.Answer{Text: "seen"}, func(*Options) {})
	r.token = r.g.Issue("sees", review.Limits{LLMCalls: 5, CostUSD: 0.01}, known...)
	resp, err := r.post(body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusPaymentRequired {
		t.Errorf("HTTP %d", resp.StatusCode)
	}
}

// Limits of thoughts are cut to the answer's (threats.md T354).
func TestLimitsOfThoughts(t *testing.T) {
	for _, field := range []string{`"thinking_budget":1000000000`, `"thinking_budget":1e9`, `"reasoning":{"effort":"high","max_tokens":1000000000}`, `"thinking":{"type":"enabled","budget_tokens":1000000000}`} {
		c, no := inspect(pathChat, []byte(`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"x"}],`+field+`}`), nil)
		if no != nil {
			t.Errorf("%s: %v", field, no)
			continue
		}
		out, err := c.render("m", 100, func(map[string]json.RawMessage) {})
		if err != nil {
			t.Fatal(err)
		}
		sent := ""
		for _, s := range out {
			sent += string(s)
		}
		if strings.Contains(sent, "1000000000") || strings.Contains(sent, "1e9") {
			t.Errorf("%s: sent as %s", field, sent)
		}
	}
}

// What is given whole is an image or a PDF document (threats.md T354).
func TestDataAddresses(t *testing.T) {
	for url, passes := range map[string]bool{
		"data:image/png;base64,AAAA": true, "data:image/jpeg;base64,AAAA": true, "data:application/pdf;base64,AAAA": true,
		"data:image/svg+xml,<svg/>": false, "data:image/svg+xml;base64,AAAA": false, "data:text/html,<img src=https://example.com>": false, "https://example.com/x.png": false, "data:,x": false,
	} {
		_, no := inspect(pathChat, []byte(fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":%q}}]}]}`, url)), nil)
		if (no == nil) != passes {
			t.Errorf("%s: %v", url, no)
		}
	}
}
