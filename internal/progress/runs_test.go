package progress

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// On a narrow terminal two runs of the same minute, and of the same moment, can be told apart and copied, and it stands in words how they ended; without one the
// fields are those of before, and the folder of a local change.
func TestRunsTable(t *testing.T) {
	at := time.Date(2026, 1, 24, 12, 0, 0, 0, time.UTC)
	asked := string(review.RequestChanges)
	runs := []store.Run{
		{ID: "20260124T120000.000Z_1a2b3c4d5e6f7a8b", Target: review.Target{Repo: review.Repo{Owner: "a-long-organisation", Name: "a-long-repository"}, PR: 7}, State: store.Finished, Outcome: review.ChangesRequested, Created: at},
		{ID: "20260124T120000.001Z_1a2b3c4d5e6f7a8b", Target: review.Target{Base: "main"}, Folder: "/home/me/shop", State: store.Running, Created: at},
		{ID: "20260124T120000.002Z_1a2b3c4d5e6f7a8b", Target: review.Target{Base: "release/1.x"}, Folder: "/home/me/shop", State: store.Finished, Outcome: review.StaticOnly, Created: at},
		{ID: "20260124T120000.003Z_1a2b3c4d5e6f7a8b", Target: review.Target{Base: "main"}, State: store.Finished, Outcome: review.StaticOnly, Consensus: &asked, Created: at},
		{ID: "20260124T120000.003Z_2b3c4d5e6f7a8b9c", Target: review.Target{Base: "main"}, State: store.Finished, Outcome: review.Diverging, Created: at},
	}
	var table, fields strings.Builder
	if err := Runs(&table, runs, true, 80, at.Add(26*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"20260124T120000.000Z       a-long-", "changes requested", "20260124T120000.001Z       shop: since main ", "running", "20260124T120000.002Z       shop: since r", "  no static findings",
		"20260124T120000.003Z_1a2b  ", "  static findings", "20260124T120000.003Z_2b3c  ", "diverging: a person is needed  26h",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("want %q:\n%s", want, table.String())
		}
	}
	for l := range strings.Lines(table.String()) {
		if n := len([]rune(strings.TrimRight(l, " \n"))); n > 80 {
			t.Errorf("a line has %d columns: %q", n, l)
		}
	}
	if err := Runs(&fields, runs[1:2], false, 80, at); err != nil {
		t.Fatal(err)
	}
	if got, want := fields.String(), runs[1].ID+"\tlocal changes since main\trunning\t\t2026-01-24T12:00:00Z\t/home/me/shop\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A person chooses a run by its number, the newest by an empty line.
func TestChoose(t *testing.T) {
	runs := []store.Run{{ID: "new", Target: review.Target{Base: "main"}, Folder: "/home/me/shop"}, {ID: "old", Target: review.Target{Base: "main"}}}
	for in, want := range map[string]string{"\n": "new", "2\n": "old", " 1 \n": "new", "3\n": "", "0\n": "", "old\n": "", "": ""} {
		var out strings.Builder
		got, err := Choose(strings.NewReader(in), &out, runs, 80, time.Now())
		if got != want || (err == nil) == (want == "") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
		if !strings.Contains(out.String(), " 2  local changes since main") {
			t.Errorf("the runs are not numbered:\n%s", out.String())
		}
	}
	if _, err := Choose(strings.NewReader("\n"), io.Discard, nil, 80, time.Now()); err == nil {
		t.Error("chose a run where there is none")
	}
}
