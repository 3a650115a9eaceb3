package pushpolicy

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/review"
)

func asked() Asked {
	return AskedOf(review.Task{
		Brief: review.Brief{Files: []review.BriefFile{{Path: "app/settings.yaml"}, {Path: "ops/new.sh", OldPath: "ops/old.sh"}, {Path: `"odd\tname.json"`}}},
		Fix: &review.FixPayload{
			IssuesToFix: []review.Finding{
				{File: "deploy/values.yaml", Title: "The key is not in web/locales/de.json", Description: "Neither is it in `fr.json`, or ./it.json.", Suggestion: "Run the release."},
				{File: "a.go", Evidence: "include: ci/steps.yml", Assessment: &review.Assessment{Fact: &review.Fact{File: "data/rates.csv"}}},
			},
			OptionalIssues: []review.Finding{{Description: "see conf/limits.toml... and conf/limits.toml.bak"}},
		},
	})
}

func TestUnasked(t *testing.T) {
	for name, want := range map[string]bool{
		"app/settings.yaml": true, "ops/new.sh": true, "ops/old.sh": true, "odd\tname.json": true, // of the pull request
		"deploy/values.yaml": true, "data/rates.csv": true, // what findings are about
		"web/locales/de.json": true, "web/locales/fr.json": true, "web/locales/it.json": true, "conf/limits.toml": true, "conf/limits.toml.bak": true, // what they name
		"other/de.json": false, "locales/de.json": false, "web/locales/en.json": false, "xfr.json": false, "release": false, "bin/release": false, "limits.toml": false,
		"ci/steps.yml":  false, // stands in code that a finding quotes
		"any/source.go": true, "docs/page.md": true, "web/page.html": true, "db/1.sql": true, "new/module.py": true, // source, pages and prose
		"x/testdata/a.json": true, "tests/run.sh": true, "spec/fixtures/a.yaml": true, "web/a.snap": true, // tests and what belongs to them
		"scripts/x.sh": false, "x.ps1": false, "infra/main.tf": false, "tools/x.bzl": false, "jobs/x.groovy": false, "x.mk": false, "a.xml": false, "notes.txt": false, "Procfile": false, "x.unheard": false,
	} {
		if got := asked().Refuse(name) == ""; got != want {
			t.Errorf("%q may be changed: %v", name, got)
		}
	}
}

func TestUnaskedChanges(t *testing.T) {
	changes := []Change{edit("app/settings.yaml"), edit("any.go"), add("new.yaml", "x"), rename("app/settings.yaml", "settings.yaml"), remove("old.toml")}
	var got []string
	for _, r := range asked().Check(changes, []string{"old.*"}) {
		got = append(got, r.Rule+" "+r.Path)
	}
	if want := []string{RuleUnasked + " new.yaml", RuleUnasked + " settings.yaml"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (Asked{}).Check([]Change{edit("a.yaml")}, nil); len(got) != 1 {
		t.Errorf("nobody asked, and got %v", got)
	}
}
