package symbols

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// look looks through files held in memory, all of one language.
func look(t testing.TB, language string, files map[string]string, order []string, want Wanted, cache *Cache) Found {
	t.Helper()
	found, _ := lookAndMiss(t, language, files, order, want, cache)
	return found
}

// lookAndMiss is look, with what was given up.
func lookAndMiss(t testing.TB, language string, files map[string]string, order []string, want Wanted, cache *Cache) (Found, Missed) {
	t.Helper()
	candidates := make([]Candidate, len(order))
	for i, p := range order {
		candidates[i] = Candidate{Path: p, Language: language}
	}
	found, missed, err := Look(t.Context(), candidates, want, cache, func(_ context.Context, paths []string) (map[string][]byte, error) {
		out := map[string][]byte{}
		for _, p := range paths {
			if text, ok := files[p]; ok {
				out[p] = []byte(text)
			}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, missed
}

// seen writes what was found: "path definitions | uses".
func seen(found Found, order []string) []string {
	var out []string
	for _, p := range order {
		if f, ok := found[p]; ok {
			d, u := what(f)
			out = append(out, fmt.Sprintf("%s %s | %s", p, d, u))
		}
	}
	return out
}

func TestLookFindsWhatIsWanted(t *testing.T) {
	files := map[string]string{
		"a.go": "package a\n\nconst Limit = 3\n\nfunc Run() int {\n\treturn helper(Limit)\n}\n\nfunc other() { Run() }\n",
		"b.go": "package a\n\n// Limit and Run are only named here.\nfunc free() {}\n",
		"c.go": "package a\n\nfunc broken( { Run()\n\nfunc Limit\n",
	}
	order := []string{"a.go", "b.go", "c.go", "gone.go"}
	want := Wanted{Defined: words("Limit helper"), Used: words("Run")}
	got := seen(look(t, "go", files, order, want, nil), order)
	if d := cmp.Diff([]string{"a.go =Limit 3-3-3, Run 5-5-7, other 9-9-9 | .Run:9"}, got[:1]); d != "" {
		t.Error(d)
	}
	// Where no structure is read, names are found line by line, and only lines that say so are definitions.
	got = seen(look(t, "elixir", map[string]string{"x.ex": "def old do\n  old\nend\n", "y.ex": "x = Limit\n"}, []string{"x.ex", "y.ex"}, Wanted{Defined: words("Limit"), Gone: words("old")}, nil), []string{"x.ex", "y.ex"})
	if d := cmp.Diff([]string{"x.ex  | .old:1 .old:2"}, got); d != "" {
		t.Error(d)
	}
	failed := errors.New("disk")
	if _, _, err := Look(t.Context(), []Candidate{{"a.go", "go"}}, want, nil, func(context.Context, []string) (map[string][]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("an error of the reader: %v", err)
	}
}

// A file that cannot be parsed costs its own bound: it is looked through line by line, and what is beside it is read as ever.
func TestHostileFilesCostTheirOwnBound(t *testing.T) {
	files := map[string]string{}
	var order []string
	for i, text := range []string{
		"package a\n" + strings.Repeat("func Wanted(){", 20_000), strings.Repeat("(", 300_000) + "Wanted", "\x00\xff" + strings.Repeat("Wanted ", 70_000),
		"package a\nfunc Wanted() {}\n" + strings.Repeat("a.b(c, ", 50_000), "package a\n" + strings.Repeat("Wanted\n", 70_000), "func Wanted" + strings.Repeat("[", 390),
	} {
		p := fmt.Sprintf("evil%d.go", i)
		files[p], order = text, append(order, p)
	}
	for i := range 3 {
		p := fmt.Sprintf("good%d.go", i)
		files[p], order = "package a\n\n/* two\nlines */ var Wanted = 1\n\nfunc f() {\n\tWanted++\n}\n", append(order, p)
	}
	before := processorTime(t)
	found := look(t, "go", files, order, Wanted{Defined: words("Wanted"), Used: words("Wanted")}, nil)
	if took := processorTime(t) - before; took > 30*time.Second { // what else the machine does counts for nothing
		t.Errorf("it took %v of the processor", took)
	}
	for _, p := range order[len(order)-3:] {
		if d, u := what(found[p]); d != "=Wanted 4-4-4, f 6-6-8" || u != ".Wanted:7" {
			t.Errorf("%s: %s | %s", p, d, u)
		}
	}
	if d, _ := what(found["evil0.go"]); !strings.HasPrefix(d, "Wanted 2-2-2") {
		t.Errorf("the hostile file is looked through line by line: %.200s", d)
	}
}

// What is given up for the bounds is counted: files that come after those which cost too much, files whose time is not to be had, and files
// beyond the last one.
func TestWhatALookGivesUp(t *testing.T) {
	files, want := map[string]string{}, Wanted{Defined: words("Wanted"), Used: words("Wanted")}
	var order []string
	for i := range batch {
		p := fmt.Sprintf("deep%d.go", i)
		files[p], order = "package a\n"+strings.Repeat("(", depthLimit+1)+"Wanted()", append(order, p)
	}
	for i := range 3 {
		p := fmt.Sprintf("good%d.go", i)
		files[p], order = "package a\n\nfunc Wanted() {}\n", append(order, p)
	}
	if found, missed := lookAndMiss(t, "go", files, order, want, nil); missed != (Missed{Unparsed: 3}) || len(found["good0.go"].Definitions) != 1 {
		t.Errorf("after costly files: %+v, %+v", missed, found["good0.go"])
	}
	good := order[batch:]
	if _, missed := lookAndMiss(t, "go", files, good, want, nil); missed != (Missed{}) {
		t.Errorf("nothing is given up: %+v", missed)
	}
	if _, missed := lookAndMiss(t, "go", nil, make([]string, scanFiles+5), want, nil); missed != (Missed{Unread: 5}) {
		t.Errorf("more files than are looked through: %+v", missed)
	}
	stuck.Add(stuckLimit)
	defer stuck.Add(-stuckLimit)
	if _, missed := lookAndMiss(t, "go", files, good, want, nil); missed != (Missed{Unparsed: 3}) {
		t.Errorf("while parses are stuck: %+v", missed)
	}
	if _, ok, slow := ReadInTime("go", []byte(files[good[0]])); ok || !slow {
		t.Errorf("while parses are stuck, a file is read: %v, slow %v", ok, slow)
	}
}

// A statement without end is not parsed: the parser's recovery costs the square of its length, and nothing stops it.
func TestStatementsWithoutEndAreNotParsed(t *testing.T) {
	for language, text := range map[string]string{
		"c++": strings.Repeat("a=", 200_000), "c": strings.Repeat("!\n", 200_000), "javascript": strings.Repeat("a?b:", 100_000),
		"c#": "class A { int F() { " + strings.Repeat("if(x) ", 60_000), "java": strings.Repeat("x\n=", 100_000), "python": strings.Repeat("a=", 100_000),
	} {
		if !endless(language, []byte(text)) {
			t.Errorf("%s: it is parsed", language)
		}
		if _, ok := Read(language, []byte(text)); ok {
			t.Errorf("%s: its structure is known", language)
		}
	}
	if endless("python", []byte(strings.Repeat("LIMIT = 1\n", 5_000))) {
		t.Error("a long list of settings is no endless statement")
	}
}

func TestCacheReadsNothingTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "symbols")
	files := map[string]string{"a.go": "package a\n\nfunc Run() { stop(); Run() }\n", "b.go": "package a\n\nfunc stop() {}\n"}
	order := []string{"a.go", "b.go"}
	want := Wanted{Defined: words("stop"), Used: words("Run")}
	first := OpenCache(path)
	fresh := look(t, "go", files, order, want, first)
	if err := first.Save(); err != nil {
		t.Fatal(err)
	}
	again := OpenCache(path)
	if len(again.old) != 2 {
		t.Fatalf("%d files are kept", len(again.old))
	}
	if d := cmp.Diff(fresh, look(t, "go", files, order, want, again)); d != "" {
		t.Error("what is kept is another: ", d)
	}
	if again.added {
		t.Error("a file was read again")
	}
	// The same text in another language is another file, and so is another text.
	look(t, "c++", files, order[:1], want, again)
	files["b.go"] += "// x\n"
	look(t, "go", files, order, want, again)
	if err := again.Save(); err != nil || len(OpenCache(path).old) != 4 {
		t.Errorf("%d files are kept: %v", len(OpenCache(path).old), err)
	}
	// What is damaged is read again, and nothing else.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []struct {
		says string
		text []byte
		left int
	}{
		{"a byte in the last file", append(data[:len(data)-3:len(data)-3], 'x', 'y', 'z'), 3}, {"the end is missing", data[:len(data)-9], 3},
		{"another version", append([]byte("x"), data...), 0}, {"nothing", nil, 0},
	} {
		if err := os.WriteFile(path, damage.text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := OpenCache(path)
		if len(c.old) != damage.left {
			t.Errorf("%s: %d files are kept, want %d", damage.says, len(c.old), damage.left)
		}
		if d := cmp.Diff(fresh["a.go"], look(t, "go", files, order, want, c)["a.go"]); d != "" {
			t.Errorf("%s: %s", damage.says, d)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// The cache's format names the parser that go.mod pins: another one may read a file in another way.
func TestCacheNamesTheParser(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(cacheFormat), "gotreesitter ")
	if !strings.Contains(string(mod), "github.com/odvcencio/gotreesitter "+version+"\n") {
		t.Errorf("the cache is of %s, go.mod has another", version)
	}
}

// FuzzRead: no text makes reading panic, and lines stay in the file.
func FuzzRead(f *testing.F) {
	for l := range byLanguage {
		f.Add(l, "class A { int f(x) { return g(x, LIMIT); } }\nfunc f() {}\ndef f(x):\n  pass\n")
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		if len(text) > 4<<10 {
			return
		}
		lines := strings.Count(text, "\n") + 1
		file, _ := Read(language, []byte(text))
		for _, d := range file.Definitions {
			if d.Start < 1 || d.At < d.Start || d.Head < d.At || d.End < d.Head || d.End > lines {
				t.Errorf("%s: %+v of %d lines", language, d, lines)
			}
		}
		for _, u := range file.Uses {
			if u.Line < 1 || u.Line > lines {
				t.Errorf("%s: %+v of %d lines", language, u, lines)
			}
		}
		got := look(t, language, map[string]string{"a": text}, []string{"a"}, Wanted{Defined: words("f A"), Used: words("g x"), Gone: words("LIMIT")}, nil)
		for _, u := range got["a"].Uses {
			if u.Line < 1 || u.Line > lines {
				t.Errorf("%s: %+v of %d lines", language, u, lines)
			}
		}
	})
}

// BenchmarkLook looks for a name in 200 files of 8 kB, first with nothing kept and then with all of it.
func BenchmarkLook(b *testing.B) {
	files := map[string]string{}
	var order []string
	total := 0
	for i := range 200 {
		p := fmt.Sprintf("p%d/a.go", i)
		files[p] = fmt.Sprintf("package p%d\n\n", i) + strings.Repeat("func run(n int) error {\n\tif err := check(n, Limit); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n", 80)
		order, total = append(order, p), total+len(files[p])
	}
	want := Wanted{Defined: words("check"), Used: words("Limit")}
	b.Run("fresh", func(b *testing.B) {
		b.SetBytes(int64(total))
		for b.Loop() {
			look(b, "go", files, order, want, nil)
		}
	})
	b.Run("kept", func(b *testing.B) {
		b.SetBytes(int64(total))
		cache := OpenCache(filepath.Join(b.TempDir(), "symbols"))
		look(b, "go", files, order, want, cache)
		for b.Loop() {
			look(b, "go", files, order, want, cache)
		}
	})
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
