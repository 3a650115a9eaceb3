package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever asks about many paths is answered from one listing of the tree, and gets the same answers (threats.md T584).
func TestManyPathsAreLookedUpInOneListing(t *testing.T) {
	files, paths := map[string]string{}, []string{"gone", "many", "link", "many/1/x", "secret/2", "module"}
	for i := range fewNames {
		name := fmt.Sprintf("many/%d", i)
		files[name], paths = fmt.Sprint("text ", i), append(paths, name)
	}
	files["secret/2"] = "withheld"
	dir := origin(t, files)
	if err := os.Symlink("many/1", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "add", "link")
	shell(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+shell(t, dir, "rev-parse", "HEAD")+",module")
	shell(t, dir, "commit", "-qm", "link")
	head := shell(t, dir, "rev-parse", "HEAD")
	r := open(t, find(t))
	fetch(t, r, dir, "refs/heads/main")
	whole := r
	r = r.Without(func(path string) bool { return path == "secret/2" })
	ask := func() map[string]string {
		texts := map[string]string{}
		for i := 0; i < len(paths); i += 100 {
			got, err := r.Begins(t.Context(), head, paths[i:min(i+100, len(paths))], 8)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range got {
				texts[name] = string(text)
			}
		}
		return texts
	}
	one := ask()
	if len(one) != fewNames+1 || one["link"] != "many/1" || one["many/7"] != "text 7" || len(whole.asked.trees[head]) != fewNames+2+1 {
		t.Errorf("%d texts, %d known files", len(one), len(whole.asked.trees[head]))
	}
	if d := cmp.Diff(one, ask()); d != "" {
		t.Errorf("from the listing: %s", d)
	}
	if _, err := r.Begins(t.Context(), "1111111111111111111111111111111111111111", paths, 8); err != nil {
		t.Errorf("of a commit that is not there: %v", err)
	}
}

// Of a submodule whose commit is not here git says that it is missing, and from version 2.51 on that it is a submodule: neither is a file.
func TestSubmodulesAreNoFiles(t *testing.T) {
	const oid = "89abcdef0123456789abcdef0123456789abcdef"
	got, rest, err := cutInfo(oid + " submodule\n" + oid + " blob 12\n")
	if err != nil || got != (info{oid: oid}) || rest != oid+" blob 12\n" {
		t.Errorf("%+v, %q, %v", got, rest, err)
	}
	for _, odd := range []string{"main:lib submodule\n", oid + " submodule"} {
		if _, _, err := cutInfo(odd); err == nil {
			t.Errorf("%q is read", odd)
		}
	}
}
