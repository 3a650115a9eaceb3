package stats

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/prloop/prloop/internal/store"
)

// TestUsageIsTheDigest: what the store adds up is what adding up all results gives, with every figure of every row.
func TestUsageIsTheDigest(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, r := range runs() {
		if err := s.CreateRun(ctx, store.Run{ID: r.ID, ReviewID: r.ID, Target: r.Target}); err != nil {
			t.Fatal(err)
		}
		if r.Result != nil {
			r.Result.Run = r.ID
			if err := s.FinishRun(ctx, *r.Result); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := slices.DeleteFunc(digest(t).Rows(), func(r *Row) bool { return r.By == ByRepository && r.Name == "(local)" })
	same := cmpopts.EquateApprox(0, 1e-9)
	for _, when := range []string{"at first", "again", "after a run is gone"} {
		u, err := ReadUsage(ctx, s, store.Over{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, u.Rows, same); diff != "" {
			t.Errorf("%s:\n%s", when, diff)
		}
		if len(u.Days) != 1 && len(u.Days) != 2 { // the test may run over midnight
			t.Errorf("%s: %d days", when, len(u.Days))
		}
		if when == "again" {
			if err := s.Forget(ctx, "1"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
