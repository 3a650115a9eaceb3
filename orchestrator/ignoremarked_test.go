package orchestrator

import (
	"testing"
	"time"

	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What a command says on a line is no open conversation before somebody answers there (threats.md T843).
func TestWhatACommandSaysOnLines(t *testing.T) {
	marked := func(m sanitize.Marker, login string) review.Comment {
		m.Run, m.Nonce, m.Key, m.Part, m.Parts = "r", "n", []byte("key"), 1, 1
		text, err := sanitize.Comment("A nit.", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Body: text[0].String(), Author: review.Person{Login: login}}
	}
	said := marked(sanitize.Marker{Command: "sec"}, "prloop")
	edited, asked := said, marked(sanitize.Marker{Command: "asked/sec"}, "prloop")
	edited.EditedAt = time.Unix(1, 0)
	for what, row := range map[string]struct {
		comments []review.Comment
		open     int
	}{
		"a command of the review":     {[]review.Comment{said}, 0},
		"one that somebody asked for": {[]review.Comment{asked}, 0},
		"somebody answers":            {[]review.Comment{said, {Body: "Why?", Author: review.Person{Login: "mona"}}}, 1},
		"somebody's answer is hidden": {[]review.Comment{said, {Body: "Why?", Minimized: true, Author: review.Person{Login: "mona"}}}, 1},
		"an answer with a marker":     {[]review.Comment{said, marked(sanitize.Marker{Command: "sec"}, "mona")}, 1},
		"somebody edited it":          {[]review.Comment{edited}, 1},
		"another account":             {[]review.Comment{marked(sanitize.Marker{Command: "sec"}, "mona")}, 1},
		"of no command":               {[]review.Comment{marked(sanitize.Marker{ReviewID: "4f1c", Round: 1}, "prloop")}, 1},
		"nothing is left of it":       {nil, 1},
	} {
		d, _ := withoutMarked(review.Discussion{Threads: []review.Thread{{ID: "T1", Comments: row.comments}}}, func(c review.Comment) bool { return c.Author.Login == "prloop" })
		if got := threads.Analyze(d, 7).Stats.Unresolved; got != row.open {
			t.Errorf("%s: %d threads are unresolved, want %d", what, got, row.open)
		}
	}
}
