package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/review"
)

func rated(titles ...string) (out []review.Finding, facts []evidence.Result) {
	for _, t := range titles {
		priority, rest, _ := strings.Cut(t, " ")
		file, title, _ := strings.Cut(rest, " ")
		out = append(out, review.Finding{Priority: review.Priority(priority), File: strings.Trim(file, "-"), Title: title})
		facts = append(facts, evidence.Result{Status: evidence.None, Reason: title})
	}
	return out, facts
}

// nothing passes.
func nothing(review.Finding, evidence.Result) bool { return false }

// Floor, cap and files are enforced here and not asked of a model, and the receipt says what was left out. Nothing severe is left out for its file (threats.md T635).
func TestACommandIsHeldToItsBounds(t *testing.T) {
	findings, given := rated("P2 a.go two", "P3 a.go three", "P0 a.go zero", "P1 docs/b.md one", "P2 - nowhere")
	for name, row := range map[string]struct {
		plan    CommandPlan
		want    []string
		omitted int
		notes   []string
	}{
		"no bounds":         {CommandPlan{}, []string{"zero", "one", "two", "nowhere", "three"}, 0, nil},
		"a floor":           {CommandPlan{Floor: "high"}, []string{"zero", "one"}, 0, []string{"3 findings left out: below the severity floor high"}},
		"a cap":             {CommandPlan{Findings: 2}, []string{"zero", "one"}, 3, []string{"3 findings left out: beyond the limit of 2 (maxFindings)"}},
		"files":             {CommandPlan{Include: []string{"docs/**"}}, []string{"zero", "one", "nowhere"}, 0, []string{"2 findings left out: about a file that is not one of the command's files"}},
		"files left out":    {CommandPlan{Exclude: []string{"**/*.go"}}, []string{"zero", "one", "nowhere"}, 0, []string{"2 findings left out: about a file that is not one of the command's files"}},
		"a floor and a cap": {CommandPlan{Floor: "medium", Findings: 1}, []string{"zero", "one"}, 2, []string{"1 finding left out: below the severity floor medium", "2 findings left out: beyond the limit of 1 (maxFindings)"}},
	} {
		kept, facts, omitted, _, notes := row.plan.hold(review.Brief{}, findings, given, nothing)
		var titles []string
		for i, f := range kept {
			if facts[i].Reason != f.Title {
				t.Errorf("%s: %s has the evidence of %s", name, f.Title, facts[i].Reason)
			}
			titles = append(titles, f.Title)
		}
		if d := cmp.Diff(row.want, titles) + cmp.Diff(row.notes, notes); d != "" || omitted != row.omitted {
			t.Errorf("%s: %d omitted\n%s", name, omitted, d)
		}
	}
	aside := []review.Finding{{Priority: review.P0, Category: "unreadable", Unconfirmed: "could not be read"}, {Priority: review.P1, Title: "said before", Unconfirmed: "not in its last answer"}}
	if kept, _, _, _, _ := (CommandPlan{Floor: "critical", Findings: 1, Include: []string{"x"}}).hold(review.Brief{}, aside, make([]evidence.Result, 2), nothing); len(kept) != 2 {
		t.Errorf("what a person has to look at was left out: %+v", kept)
	}
}

// No limit on findings leaves something grave out, what counts for nothing takes no place, and what may have to be fixed and is left out is told (threats.md T856). Nor is
// something grave left out for its file where the command was given the whole change.
func TestNothingGraveIsTooMuch(t *testing.T) {
	findings, given := rated("P0 a.go accepted", "P0 a.go zero", "P1 a.go one", "P2 a.go false", "P2 a.go two", "P2 a.go three", "P3 a.go nit")
	given[3].Status = evidence.False
	passes := func(f review.Finding, ev evidence.Result) bool {
		return f.Title == "accepted" || ev.Status == evidence.False
	}
	for _, row := range []struct {
		limit           int
		secure          bool
		want            string
		omitted, untold int
	}{
		{0, false, "accepted zero one false two three nit", 0, 0}, {1, false, "accepted zero one false", 3, 2}, {3, false, "accepted zero one false two", 2, 1},
		{4, false, "accepted zero one false two three", 1, 0}, {1, true, "accepted zero one false two three", 1, 0},
	} {
		said := slices.Clone(findings)
		for i := range said {
			if row.secure {
				said[i].Category = "security"
			}
		}
		kept, _, omitted, untold, _ := CommandPlan{Findings: row.limit}.hold(review.Brief{}, said, given, passes)
		var titles []string
		for _, f := range kept {
			titles = append(titles, f.Title)
		}
		if got := strings.Join(titles, " "); got != row.want || omitted != row.omitted || untold != row.untold {
			t.Errorf("%+v: %s, %d omitted, %d untold", row, got, omitted, untold)
		}
	}
	wide := *AgentPlan{Command: &CommandPlan{Include: []string{"auth/**"}}}.widened().Command
	moved := []review.Finding{{Priority: review.P2, File: "lib/a.go", Category: "security"}, {Priority: review.P2, File: "lib/a.go", Category: "docs"}}
	if kept, _, _, _, _ := wide.hold(review.Brief{}, moved, make([]evidence.Result, 2), nothing); len(kept) != 2 { // what was grave may come back as less
		t.Errorf("given the whole change: %+v", kept)
	}
}

// What counts for nothing is what people dismissed or settled, and what quotes what does not stand there (threats.md T856).
func TestWhatTakesNoPlace(t *testing.T) {
	in := auditing()
	f := saidBy("!audit", foundAt(review.P0, 3, subjects[0]), subjects[0])
	if in.passes(f, evidence.Result{Status: evidence.Verified}) || !in.passes(f, evidence.Result{Status: evidence.False}) {
		t.Error("what stands takes no place, or what is false one")
	}
	th := &in.Snapshot.Conversation.Threads[0]
	th.Closed, th.ClosedBy = true, "boss"
	if !in.passes(f, evidence.Result{Status: evidence.Verified}) {
		t.Error("what somebody settled who may takes a place")
	}
	if th.ClosedBy = "ada"; in.passes(f, evidence.Result{Status: evidence.Verified}) {
		t.Error("what its author closed takes no place")
	}
	f = saidBy("!audit", foundAt(review.P2, 9, subjects[1]), subjects[1])
	in.Snapshot.Dismissals = &Dismissals{Today: "2026-01-02", List: []dismissals.Dismissal{{File: dismissals.Name, Line: 1, By: "boss", Why: "so", Mark: &identity.Mark{ID: identity.ID([]review.Finding{f}), Category: f.Category, File: f.File, Title: f.Title}}}}
	if !in.passes(f, evidence.Result{Status: evidence.Verified}) {
		t.Error("what people dismissed takes a place")
	}
}

// Who found more to be fixed than may be reported, of which nothing counts, has not been heard: the review is partial, and what was raised before is open (threats.md T856).
func TestACommandThatLeftSomethingOutApprovesNothing(t *testing.T) {
	judged := func(untold int, counts, alone bool) Judgement {
		in := auditing()
		in.Snapshot.Gone = []string{in.Snapshot.Conversation.Threads[0].ID}
		n := len(in.Reports) - 1
		in.Reports[n].Untold, in.Request.Agents[len(in.Request.Agents)-1].Command.Counts = untold, counts
		if in.Request.Alone = alone; alone {
			in.Request.Agents, in.Reports = in.Request.Agents[len(in.Request.Agents)-1:], in.Reports[n:]
		}
		return Judge(in)
	}
	for _, alone := range []bool{false, true} {
		passed := map[bool]review.Outcome{false: review.Converged, true: review.Answered}[alone]
		if j := judged(2, true, alone); j.Result.Outcome != review.Partial || !strings.Contains(j.Result.Reason, "the command `audit` found 2 more") || len(j.cured) > 0 {
			t.Errorf("alone %v: %s: %s, %d settled", alone, j.Result.Outcome, j.Result.Reason, len(j.cured))
		}
		if j := judged(0, true, alone); j.Result.Outcome != passed {
			t.Errorf("nothing is left out, alone %v: %s: %s", alone, j.Result.Outcome, j.Result.Reason)
		}
	}
	if j := judged(2, false, true); j.Result.Outcome != review.Answered {
		t.Errorf("it counts for nothing: %s", j.Result.Outcome)
	}
}

// What a command finds in a file that it was given is about its files, by the name that the file has and the one that it had (threats.md T635).
func TestWhatACommandWasGivenIsItsOwn(t *testing.T) {
	brief := review.Brief{Files: []review.BriefFile{{Path: "lib/a.go", OldPath: "auth/a.go"}, {Path: "auth/b.go", OldPath: "lib/b.go"}, {Path: "lib/c.go"}}}
	findings, given := rated("P2 auth/a.go moved from", "P2 auth/b.go moved to", "P2 lib/a.go moved away", "P2 lib/b.go moved in", "P2 lib/c.go another", "P2 b.go nobody's")
	kept, _, _, _, notes := CommandPlan{Include: []string{"auth/**"}}.hold(brief, findings, given, nothing)
	if d := cmp.Diff(findings[:4], kept) + cmp.Diff([]string{"2 findings left out: about a file that is not one of the command's files"}, notes); d != "" {
		t.Error(d)
	}
}

func TestACommandIsToldOfItsFilesAlone(t *testing.T) {
	brief := review.Brief{Files: []review.BriefFile{
		{Path: "a.go", Additions: 5, Diff: "x", Hunks: 1, HunksGiven: 1}, {Path: "docs/b.md", Additions: 5, Diff: "x", Hunks: 1, HunksGiven: 1}, {Path: "go.sum", Omitted: "lock file"},
		{Path: "c.go", OldPath: "docs/c.md", Additions: 5, Diff: "x", Hunks: 1, HunksGiven: 1},
	}}
	for name, row := range map[string]struct {
		plan CommandPlan
		want string
	}{
		"all":        {CommandPlan{}, "a.go docs/b.md c.go"},
		"some":       {CommandPlan{Include: []string{"docs/**"}}, "docs/b.md c.go"},
		"no go":      {CommandPlan{Exclude: []string{"*.go"}}, "docs/b.md c.go"},
		"two files":  {CommandPlan{Files: 2}, "a.go docs/b.md"},
		"seven line": {CommandPlan{DiffLines: 7}, "a.go"},
	} {
		var given []string
		narrowed := row.plan.narrow(brief)
		for _, f := range narrowed.Files {
			switch {
			case f.Omitted == "":
				given = append(given, f.Path)
			case f.Diff != "" || f.HunksGiven != 0:
				t.Errorf("%s: %s is given all the same", name, f.Path)
			}
		}
		if got := strings.Join(given, " "); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
	odd := review.Brief{Files: []review.BriefFile{{Path: `"a\"b.py"`, Diff: "x"}, {Path: "auth-[REDACTED]~1f3a/x.go", Diff: "x"}}}
	for what, plan := range map[string]CommandPlan{"a spelled name": {Include: []string{"*.py"}}, "a masked name, which may be any": {Include: []string{"auth-ghp_*/**", "*.py"}}} {
		if n := plan.narrow(odd); n.Files[0].Omitted != "" || n.Files[1].Omitted != "" {
			t.Errorf("%s: left out are %+v", what, n.Files)
		}
	}
	if n := (CommandPlan{Exclude: []string{"*.py", "auth-*/**"}}).narrow(odd); n.Files[0].Omitted == "" || n.Files[1].Omitted == "" {
		t.Errorf("what is left out by a spelled or a masked name is given: %+v", n.Files)
	}
	elsewhere := review.Brief{Files: []review.BriefFile{{Path: "src/login.go", Diff: "x", Moved: true}, {Path: "src/a.go", Diff: "x"}}}
	for _, plan := range []CommandPlan{{Include: []string{"auth/**"}}, {Exclude: []string{"src/**"}}} {
		if n := plan.narrow(elsewhere); n.Files[0].Omitted != "" || n.Files[1].Omitted == "" || !plan.its("src/login.go", elsewhere) {
			t.Errorf("what the base has moved may be any command's (threats.md T845): left out are %+v", n.Files)
		}
	}
	if brief.Files[0].Omitted != "" {
		t.Error("the brief of the reviewers was changed")
	}
	if p := (CommandPlan{Include: []string{"*.py"}}); !p.idle(p.narrow(brief)) {
		t.Error("a command about other files is asked")
	}
	if p := (CommandPlan{Include: []string{"a.go"}, DiffLines: 4}); p.idle(p.narrow(brief)) {
		t.Error("a command whose files are beyond its limits is said to have none")
	}
	if p := (CommandPlan{}); p.idle(p.narrow(review.Brief{})) {
		t.Error("a command about all files is not asked")
	}
	lock := review.Brief{Files: []review.BriefFile{{Path: "go.sum", Omitted: "lock file", Excused: true}}}
	if p := (CommandPlan{Include: []string{"**/*"}}); !p.idle(p.narrow(lock)) {
		t.Error("a command that chooses its files is asked about none (threats.md T636)")
	}
	if p := (CommandPlan{}); p.idle(p.narrow(lock)) || !none(p.narrow(lock)) || none(p.narrow(brief)) {
		t.Error("a command without files, whose prompt may be about more than them, is not asked, or it is not said that it was given none")
	}
}

// What a command finds in a part of its files says nothing of the others, and who writes a change can make it as large as they like (threats.md T587).
func TestACommandThatWasNotGivenAllApprovesNothing(t *testing.T) {
	in := round()
	in.Snapshot.Brief.Files = []review.BriefFile{changed("a.go"), changed("b.go"), changed("c.md")}
	judged := func(c CommandPlan, alone bool) Judgement {
		c.ID = "sec"
		in := in
		in.Request.Agents = append(slices.Clone(in.Request.Agents), AgentPlan{Name: "!sec", Role: review.RoleCommand, Command: &c})
		in.Reports = append(slices.Clone(in.Reports), AgentReport{Answer: review.Answer{Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{Name: "!sec", Role: review.RoleCommand, State: review.AgentComplete}}})
		if alone {
			in.Request.Alone = true
			in.Request.Agents, in.Reports = in.Request.Agents[len(in.Request.Agents)-1:], in.Reports[len(in.Reports)-1:]
		}
		return Judge(in)
	}
	const of2 = "given 1 of 2 of its files, the rest is beyond the command's limit of 1 file (maxFiles)"
	for name, row := range map[string]struct {
		plan  CommandPlan
		alone bool
		want  review.Outcome
		says  string
	}{
		"all it is about":            {CommandPlan{Mode: review.FeedMain, Counts: true, Files: 1, Include: []string{"*.md"}}, false, review.Converged, ""},
		"one of two":                 {CommandPlan{Mode: review.FeedMain, Counts: true, Files: 1, Include: []string{"*.go"}}, false, review.Partial, of2},
		"none":                       {CommandPlan{Mode: review.FeedBoth, Counts: true, DiffLines: 0, Files: 3, Exclude: []string{"*"}}, false, review.Converged, ""},
		"one of two, counts nothing": {CommandPlan{Mode: review.FeedMain, Files: 1, Include: []string{"*.go"}}, false, review.Converged, of2},
		"one of two, by itself":      {CommandPlan{Mode: review.SeparateComment, Counts: true, Files: 1, Include: []string{"*.go"}}, false, review.Converged, ""},
		"alone":                      {CommandPlan{Mode: review.SeparateComment, Counts: true, Files: 1, Include: []string{"*.go"}}, true, review.Partial, of2},
		"alone, counts nothing":      {CommandPlan{Mode: review.SeparateComment, Files: 1, Include: []string{"*.go"}}, true, review.Answered, of2},
	} {
		j := judged(row.plan, row.alone)
		stands := strings.Contains(j.Report, "**Not all of its files:** G"+strings.TrimPrefix(of2, "g"))
		if j.Result.Outcome != row.want || stands != (row.says != "") || row.want == review.Partial && !strings.Contains(j.Result.Reason, row.says) {
			t.Errorf("%s: %s (%s)\n%s", name, j.Result.Outcome, j.Result.Reason, j.Report)
		}
	}
}

// A command is spared what the brief leaves out by a rule that none of its patterns was written for; what it names, and what may not go unread, it was not given
// (threats.md T619, T620).
func TestWhatACommandIsSpared(t *testing.T) {
	file := func(path, why string, excused bool) review.BriefFile {
		return review.BriefFile{Path: path, Omitted: why, Excused: excused}
	}
	lock, vendored := file("web/package-lock.json", "lock file", true), file("vendor/x/x.go", "vendored", true)
	cut := changed("a.go")
	cut.Hunks++
	for name, row := range map[string]struct {
		include string
		file    review.BriefFile
		want    string
	}{
		"no files":                          {"", lock, ""},
		"all files":                         {"**/*", lock, ""},
		"a folder of it":                    {"web/**", lock, ""},
		"an ending of it":                   {"**/*.json", lock, ""},
		"its name":                          {"**/package-lock.json", lock, "0 of 1 of its files, the rest is left out (lock file)"},
		"a part of its name":                {"web/*-lock.*", lock, "0 of 1 of its files, the rest is left out (lock file)"},
		"its name, behind an ending":        {"**/*.json web/package-lock.json", lock, "0 of 1 of its files, the rest is left out (lock file)"},
		"one of several names":              {"**/{yarn.lock,package-lock.json}", lock, "0 of 1 of its files, the rest is left out (lock file)"},
		"an ending of lock files":           {"**/*.lock", file("Cargo.lock", "lock file", true), "0 of 1 of its files, the rest is left out (lock file)"},
		"another name":                      {"**/yarn.lock", lock, ""},
		"vendored code":                     {"vendor/**", vendored, "0 of 1 of its files, the rest is left out (vendored)"},
		"code, vendored or not":             {"**/*.go", vendored, ""},
		"a name, vendored or not":           {"**/x.go", vendored, ""},
		"a part of a name, vendored or not": {"**/*x*.go", vendored, ""},
		"a name in a vendored folder":       {"vendor/**/x.go", vendored, "0 of 1 of its files, the rest is left out (vendored)"},
		"a vendored lock file":              {"**/package-lock.json", file("vendor/x/package-lock.json", "lock file", true), "0 of 1 of its files, the rest is left out (lock file)"},
		"marked as vendored":                {"deps/x.go", file("deps/x.go", "vendored", true), "0 of 1 of its files, the rest is left out (vendored)"},
		"generated code":                    {"**/*.pb.go", file("api/a.pb.go", "generated", true), "0 of 1 of its files, the rest is left out (generated)"},
		"code, generated or not":            {"api/*.go", file("api/a.pb.go", "generated", true), ""},
		"a masked name":                     {"vendor/api/**", file("vendor/[REDACTED]~1f3a/x.go", "vendored", true), "0 of 1 of its files, the rest is left out (vendored)"},
		"moved on the base":                 {"web/yarn.lock", review.BriefFile{Path: "yarn.lock", Omitted: "lock file", Excused: true, Moved: true}, "0 of 1 of its files, the rest is left out (lock file)"},
		"no text":                           {"logo.png", file("logo.png", "binary", true), ""},
		"kept from everybody":               {"web/package-lock.json", file("web/package-lock.json", "excluded by configuration", true), ""},
		"nobody could read it":              {"**/*", file("a.go", "too large", false), "0 of 1 of its files, the rest is left out (too large)"},
		"nobody could read it, and renamed": {"b.go", review.BriefFile{Path: "a.go", OldPath: "b.go", Omitted: "too large"}, "0 of 1 of its files, the rest is left out (too large)"},
		"nobody could read another one":     {"*.md", file("a.go", "too large", false), ""},
		"a part of it":                      {"*.go", cut, "0 of 1 of its files, the rest is cut (over budget)"},
	} {
		c, b := CommandPlan{Include: strings.Fields(row.include)}, review.Brief{Files: []review.BriefFile{row.file, changed("other.txt")}}
		want := row.want
		if c.about("other.txt") && want != "" { // it is given
			want = strings.Replace(want, "0 of 1", "1 of 2", 1)
		}
		if got := strings.TrimPrefix(Inputs{Snapshot: Snapshot{Brief: b}}.short(c), "given "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if idle := c.idle(c.narrow(b)); idle != (want == "" && !c.about("other.txt")) {
			t.Errorf("%s: idle %v", name, idle)
		}
	}
}

// A command says something of what it was shown alone: a line that a mask hides, or of which nobody could read a letter, is unread for it as for a reviewer (threats.md T810).
func TestACommandSaysWhatNobodyCouldRead(t *testing.T) {
	plan := &CommandPlan{ID: "look", Mode: review.SeparateComment, Counts: true}
	letters := changed("a.go")
	letters.Diff = strings.Replace(letters.Diff, "+new", "+⟨0xFF⟩⟨0xFE⟩(new)", 1)
	for name, row := range map[string]struct {
		file      review.BriefFile
		opaque    []masks.Added
		secret    bool
		outcome   review.Outcome
		says, not string
	}{
		"a line as it is":        {changed("a.go"), nil, false, review.Answered, "no findings", "**Not all"},
		"a masked line":          {changed("a.go"), []masks.Added{{Line: masks.Line{File: "a.go", Line: 3}, Found: 1}}, false, review.Partial, "iven 0 of 1 of its files, the rest is unread (masked as a possible secret: line 3)", "· no findings\n"},
		"a mask of more":         {changed("a.go"), []masks.Added{{Line: masks.Line{File: "a.go", Line: 3}}}, true, review.Partial, "masked as a possible secret: line 3", "· no findings\n"},
		"a mask beside another":  {changed("a.go"), []masks.Added{{Line: masks.Line{File: "a.go", Line: 3}, Found: 2}}, true, review.Partial, "masked as a possible secret: line 3", "· no findings\n"},
		"in another encoding":    {letters, nil, false, review.Partial, "iven 0 of 1 of its files, the rest is unread (changed words in another encoding", "· no findings\n"},
		"a rule says what it is": {changed("a.go"), []masks.Added{{Line: masks.Line{File: "a.go", Line: 3}, Found: 1}}, true, review.Answered, "no findings", "**Not all"},
	} {
		in := round()
		in.Request.Agents, in.Request.Alone = []AgentPlan{{Name: "!look", Role: review.RoleCommand, Command: plan}}, true
		in.Snapshot.Brief.Files, in.Snapshot.Opaque = []review.BriefFile{row.file}, row.opaque
		in.Reports = []AgentReport{{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "!look", Role: review.RoleCommand, State: review.AgentComplete}, Command: &review.CommandAnswer{}}}}
		if row.secret {
			rule := found(review.P1, "A token")
			rule.ID, rule.File, rule.Line = secretRule+"1", "a.go", new(3)
			static := answered("static", rule)
			static.Answer.Receipt.Kind = review.KindStatic
			in.Reports = append(in.Reports, static)
		}
		j := judgeCommand(in)
		if j.Result.Outcome != row.outcome || !strings.Contains(j.Report, row.says) || strings.Contains(j.Report, row.not) {
			t.Errorf("%s: %s: %s\n%s", name, j.Result.Outcome, j.Result.Reason, j.Report)
		}
	}
}

// A wish is data: it is carried out only as far as the command has the tool, and there is room.
func TestWishesAreChecked(t *testing.T) {
	wishes := []review.Wish{{Kind: review.WishComment, Body: "a"}, {Kind: review.WishPostSummary, Body: "first"}, {Kind: review.WishSuggest, Body: "b"}, {Kind: review.WishPostSummary, Body: "last"}}
	kept, notes := CommandPlan{Tools: []string{"read", "comment"}}.granted(wishes)
	if len(kept) != 1 || kept[0].Body != "a" || len(notes) != 1 || !strings.HasPrefix(notes[0], "3 wishes not carried out: the command has no such tool") {
		t.Errorf("%+v %q", kept, notes)
	}
	all := CommandPlan{Tools: []string{"comment", "suggest", "post_summary"}}
	if kept, _ = all.granted(wishes); len(kept) != 3 || kept[2].Body != "last" {
		t.Errorf("%+v", kept)
	}
	var many []review.Wish
	for range 25 {
		many = append(many, review.Wish{Kind: review.WishComment, Body: "x"})
	}
	if kept, notes = all.granted(many); len(kept) != maxWishes || len(notes) != 1 || !strings.HasPrefix(notes[0], "15 wishes") {
		t.Errorf("%d %q", len(kept), notes)
	}
}

// An answer has a bound of comments on lines (threats.md T224), and what is past it stands in the summary: nothing is lost, also of what is
// on one line.
func TestCommandsDoNotFloodLines(t *testing.T) {
	in := round()
	plan := CommandPlan{ID: "flood", Mode: review.SeparateComment, Type: review.BothComments}
	in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: "!flood", Role: review.RoleCommand, Command: &plan})
	in.Snapshot.Brief.Files = []review.BriefFile{changed("a.go")}
	h := AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "!flood", Role: review.RoleCommand, State: review.AgentComplete}, Command: &review.CommandAnswer{}}}
	for n := range 80 {
		f := found(review.P3, fmt.Sprintf("Nit number %d", n))
		h.Answer.Command.Findings, h.Evidence = append(h.Answer.Command.Findings, f), append(h.Evidence, evidence.Result{Status: evidence.None})
	}
	placed := in.placed(h)
	if len(placed) != maxLined {
		t.Fatalf("%d comments on lines, want %d", len(placed), maxLined)
	}
	text := in.commandReport(h, among(placed))
	for n := range 80 {
		title, lined := fmt.Sprintf("Nit number %d", n), 0
		for _, c := range placed {
			if strings.Contains(c.body, title+" in detail") {
				lined++
			}
		}
		if stands := strings.Count(text, title+" in detail"); lined+stands != 1 {
			t.Errorf("%q stands %d times on lines and %d times in the summary", title, lined, stands)
		}
	}
	in.Request.InlineMost = 3
	if n := len(in.placed(h)); n != 3 {
		t.Errorf("%d comments on lines, where a pull request has 3", n)
	}
}

// What a command says never approves, counts only where it is to, and one that fails keeps the run from approving.
func TestCommandsInAVerdict(t *testing.T) {
	said := func(state review.AgentState, mode review.OutputMode, counts bool, severities ...review.Priority) Inputs {
		in := round()
		in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: "!sec", Role: review.RoleCommand, Kind: review.KindBuiltin, Command: &CommandPlan{ID: "sec", Mode: mode, Counts: counts}})
		a := review.CommandAnswer{Findings: []review.Finding{}}
		for _, p := range severities {
			a.Findings = append(a.Findings, review.Finding{ID: "C", Priority: p, Category: "sec", Title: "T", Source: review.Source{Type: "agent", Name: "!sec"}})
		}
		in.Reports = append(in.Reports, AgentReport{Answer: review.Answer{Command: &a, Receipt: review.AgentReceipt{Name: "!sec", Role: review.RoleCommand, Kind: review.KindBuiltin, State: state}}, Evidence: make([]evidence.Result, len(severities))})
		return in
	}
	for name, row := range map[string]struct {
		in   Inputs
		want review.Outcome
		says string
	}{
		"it finds nothing":             {said(review.AgentComplete, review.FeedMain, true), review.Converged, "### "},
		"it finds something":           {said(review.AgentComplete, review.FeedMain, true, review.P1), review.ChangesRequested, "counted above"},
		"what it finds does not count": {said(review.AgentComplete, review.FeedMain, false, review.P0), review.Converged, "Found, not counted: 1 P0"},
		"it speaks for itself":         {said(review.AgentComplete, review.SeparateComment, true, review.P0), review.Converged, ""},
		"it fails":                     {said(review.AgentFailed, review.FeedMain, true), review.Partial, "No complete answer"},
		"it fails on its own":          {said(review.AgentDegraded, review.SeparateComment, true), review.Partial, ""},
		"a suggestion of it":           {said(review.AgentComplete, review.FeedBoth, true, review.P3), review.Converged, "counted above"},
	} {
		j := Judge(row.in)
		if j.Result.Outcome != row.want || !strings.Contains(j.Report, row.says) {
			t.Errorf("%s: %s (%s), want %s and %q in\n%s", name, j.Result.Outcome, j.Result.Reason, row.want, row.says, j.Report)
		}
		if row.says == "" && strings.Contains(j.Report, "### ") {
			t.Errorf("%s: it has a section", name)
		}
	}
	alone := said(review.AgentComplete, review.SeparateComment, true, review.P0)
	alone.Reports, alone.Request.Agents = alone.Reports[len(alone.Reports)-1:], alone.Request.Agents[len(alone.Request.Agents)-1:]
	alone.Request.Alone = true
	for _, state := range []review.AgentState{review.AgentComplete, review.AgentFailed} {
		alone.Reports[0].Answer.Receipt.State = state
		if r := Judge(alone).Result; r.Outcome != review.ChangesRequested || r.Consensus != nil || r.Command != "sec" {
			t.Errorf("alone, %s: %+v", state, r)
		}
	}
	alone.Reports[0].Answer.Command = nil
	for _, row := range []struct {
		state review.AgentState
		want  review.Outcome
		exit  int
	}{
		{review.AgentFailed, review.NotReviewed, 6},
		{review.AgentComplete, review.Answered, 0}, // no file was the command's: nobody was asked
	} {
		alone.Reports[0].Answer.Receipt.State = row.state
		if r := Judge(alone).Result; r.Outcome != row.want || r.ExitStatus() != row.exit {
			t.Errorf("alone, %s, without an answer: %+v", row.state, r)
		}
	}
}

// A command that may list what people said has all of it, resolved threads and comments of the timeline included; any other has the open threads, as reviewers do.
func TestWhatACommandHearsOfTheDiscussion(t *testing.T) {
	open, resolved := review.Thread{ID: "T1", Comments: []review.Comment{{Body: "Why?"}}}, review.Thread{ID: "T2", Resolved: true, Comments: []review.Comment{{Body: "Done."}}}
	snap := Snapshot{Discussion: review.Discussion{Threads: []review.Thread{open, resolved, {ID: "T3", Own: true}}, Comments: []review.Comment{{Body: "Please keep the name."}}, Reviews: []review.Review{{Body: "Not yet."}}}}
	for _, row := range []struct {
		tools                      []string
		threads, comments, reviews int
	}{
		{[]string{"read", "list_comments", "list_threads"}, 2, 1, 1}, {[]string{"list_comments"}, 2, 1, 1}, {[]string{"read", "comment"}, 1, 0, 0},
	} {
		asked := &recordingAgents{}
		l := &Loop{Agents: asked, Record: discarding{}, Emit: func(review.Event) {}, Now: time.Now, Fence: func(string) string { return "fence" }, History: filesAlone{all: files{}}}
		plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs", Tools: row.tools}}
		if _, err := l.ask(t.Context(), Request{Agents: []AgentPlan{plan}}, plan, Inputs{Round: 1, Snapshot: snap}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if d := asked.task.Discussion; d == nil || len(d.Threads) != row.threads || len(d.Comments) != row.comments || len(d.Reviews) != row.reviews {
			t.Errorf("with %q it is told %+v", row.tools, d)
		}
	}
}

// recordingAgents keep what they were asked.
type recordingAgents struct{ task review.Task }

func (r *recordingAgents) Ask(_ context.Context, plan AgentPlan, task review.Task, _ func(review.Event)) review.Answer {
	r.task = task
	return review.Answer{Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete}}
}

// discarding keeps nothing.
type discarding struct{}

func (discarding) Save(context.Context, string, string, []byte) error { return nil }
func (discarding) Round(context.Context, review.RunResult) error      { return nil }
func (discarding) Finish(context.Context, review.RunResult) error     { return nil }
