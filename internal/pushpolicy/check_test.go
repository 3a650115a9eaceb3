package pushpolicy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

// lines numbers texts from a line on.
func lines(from int, texts ...string) []Line {
	var all []Line
	for i, text := range texts {
		all = append(all, Line{N: from + i, Text: text})
	}
	return all
}

// edit is a change of one line of a plain file.
func edit(path string) Change {
	return Change{Path: path, Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 10, Added: lines(1, "b"), Removed: lines(1, "a")}
}

// add is a new plain file.
func add(path string, texts ...string) Change {
	return Change{Path: path, Status: 'A', NewMode: 0o100644, Size: 10, Added: lines(1, texts...)}
}

func remove(path string, texts ...string) Change {
	return Change{Path: path, Status: 'D', OldMode: 0o100644, Removed: lines(1, texts...)}
}

func rename(from, to string) Change {
	return Change{Path: to, OldPath: from, Status: 'R', OldMode: 0o100644, NewMode: 0o100644, Size: 10}
}

// rules are the names of the rules refused, each once.
func rules(refused []review.Refusal) []string {
	var names []string
	for _, r := range refused {
		if !slices.Contains(names, r.Rule) {
			names = append(names, r.Rule)
		}
	}
	return names
}

// A new file in the place of what tests are made of is refused where a runner or a compiler looks first, and nowhere else: repositories keep their
// tests and headers in folders of such names.
func TestReplacedLibraries(t *testing.T) {
	for want, names := range map[bool][]string{
		true: {"lib/Test/More.pm", "lib/Scalar/Util.pm", "lib/Test2/Event/Ok.pm", "lib/strict.pm", "include/assert.h", "include/cassert", "include/vector", "include/gtest/gtest.h", "include/catch2/catch_all.hpp",
			"src/test/java/org/junit/Assert.java", "app/src/main/kotlin/org/junit/jupiter/api/Assertions.kt", "lib/rspec/core.rb", "lib/minitest/autorun.rb", "test/minitest/x_plugin.rb", "lib/test/unit.rb",
			"src/PHPUnit/Framework/TestCase.php", "luaunit.lua", "src/busted/init.lua", "node_modules/jest/index.js", "web/node_modules/jest/index.js"},
		false: {"test/unit/store.test.js", "test/unit/x_test.rb", "packages/api/test/unit/cart_test.rb", "test/unit/test_x.py", "test/unit.rb", "tests/PHPUnit/FooTest.php", "src/kotlin/test/FooTest.kt",
			"src/x/string.h", "src/util/time.h", "src/math.h", "string.h", "include/mylib/complex.h", "include/string/view.h", "include/check.h", "include/list.hpp", "src/check.h", "src/unity.h",
			"internal/tap/tap.go", "net/TAP/device.c", "lib/TAP/Formatter/Mine.pm", "lib/Test2/Tools/Mine.pm", "lib/Test/Mine.pm", "lib/Mine/strict.pm", "spec/rspec/x_spec.rb", "spec/rspec/core_spec.rb",
			"test/minitest/test_mine.rb", "lib/minitest/mine.rb", "src/test/java/org/junit/tests/MineTest.java", "src/test/scala/munit/MineSuite.scala", "src/commonTest/kotlin/io/kotest/MineTest.kt",
			"test/builder/x_test.go", "spec/busted/mine_spec.lua", "tests/catch.hpp"},
	} {
		for _, name := range names {
			if got := rules(Check([]Change{add(name, "x")}, Limits{}, nil, nil)); (len(got) > 0) != want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

func TestNamesThatScriptsRun(t *testing.T) {
	for _, name := range []string{"a$(id).go", "${IFS}.go", "`id`.go", "a;id;b.go", "a&id&.go", "a';id;'b.go", "stock --config=lint.js a.go", "a -o/b.go",
		"@args.go", "@scope/a.go", "a @args.go", "pkg/##vso[task.setvariable variable=BASH_ENV]x/env.sh", "a##[set-output name=x]y.go", "##VSO[x].go", "x” + (iwr evil.example) + ”.go", "it’s.go"} {
		for _, c := range []Change{add(name, "x"), rename("a.go", name)} {
			if got := rules(Check([]Change{c}, Limits{}, nil, nil)); !slices.Equal(got, []string{RuleBadName}) {
				t.Errorf("%c %s: %v", c.Status, name, got)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	mode := func(c Change, before, after uint32) Change { c.OldMode, c.NewMode = before, after; return c }
	for _, c := range []struct {
		rule    string
		changes []Change
		allow   []string
		paths   []string
		want    []string
	}{
		{"a plain edit may be pushed", []Change{edit("src/a.go")}, nil, nil, nil},
		{"a new file, a moved and a deleted one may be pushed", []Change{add("src/n.go", "x"), rename("a.go", "b.go"), remove("c.go", "x")}, nil, nil, nil},

		{"the last file may not go", []Change{remove("a.go", "x")}, nil, []string{}, []string{RuleEmptyTree}},
		{"no glob opens that", []Change{remove("a.go", "x")}, []string{"**"}, []string{}, []string{RuleEmptyTree}},
		{"the last but one may", []Change{remove("a.go", "x")}, nil, []string{"b.go"}, nil},

		{"any top-level dot directory", []Change{edit(".config/x")}, nil, nil, []string{RuleProtectedPath}},
		{".github/**", []Change{edit(".github/workflows/ci.yml")}, nil, nil, []string{RuleProtectedPath}},
		{".github in capitals is the same folder on many disks", []Change{add(".GitHub/workflows/x.yml", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a file that moves into .github", []Change{rename("a.yml", ".github/workflows/a.yml")}, nil, nil, []string{RuleProtectedPath}},
		{"a file that moves out of .github", []Change{rename(".github/workflows/a.yml", "a.yml")}, nil, nil, []string{RuleProtectedPath}},
		{"a deleted workflow", []Change{remove(".github/workflows/a.yml", "x")}, nil, nil, []string{RuleProtectedPath}},
		{".prloop-ignore", []Change{edit(".prloop-ignore")}, nil, nil, []string{RuleProtectedPath}},
		{".reviewerc", []Change{edit(".reviewerc")}, nil, nil, []string{RuleProtectedPath}},
		{"CODEOWNERS at the root", []Change{edit("CODEOWNERS")}, nil, nil, []string{RuleProtectedPath}},
		{"CODEOWNERS in docs", []Change{edit("docs/CODEOWNERS")}, nil, nil, []string{RuleProtectedPath}},
		{"CODEOWNERS elsewhere is a file like others", []Change{edit("src/CODEOWNERS")}, nil, nil, nil},
		{"agent instructions at the root", []Change{edit("AGENTS.md")}, nil, nil, []string{RuleProtectedPath}},
		{"agent instructions at any depth", []Change{edit("a/b/claude.md")}, nil, nil, []string{RuleProtectedPath}},
		{"agent settings at any depth (threats.md T03)", []Change{add("pkg/.claude/settings.json", "{}")}, nil, nil, []string{RuleProtectedPath}},
		{"MCP servers (threats.md T03)", []Change{add("pkg/.mcp.json", "{}")}, nil, nil, []string{RuleProtectedPath}},
		{"hook folders", []Change{add("pkg/.husky/pre-commit", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a hook by its name", []Change{add("tools/hooks/pre-push.sh", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"hooks of a user interface are none", []Change{edit("src/hooks/useUser.ts"), edit("src/hooks/update.ts")}, nil, nil, nil},
		{"hook settings", []Change{edit("lefthook.yml")}, nil, nil, []string{RuleProtectedPath}},
		{"package manifests", []Change{edit("web/package.json")}, nil, nil, []string{RuleProtectedPath}},
		{"lock files", []Change{edit("go.sum")}, nil, nil, []string{RuleProtectedPath}},
		{"requirements by any name", []Change{edit("requirements-dev.txt")}, nil, nil, []string{RuleProtectedPath}},
		{"a project file of C#", []Change{edit("src/App/App.csproj")}, nil, nil, []string{RuleProtectedPath}},
		{"what a CI runs outside of a dot folder", []Change{edit(".gitlab-ci.yml")}, nil, nil, []string{RuleProtectedPath}},
		{"a dot file that configures nothing above", []Change{edit(".env.example")}, nil, nil, nil},
		{"a new one, whatever its name", []Change{add(".env.example", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a file that becomes a top-level dot file", []Change{rename("gitignore", ".gitignore")}, nil, nil, []string{RuleProtectedPath}},
		{"a top-level dot file that becomes another", []Change{rename(".gitignore", "gitignore")}, nil, nil, nil},
		{"a top-level dot file nobody knows (fail closed)", []Change{edit(".toolrc")}, nil, nil, []string{RuleProtectedPath}},
		{"which the operator opens", []Change{add(".toolrc", "x")}, []string{".toolrc"}, nil, nil},
		{"a dot file further down that no tool is known to read", []Change{add("docs/.toolrc", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a new module in the place of a test runner (threats.md T321)", []Change{add("pytest.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a new package there", []Change{add("mypy/__init__.py", "")}, nil, nil, []string{RuleProtectedPath}},
		{"one that only runs", []Change{add("ruff/__main__.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a module that moves there", []Change{rename("helpers.py", "_pytest/__init__.py")}, nil, nil, []string{RuleProtectedPath}},
		{"a new module in the place of the standard library", []Change{add("argparse.py", "x"), add("Unittest/__init__.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a new module in the place of what an uploader or a type checker loads", []Change{add("requests.py", "x"), add("typing_extensions/__init__.py", "x"), add("keyring.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"a new library in the place of what a runner of Ruby loads", []Change{add("lib/optparse.rb", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"modules that runners do not load, or find elsewhere", []Change{add("src/requests.py", "x"), add("orders.py", "x"), add("lib/shop/set.rb", "x")}, nil, nil, nil},
		{"a new module in the place of an installer or a builder", []Change{add("pip.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"one that only runs there", []Change{add("build/__main__.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"one that a runner of tests loads", []Change{add("hypothesis/__init__.py", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"one in the folder of a project", []Change{add("services/api/pip.py", "x")}, nil, []string{"services/api/requirements.txt"}, []string{RuleProtectedPath}},
		{"one of the standard library there", []Change{add("services/api/argparse/__init__.py", "x")}, nil, []string{"services/api/pyproject.toml"}, []string{RuleProtectedPath}},
		{"such names elsewhere", []Change{add("services/api/shop/build.py", "x"), add("services/wheel.py", "x"), add("services/api/wheel.txt", "x"), edit("services/api/build.py"), add("build.go", "x"), add("build/x.py", "x")},
			nil, []string{"services/api/pyproject.toml"}, nil},
		{"a plugin that a runner loads on its own", []Change{add("x-1.dist-info/entry_points.txt", "[pytest11]"), add("test/minitest/x_plugin.rb", "x")}, nil, nil, []string{RuleProtectedPath}},
		{"which the operator opens", []Change{add("pytest.py", "x")}, []string{"pytest.py"}, nil, nil},
		{"a repository's own module of such a name", []Change{edit("types.py"), edit("mypy/__init__.py"), add("mypy/new.py", "x"), remove("queue.py", "x"), rename("json.py", "codec.py")}, nil, nil, nil},
		{"such a name below a package", []Change{add("shop/types.py", "x"), add("shop/json/__init__.py", ""), add("test/__init__.py", ""), add("tests/pytest_helpers.py", "x")}, nil, nil, nil},
		{"a name in letters that fold to plain ones", []Change{add("Ma\u212aefile", "x"), add("\u017fetup.py", "x")}, nil, nil, []string{RuleProtectedPath}},

		{"the operator opens a path", []Change{edit("go.mod"), edit("go.sum")}, []string{"go.{mod,sum}"}, nil, nil},
		{"a rename needs both ends open", []Change{rename(".github/a.yml", "docs/a.yml")}, []string{"docs/**"}, nil, []string{RuleProtectedPath}},
		{"an open path is still no place for a link", []Change{mode(add(".github/x", "t"), 0, 0o120000)}, []string{"**"}, nil, []string{RuleLink}},

		{"no symlink", []Change{mode(add("l", "/etc/passwd"), 0, 0o120000)}, nil, nil, []string{RuleLink}},
		{"a link with another target", []Change{mode(edit("l"), 0o120000, 0o120000)}, nil, nil, []string{RuleLink}},
		{"a file that becomes a link", []Change{{Path: "l", Status: 'T', OldMode: 0o100644, NewMode: 0o120000}}, nil, nil, []string{RuleLink}},
		{"no gitlink", []Change{{Path: "m", Status: 'A', NewMode: 0o160000}}, nil, nil, []string{RuleSubmodule}},
		{"no .gitmodules", []Change{edit(".gitmodules")}, nil, nil, []string{RuleSubmodule}},
		{"no mode change", []Change{mode(edit("run"), 0o100644, 0o100755)}, nil, nil, []string{RuleModeChange}},
		{"no new executable (threats.md T08)", []Change{mode(add("run", "#!/bin/sh"), 0, 0o100755)}, nil, nil, []string{RuleModeChange}},
		{"an executable that stays one may be edited", []Change{mode(edit("run"), 0o100755, 0o100755)}, nil, nil, nil},
		{"no LFS pointer", []Change{add("big.bin", "version https://git-lfs.github.com/spec/v1", "oid sha256:"+strings.Repeat("a", 64), "size 9")}, nil, nil, []string{RuleLFSPointer}},
		{"no LFS pointer with other content", []Change{{Path: "big", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(2, "oid sha256:"+strings.Repeat("a", 64))}}, nil, nil, []string{RuleLFSPointer}},
		{"no line that makes a pointer of what the file has", []Change{{Path: "big", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(1, "version https://git-lfs.github.com/spec/v1")}}, nil, nil, []string{RuleLFSPointer}},
		{"no LFS pointer behind blank lines (threats.md T764)", []Change{add("big.psd", "", "", "", "version https://git-lfs.github.com/spec/v1", "oid sha256:"+strings.Repeat("a", 64), "size 9")}, nil, nil, []string{RuleLFSPointer}},
		{"a text that only speaks of LFS", []Change{add("docs/lfs.md", "# LFS", "version https://git-lfs.github.com/spec/v1")}, nil, nil, nil},
		{"no .gitattributes at any depth", []Change{add("sub/.gitattributes", "* filter=x")}, nil, nil, []string{RuleAttributes}},
		{"no .GitAttributes either", []Change{add(".GitAttributes", "* filter=x")}, nil, nil, []string{RuleAttributes}},
		{"no bare repository (threats.md T20)", []Change{add("sub/HEAD", "ref: x"), add("sub/config", "[core]")}, nil, nil, []string{RuleEmbedded}},
		{"a bare repository completed by one file (threats.md T20)", []Change{add("sub/objects/x", "")}, nil, []string{"sub/HEAD", "sub/objects/x", "sub/refs/x"}, []string{RuleEmbedded}},

		{"case-fold collisions", []Change{add("readme.md", "x")}, nil, []string{"README.md", "readme.md"}, []string{RuleCaseCollision}},
		{"a folder in another spelling", []Change{add("Docs/b", "x")}, nil, []string{"docs/a", "Docs/b"}, []string{RuleCaseCollision}},
		{"the same letters composed in another way", []Change{add("a\u0308", "x")}, nil, []string{"ä", "a\u0308"}, []string{RuleCaseCollision}},
		{"a file where a folder of another case is", []Change{add("DOCS", "x")}, nil, []string{"docs/a", "DOCS"}, []string{RuleCaseCollision}},
		{"a file may change only the case of its name", []Change{rename("Readme.md", "README.md")}, nil, []string{"README.md"}, nil},
		{"a collision that was there before is not the fixer's", []Change{edit("x"), edit("a")}, nil, []string{"A", "a", "x"}, nil},

		{"binary content", []Change{{Path: "a.png", Status: 'A', NewMode: 0o100644, Size: 10, Binary: true}}, nil, nil, []string{RuleBinary}},
		{"binary content the operator opens", []Change{{Path: "t/a.png", Status: 'A', NewMode: 0o100644, Size: 10, Binary: true}}, []string{"t/*.png"}, nil, nil},
		{"a binary file may go", []Change{{Path: "a.png", Status: 'D', OldMode: 0o100644, Binary: true}}, nil, nil, nil},

		{"a line feed in a name (threats.md T28)", []Change{add("a\nb", "x")}, nil, nil, []string{RuleBadName}},
		{"an escape in a name (threats.md T28)", []Change{add("a\x1b[31m", "x")}, nil, nil, []string{RuleBadName}},
		{"a name that is not UTF-8 (threats.md T28)", []Change{add("a\xff", "x")}, nil, nil, []string{RuleBadName}},
		{"bidi in a name (threats.md T40)", []Change{add("a\u202egnp.exe", "x")}, nil, nil, []string{RuleBadName}},
		{"a name that reads as an option (threats.md T22)", []Change{add("--upload-pack=x", "x")}, nil, nil, []string{RuleBadName}},
		{"shell code in a name (threats.md T694), which no glob opens", []Change{add("docs/$(id)/a.md", "x")}, []string{"**"}, []string{"docs/$(id)/a.md", "docs/b.md"}, []string{RuleBadName}},
		{"names of frameworks and of people", []Change{add("app/(group)/@slot/[id]/[...all].tsx", "x"), add("routes/$user.tsx", "x"), add("routes/_index.$id.tsx", "x"), add("src/+page.svelte", "x"),
			add("docs/Design - notes.md", "x"), add("a~b#c%d=e,f!.txt", "x"), add("a##b.txt", "x"), add("icon@2x.svg", "x")}, nil, nil, nil},
		{"a folder that was there already", []Change{add("R&D/it's/new.go", "x"), rename("$(x)/a.go", "$(x)/b.go"), add("@types/new.go", "x"), add("app/@slot/page.tsx", "x")}, nil, []string{"@types/old.go", "app/old.tsx", "R&D/it's/old.go", "R&D/it's/new.go", "$(x)/b.go"}, nil},
		{"folders that were there with names that nobody may give (threats.md T28)", []Change{add("-x/a\u200bb/con/new.go", "x"), add("-x/more/new.go", "x"), rename("a:b/a.go", "a:b/b.go")}, nil, []string{"-x/a\u200bb/con/old.go"}, nil},
		{"such a name below a folder that was there", []Change{add("-x/-y/new.go", "x")}, nil, []string{"-x/old.go"}, []string{RuleBadName}},
		{"a long path below one", []Change{add(strings.Repeat("long/", 300)+"new.go", "x")}, nil, []string{strings.Repeat("long/", 300) + "old.go"}, []string{RuleBadName}},
		{"a device", []Change{add("src/nul.txt", "x")}, nil, nil, []string{RuleBadName}},
		{"a short name of NTFS", []Change{add("GITHUB~1/workflows/x.yml", "x")}, nil, nil, []string{RuleBadName}},
		{"a backup's name is no short name", []Change{add("a.go~", "x"), add("v1~rc2-final", "x")}, nil, nil, nil},
		{"a stream of NTFS", []Change{add("a.go:x", "x")}, nil, nil, []string{RuleBadName}},
		{"a trailing dot", []Change{add("a.", "x")}, nil, nil, []string{RuleBadName}},
		{"a bad name that was there before may be edited", []Change{edit("a\nb")}, nil, nil, nil},
		{"a bad name may be taken away", []Change{remove("a\nb", "x")}, nil, nil, nil},
		{"names in other scripts are good", []Change{add("docs/日本語.md", "x"), add("docs/über.md", "x")}, nil, nil, nil},

		{"a deleted test (threats.md T08)", []Change{remove("a_test.go", "func TestA(t *testing.T) {", "}")}, nil, nil, []string{RuleDeletedTest}},
		{"a skipped test (threats.md T08)", []Change{{Path: "a_test.go", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(3, "\tt.Skip(\"flaky\")")}}, nil, nil, []string{RuleSkippedTest}},
		{"a test the operator opens", []Change{remove("old/a_test.go", "func TestA(t *testing.T) {")}, []string{"old/**"}, nil, nil},
		{"a weakened test is for a person", []Change{{Path: "a_test.go", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 10, Removed: lines(3, "\tt.Error(x)")}}, nil, nil, nil},
	} {
		if got := rules(Check(c.changes, Limits{}, c.allow, c.paths)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.rule, got, c.want)
		}
	}
}

func TestCheckSizes(t *testing.T) {
	many := func(n int) []Change {
		var all []Change
		for i := range n {
			all = append(all, edit(fmt.Sprintf("f%03d", i)))
		}
		return all
	}
	long := edit("long")
	long.Added = lines(1, strings.Repeat("x", 4<<20))
	blob := Change{Path: "blob", Status: 'A', NewMode: 0o100644, Size: 5 << 20, Binary: true}
	for _, c := range []struct {
		rule    string
		changes []Change
		limits  Limits
		want    []string
	}{
		{"100 files are the most", many(100), Limits{}, nil},
		{"101 files are too many", many(101), Limits{}, []string{RuleTooManyFiles}},
		{"more than 4 MB is too large", []Change{long}, Limits{}, []string{RuleTooLarge}},
		{"a binary file counts whole", []Change{blob}, Limits{}, []string{RuleBinary, RuleTooLarge}},
		{"a small edit of a large file is small", []Change{{Path: "a", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Size: 9 << 20, Added: lines(1, "x")}}, Limits{}, nil},
		{"the scope brake counts files", many(11), Brake(1, 1), []string{RuleScopeBrake}},
		{"the scope brake leaves room for a test", many(10), Brake(1, 1), nil},
		{"twice a large pull request is allowed", many(60), Brake(30, 1000), nil},
		{"the scope brake counts lines", []Change{{Path: "a", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(1, make([]string, 201)...)}}, Brake(1, 1), []string{RuleScopeBrake}},
		{"a long line is several (threats.md T784)", []Change{{Path: "a", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(1, strings.Repeat("x", 50_000))}}, Brake(1, 1), []string{RuleScopeBrake}},
		{"limits can be set", many(3), Limits{Files: 2}, []string{RuleTooManyFiles}},
	} {
		if got := rules(Check(c.changes, c.limits, nil, nil)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.rule, got, c.want)
		}
	}
}

// A refusal tells a fixer what to change.
func TestRefusalsNamePathAndReason(t *testing.T) {
	got := Check([]Change{edit("web/package.json"), {Path: "a_test.go", Status: 'M', OldMode: 0o100644, NewMode: 0o100644, Added: lines(3, "\tt.Skip()")}}, Limits{}, nil, nil)
	want := []review.Refusal{
		{Rule: RuleProtectedPath, Path: "web/package.json", Detail: "it is a package manifest or a lock file"},
		{Rule: RuleSkippedTest, Path: "a_test.go", Detail: "a test does not run any more: `t.Skip(` (line 3)"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The order of changes is git's; whatever comes in, the same input gives the same refusals.
func TestCheckIsDeterministic(t *testing.T) {
	changes := []Change{add("Docs/x", "x"), add("docs/y", "x"), add("sub/HEAD", "x"), add("sub/config", "x"), edit("go.mod"), add("a\nb", "x"), remove("x_test.go", "func TestX(t *testing.T) {")}
	first := Check(changes, Brake(0, 0), nil, nil)
	for range 20 {
		if d := cmp.Diff(first, Check(changes, Brake(0, 0), nil, nil)); d != "" {
			t.Fatal(d)
		}
	}
}
