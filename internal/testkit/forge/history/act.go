package history

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// act is what a request that writes is about, whatever became of it.
type act struct {
	// kind is that of the effect it brings about.
	kind string
	// makes is true when a second request makes a second thing.
	makes bool
	// at is what it changes: a comment, an answer, a thread's first comment or a pull request; empty for none.
	at string
	// body and more are what it says; of a status state, description and commit, of a reaction the word.
	body string
	more map[string]string
	// lines are the bodies of a review's comments.
	lines []string
	used  bool
}

var pathNumber = regexp.MustCompile(`/(?:comments|pulls|issues)/(\d+)`)

// read says what a request wants; nil for one that the model does not know.
func read(e forge.Exchange) *act {
	in, _ := e.Input.(map[string]any)
	text := func(name string) string { s, _ := in[name].(string); return s }
	numbers := pathNumber.FindAllStringSubmatch(e.Path, -1)
	last := ""
	if len(numbers) > 0 {
		last = numbers[len(numbers)-1][1]
	}
	switch _, route, _ := strings.Cut(e.Op, "/repos/{owner}/{repo}"); {
	case e.Op == "git-receive-pack":
		return &act{kind: "branch"}
	case route == "/issues/{issue_number}/comments":
		return &act{kind: "comment", makes: true, body: text("body")}
	case route == "/issues/comments/{comment_id}":
		return &act{kind: "edit-comment", at: "comment " + last, body: text("body")}
	case route == "/issues/comments/{comment_id}/reactions":
		return &act{kind: "reaction", more: map[string]string{"comment": last, "content": text("content")}}
	case route == "/pulls/{pull_number}/reviews":
		a := &act{kind: "review", makes: true, body: text("body")}
		list, _ := in["comments"].([]any)
		for _, x := range list {
			m, _ := x.(map[string]any)
			body, _ := m["body"].(string)
			a.lines = append(a.lines, body)
		}
		return a
	case route == "/pulls/{pull_number}/comments/{comment_id}/replies":
		return &act{kind: "reply", makes: true, body: text("body")}
	case route == "/pulls/{pull_number}/requested_reviewers":
		return &act{kind: "ask", more: map[string]string{"who": fmt.Sprint(in["reviewers"], in["team_reviewers"])}}
	case route == "/pulls":
		return &act{kind: "pull-request", makes: true, body: text("body"), more: map[string]string{"head": text("head")}}
	case route == "/pulls/{pull_number}":
		return &act{kind: "pull-request-words", at: "pull " + last, body: text("body")}
	case strings.HasPrefix(route, "/statuses/"):
		return &act{kind: "status", more: map[string]string{"commit": e.Path[strings.LastIndex(e.Path, "/")+1:], "state": text("state"), "description": text("description")}}
	case len(e.Fields) == 1:
		return mutation(e)
	}
	return nil
}

// mutation reads a GraphQL write. Its input is one variable, or its fields are.
func mutation(e forge.Exchange) *act {
	in, ok := e.Variables["input"].(map[string]any)
	if !ok {
		in = e.Variables
	}
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := in[name].(string); ok {
				return s
			}
		}
		return ""
	}
	switch e.Fields[0] {
	case "addComment":
		return &act{kind: "comment", makes: true, body: text("body")}
	case "updateIssueComment":
		return &act{kind: "edit-comment", at: place("comment", id(text("id"))), body: text("body")}
	case "deleteIssueComment":
		return &act{kind: "comment-delete", at: place("comment", id(text("id")))}
	case "minimizeComment":
		node := text("subjectId", "id")
		return &act{kind: "minimize", at: place("comment", id(node)), more: map[string]string{"node": node}}
	case "resolveReviewThread":
		return &act{kind: "resolve", at: text("threadId", "id")}
	case "unresolveReviewThread":
		return &act{kind: "unresolve", at: text("threadId", "id")}
	}
	return nil
}

// happened reports whether a request took effect.
func happened(e forge.Exchange) bool {
	if e.Status < 200 || e.Status > 299 {
		return false
	}
	if len(e.Fields) == 0 {
		return true
	}
	var answer struct {
		Data   map[string]any
		Errors []any
	}
	return json.Unmarshal(e.Answer, &answer) == nil && len(answer.Errors) == 0 && answer.Data != nil
}

// told reports whether the client could read from the answer what became of the request.
func told(e forge.Exchange) bool {
	switch e.Fault {
	case "", forge.LastOfLimit, forge.SlowBody:
		return true
	case forge.Unauthorized, forge.Forbidden, forge.PrimaryLimit, forge.SecondaryLimit, forge.SecondaryLimitWait, forge.AbuseLimit, forge.AbuseLimitWait, forge.NotFound, forge.Gone,
		forge.GoneLocked, forge.Conflict, forge.LockedConversation, forge.TooLong, forge.PendingReview, forge.BadLine, forge.RedirectElsewhere:
		return true
	}
	return false
}

// fits reports whether a request is the one a claim speaks of.
func (a *act) fits(c Claim) bool {
	if a.kind != c.Kind && (a.kind != "edit-comment" || c.Kind != "rewrite-comment") {
		return false
	}
	var in map[string]any
	_ = json.Unmarshal([]byte(c.Payload), &in)
	text := func(name string) string { s, _ := in[name].(string); return s }
	switch a.kind {
	case "comment":
		return a.body == c.Payload
	case "review", "reply", "pull-request", "pull-request-words", "edit-comment":
		return a.body == text("body")
	case "minimize":
		return a.more["node"] == c.Payload
	case "resolve", "unresolve":
		return a.at == c.Payload
	case "status":
		return a.more["commit"] == c.Head && a.more["state"] == text("state") && a.more["description"] == text("description")
	case "reaction":
		return a.more["comment"]+" "+a.more["content"] == c.Payload
	}
	return true
}

// made gives the number and the address of what a request made, from its true answer.
func made(e forge.Exchange) (number int64, url string) {
	var answer struct {
		ID      int64
		Number  int64
		HTMLURL string `json:"html_url"`
		Data    struct {
			AddComment struct {
				CommentEdge struct{ Node struct{ URL string } }
			}
		}
	}
	if json.Unmarshal(e.Answer, &answer) != nil {
		return 0, ""
	}
	if url = answer.Data.AddComment.CommentEdge.Node.URL; url != "" {
		number, _ = strconv.ParseInt(url[strings.LastIndex(url, "-")+1:], 10, 64)
		return number, url
	}
	if answer.Number != 0 {
		return answer.Number, answer.HTMLURL
	}
	return answer.ID, answer.HTMLURL
}
