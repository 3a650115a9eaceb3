package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// The tools about our threads, under their names of spec.md D4.2.
const (
	runStateTool = "github_get_run_state"
	postTool     = "github_post_review_comment"
	replyTool    = "github_reply_to_thread"
	resolveTool  = "github_resolve_thread"
)

// mostPosts bounds the comments that one review wishes for.
const mostPosts = 30

// talk adds the tools about threads to a box. Nothing they do reaches GitHub: a comment is a wish that becomes a finding of the reviewer, and what
// becomes of that prloop's rules say.
type talk struct {
	Toolbox
	task      review.Task
	threshold int
	// writes is true of a reviewer; others only read.
	writes bool
	posts  []post
}

// wishConfidence is that of a finding of which its reviewer did not say how sure it is: low enough for the verifier to look it up.
const wishConfidence = 0.5

// post is a comment that was wished for; the thread ids of posts are wish-1, wish-2, and so on.
type post struct {
	finding   review.Finding
	withdrawn bool
}

// talking gives a box the tools about threads, where there are any to talk about.
func talking(box Toolbox, task review.Task, threshold int) Toolbox {
	if box == nil || task.RunState == nil || len(task.RunState.Threads) == 0 {
		return box
	}
	return &talk{Toolbox: box, task: task, threshold: threshold, writes: task.Role == review.RoleReviewer}
}

const talkText = `{"type":"string","minLength":1,"maxLength":8000}`

// Specs are the box's and the tools about threads.
func (t *talk) Specs() []ToolSpec {
	all := append(slices.Clone(t.Toolbox.Specs()), ToolSpec{runStateTool, "The threads prloop opened on this pull request: where each stands, and what developers answered.",
		json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)})
	if !t.writes {
		return all
	}
	return append(all,
		ToolSpec{postTool, "Wish for a comment on a changed line. It becomes one of your findings, and is not to be listed again; prloop decides whether it is posted. Gives a thread id.",
			json.RawMessage(`{"type":"object","properties":{"file":` + talkText + `,"line":{"type":"integer","minimum":1},"body":` + talkText + `,"assessment":{"type":"object","properties":{"finding":` + talkText +
				`,"assessment":` + talkText + `,"score":{"type":"integer","minimum":1,"maximum":10}},"required":["finding","assessment","score"],"additionalProperties":false}},"required":["file","line","body","assessment"],"additionalProperties":false}`)},
		ToolSpec{replyTool, "Add to a comment you wished for, or concede it.",
			json.RawMessage(`{"type":"object","properties":{"thread_id":` + talkText + `,"body":` + talkText + `,"is_concession":{"type":"boolean"}},"required":["thread_id","body","is_concession"],"additionalProperties":false}`)},
		ToolSpec{resolveTool, "Take back a comment you wished for.",
			json.RawMessage(`{"type":"object","properties":{"thread_id":` + talkText + `,"reason":` + talkText + `},"required":["thread_id","reason"],"additionalProperties":false}`)})
}

// Call does what is about threads, and leaves the rest to the box.
func (t *talk) Call(ctx context.Context, name string, args []byte) (string, error) {
	switch {
	case name == runStateTool:
		text, err := json.Marshal(t.task.RunState)
		return string(text), err
	case !t.writes:
	case name == postTool:
		return t.post(args)
	case name == replyTool:
		return t.reply(args)
	case name == resolveTool:
		return t.resolve(args)
	}
	return t.Toolbox.Call(ctx, name, args)
}

func (t *talk) post(args []byte) (string, error) {
	var in struct {
		File, Body string
		Line       int
		Assessment review.ThreadAssessment
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", errors.New("bad_arguments: not the object described")
	}
	a := in.Assessment
	switch {
	case strings.TrimSpace(a.Finding) == "" || strings.TrimSpace(a.Assessment) == "" || a.Score < 1 || a.Score > 10:
		return "", errors.New("bad_arguments: finding, assessment and a score from 1 to 10 are required")
	case a.Score < t.threshold:
		return "", fmt.Errorf("filtered: a score of %d is below the threshold of %d", a.Score, t.threshold)
	case len(t.posts) == mostPosts:
		return "", fmt.Errorf("limit: %d comments are all there are", mostPosts)
	}
	text, ok := t.line(in.File, in.Line)
	if !ok {
		return "", errors.New("filtered: that line is not among the added and unchanged lines of the diff")
	}
	line, unsure := in.Line, wishConfidence
	f := review.Finding{
		Confidence: &unsure,
		ID:         fmt.Sprintf("WISH-%d", len(t.posts)+1), Priority: review.PriorityOfScore(a.Score), Category: review.CategoryBug, File: in.File, Line: &line, Title: strings.TrimSpace(a.Finding),
		Description: strings.TrimSpace(a.Assessment), Suggestion: strings.TrimSpace(in.Body), Evidence: text, Score: a.Score, Source: review.Source{Type: "agent", Name: t.task.Agent},
	}
	for _, old := range t.task.RunState.Threads {
		if old.Status != "RESOLVED" && says(asserted(old), f) {
			return "", fmt.Errorf("filtered: thread %s says it already", clip(old.ID))
		}
	}
	for i, p := range t.posts {
		if !p.withdrawn && says(p.finding, f) {
			return "", fmt.Errorf("filtered: wish-%d says it already", i+1)
		}
	}
	t.posts = append(t.posts, post{finding: f})
	return fmt.Sprintf("wish-%d", len(t.posts)), nil
}

// asserted is a thread as a finding.
func asserted(s review.ThreadState) review.Finding {
	f := review.Finding{Category: review.CategoryBug, File: s.File, Priority: review.PriorityOfScore(s.Score), Title: s.Assessment.Finding, Description: s.Assessment.Assessment, Source: review.Source{Type: "agent", Name: "prloop"}}
	if line := s.Line; line > 0 {
		f.Line = &line
	}
	return f
}

// says reports whether what is said already stands for a wish: it is about the same problem, and as grave.
func says(said, wish review.Finding) bool {
	return said.Priority.Rank() <= wish.Priority.Rank() && len(identity.Match([]review.Finding{said}, []review.Finding{wish}, nil)) > 0
}

// line is what stands on a line of the head version that the diff shows.
func (t *talk) line(file string, line int) (string, bool) {
	for _, b := range t.task.Brief.Files {
		if b.Path != file || b.Omitted != "" {
			continue
		}
		d, err := diff.Parse(b.Diff)
		if err != nil {
			return "", false
		}
		for i := range d.Files {
			for h := range d.Files[i].Hunks {
				for l := range d.Files[i].Hunks[h].Lines() {
					if l.New == line && l.Op != '-' && strings.TrimSpace(l.Text) != "" {
						return l.Text, true
					}
				}
			}
		}
	}
	return "", false
}

// wished finds the post of a thread id.
func (t *talk) wished(id string) (*post, error) {
	var n int
	if _, err := fmt.Sscanf(id, "wish-%d", &n); err == nil && n >= 1 && n <= len(t.posts) && id == fmt.Sprintf("wish-%d", n) {
		return &t.posts[n-1], nil
	}
	if slices.ContainsFunc(t.task.RunState.Threads, func(s review.ThreadState) bool { return s.ID == id }) {
		return nil, errors.New("filtered: prloop answers and settles the threads of earlier runs itself, once code shows that it can; say in your findings what is still wrong")
	}
	return nil, errors.New("not_found: no such thread")
}

func (t *talk) reply(args []byte) (string, error) {
	var in struct {
		Thread     string `json:"thread_id"`
		Body       string
		Concession bool `json:"is_concession"`
	}
	if err := json.Unmarshal(args, &in); err != nil || strings.TrimSpace(in.Body) == "" {
		return "", errors.New("bad_arguments: not the object described")
	}
	p, err := t.wished(in.Thread)
	if err != nil {
		return "", err
	}
	if in.Concession {
		p.withdrawn = true
		return "ok: the comment is taken back", nil
	}
	if len(p.finding.Description)+len(in.Body) > 16_000 {
		return "", errors.New("limit: the comment is long enough")
	}
	p.finding.Description += "\n\n" + strings.TrimSpace(in.Body)
	return "ok", nil
}

func (t *talk) resolve(args []byte) (string, error) {
	var in struct {
		Thread string `json:"thread_id"`
		Reason string
	}
	if err := json.Unmarshal(args, &in); err != nil || strings.TrimSpace(in.Reason) == "" {
		return "", errors.New("bad_arguments: not the object described")
	}
	p, err := t.wished(in.Thread)
	if err != nil {
		return "", err
	}
	p.withdrawn = true
	return "ok: the comment is taken back", nil
}

// wishes are the findings that a reviewer wished to be comments and does not list.
func wishes(box Toolbox, listed []review.Finding) (out []review.Finding) {
	t, ok := box.(*talk)
	if !ok {
		return nil
	}
	for _, p := range t.posts {
		if !p.withdrawn && !slices.ContainsFunc(listed, func(f review.Finding) bool { return says(f, p.finding) }) {
			out = append(out, p.finding)
		}
	}
	return out
}
