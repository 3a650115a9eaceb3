package conversation_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// A thread takes back what it was before we called it cured: where it had not counted by itself it is open for reviewers, and so is one that we opened again with that (threats.md T651).
func TestAThreadIsAsBeforeItsCure(t *testing.T) {
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	fact := &conversation.Place{File: "b.go", Line: 2}
	was := conversation.Thread{ID: "1", Identity: "id"}
	answer := func(s conversation.Status, because conversation.Because, head string) []conversation.Field {
		return conversation.Ruled(was, conversation.Answer{Status: s, Because: because}, "why", head, nil)
	}
	cures := func(fact *conversation.Place, counted bool) []conversation.Field {
		return conversation.Cures(was, "gone", "fixed", fact, counted)
	}
	type said = [][]conversation.Field
	for _, c := range []struct {
		what    string
		answers said
		counts  bool
	}{
		{"reviewers alone raised it", said{cures(nil, false)}, false},
		{"we maintained it", said{answer(conversation.Disputed, "", "later"), cures(nil, false)}, true},
		{"we left it to people", said{answer(conversation.HandedOver, conversation.BecauseTurns, "later"), cures(nil, false)}, true},
		{"our answer that said so is gone", said{cures(nil, true)}, true},
		{"a judge showed what cured it", said{cures(fact, false)}, true},
		{"people said something grave there since", said{cures(nil, false), answer(conversation.HandedOver, conversation.BecauseSaid, "fixed")}, true},
		{"it was open again, and cured once more", said{cures(nil, false), answer(conversation.Pending, conversation.BecauseVoid, "back"), cures(nil, false)}, false},
		{"it was people's when it was open again", said{cures(nil, true), answer(conversation.HandedOver, conversation.BecauseVoid, "back"), cures(nil, false)}, true},
	} {
		opening := conversation.Opening(review.Finding{Title: "Boom", File: "a.go", Priority: review.P1, Score: 7}, "id", []string{"one"}, 3, "raised")
		thread := rebuilt(t, start, append(said{opening}, c.answers...))
		if thread.CuredAt() != "fixed" {
			t.Errorf("%s: cured at %q", c.what, thread.CuredAt())
		}
		got := thread.Uncured("raised")
		if c.counts != (got.Maintained == "raised" && got.Status == conversation.HandedOver) || c.counts == (got.Maintained == "" && got.Status == conversation.Pending) || !got.Live() {
			t.Errorf("%s: %s, maintained at %q", c.what, got.Status, got.Maintained)
		}
	}
	again := rebuilt(t, start, said{conversation.Opening(review.Finding{Title: "Boom", File: "a.go", Priority: review.P1, Score: 7}, "id", nil, 3, "raised"),
		cures(nil, false), answer(conversation.Pending, conversation.BecauseVoid, "back")})
	if at, _ := again.Spoke(); at != "back" || !again.Live() || again.CuredAt() != "" || again.Maintained != "" {
		t.Errorf("opened again: spoke at %q, %+v", at, again)
	}
}

// rebuilt is a thread of which our comments have these blocks.
func rebuilt(t *testing.T, start time.Time, blocks [][]conversation.Field) conversation.Thread {
	t.Helper()
	thread := review.Thread{ID: "T1", File: "a.go", Origin: 3, Resolved: true}
	opened := map[int64]conversation.Opened{}
	for n, fields := range blocks {
		block := map[string]any{}
		for _, f := range fields {
			block[f.Name] = f.Text
			if f.Number != 0 {
				block[f.Name] = f.Number
			}
		}
		text, err := json.Marshal(block)
		if err != nil {
			t.Fatal(err)
		}
		id := int64(n + 1)
		opened[id] = conversation.Opened{Marked: true, Own: true, Nonce: string(rune('a' + n)), Part: 1, Block: string(text)}
		thread.Comments = append(thread.Comments, review.Comment{DatabaseID: id, CreatedAt: start.Add(time.Duration(n) * time.Hour)})
	}
	state := conversation.Rebuild(review.Discussion{Threads: []review.Thread{thread}}, func(c review.Comment) conversation.Opened { return opened[c.DatabaseID] })
	if len(state.Threads) != 1 {
		t.Fatalf("%+v", state)
	}
	return state.Threads[0]
}
