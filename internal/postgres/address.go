package postgres

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Schema is where the tables stand: ours and the store's.
const Schema = "prloop"

// Lease is how long a process may be silent until others take what it had, unless the address says otherwise.
const Lease = 15 * time.Second

// leaseParameter says so in an address: prloop_lease=1m. The others go to the driver.
const leaseParameter = "prloop_lease"

const (
	shortestLease = time.Second
	longestLease  = 10 * time.Minute
)

// An Address is that of a database. It may hold a password, which String leaves out.
type Address struct {
	config *pgxpool.Config
	lease  time.Duration
	// written is whether the password stands in the address itself.
	written bool

	// answer is how long the database may take to begin an answer, changing how many make or change tables at the moment.
	answer   time.Duration
	changing atomic.Int32

	mu sync.Mutex
	// unanswered is when something was asked last that was not answered.
	unanswered time.Time
}

// always are the settings of each connection. What a commit has said is on disk, whatever the server's own setting.
var always = map[string]string{
	"search_path": Schema, "timezone": "UTC", "synchronous_commit": "on", "default_transaction_isolation": "read committed",
}

// unlessGiven are those that the address may say otherwise. A process that is stopped in the middle of a transaction holds up nobody for
// long, and one whose machine is gone is noticed.
var unlessGiven = map[string]string{
	"application_name": "prloop", "idle_in_transaction_session_timeout": "15s", "lock_timeout": "10s",
	"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
}

// errAddress says nothing of what was given: a password may stand anywhere in what cannot be read.
var errAddress = errors.New("the address of the database cannot be read: give postgres://USER@HOST:PORT/DATABASE, with the password in the address, in PGPASSWORD or in ~/.pgpass")

// Parse reads an address: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full. What it leaves out is taken from the usual
// variables of PostgreSQL, such as PGPASSWORD.
func Parse(address string) (*Address, error) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return nil, errAddress
	}
	a := &Address{lease: Lease}
	query := u.Query()
	_, a.written = u.User.Password()
	a.written = a.written || query.Has("password")
	if word := query.Get(leaseParameter); word != "" {
		if a.lease, err = time.ParseDuration(word); err != nil || a.lease < shortestLease || a.lease > longestLease {
			return nil, fmt.Errorf("%s in the address of the database is no time from %v to %v", leaseParameter, shortestLease, longestLease)
		}
		query.Del(leaseParameter)
		u.RawQuery = query.Encode()
	}
	if a.config, err = pgxpool.ParseConfig(u.String()); err != nil {
		return nil, errAddress
	}
	c := a.config.ConnConfig
	c.ConnectTimeout = 10 * time.Second
	a.answer = max(answerTime, a.lease)
	c.DialFunc = a.dial
	maps.Copy(c.RuntimeParams, always)
	for name, value := range unlessGiven {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	return a, nil
}

// String names the database without its password.
func (a *Address) String() string {
	c := a.config.ConnConfig
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, fmt.Sprint(c.Port))
	}
	return fmt.Sprintf("postgres://%s@%s/%s", c.User, host, c.Database)
}

// Written reports whether the password stands in the address, and not in a variable or a file.
func (a *Address) Written() bool { return a.written }

// Password is the password, wherever it came from; empty without one.
func (a *Address) Password() string { return a.config.ConnConfig.Password }

// pool is the configuration of a pool of at most n connections, which name the process.
func (a *Address) pool(process string, n int32) *pgxpool.Config {
	c := a.config.Copy()
	c.MaxConns, c.MinConns, c.MaxConnIdleTime, c.MaxConnLifetime = n, 0, time.Minute, time.Hour
	c.ConnConfig.RuntimeParams[processSetting] = process
	return c
}
