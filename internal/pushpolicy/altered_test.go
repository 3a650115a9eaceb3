package pushpolicy

import (
	"slices"
	"strings"
	"testing"
)

// edited is a file before and after a change of one block of lines.
func edited(path, before, after string) Change {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	c := Change{Path: path, Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Content: now}
	n := 0
	for n < len(old) && n < len(now) && old[n] == now[n] {
		n++
	}
	last := 0
	for last < len(old)-n && last < len(now)-n && old[len(old)-1-last] == now[len(now)-1-last] {
		last++
	}
	c.Removed, c.Added = lines(n+1, old[n:len(old)-last]...), lines(n+1, now[n:len(now)-last]...)
	return c
}

// A fix that only adds tests is not named. Whatever else it does in a file of tests is, whatever the lines say.
func TestAltered(t *testing.T) {
	const (
		js   = "import { add } from './add';\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n"
		py   = "from shop import b\n\n\ndef test_b():\n    assert b() == 1\n"
		suit = "class TestA(TestCase):\n    def setUp(self):\n        self.a = 1\n\n    def test_a(self):\n        self.assertEqual(self.a, 1)\n"
		gosp = "package stock\n\nimport (\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n\tif Count(nil) != 0 {\n\t\tt.Error(\"bad\")\n\t}\n}\n"
		java = "package shop;\n\nclass ATest {\n    @Test\n    void adds() {\n        assertEquals(3, add(1, 2));\n    }\n}\n"
		rust = "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(), ());\n    }\n}\n"
		cs   = "class ATests\n{\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(3, Add(1, 2));\n    }\n}\n"
		ruby = "describe Cart do\n  it 'adds' do\n    expect(1).to eq 1\n  end\nend\n"
	)
	in := strings.ReplaceAll
	for _, c := range []struct{ rule, path, before, old, new string }{
		// named
		{"a return", "a.test.js", js, "  expect", "  return;\n  expect"},
		{"a condition", "a.test.js", js, "  expect", "  if (0) expect"},
		{"a value against itself", "a.test.js", js, "  expect(add(1, 2)).toBe(3)", "  const r = add(1, 2);\n  expect(r).toBe(r)"},
		{"anything will do", "a.test.js", js, "toBe(3)", "toEqual(expect.anything())"},
		{"the function under test is another", "a.test.js", js, "test('adds'", "const add = () => 3;\ntest('adds'"},
		{"a helper behind a new test", "a.test.js", js, "\ntest('adds'", "\ntest('b', () => {\n  f();\n});\njest.mock('./add');\ntest('adds'"},
		{"a new test within one", "a.test.js", js, "  expect", "  test('b', () => {}); return;\n  expect"},
		{"the head of a new test, and the body of an old one", "a.test.js", js, "  expect", "});\n\ntest('b', () => {\n  expect"},
		{"an import", "a.test.js", js, "\n\ntest", "\nimport './mocks';\n\ntest"},
		{"a block comment begins", "a.test.js", js, "  expect", "  /*\n  expect"},
		{"an exception is caught", "test_b.py", py, "    assert b() == 1", "    try:\n        assert b() == 1\n    except AssertionError:\n        pass"},
		{"a pair is true", "test_b.py", py, "b() == 1", "(b() == 1, 'b')"},
		{"another value is expected", "test_b.py", py, "== 1", "== 2"},
		{"no value is asked", "test_b.py", py, "== 1", "is not None"},
		{"a loop over nothing", "test_b.py", py, "    assert", "    for x in []:\n        assert"},
		{"only deeper", "test_b.py", py, "def test_b():\n    assert b()", "def test_b():\n    def test_c():\n        assert b()"},
		{"a decorator", "test_b.py", py, "def test_b", "@patch('shop.b')\ndef test_b"},
		{"a fixture", "test_b.py", py, "def test_b", "@pytest.fixture(autouse=True)\ndef b():\n    return 1\n\n\ndef test_b"},
		{"an import that takes the place of another", "test_b.py", py, "\n\n\ndef", "\nfrom fakes import b\n\n\ndef"},
		{"an import of all there is", "test_b.py", py, "\n\n\ndef", "\nfrom fakes import *\n\n\ndef"},
		{"a setup", "test_a.py", suit, "self.a = 1\n", "self.a = 1\n        self.b = 2\n"},
		{"another operator", "a_test.go", gosp, "!= 0", "< 0"},
		{"a log", "a_test.go", gosp, "t.Error", "t.Log"},
		{"another row", "a_test.go", "func TestA(t *testing.T) {\n\tfor _, c := range []int{\n\t\t1,\n\t} {\n", "\t\t1,\n", "\t\t1,\n\t\t2,\n"},
		{"what an example prints", "a_test.go", "func ExampleA() {\n\tA()\n\t// Output:\n\t// 1\n}\n", "// 1", "// 2"},
		{"what an example printed", "a_test.go", "func ExampleA() {\n\tA()\n\t// Output: 1\n}\n", "\t// Output: 1\n", ""},
		{"code behind a comment", "ATest.java", java, "        assert", "        /**\n        */ if (false)\n        assert"},
		{"a method for all", "ATest.java", java, "    @Test", "    @BeforeEach\n    void setup() {\n        add = null;\n    }\n\n    @Test"},
		{"a line of a test among sources", "src/lib.rs", rust, "assert_eq!(add(), ())", "let _ = add()"},
		{"a line in a test among sources", "src/lib.rs", rust, "        assert_eq", "        return;\n        assert_eq"},
		{"a return in C#", "ATests.cs", cs, "        Assert", "        return;\n        Assert"},
		{"a value in Ruby", "spec/a_spec.rb", ruby, "eq 1", "be"},
		{"a step of the program's tests", "features/steps/a.rb", "Then(/x/) do\n  f\nend\n", "  f\n", ""},
		{"a comment", "a.test.js", js, "  expect", "  // 1 and 2\n  expect"},
		{"a comment that is a factor", "a.test.js", "test('adds', () => {\n  const got = add(1, 2)\n  expect(got).toBe(3)\n})\n", "  expect", "    * 0 + 3\n  expect"},
		{"a comment that goes on", "tests/test_a.c", "TEST(A, Adds) {\n  ASSERT_EQ(3, add(1, 2));\n}\n", "  ASSERT", "  // adds \\\n  ASSERT"},
		{"a comment that ends its line", "ATest.java", java, "        assert", "        // \\u000a if (true) return;\n        assert"},
		{"a comment that ends the program", "tests/ATest.php", "<?php\n\nclass ATest {\n    function testA() {\n        f();\n    }\n}\n", "        f();", "        // ?>\n        f();"},
		{"how a file is to be read", "test_b.py", py, "from", "# coding: unicode_escape\nfrom"},
		{"how a file is to be read, above a new test", "test_b.py", py, "from", "# coding: unicode_escape\ndef test_a():\n    pass\n\n\nfrom"},
		{"the end of a comment goes", "ATest.java", "class ATest {\n    /**\n     * Adds.\n     */\n    @Test\n    void adds() {}\n\n    /** Subs. */\n    @Test\n    void subs() {}\n}\n", "     */\n", ""},
		{"a new test opens a comment", "a_test.go", gosp, "func", "func TestB(t *testing.T) { /*\n\tcounts. */ t.Log() /*\n}\n\nfunc"},
		{"a new test opens a comment behind one that reads as its end", "a_test.go", gosp, "func", "func TestB(t *testing.T) {\n\tt.Log(\"*/\") /*\n}\n\nfunc"},
		{"a new test opens a docstring", "test_b.py", py, "def", "def test_a():\n    \"\"\"Nothing.\n\n\ndef"},
		{"a new test opens a docstring behind a comment", "test_b.py", py, "def", "def test_a():\n    # \"\"\"\n    \"\"\"Nothing.\n\n\ndef"},
		{"a new test goes on", "test_b.py", py, "def", "def test_a():\n    x = \\\n\n\ndef"},
		{"a new test opens a raw string", "a_test.go", gosp, "func", "func TestB(t *testing.T) {\n\tt.Log(`\n}\n\nfunc"},
		{"a new test opens a template", "a.test.js", js, "test('adds'", "test('b', () => {\n  b(/`/, `)\n})\n\ntest('adds'"},
		{"a new test does not end", "a.test.js", js, "test('adds'", "test('b', () => {\n\ntest('adds'"},
		{"a new test of a nested comment", "src/lib.rs", rust, "    #[test]\n    fn adds", "    #[test]\n    fn b() { /* /* */\n    }\n\n    #[test]\n    fn adds"},
		{"a new test opens a text up to a word", "spec/a_spec.rb", ruby, "  it 'adds'", "  it 'b' do\n    f <<~X\n  end\n  it 'adds'"},
		{"code behind a text of a new test", "test_b.py", py, "== 1\n", "== 1\n\n\ndef test_c():\n    x = '\\'\"\"\"'\ndef b():\n    return 1\n"},
		{"an import and a function", "a_test.go", gosp, "import (", "import \"os\"; func init() { os.Exit(len(os.Args) * 0) }\nimport ("},
		{"a function below an import", "a_test.go", "package stock\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n}\n", "\"testing\"\n", "\"testing\"\n\tfunc init() { equal = nil }\n"},
		{"an import in a text", "test_b.py", "X = \"\"\"\na = 1\n\"\"\"\n", "a =", "import re\na ="},
		{"a class in the middle of one", "test_a.py", suit, "    def test_a", "class TestB:\n    def __init__(self):\n        self.a = 1\n\n    def test_a"},
		{"a name outside", "test_b.py", py, "== 1\n", "== 1\n\n\nclass TestN:\n    global test_b\n\n    def test_b():\n        pass\n"},
		{"an attribute is taken", "ATest.java", java, "    void adds", "    void testB() {\n    }\n\n    void adds"},
		{"a decorator is taken", "test_b.py", "@pytest.mark.parametrize(\n    'x', [1],\n)\ndef test_b(x):\n    assert x\n", "def test_b", "def test_a(x):\n    pass\n\n\ndef test_b"},
		{"a decorator is gone that skips nothing", "test_b.py", "@patch('shop.b')\n" + py[21:], "@patch('shop.b')\n", ""},
		{"a mark that skips is another", "test_b.py", "import pytest\n\n\n@pytest.mark.skip\ndef test_b():\n    assert b()\n", "skip", "xfail"},
		{"a line of a text that reads as such a mark", "test_b.py", "def test_b():\n    assert f(\"\"\"\n@pytest.mark.skip\nx\n\"\"\")\n", "@pytest.mark.skip\n", ""},
		{"a mark that has a test fail is gone", "test_b.py", "@unittest.expectedFailure\ndef test_b():\n    assert b()\n", "@unittest.expectedFailure\n", ""},
		{"a line that ends in its middle", "test_b.py", py, "== 1\n", "== 1\n\n\ndef test_c():\n    pass  # fine\r    b = None\n"},
		{"a depth that is none", "test_b.py", py, "== 1\n", "== 1\n\n\ndef test_c():\n    \fb = None\n"},
		{"a name that is spelled in another way", "test_a.py", suit, "self.a, 1)\n", "self.a, 1)\n\n\nclass Tes\uff54A(TestCase):\n    def test_a(self):\n        pass\n"},
		{"a hook is imported", "test_b.py", py, "from", "from helpers import load_tests\nfrom"},
		{"code behind a new test, as deep as if it were in it", "a.test.js", js, "});\n", "});\n\ntest('b', () => {\n  f();\n});\n  shop.add = () => 3;\n"},
		{"an initializer behind a new test", "a_test.go", gosp, "func", "func TestB(t *testing.T) {\n\tt.Log()\n}\n\tfunc init() { equal = nil }\n\nfunc"},
		{"an import that others need", "test_b.py", "import pytest\n\n\ndef test_b():\n    pytest.fail()\n", "import pytest\n", ""},
		{"an import of something else", "test_b.py", "import fakes\n\n\ndef test_b():\n    pass\n", "import fakes\n", ""},
		{"another language", "tests/run.sh", "f\n", "f\n", "f || true\n"},

		// not named
		{"- a new test", "a.test.js", js, "});\n", "});\n\ntest('b', () => {\n  expect(b()).toBe(1);\n});\n"},
		{"- a new test before", "a.test.js", js, "test(", "// b is new.\n/* It is\n   another. */\ntest('b', () => {\n  expect(b()).toBe(1);\n}, 1000);\n\ntest("},
		{"- in a group", "a.test.js", "describe('a', () => {\n  it('a', () => {\n    f();\n  });\n});\n", "  });\n", "  });\n\n  it('b', async () => {\n    await f();\n  });\n"},
		{"- white space", "a.test.js", js, "  expect", "\texpect"},
		{"- a new function", "test_b.py", py, "== 1\n", "== 1\n\n\n@pytest.mark.parametrize(\n    'n', [1],\n)\nasync def test_c(\n    n: int\n) -> None:\n    assert b()\n"},
		{"- another import", "test_b.py", py, "from", "import re\nfrom typing import (\n    Any,\n)\nfrom"},
		{"- a new method", "test_a.py", suit, "    def test_a", "    def test_c(self):\n        self.assertTrue(self.a)\n\n    def test_a"},
		{"- a new class", "test_a.py", suit, "class", "class TestB(TestCase):\n    def test_a(self):\n        pass\n\n\nclass"},
		{"- a new function in Go", "a_test.go", gosp, "func", "// TestB counts.\nfunc TestB(t *testing.T) {\n\tt.Log()\n}\n\nfunc"},
		{"- an import in Go", "a_test.go", gosp, "\t\"testing\"\n", "\t\"errors\"\n\t\"testing\"\n"},
		{"- a new method in Java", "ATest.java", java, "    @Test", "    /** Adds nothing. */\n    @Test\n    @DisplayName(\"b\")\n    void b() {\n        assertEquals(0, add());\n    }\n\n    @Test"},
		{"- the program beside its tests", "src/lib.rs", rust, "add() {}", "add() {\n    assert!(true);\n}"},
		{"- a new test beside them", "src/lib.rs", rust, "    }\n}\n", "    }\n\n    #[test]\n    #[should_panic]\n    fn b() {\n        add();\n    }\n}\n"},
		{"- the program where a test is mentioned", "src/a.rs", "#[cfg(test)]\nuse x;\n\nfn a() {}\n", "{}", "{ b() }"},
		{"- a new fact", "ATests.cs", cs, "    [Fact]", "    [Theory]\n    [InlineData(1)]\n    public void B(int n)\n    {\n        Assert.True(n > 0);\n    }\n\n    [Fact]"},
		{"- a new example", "spec/a_spec.rb", ruby, "  end\nend", "  end\n\n  it 'b' do\n    f\n  end\nend"},
		{"- a text that is not indented", "test_b.py", py, "== 1\n", "== 1\n\n\ndef test_c():\n    assert parse(\"\"\"\na = 1\n\"\"\") == 1\n"},
		{"- a raw string", "a_test.go", gosp, "func", "func TestB(t *testing.T) {\n\tin := `\na: b\n`\n\tParse(in) // it's \"b\n\tt.Errorf(\"%s: %+v, want %q, %d%%\", in)\n}\n\nfunc"},
		{"- a regular expression in the last test", "a.test.js", js, "});\n", "});\n\ntest('b', () => {\n  expect(b()).toMatch(/\"/);\n});\n"},
		{"- a mark that skips is gone", "test_b.py", "@pytest.mark.skip(reason=\"it is (too) slow\")\ndef test_b():\n    assert b()\n", "@pytest.mark.skip(reason=\"it is (too) slow\")\n", ""},
		{"- an import that nothing needs", "test_b.py", "import pytest\n\nfrom shop import b\n\n\ndef test_b():\n    assert b()\n", "import pytest\n\n", ""},
		{"- a test that was ignored", "src/lib.rs", in(rust, "    #[test]\n", "    #[test]\n    #[ignore = \"slow\"]\n"), "    #[ignore = \"slow\"]\n", ""},
		{"- a test that was disabled", "ATest.java", in(java, "    @Test\n", "    @Test\n    @Disabled\n"), "    @Disabled\n", ""},
		{"- a source of Java", "src/main/java/a/TestController.java", "class TestController {\n}\n", "{\n", "{\n    int a;\n"},
		{"- a folder of features that is the program's", "src/features/cart.ts", "a();\n", "a()", "b()"},
	} {
		got := altered(edited(c.path, c.before, in(c.before, c.old, c.new)))
		if want := !strings.HasPrefix(c.rule, "- "); (len(got) > 0) != want {
			t.Errorf("%s: %v", c.rule, got)
		}
	}
}

// Where lines were changed at several places each is set against what stood there.
func TestBlocks(t *testing.T) {
	var got []int
	for _, b := range blocks(Change{Removed: slices.Concat(lines(2, "a", "b"), lines(9, "c")), Added: slices.Concat(lines(2, "x"), lines(5, "y"), lines(9, "z"))}) {
		got = append(got, b.at, len(b.removed), len(b.added))
	}
	if want := []int{2, 2, 1, 5, 0, 1, 9, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// In Python and Ruby the second function of a name is the only one that runs.
func TestReplaced(t *testing.T) {
	const py = "def test_b():\n    assert b() == 1\n"
	const twice = "class TestA:\n    def test_b(self):\n        pass\n\n    def test_b(self):\n        assert 1\n"
	for _, c := range []struct {
		rule string
		c    Change
		want string
	}{
		{"a function", edited("test_a.py", py, py+"\n\ndef test_b():\n    b()\n"), "test_b"},
		{"a method", edited("test_a.py", "class TestA:\n    def test_b(self):\n        pass\n", twice), "test_b"},
		{"one that was there twice", edited("test_a.py", twice, strings.Replace(twice, "assert 1", "assert 2", 1)), ""},
		{"a method of another class", edited("test_a.py", py, py+"\n\nclass TestC:\n    def test_b(self):\n        b()\n"), ""},
		{"one of two", edited("test_a.py", "x = 1\n", "if x:\n    def test_b():\n        pass\nelse:\n    def test_b():\n        b()\n"), ""},
		{"Ruby: a method", edited("test/a_test.rb", "class A\n  def test_b\n  end\nend\n", "class A\n  def test_b\n  end\n\n  def test_b\n  end\nend\n"), "test_b"},
		{"Ruby: examples of one name both run", edited("spec/a_spec.rb", "it 'b' do\nend\n", "it 'b' do\nend\n\nit 'b' do\nend\n"), ""},
		{"JavaScript: tests of one name both run", edited("a.test.js", "it('b', f);\n", "it('b', f);\nit('b', g);\n"), ""},
	} {
		var got string
		for _, r := range Tests([]Change{c.c}) {
			if r.Kind == TestDeleted {
				got += r.Name
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}
