package conversation

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/prloop/prloop/review"
)

// Field is one field of a block: a text, or a whole number where that is not 0.
type Field struct {
	Name   string
	Text   string
	Number int
}

// Opening are the fields of the block of a comment that opens a thread about a finding, on a line of the head version.
func Opening(f review.Finding, line int, head string) []Field {
	score := f.Score
	if score < 1 || score > 10 {
		score = f.Priority.Level().MinScore
	}
	return []Field{
		{Name: "finding", Text: f.Title}, {Name: "assessment", Text: f.Description}, {Name: "score", Number: score}, {Name: "identity", Text: Identity(f)},
		{Name: "category", Text: f.Category}, {Name: "priority", Text: string(f.Priority)}, {Name: "file", Text: f.File}, {Name: "line", Number: line},
		{Name: "evidence", Text: f.Evidence}, {Name: "head", Text: head},
	}
}

// Answering are the fields of the block of an answer in a thread.
func Answering(t Thread, s Status, reason, head string) []Field {
	return []Field{{Name: "status", Text: string(s)}, {Name: "thread", Text: t.Name()}, {Name: "reason", Text: reason}, {Name: "head", Text: head}}
}

// Identity names a finding for ever: category, file, and what it says.
func Identity(f review.Finding) string {
	sum := sha256.Sum256([]byte(f.Category + "\x00" + f.File + "\x00" + f.Title + "\x00" + f.Evidence))
	return hex.EncodeToString(sum[:8])
}
