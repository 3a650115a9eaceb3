package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// none skips no file of attributes.
func none(string) bool { return false }

// What is said of paths is what git says of them in a checkout, whatever patterns, folders and files are called.
func TestAttributesAreGits(t *testing.T) {
	names := []string{"one", "two"}
	dir := origin(t, nil)
	r := open(t, find(t))
	borrow(t, r, dir)
	checkedOut := func(t *rapid.T, paths []string) map[string]map[string]string {
		cmd := exec.Command("git", append([]string{"check-attr", "-z", "--stdin"}, names...)...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(strings.Join(paths, "\x00")), append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]map[string]string{}
		fields := strings.Split(string(out), "\x00")
		for ; len(fields) > 3; fields = fields[3:] {
			if fields[2] != "unspecified" {
				if got[fields[0]] == nil {
					got[fields[0]] = map[string]string{}
				}
				got[fields[0]][fields[1]] = fields[2]
			}
		}
		return got
	}
	piece := rapid.SampledFrom([]string{"a", "b", "{a,b}", "*", "**", "?", "[a-b]", "[!a]", `\`, "{", "}", ",", "é", " ", "!", "#", "a.b", "\n"})
	name := rapid.Custom(func(t *rapid.T) string {
		return "n" + strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "name"), "")
	})
	plain := rapid.SampledFrom([]string{"a", "b", "{a,b}", "*", "[a-b]", "a.b"})
	folder := rapid.Custom(func(t *rapid.T) string { return rapid.OneOf(plain, name).Draw(t, "folder") })
	rule := rapid.Custom(func(t *rapid.T) string {
		pattern := strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.Just("/")), 1, 6).Draw(t, "pattern"), "")
		if rapid.Bool().Draw(t, "quoted") {
			pattern = `"` + pattern + `"`
		}
		return pattern + " " + rapid.SampledFrom([]string{"one", "-one", "!one", "one=x", "two", "one two=false"}).Draw(t, "attributes")
	})
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		var paths []string
		for range rapid.IntRange(1, 5).Draw(rt, "files") {
			dirs := rapid.SliceOfN(folder, 0, 3).Draw(rt, "dirs")
			p := strings.Join(append(dirs, folder.Draw(rt, "name")), "/")
			paths = append(paths, p)
			for dir := path.Dir(p); ; dir = path.Dir(dir) {
				files[path.Join(dir, ".gitattributes")] = strings.Join(rapid.SliceOfN(rule, 0, 4).Draw(rt, "rules"), "\n") + "\n"
				if dir == "." {
					break
				}
			}
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		before, err := os.ReadDir(dir)
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range before {
			if e.Name() != ".git" {
				os.RemoveAll(filepath.Join(dir, e.Name()))
			}
		}
		head := commit(t, dir, files)
		want := checkedOut(rt, paths)
		got, err := r.Attributes(t.Context(), head, none, paths, names)
		if err != nil {
			rt.Fatal(err)
		}
		if len(want) == 0 && len(got) == 0 {
			return
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Errorf("%q: %s", files, d)
		}
	})
}

func TestAttributesOfTheFilesThatAreNamed(t *testing.T) {
	dir := origin(t, map[string]string{
		".gitattributes": "* one=root\n", "sub/.gitattributes": "* one=sub\n", "hidden/.gitattributes": "* one=hidden\n",
		"large/.gitattributes": "* one=large\n" + strings.Repeat("#\n", attributesLimit/2), "many/.gitattributes": "* one=many\n" + strings.Repeat("#\n", attributesLimit/4), "folder/.gitattributes/x": "* one=folder\n",
	})
	r := open(t, find(t))
	borrow(t, r, dir)
	r = r.Without(func(path string) bool { return strings.HasPrefix(path, "hidden/") })
	head := shell(t, dir, "rev-parse", "HEAD")
	got, err := r.Attributes(t.Context(), head, none, []string{"a", "sub/a", "hidden/a", "many/a", "folder/a", "none/a"}, []string{"one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	root := map[string]string{"one": "root"}
	if d := cmp.Diff(map[string]map[string]string{"a": root, "sub/a": {"one": "sub"}, "hidden/a": root, "many/a": {"one": "many"}, "folder/a": root, "none/a": root}, got); d != "" {
		t.Error(d)
	}
	if left, _ := os.ReadDir(r.Dir()); slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "index-") }) {
		t.Error("an index was left behind")
	}
	if _, err := r.Attributes(t.Context(), head, none, []string{"large/a"}, []string{"one"}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "large/.gitattributes has 1048588 bytes, more than 1048576") {
		t.Errorf("a file of attributes that nobody reads: %v", err)
	}
	skipped := func(file string) bool { return file == "large/.gitattributes" }
	if got, err := r.Attributes(t.Context(), head, skipped, []string{"large/a"}, []string{"one"}); err != nil || got["large/a"]["one"] != "root" {
		t.Errorf("a file of attributes that is skipped: %v, %v", got, err)
	}
	if _, err := r.Attributes(t.Context(), head, none, []string{"../a"}, []string{"one"}); !errors.Is(err, ErrMalformedTree) {
		t.Errorf("a path that leads out: %v", err)
	}
}

// Rules that git would match for ever cost a bounded time, and end with whoever asks.
func TestAttributesTakeTheirTime(t *testing.T) {
	files, folder := map[string]string{}, ""
	for range 60 {
		folder += "d/"
		files[folder+".gitattributes"] = strings.Repeat("*a*b*c*.x one\n", 4_000)
	}
	dir := origin(t, files)
	r := open(t, find(t))
	borrow(t, r, dir)
	head := shell(t, dir, "rev-parse", "HEAD")
	paths := make([]string, 20_000)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s%s%d", folder, strings.Repeat("abc", 40), i)
	}
	hasty := *r.git
	hasty.timeout = 3 * time.Second
	r.git = &hasty
	if _, err := r.Attributes(t.Context(), head, none, paths, []string{"one"}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("out of time: %v", err)
	}
	if _, err := r.Attributes(t.Context(), head, none, []string{"d/a"}, []string{"one"}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("another question, when the time of all is over: %v", err)
	}
	r.asked.took = 0
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := r.Attributes(ctx, head, none, paths, []string{"one"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A git that takes capitals for small letters finds more, in patterns and in names (threats.md T385).
func TestAttributesInAnyCase(t *testing.T) {
	dir := origin(t, nil)
	r := open(t, find(t))
	borrow(t, r, dir)
	set, unset := map[string]string{"one": "set"}, map[string]string{"one": "unset"}
	type said = map[string]map[string]string
	for _, row := range []struct {
		says  string
		files map[string]string
		exact said
		any   []said
	}{
		{"a pattern", map[string]string{".gitattributes": "*.PY one\n"}, said{}, []said{{"sub/a.py": set}}},
		{"a pattern that takes something back", map[string]string{".gitattributes": "*.py one\n*.PY -one\n"}, said{"sub/a.py": set}, []said{{"sub/a.py": unset}}},
		{"a file of attributes", map[string]string{".GitAttributes": "*.py one\n"}, nil, []said{{"sub/a.py": set}}},
		{"its folder", map[string]string{"SUB/.gitattributes": "*.py one\n"}, nil, []said{{"sub/a.py": set}}},
		{"a letter that has another capital", map[string]string{"\u017fub/.gitattribute\u017f": "*.py one\n"}, nil, []said{{"sub/a.py": set}}},
		{"files in one place", map[string]string{"sub/.GITATTRIBUTES": "*.py one\n", "sub/.gitattributes": "*.py -one\n"}, said{"sub/a.py": unset}, []said{{"sub/a.py": set}, {"sub/a.py": unset}}},
		{"no file of attributes", map[string]string{"gitattributes": "*.py one\n"}, nil, []said{nil}},
	} {
		shell(t, dir, "rm", "-rq", "--ignore-unmatch", ".")
		head := commit(t, dir, row.files)
		exact, err := r.Attributes(t.Context(), head, none, []string{"sub/a.py"}, []string{"one"})
		if d := cmp.Diff(row.exact, exact); d != "" || err != nil {
			t.Errorf("%s, exactly: %s, %v", row.says, d, err)
		}
		got, err := r.AttributesAnyCase(t.Context(), head, none, []string{"sub/a.py"}, []string{"one"})
		if d := cmp.Diff(row.any, got); d != "" || err != nil {
			t.Errorf("%s: %s, %v", row.says, d, err)
		}
	}
	both := commit(t, dir, map[string]string{".GitAttributes": "*.py one\n", ".gitattributes/.gitattributes": "*.py -one\n"})
	if _, err := r.AttributesAnyCase(t.Context(), both, none, []string{".gitattributes/a.py"}, []string{"one"}); !errors.Is(err, ErrMalformedTree) {
		t.Errorf("a file and a folder in one place: %v", err)
	}
}

// Folders side by side cost what they are, however many there are (threats.md T386).
func TestAttributesOfManyFolders(t *testing.T) {
	const many = 20_000
	files, paths := strings.Builder{}, make([]string, many)
	files.WriteString("blob\nmark :1\ndata 6\n* one\n\ncommit refs/heads/many\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\nM 100644 :1 .gitattributes\n")
	for i := range paths {
		paths[i] = fmt.Sprintf("packages/p%d/a.go", i)
		fmt.Fprintf(&files, "M 100644 :1 %s\n", paths[i])
	}
	dir := origin(t, nil)
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(files.String()+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := open(t, find(t))
	borrow(t, r, dir)
	hasty := *r.git
	hasty.timeout = 10 * time.Second
	r.git = &hasty
	got, err := r.Attributes(t.Context(), shell(t, dir, "rev-parse", "many"), none, paths, []string{"one"})
	if err != nil || len(got) != many {
		t.Errorf("%d of %d, %v", len(got), many, err)
	}
}

// A large file of attributes keeps no commit from being fetched, and ends with its name where it would speak (threats.md T387).
func TestLargeAttributesAreFetched(t *testing.T) {
	dir := origin(t, map[string]string{".gitattributes": strings.Repeat("*.md text\n", attributesLimit/8), "a": "x\n"})
	large := shell(t, dir, "rev-parse", "HEAD")
	small := commit(t, dir, map[string]string{".gitattributes": "* one\n"})
	r := open(t, find(t))
	fetch(t, r, dir, "refs/heads/main")
	if got, err := r.Attributes(t.Context(), small, none, []string{"a"}, []string{"one"}); err != nil || got["a"]["one"] != "set" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := r.Attributes(t.Context(), large, none, []string{"a"}, []string{"one"}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), ".gitattributes has 1310720 bytes, more than 1048576") {
		t.Errorf("%v", err)
	}
}
