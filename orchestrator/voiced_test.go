package orchestrator

import (
	"fmt"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What people who may block say, and when they edited it, makes a difference; what others say, the author, and prloop itself, makes none (threats.md T527).
func TestVoiced(t *testing.T) {
	t.Parallel()
	known := conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"lisa": "maintain", "nobody": "read", "ada": "write", "prloop": "write"}}
	says := func(login, association, body string) review.Comment {
		return review.Comment{DatabaseID: 7, Author: review.Person{Login: login, Association: association}, Body: body}
	}
	of := func(comments ...review.Comment) string {
		return voiced(review.Discussion{Threads: []review.Thread{{ID: "T", Comments: comments}}}, known)
	}
	answers := func(said review.Comment) string {
		return of(says("prloop", "COLLABORATOR", sanitize.PlainMarker), said)
	}
	if private, stranger, none := answers(says("lisa", "CONTRIBUTOR", "This is not fixed.")), answers(says("nobody", "NONE", "This is not fixed.")), of(says("prloop", "COLLABORATOR", sanitize.PlainMarker)); private == none || stranger != none {
		t.Errorf("a private member's answer to prloop is heard as %q, a stranger's as %q, and none as %q", private, stranger, none) // threats.md T611
	}
	none, member := of(), says("mona", "MEMBER", "P0: this drops the database")
	edited, bot := member, member
	edited.EditedAt, bot.Author.Bot = time.Unix(1, 0), true
	if cut := voiced(review.Discussion{Truncated: true}, known); cut == none { // threats.md T548
		t.Errorf("%q also of what was not read to its end", cut)
	}
	for _, row := range []struct {
		name string
		said review.Comment
		like string
		is   bool
	}{
		{"a member", member, none, false},
		{"a member's edit", edited, of(member), false},
		{"a private member, of something grave", says("Lisa", "CONTRIBUTOR", "P0: this drops the database"), none, false},
		{"a private member, of nothing grave", says("lisa", "CONTRIBUTOR", "nice"), none, true},
		{"a stranger", says("nobody", "NONE", "P0: this drops the database"), none, true},
		{"a bot", bot, none, true},
		{"the author", says("ada", "MEMBER", "P0: this drops the database"), none, true},
		{"prloop", says("prloop", "COLLABORATOR", "It is fixed.\n"+sanitize.PlainMarker), none, true},
		{"the person whose login prloop has", says("prloop", "COLLABORATOR", "P0: this drops the database"), none, false},
		{"a member who forges a marker", says("mona", "MEMBER", "It is fixed.\n"+sanitize.PlainMarker), none, false},
	} {
		if got := of(row.said); (got == row.like) != row.is || got == "" {
			t.Errorf("%s: %q, and %q before", row.name, got, row.like)
		}
	}
}

// Of those who only answer prloop the first are asked about, whoever follows; the author is not (threats.md T611).
func TestWhoAnswersIsAskedAboutWithinABound(t *testing.T) {
	t.Parallel()
	root := review.Comment{Author: review.Person{Login: "prloop", Association: "COLLABORATOR"}, Body: sanitize.PlainMarker}
	says := func(login, body string) review.Comment {
		return review.Comment{Author: review.Person{Login: login, Association: "NONE"}, Body: body}
	}
	ours := review.Thread{Comments: []review.Comment{root, says("ada", "No."), says("lisa", "Not fixed."), says("LISA", "Still not.")}}
	for i := range 2 * mostTalking {
		ours.Comments = append(ours.Comments, says(fmt.Sprint("stranger", i), "Me too."))
	}
	ours.Comments = append(ours.Comments, says("mona", "P1: it leaks the token."))
	theirs := review.Thread{Comments: []review.Comment{says("somebody", "Hm."), says("else", "Hm.")}}
	asked := outsiders(review.Discussion{Threads: []review.Thread{theirs, ours}}, conversation.People{Author: "ada", Own: "prloop"})
	if len(asked) != 1+mostTalking || asked[0] != "mona" || asked[1] != "lisa" {
		t.Errorf("%q", asked)
	}
}
