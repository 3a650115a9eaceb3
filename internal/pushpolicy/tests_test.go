package pushpolicy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// changed is an edited file with lines taken out and put in.
func changed(path string, removed, added []string) Change {
	return Change{Path: path, Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Removed: lines(1, removed...), Added: lines(1, added...)}
}

func one(text ...string) []string { return text }

func TestTestsDeletedSkippedChanged(t *testing.T) {
	for _, c := range []struct {
		rule    string
		changes []Change
		want    []string // kind and name
	}{
		{"Go: a test function is gone", []Change{changed("a_test.go", one("func TestA(t *testing.T) {", "}"), nil)}, []string{"deleted TestA"}},
		{"Go: a method of a suite is gone", []Change{changed("a_test.go", one("func (s *Suite) TestA() {"), nil)}, []string{"deleted TestA"}},
		{"Go: a fuzz target is gone", []Change{changed("a_test.go", one("func FuzzA(f *testing.F) {"), nil)}, []string{"deleted FuzzA"}},
		{"Go: a test is commented out", []Change{changed("a_test.go", one("func TestA(t *testing.T) {"), one("// func TestA(t *testing.T) {"))}, []string{"deleted TestA"}},
		{"Go: a test with another name instead is another test", []Change{changed("a_test.go", one("func TestA(t *testing.T) {"), one("func TestB(t *testing.T) {"))}, []string{"deleted TestA"}},
		{"Go: a test moved to another file is there", []Change{changed("a_test.go", one("func TestA(t *testing.T) {"), nil), add("b_test.go", "func TestA(t *testing.T) {")}, []string{"changed", "added"}},
		{"Go: of two tests of one name one is there", []Change{changed("a_test.go", one("func TestA(t *testing.T) {"), nil), changed("b_test.go", one("func TestA(t *testing.T) {"), nil), add("c_test.go", "func TestA(t *testing.T) {")},
			[]string{"changed", "deleted TestA", "added"}},
		{"Go: a test file moved whole is there", []Change{remove("a_test.go", "func TestA(t *testing.T) {"), add("x/a_test.go", "func TestA(t *testing.T) {")}, []string{"changed", "added"}},
		{"Go: a test function outside of a test file is no test", []Change{changed("a.go", one("func TestA(t *testing.T) {"), nil)}, nil},
		{"Go: a helper of a test may go", []Change{changed("a_test.go", one("func helper() {"), nil)}, []string{"changed"}},
		{"Go: t.Skip", []Change{changed("a_test.go", nil, one(`	t.Skip("later")`))}, []string{"skipped"}},
		{"Go: SkipNow of a benchmark", []Change{changed("a_test.go", nil, one("b.SkipNow()"))}, []string{"skipped"}},
		{"Go: a build tag", []Change{changed("a_test.go", nil, one("//go:build ignore"))}, []string{"skipped"}},
		{"Go: a new file for one platform", []Change{add("a_unix_test.go", "//go:build unix", "func TestU(t *testing.T) {")}, []string{"added"}},
		{"Go: a test that moved into a file nobody builds", []Change{remove("a_test.go", "func TestA(t *testing.T) {"), add("b_test.go", "//go:build never", "func TestA(t *testing.T) {")}, []string{"changed", "skipped"}},
		{"Go: an exit with success", []Change{changed("a_test.go", nil, one("	os.Exit(0)"))}, []string{"skipped"}},
		{"Go: a skip that was there and moved", []Change{changed("a_test.go", one("	t.Skip()"), one("		t.Skip()"))}, []string{"changed"}},
		{"Go: a skip in a comment", []Change{changed("a_test.go", nil, one("// t.Skip() would be wrong"))}, []string{"changed"}},
		{"Go: a new test file that skips", []Change{add("a_test.go", "t.Skip()")}, []string{"skipped"}},
		{"Go: fewer assertions", []Change{changed("a_test.go", one("t.Fatal(err)", "t.Error(x)"), one("t.Fatal(err)"))}, []string{"changed"}},
		{"Go: another assertion instead", []Change{changed("a_test.go", one("t.Error(1)"), one("t.Error(2)"))}, []string{"changed"}},
		{"Go: an assertion that cannot fail", []Change{changed("a_test.go", one("assert.Equal(t, a, b)"), one("assert.True(t, true)"))}, []string{"changed"}},
		{"a test file under a name no runner collects", []Change{rename("a_test.go", "a_test.go.bak")}, []string{"deleted"}},
		{"a test file under another test's name", []Change{rename("a_test.go", "b_test.go")}, []string{"changed"}},
		{"a test file too large to compare is gone", []Change{{Path: "a_test.go", Status: 'D', OldMode: 0o100644, Binary: true}}, []string{"deleted"}},

		{"Python: a function is gone", []Change{changed("tests/test_a.py", one("    def test_a(self):"), nil)}, []string{"deleted test_a"}},
		{"Python: an async one is gone", []Change{changed("test_a.py", one("async def test_a():"), nil)}, []string{"deleted test_a"}},
		{"Python: a class is gone", []Change{changed("test_a.py", one("class TestA:"), nil)}, []string{"deleted TestA"}},
		{"Python: @pytest.mark.skip", []Change{changed("test_a.py", nil, one("@pytest.mark.skip(reason='x')"))}, []string{"skipped"}},
		{"Python: skipif", []Change{changed("test_a.py", nil, one("@pytest.mark.skipif(True, reason='x')"))}, []string{"skipped"}},
		{"Python: xfail", []Change{changed("test_a.py", nil, one("    @pytest.mark.xfail"))}, []string{"skipped"}},
		{"Python: unittest.skip", []Change{changed("test_a.py", nil, one("    @unittest.skipUnless(x, 'y')"))}, []string{"skipped"}},
		{"Python: skipTest", []Change{changed("test_a.py", nil, one("        self.skipTest('x')"))}, []string{"skipped"}},
		{"Python: conftest collects less", []Change{changed("conftest.py", nil, one("collect_ignore = ['test_a.py']"))}, []string{"skipped"}},
		{"Python: assert True", []Change{changed("test_a.py", one("    assert a == b"), one("    assert True"))}, []string{"changed"}},
		{"Python: fewer assertions", []Change{changed("test_a.py", one("    assert a == b"), one("    pass"))}, []string{"changed"}},

		{"JavaScript: it is gone", []Change{changed("a.test.js", one("  it('adds', () => {"), nil)}, []string{"deleted adds"}},
		{"TypeScript: test is gone", []Change{changed("src/a.spec.ts", one(`test("adds", async () => {`), nil)}, []string{"deleted adds"}},
		{"TypeScript: describe is gone", []Change{changed("src/__tests__/a.tsx", one("describe(`sums`, () => {"), nil)}, []string{"deleted sums"}},
		{"JavaScript: a table of tests is gone", []Change{changed("a.test.js", one("it.each([1])('n %d', () => {"), nil)}, []string{"deleted n %d"}},
		{"JavaScript: it.skip", []Change{changed("a.test.js", one("  it('adds', () => {"), one("  it.skip('adds', () => {"))}, []string{"skipped"}},
		{"JavaScript: xit", []Change{changed("a.test.js", one("it('adds', () => {"), one("xit('adds', () => {"))}, []string{"skipped"}},
		{"JavaScript: describe.skip", []Change{changed("a.test.js", nil, one("describe.skip('x', () => {"))}, []string{"skipped"}},
		{"JavaScript: only the others do not run", []Change{changed("a.test.js", one("it('a', f)"), one("it.only('a', f)"))}, []string{"skipped"}},
		{"JavaScript: todo", []Change{changed("a.test.js", nil, one("test.todo('a')"))}, []string{"skipped"}},
		{"JavaScript: this.skip()", []Change{changed("test/a.js", nil, one("    this.skip()"))}, []string{"skipped"}},
		{"JavaScript: exit and fitness are no fit", []Change{changed("a.test.js", nil, one("exit(1)", "benefit(x)"))}, []string{"changed"}},
		{"JavaScript: expect(true)", []Change{changed("a.test.js", one("expect(a).toBe(b)"), one("expect(true).toBe(true)"))}, []string{"changed"}},
		{"JavaScript: a snapshot", []Change{edit("src/__snapshots__/a.test.js.snap")}, []string{"changed"}},

		{"Java: a test is gone", []Change{changed("src/test/java/ATest.java", one("    @Test", "    public void adds() {", "    }"), nil)}, []string{"deleted adds"}},
		{"Java: a test lost its annotation", []Change{changed("src/test/java/ATest.java", one("    @Test"), nil)}, []string{"deleted "}},
		{"Java: another annotation instead", []Change{changed("ATest.java", one("    @Test"), one("    @Test(timeout = 5)"))}, []string{"changed"}},
		{"Kotlin: a test is gone", []Change{changed("src/test/kotlin/ATest.kt", one("    @Test", "    fun `adds two`() {"), nil)}, []string{"deleted adds two"}},
		{"Java: @Disabled", []Change{changed("ATest.java", nil, one(`    @Disabled("x")`))}, []string{"skipped"}},
		{"Java: @Ignore", []Change{changed("ATest.java", nil, one("    @Ignore"))}, []string{"skipped"}},
		{"Java: an assumption", []Change{changed("ATest.java", nil, one("        assumeTrue(false);"))}, []string{"skipped"}},
		{"Java: enabled = false", []Change{changed("ATest.java", one("@Test"), one("@Test(enabled = false)"))}, []string{"skipped"}},
		{"Java: fewer assertions", []Change{changed("ATest.java", one("assertEquals(1, f());", "verify(m).x();"), one("verify(m).x();"))}, []string{"changed"}},

		{"Ruby: an example is gone", []Change{changed("spec/a_spec.rb", one("  it 'adds' do"), nil)}, []string{"deleted adds"}},
		{"Ruby: a test method is gone", []Change{changed("test/a_test.rb", one("  def test_adds"), nil)}, []string{"deleted test_adds"}},
		{"Ruby: xit", []Change{changed("spec/a_spec.rb", one("  it 'adds' do"), one("  xit 'adds' do"))}, []string{"skipped"}},
		{"Ruby: skip", []Change{changed("test/a_test.rb", nil, one("    skip 'later'"))}, []string{"skipped"}},
		{"Ruby: pending", []Change{changed("spec/a_spec.rb", nil, one("    pending"))}, []string{"skipped"}},
		{"Ruby: a symbol skips", []Change{changed("spec/a_spec.rb", one("  it 'adds' do"), one("  it 'adds', :skip do"))}, []string{"skipped"}},

		{"Rust: a test is gone", []Change{changed("src/lib.rs", one("    #[test]", "    fn adds() {"), nil)}, []string{"deleted adds"}},
		{"Rust: a test lost its attribute", []Change{changed("src/lib.rs", one("    #[test]"), nil)}, []string{"deleted "}},
		{"Rust: an async test is gone", []Change{changed("tests/a.rs", one("#[tokio::test]", "async fn adds() {"), nil)}, []string{"deleted adds"}},
		{"Rust: a test moved", []Change{changed("src/a.rs", one("#[test]", "fn adds() {"), nil), changed("src/b.rs", nil, one("    #[test]", "    fn adds() {"))}, []string{"changed", "changed"}},
		{"Rust: #[ignore]", []Change{changed("src/lib.rs", nil, one("    #[ignore]"))}, []string{"skipped"}},
		{"Rust: #[ignore = \"\"]", []Change{changed("src/lib.rs", nil, one(`    #[ignore = "slow"]`))}, []string{"skipped"}},
		{"Rust: #[cfg(any())]", []Change{changed("tests/a.rs", nil, one("#[cfg(any())]"))}, []string{"skipped"}},
		{"Rust: fewer assertions", []Change{changed("tests/a.rs", one("assert_eq!(a, b);"), nil)}, []string{"changed"}},

		{"C#: a fact is gone", []Change{changed("tests/ATests.cs", one("    [Fact]", "    public async Task Adds()"), nil)}, []string{"deleted Adds"}},
		{"C#: a test method is gone", []Change{changed("ATest.cs", one("[TestMethod]", "public void Adds()"), nil)}, []string{"deleted Adds"}},
		{"C#: several cases are one test", []Change{changed("ATests.cs", one("[TestCase(1)]", "[TestCase(2)]", "public void Adds(int n)"), nil)}, []string{"deleted Adds"}},
		{"C#: Skip =", []Change{changed("ATests.cs", one("[Fact]"), one(`[Fact(Skip = "x")]`))}, []string{"skipped"}},
		{"C#: [Ignore]", []Change{changed("ATests.cs", nil, one("    [Ignore]"))}, []string{"skipped"}},
		{"C#: Assert.Inconclusive", []Change{changed("ATests.cs", nil, one("        Assert.Inconclusive();"))}, []string{"skipped"}},
		{"C#: compiled out", []Change{changed("ATests.cs", nil, one("#if SLOW"))}, []string{"skipped"}},

		{"PHP: a method is gone", []Change{changed("tests/ATest.php", one("    public function testAdds(): void"), nil)}, []string{"deleted testAdds"}},
		{"PHP: a test by annotation is gone", []Change{changed("tests/ATest.php", one("    /** @test */", "    public function adds()"), nil)}, []string{"deleted adds"}},
		{"PHP: an attribute is gone", []Change{changed("tests/ATest.php", one("    #[Test]", "    public function adds()"), nil)}, []string{"deleted adds"}},
		{"PHP: a closure is gone", []Change{changed("tests/A.php", one("it('adds', function () {"), nil)}, []string{"deleted adds"}},
		{"PHP: markTestSkipped", []Change{changed("tests/ATest.php", nil, one("        $this->markTestSkipped('x');"))}, []string{"skipped"}},
		{"PHP: ->skip()", []Change{changed("tests/A.php", nil, one("})->skip();"))}, []string{"skipped"}},

		{"what only reads like a skip is none", []Change{
			changed("a_test.go", nil, one("cursor.Skip(10)", "rest := b[n:]")),
			changed("a.test.ts", nil, one("const rule = { ignore: 'x', only: ids }", "list.skip(2)")),
			changed("src/test/kotlin/ATest.kt", nil, one("    feature.enabled = false")),
			changed("spec/a_spec.rb", nil, one("    create(:order, status: :pending)", "    notify 'x'", "    pending_orders.each")),
			changed("src/lib.rs", one("    panic!()"), one("#[cfg(not(test))]", "    #[should_panic]")),
			changed("ATests.cs", nil, one("        var page = new Page { Skip = 10 };")),
			changed("tests/ATest.php", nil, one("        $x = $request", "            ->only(['a'])", "            ->skip(10);")),
		}, []string{"changed", "changed", "changed", "changed", "changed", "changed", "changed"}},
		{"Go: a suite skips", []Change{changed("a_test.go", nil, one(`	s.T().Skip()`))}, []string{"skipped"}},
		{"JavaScript: node's own runner", []Change{changed("a.test.mjs", nil, one("test('a', { skip: 'later' }, f)"))}, []string{"skipped"}},
		{"a runner's settings", []Change{edit("pytest.ini")}, []string{"changed"}},
		{"Python: a test file under a name nobody collects", []Change{rename("tests/test_a.py", "tests/a.py")}, []string{"deleted"}},
		{"Python: a test moved into a file nobody collects", []Change{remove("tests/test_a.py", "def test_a():"), add("tests/a.py", "def test_a():")}, []string{"deleted", "added"}},
		{"Python: a test in a folder pytest passes over", []Change{rename("tests/test_a.py", "tests/build/test_a.py")}, []string{"deleted"}},
		{"Python: a test in GNU Arch's folder, which it passes over", []Change{rename("tests/test_a.py", "tests/{arch}/test_a.py")}, []string{"deleted"}},
		{"Python: a test out of the folder of tests", []Change{rename("tests/test_a.py", "src/test_a.py")}, []string{"deleted"}},
		{"Python: a test further down", []Change{rename("tests/test_a.py", "tests/unit/test_a.py")}, []string{"changed"}},
		{"Python: a hook of pytest", []Change{add("conftest.py", "def pytest_collection_modifyitems(items):", "    items.clear()")}, []string{"skipped", "skipped"}},
		{"Python: a result that is set", []Change{changed("conftest.py", nil, one("    session.exitstatus = 0"))}, []string{"skipped"}},
		{"Python: any change of conftest.py is named", []Change{changed("tests/conftest.py", nil, one("x = 1"))}, []string{"changed"}},
		{"Python: a list that is called items", []Change{{Path: "tests/test_a.py", Status: 'A', NewMode: 0o100644, Size: 1, Added: lines(1, "def test_a():", "    items.remove(1)", "    del items[0]"), Content: []string{"def test_a():", "    items.remove(1)", "    del items[0]"}}}, []string{"added"}},
		{"Python: in a hook that was there", []Change{{Path: "conftest.py", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Added: lines(2, "    items.clear()"), Content: []string{"def pytest_collection_modifyitems(items):", "    items.clear()"}}}, []string{"skipped"}},
		{"Python: a hook that is imported", []Change{add("tests/__init__.py", "from helpers import load_tests")}, []string{"skipped"}},
		{"JavaScript: options of the program", []Change{add("a.test.js", "test('x', () => {", "  render({ todo: 'Buy milk' })", "  expect(page({ skip: true, only: true })).toEqual(reducer({}, pending('a')))", "})")}, []string{"added"}},
		{"JavaScript: what the program ignores", []Change{add("a.test.js", "test('x', () => {", "  expect(glob({", "    ignore: '**/*.md',", "  }))", "})")}, []string{"added"}},
		{"JavaScript: an option of a test", []Change{add("a.test.js", "test('x', { skip: true }, () => {", "})")}, []string{"skipped"}},
		{"JavaScript: an option of a test, on a line of its own", []Change{add("a.test.js", "Deno.test({", "  ignore: true,", "})")}, []string{"skipped"}},
		{"JavaScript: the file that node takes for a test by its name", []Change{remove("test.js", "f()")}, []string{"deleted"}},
		{"Python: a list of the test's own", []Change{changed("tests/test_a.py", nil, one("    cart.items.clear()", "    assert r.exitstatus == 0"))}, []string{"changed"}},
		{"Go: a test file for another system", []Change{rename("a_test.go", "a_windows_test.go")}, []string{"deleted"}},
		{"Go: a test moved into a file for another processor", []Change{remove("a_test.go", "func TestA(t *testing.T) {"), add("a_s390x_test.go", "func TestA(t *testing.T) {")}, []string{"deleted", "added"}},
		{"Go: a test file for the same system", []Change{rename("a_windows_test.go", "b_windows_test.go")}, []string{"changed"}},
		{"Go: a test file that runs everywhere now", []Change{rename("a_windows_test.go", "a_test.go")}, []string{"changed"}},
		{"Go: a file named after a system alone is for all", []Change{rename("a_test.go", "windows_test.go")}, []string{"changed"}},
		{"Go: a name that go test passes over", []Change{rename("a_test.go", "_a_test.go")}, []string{"deleted"}},
		{"Go: a folder that go test passes over", []Change{rename("a_test.go", "_x/a_test.go")}, []string{"deleted"}},
		{"Go: test data", []Change{rename("a_test.go", "testdata/a_test.go")}, []string{"deleted"}},
		{"Go: a TestMain", []Change{add("main_test.go", "func TestMain(m *testing.M) {", "}")}, []string{"skipped"}},
		{"Go: a TestMain that runs nothing any more", []Change{changed("main_test.go", one("	os.Exit(m.Run())"), one("	setup()"))}, []string{"skipped"}},
		{"Go: a TestMain that does more", []Change{changed("main_test.go", one("	os.Exit(m.Run())"), one("	code := m.Run()", "	os.Exit(code)"))}, []string{"changed"}},
		{"JavaScript: test/x.test.js", []Change{rename("test/x.test.js", "test/x.js")}, []string{"deleted"}},
		{"JavaScript: another runner's name", []Change{rename("src/x.test.js", "src/x.cy.js")}, []string{"deleted"}},
		{"JavaScript: a file mocha collects by its folder", []Change{rename("test/x.js", "test/y.js")}, []string{"changed"}},
		{"JavaScript: further down mocha collects nothing", []Change{rename("test/x.js", "test/z/x.js")}, []string{"deleted"}},
		{"JavaScript: an exit", []Change{changed("test/x.test.js", nil, one("process.exit(0)"))}, []string{"skipped"}},
		{"JavaScript: tests that are nothing", []Change{changed("x.test.js", nil, one("const it = () => {}"))}, []string{"skipped"}},
		{"JavaScript: a test that comes from elsewhere", []Change{changed("x.test.js", nil, one("const test = require('tape')"))}, []string{"changed"}},
		{"Ruby: spec/a.rb", []Change{rename("spec/a_spec.rb", "spec/a.rb")}, []string{"deleted"}},
		{"PHP: tests/A.php", []Change{rename("tests/ATest.php", "tests/A.php")}, []string{"deleted"}},
		{"Java: among the sources", []Change{rename("src/test/java/ATest.java", "src/main/java/ATest.java")}, []string{"deleted"}},
		{"Java: a name surefire passes over", []Change{rename("src/test/java/ATest.java", "src/test/java/A.java")}, []string{"deleted"}},
		{"Java: another name surefire collects", []Change{rename("src/test/java/ATest.java", "src/test/java/x/TestA.java")}, []string{"changed"}},
		{"Rust: a module of tests is gone", []Change{changed("src/lib.rs", one("#[cfg(test)]", "mod tests;"), nil)}, []string{"deleted tests"}},
		{"Rust: tests built for a feature alone", []Change{changed("src/lib.rs", one("#[cfg(test)]"), one(`#[cfg(all(test, feature = "x"))]`))}, []string{"deleted ", "skipped"}},
		{"Rust: a file of tests not built", []Change{changed("tests/a.rs", nil, one("#![cfg(windows)]"))}, []string{"skipped"}},
		{"Rust: a new file of tests for a feature", []Change{add("tests/b.rs", "#![cfg(unix)]")}, []string{"added"}},
		{"Rust: a test where cargo collects none", []Change{rename("tests/a.rs", "tests/x/a.rs")}, []string{"deleted"}},
		{"Bats: a file is gone", []Change{remove("tests/a.bats", `@test "a" {`)}, []string{"deleted"}},
		{"Bats: a test is gone", []Change{changed("tests/a.bats", one(`@test "a" {`), nil)}, []string{"deleted a"}},
		{"C++: a file is gone", []Change{remove("src/a_test.cc", "TEST(A, B) {")}, []string{"deleted"}},
		{"C++: a test is gone", []Change{changed("src/a_test.cc", one("TEST(A, B) {"), nil)}, []string{"deleted A, B"}},
		{"Swift: a file is gone", []Change{remove("Tests/ATests.swift", "func testA() {")}, []string{"deleted"}},
		{"Elixir: a file is gone", []Change{remove("test/a_test.exs", `test "a" do`)}, []string{"deleted"}},
		{"Dart: a file is gone", []Change{remove("test/a_test.dart", "test('a', () {")}, []string{"deleted"}},
		{"Gherkin: a file is gone", []Change{remove("features/a.feature", "Scenario: a")}, []string{"deleted"}},
		{"Robot: a file is gone", []Change{remove("acceptance/a.robot", "a")}, []string{"deleted"}},
		{"JavaScript: a test that Cypress runs, where Jest alone looks", []Change{rename("cypress/integration/a.js", "src/__tests__/a.js")}, []string{"deleted"}},
		{"a script is gone from a folder of tests", []Change{remove("tests/run.sh", "x")}, []string{"deleted"}},
		{"a file of tests in another language under no such name", []Change{rename("src/ATest.hs", "src/A.hs")}, []string{"deleted"}},
		{"a file of tests is empty", []Change{{Path: "tests/run.sh", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Removed: lines(1, "x")}}, []string{"deleted"}},
		{"lines of a test in another language are named", []Change{changed("tests/run.sh", one("x"), one("y"))}, []string{"changed"}},
		{"a document about tests may go", []Change{remove("docs/test-plan.md", "x")}, nil},
		{"a script in a folder of tests, below one that may hold data", []Change{remove("tests/expected/run.sh", "x")}, []string{"deleted"}},
		{"data of tests is named", []Change{remove("tests/fixtures/a.json", "x")}, []string{"changed"}},
		{"the setup of a runner is named", []Change{edit("spec/spec_helper.rb"), edit("tests/bootstrap.php"), edit("src/setupTests.ts")}, []string{"changed", "changed", "changed"}},
		{"a recorded output", []Change{edit("internal/x/testdata/a.golden")}, []string{"changed"}},
		{"a new recorded output", []Change{add("internal/x/testdata/a.golden", "x")}, []string{"added"}},
		{"a block comment begins in a test", []Change{changed("a_test.go", nil, one("/*", "*/"))}, []string{"changed"}},
		{"Python: load_tests", []Change{changed("tests/test_a.py", nil, one("def load_tests(loader, tests, pattern):"))}, []string{"skipped"}},
		{"Python: load_tests of a package of sources", []Change{changed("stock/__init__.py", nil, one("def load_tests(*args):"))}, []string{"skipped"}},
		{"Python: tests that do not run themselves", []Change{changed("tests/test_a.py", nil, one("unittest.TestCase.run = lambda self, result=None: None", "    def run(self, result=None):", "setattr(unittest.TestCase, 'run', f)"))}, []string{"skipped", "skipped", "skipped"}},
		{"Python: a result that is always well", []Change{changed("tests/test_a.py", nil, one("    def wasSuccessful(self):", "        self._outcome.success = True", "sys.exit(0)"))}, []string{"skipped", "skipped", "skipped"}},
		{"Python: what tests honestly do", []Change{changed("tests/test_a.py", nil, one("unittest.TestCase.maxDiff = None", "    suite = unittest.TestSuite()", "    def run(self, args):", "    sys.argv = ['shop', '-q']",
			"        sys.exit(0)", "    sys.exit(main())", "    loaded = unittest.defaultTestLoader", "    assert TestResult.objects == []"))}, []string{"changed"}},
		{"Go: a flag of the runner", []Change{changed("a_test.go", nil, one(`	flag.Set("test.run", "^$")`, `	flag.Lookup("test.skip").Value.Set(".")`, `	os.Args = append(os.Args, "-test.run=^$")`))}, []string{"skipped", "skipped", "skipped"}},
		{"Go: a flag of the runner by another name", []Change{add("a_test.go", "func init() {", "	testing.Init()", "	_ = flag.CommandLine.Set(name, value)", `	flag.Set("verbose", "1")`)}, []string{"skipped", "skipped"}},
		{"Go: a runner of its own", []Change{changed("a_test.go", nil, one("	testing.Main(match, nil, nil, nil)", "	syscall.Exit(0)"))}, []string{"skipped", "skipped"}},
		{"Go: what tests honestly do", []Change{changed("a_test.go", nil, one(`	os.Args = []string{"shop", "-q"}`, `	cmd := exec.Command(os.Args[0], "-test.run=TestHelper")`, `	flag.Set("v", "2")`, `	verbose := flag.Lookup("test.v") != nil`, "	os.Exit(1)"))}, []string{"changed"}},
		{"Go: success in another spelling", []Change{add("a_test.go", "	os.Exit(0x0)", "	os.Exit(00)", "	os.Exit(int(0))", "	syscall.Exit(0x0)")}, []string{"skipped", "skipped", "skipped", "skipped"}},
		{"Go: a stub that is put back", []Change{add("a_test.go", "	defer func() { osExit = os.Exit }()")}, []string{"added"}},
		{"Python: an exit with a failure, and stubs", []Change{add("test_a.py", "    os._exit(1)", `    with mock.patch("tool.os.execv") as execv:`, "    @patch('os._exit')")}, []string{"added"}},
		{"Python: an exit of the runner", []Change{add("test_a.py", "    pytest.exit('x', returncode=0)", "    os._exit(0)", "    f = os._exit")}, []string{"skipped", "skipped", "skipped"}},
		{"Go: an exit by another name", []Change{add("a_test.go", "var bye = syscall.Exit", "	f := os.Exit; f(0)", "	run(os.Exit, 0)", "	f := os.Exit // as it was", `	syscall.Exec("/bin/true", nil, nil)`)}, []string{"skipped", "skipped", "skipped", "skipped", "skipped"}},
		{"Python: an exit by another name", []Change{changed("tests/test_a.py", nil, one("from os import _exit as bye", "bye = os._exit", "os.execv('/bin/true', ['true'])", "raise SystemExit(0)", "raise SystemExit"))}, []string{"skipped", "skipped", "skipped", "skipped", "skipped"}},
		{"Python: exits that are looked at", []Change{changed("tests/test_a.py", nil, one("    with pytest.raises(SystemExit):", "    raise SystemExit(main())", "    raise SystemExit(1)", "from os import path"))}, []string{"changed"}},
		{"JavaScript: an exit by another name", []Change{changed("a.test.js", nil, one("const { exit } = process", "const { argv, exit: bye } = process;", "Deno.exit(0)"))}, []string{"skipped", "skipped", "skipped"}},
		{"JavaScript: an exit that is put back", []Change{changed("a.test.js", nil, one("const real = process.exit", "process.exit = real", "const { argv } = process", "Deno.exit(1)"))}, []string{"changed"}},
		{"JavaScript: globals that are nothing", []Change{changed("a.test.js", nil, one("globalThis.it = () => {};", "global['describe'] = f", "window.test = async () => {}", "it = noop", "Object.defineProperty(globalThis, 'it', {})",
			"Mocha.Test.prototype.run = f", "jasmine.getEnv().configure({ specFilter: () => false })"))}, []string{"skipped", "skipped", "skipped", "skipped", "skipped", "skipped", "skipped"}},
		{"JavaScript: what tests honestly do", []Change{changed("a.test.js", nil, one("global.fetch = jest.fn()", "global.expect = chai.expect", "window.context = canvas.getContext('2d')", "test = await make()", "process.exit = jest.fn()",
			"if (global.it === undefined) {", "it('a', () => {"))}, []string{"changed"}},
		{"Java: a filter of tests", []Change{add("src/test/java/Filter.java", "public class Filter implements PostDiscoveryFilter {", `  return FilterResult.excluded("");`)}, []string{"skipped", "skipped"}},
		{"Kotlin: an interceptor of tests", []Change{add("src/test/kotlin/F.kt", "class F : InvocationInterceptor {", "exitProcess(0)")}, []string{"skipped", "skipped"}},
		{"Java: what tests honestly do", []Change{changed("ATest.java", nil, one("class Clock implements BeforeEachCallback, TestRule {", "    var c = new ExecutionCondition(1);", "    System.exit(1);", "import com.shop.ExecutionCondition;"))}, []string{"changed"}},
		{"Ruby: what minitest runs", []Change{changed("test/a_test.rb", nil, one("  def self.runnable_methods; []; end", "Minitest::Runnable.runnables.clear", "at_exit { exit! 0 }", "exit", "  exit!(true)"))},
			[]string{"skipped", "skipped", "skipped", "skipped", "skipped"}},
		{"Ruby: what RSpec runs", []Change{changed("spec/spec_helper.rb", nil, one("  config.failure_exit_code = 0", "RSpec.world.example_groups.clear"))}, []string{"skipped", "skipped"}},
		{"Ruby: what tests honestly do", []Change{changed("test/a_test.rb", nil, one("    exit 1", "    exited = true", "    run = runner.run", "    exit!(1)", "    result.exit_code = 0"))}, []string{"changed"}},
		{"Rust: what runs before the tests", []Change{changed("src/lib.rs", nil, one("#[ctor::ctor]", "#[unsafe(ctor)]", `    #[link_section = ".init_array"]`, "#![feature(custom_test_frameworks)]"))}, []string{"skipped", "skipped", "skipped", "skipped"}},
		{"Rust: an exit from the tests", []Change{changed("tests/a.rs", nil, one("    std::process::exit(0);"))}, []string{"skipped"}},
		{"Rust: an exit of the program", []Change{changed("src/main.rs", nil, one("    std::process::exit(0);", "    ctor: Constructor,"))}, []string{"changed"}},
		{"C#: what runs instead of tests", []Change{changed("ATests.cs", nil, one("        Environment.Exit(0);", `[assembly: TestFramework("X", "Y")]`, "public class A : Attribute, IApplyToTest"))}, []string{"skipped", "skipped", "skipped"}},
		{"PHP: what runs instead of tests", []Change{changed("tests/ATest.php", nil, one("exit;", "        die(0);", "    protected function runTest(): mixed"))}, []string{"skipped", "skipped", "skipped"}},
		{"PHP: what tests honestly do", []Change{changed("tests/ATest.php", nil, one("        exit(1);", "        $exit = 0;", "        $this->run('x');"))}, []string{"changed"}},
		{"PHP: an exit of the program", []Change{changed("src/features/cart.php", nil, one("        exit;")), changed("src/cart.php", nil, one("        exit;"))}, nil},
		{"C++: a filter of tests", []Change{changed("src/a_test.cc", nil, one(`  testing::GTEST_FLAG(filter) = "-*";`, "__attribute__((constructor)) void f() {"))}, []string{"skipped", "skipped"}},
		{"Swift: no tests", []Change{changed("Tests/ATests.swift", nil, one("    override class var defaultTestSuite: XCTestSuite {", "        exit(0)"))}, []string{"skipped", "skipped"}},
		{"Elixir: an end that is well", []Change{changed("test/a_test.exs", nil, one("    :erlang.halt(0)", "ExUnit.configure(include: [x: 1], only_test_ids: [])"))}, []string{"skipped", "skipped"}},
		{"Bats: a runner that runs nothing", []Change{changed("tests/a.bats", nil, one("bats_test_function() {", "  exit"))}, []string{"skipped", "skipped"}},
		{"Perl: an exit, and a plan without tests", []Change{changed("t/a.t", nil, one("exit 0;", "if ($x) { exit }", "plan skip_all => 'later';", "POSIX::_exit(0);"))}, []string{"skipped", "skipped", "skipped", "skipped"}},
		{"Perl: what tests honestly do", []Change{changed("t/a.t", nil, one("  exit 1;", "is $exit, 0;", "my $exit = 0;"))}, []string{"changed"}},
		{"Go: a scanner that skips, in a new file", []Change{add("a_test.go", "func TestA(t *testing.T) {", "	s.Skip(3)", "	if err := s.Skip(3); err != nil {")}, []string{"added"}},
		{"Go: a skip that ends with success", []Change{add("a_test.go", "	s.Skip(3); os.Exit(0)", "	t.Skip(3)", "	s.Skip(n)")}, []string{"skipped", "skipped", "skipped"}},
		{"Go: a number in an old file", []Change{changed("a_test.go", nil, one("	s.Skip(3)"))}, []string{"skipped"}},
		{"a part of a new file for one platform", []Change{add("tests/test_a.c", "#ifdef _WIN32", "#  if defined(X)"), add("Tests/ATests.swift", "#if canImport(UIKit)"), add("ATests.cs", "#if NET8_0")}, []string{"added", "added", "added"}},
		{"a part of an old file", []Change{changed("tests/test_a.c", nil, one("#if 0")), changed("Tests/ATests.swift", nil, one("#if os(Linux)"))}, []string{"skipped", "skipped"}},
		{"C: a test that moved into a part that nobody builds", []Change{remove("tests/test_a.c", "TEST(A, B) {"), add("tests/test_b.c", "#if 0", "TEST(A, B) {")}, []string{"changed", "skipped"}},
		{"JavaScript: a line of an object", []Change{add("a.test.js", "  add({", "    todo: 'Buy milk',", "  })")}, []string{"added"}},
		{"JavaScript: one in an old file, and options", []Change{changed("a.test.js", nil, one("    todo: 'Buy milk',")), add("b.test.js", "test('x', { todo: 'later' }, f)", "  todo: true,")}, []string{"skipped", "skipped", "skipped"}},
		{"Dart: how many are passed over", []Change{add("test/a_test.dart", "  expect(list.skip(3), page(skip: 3));", "    skip: 12,")}, []string{"added"}},
		{"Dart: a condition that begins with a number", []Change{add("test/a_test.dart", "    skip: 0 == 0,", "    skip: 0", "    skip: 'slow',", "    skip: !fast,")}, []string{"skipped", "skipped", "skipped", "skipped"}},
		{"Elixir: what a query leaves out", []Change{add("test/a_test.exs", "  use ExUnit.Case, async: true", "    assert Repo.all(q, exclude: [:id])"), changed("test/b_test.exs", nil, one("x"))}, []string{"added", "changed"}},
		{"Elixir: what the runner leaves out", []Change{add("test/a_test.exs", "ExUnit.configure(", "  exclude: [:slow]"), add("test/b_test.exs", "alias ExUnit, as: E", "E.configure(exclude: [:slow])"), add("test/c_test.exs", "ExUnit.", "  start(exclude: :a)"), changed("test/d_test.exs", nil, one("  exclude: [:slow]"))},
			[]string{"skipped", "skipped", "skipped", "skipped"}},
		{"Elixir: an old file that does not speak to the runner", []Change{{Path: "test/a_test.exs", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Added: lines(2, "  f(exclude: [:id])"), Content: one("  use ExUnit.Case", "  f(exclude: [:id])")}}, []string{"changed"}},
		{"Python: a list that is called items, in a new file", []Change{add("tests/test_a.py", "import pytest", "def test_a():", "    items.remove(1)")}, []string{"added"}},
		{"Python: the list of the runner, in a new file", []Change{add("tests/test_a.py", "def test_a(request):", "    items = request.session.items", "    items.clear()")}, []string{"skipped"}},
		{"code that is no test may skip", []Change{changed("src/queue.py", nil, one("    self.skip(1)"))}, nil},
	} {
		var got []string
		for _, f := range Tests(c.changes) {
			s := string(f.Kind)
			if f.Kind == TestDeleted && f.Line > 0 {
				s += " " + f.Name
			}
			got = append(got, s)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestTestChangesSayWhere(t *testing.T) {
	got := fmt.Sprint(Tests([]Change{changed("a_test.go", one("x", "func TestA(t *testing.T) {"), one("y", "z", "\tt.Skip()"))}))
	if want := "[a test is gone: `TestA` (line 2) a test does not run any more: `t.Skip(` (line 3)]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What is said of a change is masked later: it holds no beginning of a value, which nobody would know for a secret (threats.md T793).
func TestTestChangesQuoteNoValue(t *testing.T) {
	for line, want := range map[string]string{
		"it.skip('counts all', () => count(connect('postgres://app:q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3x@db.corp.io/x')))": "[a test does not run any more: `it.skip` (line 2)]",
		"os.Args = f(\"" + strings.Repeat("q7Rz2Lm9Xc", 9) + "\", \"-test.run=A\")":                           "[it decides which tests run, or how they end (line 2)]",
	} {
		path := "db.test.js"
		if strings.HasPrefix(line, "os.") {
			path = "db_test.go"
		}
		if got := fmt.Sprint(Tests([]Change{changed(path, nil, one("x", line))})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// That a test has the name of one that is gone does not say that it is the same, nor that it runs (threats.md T713).
func TestWhatIsSaidOfMovedTests(t *testing.T) {
	gone := remove("a_test.go", "func TestA(t *testing.T) {", "func TestB(t *testing.T) {")
	moved := Change{OldPath: "a_test.go", Path: "b_test.go", Status: 'R', OldMode: 0o100644, NewMode: 0o100644}
	edited := moved
	edited.Added = lines(1, "x")
	for want, changes := range map[string][]Change{
		"the test file is gone; tests of its names are added in `b_test.go`":            {gone, changed("b_test.go", nil, one("/*", "func TestA(t *testing.T) {", "func TestB(t *testing.T) {", "*/"))},
		"the test file is gone; tests of its names are added in `b_test.go` and 1 more": {gone, add("c_test.go", "func TestA(t *testing.T) {"), add("b_test.go", "func TestB(t *testing.T) {")},
		"an existing test file was moved":                                               {moved},
		"an existing test file was moved and changed":                                   {edited},
	} {
		if got := Tests(changes)[0]; got.Kind != TestChanged || got.String() != want {
			t.Errorf("%s: %q, want %q", got.Kind, got, want)
		}
	}
}

// Tests in sources of languages without an entry are tests as well: one fewer is refused, and what is beside them is named (threats.md T830).
func TestTestsInSourcesOfAnyLanguage(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"src/a.zig", `test "adds" {`}, {"src/a.zig", "test add {"}, {"src/a.zig", "test {"}, {"lib/a.ml", `let%test "adds" = add 1 1 = 2`}, {"lib/a.ml", "  let%expect_test _ ="}, {"a.rkt", "(module+ test"},
		{"src/a.d", "unittest {"}, {"src/a.d", "@safe pure unittest"}, {"src/a.clj", "(deftest adds"}, {"lib/a.ex", "      iex> add(1, 1)"}, {"src/A.hs", "-- >>> add 1 1"}, {"src/a.jl", `@testset "adds" begin`},
		{"sources/a.move", "    #[test]"}, {"spec/a.lua", `  it("adds", function()`}, {"tests/A.elm", `        , test "adds" <|`}, {"a.el", "(ert-deftest adds ()"}, {"a.odin", "@(test)"},
	} {
		if got := Tests([]Change{changed(c.name, one(c.line, "x"), one("x"))}); len(got) != 1 || got[0].Kind != TestDeleted {
			t.Errorf("%s: %q is gone: %v", c.name, c.line, got)
		}
		moved := Change{Path: c.name, Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Removed: lines(2, "old"), Added: lines(2, "new"), Content: []string{c.line, "new"}}
		if got := Tests([]Change{moved}); len(got) != 1 || got[0].Kind != TestChanged {
			t.Errorf("%s: beside %q: %v", c.name, c.line, got)
		}
	}
	for _, c := range []struct{ name, line string }{
		{"src/a.zig", "    return testing;"}, {"src/a.lua", "test(x)"}, {"api.graphql", "  test {"}, {"site.css", "test {"}, {"run.sh", `test "$a" = b`}, {"src/a.d", "int unittests;"}, {"a.pl", "print $x >> 3;"}, {"README.md", ">>> add(1)"},
		{"src/a.py", ">>> add(1)"},
	} {
		c := Change{Path: c.name, Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 1, Removed: lines(1, c.line), Added: lines(1, "x"), Content: []string{"x"}}
		if got := Tests([]Change{c}); len(got) != 0 {
			t.Errorf("%s: %v", c.Path, got)
		}
	}
	if got := Tests([]Change{changed("src/a.zig", nil, one("    return error.SkipZigTest;"))}); len(got) != 1 || got[0].Kind != TestSkipped {
		t.Errorf("a test of Zig is skipped: %v", got)
	}
}

// What keeps a test from running does so with blanks, comments and longer spellings too, and behind a semicolon (threats.md T831).
func TestSkipsHoweverTheyAreSpelled(t *testing.T) {
	for name, lines := range map[string][]string{
		"a_test.go":       {"func  TestMain(m *testing.M) {}", "/**/func TestMain(m *testing.M) {", "var _ = 0; func TestMain(m *testing.M) {", "\tt. Skip()", "\tt.Skip ()", "\tos.Exit( 0 )", "\tt /* x */ . Skip()"},
		"tests/test_a.py": {"@pytest.mark. skip", "    pytest.skip ('x')", "    os. _exit(0)", "    __test__: bool = False", "pytestmark: list = [pytest.param]", "import os; os._exit(0)", "import sys; sys.exit(0)", "@pytest.mark.ſkip", "    pytest.ｓｋｉｐ('x')"},
		"a.test.js":       {"it .skip('x')", "it['skip']('x', f)", "it?.skip('x')", "describe . only('x')", "f(); xit('x', f)", "const test: any = () => {}", `it.sk\u0069p('x')`, `it['sk\u{69}p']('x')`, `\u0078it('x', f)`},
		"ATest.java":      {"    @ Disabled", "    @ Test(enabled = false)", "    @org.junit.jupiter.api. Disabled", "@org.junit.jupiter.api.Disabled"},
		"src/lib.rs":      {"    #[ ignore ]", "# [ignore]", "#[cfg (any())]"},
		"test/a_test.rb":  {"    self.skip 'x'", "  a; skip"},
	} {
		for _, line := range lines {
			if got := Tests([]Change{changed(name, nil, one(line))}); len(got) != 1 || got[0].Kind != TestSkipped {
				t.Errorf("%s: %q: %v", name, line, got)
			}
		}
	}
	for name, lines := range map[string][]string{
		"a_test.go":       {"\tfor i := 0; i < 3; i++ {", "\tcursor . Skip( 10 )", "\tos.Exit( 1 )"},
		"tests/test_a.py": {"    import sys; sys.exit(0)", "    def run(self): skipped: bool = True", "    self.exit(0)"},
		"a.test.js":       {"list['skip'](2)", "a?.skip(2)", "glob(['**/*.js', 'a/**/b.js'])", "const test = setup(); f()", `expect('\u0073kip').toBe(1)`},
		"test/a_test.rb":  {"    self.pending = true"},
	} {
		for _, line := range lines {
			if got := Tests([]Change{changed(name, nil, one(line))}); len(got) != 1 || got[0].Kind != TestChanged {
				t.Errorf("%s: %q: %v", name, line, got)
			}
		}
	}
}
