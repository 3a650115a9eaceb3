package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/review"
)

// Bounds of what strangers may take of the front.
const (
	// mostConnections are open at a time; more wait in the kernel's queue.
	mostConnections = 512
	headerTime      = 5 * time.Second
	bodyTime        = 10 * time.Second
	idleTime        = 30 * time.Second
	headerBytes     = 16 << 10
)

// NewServer makes a server that no slow or silent client keeps from the others for long.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
	}
}

// mux is what is served: deliveries at /webhook, and whether the process lives and works.
func (d *Daemon) mux(deliveries http.Handler) http.Handler {
	m := http.NewServeMux()
	m.Handle("/webhook", deliveries)
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	m.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		_, err := d.record.Due(ctx, 1)
		switch {
		case err != nil:
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		case !d.ready.Load():
			http.Error(w, "nothing is being done", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ok")
		}
	})
	return m
}

// readyTime is how long the database may take to answer.
const readyTime = 2 * time.Second

// Bounded lets so many connections in at a time.
func Bounded(l net.Listener) net.Listener {
	return &limited{Listener: l, room: make(chan struct{}, mostConnections), done: make(chan struct{})}
}

type limited struct {
	net.Listener
	room, done chan struct{}
	once       sync.Once
}

// Accept waits until there is room.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &connection{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// Close ends the waiting too.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type connection struct {
	net.Conn
	leave func()
}

// Close gives its room back.
func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// matches reports whether a repository is the one served, or one of the owner's that is. GitHub's names know no case.
func matches(served, r review.Repo) bool {
	return strings.EqualFold(served.Host, r.Host) && strings.EqualFold(served.Owner, r.Owner) && (served.Name == "" || strings.EqualFold(served.Name, r.Name))
}
