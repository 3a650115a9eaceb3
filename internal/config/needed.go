package config

import (
	"encoding/json"
	"fmt"

	"github.com/prloop/prloop/review"
)

// voters counts the reviewers whose complete answers count towards min_reviewers: all that read the change. `static` looks
// for patterns, so it does not.
func voters(reviewers []Agent) int {
	n := 0
	for _, a := range reviewers {
		if a.Use != review.KindStatic {
			n++
		}
	}
	return n
}

// needed settles how many complete answers a verdict needs, once it is known who takes part. A number that was set is never
// lowered: one that cannot be reached is an *Error at its place.
func (r *resolver) needed() error {
	s := &r.settings
	o := r.origins["min_reviewers"]
	have := voters(s.Reviewers)
	switch {
	case s.MinReviewers == 0 && have > 0:
		s.MinReviewers, o.note = have/2+1, "more than half of the reviewers, static not counted"
	case s.MinReviewers == 0:
		s.MinReviewers, o.note = len(s.Reviewers)/2+1, "static counts because nobody else takes part"
	case s.MinReviewers > have && !r.early: // the repository's file may bring more reviewers
		f := Fault{File: o.where, Key: "min_reviewers"}
		if file := r.files[o.layer]; file != nil {
			f = *file.at(o.line, file.places["/min_reviewers"].column, "min_reviewers", "")
		}
		return tooFew(f, s.MinReviewers, have)
	}
	r.origins["min_reviewers"] = o
	return nil
}

// checkNeeded is the same for one file by itself, when it says both who reviews and how many have to.
func (s *source) checkNeeded() error {
	list, listed := s.value["reviewers"].([]any)
	number, _ := s.value["min_reviewers"].(json.Number)
	if !listed || number == "" {
		return nil
	}
	need, err := number.Float64() // a whole one: the shape has been checked
	if err != nil {
		return err
	}
	have := 0
	for _, r := range list {
		if item(r, "use") != review.KindStatic {
			have++
		}
	}
	if int(need) <= have {
		return nil
	}
	p := s.places["/min_reviewers"]
	return tooFew(*s.at(p.line, p.column, "min_reviewers", ""), int(need), have)
}

// Unreached is a min_reviewers that a valid file sets without listing reviewers, where those that take part by default are fewer. Another
// layer may bring more, so it is a warning. Its File is empty where there is none.
func Unreached(k Kind, name string, data []byte) Fault {
	s, err := load(k, name, data)
	if err != nil {
		return Fault{}
	}
	_, listed := s.value["reviewers"]
	number, _ := s.value["min_reviewers"].(json.Number)
	need, _ := number.Int64() // 0 where it is not set
	effort, _ := s.value["effort"].(string)
	have := len(levelOf(effort).lenses)
	if listed || need <= int64(have) {
		return Fault{}
	}
	p := s.places["/min_reviewers"]
	f := *s.at(p.line, p.column, "min_reviewers", fmt.Sprintf("%d needed, but this file lists no reviewers, and by default %d beside static takes part: "+
		"a run is refused unless its other settings bring more", need, have))
	f.Excerpt = ""
	return f
}

func tooFew(f Fault, need, have int) error {
	f.Message = fmt.Sprintf("%d needed, %d configured (static does not count)", need, have)
	f.Next = fmt.Sprintf("add reviewers, or need at most %d: --min-reviewers %d", have, have)
	if have == 0 {
		f.Next = "add a reviewer other than static, or leave the number to its default: --min-reviewers 0"
	}
	return &Error{[]Fault{f}}
}
