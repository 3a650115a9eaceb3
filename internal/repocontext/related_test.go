package repocontext

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// shownOf writes the related code of a brief: "path:first-last why" a region.
func shownOf(b review.Brief) []string {
	var out []string
	for _, f := range b.Related {
		for _, r := range f.Regions {
			out = append(out, fmt.Sprintf("%s:%d-%d %s", f.Path, r.Start, r.End, r.Symbol))
		}
	}
	return out
}

// A change in one file, and around it what decides: what it calls, which constants and types it uses, who calls it, who still uses
// what it removed, which test names it. Each language has its own way to say so.
func TestRelatedCodeOfTheLanguages(t *testing.T) {
	for _, row := range []struct {
		language    string
		head        map[string]string
		path, was   string // the line that changed holds "CHANGED"; was is the line before
		want, never []string
	}{
		{"go", map[string]string{
			"cart/total.go":      "package cart\n\nimport \"shop/tax\"\n\n" + strings.Repeat("// filler\n", 30) + "func Total(c Cart) int {\n\treturn tax.Add(c.Sum, tax.Rate) // CHANGED\n}\n",
			"tax/tax.go":         "package tax\n\n// Rate is in percent.\nconst Rate = 19\n\nvar other = 1\n\nfunc Add(n, rate int) int {\n\treturn n * (100 + rate) / 100\n}\n",
			"cart/cart.go":       "package cart\n\ntype Cart struct {\n\tName string\n\tSum  int\n}\n\nfunc unrelated() {}\n",
			"web/page.go":        "package web\n\nfunc Page(c cart.Cart) string {\n\tn := cart.Total(c)\n\treturn show(n)\n}\n\nfunc oldTotal() { cart.Sum2(1) }\n",
			"cart/total_test.go": "package cart\n\nfunc TestTotal(t *testing.T) {\n\tif Total(Cart{}) != 0 {\n\t\tt.Fail()\n\t}\n}\n",
			"far/away.go":        "package away\n\nconst Rate = 7\n\nfunc Added() {}\n",
		}, "cart/total.go", "\treturn c.Sum",
			[]string{"tax/tax.go:4-4 defines Rate", "tax/tax.go:8-10 defines Add", "web/page.go:3-5 uses Total, in Page", "cart/total_test.go:3-4 tests Total, in TestTotal"},
			[]string{"far/away.go", "unrelated", "other"}},
		{"python", map[string]string{
			"app/view.py":     "from app.service import Documents\n\n\ndef page(name):\n    ids = Documents.ids_by_name(name)\n    return ids.append(1)  # CHANGED\n",
			"app/service.py":  "class Documents(Common):\n    limit = 3\n\n    @classmethod\n    def ids_by_name(cls, name):\n        rows = cls.find(name)\n        if not rows:\n            return None\n        return [r.id for r in rows]\n\n    @classmethod\n    def other(cls):\n        pass\n",
			"app/routes.py":   "from app.view import page\n\n\ndef route(req):\n    return page(req.name)\n",
			"tests/test_v.py": "from app.view import page\n\n\ndef test_page():\n    assert page('x')\n",
		}, "app/view.py", "    return ids",
			[]string{"app/service.py:4-9 defines Documents.ids_by_name", "app/routes.py:4-5 uses page, in route", "tests/test_v.py:4-5 tests page, in test_page"}, []string{"other"}},
		{"typescript", map[string]string{
			"src/run.ts":    "import { Base } from './base'\nimport { LIMIT, clamp } from './limits'\n\nexport class Runner extends Base {\n  run(n: number) {\n    return this.start(clamp(n, LIMIT)) // CHANGED\n  }\n}\n",
			"src/base.ts":   "export abstract class Base {\n  retries = 3\n  start(n: number) {\n    if (n < 0) throw new Error('negative')\n    return n + this.retries\n  }\n}\n",
			"src/limits.ts": "export const LIMIT = 10\nexport const OTHER = 11\nexport const clamp = (n: number, max: number) => {\n  return Math.min(n, max)\n}\n",
			"src/main.ts":   "import { Runner } from './run'\nexport function main() {\n  new Runner().run(3)\n}\n",
		}, "src/run.ts", "    return n",
			[]string{"src/limits.ts:1-1 defines LIMIT", "src/limits.ts:3-5 defines clamp", "src/base.ts:3-6 defines Base.start", "src/main.ts:2-4 uses run, in main"}, []string{"OTHER"}},
		{"java", map[string]string{
			"a/Act.java":    "package a;\nimport c.Props;\nclass Act extends Action {\n  void run(Props p) {\n    boolean debug = tool().getDebug(); // CHANGED\n  }\n}\n",
			"a/Action.java": "package a;\nabstract class Action {\n  int one;\n  Props tool() {\n    return props;\n  }\n  int other() { return 1; }\n}\n",
			"c/Props.java":  "package c;\npublic class Props {\n  private Boolean debug = null;\n  @Value\n  public Boolean getDebug() {\n    return debug;\n  }\n}\n",
			"a/Main.java":   "package a;\nclass Main {\n  void main() {\n    new Act().run(null);\n  }\n}\n",
		}, "a/Act.java", "    boolean debug = false;",
			[]string{"a/Action.java:4-6 defines Action.tool", "c/Props.java:4-7 defines Props.getDebug", "a/Main.java:3-5 uses run, in Main.main"}, []string{"other"}},
		{"ruby", map[string]string{
			"lib/order.rb": "class Order < Base\n  def total\n    Tax.apply(sum, RATE) # CHANGED\n  end\nend\n",
			"lib/tax.rb":   "class Tax\n  RATE = 19\n  def self.apply(n, rate)\n    raise ArgumentError if n.nil?\n    n * rate\n  end\nend\n",
			"lib/base.rb":  "class Base\n  attr :x\n  def sum\n    nil\n  end\nend\n",
		}, "lib/order.rb", "    sum",
			[]string{"lib/tax.rb:3-6 defines Tax.apply", "lib/base.rb:3-5 defines Base.sum"}, nil},
		{"php", map[string]string{
			"src/Order.php": "<?php\nuse App\\Tax;\nclass Order extends Base {\n  public function total() {\n    return Tax::apply($this->sum()); // CHANGED\n  }\n}\n",
			"src/Tax.php":   "<?php\nclass Tax {\n  private $x;\n  public static function apply($n) {\n    return $n ?? null;\n  }\n}\n",
			"src/Base.php":  "<?php\nclass Base {\n  private $x;\n  protected function sum() {\n    return null;\n  }\n}\n",
		}, "src/Order.php", "    return 1;",
			[]string{"src/Tax.php:4-6 defines Tax.apply", "src/Base.php:4-6 defines Base.sum"}, nil},
		{"rust", map[string]string{
			"src/worker.rs": "use crate::limits::MAX;\n\nimpl Worker {\n    fn read(&self) -> usize {\n        self.log.read_range(MAX) // CHANGED\n    }\n}\n",
			"src/limits.rs": "pub const MAX: usize = 1000;\npub const MIN: usize = 1;\n",
			"src/log.rs":    "impl Log {\n    pub fn read_range(&self, n: usize) -> usize {\n        self.entries.get(n).unwrap()\n    }\n}\n",
		}, "src/worker.rs", "        0",
			[]string{"src/limits.rs:1-1 defines MAX", "src/log.rs:2-4 defines Log.read_range"}, []string{"MIN"}},
	} {
		t.Run(row.language, func(t *testing.T) {
			lines := strings.SplitAfter(row.head[row.path], "\n")
			n := 0
			for i, l := range lines {
				if strings.Contains(l, "CHANGED") {
					n = i + 1
				}
			}
			base := map[string]string{row.path: strings.Replace(row.head[row.path], lines[n-1], row.was+"\n", 1)}
			src := &memory{files: map[string]map[string]string{headID: row.head, baseID: base}}
			text := oneLineChange(row.path, n, row.was, strings.TrimSuffix(lines[n-1], "\n"))
			b := build(t, src, text, Options{})
			got := strings.Join(shownOf(b), "\n")
			for _, want := range row.want {
				if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
					t.Errorf("%q is not among\n%s", want, got)
				}
			}
			for _, f := range b.Related {
				for _, r := range f.Regions {
					if text := strings.SplitAfter(row.head[f.Path], "\n"); r.Text != strings.Join(text[r.Start-1:r.End], "") {
						t.Errorf("%s:%d-%d is %q", f.Path, r.Start, r.End, r.Text)
					}
					for _, not := range row.never {
						if strings.Contains(r.Text, not) {
							t.Errorf("%s:%d shows %s: %q", f.Path, r.Start, not, r.Text)
						}
					}
				}
			}
			if again := build(t, src, text, Options{}); cmp.Diff(b, again) != "" {
				t.Error("not deterministic:", cmp.Diff(b, again))
			}
		})
	}
}

// What a change takes away and others still use is said, in files of any kind; what only moved is not.
func TestRemainingUsesOfRemovedNames(t *testing.T) {
	src := &memory{files: map[string]map[string]string{
		baseID: {"a.py": "def old_total(n):\n    return n\n\n\ndef moved(n):\n    return n\n\n\nOLD_LIMIT = 3\n"},
		headID: {
			"a.py":         "\n",
			"b.py":         "import a\n\n\ndef page():\n    return a.old_total(a.OLD_LIMIT)\n",
			"c.py":         "def moved(n):\n    return n\n\n\ndef other():\n    return moved(1)\n",
			"page.html":    "<p>\n{{ old_total(3) }}\n</p>\n",
			"data.json":    "{\"old_total\": 1}\n",
			"untouched.py": "def x():\n    return 'old_total'\n",
		},
	}}
	text := "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,9 +1 @@\n" +
		"-def old_total(n):\n-    return n\n-\n-\n-def moved(n):\n-    return n\n-\n-\n-OLD_LIMIT = 3\n+\n"
	b := build(t, src, text, Options{})
	want := []string{
		"b.py:4-5 still uses OLD_LIMIT, which is no longer defined, in page",
		"page.html:1-3 still uses old_total, which is no longer defined",
		"c.py:5-6 uses moved, which is defined elsewhere now, in other",
	}
	if d := cmp.Diff(want, shownOf(b)); d != "" {
		t.Error(d)
	}
}

func TestRelatedCodeKeepsToTheRules(t *testing.T) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	src := &memory{files: map[string]map[string]string{
		baseID: {"a.go": "package a\n\nfunc f() {}\n", ".gitattributes": "made/* linguist-generated\n"},
		headID: {
			"a.go":          "package a\n\nfunc f() { use(Key, Hidden, Vendored, Made, Marked, Long) }\n",
			"key.go":        "package a\n\nfunc use(all ...any) {\n\ttoken := \"" + secret + "\"\n\treturn\n}\n\nconst Key = \"" + secret + "\"\n",
			"secret/h.go":   "package a\n\nconst Hidden = 1\n",
			"vendor/v/v.go": "package a\n\nconst Vendored = 1\n",
			"made/m.go":     "package a\n\nconst Made = 1\n",
			"marked.go":     "// Code generated by x. DO NOT EDIT.\npackage a\n\nconst Marked = 1\n",
			"long.go":       "package a\n\nconst Long = \"" + strings.Repeat("x", 5000) + "\"\n",
			"locales/x.js":  "export const f = 1\n",
		},
	}}
	text := oneLineChange("a.go", 3, "func f() {}", "func f() { use(Key, Hidden, Vendored, Made, Marked, Long) }")
	b := build(t, src, text, Options{Exclude: []string{"secret/**"}})
	want := []string{"key.go:3-3 defines use", "key.go:5-6 defines use"}
	if d := cmp.Diff(want, shownOf(b)); d != "" {
		t.Error("a secret, or a file that nothing reads, is shown: ", d)
	}
	for asked := range src.asked {
		if strings.Contains(asked, ":secret/") {
			t.Errorf("%s was read", asked)
		}
	}
	if b.Files[0].HunksGiven != 1 || b.Tokens > DefaultMaxTokens {
		t.Errorf("%+v", b.Files[0])
	}
	if alone := build(t, src, text, Options{DiffOnly: true}); alone.Related != nil || alone.Files[0].HunksGiven != 1 {
		t.Errorf("code outside the diff is shown to who does not want it: %+v", alone)
	}
	// The diff goes before: with room for nothing else there is nothing else.
	small := build(t, src, text, Options{MaxTokens: 150})
	if small.Files[0].HunksGiven != 1 || small.Related != nil {
		t.Errorf("%+v", small)
	}
}

// Where the search gives something up for its limits, the brief says so.
func TestWhatTheSearchGivesUpIsSaid(t *testing.T) {
	head := map[string]string{"a.go": "package a\n\nfunc f() { helper() }\n", "z.go": "package a\n\nfunc helper() {}\n"}
	src := &memory{files: map[string]map[string]string{headID: head, baseID: {}}}
	text := oneLineChange("a.go", 3, "func f() {}", "func f() { helper() }")
	if b := build(t, src, text, Options{}); len(b.Warnings) != 0 || len(b.Related) != 1 {
		t.Errorf("nothing was given up: %q", b.Warnings)
	}
	for i := range 63 {
		head[fmt.Sprintf("b%02d.go", i)] = "package a\n\nfunc helper" + strings.Repeat("(", 500)
	}
	b := build(t, src, text, Options{})
	want := []string{"code outside the diff: 1 file was not parsed, for the limits on time and size; names in them are found line by line"}
	if d := cmp.Diff(want, b.Warnings); d != "" || b.Status != StatusOK {
		t.Error(b.Status, d)
	}
}

// What was read of a file is kept by its content: the second brief parses nothing again, and is the same.
func TestBriefsAreTheSameFromTheCache(t *testing.T) {
	src, d := readCase(t, filepath.Join("../testkit/forge/testdata/cases", "python-ragflow-6553"))
	o := Options{Diff: d, Base: baseID, Head: headID, Symbols: filepath.Join(t.TempDir(), "symbols")}
	var briefs [2]review.Brief
	for i := range briefs {
		b, err := Build(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		briefs[i] = b
	}
	if len(briefs[0].Related) == 0 || cmp.Diff(briefs[0], briefs[1]) != "" {
		t.Error(cmp.Diff(briefs[0], briefs[1]))
	}
}

// Files that are made to have very many names, definitions or uses cost no more than their bound.
func TestHostileFilesDoNotSlowTheSearch(t *testing.T) {
	many := "x = 1\n" + strings.Repeat("y = x\n", 60_000)
	nested := strings.Repeat("class A: y = 1\n", 30_000)
	line := "const " + strings.Repeat("y = () => {}, ", 30_000) + "x = 1\n"
	head := map[string]string{"a.py": many, "b.py": nested, "c.py": many + "# 2\n", "d.js": line, "e.js": line + "// 2\n", "f.py": strings.Repeat("def y(): return y\n", 25_000)}
	src := &memory{files: map[string]map[string]string{headID: head, baseID: {}}}
	var text strings.Builder
	for _, p := range []string{"a.py", "b.py", "d.js"} {
		text.WriteString(newFile(p, head[p]))
	}
	text.WriteString(oneLineChange("f.py", 3, "z", "def y(): return y"))
	started := time.Now()
	b := build(t, src, text.String(), Options{MaxTokens: 2_000_000})
	if took := time.Since(started); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Log(time.Since(started), len(b.Related))
}
