//go:build unix

package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
)

const pull = "github.com/octo/demo#7"

// queue is one of the processes of TestManyTakers: five takers in it want the lease.
func queue(ctx context.Context, s *Store, path, name string) error {
	var wg sync.WaitGroup
	errs := make([]error, 5)
	for i := range errs {
		wg.Go(func() { errs[i] = takeTurn(ctx, s, path, fmt.Sprintf("%s-%d", name, i)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// takeTurn waits for the lease, does something that two at once cannot do, and gives it back.
func takeTurn(ctx context.Context, s *Store, path, run string) error {
	for {
		l, err := s.Lease(ctx, pull, run, time.Minute)
		var held *HeldError
		if errors.As(err, &held) {
			time.Sleep(time.Millisecond) // SQLite is not fair: without a pause one of 50 may wait for the file for longer than it does
			continue
		}
		if err != nil {
			return err
		}
		f, err := os.OpenFile(path+".inside", os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("somebody else is inside: %w", err)
		}
		fmt.Printf("%s %d\n", run, l.token)
		return errors.Join(l.Check(ctx), f.Close(), os.Remove(path+".inside"), l.Release(ctx))
	}
}

// threats.md P10: 50 takers in ten processes; one at a time, and the token rises by one with each.
func TestManyTakers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	var mu sync.Mutex
	tokens := map[int]string{}
	var wg sync.WaitGroup
	for i := range 10 {
		cmd := command("queue", path, "p"+strconv.Itoa(i))
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(string(out)) {
				run, number, _ := strings.Cut(strings.TrimSpace(line), " ")
				n, err := strconv.Atoi(number)
				if err != nil || tokens[n] != "" {
					t.Errorf("%s has token %q, which %s had", run, number, tokens[n])
				}
				tokens[n] = run
			}
		})
	}
	wg.Wait()
	for n := 1; n <= 50; n++ {
		if tokens[n] == "" {
			t.Errorf("nobody had token %d of 50", n)
		}
	}
}

func late(ctx context.Context, s *Store, nonce string) error {
	l, err := s.Lease(ctx, pull, run1, 300*time.Millisecond)
	if err != nil {
		return err
	}
	if _, err := s.Intent(ctx, effects.Effect{Kind: "test", Key: nonce, Nonce: nonce, Run: run1, Payload: "x"}); err != nil {
		return err
	}
	fmt.Println(l.token)
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	fmt.Println(errors.Is(s.Sending(ctx, nonce, l), ErrStale), errors.Is(l.Renew(ctx), ErrStale))
	return nil
}

// threats.md T93: an owner that is stopped past the end of its lease, and goes on while another run works, is refused its write.
func TestStoppedOwnerIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	s, err := Open(t.Context(), Options{Address: path}) // the real clock
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cmd := command("late", path, "n1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewScanner(pipe)
	if !out.Scan() || out.Text() != "1" {
		t.Fatalf("first token %q", out.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var l *Lease
	waited := false
	for deadline := time.Now().Add(20 * time.Second); l == nil && time.Now().Before(deadline); {
		var held *HeldError
		if l, err = s.Lease(t.Context(), pull, run2, time.Minute); errors.As(err, &held) && held.Run == run1 {
			waited = true
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if l == nil || l.token != 2 || !waited {
		t.Fatalf("the lease did not pass on: %+v, waited %v", l, waited)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "go on")
	if !out.Scan() || out.Text() != "true true" {
		t.Errorf("sending, renewing refused: %q", out.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	all, err := s.Outbox(t.Context(), run1)
	if err != nil || len(all) != 1 || all[0].State != StateIntent {
		t.Errorf("outbox = %+v, %v; want the entry as it was", all, err)
	}
	if err := l.Check(t.Context()); err != nil {
		t.Errorf("the new owner: %v", err)
	}
}
