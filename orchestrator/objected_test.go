package orchestrator

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// The newest report that keeps any tells, and the newest run on record that read threads (threats.md T554).
func TestWhatIsRemembered(t *testing.T) {
	name := func(n int64) string {
		return fmt.Sprintf("0123abcd.%d.1.1.maintainer", n)
	}
	comment := func(minute int, objected ...string) review.Comment {
		texts, err := sanitize.Comment("Report.", sanitize.Marker{Run: "r", Nonce: "n", Key: []byte("key"), Objected: objected}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Body: texts[0].String(), CreatedAt: time.Unix(int64(60*minute), 0)}
	}
	ours := func(review.Comment) bool { return true }
	for want, comments := range map[string][]review.Comment{
		fmt.Sprint([]string{name(1), name(2)}): {comment(2, name(2)), comment(1, name(1), name(3)), comment(3)},
		fmt.Sprint([]string{name(1)}):          {comment(1, name(2)), comment(2, sanitize.None), comment(3)},
	} {
		if got := remember([]string{name(1)}, comments, ours); fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	ended := func(read string, objected ...string) Stored {
		return Stored{Result: review.RunResult{Receipt: review.Receipt{ThreadsRead: read, Objected: objected}}}
	}
	for want, runs := range map[string][]Stored{
		fmt.Sprint([]string{name(1)}): {ended(""), ended("0a", name(1)), ended("0b", name(2))},
		fmt.Sprint([]string{name(3)}): {ended("", name(3)), ended("0a", name(1))}, // it was overtaken
		"[]":                          {ended("0c", sanitize.None), ended("0a", name(1))},
	} {
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			return func(yield func(Stored, error) bool) {
				for _, s := range runs {
					if !yield(s, nil) {
						return
					}
				}
			}
		}}
		if got, err := l.recordedObjections(t.Context(), Request{}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
}
