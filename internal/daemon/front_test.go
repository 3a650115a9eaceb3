package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/review"
)

// So many connections are let in as there is room for; more wait, each that goes lets one in, and closing ends the waiting.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &limited{Listener: inner, room: make(chan struct{}, 2), done: make(chan struct{})}
	accepted, ended := make(chan net.Conn, 10), make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	for range 5 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first, second := <-accepted, <-accepted
	defer second.Close()
	if n := len(accepted); n != 0 {
		t.Errorf("%d more were let in", n)
	}
	first.Close()
	first.Close() // gives its room back once
	third := <-accepted
	defer third.Close()
	if n := len(accepted); n != 0 {
		t.Errorf("%d more were let in", n)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("it still accepts")
	}
}

// Clients that never end their headers or their bodies are sent away, and others are answered meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, "slow", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "ok")
	}))
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes > 64<<10 {
		t.Errorf("something is without bound: %+v", s)
	}
	s.ReadHeaderTimeout, s.ReadTimeout = 200*time.Millisecond, 400*time.Millisecond
	go s.Serve(Bounded(l)) //nolint:errcheck // it ends with the test
	defer s.Close()
	gone := make(chan string, 40)
	for i := range cap(gone) {
		go func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				gone <- err.Error()
				return
			}
			defer c.Close()
			begin := "POST /webhook HTTP/1.1\r\nHost: x\r\nX-Slow: "
			if i%2 == 0 {
				begin = "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
			}
			_, _ = io.WriteString(c, begin)
			answer, _ := io.ReadAll(c) // until it is sent away
			gone <- string(answer)
		}()
	}
	resp, err := http.Post("http://"+l.Addr().String()+"/webhook", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("somebody else is answered with %d", resp.StatusCode)
	}
	n := 0
	eventually.True(t, "slow clients to be sent away", func() bool {
		select {
		case answer := <-gone:
			if n++; strings.Contains(answer, " 200 ") {
				t.Errorf("a slow client is answered: %q", answer)
			}
		default:
		}
		return n == cap(gone)
	})
}

func TestServed(t *testing.T) {
	t.Parallel()
	s := Served{{Host: "github.com", Owner: "acme", Name: "widgets"}, {Host: "github.com", Owner: "octo"}}
	for _, row := range []struct {
		repo   review.Repo
		served bool
	}{
		{review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, true},
		{review.Repo{Host: "github.com", Owner: "Acme", Name: "Widgets"}, true},
		{review.Repo{Host: "github.com", Owner: "acme", Name: "widgets2"}, false},
		{review.Repo{Host: "ghe.example.com", Owner: "acme", Name: "widgets"}, false},
		{review.Repo{Host: "github.com", Owner: "octo", Name: "anything"}, true},
		{review.Repo{Host: "github.com", Owner: "octopus", Name: "anything"}, false},
		{review.Repo{}, false},
	} {
		if got := s.refuses(row.repo) == ""; got != row.served {
			t.Errorf("%s: %v", row.repo, got)
		}
	}
}
