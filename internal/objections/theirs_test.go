package objections

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// A P0 in a thread that people began is settled by who says it, or by somebody else who may write and is not the author (threats.md T781).
func TestOverruled(t *testing.T) {
	people := conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"boss": "write", "keeper": "write", "ada": "write", "eve": "read"}}
	by := func(login string) *review.Person { return &review.Person{Login: login} }
	for name, c := range map[string]struct {
		who, says string
		resolved  *review.Person
		byApp     bool
		want      bool
	}{
		"the author":                 {"boss", "P0: it deletes data.", by("ada"), false, true},
		"somebody who may not write": {"boss", "P0: it deletes data.", by("eve"), false, true},
		"nobody knows who":           {"boss", "P0: it deletes data.", nil, false, true},
		"who says it":                {"boss", "P0: it deletes data.", by("boss"), false, false},
		"another who may write":      {"boss", "P0: it deletes data.", by("keeper"), false, false},
		"our account, by hand":       {"boss", "P0: it deletes data.", by("prloop"), false, false},
		"what our account says":      {"prloop", "P0: it deletes data.", by("prloop"), false, false},
		"another, in an app's":       {"boss", "P0: it deletes data.", by("keeper"), true, true},
		"who says it, in an app's":   {"boss", "P0: it deletes data.", by("boss"), true, false},
		"the author says it":         {"ada", "P0: it deletes data.", by("ada"), false, false},
		"less grave":                 {"boss", "P2: a word is missing.", by("ada"), false, false},
	} {
		people.ByApp = c.byApp
		in := review.Thread{Resolved: true, ResolvedBy: c.resolved, Comments: []review.Comment{
			{Author: review.Person{Login: "ada", Association: "MEMBER"}, Body: "nit: name"}, {Author: review.Person{Login: c.who, Association: "MEMBER"}, Body: c.says},
		}}
		if at, over := Overruled(people, in); over != c.want || over && at != 1 {
			t.Errorf("%s: %v at %d, want %v", name, over, at, c.want)
		}
		if _, over := Overruled(conversation.People{Author: "ada"}, in); c.resolved == nil && over != c.want { // where nothing was asked about anybody
			t.Errorf("%s, of people whom nobody knows: %v, want %v", name, over, c.want)
		}
	}
}
