package stats

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cli/go-gh/v2/pkg/tableprinter"

	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Fields are what a row has for programs.
func Fields() []string {
	out := []string{"by", "name", "runs", "outcomes", "rounds", "converged", "findings", "counted", "prominent", "setAside"}
	for _, f := range review.Fates() {
		out = append(out, string(f))
	}
	out = append(out, "unrecorded", "answers", "degraded", "failed", "tokens", "cachedShare", "costUsd", "unpriced", "seconds", "posted", "resolutionRate")
	for _, b := range review.AllBecame() {
		out = append(out, becameField(b))
	}
	return out
}

// becameField is the field of what findings became by the merge.
func becameField(b review.Became) string {
	return "posted" + strings.ToUpper(string(b[:1])) + string(b[1:])
}

// Map is the row for programs. A share nobody knows is nil.
func (r *Row) Map() map[string]any {
	m := map[string]any{
		"by": r.By, "name": r.Name, "runs": r.Runs, "outcomes": r.Outcomes, "rounds": r.Rounds, "converged": r.Converged,
		"findings": r.Findings, "counted": r.Counted, "prominent": r.Prominent, "setAside": r.SetAside(), "unrecorded": r.Unrecorded,
		"answers": r.Answers, "degraded": r.Degraded, "failed": r.Failed, "tokens": r.Tokens, "cachedShare": nil, "costUsd": r.CostUSD,
		"unpriced": r.Unpriced, "seconds": r.Seconds, "posted": r.Posted(), "resolutionRate": nil,
	}
	for _, b := range review.AllBecame() {
		m[becameField(b)] = r.Became[b]
	}
	if n := r.Judged(); n > 0 {
		m["resolutionRate"] = float64(r.Became[review.BecameFixed]) / float64(n)
	}
	if r.Input > 0 {
		m["cachedShare"] = float64(r.Cached) / float64(r.Input)
	}
	for _, f := range review.Fates() {
		m[string(f)] = r.Fates[f]
	}
	return m
}

// Write prints the digest: tables for a person at a terminal, else one line for each row with tabs between its fields. Without a run
// that has ended it says so in a sentence to note.
func (d *Digest) Write(w, note io.Writer, terminal bool, width int) error {
	rows := d.Rows()
	switch {
	case len(rows) == 0:
		_, err := fmt.Fprintln(note, "no run has ended yet: there is nothing to add up")
		return err
	case !terminal:
		return plain(w, rows)
	}
	all := rows[0]
	var parts []func() error
	if all.Runs > 0 {
		fmt.Fprintln(w, d.headline(all))
		fmt.Fprintln(w)
		parts = []func() error{
			func() error { return outcomes(w, all, width) },
			func() error { return repositories(w, rows, width) },
			func() error { return findings(w, rows, width) },
			func() error { return agents(w, rows, width) },
		}
	}
	if all.Posted() > 0 {
		parts = append(parts, func() error { return merged(w, rows, width) })
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := part(); err != nil {
			return err
		}
	}
	for _, t := range d.Thresholds() {
		fmt.Fprintf(w, "\n%s: problem_score_threshold %d would have left %d of %d posted findings, %s of them fixed before the merge instead of %s. Nothing was changed.\n",
			line(t.Repo), t.Score, t.Kept, t.All, percent(t.KeptFixed, t.Kept), percent(t.AllFixed, t.All))
	}
	if all.Unrecorded > 0 {
		fmt.Fprintf(w, "\n%s before it was kept what became of findings.\n", count(all.Unrecorded, "run ended", "runs ended"))
	}
	return nil
}

// headline are the figures of all runs.
func (d *Digest) headline(all *Row) string {
	repos := 0
	for k := range d.rows {
		if k[0] == ByRepository {
			repos++
		}
	}
	text := fmt.Sprintf("%s of %s", count(all.Runs, "run", "runs"), count(repos, "repository", "repositories"))
	if d.unfinished > 0 {
		text += fmt.Sprintf("; %d more not ended", d.unfinished)
	}
	n := all.Runs
	text += fmt.Sprintf("\na run: %.1f findings (%.1f counted, %.1f prominent, %.1f set aside), %.1f rounds, %.0f s, %.0f tokens, %s",
		mean(float64(all.Findings), n), mean(float64(all.Counted), n), mean(float64(all.Prominent), n), mean(float64(all.SetAside()), n),
		mean(float64(all.Rounds), n), mean(all.Seconds, n), mean(float64(all.Tokens), n), dollars(all.CostUSD/float64(n), all.Unpriced))
	if all.Input > 0 {
		text += fmt.Sprintf("\n%s of the input came from prompt caches", percent(all.Cached, all.Input))
	}
	if c := all.converged(); c > 0 {
		text += fmt.Sprintf("\nconverged in one round: %d, in two: %d, in three: %d", all.Converged[0], all.Converged[1], all.Converged[2])
	}
	return text
}

// table prints a header and rows of cells; the first cell of each is text of others.
func table(w io.Writer, width int, header []string, rows [][]string) error {
	t := tableprinter.New(w, true, width)
	t.AddHeader(header)
	for _, row := range rows {
		for i, cell := range row {
			if i == 0 {
				t.AddField(line(cell))
				continue
			}
			t.AddField(cell, tableprinter.WithTruncate(nil), tableprinter.WithPadding(left))
		}
		t.EndRow()
	}
	return t.Render()
}

// left pads a figure to stand at the right of its column.
func left(width int, s string) string {
	if n := width - len([]rune(s)); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

func outcomes(w io.Writer, all *Row, width int) error {
	var names []review.Outcome
	for o := range all.Outcomes {
		names = append(names, o)
	}
	slices.SortFunc(names, func(a, b review.Outcome) int {
		if n := all.Outcomes[b] - all.Outcomes[a]; n != 0 {
			return n
		}
		return strings.Compare(string(a), string(b))
	})
	var rows [][]string
	for _, o := range names {
		rows = append(rows, []string{string(o), strconv.Itoa(all.Outcomes[o]), percent(all.Outcomes[o], all.Runs)})
	}
	return table(w, width, []string{"OUTCOME", "RUNS", "SHARE"}, rows)
}

func repositories(w io.Writer, all []*Row, width int) error {
	var rows [][]string
	for _, r := range all {
		if r.By == ByRepository && r.Runs > 0 {
			rows = append(rows, []string{r.Name, strconv.Itoa(r.Runs), percent(r.converged(), r.Runs), fmt.Sprintf("%.1f", mean(float64(r.Rounds), r.Runs)), strconv.Itoa(r.Findings), dollars(r.CostUSD, r.Unpriced)})
		}
	}
	return table(w, width, []string{"REPOSITORY", "RUNS", "CONVERGED", "ROUNDS", "FINDINGS", "COST"}, rows)
}

// shown are the columns of fates for a person: some stand together, and Map has each.
var shown = []struct {
	head  string
	fates []review.Fate
}{
	{"FIXED", []review.Fate{review.FateFixed}}, {"CLAIMED", []review.Fate{review.FateClaimed}},
	{"REJECTED", []review.Fate{review.FateRejected, review.FateDisputed}}, {"STUCK", []review.Fate{review.FateStuck}},
	{"GONE", []review.Fate{review.FateGone, review.FateResolved}}, {"OPEN", []review.Fate{review.FateOpen}},
	{"ASIDE", []review.Fate{review.FateRefuted, review.FateUnproven}},
}

func findings(w io.Writer, all []*Row, width int) error {
	header := []string{"FINDINGS", "ALL"}
	for _, s := range shown {
		header = append(header, s.head)
	}
	var rows [][]string
	for _, r := range all {
		if r.Findings == 0 || r.By == ByRepository {
			continue
		}
		name := strings.TrimSpace(r.By + " " + r.Name)
		cells := []string{name, strconv.Itoa(r.Findings)}
		for _, s := range shown {
			n := 0
			for _, f := range s.fates {
				n += r.Fates[f]
			}
			cells = append(cells, strconv.Itoa(n))
		}
		rows = append(rows, cells)
	}
	return table(w, width, header, rows)
}

// merged are posted findings of pull requests that were merged.
func merged(w io.Writer, all []*Row, width int) error {
	header := []string{"POSTED, AND MERGED", "ALL"}
	for _, b := range review.AllBecame() {
		header = append(header, strings.ToUpper(string(b)))
	}
	header = append(header, "RESOLVED")
	var rows [][]string
	for _, r := range all {
		if r.Posted() == 0 {
			continue
		}
		cells := []string{strings.TrimSpace(r.By + " " + r.Name), strconv.Itoa(r.Posted())}
		for _, b := range review.AllBecame() {
			cells = append(cells, strconv.Itoa(r.Became[b]))
		}
		rows = append(rows, append(cells, percent(r.Became[review.BecameFixed], r.Judged())))
	}
	return table(w, width, header, rows)
}

func agents(w io.Writer, all []*Row, width int) error {
	var rows [][]string
	for _, r := range all {
		if (r.By == ByAgent || r.By == ByModel) && r.Answers > 0 {
			cached := "-"
			if r.Input > 0 {
				cached = percent(r.Cached, r.Input)
			}
			rows = append(rows, []string{
				r.By + " " + r.Name, strconv.Itoa(r.Answers), percent(r.Degraded+r.Failed, r.Answers), strconv.Itoa(r.Tokens), cached,
				fmt.Sprintf("%.0f s", mean(r.Seconds, r.Answers)), dollars(r.CostUSD, r.Unpriced),
			})
		}
	}
	return table(w, width, []string{"AGENT OR MODEL", "ANSWERS", "NOT COMPLETE", "TOKENS", "CACHED", "TIME", "COST"}, rows)
}

// plain prints rows for programs that read lines: the fields, but for groups in them.
func plain(w io.Writer, rows []*Row) error {
	for _, r := range rows {
		m := r.Map()
		var cells []string
		for _, f := range Fields() {
			switch v := m[f].(type) {
			case nil:
				cells = append(cells, "")
			case string:
				cells = append(cells, line(v))
			case int:
				cells = append(cells, strconv.Itoa(v))
			case float64:
				cells = append(cells, strconv.FormatFloat(v, 'f', 4, 64))
			case [3]int:
				cells = append(cells, strconv.Itoa(v[0]+v[1]+v[2]))
			}
		}
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// WriteCurves prints how reliable each model's numbers are: by what was stated, how many findings there are, how many held, the share with
// its 95 % interval, and what such a number is worth.
func WriteCurves(w io.Writer, t calibration.Table) {
	if len(t.Curves) == 0 {
		fmt.Fprintln(w, "nothing is known yet of the probabilities that models stated")
		return
	}
	for i, c := range t.Curves {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s of %s: %s of runs, %d of evaluations\n", c.Of, line(c.Model), count(c.Runs, "finding", "findings"), c.Eval)
		fmt.Fprintf(w, "%-11s %6s %8s %6s %7s %13s %7s\n", "stated", "mean", "findings", "held", "share", "95 %", "worth")
		for _, b := range c.Bins {
			if b.Findings == 0 {
				continue
			}
			low, high := b.Interval()
			fmt.Fprintf(w, "%.1f to %.1f  %6s %8d %6d %7s %13s %7s\n", float64(b.From)/1000, float64(b.From+100)/1000, thousandths(b.Stated), b.Findings, b.Held,
				percent(b.Held, b.Findings), thousandths(low)+"-"+thousandths(high), thousandths(b.Chance))
		}
	}
}

// line is a name from outside as one line of a terminal.
func line(s string) string { return strings.Join(strings.Fields(sanitize.Terminal(s)), " ") }

func thousandths(n int) string { return fmt.Sprintf("%.3f", float64(n)/1000) }

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// dollars marks a sum in which something is missing.
func dollars(usd float64, unpriced int) string {
	text := fmt.Sprintf("$%.2f", usd)
	switch {
	case unpriced > 0 && usd == 0:
		return "unknown"
	case unpriced > 0:
		return "> " + text
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
