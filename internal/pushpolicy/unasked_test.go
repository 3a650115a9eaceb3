package pushpolicy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// asked is what a task asks for in a repository with some files.
func asked(stood ...string) Asked {
	return AskedOf(review.Task{
		Brief: review.Brief{Files: []review.BriefFile{{Path: "app/settings.yaml"}, {Path: "ops/new.sh", OldPath: "ops/old.sh"}, {Path: `"odd\tname.json"`}, {Path: "web/locales/en.json"}, {Path: "ci/moved.sh", Moved: true}}},
		Fix: &review.FixPayload{
			IssuesToFix: []review.Finding{
				{File: "deploy/dev/values.yaml", Title: "The key is not in web/texts/de.json", Description: "Neither is it in `fr.json`, values.yaml sets no limit.", Suggestion: "Run the release and test VERSION, and say so in the README."},
				{File: "a.go", Evidence: "include: ci/steps.yml", Assessment: &review.Assessment{Reason: "It also stands in conf/base.ini.", Fact: &review.Fact{File: "data/rates.bin"}}},
			},
			OptionalIssues: []review.Finding{
				{File: "a.go", Description: "see conf/limits.toml... and conf/limits.toml.bak", Source: review.Source{Type: "comment"}},
				{File: "deploy/prod/values.yaml", Description: "The name is as in tools/ship.sh.", Assessment: &review.Assessment{Reason: "And in tools/ship.toml."}, Source: review.Source{Type: "agent"}},
			},
		},
	}, stood)
}

// A fix changes what the pull request changes, what a finding names that has to be fixed, and tests by their own names (threats.md T733, T820, T822).
func TestUnasked(t *testing.T) {
	stood := []string{"web/texts/de.json", "web/texts/en.json", "README.md", "docs/README.md", "VERSION", "other/VERSION", "deploy/dev/values.yaml", "prod/values.yaml", "conf/base.ini", "prod/conf/base.ini", "conf/limits.toml", "app/a.js",
		"environments/test/inventory.py", "tests/all.yaml", "ui/locales/de.json", "x/y/test_b.py", "src/b.spec.ts", "src/test/java/shop/CartTest.java", "crates/a/tests/it.rs", "src/__snapshots__/b.ts.snap", "t/01.t",
		"features/cart.feature", "src/test_list.zig", "config/app.php", "charts/shop/templates/a.yaml", "src/__tests__/b.ts", "cmd/x.go"}
	for name, want := range map[string]bool{
		"app/settings.yaml": true, "ops/new.sh": true, "ops/old.sh": true, "odd\tname.json": true, "web/locales/en.json": true, "ci/moved.sh": false, // of the pull request
		"deploy/dev/values.yaml": true, "a.go": true, // what findings are about
		"web/texts/de.json": true, "conf/base.ini": true, "data/rates.bin": true, "conf/limits.toml": true, "conf/limits.toml.bak": true, // what findings name
		"deploy/dev/fr.json": true, "fr.json": false, "web/locales/fr.json": false, "app/values.yaml": false, "values.yaml": false, "prod/values.yaml": false, "prod/conf/base.ini": false, // by a name alone, or the end of a path
		"VERSION": true, "other/VERSION": false, "VERSION.sh": false, "release": false, "test": false, "README.md": true, "docs/README.md": false, "README.tf": false, "deploy/dev/README.md": false,
		"deploy/prod/values.yaml": false, "tools/ship.sh": false, "tools/ship.toml": false, "ci/steps.yml": false, // of an offer, or quoted
		"cmd/new_test.go": true, "new_test.go": true, "x/y/test_a.py": true, "x/y/deep/test_a.py": false, "src/a.spec.ts": true, "src/new/a.spec.ts": false, "src/__tests__/a.ts": true, "src/test/java/shop/ATest.java": true, "crates/a/tests/more.rs": true, // tests
		"src/__snapshots__/a.ts.snap": true, "t/02.t": true, "features/a.feature": true, "src/test_b.zig": true, "x/y/test_b.py": true,
		"dags/test_a.py": false, "app/a.spec.ts": false, "config/AppTest.php": false, "charts/shop/templates/a_test.go": false, "charts/shop/templates/a.golden": false, "charts/shop/templates/a.t": false, "src/pages/test.tsx": false, "R/test-sum.R": false, // called like some, where none stood
		"environments/test/inventory.py": false, "environments/test/group_vars/all.yml": false, "features/flags.yaml": false, "test/cart.js": false, "test/setup.js": false,
		"tests/all.yaml": false, "tests/new.yaml": false, "x/y/conftest.py": false, "tests/pyvenv.cfg": false, "src/setupTests.ts": false, "tests/main.tf": false, "prod.test.yaml": false, "cron.d/test-evil": false,
		"test_deploy.sh": false, "policy_test.rego": false, "x.tftest.hcl": false, "node_modules/a/b.test.js": false, "dist/test_a.py": false, "testdata/a_test.go": false, "src/main/java/shop/LoadTest.java": false,
		"b.go": false, "app/b.go": false, "docs/a.md": false, "ui/locales/de.json": false, "CHANGELOG": false, "x.html": false, "x.sql": false, "x.unheard": false, "scripts/postinstall.js": false, "/etc/test_x.py": false, // anything else
	} {
		if got := asked(stood...).Refuse(name) == ""; got != want {
			t.Errorf("%q may be changed: %v", name, got)
		}
	}
}

// A new test goes where people put it: into a folder of tests that has some of its kind, or beside what it tests, in a project that has some. It goes nowhere else (threats.md T868).
func TestNewTests(t *testing.T) {
	a := AskedOf(review.Task{
		Brief: review.Brief{Files: []review.BriefFile{{Path: "src/components/Button/Button.tsx"}, {Path: "packages/a/src/index.ts"}, {Path: "web/Cart.vue"}, {Path: "modules/pricing/src/main/java/shop/Price.java"}, {Path: "pay.py"}, {Path: "lib/.py"},
			{Path: "billing/views.py"}, {Path: "dags/load.py"}, {Path: "charts/shop/templates/a.yaml"}, {Path: "charts/shop/templates/run.py"}, {Path: "environments/hosts.py"}, {Path: "src/features/flags.ts"}, {Path: "crates/x/src/a.rs"}}},
		Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "billing/tax.py"}}},
	}, []string{
		"src/test/java/shop/cart/CartTest.java", "tests/__init__.py", "tests/conftest.py", "tests/cart/test_cart.py", "tests/cart/cart.golden", "tests/unit/__init__.py", "tests/unit/core/test_core.py", "tests/integration/__init__.py",
		"src/components/Card/Card.tsx", "src/components/Card/Card.test.tsx", "src/components/Button/Button.tsx", "spec/models/user_spec.rb", "packages/b/src/b.test.ts", "web/shop/shop.spec.js", "Tests/ShopTests/CartTests.swift",
		"modules/cart/src/test/java/shop/CartTest.java", "billing/invoice/tests/test_invoice.py", "environments/test/inventory.py", "charts/shop/templates/tests/test-connection.yaml", "crates/y/tests/b.rs",
		"test/deep/a.lua", "test/test_a.lua", "config/app.php", "config/app.lua",
	})
	for name, want := range map[string]bool{
		"src/test/java/shop/pricing/PriceTest.java": true, "tests/billing/test_tax.py": true, "tests/unit/billing/test_tax.py": true, "tests/integration/test_a.py": true, "tests/test_root.py": true, "spec/services/pay_spec.rb": true,
		"Tests/ShopTests/Pricing/PriceTests.swift": true, "tests/billing/tax.golden": true, "test/deep/test_b.lua": true, // below a folder of tests
		"src/components/Button/Button.test.tsx": true, "src/components/Button/__tests__/Button.test.tsx": true, "packages/a/src/index.test.ts": true, "web/Cart.spec.js": true, "billing/test_tax.py": true, "billing/tests/test_views.py": true,
		"modules/pricing/src/test/java/shop/PriceTest.java": true, "test_pay.py": true, // of a file that was asked for
		"src/components/Button/Other.test.tsx": false, "src/components/Button/Button.spec.tsx": false, "src/components/Button/Button.test.ts": false, "src/components/Button/deep/Button.test.tsx": false, "src/test_Button.tsx": false,
		"packages/a/src/index.spec.ts": false, "packages/a/src/a.test.ts": false, "billing/test_other.py": false, "billing/test_and_tax.py": false, "billing/deep/test_tax.py": false, "lib/test_x.py": false, "lib/test_.py": false,
		"modules/pricing/src/test/java/other/PriceTest.java": false, "modules/pricing/src/main/java/shop/PriceTest.java": false,
		"tests/billing/tax.snap": false, "tests/billing/tax_test.py": false, "tests/a_test.rb": false, "tests/a.test.ts": false, "test/deep/test_b.nim": false, // of other kinds
		"tests/billing/conftest.py": false, "tests/billing/helpers.py": false, "tests/pytest.ini": false, "tests/unit/data.json": false, "spec/spec_helper.rb": false, "src/components/Button/setupTests.ts": false, // no tests
		"dags/test_load.py": false, "dags/tests/test_load.py": false, "charts/shop/templates/tests/a.golden": false, "charts/shop/templates/tests/test_run.py": false, "charts/shop/templates/test_run.py": false, "environments/test/test_hosts.py": false,
		"environments/test/hosts.py": false, "src/features/flags.test.ts": false, "src/features/other.feature": false, "config/appTest.php": false, "config/test_app.lua": false, "crates/x/tests/a.rs": false, // where none stood
		"x/tests/test_a.py": false, "latests/test_a.py": false, "tests.d/test_a.py": false,
	} {
		if got := a.Refuse(name); (got == "") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if why := a.Refuse("dags/test_load.py"); !strings.Contains(why, "where no tests of its kind stood") {
		t.Error(why)
	}
}

// A name counts as people, diffs and links write it, in any script.
func TestNamesInWords(t *testing.T) {
	for text, want := range map[string]bool{
		"Add it to locales/de.json.": true, "Add it to /locales/de.json": true, "in _locales/de.json_, or so": true, "请同时更新locales/de.json文件。": true, "locales/de.jsonにも": true, "locales/de.json에도": true,
		"https://github.com/acme/widgets/blob/0123abc/locales/de.json#L3": true, "https://github.com/Acme/Widgets/blob/feature/x/locales/de.json": true, "https://github.com/evil/widgets/blob/0123abc/locales/de.json": false, "all files in locales/": false, "GET /locales/ fails": false, "@locales/de.json": true, `locales\de.json:3`: true, "<locales/de.json>": true,
		"[de](./locales/de.json)": true, "--- a/locales/de.json": true, "app/locales/de.json": false, "locales/de.json.bak": false, "xlocales/de.json": false, "the locales": false, "de.json": true, "locales/de.json5": false,
	} {
		a := AskedOf(review.Task{Repo: review.Repo{Owner: "acme", Name: "widgets"}, Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "src/a.go", Description: text}}}}, []string{"src/a.go", "locales/de.json"})
		if got := a.Refuse("locales/de.json") == ""; got != want {
			t.Errorf("%q names it: %v", text, got)
		}
	}
	for text, want := range map[string]bool{"See app/(shop)/[id]/page.tsx.": true, "`app/(shop)/[id]/page.tsx`": true, "web/app/(shop)/[id]/page.tsx": false, "app/(shop)/[id]/page.tsx.bak": false, "app/(shop)/[id]/page.ts": false} {
		a := AskedOf(review.Task{Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "src/a.go", Description: text}}}}, []string{"src/a.go"})
		if got := a.Refuse("app/(shop)/[id]/page.tsx") == ""; got != want {
			t.Errorf("%q names it: %v", text, got)
		}
	}
}

// A word stands for one file: what deeper folders have under the same end of a path is not asked for (threats.md T853).
func TestAWordNamesOneFile(t *testing.T) {
	stood := []string{"conf/values.yaml", "conf/other.yaml", "deploy/prod/conf/values.yaml", "packages/a/src/index.ts", "packages/b/src/index.ts", "rootfs/bin/sh", "lib/one/only.py", "README.md", "web/index.ts"}
	for text, want := range map[string][]string{
		"conf/values.yaml sets no limit": {"conf/values.yaml"}, "values.yaml sets no limit": {"conf/values.yaml"}, "see src/index.ts": {}, "see packages/a/src/index.ts": {"packages/a/src/index.ts"}, "one/only.py and only.py": {"lib/one/only.py"},
		"https://github.com/acme/widgets/blob/feature/x/deploy/prod/conf/values.yaml#L3": {"deploy/prod/conf/values.yaml"},
		"answers with JSON, a TODO of the API":                                           {}, "new.yaml is missing": {"conf/new.yaml"}, "docs/new.md is missing": {"docs/new.md"}, "the README": {"README.md"},
	} {
		a := AskedOf(review.Task{Repo: review.Repo{Owner: "acme", Name: "widgets"}, Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "conf/other.yaml", Description: text}}}}, stood)
		for _, name := range append(stood, "clusters/conf/values.yaml", "new.yaml", "conf/new.yaml", "docs/new.md", "x/docs/new.md", "JSON.tf", "conf/API.yaml", "TODO.sh", "values.yaml", "src/index.ts", "index.ts") {
			if got := a.Refuse(name) == ""; name != "conf/other.yaml" && name != "src/index.ts" && got != slices.Contains(want, name) {
				t.Errorf("%q frees %s: %v", text, name, got)
			}
		}
	}
}

func TestUnaskedChanges(t *testing.T) {
	changes := []Change{edit("app/settings.yaml"), edit("any.go"), add("any_test.go", "func TestA(t *testing.T) {"), add("new.yaml", "x"), rename("app/settings.yaml", "settings.yaml"), remove("old.toml")}
	var got []string
	for _, r := range asked().Check(changes, []string{"old.*"}) {
		got = append(got, r.Rule+" "+r.Path)
	}
	if want := []string{RuleUnasked + " any.go", RuleUnasked + " new.yaml", RuleUnasked + " settings.yaml"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	linked := asked("text/a.go")
	linked.Links.Add(map[string]string{"conf/app.yaml": "../app_test.go", "docs": "text"})
	if got := linked.Check([]Change{edit("app_test.go"), add("text/a_test.go", "func TestA(t *testing.T) {")}, nil); len(got) != 1 || got[0].Path != "app_test.go" {
		t.Errorf("what links lead to: %v", got)
	}
	if got := (Asked{}).Check([]Change{edit("a.yaml")}, nil); len(got) != 1 {
		t.Errorf("nobody asked, and got %v", got)
	}
}

// Who only has the name of a test may steer the tests, or be no test at all (threats.md T870).
func TestNamesOfTestsAlone(t *testing.T) {
	none := []string{"scripts/test.py", "scripts/test.js", "config/settings/test.py", "shared/src/commonMain/kotlin/auth/ITokenStore.kt", "cdk/bin/test.ts", "deploy/run_test.py"}
	a := AskedOf(review.Task{Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "a.go"}}}}, append(none, "lib/cart_test.dart", "src/cart.test.ts", "shop/tests.py", "tests/smoke_test.c", "lib/cart_test.py"))
	declares := map[string]string{".dart": "  test('a', () {", ".ts": "it('a', () => {", ".py": "def test_a():", ".js": "it('a', () => {", ".kt": "@Test", ".c": "int main(void) {"}
	for _, name := range none {
		c := Change{Path: name, Status: 'M', Added: []Line{{N: 2, Text: declares[path.Ext(name)]}}, Content: []string{"run", declares[path.Ext(name)]}}
		if got := a.Check([]Change{c}, nil); len(got) != 1 || !strings.Contains(got[0].Detail, "no test that prloop knows") {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, name := range []string{"lib/cart_test.dart", "src/cart.test.ts", "shop/tests.py", "tests/smoke_test.c", "lib/cart_test.py"} {
		stood := Change{Path: name, Status: 'M', Added: []Line{{N: 2, Text: "x"}}, Content: []string{declares[path.Ext(name)], "x"}}
		renamed := Change{Path: name, Status: 'M', Removed: []Line{{N: 1, Text: declares[path.Ext(name)]}}, Added: []Line{{N: 1, Text: "x"}}, Content: []string{"x"}}
		if got := a.Check([]Change{stood, renamed}, nil); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, text := range map[string]string{"scripts/test.py": "def test_a():", "config/test.py": "class TestConfig(Base):", "lib/cart_test.py": "class TestRunner(Base):", "shop/tests.py": "def test(name):"} {
		c := Change{Path: name, Status: 'M', Added: []Line{{N: 2, Text: "x"}}, Content: []string{text, "x"}}
		if got := AskedOf(review.Task{}, []string{name}).Check([]Change{c}, nil); len(got) != 1 {
			t.Errorf("%s with %s may be changed", name, text)
		}
	}
	helper := AskedOf(review.Task{}, []string{"shop/cart.go", "shop/export_test.go"})
	if got := helper.Check([]Change{edit("shop/export_test.go"), add("shop/suite_test.go", "var _ = Describe(\"a\", func() {")}, nil); len(got) != 0 {
		t.Errorf("tests of Go: %v", got)
	}
	if got := a.Check([]Change{add("lib/evil_test.py", "import os"), add("lib/tax_test.py", "def test_a():")}, nil); len(got) != 1 || got[0].Path != "lib/evil_test.py" {
		t.Errorf("new files: %v", got)
	}
}

// What a fixer and an author write costs no more than what a fix may have, however many files and words there are.
func TestManyUnaskedFiles(t *testing.T) {
	a := AskedOf(review.Task{Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "a.go", Description: "see index.ts, " + strings.Repeat("a b ", 1<<20)}}}}, []string{"x/index.ts"})
	var changes []Change
	for i := range 20000 {
		changes = append(changes, add(fmt.Sprintf("a b/%d/index.ts", i), "x"))
	}
	if got := a.Check(changes, nil); len(got) != len(changes) {
		t.Errorf("%d of %d are refused", len(got), len(changes))
	}
}

func BenchmarkUnasked(b *testing.B) {
	words := strings.Repeat("see a/b/c.yaml and other words, ", 30000)
	var changes []Change
	for i := range 20000 {
		changes = append(changes, add(fmt.Sprintf("a/b/c/d/e/f/%d.yaml", i), "x"))
	}
	for b.Loop() {
		AskedOf(review.Task{Fix: &review.FixPayload{IssuesToFix: []review.Finding{{Description: words}}}}, []string{}).Check(changes, nil)
	}
}

// What neither the pull request changes nor a finding is about is told to who reads of the fix.
func TestBeside(t *testing.T) {
	task := review.Task{Brief: review.Brief{Files: []review.BriefFile{{Path: "a.go"}, {Path: `"caf\351.go"`}}}, Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "b.go"}}}}
	got := AskedOf(task, nil).Beside([]Change{{Path: "a.go"}, {Path: "caf\xe9.go"}, {Path: "b.go"}, {Path: "c.go"}, {Path: "d/new.go"}})
	if want := []string{"c.go", "d/new.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
