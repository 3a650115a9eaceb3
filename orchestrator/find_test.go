package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/discovery"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
)

// bookcase is a repository that a finder looks at, through the rules of package discovery.
type bookcase struct {
	files map[string]string
	read  []string
}

func (b *bookcase) Files(context.Context, string, string) (names []string, _ error) {
	for name := range b.files {
		names = append(names, name)
	}
	return names, nil
}
func (b *bookcase) Links(context.Context, string, string) ([]string, error) { return nil, nil }
func (b *bookcase) ReadFiles(_ context.Context, _ string, paths []string, _ int) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range paths {
		b.read, out[p] = append(b.read, p), []byte(b.files[p])
	}
	return out, nil
}
func (b *bookcase) options(r Range, o ContextOptions, p FindPlan) discovery.Options {
	return discovery.Options{Bounds: p.Bounds, Commit: r.Head, Include: o.Include, Exclude: o.Exclude, Always: p.Always}
}
func (b *bookcase) List(ctx context.Context, r Range, o ContextOptions, p FindPlan, changed []string) ([]review.Listing, error) {
	return discovery.List(ctx, b, b.options(r, o, p), changed)
}
func (b *bookcase) Read(ctx context.Context, r Range, o ContextOptions, p FindPlan, l []review.Listing, w []review.Wanted) ([]review.Fragment, []string, error) {
	return discovery.Read(ctx, b, b.options(r, o, p), l, w)
}

// telling asks for the schema and names two lines of it.
func telling(task review.Task) review.Answer {
	one, two := 1, 2
	w := []review.Wanted{{File: "schema.sql", Reason: "the table"}, {File: "customer_data/list.csv", Reason: "who they are"}}
	if task.Find.Fragments != nil {
		w = []review.Wanted{{File: "schema.sql", Line: &one, LineEnd: &two, Reason: "the table"}}
	}
	return review.Answer{Finder: &review.FinderResult{Wanted: w}, Receipt: review.AgentReceipt{State: review.AgentComplete, Seconds: 1}}
}

func broken(review.Task) review.Answer {
	return review.Answer{Receipt: review.AgentReceipt{State: review.AgentFailed, Reason: "exit status 1"}}
}

func searching(finds func(review.Task) review.Answer) *scouting {
	s := newScouting(said(review.SimpleChange, review.LooksGood))
	s.finds, s.shelves = finds, &bookcase{files: map[string]string{"a.go": "package a\n", "schema.sql": "create table a (\n  id bigint\n);\n", "customer_data/list.csv": "CANARY\n"}}
	return s
}

// looked orders a search for a tier, or for both.
func looked(full, quick bool) func(*Request) {
	return func(r *Request) {
		r.Context = ContextOptions{Exclude: []string{"customer_data/**"}, NeverRead: []string{"customer_data"}}
		r.Agents[0].Kind = review.KindBuiltin
		r.Find = &FindPlan{Agent: AgentPlan{Name: "finder", Role: review.RoleFinder, Kind: review.KindBuiltin}, Limits: review.Limits{ContextTokens: 30_000}, Full: full, Quick: quick,
			DiscoveryTokens: 1024, ExtractTokens: 4096, Bounds: discovery.Bounds{Fragments: 5, Chars: 8000, Dirs: 10, Entries: 50}}
		if !quick {
			r.Quick = nil
		}
	}
}

// Who is given what a finder chose: the tier it looked for, and nobody else. A finder that fails or lies costs the review nothing.
func TestFinder(t *testing.T) {
	given := []review.RelatedFile{{Path: "schema.sql", Regions: []review.Region{{Start: 1, End: 2, Symbol: "the table", Text: "create table a (\n  id bigint\n"}}}}
	for name, c := range map[string]struct {
		finds   func(review.Task) review.Answer
		change  func(*Request)
		role    review.Role
		found   []review.RelatedFile
		asked   int
		outcome review.Outcome
	}{
		"before a full review": {telling, looked(true, false), review.RoleReviewer, given, 2, review.Converged},
		"before a scan":        {telling, looked(false, true), review.RoleScout, given, 2, review.LGTM},
		"not for this tier":    {telling, func(r *Request) { looked(false, true)(r); r.Quick = nil }, review.RoleReviewer, nil, 0, review.Converged},
		"a finder that fails":  {broken, looked(true, false), review.RoleReviewer, nil, 1, review.Converged},
		"a finder that is silent": {func(review.Task) review.Answer {
			return review.Answer{Finder: &review.FinderResult{}, Receipt: review.AgentReceipt{State: review.AgentComplete}}
		}, looked(true, false), review.RoleReviewer, nil, 1, review.Converged},
		"a finder that asks for what is withheld": {func(review.Task) review.Answer {
			return review.Answer{Finder: &review.FinderResult{Wanted: []review.Wanted{{File: "customer_data/list.csv"}}}, Receipt: review.AgentReceipt{State: review.AgentComplete}}
		}, looked(true, false), review.RoleReviewer, nil, 1, review.Converged},
	} {
		t.Run(name, func(t *testing.T) {
			s := searching(c.finds)
			got, err := s.quickly(t, newSteps(), nil, c.change)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			for _, task := range s.tasks {
				switch {
				case task.Role == review.RoleFinder:
					asked++
					if task.Discussion != nil || len(task.Brief.Found) > 0 {
						t.Errorf("the finder is told %+v", task)
					}
				case task.Role == c.role && task.Agent != "beta":
					if d := cmp.Diff(c.found, task.Brief.Found); d != "" {
						t.Errorf("%s was given %s", task.Agent, d)
					}
				}
			}
			all := text(t, s.tasks) + text(t, got) + strings.Join(s.timeline(), "")
			if asked != c.asked || got.Outcome != c.outcome || strings.Contains(all, "CANARY") {
				t.Errorf("%d questions, want %d; %s, want %s", asked, c.asked, got.Outcome, c.outcome)
			}
			if slices.Contains(s.shelves.(*bookcase).read, "customer_data/list.csv") {
				t.Error("what is withheld was read")
			}
			if f := got.Receipt.Found; (f != nil) != (c.asked > 0) || f != nil && len(f.Excerpts) != len(c.found) {
				t.Errorf("receipt: %+v", f)
			}
			if c.found != nil && !slices.Contains(got.Receipt.Found.Refused, "customer_data/list.csv was not offered") {
				t.Errorf("refused: %q", got.Receipt.Found.Refused)
			}
			if n := len(s.comments); n > 0 && c.asked > 0 && !strings.Contains(s.comments[n-1].Body, "Found outside the change") {
				t.Errorf("the report says nothing of it:\n%s", s.comments[n-1].Body)
			}
		})
	}
}

// A run that is killed between the two questions asks the second one alone, and comes to the same (threats.md K77).
func TestFinderGoesOn(t *testing.T) {
	s, steps, stop := searching(telling), newSteps(), errors.New("killed")
	failpoint.Arm(func(name string) error {
		if name == "context: discovered" {
			return stop
		}
		return nil
	})
	t.Cleanup(func() { failpoint.Arm(nil) })
	if _, err := s.quickly(t, steps, nil, looked(true, false)); !errors.Is(err, stop) {
		t.Fatalf("not stopped: %v", err)
	}
	failpoint.Arm(nil)
	if n := len(s.tasks); n != 1 {
		t.Fatalf("%d questions before the kill", n)
	}
	got, err := s.quickly(t, steps, nil, looked(true, false))
	if err != nil || got.Outcome != review.Converged || len(got.Receipt.Found.Excerpts) != 1 {
		t.Fatalf("%v: %s, %+v", err, got.Outcome, got.Receipt.Found)
	}
	if finder := slices.DeleteFunc(slices.Clone(s.asked), func(r review.Role) bool { return r != review.RoleFinder }); len(finder) != 2 {
		t.Errorf("the finder was asked %d times", len(finder))
	}
}

// In a later round the lines of files that a fix changed are others: they are left out, and counted.
func TestFoundInALaterRound(t *testing.T) {
	f := &Found{Reports: []AgentReport{{}}, Files: []review.RelatedFile{{Path: "a.sql"}, {Path: "b.sql"}},
		Receipt: review.Found{Excerpts: []review.Excerpt{{File: "a.sql", Line: 1, LineEnd: 2}, {File: "b.sql", Line: 3, LineEnd: 4}}}}
	got := f.later([]string{"a.sql"})
	want := &Found{Files: []review.RelatedFile{{Path: "b.sql"}}, Receipt: review.Found{Excerpts: []review.Excerpt{{File: "b.sql", Line: 3, LineEnd: 4}}, Later: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if (*Found)(nil).later(nil) != nil {
		t.Error("nothing became something")
	}
}
