package git

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is asked about objects again is answered without git, and as before; a tree of many files is asked about as before too.
func TestAnswersAreKept(t *testing.T) {
	files := map[string]string{"a/b": "1\n", "a/c": "2\n", "ab": "3\n", ".gitattributes": "* text\n"}
	for _, n := range []int{0, fewFiles} {
		for i := range n {
			files[fmt.Sprintf("many/%d", i)] = "many\n"
		}
		dir := origin(t, files)
		base := shell(t, dir, "rev-parse", "HEAD")
		commit(t, dir, map[string]string{"a/b": "1\n4\n"})
		head := shell(t, dir, "rev-parse", "HEAD")
		r := open(t, find(t))
		fetch(t, r, dir, "refs/heads/main")
		ask := func() []any {
			list, err := r.List(t.Context(), head, "a")
			text, read := r.ReadFile(t.Context(), head, "a/b", 100)
			_, missing := r.ReadFile(t.Context(), head, "a/d", 100)
			changed, compared := r.Diff(t.Context(), base, head, DiffOptions{})
			said, asked := r.Attributes(t.Context(), head, func(string) bool { return false }, []string{"a/b"}, []string{"text"})
			at, found := r.Resolve(t.Context(), head)
			for _, err := range []error{err, read, compared, asked, found} {
				if err != nil {
					t.Fatal(err)
				}
			}
			answer := []any{list, string(text), missing.Error(), changed.Files[0].Raw, said, at}
			slices.Reverse(list) // callers may
			text[0] = 'x'
			return answer
		}
		first := ask()
		few := r.kept.lists[head]
		if (few != nil) != (n == 0) {
			t.Errorf("%d files: %d are listed", n, len(few))
		}
		kept := r.kept.bytes
		second := ask()
		slices.Reverse(first[0].([]Entry))
		slices.Reverse(second[0].([]Entry))
		if d := cmp.Diff(first, second); d != "" || r.kept.bytes != kept {
			t.Errorf("%d files: another answer: %s", n, d)
		}
	}
	k := newKept()
	k.put("long", strings.Repeat("x", keptAnswer))
	for i := range 100 {
		k.put(fmt.Sprint(i), strings.Repeat("x", keptAnswer-10))
	}
	if _, known := k.get("long"); known || k.bytes > keptAnswers {
		t.Errorf("%d bytes are kept", k.bytes)
	}
}
