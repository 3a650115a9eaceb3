package pushpolicy

import (
	"slices"
	"testing"
)

// A fix adds nothing at which a line ends for anybody but git, in whatever file, and nothing that Java reads so; what stood may stay (threats.md T783).
func TestHiddenLines(t *testing.T) {
	type side = []string
	for _, c := range []struct {
		name           string
		removed, added side
		refused        bool
	}{
		{"src/a.py", nil, side{"# note\rimport unittest; raise unittest.SkipTest()"}, true},
		{"src/a.js", nil, side{"// note\u2028process.exit(0)"}, true},
		{"src/a.js", nil, side{"// note\u2029process.exit(0)"}, true},
		{"src/a.cs", nil, side{"// note\u0085[Ignore]"}, true},
		{"docs/a.md", nil, side{"a\fb"}, true},
		{"a.go", nil, side{"a\vb"}, true},
		{"a.py", nil, side{"a", "b\r\rc\r"}, true},
		{"a.py", nil, side{"a\r", "b\r", "\r"}, false},
		{"a.py", side{"a\rb"}, side{"a\rc"}, false},
		{"a.py", side{"a\rb"}, side{"a\rb\rc"}, true},
		{"a.py", side{"a\fb"}, side{"a\rb"}, true},
		{"a.py", side{"a", "b"}, side{"a\r", "b\r"}, false},
		{"src/A.java", nil, side{`// note \u000a @Disabled`}, true},
		{"src/A.java", nil, side{`// note \uuu000D @Disabled`}, true},
		{"src/A.java", nil, side{`\u0040Disabled`}, true},
		{"src/A.groovy", nil, side{`@D\u0069sabled`}, true},
		{"src/A.scala", nil, side{`\\\u0040x`}, true},
		{"src/A.java", nil, side{`"\\u0040 \\\\u000a"`, `'\u0000' + "\u001b[31m" + "\u00e9"`}, false},
		{"src/A.java", side{`"\u0041"`}, side{`"\u0041" + x`}, false},
		{"src/a.kt", nil, side{`"\u0041"`}, false},
		{"src/a.js", nil, side{`"\u003c\n"`}, false},
	} {
		change := edit(c.name)
		change.Removed, change.Added = lines(1, c.removed...), lines(1, c.added...)
		got := rules(Check([]Change{change}, Limits{}, []string{"**"}, nil))
		if slices.Contains(got, RuleHiddenLine) != c.refused || !c.refused && len(got) > 0 {
			t.Errorf("%s: %q becomes %q: %v", c.name, c.removed, c.added, got)
		}
	}
	if got := rules(Check([]Change{remove("a.py", "a\rb")}, Limits{}, nil, nil)); len(got) > 0 {
		t.Errorf("a file that goes: %v", got)
	}
}

// What takes the place of text behind such a sign is read as the line it is.
func TestTestsBehindHiddenLines(t *testing.T) {
	for name, row := range map[string][2]string{
		"tests/test_a.py":  {"# note\rx = 1", "# note\rpytestmark = pytest.mark.skip()"},
		"src/a.test.js":    {"// note\u2028a()", "// note\u2028it.skip('a', () => {})"},
		"tests/test_b.py":  {"# note\rdef test_login():", "# note\rdef login():"},
		"tests/ATest.java": {"// note\rint x;", "// note\r @Disabled"},
	} {
		change := edit(name)
		change.Removed, change.Added = lines(1, row[0]), lines(7, row[1])
		got := Tests([]Change{change})
		if len(got) != 1 || got[0].Kind != TestSkipped && got[0].Kind != TestDeleted || got[0].Line != 7 && got[0].Kind == TestSkipped {
			t.Errorf("%s: %+v", name, got)
		}
		if change.Added[0].Text != row[1] {
			t.Errorf("%s: the change itself became %+v", name, change)
		}
	}
}
