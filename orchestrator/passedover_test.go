package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// pushedSince is a history in which these files changed, and of which some commits are gone.
type pushedSince struct {
	shelf
	files, gone []string
}

func (s pushedSince) Have(_ context.Context, commit string) (bool, error) {
	return !slices.Contains(s.gone, commit), nil
}

func (s pushedSince) Diff(context.Context, string, string) (*diff.Diff, error) {
	d := &diff.Diff{}
	for _, f := range s.files {
		d.Files = append(d.Files, diff.File{Path: f, Change: diff.Added})
	}
	return d, nil
}

// readThen are the files of every change.
type readThen []review.BriefFile

func (b readThen) Brief(context.Context, Range, ContextOptions, review.Limits) (review.Brief, error) {
	return review.Brief{Files: b}, nil
}

// While something grave is open, nothing goes unread that may hold its code and that came after it was raised (threats.md T849).
func TestSomethingGraveMayBeWhereNobodyLooks(t *testing.T) {
	const submodule, pointer = "@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n", "@@ -1 +1 @@\n-oid sha256:1\n+oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
	left := func(path, why string) review.BriefFile {
		return review.BriefFile{Path: path, Change: "added", Omitted: why, Excused: true}
	}
	files := []review.BriefFile{
		{Path: "a.go", Change: "modified", Diff: "@@ -1 +1 @@\n-x\n+y\n"},
		left("vendor/new.js", repocontext.OmittedVendored), left("vendor/old.js", repocontext.OmittedVendored), left("dist/new.js", repocontext.OmittedGenerated),
		left("demo/new.js", repocontext.OmittedExcluded), left("go.sum", repocontext.OmittedLockFile), left("a.png", repocontext.OmittedBinary),
		{Path: "vendor/gone.js", Change: "deleted", Omitted: repocontext.OmittedVendored, Excused: true},
		{Path: "lib", Change: "modified", Diff: submodule}, {Path: "tool.py", Change: "modified", Diff: pointer},
	}
	now := pushedSince{files: []string{"a.go", "vendor/new.js", "dist/new.js", "demo/new.js", "go.sum", "a.png", "vendor/gone.js", "lib", "tool.py"}}
	all := "vendor/new.js dist/new.js demo/new.js lib tool.py"
	p1 := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	open := showing(p1)
	open.Closed, open.ClosedBy = false, ""
	with := func(change func(*conversation.Thread)) conversation.Thread {
		out := open
		change(&out)
		return out
	}
	minor := showing(saidBy("one", foundAt(review.P2, 9, ""), "Mean of an empty list divides by zero"))
	minor.Closed, minor.ClosedBy = false, ""
	for what, row := range map[string]struct {
		thread conversation.Thread
		then   pushedSince
		want   string
		read   []review.BriefFile
	}{
		"it is open":                            {open, now, all, files},
		"the author resolved it":                {with(func(t *conversation.Thread) { t.Closed, t.ClosedBy = true, "ada" }), now, all, files},
		"somebody resolved it who may":          {with(func(t *conversation.Thread) { t.Closed, t.ClosedBy = true, "boss" }), now, "", files},
		"it is not grave":                       {minor, now, "", files},
		"it was raised here":                    {with(func(t *conversation.Thread) { t.Head = "head" }), now, "", files},
		"nothing of these changed":              {open, pushedSince{files: []string{"a.go"}}, "", files},
		"its commit is gone":                    {open, pushedSince{gone: []string{"before"}}, "vendor/new.js vendor/old.js dist/new.js demo/new.js lib tool.py", files},
		"its own file is one of these, and old": {with(func(t *conversation.Thread) { t.File = "vendor/old.js" }), pushedSince{}, "vendor/old.js", files},
		"its own file is no text any more":      {with(func(t *conversation.Thread) { t.File = "a.png" }), pushedSince{}, "a.png", files},
		"one was given to reviewers then":       {open, pushedSince{files: []string{"a.go"}}, "vendor/old.js", slices.DeleteFunc(slices.Clone(files), func(f review.BriefFile) bool { return f.Path == "vendor/old.js" })},
	} {
		snap := disputedInputs().Snapshot
		snap.Range.Head = "head"
		snap.Brief.Files = files
		snap.Conversation = &conversation.State{Threads: []conversation.Thread{row.thread}}
		if err := (&Loop{History: row.then, Briefer: readThen(row.read)}).passedOver(t.Context(), Request{}, &snap); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, f := range snap.Brief.Files {
			if f.Omitted != files[i].Omitted {
				got = append(got, f.Path)
				if f.Excused || !strings.Contains(f.Omitted, short(row.thread.Head)) {
					t.Errorf("%s: %+v", what, f)
				}
			}
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %q", what, got, row.want)
		}
	}
	for commit, want := range map[string]string{"before": all, "": "vendor/new.js vendor/old.js dist/new.js demo/new.js lib tool.py"} { // it has no thread
		snap := Snapshot{Range: Range{Head: "head"}, Brief: review.Brief{Files: files}, Since: []string{commit}}
		if err := (&Loop{History: pushedSince{files: now.files, gone: []string{""}}, Briefer: readThen(files)}).passedOver(t.Context(), Request{}, &snap); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, f := range snap.Brief.Files {
			if f.Omitted != files[i].Omitted {
				got = append(got, f.Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("since %q: %q, want %q", commit, got, want)
		}
	}
	if !(ContextOptions{HideWithheld: true, NeverRead: []string{"demo/**"}}).unnamed("demo/new.js", repocontext.OmittedExcluded+"; new") {
		t.Error("the name of a withheld file is told")
	}
}

// What a report leaves open that is grave and has no thread, or stands in none any more, is open since the commit on which it was raised, until those who raised it were given
// all that may hold it (threats.md T850).
func TestSinceWhenSomethingGraveIsOpen(t *testing.T) {
	reviewers := Request{Agents: []AgentPlan{{Name: "one", Role: review.RoleReviewer}}}
	snap := Snapshot{Owing: []string{sanitize.RaisedBy("two")}}
	if got := snap.firstRaised(reviewers, []string{"a"}); got != nil {
		t.Errorf("who raised it is no reviewer any more: %q", got)
	}
	snap.Owing = []string{sanitize.RaisedBy("one")}
	if got := snap.firstRaised(reviewers, []string{"a"}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("who raised it is asked again: %q", got)
	}

	first := strings.Repeat("0a", 20)
	everybody := func(review.Comment) bool { return true }
	mark := func(m sanitize.Marker, at int) review.Comment {
		m.Run, m.Round, m.Nonce, m.Key = "r", 1, "n", []byte("k")
		text, err := sanitize.Comment("- Head: `1234`\n- Merge base: `5`\n- Base: `6`\n", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Body: text[0].String(), CreatedAt: time.Unix(int64(at), 0)}
	}
	for _, row := range []struct {
		marker sanitize.Marker
		want   string
	}{
		{sanitize.Marker{}, ""}, {sanitize.Marker{Raised: snap.Owing, Since: first}, first}, {sanitize.Marker{Raised: snap.Owing}, "1234"},
	} {
		if _, got := newestRaised([]review.Comment{mark(row.marker, 1)}, everybody, everybody, "", ""); strings.Join(got, " ") != row.want {
			t.Errorf("%+v: %q, want %q", row.marker, got, row.want)
		}
	}

	p1 := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	open := showing(p1)
	open.Closed, open.ClosedBy = false, ""
	for what, row := range map[string]struct {
		found    []review.Finding
		threads  []conversation.Thread
		since    []string
		unread   bool
		want     string
		wantName bool
	}{
		"nothing":                           {nil, nil, nil, false, "", false},
		"it is raised now":                  {[]review.Finding{p1}, nil, nil, false, "head", true},
		"it was raised before":              {[]review.Finding{p1}, nil, []string{first}, false, first, true},
		"a thread says it":                  {nil, []conversation.Thread{open}, nil, true, "before", true},
		"its reviewer was given all":        {nil, nil, []string{first}, false, "", false},
		"its reviewer was not given all":    {nil, nil, []string{first}, true, first, true},
		"no report said so, but the record": {nil, nil, nil, true, "head", true},
	} {
		in := raised(append(row.found, saidBy("one", foundAt(review.P3, 3, ""), "A comment has a typing mistake")), row.threads...)
		in.Snapshot.Range.Head, in.Snapshot.Since = "head", row.since
		in.Snapshot.Owing = snap.Owing
		if row.unread {
			in.Snapshot.Brief.Files = append(slices.Clone(in.Snapshot.Brief.Files), review.BriefFile{Path: "vendor/new.js", Change: "added", Omitted: "vendored" + report.Later + "before"})
		}
		j := Judge(in)
		if j.since != row.want || slices.Contains(j.raised, sanitize.RaisedBy("one")) != row.wantName {
			t.Errorf("%s: since %q, raised %q, want %q", what, j.since, j.raised, row.want)
		}
	}
}

// An approval tells of what the newest report of another run left open without a thread: nobody looks for it where nothing is left to be resolved (threats.md T911).
func TestAnApprovalTellsOfWhatHasNoThread(t *testing.T) {
	first, second := strings.Repeat("a", 40), strings.Repeat("b", 40)
	everybody := func(review.Comment) bool { return true }
	at := func(run, since string, second int, names ...string) review.Comment {
		m := sanitize.Marker{Run: run, Round: 1, Nonce: "n", Since: since, Key: []byte("k")}
		for _, name := range names {
			m.Raised = append(m.Raised, sanitize.RaisedBy(name))
		}
		text, err := sanitize.Comment("- Head: `1234`\n", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{URL: "https://github.com/o/r/pull/7#issuecomment-" + run, CreatedAt: time.Unix(int64(second), 0), Body: text[0].String()}
	}
	req := Request{Run: "now", Agents: []AgentPlan{{Name: "one", Role: review.RoleReviewer}}}
	for what, row := range map[string]struct {
		comments []review.Comment
		want     string
	}{
		"nothing":                         {nil, "<nil>"},
		"all had threads":                 {[]review.Comment{at("1", "", 1)}, "<nil>"},
		"somebody nobody asks any more":   {[]review.Comment{at("1", first, 1, "gone")}, "<nil>"},
		"one of them":                     {[]review.Comment{at("1", first, 1, "gone", "one")}, "&{[one] aaaaaaaaaa https://github.com/o/r/pull/7#issuecomment-1}"},
		"an older report":                 {[]review.Comment{at("1", first, 1, "one"), at("2", second, 2, "one")}, "&{[one] bbbbbbbbbb https://github.com/o/r/pull/7#issuecomment-2}"},
		"this run's own report of before": {[]review.Comment{at("now", first, 1, "one")}, "<nil>"},
	} {
		if got := threadless(row.comments, everybody, req, ""); fmt.Sprint(got) != row.want {
			t.Errorf("%s: %v, want %s", what, got, row.want)
		}
	}

	in := raised([]review.Finding{saidBy("one", foundAt(review.P3, 3, ""), "A comment has a typing mistake")})
	in.Snapshot.Threadless = threadless([]review.Comment{at("1", first, 1, "one")}, everybody, req, "")
	const want = "Check whether something grave that `one` raised at `aaaaaaaaaa` is gone: it has no thread, and was not raised again ([report](https://github.com/o/r/pull/7#issuecomment-1))."
	if j := Judge(in); j.Result.Outcome != review.Converged || !strings.Contains(j.Report, want) {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
	d := verdict{outcome: review.Converged}
	d.in.Snapshot.Threadless = &report.Threadless{By: []string{"one"}}
	d.dismissed = []review.Dismissed{{Finding: saidBy("one", foundAt(review.P0, 9, ""), "SQL is built of a name")}}
	if d.threadless() == nil {
		t.Error("another finding that people dismissed takes the word away")
	}
	in = raised([]review.Finding{saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")})
	in.Snapshot.Threadless = &report.Threadless{By: []string{"one"}}
	if j := Judge(in); strings.Contains(j.Report, "it has no thread") {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
}
