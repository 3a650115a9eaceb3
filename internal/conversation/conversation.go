// Package conversation is what prloop remembers of a pull request: its threads, rebuilt from what GitHub returns and what our newest report keeps
// (spec.md D3.2, docs/threads.md). It is pure: the same discussion gives the same state, byte for byte, on every machine, in whatever
// order GitHub lists it.
//
// What counts is a comment that somebody with our key sealed and our account wrote, in the place it was written for. Every other
// changes nothing, whatever it says; one that looks like ours is named.
package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Status is where a thread of ours stands.
type Status string

// The statuses (spec.md D4.2).
const (
	// Pending: nobody of us said more, or the discussion goes on.
	Pending Status = "PENDING"
	// Resolved: we said that it is.
	Resolved Status = "RESOLVED"
	// Disputed: we answered, and maintain what we said.
	Disputed Status = "DISPUTED"
	// HandedOver: we handed it to people. Blocks and pages call it ESCALATED (spec.md D4.2).
	HandedOver Status = "ESCALATED"
)

// Words that begin an answer of ours, and say the same to people as its block does to us.
const (
	ResolvedWords   = "✅ **Issue Resolved**"
	HandedOverWords = "🔺 **Escalated to Human Review**"
)

// Assessment is what a thread was opened for.
type Assessment struct {
	Finding    string `json:"finding"`
	Assessment string `json:"assessment"`
	Score      int    `json:"score"`
}

// Wording is what one more reviewer said of the finding of a thread.
type Wording struct {
	By         string          `json:"by"`
	Finding    string          `json:"finding"`
	Assessment string          `json:"assessment"`
	Category   string          `json:"category,omitempty"`
	Priority   review.Priority `json:"priority"`
	Evidence   string          `json:"evidence,omitempty"`
	Stood
}

// Stood is where a wording stood when the thread was opened: its line, and the first and the last line of its quote. What is not told is 0.
type Stood struct {
	Line   int    `json:"line,omitempty"`
	Quoted [2]int `json:"quoted,omitzero"`
}

// Place is some lines of a file, which is a spelling; 0 and 0 for all of it.
type Place struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	LineEnd int    `json:"line_end,omitempty"`
}

// Reply is what somebody who is not us said in a thread of ours.
type Reply struct {
	// ID is the number of the comment.
	ID        int64     `json:"id,omitempty"`
	Author    string    `json:"author"`
	Body      string    `json:"body"`
	Timestamp time.Time `json:"timestamp"`
	// Updated is when GitHub touched it last, Edited when somebody changed its text; zero where nobody has. EditedBy is who did, where that is another than the author.
	Updated  time.Time `json:"updated,omitzero"`
	Edited   time.Time `json:"edited,omitzero"`
	EditedBy string    `json:"edited_by,omitempty"`
	// Commit is the head at which it was said, where GitHub says. After is true where the code of the thread had changed by then.
	Commit string `json:"commit,omitempty"`
	After  bool   `json:"after,omitempty"`
	// Association is GitHub's, Bot true of apps; neither grants anything.
	Association string `json:"association,omitempty"`
	Bot         bool   `json:"bot,omitempty"`
}

// Is reports whether a comment is this reply, and nobody has edited it since. GitHub gives a comment another time for more than an edit, and of what is kept of a
// text a part may be masked: both have to differ.
func (r Reply) Is(c review.Comment) bool {
	return r.ID == c.DatabaseID && (!c.UpdatedAt.After(r.Updated) || strings.TrimSpace(c.Body) == r.Body)
}

// Thread is one thread of ours.
type Thread struct {
	// ID is the number of its first comment, Node what GitHub calls the thread.
	ID   string `json:"id"`
	Node string `json:"node"`
	URL  string `json:"url,omitempty"`
	// File is a spelling. Line is where the thread stands now, at the head; 0 when GitHub shows it as outdated. Origin is where it was opened.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Origin Stood  `json:"origin,omitzero"`
	Status Status `json:"status"`
	Score  int    `json:"score"`
	// Assessment is what we said when we opened it; Identity names the finding it is about, Category, Priority and Evidence are of that.
	Assessment Assessment      `json:"assessment"`
	Identity   string          `json:"identity"`
	Category   string          `json:"category,omitempty"`
	Priority   review.Priority `json:"priority"`
	Evidence   string          `json:"evidence,omitempty"`
	// RaisedBy names the reviewers that raised it. By is who said it as the thread begins, where it shows what others said too, which is
	// Also.
	RaisedBy []string  `json:"raised_by,omitempty"`
	By       string    `json:"by,omitempty"`
	Also     []Wording `json:"also,omitempty"`
	// Head is the commit it was opened on, Opened when.
	Head   string    `json:"head"`
	Opened time.Time `json:"-"`
	// Base is the base branch of the review that opened it, as markers name it; empty where nobody knows.
	Base string `json:"base,omitempty"`
	// Closed is true when GitHub shows the thread as resolved, ClosedBy who did that, as far as GitHub says, and ClosedByBot whether that is an app.
	Closed      bool   `json:"closed,omitempty"`
	ClosedBy    string `json:"closed_by,omitempty"`
	ClosedByBot bool   `json:"closed_by_bot,omitempty"`
	// Unresolvable is true when we may not resolve the thread, or, where it is closed, not open it again, by what GitHub says.
	Unresolvable bool `json:"unresolvable,omitempty"`
	// Unsure is true when an answer that our account gave in it is not proven ours: it may have said that we resolved the thread.
	Unsure bool `json:"unsure,omitempty"`
	// Turns is how often we maintained what we said. Ruling is why our last answer settled it, empty where the problem is gone, Word whose word
	// that was; Reason is what we gave for it.
	Turns  int    `json:"turns,omitempty"`
	Ruling Ruling `json:"ruling,omitempty"`
	Word   string `json:"word,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Maintained is the commit on which we answered last that the finding stands, or is people's; Upheld are all of these.
	Maintained string   `json:"maintained,omitempty"`
	Upheld     []string `json:"-"`
	// Counted is true where it counted although nobody raised its finding when we said that the problem is gone. Reopened is the commit on which we took that back and left it to reviewers.
	Counted  bool   `json:"-"`
	Reopened string `json:"-"`
	// RuledAt is the commit that was ruled on, or at which we said that the problem is gone; Fact the code of it that shows what we conceded, or what cures it; nil where no
	// answer says.
	RuledAt string `json:"ruled_at,omitempty"`
	Fact    *Place `json:"fact,omitempty"`
	// DeveloperReplies stand in the order they were given in; Answered is how many of them our last answer is to, AnsweredAt when we gave it. Cured is true of a thread
	// that was handed to people after we had said that its problem is gone, for what somebody says there as grave: Answered is of before that.
	DeveloperReplies []Reply   `json:"developer_replies,omitempty"`
	Answered         int       `json:"answered,omitempty"`
	AnsweredAt       time.Time `json:"answered_at,omitzero"`
	Cured            bool      `json:"cured,omitempty"`
}

// Ignored is a comment with our marker, or in our name, that says nothing here.
type Ignored struct {
	Author string `json:"author"`
	URL    string `json:"url,omitempty"`
	// Own is true when our account wrote it; Why says what is wrong with it.
	Own bool   `json:"own,omitempty"`
	Why string `json:"why"`
}

// Metadata is what else is known.
type Metadata struct {
	// Posted is how many threads we have opened on the pull request that are still there.
	Posted int `json:"posted"`
	// Foreign is how many open threads our account began with a comment that another key signed.
	Foreign int `json:"foreign,omitempty"`
	// Ignored are sorted by URL.
	Ignored []Ignored `json:"ignored,omitempty"`
}

// State is what prloop remembers, the answer of github_get_run_state. Threads stand in the order they were opened in.
type State struct {
	Threads  []Thread `json:"threads"`
	Metadata Metadata `json:"metadata"`
}

// Opened is what a reader of sealed comments found out about one.
type Opened struct {
	// Marked is true when it carries our marker where we put it, whoever wrote it.
	Marked bool
	// Own is true when our account wrote it; OtherKey when a key signed it that is none of ours, as where jobs share none.
	Own, OtherKey bool
	// Nonce and Part name it for ever; Block is its block, as JSON, empty when it has none. All are empty unless Err is nil.
	Nonce string
	Part  int
	Block string
	// Base is the base branch of the review that posted it, as markers name it; empty where it does not say.
	Base string
	// Err says why it is not a comment of ours for this pull request, in words for people; nil when it is.
	Err error
}

// block is what stands in a comment of ours (spec.md D4.2). A finding's has the place it was written for, an answer's the thread.
type block struct {
	Finding    string          `json:"finding"`
	Assessment string          `json:"assessment"`
	Score      int             `json:"score"`
	Identity   string          `json:"identity"`
	Category   string          `json:"category"`
	Priority   review.Priority `json:"priority"`
	File       string          `json:"file"`
	Line       int             `json:"line"`
	Evidence   string          `json:"evidence"`
	Head       string          `json:"head"`

	RaisedBy string `json:"raised_by"`
	By       string `json:"by"`

	Status  Status `json:"status"`
	Thread  string `json:"thread"`
	Reason  string `json:"reason"`
	Ruling  Ruling `json:"ruling"`
	Word    string `json:"word"`
	Read    string `json:"read"`
	Void    string `json:"void"`
	Counted string `json:"counted"`

	QuoteFrom int `json:"quote_from"`
	QuoteTo   int `json:"quote_to"`

	FactFile string `json:"fact_file"`
	FactLine int    `json:"fact_line"`
	FactEnd  int    `json:"fact_end"`
}

// Rebuild makes the state of a discussion. open reads one comment and decides whether it is ours.
func Rebuild(d review.Discussion, open func(review.Comment) Opened) State {
	r := rebuilding{open: open, seen: map[string]bool{}, state: State{Threads: []Thread{}}}
	list := slices.Clone(d.Threads)
	slices.SortStableFunc(list, func(a, b review.Thread) int { return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.ID, b.ID)) })
	for _, t := range list {
		r.thread(t)
	}
	slices.SortFunc(r.state.Metadata.Ignored, func(a, b Ignored) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.Author, b.Author), cmp.Compare(a.Why, b.Why))
	})
	r.state.Metadata.Posted = len(r.state.Threads)
	return r.state
}

// first is the number of a thread's first comment: numbers rise with time.
func first(t review.Thread) int64 {
	var n int64
	for _, c := range t.Comments {
		if n == 0 || c.DatabaseID < n {
			n = c.DatabaseID
		}
	}
	return n
}

type rebuilding struct {
	open func(review.Comment) Opened
	// seen are the comments of ours met so far: a second one of the same name is a copy.
	seen  map[string]bool
	state State
}

func (r *rebuilding) ignore(c review.Comment, own bool, why string) {
	r.state.Metadata.Ignored = append(r.state.Metadata.Ignored, Ignored{Author: c.Author.Login, URL: c.URL, Own: own, Why: why})
}

// sealed reads a comment; ok is false when it is none of ours, which is named where it looks like one.
func (r *rebuilding) sealed(c review.Comment) (b block, o Opened, ok bool) {
	o = r.open(c)
	switch {
	case o.Err != nil && o.Marked:
		r.ignore(c, o.Own, o.Err.Error())
		return b, o, false
	case o.Err != nil, o.Block == "":
		return b, o, false
	}
	if err := json.Unmarshal([]byte(o.Block), &b); err != nil {
		r.ignore(c, o.Own, "its block is not readable")
		return b, o, false
	}
	if name := o.Nonce + "/" + strconv.Itoa(o.Part); r.seen[name] {
		r.ignore(c, o.Own, "it repeats an earlier comment")
		return b, o, false
	}
	return b, o, true
}

// thread takes a thread whose first comment is a finding of ours, at the place it was written for.
func (r *rebuilding) thread(t review.Thread) {
	comments := slices.Clone(t.Comments)
	slices.SortStableFunc(comments, func(a, b review.Comment) int { return cmp.Compare(a.DatabaseID, b.DatabaseID) })
	if len(comments) == 0 {
		return
	}
	root := comments[0]
	// A reply has the number of its draft, and may be said after an answer that has a higher one.
	slices.SortStableFunc(comments[1:], func(a, b review.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	b, o, ok := r.sealed(root)
	switch {
	case ok && (b.Thread != "" || b.Finding == "" || !b.Priority.Valid() || b.Score < 1 || b.Score > 10 || b.Identity == ""):
		r.ignore(root, o.Own, "its block opens no thread")
		ok = false
	case ok && (spelling.Raw(b.File) != spelling.Raw(t.File) || t.Origin != 0 && b.Line != t.Origin):
		r.ignore(root, o.Own, "it was written for another place")
		ok = false
	}
	if !ok {
		if begun := r.open(root); begun.Own && begun.OtherKey && !t.Resolved {
			r.state.Metadata.Foreign++
		}
		for _, c := range comments[1:] { // an answer of ours belongs into a thread of ours
			if o := r.open(c); o.Marked {
				r.ignore(c, o.Own, cmp.Or(errorText(o.Err), "it answers in a thread that is not prloop's"))
			}
		}
		return
	}
	r.seen[o.Nonce+"/"+strconv.Itoa(o.Part)] = true
	out := Thread{
		ID: strconv.FormatInt(root.DatabaseID, 10), Node: t.ID, URL: root.URL, File: t.File, Status: Pending, Score: b.Score, Identity: b.Identity,
		Assessment: Assessment{b.Finding, b.Assessment, b.Score}, Category: b.Category, Priority: b.Priority, Evidence: b.Evidence, Head: b.Head, Closed: t.Resolved,
		Unresolvable: t.Unresolvable, Origin: Stood{b.Line, [2]int{b.QuoteFrom, b.QuoteTo}},
		Opened: root.CreatedAt.UTC(), Base: o.Base,
	}
	if t.Line != nil {
		out.Line = *t.Line
	}
	if b.RaisedBy != "" {
		out.RaisedBy = strings.Split(b.RaisedBy, ", ")
	}
	out.By, out.Also = b.By, readAlso(o.Block)
	if t.ResolvedBy != nil && t.Resolved {
		out.ClosedBy, out.ClosedByBot = t.ResolvedBy.Login, t.ResolvedBy.Bot
	}
	for _, c := range comments[1:] {
		r.answer(&out, c)
	}
	r.state.Threads = append(r.state.Threads, out)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// answer takes what was said after the first comment: by us it moves the status, by others it is a reply.
func (r *rebuilding) answer(t *Thread, c review.Comment) {
	o := r.open(c)
	changed := o.Marked && o.Err != nil && c.EditedBy != "" // who edits somebody's words does not take them out by our marker, also not those of who runs prloop as themselves
	t.Unsure = t.Unsure || changed && o.Own
	if !o.Marked || changed {
		if body := strings.TrimSpace(c.Body); body != "" && (!c.Minimized || review.MayBlock(c.Author.Association)) { // GitHub does not say who hid it
			t.DeveloperReplies = append(t.DeveloperReplies, Reply{ID: c.DatabaseID, Author: cmp.Or(c.Author.Login, "ghost"), Body: body, Timestamp: c.CreatedAt.UTC(), Updated: c.UpdatedAt.UTC(),
				Edited: c.EditedAt.UTC(), EditedBy: c.EditedBy, Commit: c.Commit, Association: c.Author.Association, Bot: c.Author.Bot})
		}
		return
	}
	b, o, ok := r.sealed(c)
	switch {
	case !ok:
		t.Unsure = t.Unsure || o.Own && o.Err != nil
	case b.Thread != t.Name():
		r.ignore(c, o.Own, "it was written for another thread")
	case b.Status == Resolved, b.Status == HandedOver, b.Status == Disputed, b.Status == Pending:
		r.seen[o.Nonce+"/"+strconv.Itoa(o.Part)] = true
		if t.Cured = t.gone() && b.Status == HandedOver && b.Void == ""; !t.Cured {
			t.Answered, t.AnsweredAt = t.read(b.Read), c.CreatedAt.UTC()
			t.RuledAt, t.Fact = "", nil
		}
		t.Status, t.Ruling, t.Word, t.Reason, t.Maintained, t.Reopened = b.Status, "", "", b.Reason, "", ""
		if b.Status == Disputed || b.Status == HandedOver {
			t.Maintained = b.Head
			if !t.Cured {
				t.Upheld = append(t.Upheld, b.Head)
			}
		}
		if b.Status == Disputed {
			t.Turns++
		}
		if b.Status == Pending {
			t.Reopened = b.Head
		}
		if b.Status == Resolved && b.Ruling.valid() {
			t.Ruling, t.Word = b.Ruling, b.Word
		}
		if b.Status == Resolved {
			t.RuledAt, t.Counted = b.Head, t.Counted || b.Counted != ""
			if b.FactFile != "" {
				t.Fact = &Place{File: spelling.Name(spelling.Raw(b.FactFile)), Line: b.FactLine, LineEnd: b.FactEnd}
			}
		}
	default:
		r.ignore(c, o.Own, fmt.Sprintf("%q is no status", b.Status))
	}
}

// last is the number of the newest comment in the thread that is not ours, or of its first.
func (t Thread) last() string {
	if n := len(t.DeveloperReplies); n > 0 && t.DeveloperReplies[n-1].ID > 0 {
		return strconv.FormatInt(t.DeveloperReplies[n-1].ID, 10)
	}
	return t.ID
}

// read is how many of the replies so far an answer is to that names the last comment it knew of: what was said while it was being made is not answered by it.
// Where that comment is gone its number tells, and all were read by an answer that names none.
func (t Thread) read(last string) int {
	known, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return len(t.DeveloperReplies)
	}
	before := 0
	for i, r := range t.DeveloperReplies {
		if r.ID == known {
			return i + 1
		}
		if r.ID < known {
			before = i + 1
		}
	}
	return before
}

// Name is what answers of ours call a thread: its first comment and the finding in it.
func (t Thread) Name() string { return t.ID + "/" + t.Identity }

// Spoke is the commit on which we said last that the finding of the thread stands, is people's, or is open again, and when we spoke in the thread last.
func (t Thread) Spoke() (commit string, at time.Time) {
	if at = t.Opened; t.AnsweredAt.After(at) {
		at = t.AnsweredAt
	}
	return cmp.Or(t.Maintained, t.Reopened, t.Head), at
}

// Live reports whether the thread still says something that prloop stands by: nobody has settled it. One that was settled by a ruling and
// that is open does, unless it stays open for another reason (People.Live).
func (t Thread) Live() bool { return !t.gone() && (t.Ruling == "" || !t.Closed) }

// gone reports whether we said last of the finding of a thread that its problem is gone.
func (t Thread) gone() bool { return t.Cured || t.Status == Resolved && t.Ruling == "" }

// CuredAt is the commit at which we said so; empty where we did not.
func (t Thread) CuredAt() string {
	if !t.gone() {
		return ""
	}
	return t.RuledAt
}

// Uncured is a thread as though we had not said that its problem is gone: at an older commit we had left it to people where we maintained it, where it counted, or where a judge showed
// what cured it, and else reviewers alone had raised it.
func (t Thread) Uncured(maintained string) Thread {
	if !t.Cured && !t.Counted && t.Fact == nil && len(t.Upheld) == 0 {
		t.Status, t.Maintained = Pending, ""
		return t
	}
	t.Status, t.Cured, t.Maintained = HandedOver, false, maintained
	return t
}

// Asserted is the thread as the finding it was opened for, at its place in the head.
func (t Thread) Asserted() review.Finding {
	f := review.Finding{
		ID: t.Identity, Priority: t.Priority, Category: t.Category, File: t.File, Title: t.Assessment.Finding, Description: t.Assessment.Assessment,
		Evidence: t.Evidence, Score: t.Score, Source: review.Source{Type: "agent", Name: "prloop"},
	}
	if t.Line > 0 {
		line := t.Line
		f.Line = &line
	}
	return f
}

// Places are where the wordings that the thread shows stood when it was opened: its own, and those of Also.
func (t Thread) Places() []Stood {
	own := t.Origin
	own.Line = cmp.Or(own.Line, t.Line)
	out := []Stood{own}
	for _, w := range t.Also {
		out = append(out, w.Stood)
	}
	return out
}

// Shown are the wordings of the finding that the thread shows, as Asserted, each from who said it: the thread's own, and those of Also at the end, where
// they stood when it was opened. Where a thread does not tell, each who raised it said all; where it does not name those either, nobody is named.
func (t Thread) Shown() (out []review.Finding) {
	f, by := t.Asserted(), t.RaisedBy
	switch {
	case t.By != "":
		by = []string{t.By}
	case len(by) == 0:
		by = []string{""}
	}
	for _, f.Source.Name = range by {
		out = append(out, f)
	}
	for _, w := range t.Also {
		f.Source.Name, f.Title, f.Description = w.By, w.Finding, w.Assessment
		f.Category, f.Priority, f.Evidence, f.Line = w.Category, w.Priority, w.Evidence, nil
		if w.Line > 0 {
			f.Line = &w.Line
		}
		out = append(out, f)
	}
	return out
}
