package signin

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestNoToken: whatever comes instead of a token is an error that can be read and holds no secret, and nobody is signed in.
func TestNoToken(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"refused":       {http.StatusBadRequest, `{"error":"bad_verification_code"}`, ErrDenied},
		"without token": {http.StatusOK, `{"token_type":"bearer"}`, nil},
		"no JSON":       {http.StatusOK, "<html>", nil},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(row.status)
			_, _ = io.WriteString(w, row.body)
		}))
		g := GitHub{Host: "github.com", Web: server.URL, API: server.URL, ID: "client", Secret: "hush"}
		p, err := g.End(t.Context(), Visit{State: "s", Verifier: "v"}, url.Values{"state": {"s"}, "code": {"c"}})
		server.Close()
		if err == nil || p.Login != "" || row.want != nil && !errors.Is(err, row.want) || strings.Contains(err.Error(), "%!") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := (GitHub{}).End(t.Context(), Visit{}, url.Values{"code": {"c"}}); !errors.Is(err, ErrState) {
		t.Errorf("nobody began: %v", err)
	}
}
