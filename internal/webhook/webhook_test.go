package webhook_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/webhook"
)

const (
	secret = "0123456789abcdef"
	older  = "fedcba9876543210"
	id     = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
)

func signed(secret, body string) string {
	mac := webhook.Sign(secret, []byte(body))
	return "sha256=" + hex.EncodeToString(mac[:])
}

// delivery is a good one, and change what is wrong with it.
func delivery(body string, change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
	for k, v := range map[string]string{"Content-Type": "application/json", "X-GitHub-Delivery": id, "X-GitHub-Event": "ping", "X-Hub-Signature-256": signed(secret, body)} {
		r.Header.Set(k, v)
	}
	if change != nil {
		change(r)
	}
	return r
}

func TestDeliveries(t *testing.T) {
	const body = `{"zen":"Keep it logically awesome."}`
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	twice := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Add(name, r.Header.Get(name)) }
	}
	for _, row := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"as GitHub sends it", nil, http.StatusAccepted},
		{"a charset", set("Content-Type", "application/json; charset=utf-8"), http.StatusAccepted},
		{"the other secret", set("X-Hub-Signature-256", signed(older, body)), http.StatusAccepted},
		{"no signature", func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, http.StatusUnauthorized},
		{"SHA-1", set("X-Hub-Signature-256", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6"), http.StatusUnauthorized},
		{"a short signature", set("X-Hub-Signature-256", signed(secret, body)[:70]), http.StatusUnauthorized},
		{"upper case", set("X-Hub-Signature-256", "sha256="+strings.ToUpper(signed(secret, body)[7:])), http.StatusUnauthorized},
		{"no digits", set("X-Hub-Signature-256", "sha256="+strings.Repeat("g", 64)), http.StatusUnauthorized},
		{"another secret", set("X-Hub-Signature-256", signed("0123456789abcdeg", body)), http.StatusUnauthorized},
		{"an empty secret", set("X-Hub-Signature-256", signed("", body)), http.StatusUnauthorized},
		{"another body", set("X-Hub-Signature-256", signed(secret, body+" ")), http.StatusUnauthorized},
		{"two signatures", twice("X-Hub-Signature-256"), http.StatusUnauthorized},
		{"two ids", twice("X-GitHub-Delivery"), http.StatusBadRequest},
		{"no id", func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, http.StatusBadRequest},
		{"an id with a line end", set("X-GitHub-Delivery", "a\nb"), http.StatusBadRequest},
		{"no event", func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, http.StatusBadRequest},
		{"a form", set("Content-Type", "application/x-www-form-urlencoded"), http.StatusUnsupportedMediaType},
		{"GET", func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		{"no length", func(r *http.Request) { r.ContentLength = -1 }, http.StatusLengthRequired},
		{"too long", func(r *http.Request) { r.ContentLength = webhook.Longest + 1 }, http.StatusRequestEntityTooLarge},
		{"longer than it is", func(r *http.Request) { r.ContentLength = 1000 }, http.StatusBadRequest},
	} {
		t.Run(row.name, func(t *testing.T) {
			taken := 0
			h, err := webhook.New(webhook.Options{Secrets: []string{secret, older}, Take: func(_ context.Context, d webhook.Delivery) error {
				if taken++; d.GUID != id || d.Event != "ping" || string(d.Body) != body {
					t.Errorf("taken: %+v", d)
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, delivery(body, row.change))
			if w.Code != row.status || (taken == 1) != (row.status == http.StatusAccepted) {
				t.Errorf("%d %q, taken %d times; want %d", w.Code, w.Body, taken, row.status)
			}
			if strings.Contains(w.Body.String(), secret) {
				t.Error("the answer holds the secret")
			}
		})
	}
}

func TestWhatIsNotWrittenDownFails(t *testing.T) {
	for _, row := range []struct {
		err    error
		status int
	}{{webhook.ErrMalformed, http.StatusBadRequest}, {errors.New("the disk is full of secrets"), http.StatusServiceUnavailable}} {
		h, err := webhook.New(webhook.Options{Secrets: []string{secret}, Take: func(context.Context, webhook.Delivery) error { return row.err }})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, delivery("{}", nil))
		if w.Code != row.status || strings.Contains(w.Body.String(), "disk") {
			t.Errorf("%v: %d %q", row.err, w.Code, w.Body)
		}
	}
}

func TestNoSecretNoHandler(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"short"}, {secret, "short"}} {
		if _, err := webhook.New(webhook.Options{Secrets: secrets}); !errors.Is(err, webhook.ErrNoSecret) {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}

// Deliveries that say how large they are and never come keep no other one out, whatever they say.
func TestLargeOnesLeaveRoom(t *testing.T) {
	for _, row := range []struct {
		says  int64
		times int
	}{{webhook.Longest, 2}, {webhook.Longest, 500}, {1 << 20, 500}} {
		t.Run(fmt.Sprint(row), func(t *testing.T) { leaveRoom(t, row.says, row.times) })
	}
}

func leaveRoom(t *testing.T, says int64, times int) {
	h, err := webhook.New(webhook.Options{Secrets: []string{secret}, Take: func(context.Context, webhook.Delivery) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	reading := make(chan struct{}, times)
	for range times {
		body, never := io.Pipe()
		wg.Go(func() {
			r := delivery("{}", nil).WithContext(ctx)
			r.Body, r.ContentLength = reader{body, func() { reading <- struct{}{} }}, says
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
		context.AfterFunc(ctx, func() { never.Close() })
	}
	for range times {
		select {
		case <-reading:
		case <-time.After(20 * time.Second):
			t.Fatal("some are not even read")
		}
	}
	for _, body := range []string{"{}", strings.Repeat("x", 1<<20), strings.Repeat("y", 3<<20)} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, delivery(body, nil))
		if w.Code != http.StatusAccepted {
			t.Errorf("one of %d bytes: %d %s", len(body), w.Code, w.Body)
		}
	}
	cancel()
	wg.Wait()
}

// Clients that send all but the end of what fills the memory keep out none that are as small as nearly all are (threats.md T678).
func TestSmallOnesHaveRoom(t *testing.T) {
	h, err := webhook.New(webhook.Options{Secrets: []string{secret}, Take: func(context.Context, webhook.Delivery) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	const size, times = 1 << 20, 64
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	sent := make(chan struct{}, times)
	for range times {
		end, never := io.Pipe()
		wg.Go(func() {
			r := delivery("{}", nil).WithContext(ctx)
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", size-1)), reader{end, func() { sent <- struct{}{} }}))
			r.ContentLength = size
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
		context.AfterFunc(ctx, func() { never.Close() })
	}
	for range times {
		<-sent
	}
	for _, body := range []string{"{}", strings.Repeat("x", 64<<10)} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, delivery(body, nil))
		if w.Code != http.StatusAccepted {
			t.Errorf("one of %d bytes: %d %s", len(body), w.Code, w.Body)
		}
	}
	cancel()
	wg.Wait()
}

// reader tells when it is read from.
type reader struct {
	io.ReadCloser
	read func()
}

func (r reader) Read(p []byte) (int, error) {
	r.read()
	return r.ReadCloser.Read(p)
}

// Nothing but the signature lets a body in.
func FuzzSignature(f *testing.F) {
	f.Add([]byte("{}"), signed(secret, "{}"))
	f.Add([]byte("{}"), signed(secret, "{} "))
	f.Add([]byte(""), "sha256=")
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		taken := false
		h, err := webhook.New(webhook.Options{Secrets: []string{secret}, Take: func(context.Context, webhook.Delivery) error { taken = true; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-GitHub-Delivery", id)
		r.Header.Set("X-GitHub-Event", "ping")
		r.Header["X-Hub-Signature-256"] = []string{header}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if want := len(body) > 0 && header == signed(secret, string(body)); taken != want {
			t.Errorf("%q signed %q: taken %v", body, header, taken)
		}
	})
}
