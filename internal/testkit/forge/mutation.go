package forge

import (
	"fmt"
	"unicode/utf8"
)

// maxCommentChars is GitHub's limit on a comment, in characters, as its message words it.
const maxCommentChars = 65536

// mutation is the root of every write.
func (x *execution) mutation() object {
	all := map[string]any{
		"addComment":                      resolver(x.addComment),
		"updateIssueComment":              resolver(x.updateIssueComment),
		"deleteIssueComment":              resolver(x.deleteIssueComment),
		"minimizeComment":                 resolver(x.minimizeComment),
		"addPullRequestReview":            resolver(x.addPullRequestReview),
		"addPullRequestReviewThreadReply": resolver(x.addReply),
		"resolveReviewThread":             x.settle("ResolveReviewThreadPayload", true),
		"unresolveReviewThread":           x.settle("UnresolveReviewThreadPayload", false),
	}
	for name := range all {
		if err := x.token.forbids(name); err != nil {
			all[name] = resolver(func(args) (any, error) { return nil, err })
		}
	}
	return object{kind: "Mutation", fields: all}
}

// pullByNode finds the pull request a write is about and judges whether the caller may see it.
func (x *execution) pullByNode(id string) (*PullRequest, error) {
	for _, r := range x.f.repos {
		for _, p := range r.prs {
			if nodeID("PR", p.id) == id && r.permission(x.login).rank() > 0 {
				return p, nil
			}
		}
	}
	return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

// mayComment is GitHub's rule for comments.
func (c *call) mayComment(p *PullRequest) error {
	switch {
	case c.token.ReadOnly:
		return refusal{"FORBIDDEN", "Resource not accessible by integration"}
	case p.locked && p.repo.permission(c.login).rank() < Write.rank():
		return refusal{"FORBIDDEN", "Unable to create comment because issue is locked."}
	}
	return nil
}

func checkBody(body string) error {
	switch {
	case body == "":
		return refusal{"UNPROCESSABLE", "Body cannot be blank"}
	case utf8.RuneCountInString(body) > maxCommentChars:
		return refusal{"UNPROCESSABLE", "Body is too long (maximum is 65536 characters)"}
	}
	return nil
}

func (x *execution) addComment(a args) (any, error) {
	in := a.input()
	p, err := x.pullByNode(in.text("subjectId"))
	if err != nil {
		return nil, err
	}
	if err := x.mayComment(p); err != nil {
		return nil, err
	}
	if err := checkBody(in.text("body")); err != nil {
		return nil, err
	}
	c := p.addComment(x.login, in.text("body"))
	edge := object{kind: "IssueCommentEdge", fields: map[string]any{"cursor": cursor(key(c.ID)), "node": x.issueComment(c)}}
	return x.payload("AddCommentPayload", in, map[string]any{"commentEdge": edge, "subject": x.pull(p)}), nil
}

func (x *execution) payload(kind string, in args, fields map[string]any) object {
	if id := in.text("clientMutationId"); id != "" {
		fields["clientMutationId"] = id
	}
	return object{kind: kind, fields: fields}
}

// ownComment finds a comment the caller may change: their own, or anybody's with write permission.
func (x *execution) ownComment(id string) (*Comment, error) {
	for _, r := range x.f.repos {
		for _, p := range r.prs {
			for _, c := range p.comments {
				if nodeID("IC", c.ID) != id || r.permission(x.login).rank() == 0 {
					continue
				}
				if x.token.ReadOnly || (c.Author != x.login && r.permission(x.login).rank() < Write.rank()) {
					return nil, refusal{"FORBIDDEN", fmt.Sprintf("%s does not have the correct permissions to execute this", x.login)}
				}
				return c, nil
			}
		}
	}
	return nil, refusal{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

func (x *execution) updateIssueComment(a args) (any, error) {
	in := a.input()
	c, err := x.ownComment(in.text("id"))
	if err != nil {
		return nil, err
	}
	if err := checkBody(in.text("body")); err != nil {
		return nil, err
	}
	c.Body, c.Updated = in.text("body"), x.f.now()
	return x.payload("UpdateIssueCommentPayload", in, map[string]any{"issueComment": x.issueComment(c)}), nil
}

func (x *execution) deleteIssueComment(a args) (any, error) {
	in := a.input()
	c, err := x.ownComment(in.text("id"))
	if err != nil {
		return nil, err
	}
	c.pr.remove(c)
	return x.payload("DeleteIssueCommentPayload", in, map[string]any{}), nil
}

func (p *PullRequest) remove(c *Comment) {
	for i := range p.comments {
		if p.comments[i] == c {
			p.comments = append(p.comments[:i], p.comments[i+1:]...)
			return
		}
	}
}

func (x *execution) minimizeComment(a args) (any, error) {
	in := a.input()
	c, err := x.ownComment(in.text("subjectId"))
	if err != nil {
		return nil, err
	}
	c.Minimized, c.Reason = true, in.text("classifier")
	return x.payload("MinimizeCommentPayload", in, map[string]any{"minimizedComment": x.issueComment(c)}), nil
}
