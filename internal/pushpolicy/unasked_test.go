package pushpolicy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// asked is what a task asks for in a repository with some files.
func asked(stood ...string) Asked {
	return AskedOf(review.Task{
		Brief: review.Brief{Files: []review.BriefFile{{Path: "app/settings.yaml"}, {Path: "ops/new.sh", OldPath: "ops/old.sh"}, {Path: `"odd\tname.json"`}, {Path: "web/locales/en.json"}}},
		Fix: &review.FixPayload{
			IssuesToFix: []review.Finding{
				{File: "deploy/dev/values.yaml", Title: "The key is not in web/texts/de.json", Description: "Neither is it in `fr.json`, values.yaml sets no limit.", Suggestion: "Run the release and test VERSION."},
				{File: "a.go", Evidence: "include: ci/steps.yml", Assessment: &review.Assessment{Reason: "It also stands in conf/base.ini.", Fact: &review.Fact{File: "data/rates.bin"}}},
			},
			OptionalIssues: []review.Finding{
				{File: "a.go", Description: "see conf/limits.toml... and conf/limits.toml.bak", Source: review.Source{Type: "comment"}},
				{File: "deploy/prod/values.yaml", Description: "The name is as in tools/ship.sh.", Assessment: &review.Assessment{Reason: "And in tools/ship.toml."}, Source: review.Source{Type: "agent"}},
			},
		},
	}, stood)
}

func TestUnasked(t *testing.T) {
	stood := []string{"ui/locales/de.json", "src/main/resources/application.yml", "CHANGELOG", "docs/deps.txt", "app/src/main/res/values/strings.xml", "appsettings.json", "environments/test/main.tf",
		"features/flags.yaml", "pkg/a_test.go", "pkg/deep/a.json", "tests/all.yaml", "tests/fixtures/x.toml", "tests/web.yaml.j2", "tests/unit/log.conf", "src/features/cart/cart.ts", "src/features/cart/cart.spec.ts", "src/features/flags/prod.yaml",
		"environments/test/inventory.py", "environments/test/group_vars/all.yml", "lib/testing/__init__.py", "lib/testing/x.json", "spec/generate.py", "spec/pipeline.yml", "src/main/java/shop/test/LoadTest.java", "src/main/java/shop/test/x.json", "tests/unit/test_a.py", "e2e/run.sh", "api/openapi.yaml", "openapi-deployment.yaml", "charts/app/Chart.yaml", "charts/app/templates/web.yaml",
		"roles/locale/tasks/main.yml", "clusters/translations/x.yaml", "src/infra/resources/main.tf", "tests/main.tf", "schema.prisma", "web.yaml.ftl", "scripts/changelog", "ui/locales/x.tf.json", "mail/templates/a.html"}
	for name, want := range map[string]bool{
		"app/settings.yaml": true, "ops/new.sh": true, "ops/old.sh": true, "odd\tname.json": true, // of the pull request
		"deploy/dev/values.yaml": true, "data/rates.bin": true, // what findings are about
		"web/texts/de.json": true, "x/web/texts/de.json": true, "web/locales/fr.json": true, "conf/limits.toml": true, "conf/limits.toml.bak": true, "conf/base.ini": true, "VERSION": true, // what they name
		"tools/ship.sh": false, "tools/ship.toml": false, // what an agent offers (threats.md T822)
		"texts/de.json": false, "other/fr.json": false, "deploy/prod/values.yaml": false, "web/locales/it.json": false, "web/locales/xfr.json": false, "release": false, "bin/release": false, "test": false,
		"limits.toml": false, "ci/steps.yml": false, // the last stands in code that a finding quotes
		"any/source.go": true, "docs/page.md": true, "web/page.html": true, "db/1.sql": true, "new/module.py": true, "a.pyx": true, "x.twig": true, // source, pages and prose
		"page.html.erb": true, "mail.html.j2": true, "model.go.tmpl": true, "web.yaml.erb": false, "helmfile.yaml.gotmpl": false, "init.sh.tmpl": false, "sudoers.j2": false, "x.tmpl": false, "card.hbs": true, "card.html.twig": true, "app.yaml.hbs": false, "nginx.conf.ejs": false, "rel/env.sh.eex": false, "rel/vm.args.eex": false, "page.html.heex": true, "x.heex": true, "nginx.conf.templ": false, "x.coffee.erb": true, // what templates make
		"ui/locales/de.json": true, "src/main/resources/application.yml": true, "CHANGELOG": true, "app/src/main/res/values/strings.xml": true, "appsettings.json": true, // data that stands
		"api/openapi.yaml": true, "docs/deps.txt": false, "openapi-deployment.yaml": false, "roles/locale/tasks/main.yml": false, "clusters/translations/x.yaml": false, "src/infra/resources/main.tf": false, "schema.prisma": false, "web.yaml.ftl": false, "ui/locales/new.json": false, "clusters/locales/evil.yaml": false, "docs/new.txt": false,
		"pkg/testdata/a.json": true, "pkg/a.snap": true, "tests/unit/data/a.yaml": true, "tests/fixtures/new.yaml": true, "pkg/a.approved.json": true, "features/shop/login.feature": true, // tests and what belongs to them
		"pkg/testdata/a.yaml": false, "pkg/b.json": false, "tests/unit/a.json": false, "tests/run.sh": false, "tests/fixtures/x.toml": false, "tests/unit/pyvenv.cfg": false, "tests/unit/activate": false, "tests/unit/log.conf": false, "tests/web.yaml.j2": false, // where no such data stood, and what is none (threats.md T823)
		"src/features/flags/prod.yaml": false, "src/features/flags/publish.sh": false, "environments/test/group_vars/all.yml": false, "lib/testing/x.json": false, "spec/pipeline.yml": false, "src/main/java/shop/test/x.json": false, // where the program stands (threats.md T820)
		"environments/test/main.tf": false, "environments/test/new.tf": false, "features/flags.yaml": false, "prod/test_evil.tf": false, "charts/test-evil.yaml": false, "clusters/tests/evil.yaml": false, "e2e/run.sh": false,
		"tests/main.tf": false, "tests/evil/main.tf": false, "tests/evil/main.tf.json": false, "tests/x.auto.tfvars.json": false, "tests/main.tofu": false, "ui/locales/x.tf.json": false, "fixtures/a.json": false, "evil.verified.yaml": false, "pkg/evil.verified.tf": false, "clusters/testdata/evil.yaml": false, "prod/evil.verified.tf": false, "policy.rego": false, "cron.d/test-evil": false,
		"charts/app/templates/evil.md": false, "charts/app/templates/tests/evil.py": false, "mail/templates/b.html": true, "src/evil.d": false, // what Helm and make read
		"scripts/changelog": false, "scripts/x.sh": false, "x.ps1": false, "infra/main.tf": false, "tools/x.bzl": false, "jobs/x.groovy": false, "x.mk": false, "a.xml": false, "notes.txt": false, "Procfile": false, "x.unheard": false,
	} {
		if got := asked(stood...).Refuse(name) == ""; got != want {
			t.Errorf("%q may be changed: %v", name, got)
		}
	}
	for _, name := range []string{"tests/new.yaml", "ui/locales/new.json"} { // to tell a fixer early
		if why := asked().Refuse(name); why != "" {
			t.Errorf("%q where no tree is known: %s", name, why)
		}
	}
}

// A name counts as people, diffs and links write it, in any script.
func TestNamesInWords(t *testing.T) {
	for text, want := range map[string]bool{
		"Add it to locales/de.json.": true, "Add it to /locales/de.json": true, "in _locales/de.json_, or so": true, "请同时更新locales/de.json文件。": true, "locales/de.jsonにも": true, "locales/de.json에도": true,
		"https://github.com/acme/widgets/blob/0123abc/locales/de.json#L3": true, "https://github.com/Acme/Widgets/blob/feature/x/locales/de.json": true, "https://github.com/evil/widgets/blob/0123abc/locales/de.json": false, "all files in locales/": false, "GET /locales/ fails": false, "@locales/de.json": true, `locales\de.json:3`: true, "<locales/de.json>": true,
		"[de](./locales/de.json)": true, "--- a/locales/de.json": true, "app/locales/de.json": false, "locales/de.json.bak": false, "xlocales/de.json": false, "the locales": false, "de.json": false, "locales/de.json5": false,
	} {
		a := AskedOf(review.Task{Repo: review.Repo{Owner: "acme", Name: "widgets"}, Fix: &review.FixPayload{IssuesToFix: []review.Finding{{File: "src/a.go", Description: text}}}}, []string{"src/a.go"})
		if got := a.Refuse("locales/de.json") == ""; got != want {
			t.Errorf("%q names it: %v", text, got)
		}
	}
}

func TestUnaskedChanges(t *testing.T) {
	changes := []Change{edit("app/settings.yaml"), edit("any.go"), add("new.yaml", "x"), rename("app/settings.yaml", "settings.yaml"), remove("old.toml")}
	var got []string
	for _, r := range asked("any.go").Check(changes, []string{"old.*"}) {
		got = append(got, r.Rule+" "+r.Path)
	}
	if want := []string{RuleUnasked + " new.yaml", RuleUnasked + " settings.yaml"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	linked := asked("conf/app.yaml", "docs")
	linked.Links.Add(map[string]string{"conf/app.yaml": "../app.md", "docs": "text"})
	if got := linked.Check([]Change{edit("app.md"), edit("text/a.md")}, nil); len(got) != 1 || got[0].Path != "app.md" {
		t.Errorf("what links lead to: %v", got)
	}
	if got := (Asked{}).Check([]Change{edit("a.yaml")}, nil); len(got) != 1 {
		t.Errorf("nobody asked, and got %v", got)
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

// What packages keep for their tests is free in the layouts that runners have: the folder of one runner, the folder of tests beside a manifest, a folder of data above tests.
func TestFixturesOfRunners(t *testing.T) {
	stood := []string{"package.json", "test/cart.js", "test/data/a.json", "crates/a/Cargo.toml", "crates/a/tests/it.rs", "crates/a/tests/data/a.json", "src/__tests__/a.ts", "src/__fixtures__/x.json", "cypress/e2e/login.ts", "cypress/fixtures/user.json",
		"testdata/a.json", "internal/x/x_test.go", "environments/test/inventory.js", "environments/test/all.yml"}
	for name, want := range map[string]bool{
		"test/data/b.json": true, "crates/a/tests/data/b.json": true, "src/__fixtures__/y.json": true, "cypress/fixtures/b.json": true, "testdata/b.json": true,
		"testdata/b.yaml": false, "fixtures/a.json": false, "crates/b/tests/data/b.json": false, "environments/test/all.yml": false, "src/__fixtures__/run.sh": false,
	} {
		if got := asked(stood...).Refuse(name) == ""; got != want {
			t.Errorf("%q may be changed: %v", name, got)
		}
	}
}
