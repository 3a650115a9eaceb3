package escalate

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

var update = flag.Bool("update", false, "rewrite the truth table")

// scans are all a scan can come to.
func scans() (out []Scan) {
	for _, c := range []review.Complexity{review.TrivialChange, review.SimpleChange, review.ComplexChange} {
		for _, v := range []review.ScanVerdict{review.LooksGood, review.Flag} {
			out = append(out, Scan{true, c, v}, Scan{false, c, v})
		}
	}
	return append(out, Scan{})
}

func (s Scan) String() string {
	if s.Complexity == "" {
		return "no answer"
	}
	out := string(s.Complexity) + " " + string(s.Verdict)
	if !s.Whole {
		out += ", not whole"
	}
	return out
}

// changes are those that the triggers before a scan tell apart.
var changes = []struct {
	name string
	Facts
}{
	{"nothing special", Facts{Paths: []string{"a.go"}, Lines: 400, Labels: []string{"bug"}}},
	{"a label", Facts{Paths: []string{"a.go"}, Labels: []string{"bug", "Needs-Review"}}},
	{"a label that holds", Facts{Paths: []string{"a.go"}, Held: []string{"needs-review"}}},
	{"a path", Facts{Paths: []string{"a.go", "db/schema/1.sql"}}},
	{"moved out of a path", Facts{Paths: []string{"a.sql", "db/a.sql"}}},
	{"a masked name", Facts{Paths: []string{"a.go", "[REDACTED]~1f3a/a.sql"}, Unknown: "[REDACTED]~1f3a/a.sql", Why: "a part of its name is masked"}},
	{"401 lines", Facts{Paths: []string{"a.go"}, Lines: 401}},
	{"a stranger", Facts{Paths: []string{"a.go"}, Untrusted: true}},
	{"all of it", Facts{Paths: []string{"db/a.sql"}, Lines: 9999, Labels: []string{"needs-review"}, Untrusted: true}},
}

// table is the truth table: what each trigger makes of each change, and of each scan.
func table() string {
	all := Triggers{Paths: []string{"db/**"}, Labels: []string{"needs-review"}, OverLines: 400, Untrusted: true}
	var b strings.Builder
	say := func(tier Tier, name, why string) {
		if why == "" {
			why = "-"
		}
		fmt.Fprintf(&b, "  %-6s %-26s %s\n", tier, name, why)
	}
	b.WriteString("# Why a change is reviewed in full; - is a scan alone.\n")
	for _, t := range []struct {
		name string
		Triggers
	}{
		{"no trigger", Triggers{}}, {"labels", Triggers{Labels: all.Labels}}, {"paths", Triggers{Paths: all.Paths}},
		{"over_lines", Triggers{OverLines: 400}}, {"untrusted", Triggers{Untrusted: true}}, {"all of them", all},
	} {
		fmt.Fprintf(&b, "\nbefore the scan, %s\n", t.name)
		for _, tier := range Tiers {
			for _, c := range changes {
				say(tier, c.name, Before(tier, t.Triggers, c.Facts))
			}
		}
	}
	for _, t := range []struct {
		name string
		Triggers
	}{{"no trigger", Triggers{}}, {"on_complex", Triggers{OnComplex: true}}, {"on_flag", Triggers{OnFlag: true}}, {"both", Triggers{OnComplex: true, OnFlag: true}}} {
		fmt.Fprintf(&b, "\nafter the scan, %s\n", t.name)
		for _, tier := range []Tier{Quick, Auto} {
			for _, s := range scans() {
				say(tier, s.String(), After(tier, t.Triggers, s))
			}
		}
	}
	return b.String()
}

func TestTruthTable(t *testing.T) {
	const file = "testdata/truth.txt"
	got := table()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the truth table is another one:\n%s", got)
	}
}

// What no line of the table may ever say.
func TestLaws(t *testing.T) {
	for _, s := range scans() {
		for _, tr := range []Triggers{{}, {OnComplex: true}, {OnFlag: true}, {OnComplex: true, OnFlag: true}} {
			at := fmt.Sprintf("%+v, %s", tr, s)
			auto := After(Auto, tr, s)
			switch {
			case After(Quick, tr, s) != "":
				t.Errorf("%s: the quick tier escalates", at)
			case auto != "" && !tr.OnComplex && !tr.OnFlag:
				t.Errorf("%s: it escalates without a trigger", at)
			case auto == "" && !s.Whole && (tr.OnComplex || tr.OnFlag):
				t.Errorf("%s: what was not seen is ruled out", at)
			case auto == "" && tr.OnFlag && s.Verdict == review.Flag, auto == "" && tr.OnComplex && s.Complexity == review.ComplexChange:
				t.Errorf("%s: the trigger is passed over", at)
			case auto != "" && s.Whole && s.Complexity != review.ComplexChange && s.Verdict == review.LooksGood:
				t.Errorf("%s: it escalates what is simple and looks good", at)
			}
		}
	}
}

// However a person writes a path, a change below it is reviewed in full: one that names nothing would be heard by nobody.
func TestPathsAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"auth", "auth/login.go", true},
		{"auth", "auth/eu/login.go", true},
		{"auth", "auth", true},
		{"**/auth", "pkg/auth/login.go", true},
		{"auth/", "auth/login.go", true},
		{"/auth/**", "auth/login.go", true},
		{"Auth/**", "auth/login.go", true},
		{"auth", "AUTH/Login.go", true},
		{"r\u00e9seau/*", "re\u0301seau/a.go", true},
		{"re\u0301seau", "R\u00c9SEAU/a.go", true},
		{"[^A]uth", "auth/login.go", true}, // as it is written, too
		{"auth", "author/login.go", false},
		{"auth", "pkg/auth/login.go", false},
		{"auth/*.go", "auth/note.txt", false},
	} {
		if got := Before(Auto, Triggers{Paths: []string{c.pattern}}, Facts{Paths: []string{c.file}}) != ""; got != c.want {
			t.Errorf("%q and %q: %v", c.pattern, c.file, got)
		}
	}
}
