// Package storetest holds what every kind of database has to do as a store. A test of each kind calls Run.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// A Backend is one kind of database, with what the tests reach of the store beside its API.
type Backend struct {
	// New gives the address of a database that nobody has used, for this process and those it starts.
	New func(t *testing.T) string
	// TellsTheDead is whether the lease of a dead process is free at once.
	TellsTheDead bool
	Hooks
}

// Hooks are the same for all kinds of databases.
type Hooks struct {
	// Wall sets the clock of the machine that a store believes to be on.
	Wall func(s *store.Store, now func() time.Time)
	// Token is the fencing token of a lease.
	Token func(*store.Lease) int64
	// Tx does f in one transaction of the store.
	Tx func(ctx context.Context, s *store.Store, f func(*sql.Tx) error) error
	// Latest is the version of the tables; At brings those of a database to an older one and calls f.
	Latest func(ctx context.Context, address string) (int64, error)
	At     func(ctx context.Context, address string, version int64, f func(*sql.DB) error) error
}

// Run does all tests on one kind of database.
func Run(t *testing.T, b Backend) {
	for _, tt := range []struct {
		name string
		fn   func(*testing.T, Backend)
	}{
		{"runs", testRuns},
		{"keys of repositories", testRepoKeys},
		{"rounds", testRounds},
		{"outbox", testOutbox},
		{"sums", testSums},
		{"figures", testFigures},
		{"merges", testMerges},
		{"observations", testObservations},
		{"policy", testPolicy},
		{"changes of policies", testChangesOfPolicies},
		{"two policies at once", testTwoPoliciesAtOnce},
		{"marker key", testMarkerKey},
		{"older tables", testOlderTables},
		{"newer tables", testNewerTables},
		{"lease", testLease},
		{"lease runs out", testLeaseRunsOut},
		{"clocks differ", testClocksDiffer},
		{"what is newest", testWhatIsNewest},
		{"what is newest under another name", testWhatIsNewestUnderAnotherName},
		{"clocks of processes differ", testClocksOfProcessesDiffer},
		{"dead owner", testDeadOwner},
		{"wanted", testWanted},
		{"forget comments", testForgetComments},
		{"turns", testTurns},
		{"names taken over", testNamesTakenOver},
		{"who was not heard", testSaid},
		{"names know no case", testNamesKnowNoCase},
		{"places", testPlaces},
		{"backlog", testBacklog},
		{"forgettable", testForgettable},
		{"settle time", testSettleTime},
		{"many handles", testManyHandles},
		{"many processes open", testManyProcessesOpen},
		{"killed in a transaction", testKilledInATransaction},
		{"killed at each point", testKilledAtEachPoint},
	} {
		t.Run(tt.name, func(t *testing.T) { t.Parallel(); tt.fn(t, b) })
	}
}

var target = review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}, PR: 7}

const (
	run1 = "20261120T221500Z_4f1c0a9b8d7e6f50"
	run2 = "20261120T221600Z_4f1c0a9b8d7e6f50"
	run3 = "20261121T080000Z_99aa0a9b8d7e6f51"
	pull = "github.com/octo/demo#7"
)

func open(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func create(ctx context.Context, s *store.Store, ids ...string) error {
	for _, id := range ids {
		_, reviewID, _ := strings.Cut(id, "_")
		if err := s.CreateRun(ctx, store.Run{ID: id, ReviewID: reviewID, Target: target, Head: "abc"}); err != nil {
			return err
		}
	}
	return nil
}

// must stops the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The variables by which the test binary is another process.
const (
	envMode    = "STORETEST_MODE"
	envAddress = "STORETEST_ADDRESS"
	envName    = "STORETEST_NAME"
	envSkew    = "STORETEST_SKEW"
)

// Main plays another process, if this one was started as such, and ends. TestMain calls it first.
func Main(h Hooks) {
	mode := os.Getenv(envMode)
	if mode == "" {
		return
	}
	if err := child(context.Background(), h, mode, os.Getenv(envAddress), os.Getenv(envName)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process starts the test binary as another process, on a machine whose clock is off by skew, and gives what it says.
func process(ctx context.Context, mode, address, name string, skew time.Duration, line func(string)) (string, error) {
	spec := proc.Spec{Path: os.Args[0], Direct: true, Timeout: 2 * time.Minute, Env: append(os.Environ(),
		envMode+"="+mode, envAddress+"="+address, envName+"="+name, envSkew+"="+skew.String())}
	if line != nil {
		spec.OnLine = func(b []byte) { line(string(b)) }
	}
	res, err := proc.Run(ctx, spec)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, res.StderrTail)
	}
	return string(res.Stdout), err
}

// die ends this process as the kernel would, at once.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		time.Sleep(time.Minute)
	}
	return err
}

func child(ctx context.Context, h Hooks, mode, address, name string) error {
	arm(mode, name)
	s, err := store.Open(ctx, store.Options{Address: address})
	if err != nil {
		return err
	}
	defer s.Close()
	skew, err := time.ParseDuration(os.Getenv(envSkew))
	if err != nil {
		return err
	}
	h.Wall(s, func() time.Time { return time.Now().Add(skew) })
	if err := create(ctx, s, run1); err != nil {
		return err
	}
	switch mode {
	case "half": // dies with half a transaction written
		return h.Tx(ctx, s, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO rounds (run, round, head, verdict, receipt, saved) VALUES ($1, 1, '', '{}', '{}', 0)`, run1)
			return errors.Join(err, die())
		})
	case "point": // dies at a point of the story
		return story(ctx, s)
	case "hold": // works on the pull request until it is killed
		l, err := s.Take(ctx, pull, run1, deadOwnerTTL(name))
		if err != nil {
			return err
		}
		fmt.Println("taken")
		time.Sleep(time.Minute)
		return l.Release(ctx)
	case "queue": // takes turns with others
		return queue(ctx, h, s, name)
	case "key":
		key, err := s.MarkerKey(ctx, randomKey)
		fmt.Printf("%x\n", key)
		return err
	}
	return fmt.Errorf("unknown mode %s", strconv.Quote(mode))
}
