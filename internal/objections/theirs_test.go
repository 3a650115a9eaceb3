package objections

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// What somebody else has edited in such a thread may have said P0: it weighs as if it did (threats.md T799).
func TestOverruledOverEditedWords(t *testing.T) {
	people := conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"boss": "write", "keeper": "write", "ada": "write"}}
	for name, c := range map[string]struct {
		who, editor, resolved string
		want                  bool
	}{
		"by the author":             {"boss", "ada", "ada", true},
		"by nobody knows whom":      {"boss", "ghost", "ada", true},
		"by who said it":            {"boss", "", "ada", false},
		"and who said it settles":   {"boss", "ada", "boss", false},
		"and another settles":       {"boss", "ada", "keeper", false},
		"what the author says":      {"ada", "keeper", "ada", false},
		"of somebody from anywhere": {"eve", "ada", "ada", false},
	} {
		by := review.Person{Login: c.who, Association: "MEMBER"}
		if c.who == "eve" {
			by.Association = "NONE"
		}
		in := review.Thread{Resolved: true, ResolvedBy: &review.Person{Login: c.resolved}, Comments: []review.Comment{{Author: by, Body: "nit: a name.", EditedBy: c.editor}}}
		if _, over := Overruled(people, in); over != c.want {
			t.Errorf("%s: %v, want %v", name, over, c.want)
		}
		if asked := len(Resolvers(review.Discussion{Threads: []review.Thread{in}})) > 0; c.want && !asked {
			t.Errorf("%s: nobody asks what %s may", name, c.resolved)
		}
	}
}

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
