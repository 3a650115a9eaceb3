package orchestrator

import (
	"fmt"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A report that asks for changes is the newest one behind any number of answers to commands, and one report collapses some of our comments alone (threats.md T228).
func TestAReportBehindManyAnswers(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	posted := func(m sanitize.Marker, n int) review.Comment {
		m.Run, m.Nonce, m.Key, m.Part, m.Parts = fmt.Sprintf("run%d", n), "n", []byte("key"), 1, 1
		text, err := sanitize.Comment("Words.", m, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{ID: fmt.Sprint(n), URL: fmt.Sprintf("https://github.com/o/r/pull/7#issuecomment-%d", n), Body: text[0].String(), CreatedAt: at.Add(time.Duration(n) * time.Minute)}
	}
	comments := []review.Comment{posted(sanitize.Marker{ReviewID: "4f1c", Round: 1}, 0)}
	for n := range 2 * mostOutdated {
		comments = append(comments, posted(sanitize.Marker{Command: "asked/sec"}, n+1))
	}
	in := round()
	in.Snapshot.Ours = standing(comments, func(review.Comment) bool { return true })
	if got := in.asking(); got != comments[0].URL {
		t.Errorf("the newest report that asks for changes is %q", got)
	}

	w := &bearing{picky: &picky{world: &world{now: at, head: headSHA}}}
	l := w.loop()
	l.Minimizer = w
	if done, err := l.collapse(t.Context(), in.Request, in.Snapshot.PR, in.Snapshot.Ours); err != nil || len(done) != mostOutdated {
		t.Errorf("%d comments are collapsed (%v)", len(done), err)
	}
}
