package cli_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	killCount    = flag.Int("kills", 12, "how many processes TestRandomKills kills")
	killCommands = flag.Int("commandkills", 0, "how many TestRandomKillsOfCommands kills; 0 is as many as -kills")
	killSeed     = flag.Uint64("killseed", 0, "the seed of TestRandomKills; 0 draws one")
	killAdd      = flag.Int("killadd", 0, "add the figures of TestRandomKills to those of so `many` kills in the file of -robustness")
	killCrowd    = flag.Int("killworkers", 6, "how many trials go on at once; more are more load")
	killDir      = flag.String("killdir", "", "the `folder` that failed trials are moved to; empty leaves them where they are, below that of temporary files")
	killReport   = flag.String("robustness", "", "write the figures of the kill suite into this `file`, and try more")

	reporting sync.Mutex
)

// report writes the gathered figures into their section of the file that -robustness names, if every trial was as it
// should be, and more below them.
func (s *killSuite) report(section, more string) {
	if *killReport == "" || s.t.Failed() {
		return
	}
	var b strings.Builder
	b.WriteString("| where | what happens | trials | duplicates | lost | ends |\n|---|---|---:|---:|---:|---|\n")
	total := killFigures{}
	for _, key := range s.order {
		f := s.rows[key]
		if f.Trials == 0 {
			continue // not possible on this machine
		}
		total.add(*f)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", key, f.Trials, f.Duplicates, f.Lost, f.ends())
	}
	fmt.Fprintf(&b, "| **all** | | **%d** | **%d** | **%d** | %s |\n", total.Trials, total.Duplicates, total.Lost, total.ends())
	s.write(section, b.String()+more)
}

// randomFigures are the figures of random kills in one row of a table, or in several added up.
type randomFigures struct {
	killFigures
	seeds string
	usual time.Duration
}

// reportRandom writes the figures of random kills into a section, or adds them to it with -killadd.
func (s *killSuite) reportRandom(section string, f killFigures, seed uint64, usual time.Duration) {
	if *killReport == "" || s.t.Failed() {
		return
	}
	r := randomFigures{f, fmt.Sprint(seed), usual.Round(time.Millisecond)}
	if *killAdd > 0 {
		if err := r.add(s.read(section)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write(section, r.table())
}

// randomSection is where the figures of so many random kills go, or of those that -killadd names.
func randomSection(name string, kills int) string {
	return fmt.Sprintf("%s-%d", name, cmp.Or(*killAdd, kills))
}

const randomHead = `| kills | runs | seed | undisturbed run | duplicates | lost | ends |
|---:|---:|---|---:|---:|---:|---|
`

func (r randomFigures) table() string {
	return fmt.Sprintf("%s| %d | %d | %s | %v | %d | %d | %s |\n", randomHead, r.Kills, r.Trials, r.seeds, r.usual, r.Duplicates, r.Lost, r.ends())
}

// add adds the figures of a table; an empty one has none.
func (r *randomFigures) add(table string) error {
	if table == "" {
		return nil
	}
	row, ok := strings.CutPrefix(table, randomHead)
	cells := strings.Split(strings.Trim(row, "| \n"), " | ")
	if !ok || len(cells) != 7 {
		return fmt.Errorf("not a table of random kills:\n%s", table)
	}
	g := killFigures{Ends: map[string]int{}}
	usual, err := time.ParseDuration(cells[3])
	for i, to := range map[int]*int{0: &g.Kills, 1: &g.Trials, 4: &g.Duplicates, 5: &g.Lost} {
		n, parseErr := strconv.Atoi(cells[i])
		*to, err = n, errors.Join(err, parseErr)
	}
	for end := range strings.SplitSeq(cells[6], ", ") {
		word, count, _ := strings.Cut(end, " ")
		n, parseErr := strconv.Atoi(count)
		g.Ends[word], err = n, errors.Join(err, parseErr)
	}
	if err != nil {
		return fmt.Errorf("a table of random kills: %w", err)
	}
	r.killFigures.add(g)
	r.seeds, r.usual = cells[2]+", "+r.seeds, max(r.usual, usual)
	return nil
}

// sections finds what stands between <!-- section --> and <!-- /section -->, with what is before and behind.
func (s *killSuite) sections(section string) (before, text, after string) {
	data, err := os.ReadFile(*killReport)
	if err != nil {
		s.t.Fatal(err)
	}
	open, end := "<!-- "+section+" -->\n", "<!-- /"+section+" -->"
	before, rest, found := strings.Cut(string(data), open)
	text, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		s.t.Fatalf("%s has no section %q", *killReport, section)
	}
	return before + open, text, end + after
}

// read gives a section of the file.
func (s *killSuite) read(section string) string {
	reporting.Lock()
	defer reporting.Unlock()
	_, text, _ := s.sections(section)
	return text
}

// write replaces a section of the file.
func (s *killSuite) write(section, text string) {
	reporting.Lock()
	defer reporting.Unlock()
	before, _, after := s.sections(section)
	if err := os.WriteFile(*killReport, []byte(before+text+after), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// The figures of several processes add up.
func TestRandomFiguresAddUp(t *testing.T) {
	first := randomFigures{killFigures{Trials: 700, Kills: 1001, Ends: map[string]int{"converged": 700}}, "7", 9 * time.Second}
	sum := randomFigures{killFigures{Trials: 800, Kills: 1002, Lost: 1, Ends: map[string]int{"converged": 799, "running": 1}}, "8", 8 * time.Second}
	if err := sum.add(first.table()); err != nil {
		t.Fatal(err)
	}
	if got, want := sum.table(), randomHead+"| 2003 | 1500 | 7, 8 | 9s | 0 | 1 | converged 1499, running 1 |\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := sum.add("no table"); err == nil {
		t.Error("what is no table is added")
	}
}
