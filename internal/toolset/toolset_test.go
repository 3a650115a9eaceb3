package toolset

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

var update = flag.Bool("update", false, "rewrite the matrix")

// matrix lists the tools of every place under every allowlist of interest.
func matrix() string {
	var b strings.Builder
	lists := []struct {
		name          string
		file, command []string
	}{
		{"nobody says anything", nil, nil},
		{"the file allows nothing", []string{}, nil},
		{"the command allows nothing", nil, []string{}},
		{"the command restricts the file", []string{Filesystem, GitRead}, []string{Filesystem}},
		{"the command cannot widen the file", []string{Filesystem}, []string{Filesystem, RepoWrite, GitHubPR, GitHubWrite}},
		{"no category in both", []string{Filesystem}, []string{GitRead}},
	}
	for _, c := range categories {
		lists = append(lists, struct {
			name          string
			file, command []string
		}{"only " + c.name, []string{c.name}, nil})
		if c.also != "" {
			lists = append(lists, struct {
				name          string
				file, command []string
			}{c.also + " in the file, " + c.name + " in the command", []string{c.also}, []string{c.name}})
		}
	}
	for _, l := range lists {
		fmt.Fprintf(&b, "%s\n", l.name)
		for _, at := range Places() {
			fmt.Fprintf(&b, "  %-9s %s\n", at, strings.Join(Names(at, l.file, l.command), " "))
		}
	}
	return b.String()
}

// spec.md C5: category x place x allowlists. The table is read in review.
func TestGoldenMatrix(t *testing.T) {
	const golden = "testdata/matrix.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(matrix()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), matrix()); d != "" {
		t.Error(d)
	}
}

// Whatever the lists say, adding one never adds a tool, and no tool of a pull request is in a scheduled job, or one that writes
// the repository anywhere else.
func TestListsOnlyRestrict(t *testing.T) {
	all := Spellings()
	for bits := range 1 << len(all) {
		var list []string
		for i, s := range all {
			if bits>>i&1 == 1 {
				list = append(list, s)
			}
		}
		for _, at := range Places() {
			wide := Names(at, list)
			for _, other := range all {
				for _, n := range Names(at, list, []string{other}) {
					if !slices.Contains(wide, n) {
						t.Fatalf("%v and %s allow %s at %s", list, other, n, at)
					}
				}
			}
			for _, n := range wide {
				writes := slices.Contains([]string{Write, Edit, Delete, CommitChanges, PushPR}, n)
				pull := slices.Contains([]string{GetDiff, GetChangedFiles, GetPRInfo, ListComments, ListThreads, WishComment, Suggest, PostSummary}, n)
				if writes != (at == review.PlaceSchedule) && writes || pull && at == review.PlaceSchedule {
					t.Fatalf("%s at %s", n, at)
				}
			}
		}
	}
}
