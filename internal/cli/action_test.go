package cli_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/webhooks"
)

// cmdEvent makes the job one that an event started: a recorded event, moved onto a pull request of the forge.
// event RECORDING N [LOGIN TEXT], which also posts the comment of an issue_comment.
func cmdEvent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2 || len(args) == 4, "event RECORDING N [LOGIN TEXT]")
	p := worldOf(ts).pull(ts, args[1])
	for _, e := range webhooks.All() {
		if e.File == args[0]+".json" {
			happens(ts, e, p, args[2:]...)
			return
		}
	}
	ts.Fatalf("no recorded event is %q", args[0])
}

// happens makes the job one that an event started. With a login and a text the event is about a new comment.
func happens(ts *testscript.TestScript, e webhooks.Event, p *forge.PullRequest, comment ...string) {
	to := webhooks.Place{Repo: "acme/widgets", HeadRepo: p.HeadRepo(), PR: p.Number, Base: p.BaseSHA(), Head: p.HeadSHA(), Updated: p.Updated()}
	if len(comment) == 2 {
		id := p.Comment(comment[0], comment[1])
		all := p.Comments()
		to.Comment = &webhooks.Comment{ID: id, Author: comment[0], Body: comment[1], Updated: all[len(all)-1].Updated}
	}
	data, err := e.At(to)
	ts.Check(err)
	file := ts.MkAbs("event.json")
	ts.Check(os.WriteFile(file, data, 0o600))
	for name, value := range map[string]string{"GITHUB_EVENT_NAME": e.Name, "GITHUB_EVENT_PATH": file, "GITHUB_REPOSITORY": "acme/widgets", "GITHUB_ACTIONS": "true", "GITHUB_JOB": "prloop"} {
		ts.Setenv(name, value)
	}
}

// cmdRecorded has prloop action answer every recorded event, each moved onto a pull request of the forge, and holds what it does against a
// table: recorded TABLE. A row is an event, its action or -, what becomes of it, and what the log says, as a regular expression.
//
//	report   a report stands on the pull request, which is the event's own
//	answer   the comment got a reaction and an answer
//	heard    GitHub was asked, and nothing was written
//	nothing  not even GitHub was asked
func cmdRecorded(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "recorded TABLE")
	type row struct{ effect, says string }
	table, used := map[string]row{}, map[string]int{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		cells := strings.Fields(line)
		if len(cells) < 4 {
			ts.Fatalf("no row: %q", line)
		}
		table[cells[0]+" "+cells[1]] = row{cells[2], strings.Join(cells[3:], " ")}
	}
	w := worldOf(ts)
	w.start(ts, "").SetPermission("mona", forge.Write)
	all, acted := webhooks.All(), 0
	for i, e := range all {
		name := e.Name + " " + cmp.Or(e.Action, "-")
		want, ok := table[name]
		if !ok {
			ts.Fatalf("the table has no row for %q, as of %s", name, e.File)
		}
		used[name]++
		p, number := w.pull(ts, "7"), 100+i
		if want.effect != "nothing" { // one of its own
			var err error
			p, err = w.forge.Open(forge.PullSpec{Owner: "acme", Repo: "widgets", Number: number, Title: "Count the stock", Author: "contributor",
				Base: os.DirFS(ts.MkAbs("base")), Head: os.DirFS(ts.MkAbs("head")), BaseRef: fmt.Sprint("base-", number), HeadRef: fmt.Sprint("topic-", number)})
			ts.Check(err)
		}
		var said []string
		if e.Name == "issue_comment" {
			said = []string{"mona", "!prloop help"}
		}
		happens(ts, e, p, said...)
		before := len(w.forge.Log())
		if err := ts.Exec("prloop", "action"); err != nil {
			ts.Fatalf("%s: prloop action: %v", e.File, err)
		}
		if log := ts.ReadFile("stdout"); !regexp.MustCompile("(?m)" + want.says).MatchString(log) {
			ts.Fatalf("%s: the log does not say %q:\n%s", e.File, want.says, log)
		}
		asked, wrote := 0, 0
		for _, x := range w.forge.Log()[before:] {
			if asked++; x.Write {
				wrote++
			}
		}
		comments := p.Comments()
		got := "nothing"
		switch ours := comments[min(len(said)/2, len(comments)):]; {
		case len(ours) > 1:
			got = fmt.Sprintf("%d comments", len(ours))
		case len(said) > 0 && len(ours) == 1 && len(comments[0].Reactions) == 1 && strings.Contains(ours[0].Body, "Asked for by mona"):
			got = "answer"
		case len(said) == 0 && len(ours) == 1 && strings.Contains(ours[0].Body, "\n## prloop: "):
			got = "report"
		case wrote > 0:
			got = fmt.Sprintf("%d writes", wrote)
		case asked > 0:
			got = "heard"
		}
		if got != want.effect {
			ts.Fatalf("%s: %s became of it, want %s", e.File, got, want.effect)
		}
		if got == "report" || got == "answer" {
			acted++
		}
	}
	for name := range table {
		if used[name] == 0 {
			ts.Fatalf("no recorded event is %q", name)
		}
	}
	fmt.Fprintf(ts.Stdout(), "%d events, %d acted\n", len(all), acted)
}

// cmdReactions checks how many reactions the last comment of a login has: reactions N LOGIN COUNT
func cmdReactions(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 3, "reactions N LOGIN COUNT")
	got := -1
	for _, c := range worldOf(ts).pull(ts, args[0]).Comments() {
		if c.Author == args[1] {
			got = len(c.Reactions)
		}
	}
	if fmt.Sprint(got) != args[2] {
		ts.Fatalf("the comment has %d reactions, want %s", got, args[2])
	}
}
