package broker_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/broker"
)

const key = "sk-planted-0123456789abcdef"

// held starts a broker of one endpoint and gives the way through it.
func held(t *testing.T, list ...broker.Endpoint) http.RoundTripper {
	t.Helper()
	h, err := broker.Keys(list, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "prloop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "keys")
	l, err := broker.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket is open to others: %v, %v", info.Mode(), err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	if _, err := broker.Listen(socket); err == nil {
		t.Error("two brokers are at one socket")
	}
	return broker.Through(socket, http.DefaultTransport)
}

func call(t *testing.T, by http.RoundTripper, method, address, endpoint, credential string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(broker.EndpointHeader, endpoint)
	req.Header.Set("Authorization", "Bearer "+credential)
	req.Header.Set("X-Other", "other")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := by.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if credential == broker.Held && resp.Header.Get("Set-Cookie") != "" {
		t.Error("a cookie comes through")
	}
	return resp.StatusCode, string(body)
}

// The endpoint gets the key from the broker, nothing else than its calls are made, and the key does not come back.
func TestKeys(t *testing.T) {
	var got []string
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Other")+r.Header.Get(broker.EndpointHeader)+r.Header.Get("X-Forwarded-For"))
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range []string{"your key is sk-planted", "-0123456789", "abcdef, and sk-pl", "anned is none"} { // in pieces, as streams come
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer endpoint.Close()
	by := held(t,
		broker.Endpoint{Name: "one", BaseURL: endpoint.URL + "/v1/", Key: key, Calls: []string{"POST /chat/completions"}},
		broker.Endpoint{Name: "none", BaseURL: endpoint.URL + "/v1"},
	)
	status, body := call(t, by, "POST", endpoint.URL+"/v1/chat/completions", "one", broker.Held)
	if want := "your key is ***, and sk-planned is none"; status != http.StatusOK || body != want {
		t.Errorf("%d %q, want %q", status, body, want)
	}
	if want := "POST /v1/chat/completions Bearer " + key; len(got) != 1 || got[0] != want {
		t.Errorf("the endpoint had %q, want %q", got, want)
	}
	for _, row := range []struct{ method, address, endpoint string }{
		{"GET", endpoint.URL + "/v1/chat/completions", "one"},
		{"POST", endpoint.URL + "/v1/files", "one"},
		{"POST", endpoint.URL + "/v1/chat/completions/../files", "one"},
		{"POST", endpoint.URL + "/v2/chat/completions", "one"},
		{"POST", "http://127.0.0.1:1/v1/chat/completions", "one"},
		{"POST", endpoint.URL + "/v1/chat/completions", "two"},
		{"POST", endpoint.URL + "/v1/chat/completions", "none"},
	} {
		if status, body := call(t, by, row.method, row.address, row.endpoint, broker.Held); status < 400 || !strings.Contains(body, `"message"`) {
			t.Errorf("%s %s of %s: %d %s", row.method, row.address, row.endpoint, status, body)
		}
	}
	if len(got) != 1 {
		t.Errorf("the endpoint had %q", got)
	}
	if _, body := call(t, by, "POST", endpoint.URL+"/v1/chat/completions", "", "of-their-own"); !strings.Contains(body, "your key") || !strings.HasSuffix(got[1], "Bearer of-their-ownother") {
		t.Errorf("what has a key of its own goes through the broker: %q", got)
	}
}

// What could hand a key to somebody else is refused before anything is served.
func TestEndpoints(t *testing.T) {
	for _, base := range []string{"http://models.example.com/v1", "https://user:secret@models.example.com", "ftp://models.example.com", "https://models.example.com?x=1", "https://", "::"} {
		if _, err := broker.Keys([]broker.Endpoint{{Name: "one", BaseURL: base, Key: key}}, hclog.NewNullLogger()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", base, err)
		}
	}
	if _, err := broker.Keys([]broker.Endpoint{{Name: "one", BaseURL: "https://models.example.com"}}, hclog.NewNullLogger()); err == nil {
		t.Error("a broker without a key")
	}
}

// A socket that a dead process left is used again; a file of another kind is not removed.
func TestListen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := broker.Listen(file); err == nil {
		t.Error("a file was taken for a socket")
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Error(fmt.Sprint(data), err)
	}
}
