package pushpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// language is how the tests of one language look.
type language struct {
	name       string
	extensions []string
	// collected matches the paths a runner takes for tests by their name, one pattern for the names that every runner of the
	// language collects alike. outside matches paths that they pass over all the same.
	collected []*lazyregexp.Regexp
	outside   *lazyregexp.Regexp
	// folders: files in a folder such as tests/ are tests too, whatever their name.
	folders bool
	// inline: tests stand in any file.
	inline bool
	// declares matches a line that declares a test; its last group is the name. marks matches an attribute that makes a
	// test of what a line below names; named finds that name.
	declares     *lazyregexp.Regexp
	marks, named *lazyregexp.Regexp
	// skip matches what keeps a test from running; runs what runs the tests, which may not get less. inNew matches the lines of skip that
	// take no test from what ran before if they stand in a new file: what says where it is built, or a part of it, and what is as often no skip at all.
	skip, runs, inNew *lazyregexp.Regexp
	// hooks matches what decides in a file of tests which of them run, or how all of them end: what a runner calls by its name, what takes the place of a
	// part of the runner, and exits with success. No such list is complete. loads matches paths of files that a runner looks into for hooks as well.
	hooks, loads *lazyregexp.Regexp
	// inHook matches what keeps tests from running in a file that has a line for toRunner, such as a function that a runner calls, and is common in others.
	inHook, toRunner *lazyregexp.Regexp
	// comments are what a comment's line begins with.
	comments []string
	// replaces: a function or class takes the place of an earlier one of its name.
	replaces bool
}

var languages = []*language{
	{
		name: "Go", extensions: []string{".go"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`_test\.go$`)}, comments: []string{"// ", "//\t"},
		outside: lazyregexp.New(`(^|/)[._]|(^|/)(testdata|vendor)/`),
		inNew:   lazyregexp.New(`^//(go:build| \+build) |^\s*(if )?([\w, ]+ :?= )?[cs]\.Skip\([0-9]+\)[\w ;!=]*\{?$`), runs: lazyregexp.New(`\bm\.Run\(|\.VerifyTestMain\(`),
		declares: lazyregexp.New(`^func (?:\([^)]*\) *)?((?:Test|Benchmark|Fuzz|Example)[A-Za-z0-9_]*)\s*\(`),
		skip: lazyregexp.New(`\b(t|tt|tb|b|f|c|s|T\(\))\.Skip\(|\.(SkipNow|Skipf)\(|\.Skip\((\)|"|fmt\.)|^\s*(//go:build|// \+build)|\bos\.Exit\(\s*(0|\w+\()|^\s*(return|runtime\.Goexit\(\))\s*// *skip|` +
			`^\s*(var _ = )?(P|X|F)(It|Describe|Context|When|Entry|DescribeTable|Specify)\(|^\s*Skip\(|^func TestMain\(|^package documentation\b|\bruntime\.Goexit\(`),
		hooks: lazyregexp.New(`\bos\.Args\s*=.*"-{1,2}test\.|\.Set\("test\.|\bLookup\("test\.[\w.]+"\)\.Value\.Set\(|\btesting\.(Main|MainStart|Init)\(|\bflag\.(CommandLine\.)?Set\([^"]|\b(syscall|unix)\.Exit\(\s*(0|\w+\()|(:=|\bvar\s+\w+\s*=|[(,{\[:])\s*(os|syscall|unix)\.Exit\s*([,;)}\]/]|$)|\b(syscall|unix)\.Exec\b|^//go:linkname \w+ testing\.`),
	},
	{
		name: "Python", extensions: []string{".py", ".pyi"}, folders: true, comments: []string{"#"}, replaces: true,
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)test_[^/]*\.py$`), lazyregexp.New(`_test\.py$`), lazyregexp.New(`_tests\.py$`), lazyregexp.New(`(^|/)tests?\.py$`), lazyregexp.New(`(^|/)conftest\.py$`)},
		loads:     lazyregexp.New(`(^|/)__init__\.py$`),
		outside:   lazyregexp.New(`(^|/)(\.[^/]*|_darcs|build|CVS|dist|node_modules|venv|\{arch\}|[^/]*\.egg)/`), // pytest's norecursedirs
		declares:  lazyregexp.New(`^\s*(?:async )?(?:def (test\w*)\s*\(|class (Test\w*)\b)`),
		skip: lazyregexp.New(`\bmark\.(skip|skipif|xfail)\b|\bpytest\.(skip|xfail|importorskip)\(|\bunittest\.(skip\w*|expectedFailure)\b|^\s*@(skip\w*|expectedFailure)\b|` +
			`\.skipTest\(|\bSkipTest\b|\b__test__\s*=\s*False|\bcollect_ignore(_glob)?\b|` +
			`\bpytest_(ignore_collect|collect\w*|pycollect\w*|itemcollected|deselected|generate_tests|runtest\w*|runtestloop|pyfunc_call|cmdline_\w+|configure|sessionstart|sessionfinish|make_\w+|report_\w+)\b|` +
			`(^|[^'".\w])os\.(_exit\s*(\(\s*[^1-9\s]|[^\s(]|$)|exec[lv])|\bpytest\.exit\(|^from os import .*\b(_exit|exec[lv]\w*)\b|^pytestmark\s*=|^del test`),
		inNew:    lazyregexp.New(`^pytestmark\s*=\s*\[?\s*pytest\.mark\.(django_db|asyncio|anyio|trio|usefixtures|parametrize|filterwarnings)\b(\([^()]*\))?\s*\]?\s*(#.*)?$`),
		toRunner: lazyregexp.New(`\b(load_tests|setUpModule|tearDownModule|pytestmark|pytest_\w+|__test__|collect_ignore\w*)\b|\bsession\.(items|exitstatus)\b`), inHook: lazyregexp.New(`\bexitstatus\s*=[^=]|^\s*items\.(clear|pop|remove)\(|^\s*items\[.*\]\s*=[^=]|^\s*del items\b`),
		hooks: lazyregexp.New(`^\s*(from \S+ )?import\b.*\b(load_tests|pytestmark|pytest_plugins|__test__)\b|\bpytest_plugins\s*=[^=]|\bdef (load_tests|loadTestsFrom\w+|getTestCaseNames|wasSuccessful|addFailure|addError)\(|\bload_tests\s*=[^=]|\bdef run\(self, result\b|` +
			`\b(TestCase|IsolatedAsyncioTestCase|TestSuite|TestLoader|defaultTestLoader|TestResult|TestProgram|TextTestRunner|TextTestResult)\.([a-kn-z_]\w*|loadTests\w+)\s*=[^=]|` + // not maxDiff, longMessage
			`\bunittest\.(main|[A-Z]\w*)\s*=[^=]|\bpytest\.(main|raises|warns|fail|[A-Z]\w*)\s*=[^=]|\bsetattr\(\s*(unittest|_?pytest)\b|\bpatch(\.object)?\(\s*["']?unittest\.Test|` +
			`\bsys\.modules\[["'](unittest|_?pytest)\b|^(import [\w, ]+; *)?(sys\.exit|exit|quit|raise SystemExit)\((0|None)?\)|^raise SystemExit$|\b_outcome\.\w+\s*=[^=]|\b__unittest_(skip|expecting)|\bPYTEST_(ADDOPTS|PLUGINS|DISABLE)`),
	},
	{
		name: "JavaScript", extensions: []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, folders: true,
		comments:  []string{"//", "* ", "*/"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)__tests__/`), lazyregexp.New(`(^|/)cypress/(integration|e2e|component)/`), lazyregexp.New(`[._-]test\.[cm]?[jt]sx?$`), lazyregexp.New(`[._-]tests\.[cm]?[jt]sx?$`), lazyregexp.New(`[._-]spec\.[cm]?[jt]sx?$`), lazyregexp.New(`[._-]e2e\.[cm]?[jt]sx?$`), lazyregexp.New(`[._-]cy\.[cm]?[jt]sx?$`), lazyregexp.New(`(^|/)(test(-[^/]*)?|spec)\.[cm]?[jt]sx?$`)},
		outside:   lazyregexp.New(`(^|/)node_modules/`),
		declares: lazyregexp.New(`^\s*(?:f|x)?(?:it|test|specify|describe|suite|context|Deno\.test|bench)(?:\.[a-zA-Z]+)*(?:\([^"'` + "`" + `]*\))?\(\s*(` +
			`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `)`),
		skip: lazyregexp.New(`\b(it|test|describe|context|suite|specify|bench|Deno\.test|Scenario)(\.\w+)*\.(skip|only|todo|fixme|fails|failing|skipIf|runIf|ignore)\b|` +
			`(^|[^\w.])(xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\s*(\.\w+)*\(|\bthis\.skip\(\)|(^|[^\w.])(t|ctx|context)\.(skip|todo)\(|` +
			`^\s*pending\(|(\b(it|test|describe|suite|specify|bench|Deno\.test)\b.*\b|^\s*(\{\s*)?)((skip|todo):\s*(true|['"])|(only|ignore):\s*true)|\b(process|Deno)\.exit\(0?\)|\bexit\b[^{}=]*\}\s*=\s*(process|Deno)\b|\bprocess\.exitCode\s*=\s*0|` +
			`^\s*((const|let|var)\s+(it|test|describe)\s*=\s*(\(.*\)|\w+)\s*=>|function\s+(it|test|describe)\b)`),
		inNew: lazyregexp.New(`^\s*(skip|todo): *('[^'\\]*'|"[^"\\]*"),?\s*$`),
		hooks: lazyregexp.New(`\b(globalThis|global|window|self)(\.|\[["'])((it|describe|specify)\b["'\]]*\s*=[^=]|(test|suite|context)\b["'\]]*\s*=\s*(async\s*)?(\(|function\b|\w+\s*=>))|` +
			`^\s*((it|describe|specify)\s*=[^=>]|test\s*=\s*(async\s*)?(\([^)]*\)|\w+)\s*=>)|\bObject\.(defineProperty|assign)\(\s*(globalThis|global|window)\s*,\s*[{"'\s]+(it|test|describe|specify)\b|` +
			`\b[mM]ocha\.(grep|fgrep|invert|dryRun)\(|\bMocha\.\w+\.prototype\.\w+\s*=|\bspecFilter\b|\bprocess\.reallyExit\(`),
	},
	{
		name: "Java", extensions: []string{".java", ".kt", ".kts", ".groovy", ".scala"}, folders: true, comments: []string{"//", "* ", "*/"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)(Test[^/]*|[^/]*(Tests?|TestCase))\.(java|kt|groovy|scala)$`), lazyregexp.New(`(^|/)(IT[^/]*|[^/]*(IT|ITCase))\.(java|kt|groovy|scala)$`), lazyregexp.New(`Spec\.(java|kt|groovy|scala)$`)},
		outside:   lazyregexp.New(`(^|/)src/main/`),
		declares:  lazyregexp.New(`^\s*(?:public )?void (test\w*)\s*\(`),
		marks:     lazyregexp.New(`^\s*@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b`),
		named:     lazyregexp.New(`\b(?:void|fun)\s+(` + "`[^`]+`" + `|\w+)\s*\(`),
		skip: lazyregexp.New(`@(Disabled\w*|Ignore\w*|EnabledIf\w*|EnabledOn\w*|PendingFeature|FlakyTest|Requires)\b|\b(Assumptions\.|Assume\.)?assum(e|ing)(True|False|That|NotNull|NoException)\(|` +
			`@Test\(.*\benabled\s*=\s*false|\bSkipException\(|\bTestAbortedException\(`),
		hooks: lazyregexp.New(`(\bimplements\b|\b(class|object)\s+\w+[^:]*:|^import\s+(static\s+)?org\.(junit|testng|spockframework)\.).*\b(PostDiscoveryFilter|ExecutionCondition|InvocationInterceptor|LauncherInterceptor|` +
			`(Test|Lifecycle\w*)ExecutionExceptionHandler|IMethodInterceptor|IAnnotationTransformer|IHookable|IMethodSelector|IGlobalExtension)\b|` +
			`\bFilterResult\.excluded\(|\bConditionEvaluationResult\.disabled\(|\b(System\.exit|exitProcess|halt)\(0\)|\bSystem\.setProperty\("(junit\.|groups"|excludedGroups")`),
	},
	{
		name: "Ruby", extensions: []string{".rb"}, folders: true, comments: []string{"#"}, replaces: true,
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)test_[^/]*\.rb$`), lazyregexp.New(`_test\.rb$`), lazyregexp.New(`_spec\.rb$`)},
		declares: lazyregexp.New(`^\s*(?:[fx]?(?:it|specify|example|scenario|describe|context|feature|test|should)\s*\(?\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Z][\w:]*)|` +
			`(?:RSpec\.)describe\s*\(?\s*([A-Z"'][^,\s]*)|def (test_\w+))`),
		skip: lazyregexp.New(`^\s*(skip|pending|omit)\b(\s*$|\s*\(|\s+["'])|^\s*(xit|xdescribe|xcontext|xspecify|xexample|xscenario|fit|fdescribe|fcontext|fspecify|fexample)\b|` +
			`^\s*(it|specify|example|scenario|describe|context|feature|RSpec\.describe)\b.*[,\s]((skip|pending|focus):\s*(true|["'])|:(skip|pending|focus)\b)|\bfilter_run_excluding\b`),
		hooks: lazyregexp.New(`\brunnable_methods\b|\brunnables\b|\bdef (self\.)?(run_one_method|__run)\b|^\s*(Kernel\.|Process\.)?(exit|exit!?[\s(]+(0|true)\)?)\s*$|\bat_exit\b.*\bexit\b|` +
			`\bRSpec\.(world|clear_examples|reset)\b|\bRSpec::Core::\w+\.(prepend|class_eval|include|send)\b|\bfilter_run(_including)?\b|\bexclude_pattern\b|\b(failure|error)_exit_code\b`),
	},
	{
		name: "Rust", extensions: []string{".rs"}, folders: true, inline: true, comments: []string{"//"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)tests/[^/]+(/main)?\.rs$`), lazyregexp.New(`(^|/)(tests?|[^/]*_tests?)\.rs$`)},
		marks:     lazyregexp.New(`^\s*#\[((\w+::)*test|rstest|test_case|proptest|quickcheck|wasm_bindgen_test|bench|cfg\(test\))`),
		declares:  lazyregexp.New(`^\s*(?:pub )?mod (tests?|\w+_tests?|tests?_\w+)\b`),
		named:     lazyregexp.New(`\b(?:fn\s+(\w+)\s*[(<]|mod\s+(\w+))`),
		skip: lazyregexp.New(`^\s*(#!?\[(ignore\b|cfg_attr\(.*\b(ignore|path)\b|cfg\((any\(\)|FALSE|false)\)|cfg\(all\(.*\btest\b|(unsafe\()?((\w+::)?[cd]tor\b|link_section\s*=\s*"\.?(init_array|fini_array|ctors|CRT))|` +
			`test_runner\b|feature\(.*\bcustom_test_frameworks\b)|#!\[cfg\()`),
		hooks: lazyregexp.New(`\b_?exit\(0\)`),
		inNew: lazyregexp.New(`^\s*#!\[cfg\(`),
	},
	{
		name: "C#", extensions: []string{".cs", ".fs", ".vb"}, folders: true, comments: []string{"//", "* ", "*/"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)[^/]*(Tests?|Specs?|Fixture)\.(cs|fs|vb)$|(^|/)[^/]*[.]?(Tests?|Specs)/[^/].*\.(cs|fs|vb)$`)},
		marks:     lazyregexp.New(`^\s*\[\s*(Xunit\.|NUnit\.Framework\.)?(Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|Property|SkippableFact|SkippableTheory)\b`),
		named:     lazyregexp.New(`\b(?:void|Task|ValueTask|IEnumerator)\s+(\w+)\s*[(<]`),
		skip: lazyregexp.New(`\[[^\]]*\b(Skip|Ignore|IgnoreReason)\s*=|\bSkip\s*=\s*\$?"|\[\s*(Ignore|Explicit|Inconclusive)\b|\bAssert\.(Ignore|Inconclusive|Skip\w*|Pass)\(|\bAssume\.That\(|\bSkip\.(If|IfNot|Unless)\(|` +
			`^\s*#if\b`),
		inNew: lazyregexp.New(`^\s*#if\b`),
		hooks: lazyregexp.New(`\bEnvironment\.Exit\(0\)|^\s*\[assembly:\s*(Xunit\.)?TestFramework\b|` +
			`\bclass\s+\w+[^:]*:.*\b(IApplyToTest|IApplyToContext|ICommandWrapper|IWrapTestMethod|IWrapSetUpTearDown|XunitTestFramework|IXunitTestCaseDiscoverer|ITestFilter)\b`),
	},
	{
		name: "PHP", extensions: []string{".php", ".phpt"}, folders: true, comments: []string{"//", "#", "* ", "*/"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`Test\.php$`), lazyregexp.New(`TestCase\.php$`), lazyregexp.New(`Cest\.php$`), lazyregexp.New(`Cept\.php$`), lazyregexp.New(`Spec\.php$`), lazyregexp.New(`\.phpt$`)},
		declares:  lazyregexp.New(`^\s*(?:(?:final |public )*function (test\w*|it_\w+)\s*\(|(?:it|test|describe)\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))`),
		marks:     lazyregexp.New(`^\s*(#\[\\?(PHPUnit\\Framework\\Attributes\\)?Test\b|\*\s*@test\b|/\*\*\s*@test\b)`),
		named:     lazyregexp.New(`\bfunction\s+(\w+)\s*\(`),
		skip: lazyregexp.New(`\bmarkTest(Skipped|Incomplete)\(|(^\s*\}\)|\b(it|test|describe)\(.*\))\s*->(skip|skipOn\w+|todo|only|wip)\(|\bexpectNotToPerformAssertions\(|#\[\\?(PHPUnit\\Framework\\Attributes\\)?` +
			`(Requires\w*|DoesNotPerformAssertions|Group\(['"](skip|ignore))|\bSkippedTest(Error|SuiteError)?\b|^\s*--SKIPIF--`),
		hooks: lazyregexp.New(`^\s*(exit|die)\s*(\(\s*0?\s*\))?\s*;|\bfunction run(Test|Bare)\(|\bregister_shutdown_function\(.*\bexit\b`),
	},
	{
		name: "Bats", extensions: []string{".bats"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`\.bats$`)}, comments: []string{"#"},
		declares: lazyregexp.New(`^\s*@test\s+("(?:[^"\\]|\\.)*"|'[^']*'|\S+)`),
		skip:     lazyregexp.New(`^\s*skip\b|^\s*exit 0\b|^\s*# bats .*\bbats:focus\b`), hooks: lazyregexp.New(`^\s*exit\s*$|^\s*(function\s+)?bats_\w+\s*\(\)`),
	},
	{
		name: "C and C++", extensions: []string{".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm"}, folders: true, comments: []string{"//", "* ", "*/"},
		collected: []*lazyregexp.Regexp{lazyregexp.New(`(^|/)tests?[_-][^/]*\.\w+$`), lazyregexp.New(`[_-](tests?|unittests?)\.\w+$`), lazyregexp.New(`Tests?\.\w+$`)},
		declares:  lazyregexp.New(`^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|TEST_METHOD|SCENARIO|BOOST_(?:AUTO|FIXTURE)_TEST_CASE|START_TEST|ZTEST)\s*\((.*?)\)?\s*\{?\s*$`),
		skip:      lazyregexp.New(`\bGTEST_SKIP\b|\bDISABLED_|\bSKIP\(|^\s*#\s*(if|ifdef|ifndef)\b`),
		inNew:     lazyregexp.New(`^\s*#\s*(if|ifdef|ifndef)\b`),
		hooks:     lazyregexp.New(`\bGTEST_FLAG(_SET)?\(\s*filter\b|\bFLAGS_gtest_\w+\s*=[^=]|\bgtest_filter\b|__attribute__\s*\(\(.*\bconstructor\b`),
	},
	{
		name: "Swift", extensions: []string{".swift"}, folders: true, comments: []string{"//", "* ", "*/"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`Tests?\.swift$`)},
		declares: lazyregexp.New(`^\s*(?:@\w+ )*(?:public |final |override )*func (test\w*)\s*\(`),
		marks:    lazyregexp.New(`^\s*@(Test|Suite)\b`), named: lazyregexp.New(`\b(?:func|struct|class)\s+(` + "`[^`]+`" + `|\w+)`),
		hooks: lazyregexp.New(`\b(defaultTestSuite|testInvocations)\b|^\s*((Foundation|Darwin|Glibc)\.)?_?exit\((0|EXIT_SUCCESS)\)`),
		skip:  lazyregexp.New(`\bXCTSkip|\.disabled\(|\.enabled\(if|^\s*#if\b`), inNew: lazyregexp.New(`^\s*#if\b`),
	},
	{
		name: "Elixir", extensions: []string{".exs"}, folders: true, comments: []string{"#"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`_test\.exs$`)},
		declares: lazyregexp.New(`^\s*(?:test|describe|property|feature)\s*\(?\s*("(?:[^"\\]|\\.)*")`),
		skip:     lazyregexp.New(`^\s*@(module|describe)?tag\b.*\bskip\b|\bSystem\.halt\(`), inHook: lazyregexp.New(`\bexclude:`), toRunner: lazyregexp.New(`\bExUnit([^.]|\.[^ACD]|\.?$)|:ex_unit\b`),
		hooks: lazyregexp.New(`\bSystem\.stop\(|:erlang\.halt\(|:init\.stop\(|\bExUnit\.(configure|start)\(.*\b(include|only_test_ids):`),
	},
	{
		name: "Dart", extensions: []string{".dart"}, folders: true, comments: []string{"//"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`_test\.dart$`)},
		declares: lazyregexp.New(`^\s*(?:test|testWidgets|group|blocTest<.*>|blocTest)\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`),
		skip:     lazyregexp.New(`\bskip:\s*([^\s\d]|\d+\s*([^\s\d,)]|$)|$)|^\s*@(Skip|TestOn)\b|\bmarkTestSkipped\(|\bsolo:|\bexit\(0\)`),
	},
	{
		name: "Gherkin", extensions: []string{".feature"}, comments: []string{"#"}, collected: []*lazyregexp.Regexp{lazyregexp.New(`\.feature$`)},
		declares: lazyregexp.New(`^\s*(?:Scenario(?: Outline| Template)?|Example)s?:\s*(\S.*)$`),
		skip:     lazyregexp.New(`^\s*@\S*(skip|ignore|wip|disabled|pending)`),
	},
}

// tap is what prove runs, in any language: most of it is Perl or shell. Of its tests nothing else is known.
var tap = &language{name: "TAP", comments: []string{"#"},
	hooks: lazyregexp.New(`(^|[;{])\s*(POSIX::_)?exit\s*\(?\s*0?\s*\)?\s*[;}]?\s*$|\bskip_all\b`)}

var tapTest = lazyregexp.New(`\.t$`)

// unlisted is any language without an entry of its own: tests stand in its sources under lines that read so, wherever they are (threats.md T830).
var unlisted = &language{
	name: "unlisted", folders: true, inline: true, collected: testNames, comments: []string{"//", "--", ";", "(*"},
	declares: lazyregexp.New(`^\s*(?:[\[,(]*\s*(?:test|it|describe|testCase|subtest|test_that|@testset)\s*\(?\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|test(?:\s+([\w.]+))?\s*\{|` +
		`(?:let|module)%(?:expect_)?test\w*(?:\s+("[^"]*"|\w+))?|\(module[+*]\s+test\b|\((?:deftest|with-test|define-test|test-case|ert-deftest|def-test)\s+([^\s)]+)|` +
		`(?:@\w+\s+|(?:pure|nothrow|private|static|shared)\s+)*unittest\b|\W*(?:>>>|iex(?:\(\d+\))?>) )`),
	marks: lazyregexp.New(`^\s*(?:#\[test\b|@\(test\))`), named: lazyregexp.New(`\b(?:fun|fn)\s+(\w+)|^(\w+)\s*::\s*proc\b`),
	skip: lazyregexp.New(`\berror\.SkipZigTest\b|^\s*@test_(?:skip|broken)\b`),
}

// code are the languages of sources, and codeEndings the endings of those whose language nobody here has a name for.
var (
	code = []string{
		"go", "python", "javascript", "typescript", "tsx", "java", "ruby", "rust", "c", "c++", "c#", "php", "kotlin", "scala", "clojure", "swift", "objective-c", "objective-c++",
		"dart", "lua", "perl", "r", "julia", "haskell", "ocaml", "f#", "visual basic .net", "elixir", "erlang", "elm", "zig", "nim", "crystal", "pascal", "fortran", "fortran free form",
		"cobol", "assembly", "solidity", "cuda", "glsl", "verilog", "systemverilog", "vhdl", "common lisp", "scheme", "racket", "vue", "svelte",
	}
	codeEndings = lazyregexp.New(`(?i)\.(robot|hurl|pyx|pxd|pxi|coffee|purs|resi?|rei?|gleam|hx|raku|rakumod|ad[bs]|vala|vapi|vy|gd|cls|trigger|abap|stan|lean|lhs|yy?|l|mly|mll|pest|g4|hlsl|wgsl|metal|` +
		`cppm|ixx|tcc|txx|d|odin|move|cairo|nr|sw|ak|roc|v|el|fnl|janet)$`)
)

// languageOf is the language of a file name, nil for what is no source.
func languageOf(name string) *language {
	l := listed(name)
	if l == nil && (codeEndings.MatchString(name) || slices.Contains(code, lang.Of(name))) {
		return unlisted
	}
	return l
}

// listed is the language of a file name that has an entry, nil for any other.
func listed(name string) *language {
	extension := strings.ToLower(path.Ext(name))
	for _, l := range languages {
		for _, e := range l.extensions {
			if e == extension {
				return l
			}
		}
	}
	return nil
}

// holdsTests reports that a change may touch tests.
func (l *language) holdsTests(c Change) bool {
	return l.inline || l.holds(c.Path)
}

// comment reports that a line is nothing but a comment. Directives that look like one (//go:build) are none.
func (l *language) comment(trimmed string) bool {
	if strings.HasPrefix(trimmed, "// +build") || strings.HasPrefix(trimmed, "#[") || strings.HasPrefix(trimmed, "* @") || strings.HasPrefix(trimmed, "#if") || strings.HasPrefix(trimmed, "#!") || strings.HasPrefix(trimmed, "# bats ") {
		return false
	}
	if i := strings.Index(trimmed, "*/"); i >= 0 && i+2 < len(trimmed) {
		return false
	}
	for _, c := range l.comments {
		if strings.HasPrefix(trimmed+" ", c) {
			return true
		}
	}
	return false
}

// declared finds the tests that lines declare: their names, empty for one whose name is not among the lines.
func (l *language) declared(name string, lines []Line) []Line {
	if !l.inline && !l.holds(name) {
		return nil
	}
	var found []Line
	marked := 0 // the line number of a mark whose name has not come yet
	for i, line := range lines {
		if i > 0 && line.N != lines[i-1].N+1 && marked > 0 {
			found, marked = append(found, Line{N: marked}), 0
		}
		if marked > 0 && l.named != nil {
			if m := l.named.FindStringSubmatch(line.Text); m != nil {
				found, marked = append(found, Line{N: marked, Text: last(m)}), 0
				continue
			}
		}
		if l.marks != nil && l.marks.MatchString(line.Text) {
			if m := l.named.FindStringSubmatch(line.Text); m != nil {
				found = append(found, Line{N: line.N, Text: last(m)})
			} else if marked == 0 { // several attributes make one test
				marked = line.N
			}
			continue
		}
		if l.declares != nil {
			if m := l.declares.FindStringSubmatch(line.Text); m != nil {
				found = append(found, Line{N: line.N, Text: last(m)})
			}
		}
	}
	if marked > 0 {
		found = append(found, Line{N: marked})
	}
	return found
}

// last is the group that matched.
func last(groups []string) string {
	for i := len(groups) - 1; i > 0; i-- {
		if groups[i] != "" {
			return strings.Trim(groups[i], "\"'`")
		}
	}
	return ""
}
