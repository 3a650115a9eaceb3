package repocontext

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/symbols"
	"github.com/prloop/prloop/review"
)

// cases is a folder of review cases beside those that are carried: case.json, base.tar.gz, pr.diff, golden.json each.
var cases = flag.String("cases", "../testkit/forge/testdata/cases", "folder of review cases for TestDecisiveCode")

// TestDecisiveCode measures how much of the code that decides expected findings stands in the brief, against the same brief with
// whole regions and nothing beside them. The names of a finding are the identifiers in its text that stand in backticks or look like
// code (mixed case, an underscore, a point or a bracket), blocks of suggested code left out. The decisive places of a name are the
// definitions of it outside the lines of the diff: those in the file that the finding is about, or else in its folder, or else
// anywhere; for a name that the diff alone defines, the uses outside. A name without such a place decides nothing, and neither
// does a word that more than three other folders' lines define. A finding is
// served when each of its names that decide has one of its places in the brief, beside the diff.
func TestDecisiveCode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*cases, "*", "pr.diff"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", *cases, err)
	}
	var before, after figures
	for _, file := range files {
		dir := filepath.Dir(file)
		src, d := readCase(t, dir)
		b, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID})
		if err != nil {
			t.Fatal(err)
		}
		old := b
		old.Related = nil
		old.Files = slices.Clone(b.Files)
		for i := range old.Files {
			if f := &old.Files[i]; f.Omitted == "" && f.Change != string(diff.Added) && f.Change != string(diff.Deleted) {
				f.Context, _ = regionsOf(f.Path, []byte(src.files[headID][f.Path]), d.Files[i].Hunks, true)
			}
		}
		want := decisive(t, dir, src, d)
		x, y := measure(old, want), measure(b, want)
		t.Logf("%-30s before %s", filepath.Base(dir), x)
		t.Logf("%-30s after  %s", "", y)
		for _, w := range want {
			t.Logf("    %s: %s; missing before: %v, after: %v", w.id, w.context, w.missing(lines(old)), w.missing(lines(b)))
		}
		before, after = before.add(x), after.add(y)
	}
	t.Logf("%-30s before %s", "all", before)
	t.Logf("%-30s after  %s", "", after)
	if after.twice != 0 {
		t.Errorf("%d bytes are shown twice", after.twice)
	}
	if after.served < 2*before.served {
		t.Errorf("%d findings are served, %d before", after.served, before.served)
	}
	if after.tokens > before.tokens {
		t.Errorf("%d tokens, %d before", after.tokens, before.tokens)
	}
}

// figures are what is measured of briefs.
type figures struct {
	findings, served, of int // findings with names that decide; those served; names that decide
	names                int // served
	twice, tokens        int
}

func (f figures) add(g figures) figures {
	return figures{f.findings + g.findings, f.served + g.served, f.of + g.of, f.names + g.names, f.twice + g.twice, f.tokens + g.tokens}
}

func (f figures) String() string {
	return fmt.Sprintf("%2d of %2d findings served, %2d of %2d names, %6d bytes twice, %6d tokens", f.served, f.findings, f.names, f.of, f.twice, f.tokens)
}

// place is a line of a file of the head.
type place struct {
	path string
	line int
}

// expected is a finding with the places of each of its names that decide.
type expected struct {
	id, context string
	names       map[string][]place
}

func (e expected) missing(shown map[place]int) []string {
	var out []string
	for name, places := range e.names {
		if !slices.ContainsFunc(places, func(p place) bool { return shown[p] > 0 }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// lines counts how often each line of the head stands in a brief beside the diffs.
func lines(b review.Brief) map[place]int {
	shown := map[place]int{}
	for _, f := range b.Files {
		for _, r := range f.Context {
			for n := r.Start; n <= r.End; n++ {
				shown[place{f.Path, n}]++
			}
		}
	}
	for _, f := range b.Related {
		for _, r := range f.Regions {
			for n := r.Start; n <= r.End; n++ {
				shown[place{f.Path, n}]++
			}
		}
	}
	return shown
}

func measure(b review.Brief, want []expected) figures {
	var out figures
	shown := lines(b)
	for _, w := range want {
		out.findings++
		out.of += len(w.names)
		missing := len(w.missing(shown))
		out.names += len(w.names) - missing
		if missing == 0 {
			out.served++
		}
	}
	// What stands twice is counted on the text that is given.
	times, size := map[place]int{}, map[place]int{}
	note := func(file string, start int, text string) {
		for l := range strings.Lines(text) {
			times[place{file, start}]++
			size[place{file, start}] = len(l)
			start++
		}
	}
	for _, f := range b.Files {
		out.tokens += Estimate(f.Diff) + fileOverhead
		if d, err := diff.Parse(f.Diff); err == nil && f.Diff != "" {
			for i := range d.Files[0].Hunks {
				for l := range d.Files[0].Hunks[i].Lines() {
					if l.New > 0 {
						note(f.Path, l.New, l.Text+"\n")
					}
				}
			}
		}
		for _, r := range f.Context {
			out.tokens += Estimate(r.Text) + fileOverhead
			note(f.Path, r.Start, r.Text)
		}
	}
	for _, f := range b.Related {
		out.tokens += fileOverhead
		for _, r := range f.Regions {
			out.tokens += Estimate(r.Text) + Estimate(r.Symbol) + relatedRegion
			note(f.Path, r.Start, r.Text)
		}
	}
	for _, g := range b.Guidance {
		out.tokens += Estimate(g.Text) + fileOverhead
	}
	for p, n := range times {
		out.twice += (n - 1) * size[p]
	}
	return out
}

var (
	block    = lazyregexp.New("(?s)```.*?(?:```|$)")
	ticked   = lazyregexp.New("`[^`]+`")
	codeLike = lazyregexp.New(`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*\(|\w*[a-z][A-Z]\w*|\w+_\w+`)
	word     = lazyregexp.New(`[A-Za-z_]\w{2,}`)
)

// namesIn are the identifiers of a finding's text.
func namesIn(text string) []string {
	text = block.ReplaceAllString(text, " ")
	found := slices.Concat(ticked.FindAllString(text, -1), codeLike.FindAllString(text, -1))
	var names []string
	for _, s := range found {
		names = append(names, word.FindAllString(s, -1)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// decisive reads the findings of a case and finds the places that decide them.
func decisive(t *testing.T, dir string, src *memory, d *diff.Diff) []expected {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden []struct {
		ID, Text string
		Context  string `json:"context_needed"`
		Anchors  []struct{ File string }
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	inDiff := map[place]bool{}
	for i := range d.Files {
		for h := range d.Files[i].Hunks {
			for l := range d.Files[i].Hunks[h].Lines() {
				inDiff[place{d.Files[i].Path, l.New}] = true
			}
		}
	}
	all := map[string]bool{}
	for _, g := range golden {
		for _, n := range namesIn(g.Text) {
			all[n] = true
		}
	}
	defined, used := map[string][]place{}, map[string][]place{}
	for name, text := range src.files[headID] {
		if !symbols.Known(lang.Of(name)) || !mentions(text, all) {
			continue
		}
		f, _ := symbols.Read(lang.Of(name), []byte(text))
		for _, x := range f.Definitions {
			if x.Kind != symbols.Implementation {
				defined[x.Name] = append(defined[x.Name], place{name, x.At})
			}
		}
		for _, x := range f.Uses {
			used[x.Name] = append(used[x.Name], place{name, x.Line})
		}
	}
	outside := func(places []place) []place {
		return slices.DeleteFunc(slices.Clone(places), func(p place) bool { return inDiff[p] })
	}
	var want []expected
	for _, g := range golden {
		e := expected{id: g.ID, context: g.Context, names: map[string][]place{}}
		for _, n := range namesIn(g.Text) {
			if len(defined[n]) == 0 {
				continue
			}
			places := outside(defined[n])
			if len(places) == 0 {
				places = outside(used[n])
			}
			far := true
			for _, near := range []func(a, b string) bool{
				func(a, b string) bool { return a == b }, func(a, b string) bool { return path.Dir(a) == path.Dir(b) },
			} {
				if at := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !near(p.path, g.Anchors[0].File) }); len(at) > 0 {
					places, far = at, false
				}
			}
			if len(places) > 0 && (!far || len(places) <= 3) {
				e.names[n] = places
			}
		}
		if len(e.names) > 0 {
			want = append(want, e)
		}
	}
	return want
}

// mentions reports whether one of the words stands in a text.
func mentions(text string, words map[string]bool) bool {
	for w := range strings.FieldsFuncSeq(text, outsideWord) {
		if words[w] {
			return true
		}
	}
	return false
}

// readCase unpacks a case into memory.
func readCase(t testing.TB, dir string) (*memory, *diff.Diff) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "base.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	base, head := map[string]string{}, map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		base[path.Clean(h.Name)], head[path.Clean(h.Name)] = string(data), string(data)
	}
	patch, err := os.ReadFile(filepath.Join(dir, "pr.diff"))
	if err != nil {
		t.Fatal(err)
	}
	d := parseDiff(t, string(patch))
	tree := t.TempDir()
	for i := range d.Files {
		f := &d.Files[i]
		for _, p := range []string{f.Path, f.OldPath} {
			if text, ok := base[p]; ok {
				name := filepath.Join(tree, filepath.FromSlash(p))
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
				delete(head, p)
			}
		}
	}
	apply := exec.CommandContext(context.Background(), "git", "apply", "--unsafe-paths", "-")
	apply.Dir, apply.Stdin = tree, bytes.NewReader(patch)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+tree, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("apply: %v %s", err, out)
	}
	for i := range d.Files {
		if text, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(d.Files[i].Path))); err == nil {
			head[d.Files[i].Path] = spelling.Text(string(text))
		}
	}
	return &memory{files: map[string]map[string]string{baseID: base, headID: head}}, d
}
