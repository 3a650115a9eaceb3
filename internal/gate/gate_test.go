package gate

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

var update = flag.Bool("update", false, "rewrite the truth table")

// outcomes are all there are.
var outcomes = []review.Outcome{
	review.Converged, review.ChangesRequested, review.Stuck, review.Diverging, review.SetAside, review.StaticOnly, review.Partial,
	review.Budget, review.NotReviewed, review.Superseded, review.Failed, review.LGTM, review.Flagged,
}

// endings are all ways in which a run can end that the gate tells apart.
func endings() (out []Ending) {
	for _, o := range outcomes {
		switch o {
		case review.Partial, review.Budget:
			out = append(out, Ending{Outcome: o, Answered: true}, Ending{Outcome: o, Answered: true, Asks: true}, Ending{Outcome: o},
				Ending{Outcome: o, Answered: true, Quick: true, Unread: true}, Ending{Outcome: o, Quick: true})
		case review.StaticOnly:
			out = append(out, Ending{Outcome: o, Answered: true}, Ending{Outcome: o, Answered: true, Asks: true}, Ending{Outcome: o})
		case review.NotReviewed:
			out = append(out, Ending{Outcome: o}, Ending{Outcome: o, Nothing: true})
		case review.Superseded, review.Failed:
			out = append(out, Ending{Outcome: o})
		case review.ChangesRequested:
			out = append(out, Ending{Outcome: o, Answered: true, Asks: true}, Ending{Outcome: o, Answered: true, Asks: true, Grave: true}, Ending{Outcome: o, Answered: true, Asks: true, Objected: true}, Ending{Outcome: o, Answered: true, Asks: true, Unread: true})
		case review.LGTM:
			out = append(out, Ending{Outcome: o, Answered: true, Quick: true}, Ending{Outcome: o, Answered: true, Quick: true, Unread: true}, Ending{Outcome: o, Quick: true})
		case review.Flagged:
			out = append(out, Ending{Outcome: o, Answered: true, Quick: true, Grave: true}, Ending{Outcome: o, Answered: true, Quick: true, Grave: true, Objected: true}, Ending{Outcome: o, Answered: true, Quick: true, Grave: true, Unread: true})
		default:
			if o != review.Converged {
				out = append(out, Ending{Outcome: o, Answered: true, Asks: true, Grave: true, Objected: true})
			}
			out = append(out, Ending{Outcome: o, Answered: true, Asks: o != review.Converged && o != review.SetAside, Grave: o == review.SetAside})
		}
	}
	return out
}

func (e Ending) String() string {
	s := string(e.Outcome)
	for _, x := range []struct {
		is   bool
		word string
	}{{!e.Answered, "nobody answered"}, {e.Asks, "asks for changes"}, {e.Grave, "grave"}, {e.Objected, "a person objects"}, {e.Unread, "partly unread"}, {e.Quick, "scan"}, {e.Nothing, "nothing for reviewers"}} {
		if x.is {
			s += ", " + x.word
		}
	}
	return s
}

// setters are who may have set a label.
var setters = []struct {
	name string
	as   Labelling
}{
	{"writer", Labelling{By: "mona", Permission: "write"}},
	{"author", Labelling{By: "contributor", Permission: "maintain", Author: true}},
	{"reader", Labelling{By: "mallory", Permission: "triage"}},
	{"nobody", Labelling{}},
}

// column is what may stand on a pull request.
type column struct {
	name   string
	labels []Labelling
}

func columns() []column {
	out := []column{{"no label", nil}}
	for _, kind := range []struct {
		name   string
		labels []string
	}{{"advisory", []string{Advisory}}, {"strict", []string{Strict}}, {"both", Labels}} {
		for _, s := range setters {
			c := column{name: kind.name + ", " + s.name}
			for _, l := range kind.labels {
				as := s.as
				as.Label = l
				c.labels = append(c.labels, as)
			}
			out = append(out, c)
		}
	}
	return out
}

// size is what the rule and a scout say of a change.
type size struct {
	name string
	Facts
}

func (s size) with(labels []Labelling) Facts {
	f := s.Facts
	f.Labels = labels
	return f
}

var sizes = []size{{"ordinary", Facts{Complexity: Ordinary}}, {"trivial", Facts{Complexity: Trivial}}, {"prose", Facts{Complexity: Prose}}}

// scouted are the sizes where a scout has looked.
func scouted() (out []size) {
	for _, f := range []Facts{{Complexity: Ordinary}, {Complexity: Ordinary, Small: true}, {Complexity: Prose}, {Complexity: Trivial, Small: true}} {
		for _, said := range []review.Complexity{"", review.TrivialChange, review.SimpleChange, review.ComplexChange} {
			name := string(f.Complexity)
			if f.Small && f.Complexity == Ordinary {
				name = "small"
			}
			f.Scout = said
			if said != "" {
				name += ", scout says " + string(said)
			}
			out = append(out, size{name, f})
		}
	}
	return out
}

// table is the truth table: each policy, ending and complexity with what each label makes of it, by whoever set it.
func table() string {
	letters := map[review.GateState]string{review.GateSuccess: "ok", review.GateFailure: "fail", review.GateError: "err"}
	var b strings.Builder
	b.WriteString("# What the status says: ok success, fail failure, err error, - none. Labels are allowed by gate_labels.\n")
	for i, c := range columns() {
		fmt.Fprintf(&b, "# %2d %s\n", i, c.name)
	}
	for _, p := range Policies {
		for _, x := range sizes {
			fmt.Fprintf(&b, "\n%-52s", string(p)+", "+x.name)
			for i := range columns() {
				fmt.Fprintf(&b, " %4d", i)
			}
			b.WriteByte('\n')
			for _, e := range endings() {
				fmt.Fprintf(&b, "%-52s", "  "+e.String())
				for _, c := range columns() {
					state := "-"
					if p != Off {
						state = letters[Decide(Plan{Policy: p, Labels: Labels}, x.with(c.labels), e).State]
					}
					fmt.Fprintf(&b, " %4s", state)
				}
				b.WriteByte('\n')
			}
		}
	}
	b.WriteString("\n# Which changes pass under verdict-non-trivial although changes are requested, something grave is among them, or a scan flags them: by the rule, and by what a scout says.\n")
	for _, x := range scouted() {
		fmt.Fprintf(&b, "%-52s", "  "+x.name)
		for _, e := range []Ending{{Outcome: review.ChangesRequested}, {Outcome: review.ChangesRequested, Grave: true}, {Outcome: review.Flagged, Grave: true}} {
			e.Answered, e.Asks = true, true
			fmt.Fprintf(&b, " %4s", letters[Decide(Plan{Policy: NonTrivial}, x.Facts, e).State])
		}
		b.WriteByte('\n')
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

// What no cell of the table may ever say (threats.md T160, T161).
func TestLaws(t *testing.T) {
	whole := []review.Outcome{review.Converged, review.ChangesRequested, review.Stuck, review.Diverging, review.SetAside, review.LGTM, review.Flagged}
	for _, p := range Policies[1:] {
		for _, x := range append(scouted(), sizes...) {
			for _, c := range columns() {
				for _, e := range endings() {
					g := Decide(Plan{Policy: p, Labels: Labels}, x.with(c.labels), e)
					at := fmt.Sprintf("%s, %s, %s, %s: %s", p, x.name, c.name, e, g.State)
					judged := Policy(g.Effective) != Presence
					switch ok := g.State == review.GateSuccess; {
					case g.State == review.GatePending:
						t.Errorf("%s: a run that has ended is pending", at)
					case ok && !e.Answered:
						t.Errorf("%s: nobody answered", at)
					case ok && e.Outcome == review.StaticOnly:
						t.Errorf("%s: rules alone pass", at)
					case ok && judged && (!slices.Contains(whole, e.Outcome) || e.Unread):
						t.Errorf("%s: what is not whole passes", at)
					case ok && e.Quick && e.Unread:
						t.Errorf("%s: a scan passes that did not see every changed line", at)
					case ok && Policy(g.Effective) == Verdict && e.Outcome != review.Converged && e.Outcome != review.LGTM:
						t.Errorf("%s: what is not approved passes", at)
					case ok && judged && x.Complexity == Prose && e.Grave:
						t.Errorf("%s: a name alone passes what is grave", at)
					case ok && judged && e.Objected:
						t.Errorf("%s: a small change passes over what people say (threats.md T847)", at)
					case !ok && e.Outcome == review.Converged:
						t.Errorf("%s: what is approved does not pass", at)
					case g.State == review.GateFailure && !judged:
						t.Errorf("%s: presence judges", at)
					case len(g.Description) > 140 || g.Description == "":
						t.Errorf("%s: %q", at, g.Description)
					}
				}
			}
		}
	}
}

// A label counts when the repository allows it and somebody who may write set it.
func TestLabels(t *testing.T) {
	mona := Labelling{Label: Advisory, By: "mona", At: time.Unix(1_800_000_000, 0), Permission: "admin"}
	strict := mona
	strict.Label = Strict
	author := mona
	author.Author = true
	appAdmin := mona
	appAdmin.ByApp = true
	appWriter := appAdmin
	appWriter.Permission = "write"
	appStrict := appWriter
	appStrict.Label = Strict
	reader := mona
	reader.Permission = "read"
	nobody := mona
	nobody.By = ""
	unasked := mona
	unasked.Permission = ""
	nobodys, changed := nobody, mona
	nobodys.Label, changed.Changed = Strict, true
	authorStrict := author
	authorStrict.Label = Strict
	for name, c := range map[string]struct {
		plan    Plan
		labels  []Labelling
		want    Policy
		refused string
	}{
		"softened":                      {Plan{Verdict, Labels}, []Labelling{mona}, Presence, ""},
		"hardened":                      {Plan{Presence, Labels}, []Labelling{strict}, Verdict, ""},
		"by the author":                 {Plan{NonTrivial, Labels}, []Labelling{authorStrict}, Verdict, ""},
		"both":                          {Plan{NonTrivial, Labels}, []Labelling{mona, strict}, Verdict, "holds"},
		"a refused strict":              {Plan{NonTrivial, []string{Advisory}}, []Labelling{mona, strict}, Presence, "gate_labels"},
		"not allowed":                   {Plan{Verdict, nil}, []Labelling{mona}, Verdict, "gate_labels"},
		"softened by the author":        {Plan{Verdict, Labels}, []Labelling{author}, Verdict, "author alone"},
		"an app's, softened":            {Plan{Verdict, Labels}, []Labelling{appWriter}, Verdict, "an app opened"},
		"an app's, by an administrator": {Plan{Verdict, Labels}, []Labelling{appAdmin}, Presence, ""},
		"an app's, hardened":            {Plan{Presence, Labels}, []Labelling{appStrict}, Verdict, ""},
		"by a reader":                   {Plan{Verdict, Labels}, []Labelling{reader}, Verdict, "may not write"},
		"by nobody":                     {Plan{Verdict, Labels}, []Labelling{nobody}, Verdict, "who set it cannot be told"},
		"nobody could be asked":         {Plan{Verdict, Labels}, []Labelling{unasked}, Verdict, "cannot be told"},
		"hardened by nobody":            {Plan{Presence, Labels}, []Labelling{nobodys}, Verdict, ""},
		"renamed":                       {Plan{Verdict, Labels}, []Labelling{changed}, Verdict, "renamed"},
		"a gate that is off":            {Plan{Off, Labels}, []Labelling{strict}, Off, "off"},
	} {
		t.Run(name, func(t *testing.T) {
			policy, said := c.plan.effective(c.labels)
			refused := ""
			for _, g := range said {
				refused += g.Refused
			}
			if policy != c.want || c.refused == "" && refused != "" || !strings.Contains(refused, c.refused) {
				t.Errorf("%s, refused %q; want %s, %q", policy, refused, c.want, c.refused)
			}
		})
	}
}

// What took Strict off softens the gate, by the law of what sets Advisory; what cannot be told leaves the gate hard (threats.md T735, T736).
func TestTelling(t *testing.T) {
	at := func(label, by, permission string, off bool) Labelling {
		return Labelling{Label: label, By: by, Permission: permission, Author: by == "author", Off: off}
	}
	byApp := func(l Labelling, changed bool) Labelling {
		l.ByApp, l.Changed = true, changed
		return l
	}
	set, off := func(by, permission string) Labelling { return at(Strict, by, permission, false) }, func(by, permission string) Labelling { return at(Strict, by, permission, true) }
	for name, c := range map[string]struct {
		label         string
		stands, whole bool
		events        []Labelling // the newest first
		by            string
		says          bool
	}{
		"softened":                          {Advisory, true, true, []Labelling{at(Advisory, "mona", "write", false)}, "mona", true},
		"softened no more":                  {Advisory, false, true, []Labelling{at(Advisory, "mona", "write", false)}, "mona", false},
		"taken off, and stands":             {Advisory, true, true, []Labelling{at(Advisory, "mona", "write", true), at(Advisory, "mona", "write", false)}, "", true},
		"softened, among too many":          {Advisory, true, false, nil, "", true},
		"hardened":                          {Strict, true, true, []Labelling{set("mona", "write")}, "mona", true},
		"taken off by who set it":           {Strict, false, true, []Labelling{off("mona", "write"), set("mona", "write")}, "", false},
		"taken off by another":              {Strict, false, true, []Labelling{off("octo", "admin"), set("mona", "write")}, "", false},
		"taken off by the author":           {Strict, false, true, []Labelling{off("author", "write"), set("mona", "write")}, "mona", true},
		"set and taken off by the author":   {Strict, false, true, []Labelling{off("author", "write"), set("author", "write")}, "", false},
		"that, after another":               {Strict, false, true, []Labelling{off("author", "write"), set("author", "write"), set("mona", "write")}, "mona", true},
		"the author's, taken off":           {Strict, false, true, []Labelling{off("mona", "write"), set("author", "write")}, "", false},
		"taken off by a triager":            {Strict, false, true, []Labelling{off("triager", "triage"), set("mona", "write")}, "mona", true},
		"taken off by nobody":               {Strict, false, true, []Labelling{off("", ""), set("mona", "write")}, "mona", true},
		"set by a triager":                  {Strict, true, true, []Labelling{set("triager", "triage")}, "triager", true},
		"set and taken off by a triager":    {Strict, false, true, []Labelling{off("triager", "triage"), set("triager", "triage")}, "", false},
		"set again by a triager":            {Strict, true, true, []Labelling{set("triager", "triage"), off("mona", "write"), set("mona", "write")}, "", false},
		"set by who cannot be asked":        {Strict, true, true, []Labelling{set("mona", "")}, "mona", true},
		"renamed away":                      {Strict, false, true, []Labelling{set("mona", "write")}, "mona", true},
		"without an event":                  {Strict, true, true, nil, "", true},
		"never set":                         {Strict, false, true, nil, "", false},
		"perhaps set, among too many":       {Strict, false, false, nil, "", true},
		"a triager's, among too many":       {Strict, true, false, []Labelling{set("triager", "triage")}, "", true},
		"set and taken off in an app's":     {Strict, false, true, []Labelling{byApp(off("mona", "write"), false), byApp(set("mona", "write"), false)}, "", false},
		"that, after another, in an app's":  {Strict, false, true, []Labelling{byApp(off("octo", "write"), false), byApp(set("octo", "write"), false), byApp(off("octo", "write"), false), byApp(set("mona", "write"), false)}, "mona", true},
		"taken off by another in an app's":  {Strict, false, true, []Labelling{byApp(off("octo", "write"), false), byApp(set("mona", "write"), false)}, "mona", true},
		"by an administrator in an app's":   {Strict, false, true, []Labelling{byApp(off("octo", "admin"), false), byApp(set("mona", "write"), false)}, "", false},
		"another of that name in an app's":  {Strict, false, true, []Labelling{byApp(off("mona", "write"), true), byApp(set("mona", "write"), true)}, "mona", true},
		"set and taken off by a bot":        {Strict, false, true, []Labelling{byApp(off("labeler", ""), false), byApp(set("labeler", ""), false)}, "labeler", true},
		"taken off, among too many to read": {Strict, false, false, []Labelling{off("mona", "write")}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, says := Telling(c.label, c.stands, c.whole, c.events); says != c.says || says && got.By != c.by {
				t.Errorf("%q, %v; want %q, %v", got.By, says, c.by, c.says)
			}
		})
	}
}

// A change is trivial by its lines and kinds, and only when all of it was given.
func TestAssess(t *testing.T) {
	protected := func(name string) string {
		if strings.HasPrefix(name, ".github/") || name == "AGENTS.md" {
			return "it runs"
		}
		return ""
	}
	code := File{Path: "a.go", Lines: 4, Whole: true, Plain: true}
	with := func(change func(*File)) []File {
		f := code
		change(&f)
		return []File{f}
	}
	for name, c := range map[string]struct {
		files []File
		want  Complexity
	}{
		"nothing":                 {nil, Ordinary},
		"four lines":              {[]File{code}, Trivial},
		"ten lines":               {with(func(f *File) { f.Lines = 10 }), Trivial},
		"eleven lines":            {with(func(f *File) { f.Lines = 11 }), Ordinary},
		"twelve in three files":   {[]File{code, code, code}, Ordinary},
		"four files":              {[]File{{"a", "", 1, true, true}, {"b", "", 1, true, true}, {"c", "", 1, true, true}, {"d", "", 1, true, true}}, Ordinary},
		"a workflow":              {with(func(f *File) { f.Path = ".github/workflows/ci.yml" }), Ordinary},
		"from a workflow's place": {with(func(f *File) { f.OldPath = ".github/x" }), Ordinary},
		"orders for agents":       {with(func(f *File) { f.Path = "AGENTS.md" }), Ordinary},
		"partly left out":         {with(func(f *File) { f.Whole = false }), Ordinary},
		"a new file":              {with(func(f *File) { f.Plain = false }), Ordinary},
		"prose":                   {[]File{{"README.md", "", 150, true, true}, {"docs/new.md", "", 50, true, false}}, Prose},
		"little prose":            {[]File{{"README.md", "", 10, true, true}}, Trivial},
		"little new prose":        {[]File{{"README.md", "", 10, true, false}}, Prose},
		"literate code":           {[]File{{"src/pay.coffee.md", "", 181, true, true}}, Prose},
		"much prose":              {[]File{{"README.md", "", 201, true, true}}, Ordinary},
		"prose and code":          {[]File{{"README.md", "", 50, true, true}, code}, Ordinary},
		"code that becomes prose": {[]File{{"a.md", "a.go", 50, true, false}}, Ordinary},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Assess(c.files, protected); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// What is read off a result.
func TestEnd(t *testing.T) {
	asks := string(review.RequestChanges)
	r := review.RunResult{Outcome: review.ChangesRequested, Consensus: &asks, Receipt: review.Receipt{Status: "ok", Complete: 1, LeftOut: []review.LeftOut{{Excused: true}}}}
	if got, want := End(r), (Ending{Outcome: review.ChangesRequested, Answered: true, Asks: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	p2, p0 := review.Finding{Priority: review.P2}, review.Finding{Priority: review.P0}
	for _, c := range []struct {
		findings, aside []review.Finding
		want            bool
	}{{[]review.Finding{p2}, []review.Finding{p2}, false}, {[]review.Finding{p2, p0}, nil, true}, {nil, []review.Finding{p0}, true}} {
		r := review.RunResult{Findings: c.findings}
		for _, f := range c.aside {
			r.Unverified = append(r.Unverified, review.Unverified{Finding: f})
		}
		if got := End(r).Grave; got != c.want {
			t.Errorf("%+v: grave is %v", c, got)
		}
	}
	if End(r).Objected || !End(review.RunResult{Objected: true}).Objected {
		t.Error("what people say is not seen")
	}
	approve := string(review.Approve)
	if !End(review.RunResult{Outcome: review.Flagged}).Grave || !End(review.RunResult{Outcome: review.ChangesRequested, Consensus: &approve}).Grave {
		t.Error("what a scan flags, or a thread asks for, may be grave")
	}
	r.Receipt.LeftOut = append(r.Receipt.LeftOut, review.LeftOut{Path: "a.go"})
	if !End(r).Unread {
		t.Error("an unread file is not seen")
	}
	if e := End(review.RunResult{Outcome: review.Converged, Consensus: &approve}); e.Asks || !e.Unread || e.Answered {
		t.Errorf("%+v", e)
	}
}
