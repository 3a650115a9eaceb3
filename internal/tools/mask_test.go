package tools

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/gittest"
	"github.com/prloop/prloop/internal/toolset"
)

// canary is a value that the secret rules find; tail tells it from others.
func canary(tail string) string { return "ghp_" + "16C7e42F292c6912E7710c838347Ae178B" + tail }

func TestValuesAreMasked(t *testing.T) {
	a, b := canary("4a"), canary("4b")
	dir := folder(t, map[string]string{
		"conf/" + a + ".txt": "one " + b + "\ntwo\n",
		"app.py":             "def f():\n    key = \"" + a + "\"  # needle\n    return key\n",
	})
	for _, args := range [][]string{{"init", "-q", "."}, {"add", "."}, {"-c", "user.name=" + b, "-c", "user.email=a@example.com", "commit", "-qm", "add " + a}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	o := Options{Tree: dir, GitDir: filepath.Join(dir, ".git"), Head: "HEAD",
		Functions: func(_ string, text []byte, _ int, _ string) (Function, bool) {
			return Function{Name: "f", Start: 1, End: 3, Definition: string(text)}, true
		},
		Lint: func(_ context.Context, files []string) ([]Remark, error) {
			return []Remark{{File: files[0], Line: 1, Rule: "r", Message: "found " + a}}, nil
		},
	}
	box, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	var name string
	for _, c := range []struct{ tool, args, want string }{
		{"list", `{"path":"conf"}`, "[REDACTED]~"},
		{"read_file", `{"path":"NAME"}`, "     1  one [REDACTED]\n     2  two\n"},
		{"read_file", `{"path":"app.py","start":2,"end":2}`, `key = "[REDACTED]"  # needle`},
		{"search_code", `{"query":"needle"}`, `key = "[REDACTED]"  # needle`},
		{"search_code", `{"query":"one"}`, "NAME"},
		{"search_code", `{"query":"ghp_1","regexp":true}`, "0 lines in 0 files"}, // nobody finds out a value by asking for it
		{"get_function_context", `{"path":"app.py","line":2}`, `key = "[REDACTED]"`},
		{"git_log", `{"path":"NAME"}`, "[REDACTED]: add [REDACTED]"},
		{"run_linter", `{"files":["NAME"]}`, "NAME:1: "},
	} {
		got, err := box.Call(t.Context(), c.tool, []byte(strings.ReplaceAll(c.args, "NAME", name)))
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.args, err)
			continue
		}
		if strings.Contains(got, "16C7e42F") || !strings.Contains(got, strings.ReplaceAll(c.want, "NAME", name)) {
			t.Errorf("%s %s gives\n%s\nwant %s", c.tool, c.args, got, c.want)
		}
		if c.tool == "list" {
			_, rest, _ := strings.Cut(got, "entries: 1\n")
			name, _, _ = strings.Cut(rest, "\n")
			name = "conf/" + name
		}
	}
	o.Unmasked = true // the operator's word
	open, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if got, err := open.Call(t.Context(), "read_file", []byte(`{"path":"app.py"}`)); err != nil || !strings.Contains(got, a) {
		t.Errorf("unmasked: %s, %v", got, err)
	}
}

func TestEditAroundMasks(t *testing.T) {
	a, b := canary("4a"), canary("4b")
	file := "x = 1\ntoken_a = \"" + a + "\"\ntoken_b = \"" + b + "\"\nsay(\"[REDACTED]\")\r\nend\n"
	for _, c := range []struct {
		name, old, next string
		want            string // of the file; empty when refused
		why             string
	}{
		{"beside a mask", "x = 1\n", "x = 2\n", strings.Replace(file, "x = 1", "x = 2", 1), ""},
		{"a mask that stays", `token_a = "[REDACTED]"`, `first = "[REDACTED]"`, strings.Replace(file, "token_a", "first", 1), ""},
		{"both stay in their order", "token_a = \"[REDACTED]\"\ntoken_b = \"[REDACTED]\"", "a = \"[REDACTED]\"\nb = \"[REDACTED]\"",
			strings.NewReplacer("token_a", "a", "token_b", "b").Replace(file), ""},
		{"a value is taken out", `token_a = "[REDACTED]"`, `token_a = os.environ["A"]`, strings.Replace(file, `"`+a+`"`, `os.environ["A"]`, 1), ""},
		{"the word itself", `say("[REDACTED~]")`, `say("[REDACTED~]!", "[REDACTED~~]")`, strings.Replace(file, `[REDACTED]"`, `[REDACTED]!", "[REDACTED~]"`, 1), ""},
		{"the word itself, and a value", "token_b = \"[REDACTED]\"\nsay(\"[REDACTED~]\")", `say("[REDACTED~]", "[REDACTED]")`, strings.Replace(file, "token_b = \""+b+"\"\nsay(\"[REDACTED]\")", `say("[REDACTED]", "`+b+`")`, 1), ""},
		{"the word in the place of a value", `token_a = "[REDACTED]"`, `token_a = "[REDACTED~]"`, strings.Replace(file, a, "[REDACTED]", 1), ""},
		{"one of two stays", "token_a = \"[REDACTED]\"\ntoken_b = \"[REDACTED]\"", `token_a = "[REDACTED]"`, "", "one at a time"},
		{"a mask where nothing stood", "x = 1\n", "x = \"[REDACTED]\"\n", "", "not shown"},
		{"a piece of a mask", `token_a = "[REDAC`, `token_c = "[REDAC`, "", "inside"},
		{"a value that was guessed", `token_a = "` + a + `"`, "", "", "does not stand"},
		{"a mask that stands twice", `"[REDACTED]"`, `""`, "", "2 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"f.py": strings.ReplaceAll(file, "\r", "")})
			e := editor(t, dir)
			_, err := do(t, e, "edit_file", map[string]any{"path": "f.py", "old": c.old, "new": c.next})
			now, _ := os.ReadFile(filepath.Join(dir, "f.py"))
			switch {
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.why) || string(now) != strings.ReplaceAll(file, "\r", "")):
				t.Errorf("want it refused with %q, got %v and\n%s", c.why, err, now)
			case c.want != "" && (err != nil || string(now) != strings.ReplaceAll(c.want, "\r", "")):
				t.Errorf("%v, and the file is\n%s\nwant\n%s", err, now, c.want)
			}
			if shown, err := do(t, e, "diff", map[string]any{}); err != nil || strings.Contains(shown, "16C7e42F") {
				t.Errorf("diff shows %s, %v", shown, err)
			}
		})
	}
	e := editor(t, folder(t, nil))
	if _, err := do(t, e, "write_file", map[string]any{"path": "new.py", "content": "k = \"[REDACTED]\"\n"}); err == nil || !strings.Contains(err.Error(), "not shown") {
		t.Errorf("a new file with a mask: %v", err)
	}
}

// A word of a file that is written like a mask is shown in another spelling, is found by it, and is written by it (threats.md T790).
func TestOwnWordsAreNoMasks(t *testing.T) {
	const file = "ADMIN_TOKEN = \"[REDACTED]\"\n"
	dir := folder(t, map[string]string{"auth.py": file})
	e := editor(t, dir)
	for tool, args := range map[string]map[string]any{"read_file": {"path": "auth.py"}, "search_code": {"query": `"[REDACTED~]"`}} {
		if got, err := do(t, e, tool, args); err != nil || !strings.Contains(got, `ADMIN_TOKEN = "[REDACTED~]"`) {
			t.Errorf("%s gives %s, %v", tool, got, err)
		}
	}
	if _, err := do(t, e, "write_file", map[string]any{"path": "new.py", "content": "ADMIN_TOKEN = \"[REDACTED~]\"\n"}); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "new.py")); err != nil || string(now) != file {
		t.Errorf("%q, %v", now, err)
	}
}

// A file in another encoding gets letters of ASCII alone: others would be written as UTF-8 among its own.
func TestOtherEncodingsGetASCII(t *testing.T) {
	e := editor(t, folder(t, map[string]string{"a.py": "x = 1 # caf\xe9\n"}))
	if _, err := do(t, e, "edit_file", map[string]any{"path": "a.py", "old": "x = 1", "new": "x = 1 # é"}); err == nil || !strings.Contains(err.Error(), "ASCII alone") {
		t.Errorf("%v", err)
	}
	if _, err := do(t, e, "edit_file", map[string]any{"path": "a.py", "old": "x = 1", "new": "x = 2"}); err != nil {
		t.Error(err)
	}
}

// What stands for a character that nobody sees, or for a byte, is written by no tool: it would take the place of what it stands for (threats.md T806).
func TestSignsAreNotWritten(t *testing.T) {
	dir := folder(t, map[string]string{"a.py": "SEP = \"\x1f\"\nEND = \"⟨U+001F⟩\"\n"})
	e := editor(t, dir)
	for _, sign := range []string{"⟨U+001F⟩", "⟨0xE9⟩"} {
		for tool, args := range map[string]map[string]any{
			"edit_file": {"path": "a.py", "old": "END", "new": "END = \"" + sign + "\"\nEND"}, "write_file": {"path": "b.py", "content": "SEP = \"" + sign + "\"\n"},
		} {
			if _, err := do(t, e, tool, args); err == nil || !strings.Contains(err.Error(), sign+", which stands for a character") {
				t.Errorf("%s writes %s: %v", tool, sign, err)
			}
		}
	}
	for tool, args := range map[string]map[string]any{"search_code": {"query": "⟨U+001F⟩"}, "read_file": {"path": "a.py"}} {
		if got, err := do(t, e, tool, args); err != nil || !strings.Contains(got, "SEP = ") {
			t.Errorf("%s gives %s, %v", tool, got, err)
		}
	}
	if _, err := do(t, e, "edit_file", map[string]any{"path": "a.py", "old": "SEP = \"⟨U+001F⟩\"", "new": "SEP = 1"}); err == nil || !strings.Contains(err.Error(), "take a piece of the line") {
		t.Errorf("an old text that cannot be found: %v", err)
	}
	if _, err := do(t, e, "edit_file", map[string]any{"path": "a.py", "old": "END = \"⟨~U+001F⟩\"", "new": "END = \"⟨~U+001F⟩.\""}); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "a.py")); err != nil || string(now) != "SEP = \"\x1f\"\nEND = \"⟨U+001F⟩.\"\n" {
		t.Errorf("%q, %v", now, err)
	}
}

// What makes a rule find a value may be the name before it, or the first and the last line of a key. No edit takes that away from a
// value that stays.
func TestNoEditUncoversAValue(t *testing.T) {
	value := "vK9xQ2mZ7pL4" + "wR8tN3bY6cJ1"
	body := "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun\nVTLw7onLRnrq0/IzW7yWR7QkrmBL7jTKEn5u+qKhbwKfBstIs+bMY2Zkp18gnTxK\n"
	file := "start\ndb_password = \"" + value + "\"\nadmin_password = \"" + value[4:] + ":ghp_" + "0123456789abcdefghij0123456789abcdef\"\nmiddle\n-----BEGIN RSA PRIVATE KEY-----\n" + body + "-----END RSA PRIVATE KEY-----\nend\n"
	for _, c := range []struct {
		name  string
		edits [][2]string // all but the last are let through
		fine  bool        // and so is that one
	}{
		{"another name of the same kind", [][2]string{{`db_password = "[REDACTED]"`, `shop_password = "[REDACTED]"`}}, true},
		{"another place", [][2]string{{"start\ndb_password = \"[REDACTED]\"", "db_password = \"[REDACTED]\"\nstart"}}, true},
		{"it is taken out", [][2]string{{`db_password = "[REDACTED]"`, `db_password = os.environ["DB_PASSWORD"]`}}, true},
		{"another name", [][2]string{{`db_password = "[REDACTED]"`, `note = "[REDACTED]"`}}, false},
		{"the name alone", [][2]string{{`db_password`, `note`}}, false},
		{"a name without which a part of it is still found", [][2]string{{`admin_password`, `note`}}, false},
		{"no name", [][2]string{{`db_password = "[REDACTED]"`, `# [REDACTED] is it`}}, false},
		{"words around it", [][2]string{{`db_password = "[REDACTED]"`, `note = "it is [REDACTED] again"`}}, false},
		{"a key without its first and its last line", [][2]string{{"middle\n[REDACTED]\n", "middle\n"}, {"[REDACTED]\nend", "end"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"f.py": file})
			e := editor(t, dir)
			for i, edit := range c.edits {
				_, err := do(t, e, "edit_file", map[string]any{"path": "f.py", "old": edit[0], "new": edit[1]})
				if last := i == len(c.edits)-1; (err == nil) != (!last || c.fine) || err != nil && !strings.Contains(err.Error(), "would show a value") {
					t.Errorf("edit %d: %v", i+1, err)
				}
			}
			for _, tool := range []string{"read_file", "diff"} {
				shown, err := do(t, e, tool, map[string]any{"path": "f.py"})
				if tool == "diff" {
					shown, err = do(t, e, tool, map[string]any{})
				}
				if err != nil || strings.Contains(shown, value[4:12]) || strings.Contains(shown, "IzW7yWR7Q") {
					t.Errorf("%s shows %s, %v", tool, shown, err)
				}
			}
		})
	}
}

// A hunk may show the middle of a private key alone. Both versions of the file say what belongs to it, however it is written there (threats.md T335).
func TestKeysInDiffsAreMasked(t *testing.T) {
	const header, footer = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
	body := make([]string, 26)
	for i := range body {
		sum := sha512.Sum384([]byte{byte(i)})
		body[i] = base64.StdEncoding.EncodeToString(sum[:])
	}
	whole := header + "\n" + strings.Join(body, "\n") + "\n" + footer
	for name, c := range map[string]struct {
		base string
		edit *strings.Replacer
	}{
		"a line of a block of YAML":    {"key: |\n    " + strings.ReplaceAll(whole, "\n", "\n    ") + "\n", strings.NewReplacer(body[13], "short")},
		"the line behind such a block": {"key: |\n    " + strings.ReplaceAll(whole, "\n", "\n    ") + "\nport: 1\n", strings.NewReplacer("port: 1", "port: 2")},
		"a line of a text in pieces":   {"var key = \"" + strings.ReplaceAll(whole, "\n", "\\n\" +\n\t\"") + "\"\n", strings.NewReplacer(body[13], "short")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gittest.Run(t, dir, "init", "-q")
			gittest.Commit(t, dir, map[string]string{"k": c.base})
			base := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
			gittest.Commit(t, dir, map[string]string{"k": c.edit.Replace(c.base)})
			box, err := OpenCommand(CommandOptions{Options: Options{Tree: dir, GitDir: filepath.Join(dir, ".git"), Head: strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD")), Base: base},
				Names: []string{toolset.GetDiff, toolset.GitDiffRange}})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			for tool, args := range map[string]string{toolset.GetDiff: `{}`, toolset.GitDiffRange: `{"from":"HEAD","to":"base"}`} {
				got, err := box.Call(t.Context(), tool, []byte(args))
				if err != nil || !strings.Contains(got, "[REDACTED]") {
					t.Errorf("%s: %v\n%s", tool, err, got)
				}
				for _, line := range body {
					if strings.Contains(got, line) {
						t.Errorf("%s shows a line of the key:\n%s", tool, got)
						break
					}
				}
			}
		})
	}
}

// What the change tells to be a secret is masked wherever it stands, also without the name that told it; an edit of its line keeps it.
func TestLearnedValuesAreMasked(t *testing.T) {
	const value, used = "Xk92LmQp7RtVb3NzYw81QaWs", "package stock\n\nvar c = dial(\"Xk92LmQp7RtVb3NzYw81QaWs\", \"api\")\n"
	dir := folder(t, map[string]string{"client.go": used})
	for _, args := range [][]string{{"init", "-q", "."}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "-qm", "two"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	e, err := OpenEditor(EditorOptions{Tree: dir, Masked: []string{value}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"client.go"}`, `dial("[REDACTED]", "api")`},
		{"search_code", `{"query":"dial"}`, `dial("[REDACTED]", "api")`},
		{"search_code", `{"query":"Xk92"}`, "0 lines in 0 files"},
		{"edit_file", `{"path":"client.go","old":"dial(\"[REDACTED]\", \"api\")","new":"open(\"[REDACTED]\", \"api\")"}`, "client.go"},
		{"diff", `{}`, `+var c = open("[REDACTED]", "api")`},
	} {
		if got, err := e.Call(t.Context(), c.tool, []byte(c.args)); err != nil || strings.Contains(got, value) || !strings.Contains(got, c.want) {
			t.Errorf("%s %s gives\n%s\n%v, want %s", c.tool, c.args, got, err, c.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "client.go")); err != nil || string(got) != strings.Replace(used, "dial", "open", 1) {
		t.Errorf("the file is %q, %v", got, err)
	}
	if got, err := e.Call(t.Context(), "edit_file", []byte(`{"path":"client.go","old":"open(\"[REDACTED]\", \"api\")","new":"open(key, \"api\")"}`)); err != nil {
		t.Errorf("a value is not taken out: %s, %v", got, err)
	}
}

// Nobody finds out a value in a file's name by asking for names that begin like it, also beside others.
func TestFindKnowsNoMaskedNames(t *testing.T) {
	value := canary("4a")
	box, err := Open(Options{Tree: folder(t, map[string]string{"conf/" + value + ".txt": "x\n", "conf/b.txt": "x\n"})})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for pattern, want := range map[string]int{"conf/ghp_*": 0, "conf/?h*.txt": 0, `conf/{\[REDACTED*,ghp_1*}.txt`: 1, `conf/{\[REDACTED*,ghp_2*}.txt`: 1, "conf/*.txt": 2} {
		found, err := box.find(t.Context(), findArgs{Pattern: pattern})
		if err != nil || len(found.Paths) != want {
			t.Errorf("%s finds %q, %v", pattern, found.Paths, err)
		}
	}
}
