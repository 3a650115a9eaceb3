package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/webhooks"
)

// cmdEvent makes the job one that an event started: a recorded event, moved onto a pull request of the forge.
// event RECORDING N [LOGIN TEXT], which also posts the comment of an issue_comment.
func cmdEvent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2 || len(args) == 4, "event RECORDING N [LOGIN TEXT]")
	w := worldOf(ts)
	p := w.pull(ts, args[1])
	for _, e := range webhooks.All() {
		if e.File != args[0]+".json" {
			continue
		}
		var payload map[string]any
		ts.Check(json.Unmarshal(e.Payload, &payload))
		number, err := strconv.Atoi(args[1])
		ts.Check(err)
		put := func(value any, path ...string) {
			at := payload
			for _, name := range path[:len(path)-1] {
				next, ok := at[name].(map[string]any)
				if !ok {
					return
				}
				at = next
			}
			at[path[len(path)-1]] = value
		}
		put("acme/widgets", "repository", "full_name")
		put("acme/widgets", "pull_request", "head", "repo", "full_name")
		if e.Name == "pull_request" {
			put(number, "number")
		}
		if e.Name == "issue_comment" && len(args) == 4 {
			id := p.Comment(args[2], args[3])
			all := p.Comments()
			put(number, "issue", "number")
			put(map[string]any{"url": "https://api.github.com/repos/acme/widgets/pulls/" + args[1]}, "issue", "pull_request")
			put(id, "comment", "id")
			put(args[3], "comment", "body")
			put(args[2], "comment", "user", "login")
			put(all[len(all)-1].Updated.UTC().Format(time.RFC3339), "comment", "updated_at")
		}
		data, err := json.Marshal(payload)
		ts.Check(err)
		file := ts.MkAbs("event.json")
		ts.Check(os.WriteFile(file, data, 0o600))
		for name, value := range map[string]string{"GITHUB_EVENT_NAME": e.Name, "GITHUB_EVENT_PATH": file, "GITHUB_REPOSITORY": "acme/widgets", "GITHUB_ACTIONS": "true", "GITHUB_JOB": "prloop"} {
			ts.Setenv(name, value)
		}
		return
	}
	ts.Fatalf("no recorded event is %q", args[0])
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
