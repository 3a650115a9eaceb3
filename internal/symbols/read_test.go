package symbols

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// what writes a file's symbols as "full name start-head-end", values with an equals sign in front, and its uses as "of.name:line".
func what(f File) (definitions, uses string) {
	var d, u []string
	for _, x := range f.Definitions {
		sign := map[Kind]string{Value: "=", Implementation: "~", Type: "^"}[x.Kind]
		d = append(d, fmt.Sprintf("%s%s %d-%d-%d", sign, x.Full(), x.At, x.Head, x.End))
	}
	for _, x := range f.Uses {
		u = append(u, fmt.Sprintf("%s.%s:%d", x.Of, x.Name, x.Line))
	}
	return strings.Join(d, ", "), strings.Join(u, " ")
}

// A long name is cut where no value is, and masked before (threats.md T793).
func TestLongNamesHoldNoSecret(t *testing.T) {
	for args, want := range map[string]string{
		"'a-long-name-of-a-good-old-customer-who-has-a-database-of-his-own', 'postgres://app:q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3xPPPP@db/customers/of/his/own'": "clients[pick('a-long-name-of-a-good-old-customer-who-has-a-database-of-his-own', 'postgres://app:[REDACTED]@…",
		"'a-long-name-of-a-good-old-customer-who-has-a-database-of-his-own', f, 'and another', 'q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3xPPPP'":                      "clients[pick('a-long-name-of-a-good-old-customer-who-has-a-database-of-his-own', f, 'and another', '…",
	} {
		f, ok := Read("javascript", []byte("clients[pick("+args+")] = function () {\n  step()\n}\n"))
		if !ok || len(f.Definitions) != 1 || f.Definitions[0].Name != want {
			t.Errorf("%v: %+v", ok, f.Definitions)
		}
	}
}

func TestReadKnowsTheLanguages(t *testing.T) {
	for _, row := range []struct{ language, text, definitions, uses string }{
		{"go", "package a\n\nconst (\n\tMin, Max = 1, 2\n)\n\ntype (\n\tT struct {\n\t\tOne, Two int\n\t}\n\tI interface {\n\t\tDo(x int) error\n\t}\n)\n\nfunc (t *T) M(a int,\n\tb string) error {\n\tx := t.One\n\treturn foo.Bar(x, Max)\n}\n",
			"=Min 4-4-4, =Max 4-4-4, ^T 8-8-10, =T.One 9-9-9, =T.Two 9-9-9, ^I 11-11-13, =I.Do 12-12-12, T.M 16-17-20",
			".int:9 .int:12 .error:12 .int:16 .string:17 .error:17 t.One:18 .foo:19 foo.Bar:19 .Max:19"},
		{"python", "LIMIT: int = 3\n\nclass K(Base):\n    field = None\n\n    @classmethod\n    def get(cls, a,\n            b=LIMIT):\n        local = 3\n        return cls.model.find(a)\n",
			"=LIMIT 1-1-1, ^K 3-3-10, =K.field 4-4-4, K.get 7-8-10",
			".int:1 .Base:3 .classmethod:6 .cls:7 .LIMIT:8 .local:9 .cls:10 cls.model:10 model.find:10"},
		{"typescript", "export const LIMIT = 3\nexport enum Color { Red = \"r\",\n  Green }\ninterface P { label: string; run(a: number): void }\nclass K extends Base {\n  private static MAX = 5\n  run(a: number) {\n    const local = 1\n    this.svc.go(Color.Red)\n  }\n}\nexport const fn = (a: P) => a?.label\n",
			"=LIMIT 1-1-1, ^Color 2-2-3, =Color.Red 2-2-2, =Color.Green 3-3-3, ^P 4-4-4, =P.label 4-4-4, =P.run 4-4-4, ^K 5-5-11, =K.MAX 6-6-6, K.run 7-7-10, fn 12-12-12",
			".Base:5 .local:8 this.svc:9 svc.go:9 .Color:9 Color.Red:9 a.label:12"},
		{"java", "class A extends Base {\n  static final int MAX = 3;\n  enum E { ONE, TWO(2); }\n  @Override\n  Boolean get(String x) throws Foo\n  {\n    int y = MAX;\n    return d.run(y);\n  }\n}\n",
			"^A 1-1-10, =A.MAX 2-2-2, ^A.E 3-3-3, =A.E.ONE 3-3-3, =A.E.TWO 3-3-3, A.get 5-5-9",
			".Base:1 .Override:4 .Boolean:5 .String:5 .Foo:5 .MAX:7 d.run:8"},
		{"ruby", "module M\n  LIMIT = 3\n  class A < Base\n    def run(x)\n      y = LIMIT\n      foo.bar(y)\n    end\n  end\nend\n",
			"^M 1-1-9, =M.LIMIT 2-2-2, ^M.A 3-3-8, M.A.run 4-4-7", ".Base:3 .LIMIT:5 .foo:6 foo.bar:6"},
		{"rust", "pub const MAX: usize = 3;\npub struct P { pub one: u8 }\nenum E { One, Two(u8) }\ntrait Tr { fn go(&self) -> u8; }\nimpl Tr for P {\n    fn go(&self) -> u8 {\n        Helper::call(self.one, MAX)\n    }\n}\n",
			"=MAX 1-1-1, ^P 2-2-2, =P.one 2-2-2, ^E 3-3-3, =E.One 3-3-3, =E.Two 3-3-3, ^Tr 4-4-4, =Tr.go 4-4-4, ~P 5-5-9, P.go 6-6-8",
			".Tr:5 .Helper:7 Helper.call:7 self.one:7 .MAX:7"},
		{"php", "<?php\nabstract class K extends Base {\n  const LIMIT = 3;\n  protected static $callback = null;\n  public function get(string $x): ?string\n  {\n    return $this->helper(self::LIMIT) ?? static::$callback;\n  }\n}\nenum S: string { case One = 'a'; }\n",
			"^K 2-2-9, =K.LIMIT 3-3-3, =K.callback 4-4-4, K.get 5-5-8, ^S 10-10-10, =S.One 10-10-10",
			".Base:2 .this:7 this.helper:7 self.LIMIT:7 .callback:7"},
		{"c#", "class A : Base {\n  const int Max = 3;\n  public string Name { get; set; } = \"x\";\n  int F(int x)\n  {\n    return Helper.Run(x, Max);\n  }\n}\nenum E { One, Two = 2 }\n",
			"^A 1-1-8, =A.Max 2-2-2, A.Name 3-3-3, A.F 4-4-7, ^E 9-9-9, =E.One 9-9-9, =E.Two 9-9-9", ".Base:1 .Helper:6 Helper.Run:6 .Max:6"},
		{"c", "#define MAX 3\nint proto(int a);\nstatic int *f(int x)\n{\n\treturn g(MAX);\n}\n", "=MAX 1-1-1, =proto 2-2-2, f 3-3-6", ".MAX:5"},
		{"c++", "class A : public Base {\n  int f() const { return get(MAX); }\n  int h = 3;\n};\nint A::g(int x) { return limit; }\n",
			"^A 1-1-4, A.f 2-2-2, =A.h 3-3-3, A.g 5-5-5", ".Base:1 .get:2 .MAX:2 .limit:5"},
	} {
		f, ok := Read(row.language, []byte(row.text))
		definitions, uses := what(f)
		if d := cmp.Diff(row.definitions, definitions); !ok || d != "" {
			t.Errorf("%s: definitions: %s", row.language, d)
		}
		if d := cmp.Diff(row.uses, uses); d != "" {
			t.Errorf("%s: uses: %s", row.language, d)
		}
	}
}
