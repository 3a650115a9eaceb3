package pushpolicy

import (
	"fmt"
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

// A file of tests that a fix touches is named, whatever its lines say.
func TestAltered(t *testing.T) {
	const (
		js   = "import { add } from './add';\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n"
		py   = "from shop import b\n\n\ndef test_b():\n    assert b() == 1\n"
		java = "package shop;\n\nclass ATest {\n    @Test\n    void adds() {\n        assertEquals(3, add(1, 2));\n    }\n}\n"
		rust = "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(), ());\n    }\n}\n"
	)
	for _, c := range []struct{ rule, path, before, old, new, want string }{
		{"another value is expected", "test_b.py", py, "== 1", "== 2", "changed 5"},
		{"white space", "test_b.py", py, "\n\n\ndef", "\n\ndef", "changed 3"},
		{"the end of a text moves", "t/a.bats", "@test a {\n  cat <<EOF\nx\nEOF\n  false\n}\n", "EOF\n  f", "EOF \n  f", "changed 4"},
		{"a mark that skips is gone", "ATest.java", strings.Replace(java, "    void", "    @Disabled\n    void", 1), "    @Disabled\n", "", "changed 5"},
		{"a return", "a.test.js", js, "  expect", "  return;\n  expect", "changed 4"},
		{"a comment", "a.test.js", js, "  expect", "  // 1 and 2\n  expect", "changed 4"},
		{"an import", "test_b.py", py, "from", "import re\nfrom", "changed 1"},
		{"a list that runs when it is read", "test_b.py", py, "def", "[globals().update(b=lambda: 1)]\ndef", "changed 4"},
		{"a new test", "a.test.js", js, "});\n", "});\n\ntest('b', () => {\n  expect(b()).toBe(1);\n});\n", "changed 7"},
		{"a new test, and code behind it", "a.test.js", js, "test(", "it('b', () => {}); const expect = () => ({ toBe() {} });\ntest(", "changed 3"},
		{"a test among sources", "src/lib.rs", rust, "assert_eq!(add(), ())", "let _ = add()", "changed 9"},
		{"a new one among them", "src/lib.rs", rust, "    }\n}\n", "    }\n\n    #[test]\n    fn b() {}\n}\n", "changed 11"},
		{"the program above its tests", "src/lib.rs", rust, "add() {}", "add() {\n    assert!(true);\n}", ""},
		{"the program where a test is mentioned", "src/a.rs", "#[cfg(test)]\nuse x;\n\nfn a() {}\n", "{}", "{ b() }", ""},
		{"a helper of tests", "test/framework/expect.go", "package framework\n\nfunc Equal() { fail() }\n", " fail() ", "", "changed 3"},
		{"a script of tests", "tests/run.sh", "f\n", "f\n", "f || true\n", "changed 1"},
		{"a folder whose name has a word for tests", "e2e-tests/login.ts", "a();\n", "a()", "b()", "changed 1"},
		{"a source set of tests", "src/jvmTest/kotlin/Cart.kt", "a()\n", "a()", "b()", "changed 1"},
		{"Cypress", "cypress/integration/cart.js", "a();\n", "a()", "b()", "changed 1"},
		{"what tests expect", "Shop.Tests/Cart.Total.verified.txt", "1\n", "1", "2", "changed 0"},
		{"what tests are given", "src/__fixtures__/cart.json", "1\n", "1", "2", "changed 0"},
		{"a step of the program's tests", "features/steps/a.rb", "Then(/x/) do\n  f\nend\n", "  f\n", "", "changed 2"},
		{"a step below a folder", "backend/features/steps/login.py", "def step(c):\n    assert c.n\n", "assert c.n", "pass", "changed 2"},
		{"what runs before it", "web/features/env/environment.py", "x = 1\n", "1", "2", "changed 1"},
		{"steps of Cucumber", "app/features/step_definitions/login.rb", "Then(/x/) do\n  f\nend\n", "  f\n", "", "changed 2"},
		{"what they stand on", "app/features/support/env.rb", "a\n", "a", "b", "changed 1"},
		{"helpers of tests", "internal/testutil/check.go", "package testutil\n\nfunc Same() { f() }\n", " f() ", "", "changed 3"},
		{"a kit of theirs", "shop-testkit/cart.ts", "a();\n", "a()", "b()", "changed 1"},
		{"helpers in capitals", "src/TestHelpers/Cart.cs", "a();\n", "a()", "b()", "changed 1"},
		{"what is put in a module's place", "__mocks__/axios.js", "a();\n", "a()", "b()", "changed 1"},
		{"a folder of features that is the program's", "src/features/cart.ts", "a();\n", "a()", "b()", ""},
		{"a source of Java", "src/main/java/a/TestController.java", "class TestController {\n}\n", "{\n", "{\n    int a;\n", ""},
		{"words that only hold the letters", "contest/latest/attestation.go", "package a\n", "a", "b", ""},
		{"and others", "testimonials/testlibrary/protestkit/a.go", "package a\n", "a", "b", ""},
	} {
		got := ""
		for _, f := range altered(edited(c.path, c.before, strings.Replace(c.before, c.old, c.new, 1))) {
			got = strings.TrimSpace(fmt.Sprintf("%s %s %d", got, f.Kind, f.Line))
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
	if got := altered(add("src/lib.rs", strings.Split(rust, "\n")...)); len(got) != 1 || got[0].Kind != TestAdded {
		t.Errorf("a new source with tests: %v", got)
	}
	if got := altered(add("__mocks__/axios.js", "module.exports = {};")); len(got) != 1 || got[0].Kind != TestAdded {
		t.Errorf("a module that all tests get in place of another: %v", got)
	}
	unread := changed("src/lib.rs", one("    assert_eq!(add(), ());"), nil)
	if got := altered(unread); len(got) != 1 || got[0].Kind != TestChanged {
		t.Errorf("a source that was too large to be read: %v", got)
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
