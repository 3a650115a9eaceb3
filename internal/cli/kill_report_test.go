package cli_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	killCount  = flag.Int("kills", 12, "how many processes TestRandomKills kills")
	killSeed   = flag.Uint64("killseed", 0, "the seed of TestRandomKills; 0 draws one")
	killDir    = flag.String("killdir", "", "the `folder` that failed trials are moved to; empty leaves them where they are, below that of temporary files")
	killReport = flag.String("robustness", "", "write the figures of the kill suite into this `file`, and try more")

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

// reportRandom writes the figures of random kills into the section of their number.
func (s *killSuite) reportRandom(f killFigures, seed uint64, usual time.Duration) {
	if *killReport == "" || s.t.Failed() {
		return
	}
	s.write(fmt.Sprintf("random-%d", *killCount), fmt.Sprintf(`| kills | runs | seed | undisturbed run | duplicates | lost | ends |
|---:|---:|---|---:|---:|---:|---|
| %d | %d | %d | %v | %d | %d | %s |
`, f.Kills, f.Trials, seed, usual.Round(time.Millisecond), f.Duplicates, f.Lost, f.ends()))
}

// write replaces what stands between <!-- section --> and <!-- /section -->.
func (s *killSuite) write(section, text string) {
	reporting.Lock()
	defer reporting.Unlock()
	data, err := os.ReadFile(*killReport)
	if err != nil {
		s.t.Fatal(err)
	}
	open, end := "<!-- "+section+" -->\n", "<!-- /"+section+" -->"
	before, rest, found := strings.Cut(string(data), open)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		s.t.Fatalf("%s has no section %q", *killReport, section)
	}
	if err := os.WriteFile(*killReport, []byte(before+open+text+end+after), 0o644); err != nil {
		s.t.Fatal(err)
	}
}
