//go:build unix

package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// Child plays the other process of the tests below, if this one was started as such, and ends.
func Child() {
	if mode := os.Getenv("STORE_TEST_MODE"); mode != "" {
		if err := child(context.Background(), mode, os.Getenv("STORE_TEST_DB"), os.Getenv("STORE_TEST_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func child(ctx context.Context, mode, path, name string) error {
	s, err := Open(ctx, Options{Address: path})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CreateRun(ctx, Run{ID: run1, Target: target}); err != nil {
		return err
	}
	switch mode {
	case "half": // dies with half a transaction written
		return s.tx(ctx, "half", func(tx *sql.Tx) error {
			if _, err := tx.Exec(`INSERT INTO rounds (run, round, head, verdict, receipt, saved) VALUES ($1, 1, '', '{}', '{}', 0)`, run1); err != nil {
				return err
			}
			// More than SQLite keeps in memory, so that part of it stands in the log.
			for i := range 4000 {
				if _, err := tx.Exec(`INSERT INTO findings (run, round, ord, reviewer, priority, file, fingerprint, finding)
					VALUES ($1, 1, $2, '', '', '', '', $3)`, run1, i, strings.Repeat("x", 2000)); err != nil {
					return err
				}
			}
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		})
	case "say": // says things until it is killed, and tells what is on disk
		for i := 0; ; i++ {
			nonce := fmt.Sprintf("%s-%d", name, i)
			if _, err := s.Intent(ctx, effects.Effect{Kind: "test", Key: nonce, Nonce: nonce, Run: run1, Payload: nonce}); err != nil {
				return err
			}
			if err := s.Sending(ctx, nonce); err != nil {
				return err
			}
			if err := s.Ack(ctx, nonce, "url"); err != nil {
				return err
			}
			fmt.Println(nonce)
		}
	case "queue": // takes the lease as often as it is told, and never finds anybody else inside
		return queue(ctx, s, path, name)
	case "late": // takes the lease, and writes when it is told to, however late that is
		return late(ctx, s, name)
	case "key":
		key, err := s.MarkerKey(ctx, func() []byte { b := make([]byte, 32); rand.Read(b); return b })
		fmt.Printf("%x\n", key)
		return err
	}
	return fmt.Errorf("unknown mode %s", mode)
}

func command(mode, path, name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_MODE="+mode, "STORE_TEST_DB="+path, "STORE_TEST_NAME="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestKilledInATransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	if err := command("half", path, "").Run(); err == nil {
		t.Fatal("child was not killed")
	}
	s := open(t, path)
	if rounds, err := s.Rounds(t.Context(), run1); err != nil || len(rounds) != 0 {
		t.Errorf("rounds = %d, %v; want none of the half transaction", len(rounds), err)
	}
	if err := s.SaveRound(t.Context(), round(1, review.Finding{ID: "A", Priority: review.P1})); err != nil {
		t.Errorf("save after the kill: %v", err)
	}
}

// Two processes write at the same time and are killed: what was acknowledged is there, each once.
func TestTwoProcessesKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prloop.db")
	told := map[string]bool{}
	for trial := range 3 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, name := range []string{"a", "b"} {
			cmd := command("say", path, fmt.Sprintf("%s%d", name, trial))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				lines := 0
				for sc := bufio.NewScanner(out); sc.Scan(); lines++ {
					mu.Lock()
					told[sc.Text()] = true
					mu.Unlock()
					if lines == 40 {
						cmd.Process.Kill()
					}
				}
				cmd.Wait()
			})
		}
		wg.Wait()
	}
	s := open(t, path)
	all, err := s.Outbox(t.Context(), run1)
	if err != nil {
		t.Fatal(err)
	}
	acked := map[string]bool{}
	for _, e := range all {
		if e.State == StateAcked {
			acked[e.Nonce] = true
		}
	}
	for nonce := range told {
		if !acked[nonce] {
			t.Errorf("%s was acknowledged and is lost", nonce)
		}
	}
	if len(told) < 6*40 {
		t.Errorf("only %d were acknowledged: the children died of something else", len(told))
	}
	t.Logf("%d acknowledged before the kills, %d entries", len(told), len(all))
}

// threats.md K31: six processes make the same new database; all agree on the key.
func TestManyProcessesOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "prloop.db")
	keys := make([]string, 6)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			out, err := command("key", path, "").Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			keys[i] = string(out)
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] || len(k) != 65 {
			t.Errorf("keys differ: %q", keys)
			break
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	s := fresh(t)
	create(t, s, run1)
	dir := filepath.Dir(s.dialect.String())
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dialect.String() + "-wal"); err != nil {
		t.Errorf("no log beside the file, so its mode was not checked: %v", err)
	}
}

// threats.md T97, T98: what SQLite refuses has a name, nothing half-written stays, and work goes on when the reason is gone.
func TestRefusedWrites(t *testing.T) {
	big := effect("n1", 1)
	big.Payload = strings.Repeat("x", 1<<20)
	tests := []struct {
		name      string
		on, off   string
		want      error
		otherLock bool
	}{
		{"a full disk", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823", ErrFull, false},
		{"a file that may not be written", "PRAGMA query_only = 1", "PRAGMA query_only = 0", ErrReadOnly, false},
		{"another process holds the database", "PRAGMA busy_timeout = 20", "PRAGMA busy_timeout = 10000", ErrBusy, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fresh(t)
			create(t, s, run1)
			if _, err := s.write.Exec(tt.on); err != nil {
				t.Fatal(err)
			}
			release := func() {}
			if tt.otherLock {
				other := open(t, s.dialect.String())
				tx, err := other.write.Begin()
				if err != nil {
					t.Fatal(err)
				}
				release = func() { tx.Rollback() }
			}
			if _, err := s.Intent(t.Context(), big); !errors.Is(err, tt.want) {
				t.Errorf("intent: %v, want %v", err, tt.want)
			}
			if all, err := s.Outbox(t.Context(), run1); err != nil || len(all) != 0 {
				t.Errorf("outbox = %d entries, %v; want to read that there is none", len(all), err)
			}
			release()
			if _, err := s.write.Exec(tt.off); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Intent(t.Context(), big); err != nil || got.Payload != big.Payload {
				t.Errorf("intent afterwards: %v", err)
			}
		})
	}
}

// threats.md T99: a damaged file is refused with its name and the next step, and left as it is.
func TestDamagedFile(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "prloop.db")
	s, err := Open(t.Context(), Options{Address: sound})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, run1)
	for n := range 3 {
		if err := s.SaveRound(t.Context(), round(n+1, review.Finding{ID: "A", Description: strings.Repeat("x", 20000)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"another kind of file", func([]byte) []byte { return []byte("# my notes, which prloop must not overwrite\n") }},
		{"a few bytes", func(b []byte) []byte { return b[:7] }},
		{"cut in the middle", func(b []byte) []byte { return b[:len(b)/2] }},
		{"overwritten pages", func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xa5}, 8192)); return b }},
		{"a broken header", func(b []byte) []byte { copy(b[16:], bytes.Repeat([]byte{0xff}, 40)); return b }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prloop.db")
			broken := tt.damage(bytes.Clone(whole))
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), Options{Address: path})
			var ce *CorruptError
			if !errors.As(err, &ce) || ce.Path != path || !strings.Contains(err.Error(), "backup") {
				t.Fatalf("open: %v, want a CorruptError with the next step", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, broken) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
	if s, err := Open(t.Context(), Options{Address: sound}); err != nil {
		t.Errorf("the sound file: %v", err)
	} else {
		s.Close()
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	s := fresh(t)
	if _, err := s.write.Exec(`INSERT INTO prloop_schema (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Address: s.dialect.String()}); !errors.Is(err, ErrNewer) {
		t.Errorf("open: %v, want ErrNewer", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, runs := range []int{1, 300, 3000} {
		b.Run(fmt.Sprint("runs=", runs), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "prloop.db")
			s, err := Open(b.Context(), Options{Address: path})
			if err != nil {
				b.Fatal(err)
			}
			for i := range runs {
				id := fmt.Sprintf("%s%d", run1, i)
				result := review.RunResult{Run: id, Reason: strings.Repeat("x", 20000)}
				if err := errors.Join(s.CreateRun(b.Context(), Run{ID: id, Target: target}), s.FinishRun(b.Context(), result)); err != nil {
					b.Fatal(err)
				}
			}
			s.Close()
			for b.Loop() {
				s, err := Open(b.Context(), Options{Address: path})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.ListRuns(b.Context(), Filter{}); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
			if fi, err := os.Stat(path); err == nil {
				b.ReportMetric(float64(fi.Size())/(1<<20), "MB")
			}
		})
	}
}

func BenchmarkOutbox(b *testing.B) {
	s, err := Open(b.Context(), Options{Address: filepath.Join(b.TempDir(), "prloop.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateRun(b.Context(), Run{ID: run1, Target: target}); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		nonce := fmt.Sprint(i)
		_, err := s.Intent(b.Context(), effects.Effect{Kind: "test", Key: nonce, Nonce: nonce, Run: run1, Payload: "text"})
		if err = errors.Join(err, s.Sending(b.Context(), nonce), s.Ack(b.Context(), nonce, "url")); err != nil {
			b.Fatal(err)
		}
	}
}
