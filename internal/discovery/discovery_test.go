package discovery

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// shelf is a Source of one commit, in memory, that remembers what was read.
type shelf struct {
	files map[string]string
	links []string
	read  []string
}

func (s *shelf) Files(context.Context, string, string) ([]string, error) {
	return slices.Collect(maps.Keys(s.files)), nil
}

func (s *shelf) Links(context.Context, string, string) ([]string, error) { return s.links, nil }

func (s *shelf) ReadFiles(_ context.Context, _ string, paths []string, limit int) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range paths {
		s.read = append(s.read, p)
		if text, ok := s.files[p]; ok && len(text) <= limit {
			out[p] = []byte(text)
		}
	}
	return out, nil
}

func store() *shelf {
	return &shelf{links: []string{"k8s/prod/link.yaml"}, files: map[string]string{
		"README.md": "# Shop\n", "db/schema.sql": "create table carts (\n  id bigint\n);\n", "k8s/prod/cart.yaml": "kind: Deployment\nreplicas: 3\n", "k8s/prod/stock.yaml": "kind: Deployment\nreplicas: 2\n",
		"k8s/prod/link.yaml": "../../secret", "k8s/base.yaml": "a: 1\n", "customer_data/eu/list.csv": "CANARY-1\n", "customer_data/CANARY.csv": "CANARY-2\n", "k8s/prod/logo.png": "\x89PNG\x00",
	}}
}

func options() Options {
	return Options{Commit: "head", Exclude: []string{"customer_data", "customer_data/**"}, Bounds: Bounds{Fragments: 2, Chars: 40, Dirs: 4, Entries: 50}}
}

// The folders of the change come first, then the root and what is around them; what is excluded, and links, are not there.
func TestList(t *testing.T) {
	got, err := List(t.Context(), store(), options(), []string{"k8s/prod/cart.yaml"})
	want := []review.Listing{
		{Folder: "k8s/prod", Files: []string{"cart.yaml", "logo.png", "stock.yaml"}},
		{Folder: "", Files: []string{"README.md"}, Folders: []string{"db", "k8s"}},
		{Folder: "k8s", Files: []string{"base.yaml"}, Folders: []string{"prod"}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	o := options()
	o.Always, o.Dirs, o.Entries = []string{"/db/", "none", "customer_data"}, 2, 2
	got, err = List(t.Context(), store(), o, []string{"k8s/prod/cart.yaml"})
	want = []review.Listing{{Folder: "db", Files: []string{"schema.sql"}}, {Folder: "k8s/prod", Files: []string{"cart.yaml", "logo.png"}, More: 1}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// Only what was offered is read, and no more than is allowed, whatever a finder says.
func TestReadGoesByTheListings(t *testing.T) {
	s, o := store(), options()
	listings, err := List(t.Context(), s, o, []string{"k8s/prod/cart.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	wanted := []review.Wanted{
		{File: "customer_data/eu/list.csv"}, {File: "k8s/prod/link.yaml"}, {File: "../../etc/passwd"}, {File: "db/schema.sql"}, {File: "k8s/prod/logo.png", Reason: "a picture"},
		{File: "k8s/prod/stock.yaml", Reason: "how\nthe other one is"}, {File: "k8s/prod/stock.yaml"}, {File: "README.md"},
	}
	fragments, refused, err := Read(t.Context(), s, o, listings, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]review.Fragment{{File: "k8s/prod/stock.yaml", Reason: "how the other one is", Text: "kind: Deployment\nreplicas: 2\n", Lines: 2}}, fragments); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"k8s/prod/logo.png", "k8s/prod/stock.yaml"}, s.read); d != "" {
		t.Errorf("read: %s", d)
	}
	if d := cmp.Diff([]string{"customer_data/eu/list.csv was not offered", "k8s/prod/link.yaml was not offered", "../../etc/passwd was not offered", "db/schema.sql was not offered",
		"README.md is more than 2 files", "k8s/prod/logo.png is no text"}, refused); d != "" {
		t.Error(d)
	}
}

// A secret in a file that is read is masked before anybody sees it, a word that it has itself is no mask, and lines keep their numbers.
func TestFragmentsAreMasked(t *testing.T) {
	s, o := store(), options()
	o.Chars = 1000
	s.files["k8s/prod/stock.yaml"] = "kind: Secret\npassword: \"hV7-kq02LmXw93-Zp5tRc8\"\ntoken: \"[REDACTED]\"\nreplicas: 2\n"
	fragments, _, err := Read(t.Context(), s, o, []review.Listing{{Folder: "k8s/prod", Files: []string{"stock.yaml"}}}, []review.Wanted{{File: "k8s/prod/stock.yaml"}})
	if err != nil || len(fragments) != 1 || strings.Contains(fragments[0].Text, "hV7-kq02") || !strings.HasSuffix(fragments[0].Text, "\ntoken: \"[REDACTED~]\"\nreplicas: 2\n") || fragments[0].Lines != 4 {
		t.Errorf("%v: %+v", err, fragments)
	}
}

// A file is masked by all that it says: here its last line tells that the values are secrets (threats.md T793).
func TestFragmentsAreMaskedBeforeTheyAreCut(t *testing.T) {
	s, o := store(), options()
	o.Chars = 100
	s.files["k8s/prod/app.yaml"] = "apiVersion: v1\ndata:\n  greeting: WnE4Um5CNW1LMnZYdzRUag==\n  settings.conf: " + strings.Repeat("MQoyCjMK", 100) + "\nkind: Secret\n"
	fragments, _, err := Read(t.Context(), s, o, []review.Listing{{Folder: "k8s/prod", Files: []string{"app.yaml"}}}, []review.Wanted{{File: "k8s/prod/app.yaml"}})
	if err != nil || len(fragments) != 1 || strings.Contains(fragments[0].Text, "WnE4") || !strings.Contains(fragments[0].Text, "  greeting: ") {
		t.Errorf("%v: %+v", err, fragments)
	}
}

func TestExcerpts(t *testing.T) {
	at := func(n int) *int { return &n }
	file := review.Fragment{File: "a.sql", Text: "one\ntwo\nthree\nfour\nfive\n", Lines: 5}
	shown := func(_ string, line int) bool { return line == 3 }
	files, found := Excerpts(Bounds{Chars: 40}, []review.Fragment{file}, []review.Wanted{
		{File: "a.sql", Line: at(2), LineEnd: at(4), Reason: "the table"}, {File: "a.sql", Line: at(4), LineEnd: at(5), Reason: "its end"}, {File: "a.sql", Line: at(3)},
		{File: "b.sql", Line: at(1)}, {File: "a.sql"}, {File: "a.sql", Line: at(9)}, {File: "a.sql", Line: at(1), LineEnd: at(99)},
	}, shown, 17)
	want := []review.RelatedFile{{Path: "a.sql", Regions: []review.Region{
		{Start: 1, End: 1, Text: "one\n"}, {Start: 2, End: 2, Symbol: "the table", Text: "two\n"}, {Start: 4, End: 4, Symbol: "the table", Text: "four\n"}, {Start: 5, End: 5, Symbol: "its end", Text: "five"}}}}
	if d := cmp.Diff(want, files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a.sql is shown already", "b.sql was not read", "a.sql names no lines", "a.sql has no lines 9 to 9 among those that were read"}, found.Refused[:4]); d != "" {
		t.Error(d)
	}
	if len(found.Refused) != 4 { // the last one is given: four characters are left
		t.Errorf("%q", found.Refused)
	}
	if len(found.Excerpts) != 4 {
		t.Errorf("%+v", found.Excerpts)
	}
}

// Whatever a finder names, no line is given that was not read, that is shown anyway or that was given before, and the bounds hold.
func TestExcerptsKeepTheirBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // a test repeats
	for round := range 500 {
		var fragments []review.Fragment
		for i := range 3 {
			n := 1 + r.IntN(30)
			var text strings.Builder
			for l := range n {
				fmt.Fprintf(&text, "%d:%d %s\n", i, l+1, strings.Repeat("ü", r.IntN(20)))
			}
			fragments = append(fragments, review.Fragment{File: fmt.Sprint("f", i), Text: text.String(), Lines: n})
		}
		var wanted []review.Wanted
		for range r.IntN(40) {
			a, b := r.IntN(40)-3, r.IntN(40)-3
			wanted = append(wanted, review.Wanted{File: fmt.Sprint("f", r.IntN(4)), Line: &a, LineEnd: &b, Reason: strings.Repeat("x", r.IntN(400))})
		}
		b, chars := Bounds{Chars: 20 + r.IntN(200)}, r.IntN(1500)
		shown := func(_ string, line int) bool { return line%7 == 0 }
		files, found := Excerpts(b, fragments, wanted, shown, chars)
		total, seen, regions := 0, map[string]bool{}, 0
		for _, f := range files {
			for _, region := range f.Regions {
				regions++
				lines := strings.Split(strings.TrimSuffix(region.Text, "\n"), "\n")
				if len(lines) != region.End-region.Start+1 || len([]rune(region.Text)) > b.Chars || len([]rune(region.Symbol)) > mostReason+1 {
					t.Fatalf("round %d: %+v", round, region)
				}
				total += len([]rune(region.Text))
				for i, line := range lines {
					n := region.Start + i
					if !strings.HasPrefix(line, fmt.Sprintf("%s:%d ", strings.TrimPrefix(f.Path, "f"), n)) || shown(f.Path, n) || seen[line] {
						t.Fatalf("round %d: line %d of %s: %q", round, n, f.Path, line)
					}
					seen[line] = true
				}
			}
		}
		if total > chars || regions != len(found.Excerpts) {
			t.Fatalf("round %d: %d of %d characters, %d regions, %d excerpts", round, total, chars, regions, len(found.Excerpts))
		}
	}
}
