package intake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/testkit/webhooks"
	"github.com/prloop/prloop/review"
)

const (
	first   = "first"
	again   = "again"
	anew    = "anew"
	heard   = "heard" // anew, and soon
	command = "command"
)

// What every recorded event asks for, by event and action. What is not here asks for nothing.
var routes = map[string]string{
	"pull_request opened":                 first,
	"pull_request reopened":               first,
	"pull_request ready_for_review":       first,
	"pull_request synchronize":            again,
	"pull_request labeled":                again,
	"pull_request unlabeled":              again,
	"pull_request closed":                 again,
	"pull_request converted_to_draft":     again,
	"pull_request_review dismissed":       again,
	"pull_request_review_comment created": heard,
	"pull_request_review_thread resolved": anew, "pull_request_review_thread unresolved": anew,
	"check_suite rerequested": command,
}

func TestEveryRecordedEvent(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range webhooks.All() {
		t.Run(e.File, func(t *testing.T) {
			told, err := intake.Read(intake.Event{Name: e.Name, Payload: e.Payload})
			if err != nil {
				t.Fatal(err)
			}
			want := routes[e.Name+" "+e.Action]
			seen[e.Name+" "+e.Action] = true
			if (len(told.Looks) == 0) != (told.Why != "") {
				t.Errorf("%+v: looks and no reason, or a reason and no looks", told)
			}
			if strings.HasPrefix(e.Name, "pull_request") && (told.Pull.HeadSHA == "" || told.Pull.BaseRef == "" || told.Pull.State == "" || told.Pull.Number == 0) {
				t.Errorf("the pull request is %+v", told.Pull)
			}
			if len(told.Looks) == 0 {
				if want != "" && e.Name != "check_suite" { // one of two belongs to a pull request
					t.Errorf("nothing, because %s; want %s", told.Why, want)
				}
				return
			}
			l := told.Looks[0]
			got := map[uint]string{intake.First: first, intake.Again: again, intake.Command: command}[l.Priority]
			if l.Anew && l.Priority != intake.Command {
				got = map[uint]string{intake.Said: heard, intake.First: heard, intake.Again: anew}[l.Priority]
			}
			if got != want || l.PR == 0 || told.Repo.Host != "github.com" || told.Repo.Owner == "" {
				t.Errorf("%s, %+v; want %s", got, told, want)
			}
		})
	}
	for route := range routes {
		if !seen[route] {
			t.Errorf("no recorded event is %q", route)
		}
	}
}

const (
	repository = `"repository":{"full_name":"acme/widgets","html_url":"https://github.com/acme/widgets"}`
	ready      = `{"action":"opened","number":7,` + repository + `,"sender":{"id":43,"type":"User"},
	"pull_request":{"number":7,"state":"open","draft":false,"head":{"repo":{"full_name":"acme/widgets"}}}}`
	said = `{"action":"created",` + repository + `,"sender":{"id":43},"issue":{"number":7,"pull_request":{"url":"x"}},
	"comment":{"id":5,"body":"!prloop help","updated_at":"2026-01-01T00:00:00Z","user":{"login":"mona","id":43,"type":"User"}}}`
	reviewed = `{"action":"submitted",` + repository + `,"sender":{"id":43},"pull_request":{"number":7},"review":{"state":"changes_requested"}}`
	replied  = `{"action":"created",` + repository + `,"sender":{"id":44},"pull_request":{"number":7},"comment":{"id":6,"author_association":"NONE","user":{"id":44,"login":"lisa","type":"User"}}}`
	settled  = `{"action":"resolved",` + repository + `,"sender":{"id":43,"login":"mona","type":"User"},"pull_request":{"number":7,"user":{"id":44}}}`
	edited   = `{"action":"edited","number":7,` + repository + `,"pull_request":{"number":7,"state":"open","head":{}},"changes":{"base":{"ref":{"from":"main"}}}}`
)

func TestRead(t *testing.T) {
	with := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	own := review.Person{Login: "octocat", ID: 43}
	for _, row := range []struct {
		name, event, payload string
		own                  review.Person
		want                 intake.Look
		why, err             string
	}{
		{"opened", "pull_request", ready, review.Person{}, intake.Look{PR: 7, Priority: intake.First, Settles: true}, "", ""},
		{"opened by us", "pull_request", ready, own, intake.Look{PR: 7, Priority: intake.First, Settles: true}, "", ""},
		{"a draft", "pull_request", with(ready, `"draft":false`, `"draft":true`), review.Person{}, intake.Look{}, "draft", ""},
		{"another base", "pull_request", edited, review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true}, "", ""},
		{"another base of a draft", "pull_request", with(edited, `"head"`, `"draft":true,"head"`), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true}, "", ""},
		{"a label of a draft", "pull_request", with(ready, "opened", "labeled", `"draft":false`, `"draft":true`), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Settles: true, Labels: true}, "", ""},
		{"a label of a closed one", "pull_request", with(ready, "opened", "labeled", `"open"`, `"closed"`), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Settles: true, Labels: true}, "", ""},
		{"a label that is taken off", "pull_request", with(ready, "opened", "unlabeled"), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Labels: true}, "", ""},
		{"another title", "pull_request", with(edited, `"base"`, `"title"`), review.Person{}, intake.Look{}, "words", ""},
		{"asked", "issue_comment", said, review.Person{}, intake.Look{PR: 7, Comment: 5, Priority: intake.Command}, "", ""},
		{"not asked", "issue_comment", with(said, "!prloop help", "thanks"), review.Person{}, intake.Look{}, "asks for nothing", ""},
		{"a bot asks", "issue_comment", with(said, `"User"`, `"Bot"`), review.Person{}, intake.Look{}, "bot's", ""},
		{"on an issue", "issue_comment", with(said, `,"pull_request":{"url":"x"}`, ""), review.Person{}, intake.Look{}, "on an issue", ""},
		{"changes requested", "pull_request_review", reviewed, review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true}, "", ""},
		{"our review", "pull_request_review", with(reviewed, `"state"`, `"body":"<!-- pr-review-loop-marker -->","state"`), own, intake.Look{}, "itself", ""},
		{"a review by hand with our login", "pull_request_review", reviewed, own, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true}, "", ""},
		{"our comment", "issue_comment", with(said, `!prloop help`, `<!-- pr-review-loop-marker -->\n\n!prloop help`), own, intake.Look{}, "itself", ""},
		{"asked by hand with our login", "issue_comment", said, own, intake.Look{PR: 7, Comment: 5, Priority: intake.Command}, "", ""},
		{"a thread that we settled", "pull_request_review_thread", settled, own, intake.Look{}, "itself", ""},
		{"a reply", "pull_request_review_comment", replied, review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Said: "lisa", Settles: true}, "", ""},
		{"a reply of its author", "pull_request_review_comment", with(replied, `"number":7`, `"number":7,"user":{"id":44}`), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true, Patient: true}, "", ""},
		{"a settled thread", "pull_request_review_thread", settled, review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Settles: true, Patient: true}, "", ""},
		{"a thread that is opened again", "pull_request_review_thread", with(settled, "resolved", "unresolved"), review.Person{}, intake.Look{PR: 7, Priority: intake.Again, Anew: true, Said: "mona", Settles: true}, "", ""},
		{"a member's reply", "pull_request_review_comment", with(replied, "NONE", "MEMBER"), review.Person{}, intake.Look{PR: 7, Priority: intake.Said, Anew: true, Said: intake.Member, Settles: true}, "", ""},
		{"a reply of its author, a member", "pull_request_review_comment", with(replied, "NONE", "MEMBER", `"number":7`, `"number":7,"user":{"id":44}`), review.Person{}, intake.Look{PR: 7, Priority: intake.First, Anew: true, Settles: true}, "", ""},
		{"a member's review", "pull_request_review", with(reviewed, `"state"`, `"author_association":"MEMBER","state"`), review.Person{}, intake.Look{PR: 7, Priority: intake.Said, Settles: true}, "", ""},
		{"a review that comments", "pull_request_review", with(reviewed, "changes_requested", "commented"), review.Person{}, intake.Look{}, "changes no verdict", ""},
		{"a merge queue", "merge_group", `{"action":"checks_requested",` + repository + `}`, review.Person{}, intake.Look{}, "no status in a merge queue", ""},
		{"a star", "star", `{"action":"created"}`, review.Person{}, intake.Look{}, "nothing is done", ""},
		{"a ping", "ping", `{"zen":"x"}`, review.Person{}, intake.Look{}, "anybody", ""},
		{"not JSON", "pull_request", "{", review.Person{}, intake.Look{}, "", "read the event"},
		{"no repository", "pull_request", `{"action":"opened"}`, review.Person{}, intake.Look{}, "", "names no repository"},
		{"a path for a name", "pull_request", with(ready, "acme/widgets", "../../etc"), review.Person{}, intake.Look{}, "", "names no repository"},
		{"no host", "pull_request", with(ready, "https://github.com", ""), review.Person{}, intake.Look{}, "", "where its repository is"},
		{"no number", "pull_request_review", with(reviewed, `"number":7`, `"number":0`), review.Person{}, intake.Look{}, "", "names no pull request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := intake.Read(intake.Event{Name: row.event, Payload: []byte(row.payload), Own: row.own})
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("%v, want %q", err, row.err)
				}
				return
			}
			if err != nil || !strings.Contains(got.Why, row.why) || (row.why == "") != (len(got.Looks) == 1) {
				t.Fatalf("%+v, %v; want %q", got, err, row.why)
			}
			if row.why == "" && got.Looks[0] != row.want {
				t.Errorf("%+v, want %+v", got.Looks[0], row.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	pr := review.PullRequest{State: "OPEN", HeadSHA: "abcdef0123", Labels: []string{"bug"}}
	change := func(f func(*review.PullRequest)) review.PullRequest { p := pr; f(&p); return p }
	known := intake.Known{Head: "abcdef0123", Run: "R"}
	read := known
	read.Standing = intake.Standing(review.PullRequest{Standing: "1 APPROVED "})
	for _, row := range []struct {
		name  string
		pr    review.PullRequest
		rules intake.Rules
		known intake.Known
		why   string
	}{
		{"open", pr, intake.Rules{}, intake.Known{}, ""},
		{"closed", change(func(p *review.PullRequest) { p.State = "CLOSED" }), intake.Rules{Drafts: true, Forks: true}, intake.Known{Anew: true}, "is closed"},
		{"a draft", change(func(p *review.PullRequest) { p.Draft = true }), intake.Rules{}, intake.Known{}, "draft"},
		{"drafts are reviewed", change(func(p *review.PullRequest) { p.Draft = true }), intake.Rules{Drafts: true}, intake.Known{}, ""},
		{"a fork's", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{}, "fork's"},
		{"forks are reviewed", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{Forks: true}, intake.Known{}, ""},
		{"a bot's", change(func(p *review.PullRequest) { p.Author.Bot = true }), intake.Rules{}, intake.Known{}, ""},
		{"no bots", change(func(p *review.PullRequest) { p.Author.Bot = true }), intake.Rules{NoBots: true}, intake.Known{}, "bot's"},
		{"a label", pr, intake.Rules{Labels: []string{"prloop", "bug"}}, intake.Known{}, ""},
		{"no label", pr, intake.Rules{Labels: []string{"prloop"}}, intake.Known{}, "none of the labels prloop"},
		{"reviewed", pr, intake.Rules{}, known, "abcdef0 was reviewed: run R"},
		{"reviewed, and people said more since", change(func(p *review.PullRequest) { p.Standing = "1 APPROVED 2 CHANGES_REQUESTED " }), intake.Rules{}, read, ""},
		{"reviewed, and a word of theirs is gone", pr, intake.Rules{}, read, ""},
		{"reviewed, with what they said", change(func(p *review.PullRequest) { p.Standing = "1 APPROVED " }), intake.Rules{}, read, "was reviewed"},
		{"reviewed, and something changed", pr, intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Anew: true}, ""},
		{"a fork's that was asked for, and people said more since", change(func(p *review.PullRequest) { p.CrossRepository, p.Standing = true, "2 CHANGES_REQUESTED " }), intake.Rules{}, known, ""},
		{"a fork's that was asked for, beside another of its commit, and somebody who may block spoke", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Anew: true, Said: true, Silent: true}, ""},
		{"reviewed, and the status is another's word", pr, intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Silent: true}, ""},
		{"a fork's, and the status is another's word", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Silent: true}, "fork's"},
		{"a fork's that was asked for, and somebody who may block spoke", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Anew: true, Said: true}, ""},
		{"a fork's that was asked for, and somebody spoke", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Anew: true}, "fork's"},
		{"a draft that was asked for, and people said more since", change(func(p *review.PullRequest) { p.Draft, p.Standing = true, "2 CHANGES_REQUESTED " }), intake.Rules{}, known, ""},
		{"stopped", pr, intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Anew: true, Stopped: "mona asked for a stop"}, "mona asked"},
		{"stopped after a review, and people said more since", change(func(p *review.PullRequest) { p.Standing = "2 CHANGES_REQUESTED " }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Stopped: "mona asked for a stop"}, ""},
		{"stopped before a review, and people said more since", change(func(p *review.PullRequest) { p.Standing = "2 CHANGES_REQUESTED " }), intake.Rules{}, intake.Known{Head: "0123", Run: "R", Stopped: "mona asked for a stop"}, "mona asked"},
		{"reviewed, and other labels of the gate stand", pr, intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Relabelled: true}, ""},
		{"a fork's that was asked for, and other labels of the gate stand", change(func(p *review.PullRequest) { p.CrossRepository = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Relabelled: true}, ""},
		{"stopped after a review, and other labels of the gate stand", pr, intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Stopped: "mona asked for a stop", Relabelled: true}, ""},
		{"a draft, and other labels of the gate stand", change(func(p *review.PullRequest) { p.Draft = true }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Relabelled: true}, ""},
		{"closed, and other labels of the gate stand", change(func(p *review.PullRequest) { p.State = "CLOSED" }), intake.Rules{}, intake.Known{Head: known.Head, Run: "R", Relabelled: true}, "is closed"},
		{"reviewed at another commit", pr, intake.Rules{}, intake.Known{Head: "0123", Run: "R"}, ""},
	} {
		if why := intake.Decide(row.pr, row.rules, row.known); !strings.Contains(why, row.why) || (row.why == "") != (why == "") {
			t.Errorf("%s: %q, want %q", row.name, why, row.why)
		}
	}
}

// What is read of labels is another thing when one of them is set, taken off, or set again, however it is spelled, and the same when others are. Of what was never set nothing is
// read. Where not all events are told, any may be one of them (threats.md T864).
func TestLabelsRead(t *testing.T) {
	strict, both := []string{"pr-reviewer:strict"}, []string{"pr-reviewer:advisory", "pr-reviewer:strict"}
	for _, row := range []struct {
		name          string
		first, then   review.PullRequest
		of            []string
		none, another bool
	}{
		{"others", review.PullRequest{}, review.PullRequest{Labels: []string{"bug", "strict"}, Labelled: map[string]string{"bug": "1", "strict": "2"}}, both, true, false},
		{"set", review.PullRequest{}, review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, both, true, true},
		{"set and taken off", review.PullRequest{}, review.PullRequest{Labelled: map[string]string{"pr-reviewer:strict": "1"}}, both, true, true},
		{"without an event", review.PullRequest{}, review.PullRequest{Labels: []string{"PR-Reviewer:Strict"}}, both, true, true},
		{"set again", review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "3"}}, both, false, true},
		{"another one set", review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, review.PullRequest{Labels: append(both, "bug"), Labelled: map[string]string{"pr-reviewer:strict": "1"}}, both, false, true},
		{"another one set that does not count", review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, review.PullRequest{Labels: both, Labelled: map[string]string{"pr-reviewer:strict": "1", "pr-reviewer:advisory": "2"}}, strict, false, false},
		{"spelled in another way", review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, review.PullRequest{Labels: []string{"bug", "PR-Reviewer:Strict"}, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, both, false, false},
		{"buried", review.PullRequest{Labels: strict, Labelled: map[string]string{"pr-reviewer:strict": "1"}}, review.PullRequest{Labels: strict, Labelled: map[string]string{"": "200"}}, both, false, true},
		{"buried again", review.PullRequest{Labels: strict, Labelled: map[string]string{"": "200"}}, review.PullRequest{Labels: strict, Labelled: map[string]string{"": "300"}}, both, false, true},
		{"no label counts", review.PullRequest{}, review.PullRequest{Labels: both, Labelled: map[string]string{"": "200"}}, nil, true, false},
	} {
		first, then := intake.LabelsRead(row.first, row.of), intake.LabelsRead(row.then, row.of)
		if (first == intake.NoLabels) != row.none || (first != then) != row.another {
			t.Errorf("%s: first %q, then %q", row.name, first, then)
		}
	}
}

// An event of a draft is one like any other where drafts are reviewed.
func TestReadDrafts(t *testing.T) {
	e := intake.Event{Name: "pull_request", Payload: []byte(strings.ReplaceAll(ready, `"draft":false`, `"draft":true`)), Drafts: true}
	if told, err := intake.Read(e); err != nil || len(told.Looks) != 1 || told.Looks[0].PR != 7 {
		t.Errorf("%+v, %v", told, err)
	}
}

// How a pull request was seen survives as text; any change that a list of GitHub's tells of shows.
func TestSeen(t *testing.T) {
	pr := review.PullRequest{State: "OPEN", HeadSHA: "abc", BaseRef: "main", Labels: []string{"a\nb", "c"}, UpdatedAt: time.Unix(1700000000, 5000).UTC()}
	seen := intake.SeenAs(intake.See(pr).String())
	if !seen.Still(pr) || seen.Head() != pr.HeadSHA || (intake.Seen{}).Head() != "" {
		t.Fatalf("%+v", seen)
	}
	for name, change := range map[string]func(*review.PullRequest){
		"a push":       func(p *review.PullRequest) { p.HeadSHA = "abd" },
		"a draft":      func(p *review.PullRequest) { p.Draft = true },
		"a label":      func(p *review.PullRequest) { p.Labels = []string{"c"} },
		"another base": func(p *review.PullRequest) { p.BaseRef = "next" },
		"a comment":    func(p *review.PullRequest) { p.UpdatedAt = p.UpdatedAt.Add(time.Second) },
	} {
		other := pr
		if change(&other); seen.Still(other) {
			t.Errorf("%s does not show", name)
		}
		if got := seen.Retargeted(other); got != (name == "another base") {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, text := range []string{"", "OPEN abc false [] main", "a\n\nb"} { // stored by an older prloop, or damaged
		if s := intake.SeenAs(text); s.State != "" || s.Still(pr) || s.Retargeted(pr) {
			t.Errorf("%q is %+v", text, s)
		}
	}
}

// Checks of a repository may name pull requests that go from it to another one: their numbers are none of its own.
func TestChecksOfAnotherRepository(t *testing.T) {
	for number, want := range map[int]bool{2: false, 1: true} {
		told, err := intake.Read(intake.Event{Name: "check_suite", Payload: fmt.Appendf(nil, `{"action":"rerequested","repository":{"id":1,"full_name":"acme/widgets","html_url":"https://github.com/acme/widgets"},
"sender":{"id":77,"type":"User"},"check_suite":{"pull_requests":[{"number":7,"base":{"ref":"main","repo":{"id":%d,"name":"widgets"}}}]}}`, number)})
		if err != nil || (len(told.Looks) == 1) != want {
			t.Errorf("a base in repository %d: %+v, %v", number, told.Looks, err)
		}
	}
}
