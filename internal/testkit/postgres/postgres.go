// Package postgres starts a PostgreSQL of its own for the tests of a process. Each test gets a database that nobody has used.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// A Server is a PostgreSQL that listens on a socket in a folder of its own and nowhere else. It keeps what it has acknowledged when it
// is killed, but not when the machine stops.
type Server struct {
	bin, root string
	// as starts a program as the user the server runs as; empty when that is this process's.
	as []string

	mu    sync.Mutex
	stop  context.CancelFunc
	ended chan error
}

var (
	shared  = sync.OnceValues(func() (*Server, error) { return Start(context.Background()) })
	started atomic.Bool
	number  atomic.Int64
)

// NotInstalledError says where PostgreSQL was looked for.
type NotInstalledError struct{}

func (NotInstalledError) Error() string {
	return "PostgreSQL is not installed: no initdb in PATH or /usr/lib/postgresql/*/bin (Debian: apt-get install postgresql)"
}

// New gives the address of an empty database of the server that the tests of this process share. Where PostgreSQL is not installed the
// test is skipped.
func New(t testing.TB) string {
	t.Helper()
	started.Store(true)
	s, err := shared()
	if errors.As(err, new(NotInstalledError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.Database(t)
}

// Stop ends the server that tests share, if there is one. TestMain calls it last.
func Stop() {
	if started.Load() {
		if s, err := shared(); err == nil {
			s.Close()
		}
	}
}

// Start makes and starts a server.
func Start(ctx context.Context) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "prloop-pg-") // short: the socket stands in it
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, root: root}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	if err := s.Up(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return s, nil
}

// find gives the folder of PostgreSQL's programs: Debian keeps them away from PATH.
func find() (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path, err := filepath.EvalSymlinks(filepath.Join(dir, "initdb")); err == nil { // its neighbours may have no link of their own
			return filepath.Dir(path), nil
		}
	}
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is sound
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	if len(all) == 0 {
		return "", NotInstalledError{}
	}
	return filepath.Dir(slices.MaxFunc(all, func(a, b string) int { return version(a) - version(b) })), nil
}

// make makes the server's files. PostgreSQL refuses to run as root, so that it runs as the user its package made, or nobody.
func (s *Server) make(ctx context.Context) error {
	if os.Geteuid() == 0 {
		who, err := user.Lookup("postgres")
		if err != nil {
			if who, err = user.Lookup("nobody"); err != nil {
				return err
			}
		}
		uid, err := strconv.Atoi(who.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(who.Gid)
		if err != nil {
			return err
		}
		if err := os.Chown(s.root, uid, gid); err != nil {
			return err
		}
		s.as = []string{"setpriv", "--pdeathsig=KILL", "--reuid=" + who.Uid, "--regid=" + who.Gid, "--clear-groups", "--"}
	}
	res, err := proc.Run(ctx, s.spec("initdb", "-D", s.data(), "-U", "prloop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, res.StderrTail)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.root, "data") }

// spec is how a program of PostgreSQL is started.
func (s *Server) spec(program string, args ...string) proc.Spec {
	line := append(slices.Clone(s.as), append([]string{filepath.Join(s.bin, program)}, args...)...)
	return proc.Spec{Path: line[0], Args: line[1:], Dir: s.root, Direct: true,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.root, "LC_ALL=C", "TZ=UTC", "PGHOST=" + s.root, "PGUSER=prloop"}}
}

// Up starts the server and waits until it answers. Further settings are given as name=value.
func (s *Server) Up(ctx context.Context, settings ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return errors.New("it runs")
	}
	args := []string{"-D", s.data(), "-k", s.root, "-h", ""}
	for _, v := range append([]string{"fsync=off", "full_page_writes=off", "max_connections=300", "shared_buffers=32MB", "log_min_messages=fatal",
		"autovacuum_naptime=10s", "max_wal_size=64MB", "min_wal_size=32MB"}, settings...) {
		args = append(args, "-c", v)
	}
	spec := s.spec("postgres", args...)
	run, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		res, err := proc.Run(run, spec)
		ended <- fmt.Errorf("postgres ended: %w\n%s", err, res.StderrTail)
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		res, err := proc.Run(ctx, s.spec("pg_isready", "-d", "postgres"))
		if err == nil {
			break
		}
		select {
		case err := <-ended:
			stop()
			return err
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			stop()
			return errors.Join(fmt.Errorf("postgres did not answer within a minute: %w\n%s", err, res.Stdout), <-ended)
		}
	}
	s.stop, s.ended = stop, ended
	return nil
}

// PID is the process of the server.
func (s *Server) PID() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// Kill ends the server as kill -9 does, with all that it has started. Up starts it again.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil {
		return errors.New("it does not run")
	}
	pid, err := s.PID()
	if err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return err
	}
	<-s.ended //nolint:errcheck // it was told to end, and how it did says nothing
	s.stop()
	s.stop = nil
	// What its own end leaves: a lock file with its number, which another process may have by now.
	if err := os.Remove(filepath.Join(s.data(), "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close ends the server and removes its files.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
		<-s.ended //nolint:errcheck // it was killed
		s.stop = nil
	}
	return os.RemoveAll(s.root)
}

// Database makes an empty database, and gives its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", number.Add(1))
	s.SQL(t, "postgres", "CREATE DATABASE "+name)
	return s.Address(name)
}

// Address is that of a database of the server.
func (s *Server) Address(name string) string {
	return "postgres:///" + name + "?" + url.Values{"host": {s.root}, "user": {"prloop"}}.Encode()
}

// SQL does statements in a database as its owner would, and gives what they print.
func (s *Server) SQL(t testing.TB, database, statements string) string {
	t.Helper()
	res, err := proc.Run(context.WithoutCancel(t.Context()), s.spec("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statements))
	if err != nil {
		t.Fatalf("%s: %v\n%s", statements, err, res.StderrTail)
	}
	return strings.TrimSpace(string(res.Stdout))
}

// SQL does statements in the database at an address that New gave.
func SQL(t testing.TB, address, statements string) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return s.SQL(t, strings.TrimPrefix(u.Path, "/"), statements)
}
