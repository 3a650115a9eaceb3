// Package dismissals says which findings people have dismissed: it reads the lines of .prloop-ignore and the comments
// prloop:ignore in code, and decides what they silence (decision 45). It is pure.
//
// A line silences a finding by its identity, in whatever words and on whatever line it is found again. A comment silences
// what is found in the very code it stands at. Neither silences what a person said, and P0, P1 and security only fall silent
// by a line for a finding as grave that somebody other than the author of the pull request is proven to have merged.
package dismissals

import (
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Dismissal is somebody's word that a finding need not be fixed.
type Dismissal struct {
	// File and Line are where it is written, the file as package spelling writes it.
	File string `json:"file"`
	Line int    `json:"line"`
	// Mark is the finding a line of .prloop-ignore names; nil of a comment. By is who dismissed it, as the line says: it
	// proves nothing.
	Mark *identity.Mark `json:"mark,omitempty"`
	By   string         `json:"by,omitempty"`
	// Priority is P0 or P1 in a line for a finding that was said to be that; empty in every other.
	Priority review.Priority `json:"priority,omitempty"`
	// Code is what a comment stands at; nil of a line.
	Code *Code `json:"code,omitempty"`
	// Until is the last day it holds, such as 2027-03-31; empty holds for ever.
	Until string `json:"until,omitempty"`
	Why   string `json:"why"`
	// Commit is what brought a line onto the base branch of a pull request, when git tells; empty otherwise.
	Commit string `json:"commit,omitempty"`
}

// Covers reports whether a dismissal is for findings as grave as this one: whoever merged a line for a small finding has not seen a P0 that
// is worded like it.
func (d Dismissal) Covers(f review.Finding) bool {
	if d.Mark == nil {
		return !f.Priority.Severe() && f.Priority.Valid() && !identity.Security(f.Category)
	}
	return identity.Covers(d.Priority, d.Mark.Category, f)
}

// Expired reports whether a dismissal has ended by a day such as 2026-11-22.
func (d Dismissal) Expired(today string) bool { return d.Until != "" && today > d.Until }

// Code is one line of code that a comment stands at, at the commit under review.
type Code struct {
	// File is spelled; Line is 1-based.
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	// First and Last are the lines up to which a finding about the code may claim or quote what is beside it; 0 is no more than Line.
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
}

// Beside widens the code to what reviewers quote with it: its comment right above, at a line of the same commit, and one line on each side, as far as kept says that
// the change leaves that as it was.
func (c *Code) Beside(comment int, kept func(line int) bool) {
	if c.First, c.Last = c.Line, c.Line; comment == c.Line-1 {
		c.First = comment
	}
	if kept(c.First - 1) {
		c.First--
	}
	if kept(c.Last + 1) {
		c.Last++
	}
}

// Fault is a dismissal that cannot be read. It silences nothing.
type Fault struct {
	File string
	Line int
	// What says what is wrong and what to write instead, in a sentence without a full stop.
	What string
}
