package running

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/review"
)

const carried = "../../testkit/forge/testdata/cases"

// stub is a reviewer without models: each review costs usd, and do may say otherwise.
type stub struct {
	work     string
	settings string
	usd      float64
	do       func(ctx context.Context, o Order) error

	mu         sync.Mutex
	asked      []string
	now, atOne int
}

func (s *stub) Work() string { return s.work }

func (s *stub) Settle(a Agent, _ bool) (Settled, error) {
	return Settled{Reviewers: []string{"r"}, Models: []string{"m"}, Settings: s.settings + a.Name, Prompts: map[string]string{"p": "1"}, Program: "x", MostUSD: 1}, nil
}

func (s *stub) Review(ctx context.Context, o Order) (Reviewed, error) {
	s.mu.Lock()
	s.asked = append(s.asked, o.Agent.Name+" "+filepath.Base(o.Dir))
	s.now++
	s.atOne = max(s.atOne, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if s.do != nil {
		if err := s.do(ctx, o); err != nil {
			return Reviewed{}, err
		}
	}
	out := Reviewed{Stages: review.Stages{Answered: []review.Issue{{Key: "k"}}, Counted: []review.Issue{{Key: "k"}}}}
	out.Result.Outcome = review.ChangesRequested
	out.Result.Review = &review.ReviewResult{Status: review.StatusOK}
	usd := s.usd
	out.Result.Receipt.Agents = []review.AgentReceipt{{Name: "r", Usage: review.Usage{LLMCalls: 1, CostUSD: &usd}}}
	return out, os.WriteFile(o.Cassette.Path, []byte("recording"), 0o600)
}

func newStub(t *testing.T) *stub { return &stub{work: t.TempDir(), usd: 0.5} }

func options(t *testing.T, agents ...string) Options {
	o := Options{Cases: carried, Out: t.TempDir(), Repeat: 1, Parallel: 1, Say: func(string) {}}
	for _, a := range agents {
		o.Agents = append(o.Agents, Agent{Name: a})
	}
	return o
}

// TestCheckouts: what reviewers are given is the case's own change, by the files it names.
func TestCheckouts(t *testing.T) {
	known, err := cases.Read(carried)
	if err != nil {
		t.Fatal(err)
	}
	s := newStub(t)
	heads := map[string]string{}
	s.do = func(ctx context.Context, o Order) error {
		id := filepath.Base(o.Dir)
		heads[id] = o.Head
		g, err := git.Find(ctx, git.Options{})
		if err != nil {
			return err
		}
		repo, err := g.Open(ctx, filepath.Join(t.TempDir(), "r.git"))
		if err != nil {
			return err
		}
		l, err := repo.Local(ctx, o.Dir, o.Base)
		if err != nil || l.Head != o.Head || l.MergeBase != o.Base {
			return fmt.Errorf("%+v is not %s to %s: %w", l, o.Base, o.Head, err)
		}
		d, err := repo.Diff(ctx, l.MergeBase, l.Head, git.DiffOptions{})
		if err != nil {
			return err
		}
		for _, c := range known.Cases {
			if c.ID != id {
				continue
			}
			if len(d.Files) != c.Diff.Files || d.Additions != c.Diff.Additions || d.Deletions != c.Diff.Deletions || o.Title != c.Title {
				t.Errorf("%s: %d files +%d -%d, %q", id, len(d.Files), d.Additions, d.Deletions, o.Title)
			}
		}
		return nil
	}
	if _, err := Run(t.Context(), s, options(t, "a")); err != nil || len(heads) != len(known.Cases) {
		t.Fatalf("%v, %d cases", err, len(heads))
	}
}

// TestBudget: reviews never cost more together than they may, those of earlier processes included, and what is missing is done with
// more.
func TestBudget(t *testing.T) {
	s, o := newStub(t), options(t, "a", "b")
	o.MaxUSD, o.Parallel = 2.1, 4
	sums, err := Run(t.Context(), s, o)
	if !errors.Is(err, ErrBudget) || len(s.asked) != 3 || s.atOne > 2 { // two may cost 2; after three 0.6 is left, and the next may cost 1
		t.Fatalf("%v: %d were asked, %d at once", err, len(s.asked), s.atOne)
	}
	if done := sums[0].Done + sums[1].Done; done != 3 || sums[0].Planned != 3 {
		t.Errorf("%+v", sums)
	}
	if _, err = Run(t.Context(), s, o); !errors.Is(err, ErrBudget) || len(s.asked) != 3 {
		t.Errorf("%v: what an earlier process spent is forgotten", err)
	}
	o.MaxUSD = 9
	if _, err = Run(t.Context(), s, o); err != nil || len(s.asked) != 6 {
		t.Errorf("%v: %v", err, s.asked)
	}
}

// TestInterrupted: what was done before an interruption is kept, and the rest is done the next time. The same holds of an error.
func TestInterrupted(t *testing.T) {
	for name, failure := range map[string]error{"interrupted": context.Canceled, "an error": errors.New("no such model")} {
		t.Run(name, func(t *testing.T) {
			s, o := newStub(t), options(t, "a", "b")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.do = func(context.Context, Order) error {
				if len(s.asked) < 3 {
					return nil
				}
				if failure == context.Canceled {
					cancel()
				}
				return failure
			}
			sums, err := Run(ctx, s, o)
			if !errors.Is(err, failure) || sums[0].Done+sums[1].Done != 2 {
				t.Fatalf("%v: %+v", err, sums)
			}
			if set, err := results.Open(filepath.Join(o.Out, "a")); err != nil || set.Sealed {
				t.Errorf("%+v, %v", set, err)
			}
			s.do = nil
			if sums, err = Run(t.Context(), s, o); err != nil || len(s.asked) != 7 || sums[0].Done != 3 || sums[1].Done != 3 {
				t.Errorf("%v: %v, %+v", err, s.asked, sums)
			}
			if set, err := results.Open(filepath.Join(o.Out, "b")); err != nil || set.Interrupted() {
				t.Errorf("%+v, %v", set.Missing, err)
			}
		})
	}
}

// TestRefused: bad orders are refused by name, and nobody is asked.
func TestRefused(t *testing.T) {
	done := options(t, "a")
	if _, err := Run(t.Context(), newStub(t), done); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "cases")
	if err := os.CopyFS(other, os.DirFS(carried)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(other, "go-gofr-1355", "case.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "Incorrect", "Wrong", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change func(s *stub, o *Options)
		is     error
		says   string
	}{
		"an unknown case":                  {func(_ *stub, o *Options) { o.Only = []string{"go-gofr-1355", "x"} }, ErrUnknownCase, "x"},
		"no cases":                         {func(_ *stub, o *Options) { o.Cases = t.TempDir() }, cases.ErrBad, "no folder"},
		"other data":                       {func(_ *stub, o *Options) { o.Cases = other }, results.ErrOtherPins, "its cases was"},
		"other settings":                   {func(s *stub, _ *Options) { s.settings = "x" }, results.ErrOtherPins, "its settings was"},
		"a replay of other data":           {func(_ *stub, o *Options) { o.Replay, o.Cases, o.Out = done.Out, other, t.TempDir() }, ErrNoRecording, "go-gofr-1355 was recorded with other data"},
		"a replay of more than there is":   {func(_ *stub, o *Options) { o.Replay, o.Repeat, o.Out = done.Out, 2, t.TempDir() }, ErrNoRecording, "a rust-linera-4639/2"},
		"a replay of nothing":              {func(_ *stub, o *Options) { o.Replay, o.Out = t.TempDir(), t.TempDir() }, results.ErrBad, "no such file"},
		"a replay that goes on as another": {func(_ *stub, o *Options) { o.Replay = done.Out }, results.ErrOtherPins, "its replayed set was"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := newStub(t), done
			row.change(s, &o)
			if _, err := Run(t.Context(), s, o); !errors.Is(err, row.is) || !strings.Contains(err.Error(), row.says) || len(s.asked) > 0 {
				t.Errorf("%v after %v", err, s.asked)
			}
		})
	}
	s := newStub(t)
	lock, err := filelock.TryFolder(s.work)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := Run(t.Context(), s, done); !errors.Is(err, ErrBusy) {
		t.Errorf("two at a time: %v", err)
	}
}

// TestReplayThatMisses: a review whose recording lacks what was asked is not kept.
func TestReplayThatMisses(t *testing.T) {
	o := options(t, "a")
	if _, err := Run(t.Context(), newStub(t), o); err != nil {
		t.Fatal(err)
	}
	o.Replay, o.Out = o.Out, t.TempDir()
	s := newStub(t)
	s.do = func(_ context.Context, o Order) error {
		if len(s.asked) == 2 {
			o.Cassette.Missed(errors.New("what was asked"))
		}
		return nil
	}
	sums, err := Run(t.Context(), s, o)
	if !errors.Is(err, ErrNoRecording) || !strings.Contains(err.Error(), "what was asked") || sums[0].Done != 1 {
		t.Errorf("%v: %+v", err, sums)
	}
}

// TestOrder: every repeat begins with the same case for each agent, so that what is there can be compared.
func TestOrder(t *testing.T) {
	s, o := newStub(t), options(t, "a", "b")
	o.Only, o.Repeat = []string{"go-gofr-1355", "rust-linera-4639"}, 2
	if _, err := Run(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	once := []string{"a go-gofr-1355", "b go-gofr-1355", "a rust-linera-4639", "b rust-linera-4639"}
	if want := slices.Concat(once, once); !slices.Equal(s.asked, want) {
		t.Errorf("%q", s.asked)
	}
}
