package progress

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/tableprinter"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/sanitize"
)

// RunFields are what `prloop runs --json` can print.
var RunFields = []string{"run", "target", "pr", "head", "state", "outcome", "created", "updated", "folder"}

// RunRow are those fields of a run.
func RunRow(r store.Run) map[string]any {
	return map[string]any{
		"run": r.ID, "target": r.Target.String(), "pr": r.Target.PR, "head": r.Head, "state": r.State, "outcome": r.Outcome,
		"created": r.Created, "updated": r.Updated, "folder": r.Folder,
	}
}

// Runs prints runs as a table for people on a terminal, and else as fields between tabs. In the table the time at which an id begins stands
// for it, and some digits more where another run has the same time: that is never cut, since it is what is copied.
func Runs(w io.Writer, runs []store.Run, terminal bool, width int, now time.Time) error {
	t := tableprinter.New(w, terminal, width)
	if terminal {
		t.AddHeader([]string{"RUN", "TARGET", "OUTCOME", "AGE"})
	}
	began := map[string]int{}
	for _, r := range runs {
		at, _, _ := strings.Cut(r.ID, "_")
		began[at]++
	}
	for _, r := range runs {
		if terminal {
			id, _, _ := strings.Cut(r.ID, "_")
			if began[id] > 1 {
				id = r.ID[:min(len(id)+len("_1a2b"), len(r.ID))]
			}
			t.AddField(sanitize.Terminal(id), tableprinter.WithTruncate(nil))
			addRun(t, r, now)
		} else {
			for _, cell := range []string{r.ID, r.Target.String(), string(r.State), string(r.Outcome), r.Created.Format(time.RFC3339), r.Folder} {
				t.AddField(sanitize.Terminal(cell))
			}
		}
		t.EndRow()
	}
	return t.Render()
}

// Choose shows runs on a terminal, numbered, and gives the id of the one a person chooses; of the first for an empty line.
func Choose(in io.Reader, out io.Writer, runs []store.Run, width int, now time.Time) (string, error) {
	if len(runs) == 0 {
		return "", errors.New("no runs yet")
	}
	t := tableprinter.New(out, true, width)
	for i, r := range runs {
		t.AddField(fmt.Sprintf("%2d", i+1), tableprinter.WithTruncate(nil))
		addRun(t, r, now)
		t.EndRow()
	}
	if err := t.Render(); err != nil {
		return "", err
	}
	fmt.Fprint(out, "Which run? [1] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return "", errors.New("no run was chosen")
	}
	word := cmp.Or(strings.TrimSpace(line), "1")
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(runs) {
		return runs[n-1].ID, nil
	}
	return "", fmt.Errorf("%q is not a number from 1 to %d", word, len(runs))
}

// addRun adds what tells a run from others: its target, how it stands, without what is said in brackets, and its age.
func addRun(t tableprinter.TablePrinter, r store.Run, now time.Time) {
	stands, _, _ := strings.Cut(Stands(r), " (")
	whole := tableprinter.WithTruncate(nil)
	t.AddField(sanitize.Terminal(inFolder(r)))
	t.AddField(sanitize.Terminal(stands), whole)
	t.AddField(age(now.Sub(r.Created)), whole)
}

// Stands says how a run stands, and of one that has ended how it did.
func Stands(r store.Run) string {
	if r.State != store.Finished {
		return string(r.State)
	}
	return Words(r.Outcome, r.Consensus)
}

// inFolder is the target of a run, with the name of the folder a local change is in: "shop: since main".
func inFolder(r store.Run) string {
	if r.Folder == "" {
		return r.Target.String()
	}
	return filepath.Base(r.Folder) + ": " + strings.TrimPrefix(r.Target.String(), "local changes ")
}

// age is a time that has passed, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Replay says what judging a round again gave.
func Replay(w io.Writer, run string, round int, stored string, again orchestrator.Judgement) error {
	if again.Report != stored {
		return advice.Error{
			Err:  fmt.Errorf("replay of round %d of run %s gives another report (%s, stored %s)", round, run, amount(len(again.Report), "byte", "bytes"), amount(len(stored), "byte", "bytes")),
			Next: "the artifacts were changed, or the run was made by another version of prloop", Status: advice.Failed,
		}
	}
	name := ""
	if round > 1 || again.GoesOn {
		name = fmt.Sprintf("round %d of ", round)
	}
	fmt.Fprintf(w, "replay of %srun %s: the same %d bytes\n", name, run, len(stored))
	if word := again.Result.Consensus; word != nil {
		fmt.Fprintf(w, "consensus: %s\n", *word)
	}
	if again.GoesOn {
		fmt.Fprintf(w, "the fixer is asked to fix %s\n", amount(len(again.Payload.IssuesToFix), "finding", "findings"))
		return nil
	}
	fmt.Fprintf(w, "outcome: %s (%s)\n", again.Result.Outcome, sanitize.Terminal(again.Result.Reason))
	return nil
}

// amount writes a count with the right word.
func amount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
