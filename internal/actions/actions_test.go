package actions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/actions"
	"github.com/prloop/prloop/internal/testkit/webhooks"
)

// What every recorded event leads to, by event and action. What is not here leads to nothing.
var routes = map[string]actions.Doing{
	"pull_request opened":           actions.Review,
	"pull_request reopened":         actions.Review,
	"pull_request synchronize":      actions.Review,
	"pull_request ready_for_review": actions.Review,
	"pull_request labeled":          actions.Review,
	"issue_comment created":         actions.Comment,
	"issue_comment edited":          actions.Comment, // read, and then not heard
	"issue_comment deleted":         actions.Comment,
}

const recorded = "Codertocat/Hello-World"

func TestEveryRecordedEvent(t *testing.T) {
	all, seen := webhooks.All(), map[string]bool{}
	if len(all) < 80 {
		t.Errorf("there are %d events", len(all))
	}
	for _, e := range all {
		t.Run(e.File, func(t *testing.T) {
			want, routed := routes[e.Name+" "+e.Action]
			if !routed {
				want = actions.Nothing
			}
			seen[e.Name+" "+e.Action] = true
			repository := recorded
			if strings.Contains(e.File, "with-organization") {
				var p struct {
					Repository struct {
						FullName string `json:"full_name"`
					}
				}
				if err := json.Unmarshal(e.Payload, &p); err != nil {
					t.Fatal(err)
				}
				repository = p.Repository.FullName
			}
			d, err := actions.Decide(actions.Event{Name: e.Name, Payload: e.Payload, Repository: repository})
			if err != nil || d.Do != want || (d.Do == actions.Nothing) != (d.Why != "") {
				t.Errorf("%+v, %v; want %s", d, err, want)
			}
			if routed && d.PR == 0 {
				t.Error("no pull request is named")
			}
		})
	}
	for route := range routes {
		if !seen[route] {
			t.Errorf("no recorded event is %q", route)
		}
	}
}

const ready = `{"action":"opened","number":7,"repository":{"full_name":"acme/widgets"},
	"pull_request":{"state":"open","draft":false,"labels":[{"name":"prloop"},{"name":"bug"}],"head":{"sha":"5ba3","repo":{"full_name":"acme/widgets"}}}}`

const said = `{"action":"created","repository":{"full_name":"acme/widgets"},"issue":{"number":7,"pull_request":{"url":"x"}},
	"comment":{"id":5,"body":"!prloop help","updated_at":"2026-01-01T00:00:00Z","user":{"login":"mona","id":43,"type":"User"}}}`

func TestDecide(t *testing.T) {
	with := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for _, row := range []struct {
		name string
		in   actions.Event
		want actions.Decision
		// err is part of the error.
		err string
	}{
		{"a pull request", actions.Event{Name: "pull_request", Payload: []byte(ready)}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true}, ""},
		{"a fork's", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"repo":{"full_name":"acme/widgets"}`, `"repo":{"full_name":"mona/widgets"}`))}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true, Fork: true}, ""},
		{"a fork's that is gone", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"repo":{"full_name":"acme/widgets"}`, `"repo":null`))}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true, Fork: true}, ""},
		{"a draft", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"draft":false`, `"draft":true`))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "draft"}, ""},
		{"a closed one with a new label", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"open"`, `"closed"`, "opened", "labeled"))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "closed"}, ""},
		{"another pull request is named", actions.Event{Name: "pull_request", Payload: []byte(ready), PR: 9}, actions.Decision{Do: actions.Review, PR: 9}, ""},
		{"it has the label", actions.Event{Name: "pull_request", Payload: []byte(ready), Label: "prloop"}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true}, ""},
		{"it lacks the label", actions.Event{Name: "pull_request", Payload: []byte(ready), Label: "review"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Anew: true, Why: `does not have the label "review"`}, ""},
		{"a new commit without the label", actions.Event{Name: "pull_request", Payload: []byte(with(ready, "opened", "synchronize")), Label: "review"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Anew: true, Why: `does not have the label "review"`}, ""},
		{"a draft becomes ready without the label", actions.Event{Name: "pull_request", Payload: []byte(with(ready, "opened", "ready_for_review")), Label: "review"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Anew: true, Why: `does not have the label "review"`}, ""},
		{"one without the label is opened again", actions.Event{Name: "pull_request", Payload: []byte(with(ready, "opened", "reopened")), Label: "review"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Anew: true, Why: `does not have the label "review"`}, ""},
		{"the label is added", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"labeled","label":{"name":"prloop"}`)), Label: "prloop"}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3"}, ""},
		{"another label is added", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"labeled","label":{"name":"bug"}`)), Label: "prloop"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: `is not "prloop"`}, ""},
		{"another base is chosen", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"base":{"ref":{"from":"side"},"sha":{"from":"x"}}}`))}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true}, ""},
		{"another base is chosen for a draft", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"base":{"ref":{"from":"side"}}}`, `"draft":false`, `"draft":true`))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "draft", Anew: true}, ""},
		{"another base is chosen without the label", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"base":{"ref":{"from":"side"}}}`)), Label: "review"}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: `does not have the label "review"`, Anew: true}, ""},
		{"the title is edited", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"title":{"from":"x"}}`))}, actions.Decision{Do: actions.Words, PR: 7, Head: "5ba3", Why: "words"}, ""},
		{"an edit of nothing", actions.Event{Name: "pull_request", Payload: []byte(with(ready, "opened", "edited"))}, actions.Decision{Do: actions.Words, PR: 7, Head: "5ba3", Why: "words"}, ""},
		{"the title of a draft is edited", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"title":{"from":"x"}}`, `"draft":false`, `"draft":true`))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "draft"}, ""},
		{"a fork's title is edited", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"edited","changes":{"title":{"from":"x"}}`, `"repo":{"full_name":"acme/widgets"}`, `"repo":null`))}, actions.Decision{Do: actions.Words, PR: 7, Head: "5ba3", Fork: true, Why: "words"}, ""},
		{"the number of the event's pull request is named", actions.Event{Name: "pull_request", Payload: []byte(ready), PR: 7}, actions.Decision{Do: actions.Review, PR: 7, Head: "5ba3", Anew: true}, ""},
		{"the target's event", actions.Event{Name: "pull_request_target", Payload: []byte(ready)}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "secrets"}, ""},
		{"a review", actions.Event{Name: "pull_request_review", Payload: []byte(with(ready, `"number":7,`, "", `"state"`, `"number":7,"state"`))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: `"pull_request_review"`}, ""},
		{"a comment", actions.Event{Name: "issue_comment", Payload: []byte(said)}, actions.Decision{Do: actions.Comment, PR: 7}, ""},
		{"a schedule", actions.Event{Name: "schedule", Job: "nightly", Payload: []byte(`{"schedule":"0 3 * * *"}`)}, actions.Decision{Do: actions.Schedule, Job: "nightly"}, ""},
		{"a schedule without a file", actions.Event{Name: "schedule", Job: "nightly"}, actions.Decision{Do: actions.Schedule, Job: "nightly"}, ""},
		{"by hand", actions.Event{Name: "workflow_dispatch", Job: "nightly"}, actions.Decision{Do: actions.Schedule, Job: "nightly"}, ""},
		{"by hand, a pull request", actions.Event{Name: "workflow_dispatch", Job: "review", PR: 9}, actions.Decision{Do: actions.Review, PR: 9}, ""},
		{"a push", actions.Event{Name: "push", Payload: []byte(`{}`)}, actions.Decision{Do: actions.Nothing, Why: `"push"`}, ""},
		{"no event", actions.Event{}, actions.Decision{Do: actions.Nothing, Why: "nothing is done"}, ""},
		{"another repository's", actions.Event{Name: "pull_request", Payload: []byte(with(ready, "acme/widgets", "evil/widgets"))}, actions.Decision{}, "not one of acme/widgets"},
		{"not JSON", actions.Event{Name: "pull_request", Payload: []byte("{")}, actions.Decision{}, "read the event pull_request"},
		{"no number", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"number":7,`, ""))}, actions.Decision{}, "names no pull request"},
		{"no comment", actions.Event{Name: "issue_comment", Payload: []byte(`{"repository":{"full_name":"acme/widgets"}}`)}, actions.Decision{}, "names no comment"},
		{"an action with commands for the runner", actions.Event{Name: "pull_request", Payload: []byte(with(ready, `"opened"`, `"::stop-commands::\nx"`))}, actions.Decision{Do: actions.Nothing, PR: 7, Head: "5ba3", Why: "is stopcommandsx"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.in.Repository = "acme/widgets"
			got, err := actions.Decide(row.in)
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("%v, want %q", err, row.err)
				}
				return
			}
			if err != nil || got.Do != row.want.Do || got.PR != row.want.PR || got.Head != row.want.Head || got.Fork != row.want.Fork || got.Anew != row.want.Anew || got.Job != row.want.Job || !strings.Contains(got.Why, row.want.Why) {
				t.Errorf("%+v, %v; want %+v", got, err, row.want)
			}
			if a := got.Asked; got.Do == actions.Comment && (a.ID != 5 || a.Author.Login != "mona" || !a.PullRequest || a.Action != "created" || a.UpdatedAt.IsZero()) {
				t.Errorf("asked by %+v", a)
			}
		})
	}
}
