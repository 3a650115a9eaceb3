package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/review"
)

var loadReport = flag.String("load", "", "measure what a server costs, and write the figures into this `file`, such as docs/scale.md")

// A napper is runs whose agents sleep: record, queue and engine are real.
type napper struct {
	*app.Service
	hub
	nap time.Duration
	ids *atomic.Int64
}

func (n napper) Viewer(context.Context, string) (review.Person, error) {
	return review.Person{Login: "prloop", ID: 1}, nil
}

func (napper) Clock() time.Time { return time.Now() }

func (n napper) OpenPulls(context.Context, review.Repo) ([]review.PullRequest, error) {
	return nil, nil
}

func (n napper) PullRequest(_ context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	return review.PullRequest{Repo: repo, RepoID: 1, Number: number, State: "OPEN", HeadSHA: fmt.Sprintf("%040x", number), BaseRef: "main", Author: review.Person{Login: "mona"}}, nil
}

func (n napper) Reviewed(ctx context.Context, pr review.PullRequest) (intake.Known, error) {
	return reviewed(ctx, n.Record(), pr)
}

// reviewed is the last review of a pull request, of runs that were asked nothing.
func reviewed(ctx context.Context, s *store.Store, pr review.PullRequest) (known intake.Known, err error) {
	runs, err := s.ListRuns(ctx, store.Filter{Repo: pr.Repo.String(), PR: pr.Number, State: store.Finished, Limit: 1})
	if err != nil || len(runs) == 0 {
		return known, err
	}
	whole, err := s.Run(ctx, runs[0].ID)
	if err != nil || whole.Outcome != review.Converged {
		return known, err
	}
	return intake.Known{Head: whole.Result.Receipt.HeadSHA, Run: whole.ID, Standing: whole.Result.Receipt.ReviewsRead}, nil
}

func (n napper) Once(ctx context.Context, o app.Order, _ string, _ func(review.Event)) (app.Ended, error) {
	id, head := fmt.Sprintf("20260101T000000Z_%016x", n.ids.Add(1)), fmt.Sprintf("%040x", o.Target.PR)
	ended := app.Ended{Result: review.RunResult{Run: id, Receipt: review.Receipt{HeadSHA: head}, Outcome: review.Converged, Reason: "nothing to fix"}}
	lease, err := n.Record().Take(ctx, o.Target.String(), id, time.Minute)
	if err != nil {
		return ended, err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	if err := n.Record().CreateRun(ctx, store.Run{ID: id, Target: o.Target, RepoKey: o.Target.Repo.Key(1), Head: head}); err != nil {
		return ended, err
	}
	select {
	case <-ctx.Done():
		return ended, context.Cause(ctx)
	case <-time.After(n.nap):
	}
	return ended, n.Record().FinishRun(ctx, ended.Result)
}

var loaded = review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}

// napping builds a daemon whose agents sleep.
func napping(t *testing.T, o app.Options, nap time.Duration, reviews int, listen net.Listener) *Daemon {
	t.Helper()
	s, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	n := napper{Service: s, nap: nap, ids: new(atomic.Int64)}
	n.ids.Store(int64(len(t.Name())) + time.Now().UnixNano())
	d, err := build(t.Context(), n, func(context.Context, review.Repo) (hub, error) { return n, nil }, Options{
		Listen: listen, Secrets: []string{replaySecret}, Serves: Served{loaded}, Every: time.Hour, Reviews: reviews, Host: "github.com",
		Order: func(bool) (app.Order, error) { return app.Order{}, nil }, Lasting: func(error) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// until waits for what takes its time on a machine under load.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still waiting for %s", patience, what)
		}
	}
}

// background does what serves or works until the test ends.
func background(t *testing.T, do func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// wantMany asks for looks at so many pull requests, from a number on.
func wantMany(t *testing.T, d *Daemon, from, n int) {
	t.Helper()
	for i := range n {
		subject := store.Subject(fullName(loaded), from+i, 0)
		if err := d.record.Want(t.Context(), store.Want{Subject: subject, Repo: fullName(loaded), PR: from + i, Priority: 3}); err != nil {
			t.Fatal(err)
		}
	}
}

// deliver sends so many events a second for a while, whether those before are answered or not, and gives how long each took to be answered.
func deliver(t *testing.T, url string, rate int, during time.Duration, from int) []time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	n := int(float64(rate) * during.Seconds())
	began := time.Now()
	for i := range n {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		body := fmt.Appendf(nil, `{"action":"closed","number":%d,"pull_request":{"number":%[1]d},"repository":{"full_name":"acme/r0","html_url":"https://github.com/acme/r0"},"sender":{"id":7,"type":"User"},"text":%q}`,
			from+i%200, strings.Repeat("as long as those of GitHub are ", 500))
		mac := webhook.Sign(replaySecret, body)
		wg.Go(func() {
			q, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			q.Header = http.Header{
				"Content-Type": {"application/json"}, "X-Github-Event": {"pull_request"}, "X-Github-Delivery": {fmt.Sprintf("%08d-%08d", from, i)}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac[:])},
			}
			sent := time.Now()
			resp, err := client.Do(q)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, time.Since(sent)); resp.StatusCode != http.StatusAccepted {
				t.Errorf("answered with %s", resp.Status)
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took
}

// processor is the time of processors that this process has had.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machine says how busy the machine was.
func machine() string {
	load, _ := os.ReadFile("/proc/loadavg") // not everywhere
	first, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%d cores, load %s", runtime.NumCPU(), first)
}

// What serving costs. Everything asked for is done, whatever waits beside it; with -load the figures are taken at full size and written down.
func TestLoad(t *testing.T) {
	full := *loadReport != ""
	size := func(short, long int) int {
		if full {
			return long
		}
		return short
	}
	var rows strings.Builder
	say := func(what, figure string, args ...any) {
		line := fmt.Sprintf("| %s | %s |\n", what, fmt.Sprintf(figure, args...))
		t.Log(strings.TrimSpace(line))
		rows.WriteString(line)
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
	say("machine", "%s when it began", machine())

	t.Run("deliveries", func(t *testing.T) {
		state := t.TempDir()
		listen, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		d := napping(t, app.Options{State: state}, time.Hour, 1, listen)
		d.tick = 50 * time.Millisecond
		background(t, d.Run)
		url, rate, during := "http://"+listen.Addr().String()+"/webhook", size(50, 500), time.Duration(size(500, 10_000))*time.Millisecond
		deliver(t, url, rate, during/4, 1) // so that connections and statements are there
		alone := deliver(t, url, rate, during, 1000)
		waiting := size(300, 10_000)
		before := sizeOf(filepath.Join(state, "prloop.db"))
		wantMany(t, d, 100_000, waiting)
		until(t, "all to stand in the queue", func() bool {
			queued, err := d.record.InQueue(t.Context())
			return err == nil && len(queued) >= waiting
		})
		bytes := sizeOf(filepath.Join(state, "prloop.db")) - before
		beside := deliver(t, url, rate, during, 2000)
		all, err := d.record.Deliveries(t.Context(), 1<<20)
		if want := len(alone)*2 + len(alone)/4; err != nil || len(all) < want-1 || len(all) > want+1 {
			t.Errorf("%d deliveries were written down, want %d; %v", len(all), want, err)
		}
		p := func(of []time.Duration, part int) time.Duration { return of[len(of)*part/100] }
		say(fmt.Sprintf("a delivery is answered, at %d a second", rate), "median %s, p99 %s", ms(p(alone, 50)), ms(p(alone, 99)))
		say(fmt.Sprintf("the same beside %d waiting reviews", waiting), "median %s, p99 %s: %.2f and %.2f times", ms(p(beside, 50)), ms(p(beside, 99)),
			float64(p(beside, 50))/float64(p(alone, 50)), float64(p(beside, 99))/float64(p(alone, 99)))
		say("a waiting review, in the database", "%d bytes", bytes/int64(waiting))
	})

	t.Run("processor", func(t *testing.T) {
		d := napping(t, app.Options{State: t.TempDir()}, 0, 64, nil)
		n := size(40, 2000)
		wantMany(t, d, 1, n)
		spent, began := processor(), time.Now()
		background(t, d.Run)
		done := func() bool { all, err := d.record.Waiting(t.Context(), nil, 1); return err == nil && len(all) == 0 }
		until(t, "all to be reviewed", done)
		spent, took := processor()-spent, time.Since(began)
		runs, err := d.record.ListRuns(t.Context(), store.Filter{State: store.Finished, Limit: 1 << 20})
		if err != nil || len(runs) != n {
			t.Errorf("%d reviews, want %d; %v", len(runs), n, err)
		}
		say("a review whose agents answer at once, from the queue to the record", "%s of processor time: %.0f a second a core; %.0f a second as the machine was",
			ms(spent/time.Duration(n)), float64(n)/spent.Seconds(), float64(n)/took.Seconds())
	})

	t.Run("workers", func(t *testing.T) {
		took := map[int]time.Duration{}
		nap, n := time.Duration(size(50, 1000))*time.Millisecond, size(12, 96)
		for _, workers := range []int{1, 2} {
			o := app.Options{State: t.TempDir(), Database: postgres.New(t)}
			d := napping(t, o, nap, 0, nil)
			wantMany(t, d, 1, n)
			background(t, d.Run)
			for i := range workers {
				// Another address is another process to the database.
				w := napping(t, app.Options{State: t.TempDir(), Database: fmt.Sprintf("%s&application_name=w%d", o.Database, i)}, nap, 4, nil)
				background(t, w.Work)
			}
			began := time.Now()
			until(t, "all to be reviewed", func() bool { all, err := d.record.Waiting(t.Context(), nil, 1); return err == nil && len(all) == 0 })
			took[workers] = time.Since(began)
			runs, err := d.record.ListRuns(t.Context(), store.Filter{State: store.Finished, Limit: 1 << 20})
			if err != nil || len(runs) != n {
				t.Errorf("%d workers: %d reviews, want %d; %v", workers, len(runs), n, err)
			}
		}
		say(fmt.Sprintf("two workers against one, four reviews each, agents that sleep for %v", nap), "%.2f times as many reviews", float64(took[1])/float64(took[2]))
	})
	if full {
		section(t, *loadReport, "load", "| | |\n| --- | --- |\n"+rows.String())
	}
}
