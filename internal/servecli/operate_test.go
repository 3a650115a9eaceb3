package servecli

import (
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/subcommand"
)

// What became of what servers were asked for stands in the words of runs, in a column; who never ran one is told where runs are.
func TestStatusInWords(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		st   queue.Status
		want string
	}{
		{queue.Status{SeenTo: []queue.Item{{What: "a/b#1", Outcome: "changes_requested", Updated: at, Why: "1 P1"}, {What: "a/b#2", Outcome: "nothing", Updated: at}, {What: "a/b#3", Outcome: "cancelled", Updated: at, Run: "r"}}},
			"changes requested a/b#1 at 2026-11-20 10:00:00 UTC: 1 P1\nnothing to do     a/b#2 at 2026-11-20 10:00:00 UTC\ncancelled         a/b#3 at 2026-11-20 10:00:00 UTC (run r)\n"},
		{queue.Status{SeenTo: []queue.Item{{What: "a/b#1", Outcome: "converged", Updated: at}}}, "approved    a/b#1 at 2026-11-20 10:00:00 UTC\n"},
		{queue.Status{}, "no server was asked for anything yet; all runs: prloop runs\n"},
	} {
		var b strings.Builder
		printStatus(subcommand.Process{Stdout: &b}, row.st)
		if b.String() != row.want {
			t.Errorf("got\n%swant\n%s", b.String(), row.want)
		}
	}
}
