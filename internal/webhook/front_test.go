package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/webhook"
)

// to sends every request to a server, whatever host it names.
type to struct{ server *url.URL }

func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = t.server.Host
	return http.DefaultTransport.RoundTrip(r)
}

// What stands behind a front hears of deliveries that the front verified, needs no secret, and its refusals are the front's.
func TestForward(t *testing.T) {
	for name, row := range map[string]struct {
		take error
		want int
	}{
		"written down": {nil, http.StatusAccepted}, "malformed": {webhook.ErrMalformed, http.StatusBadRequest}, "not written down": {errors.New("no room"), http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var got webhook.Delivery
			behind := httptest.NewServer(webhook.Verified(webhook.Options{Take: func(_ context.Context, d webhook.Delivery) error { got = d; return row.take }}))
			defer behind.Close()
			address, err := url.Parse(behind.URL)
			if err != nil {
				t.Fatal(err)
			}
			front, err := webhook.New(webhook.Options{Secrets: []string{secret}, Take: webhook.Forward(to{address})})
			if err != nil {
				t.Fatal(err)
			}
			const body = `{"zen":"x"}`
			status := func(header string) int {
				r := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("X-GitHub-Delivery", "84ef8367-81ed-b103-3372-094b0062ab41")
				r.Header.Set("X-GitHub-Event", "ping")
				r.Header.Set("X-Hub-Signature-256", header)
				w := httptest.NewRecorder()
				front.ServeHTTP(w, r)
				return w.Code
			}
			if n := status(signed("of-somebody-else-entirely", body)); n != http.StatusUnauthorized || got.GUID != "" {
				t.Errorf("forged: %d, %+v", n, got)
			}
			if n := status(signed(secret, body)); n != row.want || string(got.Body) != body || got.Event != "ping" || got.GUID == "" {
				t.Errorf("%d, want %d; %+v", n, row.want, got)
			}
		})
	}
}
