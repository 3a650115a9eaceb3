package repocontext

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"
)

func TestFunctionAtKnowsTheLanguages(t *testing.T) {
	for _, row := range []struct {
		path, text string
		line       int
		want       string
	}{
		{"a.go", "package a\nimport \"fmt\"\n\nfunc F() {\n\tx := func() {\n\t\tfmt.Println()\n\t}\n\tx()\n}\n", 6, `F 4-9 [import "fmt"] true`},
		{"a.go", "package a\n\ntype T struct {\n\tA int\n}\n", 4, "T 3-5 [] true"},
		{"a.py", "import os\nfrom a import b\n\nclass C:\n    @property\n    def f(self):\n        return 1\n", 7, "C.f 5-7 [import os|from a import b] true"},
		{"a.js", "import x from 'x'\nclass A {\n  m() {\n    return 1\n  }\n}\n", 4, "A.m 3-5 [import x from 'x'] true"},
		{"a.ts", "export const f = (a: number) => {\n  return a\n}\n", 2, "f 1-3 [] true"},
		{"a.tsx", "export function App() {\n  return <div>\n    hi\n  </div>\n}\n", 3, "App 1-5 [] true"},
		{"A.java", "import java.util.List;\nclass A {\n  int f(int x) {\n    return x;\n  }\n}\n", 4, "A.f 3-5 [import java.util.List;] true"},
		{"a.rb", "require 'x'\nclass A\n  def f\n    1\n  end\nend\n", 4, "A.f 3-5 [require 'x'] true"},
		{"a.rs", "use std::fmt;\nimpl A {\n    fn f(&self) -> u8 {\n        1\n    }\n}\n", 4, "A.f 3-5 [use std::fmt;] true"},
		{"a.c", "#include <stdio.h>\nstatic int *f(int x)\n{\n\treturn x;\n}\n", 4, "f 2-5 [#include <stdio.h>] true"},
		{"a.cpp", "class A {\n  int f() {\n    return 1;\n  }\n};\n", 3, "A.f 2-4 [] true"},
		{"A.cs", "using System;\nclass A {\n  int F(int x) {\n    return x;\n  }\n}\n", 4, "A.F 3-5 [using System;] true"},
		{"a.php", "<?php\nuse X\\Y;\nclass A {\n  function f() {\n    return 1;\n  }\n}\n", 5, "A.f 4-6 [use X\\Y;] true"},
		{"a.kt", "import x.y\nclass A {\n    fun f(): Int {\n        return 1\n    }\n}\n", 4, "f 3-5 [import x.y] false"},
		{"a.lua", "function f(x)\n  if x then\n    return 1\n  end\nend\n", 3, "f 1-5 [] false"},
		{"big.go", "package a\n\nfunc F() {\n\treturn\n}\n" + strings.Repeat("// filler\n", 60_000), 4, "F 3-5 [] false"},
	} {
		f, ok := FunctionAt(row.path, []byte(row.text), row.line)
		got := fmt.Sprintf("%s %d-%d [%s] %v", f.Name, f.Start, f.End, strings.Join(f.Imports, "|"), f.Exact)
		if !ok || got != row.want {
			t.Errorf("%s:%d: %s, want %s", row.path, row.line, got, row.want)
		}
		lines := strings.SplitAfter(row.text, "\n")
		if ok && f.Definition != strings.Join(lines[f.Start-1:f.End], "") {
			t.Errorf("%s: definition %q", row.path, f.Definition)
		}
	}
	for _, line := range []int{-1, 0, 2, 99} {
		if f, ok := FunctionAt("a.txt", []byte("one\ntwo\nthree\n"), line); ok {
			t.Errorf("line %d of a text: %+v", line, f)
		}
	}
}

func TestRegionsMergeAndStayInTheFile(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	d := parseDiff(t, oneLineChange("a.txt", 5, "x", "y")+"") // top of the file
	show := func(d string) string {
		var got []string
		regions, _ := regionsOf("a.txt", []byte(b.String()), parseDiff(t, d).Files[0].Hunks, true)
		for _, r := range regions {
			got = append(got, fmt.Sprintf("%d-%d %q", r.Start, r.End, strings.SplitN(r.Text, "\n", 2)[0]))
		}
		return strings.Join(got, "; ")
	}
	head := d.Files[0].Header()
	for _, row := range []struct{ says, hunks, want string }{
		{"20 lines on each side, from the first line", "@@ -5 +5 @@\n-x\n+y\n", `1-25 "line 1"`},
		{"to the last line", "@@ -199 +199 @@\n-x\n+y\n", `179-200 "line 179"`},
		{"regions that touch are one", "@@ -50 +50 @@\n-x\n+y\n@@ -91 +91 @@\n-x\n+y\n", `30-111 "line 30"`},
		{"regions apart stay apart", "@@ -50 +50 @@\n-x\n+y\n@@ -92 +92 @@\n-x\n+y\n", `30-70 "line 30"; 72-112 "line 72"`},
		{"removed lines count where the next line stands", "@@ -100,2 +99,0 @@\n-x\n-y\n", `79-119 "line 79"`},
		{"a hunk beyond the file (a lying source) is held inside", "@@ -900 +900 @@\n-x\n+y\n", `180-200 "line 180"`},
	} {
		if got := show(head + row.hunks); got != row.want {
			t.Errorf("%s: %s, want %s", row.says, got, row.want)
		}
	}
}

func TestLongFunctionsAreNamedOnly(t *testing.T) {
	text := "package p\n\nfunc Long() {\n" + strings.Repeat("\tprintln()\n", 500) + "}\n"
	got, _ := regionsOf("a.go", []byte(text), parseDiff(t, oneLineChange("a.go", 250, "x", "y")).Files[0].Hunks, true)
	if len(got) != 1 || got[0].Start != 230 || got[0].End != 270 || got[0].Symbol != "Long" {
		t.Errorf("%d-%d %q", got[0].Start, got[0].End, got[0].Symbol)
	}
}

// Inputs like these took the parser up to 38 s and 1 GB without a limit (libraries 8).
func TestHostileSourceEndsInTime(t *testing.T) {
	for name, text := range map[string]string{
		"a.go":  "package a\n" + strings.Repeat("func f(){", 20_000),
		"a.cs":  strings.Repeat("a<b<c<", 6_000) + "\n",
		"a.cpp": strings.Repeat("template<", 5_000) + strings.Repeat("(", 20_000),
		"a.js":  strings.Repeat("`${", 8_000) + strings.Repeat("(a,", 8_000),
		"a.py":  strings.Repeat("[", 30_000),
		"a.rb":  strings.Repeat("%w(", 10_000),
		"a.php": "<?php " + strings.Repeat("{$a[", 10_000),
		"a.txt": strings.Repeat("\t", 400_000) + "x\n",
		// Deep without brackets.
		"b.cpp":  strings.Repeat("a=", 200_000),
		"c.c":    strings.Repeat("!", 400_000),
		"d.js":   strings.Repeat("a?b:", 100_000),
		"e.cs":   "class A { int F() { " + strings.Repeat("if(x) ", 60_000),
		"f.java": strings.Repeat("a<", 390) + strings.Repeat("x=", 100_000),
	} {
		started := time.Now()
		regionsOf(name, []byte(text), parseDiff(t, oneLineChange(name, 1, "x", "y")).Files[0].Hunks, true)
		took := time.Since(started)
		t.Logf("%s: %v", name, took)
		if took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestEstimateIsOnTheSafeSide(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	d := newFile("internal/server/handler.go", "package server\n\n// Handle answers one request.\nfunc (s *Server) Handle(w http.ResponseWriter, r *http.Request) error {\n\tid, err := strconv.Atoi(r.PathValue(\"id\"))\n\tif err != nil {\n\t\treturn fmt.Errorf(\"parse id %q: %w\", r.PathValue(\"id\"), err)\n\t}\n\treturn s.store.Get(r.Context(), id)\n}\n")
	for name, text := range map[string]string{
		"a diff of Go code": d,
		"prose":             "A run that reviewed nothing is never green. Each report ends with a receipt: files and hunks handed to each reviewer.\n",
		"Chinese":           "每个报告都以收据结束，说明交给每位审阅者的文件。\n",
		"indented Python":   "class A:\n    def method(self, value):\n        if value is None:\n            return self.default\n        return value * 2\n",
	} {
		ids, _, err := codec.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		got := Estimate(text)
		t.Logf("%s: %d tokens, estimated %d", name, len(ids), got)
		if got < len(ids) || got > 3*len(ids) {
			t.Errorf("%s: %d tokens, estimated %d", name, len(ids), got)
		}
	}
}

func TestNothingIsShownTwice(t *testing.T) {
	var code strings.Builder
	code.WriteString("package p\n\nfunc f() {\n")
	for i := range 40 {
		fmt.Fprintf(&code, "\tprintln(%d)\n", i)
	}
	code.WriteString("}\n")
	head := "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n"
	hunks := "@@ -10,3 +10,3 @@\n \tprintln(6)\n-x\n+\tprintln(7)\n \tprintln(8)\n@@ -41,3 +41,3 @@\n \tprintln(37)\n-x\n+\tprintln(38)\n \tprintln(39)\n"
	src := &memory{files: map[string]map[string]string{headID: {"a.go": code.String(), "locales/de.json": strings.Repeat("{}\n", 99), "x.lock": strings.Repeat("a\n", 99)}}}
	b := build(t, src, head+hunks+oneLineChange("locales/de.json", 50, "x", "{}")+oneLineChange("x.lock", 50, "x", "a"), Options{})
	var got []string
	for _, r := range b.Files[0].Context {
		got = append(got, fmt.Sprintf("%d-%d %s", r.Start, r.End, r.Symbol))
		if lines := strings.SplitAfter(code.String(), "\n"); r.Text != strings.Join(lines[r.Start-1:r.End], "") {
			t.Errorf("the text of lines %d-%d is another", r.Start, r.End)
		}
	}
	// Line 44, the last bracket, tells nobody anything.
	if want := "[1-9  13-40 f]"; fmt.Sprint(got) != want { // what begins in a region needs no name
		t.Errorf("%s, want %s", got, want)
	}
	for _, f := range b.Files[1:] {
		if f.Diff == "" || f.Context != nil {
			t.Errorf("%s has its diff and nothing around it: %q, %+v", f.Path, f.Diff, f.Context)
		}
	}
}

func TestRegionsAreNamedByWhatTheyStandIn(t *testing.T) {
	var code strings.Builder
	code.WriteString("package p\n\n")
	for _, name := range []string{"one", "two"} {
		fmt.Fprintf(&code, "func %s() {\n", name)
		for i := range 10 {
			fmt.Fprintf(&code, "\tprintln(%d)\n", i)
		}
		code.WriteString("}\n\n")
	}
	src := &memory{files: map[string]map[string]string{headID: {"a.go": code.String()}}}
	// Both functions are changed, and their regions touch.
	hunks := "@@ -6 +6 @@\n-x\n+\tprintln(2)\n@@ -19 +19 @@\n-x\n+\tprintln(2)\n"
	b := build(t, src, "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n"+hunks, Options{})
	var got []string
	for _, r := range b.Files[0].Context {
		got = append(got, fmt.Sprintf("%d-%d %s", r.Start, r.End, r.Symbol))
	}
	if want := "[1-5  7-18 one 20-28 two]"; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFunctionNamed(t *testing.T) {
	text := "package p\n\ntype Close struct{}\n\nfunc (s *Server) Close() {\n\tclose(s.c)\n}\n\nfunc (c *Client) Close() {\n}\n"
	for _, row := range []struct {
		path, text, name, want string
	}{
		{"a.go", text, "Close", "5-7 Server.Close"}, // a function before a type
		{"a.go", text, "Client.Close", "9-10 Client.Close"},
		{"a.rs", "impl<N: Node> Remote<N> {\n    fn ask(&self) -> u8 {\n        1\n    }\n}\n", "Remote.ask", "2-4 Remote<N>.ask"},
		{"a.go", "package p\n\nfunc (m *Map[K, V]) Get() int {\n\treturn 1\n}\n", "Map.Get", "3-5 Map.Get"},
		{"a.go", text, "lose", ""},
		{"a.go", text, "close", ""},
		{"a.unknown", "x\nsub total {\n  1\n}\n", "total", "2-4 total"},
	} {
		got := ""
		if f, ok := FunctionNamed(row.path, []byte(row.text), row.name); ok {
			got = fmt.Sprintf("%d-%d %s", f.Start, f.End, f.Name)
		}
		if got != row.want {
			t.Errorf("%s in %s: %q, want %q", row.name, row.path, got, row.want)
		}
	}
}
