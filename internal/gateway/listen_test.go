package gateway

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

func (r *rig) dialled(address, path, token string) (int, error) {
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(chat(mini, "x", false)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func TestAgentsThatSpeakTCPOnly(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 9}, func(o *Options) { o.TCP = true })
	if host, _, err := net.SplitHostPort(r.g.Addr()); err != nil || host != "127.0.0.1" {
		t.Fatalf("it listens on %q", r.g.Addr())
	}
	for token, want := range map[string]int{r.token: http.StatusOK, "prloop-invented": http.StatusUnauthorized} {
		if status, err := r.dialled(r.g.Addr(), "/v1/chat/completions", token); err != nil || status != want {
			t.Errorf("%d %v, want %d", status, err, want)
		}
	}
	if err := r.g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.dialled(r.g.Addr(), "/v1/models", r.token); err == nil {
		t.Error("the gateway still listens")
	}
	if r = setup(t, fakemodel.Script{}, review.Limits{}); r.g.Addr() != "" {
		t.Error("a port is open that nobody asked for")
	}
}

func TestOtherProtocolsAreRefusedByName(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	for path, name := range map[string]string{
		"/v1beta/models/gemini-2.5-pro:generateContent": "Gemini", "/v1/models/gemini-2.5-pro:streamGenerateContent": "Gemini",
	} {
		resp, err := r.client().Post("http://gateway"+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		_ = resp.Write(&body)
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body.String(), CodeProtocol) || !strings.Contains(body.String(), name) {
			t.Errorf("%s: %s", path, body.String())
		}
	}
}

// slowly is a body that comes in pieces.
type slowly struct{ left int }

func (s *slowly) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(10 * time.Millisecond)
	n := min(len(p), s.left, 16<<10)
	s.left -= n
	return n, nil
}

// Whoever is refused for an unknown token reads so, also while it is still writing.
func TestAnUnknownTokenIsToldSo(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) { o.TCP = true })
	body := &slowly{512 << 10}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.g.Addr()+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(body.left)
	req.Header.Set("Authorization", "Bearer prloop-invented")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized || body.left > 0 {
		t.Errorf("%d with %d bytes left", resp.StatusCode, body.left)
	}
}
