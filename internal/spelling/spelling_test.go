package spelling

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"os"
)

func TestNames(t *testing.T) {
	for _, row := range []struct{ says, name, want string }{
		{"most names are their own spelling", "src/auth.ts", "src/auth.ts"},
		{"so are those in other scripts, and with blanks", "docs/zażółć gęślą/日本.md", "docs/zażółć gęślą/日本.md"},
		{"a byte that is no UTF-8", "caf\xe9.py", `"caf\351.py"`},
		{"beside characters that are", "é/caf\xe9.py", `"é/caf\351.py"`},
		{"a line feed", "new\nline.js", `"new\nline.js"`},
		{"a carriage return, a tab, a bell", "a\rb\tc\ad", `"a\rb\tc\ad"`},
		{"a backslash", `src\a.js`, `"src\\a.js"`},
		{"a quote", `say "hi".md`, `"say \"hi\".md"`},
		{"a control byte", "a\x01\x7fb", `"a\001\177b"`},
		{"a character that turns the text around", "a\u202eb", `"a\342\200\256b"`},
		{"one nobody sees", "a\u200bb", `"a\342\200\213b"`},
		{"a letter that nobody sees", "au\u3164th.py", `"au\343\205\244th.py"`},
		{"a blank of braille", "a\u2800b", `"a\342\240\200b"`},
		{"a mark that nobody sees", "a\ufe0fb", `"a\357\270\217b"`},
		{"the replacement character itself", "a\ufffdb", `"a\357\277\275b"`},
		{"blanks that would be trimmed", " a ", `" a "`},
		{"what looks like a drive", "C:a.go", `"C:a.go"`},
		{"no name", "", ""},
	} {
		if got := Name(row.name); got != row.want {
			t.Errorf("%s: Name(%q) = %s, want %s", row.says, row.name, got, row.want)
		}
		if got := Raw(row.want); got != row.name {
			t.Errorf("%s: Raw(%s) = %q, want %q", row.says, row.want, got, row.name)
		}
	}
}

func TestCode(t *testing.T) {
	for name, want := range map[string]string{"web/__tests__/[id](x).tsx": "`web/__tests__/[id](x).tsx`", "a`b": "``a`b``", "`a``": "``` `a`` ```", "a\nb": "`\"a\\nb\"`"} {
		if got := Code(name); got != want {
			t.Errorf("Code(%q) = %s, want %s", name, got, want)
		}
	}
}

// A quoted spelling is ASCII, whatever the name.
func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{"a.go": `"a.go"`, "（x）": `"\357\274\210x\357\274\211"`, "e\u0301": `"e\314\201"`, "\"\xff": `"\"\377"`} {
		if got := Quoted(name); got != want || Raw(got) != name {
			t.Errorf("Quoted(%q) = %s, want %s", name, got, want)
		}
	}
}

// What a model wrote and nobody quoted is taken as it stands.
func TestRawOfWhatIsNoSpelling(t *testing.T) {
	for _, s := range []string{`"`, `"a`, `a"`, `"a"b"`, `"\8"`, `"\12"`, `"\`, `"\q"`, `src\a.js`, `"\400"`} {
		if got := Raw(s); got != s {
			t.Errorf("Raw(%s) = %q", s, got)
		}
	}
}

// git reads what Name writes: its own quoting of the same bytes gives the same name.
func TestGitReadsTheSameNames(t *testing.T) {
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.quotePath=false"}, args...)...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	run("", "init", "-q")
	blob := strings.TrimSpace(run("x", "hash-object", "-w", "--stdin"))
	names := []string{"caf\xe9.py", "new\nline.js", `back\slash`, "q\"q", "a\x01b", "zażółć.md", "a\u202eb", "\xff\xfe"}
	for _, name := range names {
		run("100644 "+blob+"\t"+Name(name)+"\n", "update-index", "--add", "--index-info")
	}
	listed := strings.Split(strings.TrimSuffix(run("", "ls-files", "-z"), "\x00"), "\x00")
	if len(listed) != len(names) {
		t.Fatalf("git has %d names of %d: %q", len(listed), len(names), listed)
	}
	for _, name := range listed {
		if filepath.IsAbs(name) || Raw(Name(name)) != name {
			t.Errorf("%q does not come back", name)
		}
	}
	for _, name := range names {
		if !strings.Contains(strings.Join(listed, "\x00")+"\x00", name+"\x00") {
			t.Errorf("git read another name than %q: %q", name, listed)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"a.go", "caf\xe9", `"a"`, `"\303"`, "\\", "a\nb", "\ufffd", "\"\\351\""} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		s := Name(a)
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00") {
			t.Fatalf("Name(%q) = %q is not one line of text", a, s)
		}
		if Raw(s) != a {
			t.Fatalf("%q is spelled %s, which stands for %q", a, s, Raw(s))
		}
		if a != b && Name(b) == s {
			t.Fatalf("%q and %q are spelled alike", a, b)
		}
		encoded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(encoded, &back); err != nil || !strings.Contains(a, "\x00") && !Claims(a) && Merged(back) != Merged(Text(a)) {
			t.Fatalf("Text(%q) = %q, JSON has %q", a, Text(a), back)
		}
		if a != b && !Claims(a) && !Claims(b) && Text(a) == Text(b) {
			t.Fatalf("%q and %q are shown alike", a, b)
		}
		if Text(Text(a)) != Text(a) || strings.Count(Text(a), "\n") != strings.Count(a, "\n") {
			t.Fatalf("Text(%q) = %q", a, Text(a))
		}
	})
}
