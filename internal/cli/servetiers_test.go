package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// Agents whose answers their requests ask for.
const (
	askedScout = `#!/bin/sh
case $(cat) in
*SCOUT-SILENT*) echo "I could not decide."; exit 0 ;;
*SCOUT-COMPLEX*) complexity=complex verdict=lgtm ;;
*SCOUT-FLAGS*) complexity=simple verdict=flag ;;
*) complexity=simple verdict=lgtm ;;
esac
echo '{"complexity":"'$complexity'","verdict":"'$verdict'","observations":[],"reasons":["It is small."]}'
`
	askedReviewer = `#!/bin/sh
here=$(dirname "$0")
request=$(cat)
case $request in
*REVIEWER-OBJECTS*) exec "$here/picky.sh" ;;
esac
exec "$here/clean.sh" </dev/null
`
)

// tierRow is a pull request, and what stands on it once the daemon is done.
type tierRow struct {
	name string
	// note is what its change says, which agents answer to.
	note string
	// path is where that stands; note.txt when empty.
	path   string
	labels []string
	author string
	// said are the titles of its comments, the oldest first; gate is the last commit status, empty where none is set.
	said, gate string
}

// triggerRows are what leads from a scan to a full review, or past the scan, with the gate "verdict".
var triggerRows = []tierRow{
	{name: "simple and lgtm", note: "fine", said: "quick scan · looks good", gate: "success: Quick scan: looks good"},
	{name: "complex", note: "SCOUT-COMPLEX", said: "escalating to full review (collapsed), approved", gate: "success: Approved"},
	{name: "flagged", note: "SCOUT-FLAGS", said: "escalating to full review (collapsed), approved", gate: "success: Approved"},
	{name: "flagged, and rightly", note: "SCOUT-FLAGS REVIEWER-OBJECTS", said: "escalating to full review (collapsed), changes requested · 1 to fix", gate: "failure: Changes requested"},
	{name: "no answer", note: "SCOUT-SILENT", said: "escalating to full review (collapsed), approved", gate: "success: Approved"},
	{name: "a label", note: "fine", labels: []string{"full-review"}, said: "approved", gate: "success: Approved"},
	{name: "a path", note: "fine", path: "db/7.sql", said: "approved", gate: "success: Approved"},
	{name: "many lines", note: strings.Repeat("fine\n", 60), said: "approved", gate: "success: Approved"},
	{name: "a stranger", note: "fine", author: "stranger", said: "approved", gate: "success: Approved"},
}

// gateRows are what the four gates say of four ends: two of full reviews, which a label asks for, and two of scans that nothing follows.
func gateRows(approved, refused, lgtm, flagged string) []tierRow {
	full := []string{"full-review"}
	return []tierRow{
		{name: "approved", note: "fine", labels: full, said: "approved", gate: approved},
		{name: "changes requested", note: "REVIEWER-OBJECTS", labels: full, said: "changes requested · 1 to fix", gate: refused},
		{name: "scan, lgtm", note: "fine", said: "quick scan · looks good", gate: lgtm},
		{name: "scan, flagged", note: "SCOUT-FLAGS", said: "quick scan · flagged", gate: flagged},
	}
}

// A server scans, escalates and sets the gate as the tables of docs/quick.md and docs/ci.md say, for pull requests that webhooks tell of.
func TestServeTiersAndGates(t *testing.T) {
	t.Parallel()
	const alone = "tier: auto\nauto_full: {on_flag: false, on_complex: false, labels: [full-review]}\n"
	for name, c := range map[string]struct {
		settings string
		rows     []tierRow
	}{
		"triggers":            {"gate: verdict\ntier: auto\nauto_full: {paths: [\"db/**\"], labels: [full-review], over_lines: 50, untrusted: true}\n", triggerRows},
		"off":                 {"gate: off\n" + alone, gateRows("", "", "", "")},
		"presence":            {"gate: presence\n" + alone, gateRows("success", "success", "success", "success")},
		"verdict-non-trivial": {"gate: verdict-non-trivial\n" + alone, gateRows("success", "failure", "success", "failure")},
		"verdict":             {"gate: verdict\n" + alone, gateRows("success", "failure", "success", "failure")},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "triggers" && name != "verdict" {
				t.Skip("long")
			}
			t.Parallel()
			h := openHall(t)
			h.repo.SetPermission("contributor", forge.Write)
			for file, text := range map[string]string{"scout.sh": askedScout, "asked.sh": askedReviewer} {
				if err := os.WriteFile(filepath.Join(h.home, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(h.home, "operator.yml")
			if err := os.WriteFile(config, []byte(c.settings+"scout: {use: command, path: "+filepath.Join(h.home, "scout.sh")+"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			h.env = append(h.env, "PRLOOP_CONFIG="+config)
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "asked.sh"))
			pulls := make([]*forge.PullRequest, len(c.rows))
			for i, row := range c.rows {
				pulls[i] = h.open(10+i, row.spec)
			}
			wanted := h.settled(len(c.rows))
			s.stop(t, syscall.SIGTERM)
			gates := map[string]string{}
			for _, x := range h.repo.Statuses() {
				gates[x.SHA] = x.State + ": " + x.Description // the newest stands last
			}
			for i, row := range c.rows {
				said := strings.ReplaceAll(strings.TrimSuffix(titles(pulls[i]), "\n"), "\n", ", ")
				if said != row.said {
					t.Errorf("%s: %q, want %q; %+v", row.name, said, row.said, wanted[fmt.Sprintf("#%d", 10+i)])
				}
				if gate := gates[pulls[i].HeadSHA()]; !strings.HasPrefix(gate, row.gate) || gate != "" && row.gate == "" {
					t.Errorf("%s: the status is %q, want %q", row.name, gate, row.gate)
				}
			}
		})
	}
}

// spec opens the pull request of a row.
func (r tierRow) spec(s *forge.PullSpec) {
	path := "note.txt"
	if r.path != "" {
		path = r.path
	}
	head := fstest.MapFS{path: {Data: []byte(r.name + ": " + r.note + "\n"), Mode: 0o644}}
	tree := os.DirFS("testdata/share/head")
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read is missing in the change
		if err == nil && !d.IsDir() {
			data, _ := fs.ReadFile(tree, name)
			head[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		}
		return err
	})
	s.Head, s.Labels = head, r.labels
	if r.author != "" {
		s.Author = r.author
	}
}
