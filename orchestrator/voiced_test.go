package orchestrator

import (
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
