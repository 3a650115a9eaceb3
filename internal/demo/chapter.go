package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
)

// Chapter is one pull request of the demonstration.
type Chapter struct {
	// Target is what prloop is asked to run on.
	Target string
	// Story says in Markdown what the change is, and what will happen to it.
	Story string
	// Outcome is how the run ends, and End the same in words.
	Outcome review.Outcome
	End     string

	number int
	// name is that of the change's files in testdata, and of its branch.
	name, title, body string
	// question opens a thread, whose number is thread; nil when nobody asks.
	question *forge.Thread
	thread   int64
	shown    []shown
	pull     *forge.PullRequest
	model    *fakemodel.Server
}

// Post is a comment that was posted, cut to what a first look needs.
type Post struct {
	// Title says what it is.
	Title string
	// Body is Markdown.
	Body string
}

// shown is a comment to be shown: what it is, and the details of how many findings.
type shown struct {
	title    string
	findings int
}

func coupons() *Chapter {
	return &Chapter{
		Target: "acme/shop#42", number: 42, name: "coupons", title: "Add coupons", body: "Customers can enter a coupon code at the till.",
		Outcome: review.Converged, End: "approved",
		Story: "**Pull request acme/shop#42, \"Add coupons\".** It changes three files and has flaws: SQL built out of text, money as a float, a swallowed error, " +
			"a key in the source, a debugger left in, a skipped test. Mona has asked a question in a thread that is open.\n\n" +
			"prloop reviews it, has the fixer fix what was found, checks and pushes that, and reviews again. Mona resolves her thread when she sees the push.",
		question: &forge.Thread{Path: "shop/coupons.py", Line: 15, Comments: []*forge.Comment{
			{Author: "mona", Association: "MEMBER", Body: "What happens when the coupon has expired? I see no check for it."},
		}},
		shown: []shown{
			{"The review of round 1", 1},
			{"The fix report", 0},
			{"The review of round 2", 0},
		},
	}
}

func receipts() *Chapter {
	return &Chapter{
		Target: "acme/shop#43", number: 43, name: "receipts", title: "Print receipts", body: "Customers get their receipt by its name.",
		Outcome: review.Stuck, End: "stuck, a person is needed",
		Story: "**Pull request acme/shop#43, \"Print receipts\".** It reads a file whose name a customer chooses. Here the fixer claims a fix that is none: " +
			"the second review finds the same problem again, in other words and on another line. prloop knows it by what it is, and asks for a person.",
		shown: []shown{
			{"The review of round 1", 1},
			{"The fix report", 0},
			{"The review of round 2", 1},
		},
	}
}

// open opens the pull request and serves its model.
func (c *Chapter) open(f *forge.Forge) error {
	base, err := fs.Sub(files, "testdata/base")
	if err != nil {
		return err
	}
	change, err := files.ReadFile("testdata/" + c.name + ".diff")
	if err != nil {
		return err
	}
	c.pull, err = f.Open(forge.PullSpec{
		Owner: "acme", Repo: "shop", Number: c.number, Author: "dana", HeadRef: c.name, Base: base, Diff: change, Title: c.title, Body: c.body,
	})
	if err != nil {
		return err
	}
	if c.question != nil {
		c.thread = c.pull.AddThread(*c.question)
	}
	script, err := files.ReadFile("testdata/" + c.name + ".json")
	if err != nil {
		return err
	}
	// The fixer calls a thread by its id, which only the forge knows.
	script = bytes.ReplaceAll(script, []byte("THREAD"), []byte("thread-"+forge.ThreadID(c.thread)))
	s := fakemodel.Script{Key: key}
	if err := json.Unmarshal(script, &s); err != nil {
		return fmt.Errorf("read the model's script: %w", err)
	}
	c.model, err = fakemodel.Start(s)
	return err
}

// Posted is what stands on the pull request's timeline, oldest first.
func (c *Chapter) Posted() []Post {
	var out []Post
	for i, k := range c.pull.Comments() {
		p := Post{Title: "Another comment", Body: k.Body}
		if i < len(c.shown) {
			p = Post{c.shown[i].title, excerpt(k.Body, c.shown[i].findings)}
		}
		out = append(out, p)
	}
	return out
}

// Expected is how many comments a run that goes as told posts.
func (c *Chapter) Expected() int { return len(c.shown) }
