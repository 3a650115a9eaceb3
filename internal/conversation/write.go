package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Field is one field of a block: a text, or a whole number where that is not 0. Whole is true of a text that is names, and is not cut,
// Quote of code that is looked for again, and is kept as it is.
type Field struct {
	Name   string
	Text   string
	Number int
	Whole  bool
	Quote  bool
}

// Opening are the fields of the block of a comment that opens a thread about a finding, on a line of the head version. identity is the
// finding's, whole, as its first digits stand in the comment for people; by are the reviewers that raised it.
func Opening(f review.Finding, identity string, by []string, line int, head string) []Field {
	score := f.Score
	if score < 1 || score > 10 {
		score = f.Priority.Level().MinScore
	}
	return append([]Field{
		{Name: "finding", Text: f.Title}, {Name: "assessment", Text: f.Description}, {Name: "score", Number: score}, {Name: "identity", Text: identity},
		{Name: "category", Text: f.Category}, {Name: "priority", Text: string(f.Priority)}, {Name: "file", Text: f.File, Whole: true}, {Name: "line", Number: line},
		{Name: "evidence", Text: f.Evidence, Quote: true}, {Name: "raised_by", Text: strings.Join(by, ", "), Whole: true}, {Name: "head", Text: head},
	}, quoteLines(f)...)
}

// quoteLines tell where the quote of a finding stands.
func quoteLines(f review.Finding) []Field {
	return numbers(Field{Name: "quote_from", Number: f.Quoted[0]}, Field{Name: "quote_to", Number: f.Quoted[1]})
}

// numbers are the fields of numbers that are known: 0 would be written as a text.
func numbers(fields ...Field) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return f.Number == 0 })
}

// Also are the fields of a block that tell the wordings of a finding apart where the comment shows several: who said it as in Opening, and
// the others. A block is flat, so the names of these have numbers.
func Also(first review.Finding, others []review.Finding) (out []Field) {
	if len(others) == 0 {
		return nil
	}
	out = []Field{{Name: "by", Text: first.Source.Name}}
	for n, f := range others {
		for _, field := range append([]Field{
			{Name: "by", Text: f.Source.Name}, {Name: "finding", Text: f.Title}, {Name: "assessment", Text: f.Description},
			{Name: "category", Text: f.Category}, {Name: "priority", Text: string(f.Priority)}, {Name: "evidence", Text: f.Evidence, Quote: true},
		}, append(numbers(Field{Name: "line", Number: lineOf(f)}), quoteLines(f)...)...) {
			field.Name = numbered(field.Name, n)
			out = append(out, field)
		}
	}
	return out
}

func lineOf(f review.Finding) int {
	if f.Line == nil {
		return 0
	}
	return *f.Line
}

func numbered(field string, n int) string { return fmt.Sprintf("%s_%d", field, n+2) }

// readAlso reads the further wordings of a block.
func readAlso(block string) (out []Wording) {
	var fields map[string]any
	if json.Unmarshal([]byte(block), &fields) != nil {
		return nil
	}
	for n := 0; ; n++ {
		of := func(name string) string { s, _ := fields[numbered(name, n)].(string); return s }
		w := Wording{By: of("by"), Finding: of("finding"), Assessment: of("assessment"), Category: of("category"), Priority: review.Priority(of("priority")), Evidence: of("evidence")}
		if w.By == "" || !w.Priority.Valid() {
			return out
		}
		number := func(name string) int { f, _ := fields[numbered(name, n)].(float64); return int(f) }
		w.Stood = Stood{number("line"), [2]int{number("quote_from"), number("quote_to")}}
		out = append(out, w)
	}
}

// Answering are the fields of the block of an answer in a thread as it was read.
func Answering(t Thread, s Status, reason, head string) []Field {
	return []Field{{Name: "status", Text: string(s)}, {Name: "thread", Text: t.Name()}, {Name: "reason", Text: reason}, {Name: "head", Text: head}, {Name: "read", Text: t.last()}}
}

// Cures are the fields of the block of an answer that says that the problem of a thread is gone. fact is the code that a judge shows for it, nil where none does; counted is true
// where the thread counted although nobody raised its finding.
func Cures(t Thread, reason, head string, fact *Place, counted bool) []Field {
	out := Answering(t, Resolved, reason, head)
	if counted {
		out = append(out, Field{Name: "counted", Text: "yes"})
	}
	return append(out, shows(fact)...)
}

// Ruled are the fields of the block of an answer in a dispute. fact is the code that shows what is conceded, nil where nothing is.
func Ruled(t Thread, a Answer, reason, head string, fact *Place) []Field {
	out := append(Answering(t, a.Status, reason, head), Field{Name: "ruling", Text: string(a.Ruling)}, Field{Name: "word", Text: a.Word})
	if a.Because == BecauseVoid {
		out = append(out, Field{Name: "void", Text: "yes"})
	}
	return append(out, shows(fact)...)
}

// shows are the fields that tell where code stands that shows something.
func shows(fact *Place) []Field {
	if fact == nil {
		return nil
	}
	return append([]Field{{Name: "fact_file", Text: fact.File, Whole: true}}, numbers(Field{Name: "fact_line", Number: fact.Line}, Field{Name: "fact_end", Number: fact.LineEnd})...)
}
