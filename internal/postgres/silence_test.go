package postgres

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	testkit "github.com/prloop/prloop/internal/testkit/postgres"
)

func TestMain(m *testing.M) {
	status := m.Run()
	testkit.Stop()
	os.Exit(status)
}

// openThrough connects a pool, which waits for an answer as long as it is told, through a proxy. Once swallow is called, what is sent over the
// connections of then is taken and never answered.
func openThrough(t *testing.T, answer time.Duration) (a *Address, pool *pgxpool.Pool, swallow func()) {
	var era atomic.Int32
	a, err := Parse(through(t, testkit.New(t), func(client, server net.Conn) {
		go relay(server, client, &era)
		go relay(client, server, &era)
	}))
	if err != nil {
		t.Fatal(err)
	}
	a.answer = answer
	if pool, err = pgxpool.NewWithConfig(t.Context(), a.pool("", 4)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return a, pool, func() { era.Add(1) }
}

// through gives the address of a proxy before the database at another; handle gets the two ends of each connection.
func through(t *testing.T, address string, handle func(client, server net.Conn)) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	socket := query.Get("host") + "/.s.PGSQL.5432"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", socket)
			if err != nil {
				c.Close()
				return
			}
			handle(c, s)
		}
	}()
	query.Del("host")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = l.Addr().String(), query.Encode()
	return u.String()
}

// relay hands on what comes, while the era is that in which it began.
func relay(to, from net.Conn, era *atomic.Int32) {
	defer to.Close()
	defer from.Close()
	began := era.Load()
	for b := make([]byte, 1<<16); ; {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if era.Load() == began {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
}

// Connections whose other end takes all and answers nothing are given up in the time of one answer, all of them, also those that nobody has
// a deadline for (threats.md T677).
func TestSilentConnectionsEnd(t *testing.T) {
	const answer = 500 * time.Millisecond
	_, pool, swallow := openThrough(t, answer)
	var conns []*pgxpool.Conn
	for range 4 {
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if _, err := conns[0].Exec(t.Context(), `SELECT $1::TEXT`, "x"); err != nil {
		t.Fatal(err)
	}
	swallow()
	began := time.Now()
	_, err := conns[0].Exec(t.Context(), `SELECT $1::TEXT`, "x")
	if KindOf(err) != Gone || !strings.Contains(err.Error(), errSilent.Error()) {
		t.Errorf("without an answer: %v, want that the database is gone", err)
	}
	for _, c := range conns[1:] {
		if _, err := c.Exec(t.Context(), `SELECT 1`); KindOf(err) != Gone {
			t.Errorf("on a connection that was not heard of since: %v, want that the database is gone", err)
		}
	}
	for _, c := range conns {
		c.Release()
	}
	if _, err := pool.Exec(t.Context(), `SELECT 1`); err != nil {
		t.Errorf("on a new connection: %v", err)
	}
	if took := time.Since(began); took < answer || took > 6*answer {
		t.Errorf("all of it took %v, want about %v", took, answer)
	}
}

// A connection that asks nothing may be silent for as long as it likes, and so may who changes tables.
func TestWhoMayBeSilent(t *testing.T) {
	const answer = 200 * time.Millisecond
	a, pool, _ := openThrough(t, answer)
	c, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if _, err := c.Exec(t.Context(), `LISTEN something`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*answer)
	defer cancel()
	if _, err := c.Conn().WaitForNotification(ctx); ctx.Err() == nil {
		t.Errorf("who listens: %v", err)
	}
	err = (&Member{address: a}).Change(t.Context(), "no_schema", func() error {
		_, err := pool.Exec(t.Context(), `SELECT pg_sleep(0.5)`)
		return err
	})
	if err != nil {
		t.Errorf("who changes tables: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `SELECT pg_sleep(0.5)`); KindOf(err) != Gone {
		t.Errorf("anybody else: %v, want that the database is gone", err)
	}
}
