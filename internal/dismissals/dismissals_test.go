package dismissals

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

func TestRead(t *testing.T) {
	good := "0123456789abcdef | bug | src/a.go | Close error is ignored | mona | 2027-03-31 | the pool closes it | twice"
	list, faults := Read([]byte("# who dismissed what\n\n" + good + "\r\n  0123456789abcdef | bug |  | Flaky | mona | - | known\n0123456789abcdef | P1 bug |  | Races | mona | - | known"))
	want := []Dismissal{
		{File: Name, Line: 3, Mark: &identity.Mark{ID: "0123456789abcdef", Category: "bug", File: "src/a.go", Title: "Close error is ignored"}, By: "mona", Until: "2027-03-31", Why: "the pool closes it | twice"},
		{File: Name, Line: 4, Mark: &identity.Mark{ID: "0123456789abcdef", Category: "bug", Title: "Flaky"}, By: "mona", Why: "known"},
		{File: Name, Line: 5, Priority: review.P1, Mark: &identity.Mark{ID: "0123456789abcdef", Category: "bug", Title: "Races"}, By: "mona", Why: "known"},
	}
	if d := cmp.Diff(want, list); d != "" || faults != nil {
		t.Errorf("%s%v", d, faults)
	}
	for line, what := range map[string]string{
		"0123456789abcdef": "1 of the 7 fields",
		strings.Replace(good, "0123456789abcdef", "ABCDEF0123456789", 1): "is no identity",
		strings.Replace(good, "0123456789abcdef", "0123", 1):             "is no identity",
		strings.Replace(good, "2027-03-31", "2027-02-31", 1):             "is no day",
		strings.Replace(good, "2027-03-31", "", 1):                       `"until" is empty`,
		strings.Replace(good, "mona", "", 1):                             `"who" is empty`,
		strings.Replace(good, "the pool closes it | twice", " ", 1):      "6 of the 7 fields",
		strings.Replace(good, "mona", "mo\u202ena", 1):                   "not visible",
		strings.Replace(good, "mona", "mo\u034fna", 1):                   "not visible",
		strings.Replace(good, "mona", "mo\u3164na", 1):                   "not visible",
		strings.Replace(good, "mona", "mo\xffna", 1):                     "not visible",
		good + strings.Repeat("x", maxLine):                              "more than 2000 bytes",
	} {
		list, faults := Read([]byte(good + "\n" + line + "\n"))
		if len(list) != 1 || len(faults) != 1 || faults[0].Line != 2 || !strings.Contains(faults[0].What, what) {
			t.Errorf("%q: %v, %v; want %q", line, list, faults, what)
		}
	}
	if list, faults := Read([]byte(strings.Repeat(good+"\n", MaxBytes/len(good)+1))); list != nil || len(faults) != 1 {
		t.Errorf("a file that is too large is not read: %d, %v", len(list), faults)
	}
}

// A line says that it is for the value of a secret; one from before lines said so is known by the title of the rule (threats.md T459).
func TestALineForAValue(t *testing.T) {
	secret := review.Finding{Priority: review.P1, Category: "security", File: "a.py", Line: at(7), Title: "Adds a secret written into the code", ValueHash: "01"}
	word, below := secret, secret
	word.ValueHash, word.Title, word.Category = "", "Hardcoded credential", "bug"
	below.ValueHash, below.Line = "", at(8)
	c := Case{Wordings: []review.Finding{word, secret, below}}
	id := identity.ID(c.Wordings)
	for _, row := range []struct {
		of   review.Finding
		want identity.Mark
	}{
		{secret, identity.Mark{ID: id, Category: "security", File: "a.py", Title: secret.Title, Value: true}},
		{word, identity.Mark{ID: id, Category: "security", File: "a.py", Title: word.Title, Value: true}},
		{below, identity.Mark{ID: identity.ID([]review.Finding{below}), Category: "security", File: "a.py", Title: below.Title}},
	} {
		if d := cmp.Diff(row.want, c.MarkOf(row.of, id)); d != "" {
			t.Error(d)
		}
	}
	m := c.MarkOf(word, id)
	line, _ := Dismissal{Mark: &m, Priority: review.P1, By: "mona", Why: "so"}.Text()
	if want := id + " | P1 secret_value | a.py | Hardcoded credential | mona | - | so"; line != want {
		t.Errorf("%q, want %q", line, want)
	}
	debugger := identity.Mark{ID: id, Category: "bug", File: "a.py", Title: "Leaves a debugging aid", Value: true}
	called, _ := Dismissal{Mark: &debugger, Priority: review.P1, By: "mona", Why: "so"}.Text()
	if want := id + " | P1 exact_line | a.py | Leaves a debugging aid | mona | - | so"; called != want {
		t.Errorf("%q, want %q", called, want)
	}
	for said, want := range map[string]bool{
		line: true, called: true,
		strings.ReplaceAll(line, "P1 secret_value | a.py | Hardcoded credential", "P1 security | a.py | Adds a GitHub token"): true,
		strings.ReplaceAll(line, "secret_value", "security"):                                                                  false,
		strings.ReplaceAll(line, "secret_value", "secret"):                                                                    false,
	} {
		if list, faults := Read([]byte(said)); len(list) != 1 || list[0].Mark.Value != want || want && list[0].Mark.Category != "security" {
			t.Errorf("%q: %+v %v", said, list, faults)
		}
	}
	for category, title := range map[string]string{"Secret value": "Hardcoded credential", "security": "Adds a GitHub token"} {
		m = identity.Mark{ID: id, Category: category, File: "a.py", Title: title}
		line, _ := Dismissal{Mark: &m, By: "mona", Why: "so"}.Text()
		if list, _ := Read([]byte(line)); len(list) != 1 || list[0].Mark.Value || !identity.Security(list[0].Mark.Category) {
			t.Errorf("a model's words make a line one for a value: %q", line)
		}
	}
}

// Whatever a title, a name or a reason holds, the line that says it reads as the same dismissal, or none is written.
func TestALineIsReadBack(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a | b", "x|y", " \t ", "é\u202e", "# no comment", "\n"}))
	rapid.Check(t, func(t *rapid.T) {
		d := Dismissal{
			Mark:     &identity.Mark{ID: identity.ID([]review.Finding{{Title: text.Draw(t, "id")}}), Category: text.Draw(t, "category"), File: text.Draw(t, "file"), Title: text.Draw(t, "title")},
			Priority: rapid.SampledFrom([]review.Priority{"", review.P0, review.P1}).Draw(t, "priority"),
			By:       text.Draw(t, "by"), Why: text.Draw(t, "why"), Until: rapid.SampledFrom([]string{"", "2027-03-31"}).Draw(t, "until"),
		}
		line, what := d.Text()
		if what != "" {
			return
		}
		list, faults := Read([]byte(line + "\n"))
		if len(list) != 1 || faults != nil {
			t.Fatalf("%q: %v %v", line, list, faults)
		}
		got := list[0]
		if got.Mark.ID != d.Mark.ID || got.Priority != d.Priority || got.Mark.File != d.Mark.File || got.Until != d.Until || got.Why != folded(d.Why) {
			t.Fatalf("%q is read as %+v", line, got)
		}
		if again, what := got.Text(); again != line || what != "" {
			t.Fatalf("%q becomes %q: %s", line, again, what)
		}
	})
}

func TestReadCode(t *testing.T) {
	text := `package a

func f() {
	g() // prloop:ignore the result is logged
	// prloop:ignore until=2027-03-31 measured: it is 40 ns

	for range   list {}
	# prloop:ignore
	x := "prloop:ignore no comment"
	y := "// prloop:ignore no comment either"
	h() /* prloop:ignore until=soon not today */
}
<!-- prloop:ignore a table is wide -->
-- prloop:ignore nothing below`
	list, faults := ReadCode("a.go", []byte(text))
	want := []Dismissal{
		{File: "a.go", Line: 4, Code: &Code{File: "a.go", Line: 4, Text: "g()"}, Why: "the result is logged"},
		{File: "a.go", Line: 5, Code: &Code{File: "a.go", Line: 7, Text: "for range list {}"}, Until: "2027-03-31", Why: "measured: it is 40 ns"},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
	var lines []int
	for _, f := range faults {
		lines = append(lines, f.Line)
	}
	if d := cmp.Diff([]int{8, 11, 13, 14}, lines); d != "" {
		t.Errorf("%s%v", d, faults)
	}
}

// However many comments stand above one line of code, no line is looked through for each of them.
func TestManyCommentsAboveOneLine(t *testing.T) {
	const many = 200_000
	comments := strings.Repeat("# prloop:ignore so\n", many)
	if list, faults := ReadCode("a.py", []byte(comments)); len(list) != 0 || len(faults) != many {
		t.Errorf("%d without code, %d faults", len(list), len(faults))
	}
	list, faults := ReadCode("a.py", []byte(comments+"pay()\n"+comments+"pay()\n"))
	if len(list) != 2*many || len(faults) != 0 || list[0].Code.Line != many+1 || list[many-1].Code.Line != many+1 || list[many].Code.Line != 2*many+2 || list[0].Code == list[1].Code {
		t.Errorf("%d, %d faults", len(list), len(faults))
	}
	if list, faults := ReadCode("a.py", []byte("# prloop:ignore so\n"+strings.Repeat("x", maxLine+1))); len(list) != 0 || len(faults) != 1 {
		t.Errorf("%v, %v", list, faults)
	}
}

func TestBeside(t *testing.T) {
	for _, row := range []struct{ comment, added, first, last int }{{7, 0, 6, 8}, {7, 6, 7, 8}, {7, 8, 6, 7}, {6, 6, 5, 8}, {6, 5, 6, 8}, {4, 0, 6, 8}} {
		c := Code{Line: 7}
		c.Beside(row.comment, func(line int) bool { return line != row.added })
		if c.First != row.first || c.Last != row.last {
			t.Errorf("%+v: %d to %d", row, c.First, c.Last)
		}
	}
}

func at(n int) *int { return &n }

func agent(f review.Finding) review.Finding {
	f.Source = review.Source{Type: "agent", Name: "r"}
	return f
}

func TestApply(t *testing.T) {
	small := agent(review.Finding{Priority: review.P2, Category: "bug", File: "a.go", Line: at(7), Title: "Close error is ignored", Evidence: "defer resp.Body.Close()"})
	with := func(change func(*review.Finding)) review.Finding {
		f := small
		change(&f)
		return f
	}
	line := func(f review.Finding, commit string) Dismissal {
		d := Dismissal{File: Name, Line: 1, Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}, By: "mona", Why: "so", Commit: commit}
		if f.Priority == review.P0 || f.Priority == review.P1 {
			d.Priority = f.Priority
		}
		return d
	}
	beside := Dismissal{File: "a.go", Line: 7, Code: &Code{File: "a.go", Line: 7, Text: "defer resp.Body.Close()", First: 6, Last: 7}, Why: "so"}
	quoting := func(line, from, to int, text string) review.Finding {
		return with(func(f *review.Finding) { f.Line, f.Quoted, f.Evidence = &line, [2]int{from, to}, text })
	}
	p1, secure := with(func(f *review.Finding) { f.Priority = review.P1 }), with(func(f *review.Finding) { f.Category = "SQL injection" })
	p0, known := with(func(f *review.Finding) { f.Priority = review.P0 }), with(func(f *review.Finding) { f.Category = review.CategorySecurity })
	logged := with(func(f *review.Finding) { f.Line, f.Title, f.Evidence = at(12), "Token is logged", "log.Print(token)" })
	by := func(name string, f review.Finding) review.Finding { f.Source.Name = name; return f }
	token := agent(review.Finding{Priority: review.P0, Category: "security", File: "a.go", Line: at(7), Title: "Adds a secret", Evidence: "TOKEN = [REDACTED]", ValueHash: "01"})
	logging := by("two", agent(review.Finding{Priority: review.P2, Category: "bug", File: "a.go", Line: at(8), Title: "Token is written to the log"}))
	bait := by("three", agent(review.Finding{Priority: review.P3, Category: "bug", File: "a.go", Line: at(7), Title: "Token log write: missing check error nil zero division overflow", Description: "Close error is ignored"}))
	if !identity.Alike(logging, review.Finding{Category: "bug", File: "a.go", Line: at(7), Title: bait.Title}) {
		t.Fatal("the bait is like nothing")
	}
	hashed := func(f review.Finding, hash string) review.Finding { f.ValueHash = hash; return f }
	word := func(at int, title string) review.Finding {
		return by("two", agent(review.Finding{Priority: review.P1, Category: "security", File: "a.go", Line: &at, Title: title, Evidence: "KEY = [REDACTED]"}))
	}
	lasting := func(f review.Finding) review.Finding { f.LineEnd = at(9); return f }
	moved := func(f review.Finding) review.Finding { f.Line = at(70); return f }
	value := func(f review.Finding) Dismissal { d := line(f, "c1"); d.Mark.Value = true; return d }
	until := func(d Dismissal, day string) Dismissal { d.Until = day; return d }
	merged := map[string]string{"c1": "boss"}
	for _, row := range []struct {
		name string
		list []Dismissal
		of   Case
		want string // silent, held, other for another value, or nothing
	}{
		{"a line about it", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small}}, "silent"},
		{"in other words, on another line", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Line, f.Title = at(90), "Unchecked" })}}, "silent"},
		{"beside one in other code", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, with(func(f *review.Finding) { f.Line, f.Title, f.Evidence = at(12), "Token is logged", "log.Print(token)" })}}, "held"},
		{"beside one in the same code", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, with(func(f *review.Finding) { f.Line, f.Title, f.Evidence = at(8), "Unchecked", "" })}}, "silent"},
		{"beside a suggestion in other code", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, with(func(f *review.Finding) { f.Line, f.Priority, f.Evidence = at(12), review.P3, "" })}}, "silent"},
		{"a comment, and another in code that it is not at", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Priority = review.P3 }), with(func(f *review.Finding) { f.Line, f.Evidence = at(12), "defer r.Close()" })}}, "held"},
		{"one in other code, each with a line", []Dismissal{line(small, ""), line(logged, "")}, Case{Wordings: []review.Finding{small, logged}}, "silent"},
		{"one in other code, where somebody else merged the line", []Dismissal{line(small, "c1")}, Case{Wordings: []review.Finding{small, logged}}, "held"},
		{"another reviewer's in the same lines, in other words", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, by("two", with(func(f *review.Finding) { f.Title, f.Evidence = "Token is logged", "" }))}}, "held"},
		{"another reviewer's in the same lines, in a like title", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, by("two", with(func(f *review.Finding) { f.Title, f.Evidence = "Error of Close is ignored", "" }))}}, "silent"},
		{"another reviewer's in the same lines, in a title like that of a third who says what was dismissed (threats.md T506)", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{logging, bait}}, "held"},
		{"another reviewer's one line below a comment, in a title like that of a third whose line it is (threats.md T506)", []Dismissal{beside}, Case{Wordings: []review.Finding{logging, bait}}, "held"},
		{"until today", []Dismissal{until(line(small, ""), "2026-11-22")}, Case{Wordings: []review.Finding{small}}, "silent"},
		{"until yesterday", []Dismissal{until(line(small, ""), "2026-11-21")}, Case{Wordings: []review.Finding{small}}, ""},
		{"a P1", []Dismissal{line(p1, "")}, Case{Wordings: []review.Finding{p1}}, "held"},
		{"a P1 whose line came by a commit that nobody is proven to have merged", []Dismissal{line(p1, "c2")}, Case{Wordings: []review.Finding{p1}}, "held"},
		{"a P1 whose line somebody else merged", []Dismissal{line(p1, "c1")}, Case{Wordings: []review.Finding{p1}}, "silent"},
		{"a P1 beside another P1 that was taken for the same one", []Dismissal{line(p1, "c1")}, Case{Wordings: []review.Finding{p1, agent(review.Finding{Priority: review.P1, Category: "bug", File: "a.go", Line: at(8), Title: "Token is logged"})}}, "held"},
		{"a P1 in other words at P2", []Dismissal{line(p1, "c1")}, Case{Wordings: []review.Finding{p1, agent(review.Finding{Priority: review.P2, Category: "bug", File: "a.go", Line: at(8), Title: "Leak"})}}, "silent"},
		{"a P1 with two lines, one of them merged", []Dismissal{line(p1, ""), line(p1, "c1")}, Case{Wordings: []review.Finding{p1}}, "silent"},
		{"a P1 worded like a small finding that somebody else dismissed", []Dismissal{line(small, "c1")}, Case{Wordings: []review.Finding{p1}}, "held"},
		{"a P0 worded like a P1 that somebody else dismissed", []Dismissal{line(p1, "c1")}, Case{Wordings: []review.Finding{p0}}, "held"},
		{"a P1 worded like a P0 that somebody else dismissed", []Dismissal{line(p0, "c1")}, Case{Wordings: []review.Finding{p1}}, "silent"},
		{"security of the same code and words as a bug that somebody else dismissed", []Dismissal{line(small, "c1")}, Case{Wordings: []review.Finding{known}}, ""},
		{"security whose line somebody else merged", []Dismissal{line(known, "c1")}, Case{Wordings: []review.Finding{known}}, "silent"},
		{"a priority nobody knows, and a line for a P1", []Dismissal{line(p1, "c1")}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Priority = "P7" })}}, "held"},
		{"security", []Dismissal{line(secure, "")}, Case{Wordings: []review.Finding{secure}}, "held"},
		{"a priority nobody knows", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Priority = "P7" })}}, "held"},
		{"one of its wordings is P1", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small, with(func(f *review.Finding) { f.Priority = review.P1 })}}, "held"},
		{"it was P1 in an earlier round", []Dismissal{line(small, "")}, Case{Wordings: []review.Finding{small}, Earlier: []review.Finding{p1}}, "held"},
		{"a person says so too", []Dismissal{line(small, ""), beside}, Case{Wordings: []review.Finding{small, with(func(f *review.Finding) { f.Source.Type = "review" })}}, ""},
		{"a comment at it", []Dismissal{beside}, Case{Wordings: []review.Finding{small}}, "silent"},
		{"a comment, and its line quoted with the comment", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(7, 7, 7, "defer resp.Body.Close() // prloop:ignore so")}}, "silent"},
		{"a comment, and a part of its line that stands there twice", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(7, 0, 0, "resp")}}, "silent"},
		{"a comment, and its line without a quote", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(7, 0, 0, "")}}, "silent"},
		{"a comment, and its line with one beside that is as it was", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(6, 6, 7, "resp := get()\ndefer resp.Body.Close()")}}, "silent"},
		{"a comment, and only the line beside that is as it was", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(6, 6, 6, "resp := get()")}}, ""},
		{"a comment, and its line with an added one (threats.md T621)", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(7, 7, 8, "defer resp.Body.Close()\nlog.Print(token)")}}, ""},
		{"a comment, and its line with a claim to an added one (threats.md T621)", []Dismissal{beside}, Case{Wordings: []review.Finding{func() review.Finding { f := quoting(7, 7, 7, "defer resp.Body.Close()"); f.LineEnd = at(8); return f }()}}, ""},
		{"a comment, and another line that holds its text and more (threats.md T621)", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(8, 8, 8, "if x { defer resp.Body.Close() }")}}, ""},
		{"a comment, and its line with a quote that is elsewhere, or gone", []Dismissal{beside}, Case{Wordings: []review.Finding{quoting(7, 0, 0, "if resp == nil { return }")}}, ""},
		{"a comment, and a line four off whose quote nobody knows the place of", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Line = at(11) })}}, ""},
		{"a comment, and a quote whose place nobody knows", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Line = nil })}}, ""},
		{"a comment, and another line", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Line, f.Evidence = at(8), "other code here" })}}, ""},
		{"a comment, and the same code far away", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.Line = at(70) })}}, ""},
		{"a comment in another file", []Dismissal{beside}, Case{Wordings: []review.Finding{with(func(f *review.Finding) { f.File = "b.go" })}}, ""},
		{"a comment at a P1", []Dismissal{beside}, Case{Wordings: []review.Finding{p1}}, "held"},
		{"a comment at a P1 and a line that was merged", []Dismissal{beside, line(p1, "c1")}, Case{Wordings: []review.Finding{p1}}, "silent"},
		{"a secret whose line somebody else merged", []Dismissal{line(token, "c1")}, Case{Wordings: []review.Finding{token}}, "silent"},
		{"another value in its place", []Dismissal{line(token, "c1")}, Case{Wordings: []review.Finding{hashed(token, "02")}}, "other"},
		{"a secret by a line from before values were told apart", []Dismissal{line(hashed(token, ""), "c1")}, Case{Wordings: []review.Finding{token}}, "other"},
		{"another value, with a model's word for it that was dismissed", []Dismissal{line(by("two", hashed(token, "")), "c1")}, Case{Wordings: []review.Finding{hashed(token, "02"), by("two", hashed(token, ""))}}, "other"},
		{"a secret by a line for no value, with a model's word for it (threats.md T910)", []Dismissal{line(token, "c1")}, Case{Wordings: []review.Finding{token, by("two", hashed(token, ""))}}, "held"},
		{"a secret by a line for its value", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token}}, "silent"},
		{"another value by it", []Dismissal{value(token)}, Case{Wordings: []review.Finding{hashed(token, "02")}}, "other"},
		{"a secret by it, with words of two models for it", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, word(7, "Adds a secret"), by("three", word(7, "A secret is added"))}}, "silent"},
		{"a secret by it, with a word for it in an earlier round, where it stood elsewhere", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token}, Earlier: []review.Finding{moved(token), word(70, "Adds a secret")}}, "silent"},
		{"a word for a secret in the line below (threats.md T459)", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, word(8, "Adds a secret")}}, "held"},
		{"a word for the secret and the line below (threats.md T507)", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, func() review.Finding { f := word(7, "Adds a secret"); f.LineEnd = at(8); return f }()}}, "held"},
		{"a word for the secret that quotes the line below too (threats.md T507)", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, func() review.Finding { f := word(7, "Adds a secret"); f.Evidence += "\nDB = \"winter\""; return f }()}}, "held"},
		{"a word for one line of a key", []Dismissal{value(lasting(token))}, Case{Wordings: []review.Finding{lasting(token), word(8, "Adds a secret")}}, "silent"},
		{"a word for the secret that is about something else", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, word(7, "Query is built of what users write")}}, "held"},
		{"a word for the secret that nobody knows a line of", []Dismissal{value(token)}, Case{Wordings: []review.Finding{token, func() review.Finding { f := word(7, "Adds a secret"); f.Line = nil; return f }()}}, "held"},
		{"a model's word without the secret of the line (threats.md T459)", []Dismissal{value(token)}, Case{Wordings: []review.Finding{word(7, "Adds a secret")}}, ""},
		{"an expired comment", []Dismissal{until(beside, "2026-01-01")}, Case{Wordings: []review.Finding{small}}, ""},
	} {
		got := ""
		if a := (Facts{List: row.list, Today: "2026-11-22", Merged: merged}).Apply([]Case{row.of})[0]; a != nil {
			switch got = "held"; {
			case a.Silent:
				got = "silent"
			case a.OtherValue:
				got = "other"
			}
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func TestAdd(t *testing.T) {
	d := Dismissal{Mark: &identity.Mark{ID: "0123456789abcdef", Category: "bug", File: "a.go", Title: "Leak"}, By: "mona", Why: "so", Until: "2026-12-31"}
	text, line, err := Add(nil, d, "2026-11-22")
	if want := Header + "0123456789abcdef | bug | a.go | Leak | mona | 2026-12-31 | so\n"; string(text) != want || line != 3 || err != nil {
		t.Fatalf("%q %d %v", text, line, err)
	}
	if _, _, err := Add(text, d, "2026-12-31"); err == nil || err.Error() != Name+":3 dismisses it already" {
		t.Errorf("twice: %v", err)
	}
	longer := d
	longer.Until, longer.Why = "", "still so"
	again, line, err := Add(append(text, "# end"...), longer, "2027-01-01")
	if want := Header + "0123456789abcdef | bug | a.go | Leak | mona | - | still so\n# end\n"; string(again) != want || line != 3 || err != nil {
		t.Errorf("what has expired is replaced: %q %d %v", again, line, err)
	}
	d.Why = " "
	if _, _, err := Add(nil, d, "2026-11-22"); err == nil {
		t.Error("a dismissal without a reason is a line")
	}
}

// One line for a value is for it in all like lines of its file, and for nothing else (threats.md T501).
func TestOneLineForAValueInLikeLines(t *testing.T) {
	at := func(n int, hash string) Case {
		return Case{Wordings: []review.Finding{{Priority: review.P0, Category: "security", File: "a.py", Line: &n, Title: "Adds a GitHub token", ValueHash: hash}}}
	}
	one, like, other := at(2, "01"), at(7, "01"), at(9, "02")
	m := one.MarkOf(one.Wordings[0], identity.ID(one.Wordings))
	d := Dismissal{File: Name, Line: 3, Mark: &m, Priority: review.P0, By: "mona", Why: "a fixture", Commit: "c1"}
	said := like
	said.Wordings = append(slices.Clone(like.Wordings), review.Finding{Priority: review.P0, Category: "security", File: "a.py", Line: like.Wordings[0].Line, Title: "Adds a GitHub token", Source: review.Source{Type: "review"}})
	for i := range one.Wordings {
		one.Wordings[i].Source.Type, like.Wordings[i].Source.Type, other.Wordings[i].Source.Type, said.Wordings[i].Source.Type = "agent", "agent", "agent", "agent"
	}
	got := Facts{List: []Dismissal{d}, Today: "2026-11-22", Merged: map[string]string{"c1": "boss"}}.Apply([]Case{one, like, other, said})
	for i, want := range []bool{true, true, false, false} {
		if silent := got[i] != nil && got[i].Silent; silent != want {
			t.Errorf("case %d: silent %v, want %v", i, silent, want)
		}
	}

	text, line, err := Add(nil, d, "2026-11-22")
	again, second, err2 := Add(text, d, "2026-11-22")
	if err != nil || err2 != nil || line != second || string(again) != string(text) {
		t.Errorf("%q %d %v, %q %d %v", text, line, err, again, second, err2)
	}
	d.Why = "another reason"
	if _, _, err := Add(text, d, "2026-11-22"); err == nil {
		t.Error("a line for a value that stands there is written again")
	}
}
