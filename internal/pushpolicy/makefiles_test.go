package pushpolicy

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// makefilesOf reads trees whose files are given by their texts.
func makefilesOf(t *testing.T, trees ...map[string]string) *Makefiles {
	t.Helper()
	m := &Makefiles{}
	for _, tree := range trees {
		sizes := map[string]int64{}
		for name, text := range tree {
			sizes[name] = int64(len(text))
		}
		if err := m.Add(sizes, reading(tree)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestMakeTargets(t *testing.T) {
	all, phony := MakeTargets("CC := a:b\nX ?= y\nexport P := q\n.PHONY: lint \\\n  test # all\n.PHONY : $(MORE) vet\r\nlint test:: go.mod\n\techo a: b\nbuild &: x\n" +
		"bin/app ./gen: LDFLAGS = -s\nifdef X\n  fmt:\nendif\n$(OUT): x\n%.o: %.c\n# note: x\nlast:")
	if got, want := slices.Sorted(maps.Keys(all)), strings.Fields("./gen bin/app build fmt last lint test"); !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(phony)), strings.Fields("lint test vet"); !slices.Equal(got, want) {
		t.Errorf("phony %q, want %q", got, want)
	}
}

// A new file or folder that has the name of a target switches it off (threats.md T729).
func TestNewNamesAreNoTargets(t *testing.T) {
	base := map[string]string{"Makefile": "test:\n\tgo test\n.PHONY: lint\nlint:\n\tgo vet\nbin/app: main.go\n", "main.go": "", "old/test/a.go": "", "old/makefile": "test: x\n"}
	head := map[string]string{"Makefile": base["Makefile"] + "docs:\n", "sub/GNUmakefile": "unit:\n", "free/Makefile": "-include x.mk\n.PHONY: build\n", "mk/common.mk": "e2e:\n.PHONY: fuzz\nfuzz:\n"}
	m := makefilesOf(t, base, head)
	for name, want := range map[string]string{
		"test": "test", "test/a_test.go": "test", "Test/x": "Test", "bin/app": "bin/app", "docs/a.md": "docs", "sub/unit": "sub/unit", "e2e/x.js": "e2e", "sub/e2e": "sub/e2e", "free/lint": "free/lint",
		"lint": "", "lint/x.go": "", "tests/x.go": "", "pkg/test/x.go": "", "bin/other": "", "sub/test": "", "free/build/x": "", "free/unit": "", "old/test/b.go": "", "fuzz": "", "build/x": "", "mk/test": "",
	} {
		for _, c := range []Change{add(name, "x"), rename("a", name)} {
			refused := m.Check([]Change{c}, nil)
			switch {
			case want == "" && len(refused) > 0, want != "" && (len(refused) != 1 || refused[0].Rule != RuleProtectedPath || !strings.Contains(refused[0].Detail, "target `"+want+"` ")):
				t.Errorf("%c %s: %+v, want %q", c.Status, name, refused, want)
			}
		}
	}
	if got := append(m.Check([]Change{edit("test"), remove("test", "x")}, nil), m.Check([]Change{add("test", "x")}, []string{"test"})...); len(got) > 0 {
		t.Errorf("what is there, or opened: %+v", got)
	}
	if got := (&Makefiles{}).Check([]Change{add("test", "x")}, nil); len(got) > 0 {
		t.Errorf("without a makefile: %+v", got)
	}
	large := makefilesOf(t, map[string]string{"Makefile": strings.Repeat("x", MakefileBytes+1)})
	if got := large.Check([]Change{add("lint", "x"), add("other", "x")}, nil); len(got) != 1 || got[0].Path != "lint" {
		t.Errorf("a makefile that is not read: %+v", got)
	}
}
