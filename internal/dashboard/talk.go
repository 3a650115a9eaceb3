package dashboard

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// talk is what was said on a pull request, as its newest review read it.
type talk struct {
	// Read is when that review began.
	Read time.Time
	// Threads are those of findings, in the order they were opened in.
	Threads []thread
	// Words are what people said elsewhere, the oldest first.
	Words []word
	// Left is how much is left out of the page.
	Left int
}

// thread is a thread that a finding opened.
type thread struct {
	conversation.Thread
	// State says where it stands, Tone colours that, Why says who settled it or why it is not settled.
	State, Tone, Why string
	Replies          []word
}

// word is something that somebody said.
type word struct {
	By   string
	Bot  bool
	At   time.Time
	What string
	Body string
	URL  string
}

// Bounds of a page.
const (
	mostThreads = 50
	mostWords   = 50
	mostReplies = 20
	// longestWord is in bytes.
	longestWord = 800
	// mostTalks is in how many runs it is looked for what was said.
	mostTalks = 10
)

// talkOf is what was said on the pull request of some runs, the newest first; nil when none of them kept it.
func (d *Dashboard) talkOf(runs []pullRun) (*talk, error) {
	for _, run := range runs[:min(len(runs), mostTalks)] {
		if run.Result == nil || run.Result.Round == 0 {
			continue
		}
		said, err := d.Runs.Talk(run.ID, run.Result.Round)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return talkFrom(said, run.Created), nil
	}
	return nil, nil
}

func talkFrom(said app.Talk, read time.Time) *talk {
	t := &talk{Read: read}
	for _, x := range said.Threads {
		row := thread{Thread: x}
		row.State, row.Tone, row.Why = stands(x)
		for _, r := range x.DeveloperReplies {
			row.Replies = append(row.Replies, word{By: r.Author, Bot: r.Bot, At: r.Timestamp, Body: shortened(r.Body)})
		}
		row.Replies = t.newest(row.Replies, mostReplies)
		t.Threads = append(t.Threads, row)
	}
	if n := len(t.Threads) - mostThreads; n > 0 {
		t.Threads, t.Left = t.Threads[n:], t.Left+n
	}
	for _, c := range said.Discussion.Comments {
		t.Words = append(t.Words, spoken(c, "commented"))
	}
	for _, r := range said.Discussion.Reviews {
		what, known := reviewWords[r.State]
		if known && (r.Body != "" || r.State != "COMMENTED") {
			t.Words = append(t.Words, word{By: r.Author.Login, Bot: r.Author.Bot, At: r.SubmittedAt, What: what, Body: shortened(r.Body)})
		}
	}
	for _, x := range said.Discussion.Threads {
		if x.Own {
			continue
		}
		for _, c := range x.Comments {
			t.Words = append(t.Words, spoken(c, "commented on "+x.File))
		}
	}
	slices.SortStableFunc(t.Words, func(a, b word) int { return a.At.Compare(b.At) })
	t.Words = t.newest(t.Words, mostWords)
	return t
}

// newest are the newest of some words, and counts what that leaves out.
func (t *talk) newest(all []word, most int) []word {
	if n := len(all) - most; n > 0 {
		t.Left += n
		return all[n:]
	}
	return all
}

func spoken(c review.Comment, what string) word {
	return word{By: c.Author.Login, Bot: c.Author.Bot, At: c.CreatedAt, What: what, Body: shortened(c.Body), URL: c.URL}
}

// reviewWords say what somebody did by a review.
var reviewWords = map[string]string{"APPROVED": "approved", "CHANGES_REQUESTED": "requested changes", "COMMENTED": "commented", "DISMISSED": "reviewed, which was dismissed"}

// stands says where a thread stands, how that is coloured, and why.
func stands(t conversation.Thread) (state, tone, why string) {
	if t.Reason != "" {
		why = "prloop: " + t.Reason
	}
	switch {
	case t.Closed && t.Status != conversation.Resolved:
		if t.ClosedBy != "" {
			why = "by " + t.ClosedBy
		}
		return "resolved on GitHub", "quiet", why
	case t.Status == conversation.Resolved && t.Ruling == "":
		return "fixed", "good", why
	case t.Status == conversation.Resolved:
		return "settled", "quiet", why
	case t.Status == conversation.Disputed:
		return "disputed", "warn", why
	case t.Status == conversation.HandedOver:
		return "a person decides", "warn", why
	}
	return "open", "bad", why
}

// shortened cuts a text to what a page shows of it.
func shortened(s string) string {
	if s = strings.TrimSpace(s); len(s) <= longestWord {
		return s
	}
	end := longestWord
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " …"
}
