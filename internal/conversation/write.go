package conversation

import (
	"strings"

	"github.com/prloop/prloop/review"
)

// Field is one field of a block: a text, or a whole number where that is not 0.
type Field struct {
	Name   string
	Text   string
	Number int
}

// Opening are the fields of the block of a comment that opens a thread about a finding, on a line of the head version. identity is the
// finding's, whole, as its first digits stand in the comment for people; by are the reviewers that raised it.
func Opening(f review.Finding, identity string, by []string, line int, head string) []Field {
	score := f.Score
	if score < 1 || score > 10 {
		score = f.Priority.Level().MinScore
	}
	return []Field{
		{Name: "finding", Text: f.Title}, {Name: "assessment", Text: f.Description}, {Name: "score", Number: score}, {Name: "identity", Text: identity},
		{Name: "category", Text: f.Category}, {Name: "priority", Text: string(f.Priority)}, {Name: "file", Text: f.File}, {Name: "line", Number: line},
		{Name: "evidence", Text: f.Evidence}, {Name: "raised_by", Text: strings.Join(by, ", ")}, {Name: "head", Text: head},
	}
}

// Answering are the fields of the block of an answer in a thread.
func Answering(t Thread, s Status, reason, head string) []Field {
	return []Field{{Name: "status", Text: string(s)}, {Name: "thread", Text: t.Name()}, {Name: "reason", Text: reason}, {Name: "head", Text: head}}
}

// Ruled are the fields of the block of an answer in a dispute.
func Ruled(t Thread, a Answer, reason, head string) []Field {
	return append(Answering(t, a.Status, reason, head), Field{Name: "ruling", Text: string(a.Ruling)}, Field{Name: "word", Text: a.Word})
}
