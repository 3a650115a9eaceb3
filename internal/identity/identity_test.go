package identity

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

func at(n int) *int { return &n }

func TestFingerprint(t *testing.T) {
	base := review.Finding{Category: "bug", File: "a.go", Evidence: "if err != nil {\n\treturn nil\n}", Title: "one"}
	same := base
	same.Category, same.Evidence, same.Title, same.Line = "Bugs", "if err != nil { return nil }", "other words", at(9)
	if Fingerprint(base) != Fingerprint(same) || len(Fingerprint(base)) != 16 {
		t.Error("white space, title and line do not count, spellings of a category are one")
	}
	for name, change := range map[string]func(*review.Finding){
		"category": func(f *review.Finding) { f.Category = "style" }, "file": func(f *review.Finding) { f.File = "b.go" },
		"evidence": func(f *review.Finding) { f.Evidence = "if err == nil { return nil }" },
	} {
		other := base
		if change(&other); Fingerprint(other) == Fingerprint(base) {
			t.Errorf("%s counts", name)
		}
	}
	base.Evidence = "return nil"
	if Fingerprint(base) != "" {
		t.Error("code that stands everywhere is no fingerprint")
	}
}

func TestTwoStepRule(t *testing.T) {
	old := review.Finding{ID: "old", Category: "bug", File: "a.go", Line: at(40), Title: "Close error of the response body is ignored", Description: "resp.Body.Close returns an error nobody looks at."}
	reworded := review.Finding{ID: "new", Category: "error_handling", File: "a.go", Line: at(44), Title: "Ignored error", Description: "The error returned by resp.Body.Close is ignored; the body may leak."}
	moved := func(file string, line int) (string, int, bool) { return file, line + 100, true }
	gone := func(file string, line int) (string, int, bool) { return "b.go", 0, false }
	for _, row := range []struct {
		name   string
		change func(a, b *review.Finding)
		move   Move
		want   bool
	}{
		{"reworded, related category, lines close", func(a, b *review.Finding) {}, nil, true},
		{"another file", func(a, b *review.Finding) { b.File = "c.go" }, nil, false},
		{"category of another family", func(a, b *review.Finding) { b.Category = "tests" }, nil, false},
		{"a category nobody knows tells nothing", func(a, b *review.Finding) { b.Category = "gremlins" }, nil, true},
		{"lines far apart", func(a, b *review.Finding) { b.Line = at(140) }, nil, false},
		{"lines close after mapping through the diff", func(a, b *review.Finding) { b.Line = at(140) }, moved, true},
		{"lines that were close and no longer are", func(a, b *review.Finding) {}, moved, false},
		{"a range reaches to the other line", func(a, b *review.Finding) { b.Line = at(80); a.LineEnd = at(70) }, nil, true},
		{"a line that is not known does not part them", func(a, b *review.Finding) { b.Line = nil }, nil, true},
		{"the file was renamed and the line is gone", func(a, b *review.Finding) { b.File = "b.go"; b.Line = at(900) }, gone, true},
		{"other words", func(a, b *review.Finding) {
			b.Title, b.Description = "Quadratic loop", "Every order is compared with each other order."
		}, nil, false},
		{"equal fingerprints, other words, lines far apart", func(a, b *review.Finding) {
			a.Evidence, b.Evidence, b.Category = "defer resp.Body.Close()", "defer  resp.Body.Close()", "bug"
			b.Title, b.Description, b.Line = "Leak", "", at(900)
		}, nil, true},
	} {
		a, b := old, reworded
		row.change(&a, &b)
		if got := len(Match([]review.Finding{a}, []review.Finding{b}, row.move)) == 1; got != row.want {
			t.Errorf("%s: matched %v, similarity %.2f", row.name, got, profileOf(a.Title+a.Description).similarity(profileOf(b.Title+b.Description)))
		}
	}
}

func TestAssignmentIsOneToOne(t *testing.T) {
	f := review.Finding{Category: "bug", File: "a.go", Line: at(10), Title: "error of Close is ignored"}
	near, far := f, f
	near.Line, far.Line = at(12), at(20)
	got := Match([]review.Finding{f}, []review.Finding{far, near}, nil)
	if len(got) != 1 || got[0].B != 1 {
		t.Errorf("two equal candidates: the nearer one, once; got %+v", got)
	}
}

func TestNobodySupportsTwice(t *testing.T) {
	by := func(name string, line int) review.Finding {
		return review.Finding{Category: "bug", File: "a.go", Line: at(line), Title: "error of Close is ignored", Source: review.Source{Name: name}}
	}
	groups := Join([]review.Finding{by("r1", 1), by("r1", 2), by("r2", 2), by("r3", 3)})
	var sizes []int
	for _, g := range groups {
		sizes = append(sizes, len(g))
	}
	slices.Sort(sizes)
	if d := cmp.Diff([]int{1, 3}, sizes); d != "" {
		t.Errorf("one group of three reviewers, and r1's other finding by itself: %v", groups)
	}
}

var phrases = []string{"error of Close is ignored", "ignored error from Close", "loop never ends", "the loop does not end when n is 0", "token is logged", "token written to the log", "typo", ""}

func anyFindings() *rapid.Generator[[]review.Finding] {
	one := rapid.Custom(func(t *rapid.T) review.Finding {
		f := review.Finding{Priority: review.P1, Category: rapid.SampledFrom([]string{"bug", "logic", "style", "x"}).Draw(t, "c"), File: rapid.SampledFrom([]string{"a.go", "b.go", ""}).Draw(t, "f"),
			Title: rapid.SampledFrom(phrases).Draw(t, "t"), Evidence: rapid.SampledFrom([]string{"", "x := compute(all)", "return nil"}).Draw(t, "e"), Source: review.Source{Name: rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "s")}}
		if n := rapid.IntRange(0, 40).Draw(t, "l"); n > 0 {
			f.Line = at(n)
		}
		return f
	})
	return rapid.SliceOfN(one, 0, 9)
}

// numbered makes findings distinct, so that an answer in indexes can be compared after shuffling.
func numbered(list []review.Finding) []review.Finding {
	for i := range list {
		list[i].ID = fmt.Sprint(i)
	}
	return list
}

func shuffled(t *rapid.T, list []review.Finding) []review.Finding {
	out := slices.Clone(list)
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestOrderChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbered(anyFindings().Draw(t, "a")), numbered(anyFindings().Draw(t, "b"))
		join := func(list []review.Finding) (out [][]string) {
			for _, g := range Join(list) {
				var ids []string
				for _, i := range g {
					ids = append(ids, list[i].ID)
				}
				out = append(out, ids)
			}
			return out
		}
		if d := cmp.Diff(join(a), join(shuffled(t, a))); d != "" {
			t.Fatalf("Join: %s", d)
		}
		match := func(a, b []review.Finding) map[string]string {
			out := map[string]string{}
			for _, p := range Match(a, b, nil) {
				out[a[p.A].ID] = b[p.B].ID
			}
			return out
		}
		if d := cmp.Diff(match(a, b), match(shuffled(t, a), shuffled(t, b))); d != "" {
			t.Fatalf("Match: %s", d)
		}
	})
}

func TestGroupsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := anyFindings().Draw(t, "findings")
		count := make([]int, len(list))
		for _, g := range Join(list) {
			who := map[string]bool{}
			for _, i := range g {
				count[i]++
				if who[list[i].Source.Name] {
					t.Fatalf("%s stands twice in a group", list[i].Source.Name)
				}
				who[list[i].Source.Name] = true
			}
		}
		for i, n := range count {
			if n != 1 {
				t.Fatalf("finding %d stands in %d groups", i, n)
			}
		}
		for _, p := range Match(list, list, nil) {
			if p.Score < 0 || p.Score > 1.0000001 {
				t.Fatalf("score %v", p.Score)
			}
		}
	})
}

// A category about security is known by its words, not by one spelling; other categories are none.
func TestSecurity(t *testing.T) {
	for category, want := range map[string]bool{
		"security": true, "Security": true, "vulnerabilities": true, "security_issue": true, "Security / injection": true, "sql-injection": true, "XSS": true, "cwe-89": true, "auth": true,
		"cryptography": true, "hardcoded secrets": true, "path traversal": true, "appsec": true,
		"Insecure Deserialization": true, "credential": true, "hardcoded_password": true, "Broken access control": true, "sqlInjection": true, "SQLi": true, "idor": true, "information disclosure": true,
		"remote code execution": true, "privilege-escalation": true, "CWE89": true, "cybersecurity": true, "input sanitization": true, "exploitable": true,
		"command execution": true, "data exposure": true, "sensitive data-exposure": true, "TOCTOU": true, "tampering": true, "malware": true, "buffer overflow": true, "use after free": true, "use-after-free": true, "memory safety": true, "DoS": true,
		"authorisation": true, "unauthorised access": true, "unauthorized": true, "brokenAuthorization": true, "deserialisation": true, "unsafe deserialization": true, "tampered": true, "memory corruption": true, "memory-unsafety": true, "vuln": true,
		"DataExposure": true, "useAfterFree": true, "BufferOverflow": true, "commandExecution": true, "XMLExternalEntity": true, "out-of-bounds write": true, "double free": true, "heap overflow": true, "session hijacking": true, "MITM": true, "ssti": true,
		"hardcoded key": true, "hard-coded key": true, "private key": true, "weak hash": true, "certificate validation": true, "timing attack": true, "DDoS": true, "OAuth": true, "SQLInjection": true, "sql injections": true,
		"dependencyInjection": false, "DependencyInjection": false, "errorHandling": false, "authoring": false, "authorship": false, "out-of-bounds read": false, "primary key": false, "hash": false, "serialization": false, "unsafe": false, "session": false,
		"leak": false, "resource leak": false, "safety": false, "todos": false, "integer overflow": false, "text overflow": false,
		"bug": false, "logic": false, "style": false, "dependency injection": false, "author": false, "tokenizer": false, "method signature": false, "memory leak": false, "error_handling": false, "injector": false, "performance": false, "": false, "discussion": false,
	} {
		if Security(category) != want {
			t.Errorf("%q: %v", category, !want)
		}
	}
}

// What may not be a pair is none, and takes nothing from those that may.
func TestMatchAmong(t *testing.T) {
	f := review.Finding{Category: "bug", File: "a.go", Line: at(9), Title: "Close error of the response body is ignored"}
	near := f
	near.Line = at(12)
	got := MatchAmong([]review.Finding{f, near}, []review.Finding{f}, nil, func(a, _ int) bool { return a == 1 })
	if len(got) != 1 || got[0].A != 1 || got[0].B != 0 {
		t.Errorf("%+v", got)
	}
}
