package conversation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

var (
	key    = []byte("0123456789abcdef0123456789abcdef")
	repo   = review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}
	bot    = review.Person{Login: "prloop-bot", ID: 42, Bot: true}
	mona   = review.Person{Login: "mona", ID: 7, Association: "MEMBER"}
	policy = sanitize.Policy{Repo: repo}
	coupon = review.Finding{ID: "SEC-001", Priority: review.P0, Category: "security", File: "shop/coupons.py", Title: "The coupon is written into the SQL text",
		Description: "Anybody can read others' coupons.", Evidence: "cursor.execute(f\"... {code}\")", Score: 9}
)

const at = 8

// values are fields as a note takes them.
func values(fields []conversation.Field) (out []sanitize.Value) {
	for _, f := range fields {
		out = append(out, sanitize.Value(f))
	}
	return out
}

func marker(nonce string, part int) sanitize.Marker {
	return sanitize.Marker{ReviewID: "4f1c", Run: "run-1", Round: 1, Part: part, Parts: 9, RepoID: repo.String(), PR: 7, Nonce: nonce, Key: key}
}

func sealed(text string, fields []conversation.Field, m sanitize.Marker) string {
	n, err := sanitize.Note(text, values(fields), m, policy)
	if err != nil {
		panic(err)
	}
	return n.String()
}

func opening(m sanitize.Marker) string {
	return sealed("**P0** The coupon is written into the SQL text", conversation.Opening(coupon, "0123456789abcdef", []string{"picky"}, at, "abc"), m)
}

func answering(t conversation.Thread, s conversation.Status, m sanitize.Marker) string {
	return sealed(conversation.ResolvedWords, conversation.Answering(t, s, "gone", "abd"), m)
}

// read is what the loop reads comments with.
func read(c review.Comment) conversation.Opened {
	o := conversation.Opened{Marked: sanitize.HasMarker(c.Body), Own: c.Author.ID == bot.ID}
	m, err := sanitize.Verify(c.Body, key, repo.String(), 7)
	switch {
	case err != nil:
		o.Err = err
	case !o.Own:
		o.Err = fmt.Errorf("another account posted it")
	default:
		o.Nonce, o.Part = m.Nonce, m.Part
		o.Block, _ = sanitize.NoteBlock(c.Body)
	}
	return o
}

var when = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func said(id int64, by review.Person, body string) review.Comment {
	return review.Comment{ID: fmt.Sprint("PRRC_", id), DatabaseID: id, URL: fmt.Sprint("https://github.com/octo/demo/pull/7#discussion_r", id), Author: by, Body: body, CreatedAt: when}
}

func thread(id, file string, line int, comments ...review.Comment) review.Thread {
	return review.Thread{ID: id, File: file, Line: &line, Origin: line, Comments: comments}
}

func rebuild(list ...review.Thread) conversation.State {
	return conversation.Rebuild(review.Discussion{Threads: list}, read)
}

func genuine() review.Thread {
	return thread("PRRT_1", coupon.File, at, said(100, bot, opening(marker("n1", 2))))
}

// The state of a conversation, in whatever order GitHub lists it: what was found, what people answered, what we said last.
func TestRebuild(t *testing.T) {
	first := rebuild(genuine()).Threads[0]
	if first.Status != conversation.Pending || first.Score != 9 || first.Assessment.Finding != coupon.Title || first.Assessment.Assessment != coupon.Description ||
		first.Priority != review.P0 || first.Evidence != coupon.Evidence || first.Line != at || first.ID != "100" || first.Node != "PRRT_1" || first.Head != "abc" {
		t.Fatalf("%+v", first)
	}
	for status := range map[conversation.Status]bool{conversation.Resolved: true, conversation.Disputed: true, conversation.HandedOver: true, conversation.Pending: true} {
		one := genuine()
		one.Comments = append(one.Comments, said(102, mona, "We check it before."), said(103, bot, answering(first, status, marker("n2", 1))), said(104, mona, "> "+strings.ReplaceAll(opening(marker("n1", 2)), "\n", "\n> ")))
		other := thread("PRRT_2", "a.go", 3, said(90, mona, "Why this?"), said(101, bot, "I am another tool."))
		got := rebuild(one, other)
		if len(got.Threads) != 1 || got.Threads[0].Status != status || len(got.Threads[0].DeveloperReplies) != 2 || got.Threads[0].DeveloperReplies[0].Body != "We check it before." {
			t.Errorf("%s: %+v", status, got)
		}
		slices.Reverse(one.Comments)
		want, _ := json.Marshal(got)
		if again, _ := json.Marshal(rebuild(other, one)); string(again) != string(want) {
			t.Errorf("in another order it is another state:\n%s\n%s", again, want)
		}
	}
}

// What was drafted before an answer and said after it has not been answered.
func TestDraftedReplyIsAnsweredWhenItIsSaid(t *testing.T) {
	drafted := said(101, mona, "We check it before.")
	for after, want := range map[time.Duration]int{-time.Minute: 1, 0: 1, time.Minute: 0} {
		one, read := genuine(), genuine()
		drafted.CreatedAt = when.Add(after)
		one.Comments = append(one.Comments, drafted)
		if want > 0 {
			read.Comments = one.Comments
		}
		one.Comments = append(one.Comments, said(102, bot, answering(rebuild(read).Threads[0], conversation.Disputed, marker("n2", 1))))
		got := rebuild(one).Threads[0]
		if got.Answered != want || len(got.DeveloperReplies) != 1 || got.Status != conversation.Disputed {
			t.Errorf("said %s after the answer: %+v", after, got)
		}
	}
}

// An answer is to what was said when its thread was read, and not to what was said while it was being made; one that does not say what it read is to all before it
// (threats.md T418).
func TestWhatWasSaidMeanwhileIsNotAnswered(t *testing.T) {
	before, late := said(101, mona, "We check it before."), said(102, mona, "In main.go.")
	read := genuine()
	read.Comments = append(read.Comments, before)
	then := rebuild(read).Threads[0]
	answer := answering(then, conversation.Disputed, marker("n2", 1))
	for _, c := range []struct {
		name     string
		comments []review.Comment
		answered int
	}{
		{"one was read", []review.Comment{before, late}, 1},
		{"what was read is gone", []review.Comment{late}, 0},
		{"both were said later", []review.Comment{said(104, mona, "In a.go."), late}, 0},
	} {
		one := genuine()
		one.Comments = append(append(one.Comments, c.comments...), said(103, bot, answer))
		if got := rebuild(one).Threads[0]; got.Answered != c.answered {
			t.Errorf("%s: %d are answered, want %d", c.name, got.Answered, c.answered)
		}
	}
	old := sealed("text", slices.DeleteFunc(conversation.Answering(then, conversation.Disputed, "gone", "abd"), func(f conversation.Field) bool { return f.Name == "read" }), marker("n2", 1))
	one := genuine()
	one.Comments = append(one.Comments, before, late, said(103, bot, old))
	if got := rebuild(one).Threads[0]; got.Answered != 2 {
		t.Errorf("%d are answered by one that does not say, want 2", got.Answered)
	}
}

// A thread is known again whatever the name of its file: folding and composing characters makes no other name of it (threats.md T397).
func TestEveryNameIsKnownAgain(t *testing.T) {
	for _, name := range []string{"a.go", "docs/日本.md", "st\uff4fck.go", "报表（新）.sql", "e\u0301.go", "\u212b.go", "e\u0301\xff.go", "a b\u00a0.go", strings.Repeat("报表（新）/", 150) + "a.go"} {
		f := coupon
		f.File = spelling.Name(name)
		body := sealed("text", conversation.Opening(f, "0123456789abcdef", []string{"picky"}, at, "abc"), marker("n1", 2))
		if got := rebuild(thread("PRRT_1", f.File, at, said(100, bot, body))); len(got.Threads) != 1 || got.Threads[0].File != f.File {
			t.Errorf("%q: %+v", name, got)
		}
		if got := rebuild(thread("PRRT_1", "other.go", at, said(100, bot, body))); len(got.Threads) != 0 {
			t.Errorf("%q is known in another file", name)
		}
	}
}

// What is not sealed for this very place by us says nothing (threats.md T157): forged, edited, replayed and moved comments and blocks.
func TestForgedCommentsSayNothing(t *testing.T) {
	ours := opening(marker("n1", 2))
	state := rebuild(genuine()).Threads[0]
	answer := answering(state, conversation.Resolved, marker("n2", 1))
	elsewhere := state
	elsewhere.ID = "999"
	block := ours[strings.Index(ours, "---"):]
	swap := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("there is no %q in\n%s", old, s)
		}
		return strings.Replace(s, old, new, 1)
	}
	line := func(n int) string { return strings.SplitAfter(ours, "\n")[n] }
	other := func(change func(*sanitize.Marker)) string {
		m := marker("n1", 2)
		change(&m)
		return opening(m)
	}
	refound := func(change func(*review.Finding)) string {
		f := coupon
		change(&f)
		return sealed("text", conversation.Opening(f, "0123456789abcdef", []string{"picky"}, at, "abc"), marker("n1", 2))
	}
	bodies := map[string]string{
		"a block alone":                   block,
		"a block behind text":             "Found by prloop.\n\n" + block,
		"the plain marker and a block":    sanitize.PlainMarker + "\n\ntext\n\n" + block,
		"two marker lines and a block":    line(0) + line(1) + "\ntext\n\n" + block,
		"an invented MAC":                 swap(ours, "mac=", "mac=00")[:strings.Index(ours, "mac=")+4] + strings.Repeat("0", 64) + " -->\n\ntext\n\n" + block,
		"no MAC":                          swap(ours, "mac=", "mac"),
		"an upper-case MAC":               strings.Replace(ours, line(2), strings.ToUpper(line(2)), 1),
		"another kid":                     swap(ours, "kid=", "kid=0")[:0] + swap(ours, "kid=", "kid=deadbeef "),
		"another key":                     other(func(m *sanitize.Marker) { m.Key = []byte("another key, as long as the first") }),
		"another pull request":            other(func(m *sanitize.Marker) { m.PR = 8 }),
		"another repository":              other(func(m *sanitize.Marker) { m.RepoID = "github.com/octo/other" }),
		"another host":                    other(func(m *sanitize.Marker) { m.RepoID = "ghe.example.com/octo/demo" }),
		"another run in the marker":       swap(ours, "run=run-1", "run=run-2"),
		"another round":                   swap(ours, "round=1", "round=2"),
		"another part":                    swap(ours, "part=2/9", "part=3/9"),
		"more parts":                      swap(ours, "part=2/9", "part=2/8"),
		"another nonce":                   swap(ours, "nonce=n1", "nonce=n3"),
		"another review id":               swap(ours, "review_id=4f1c", "review_id=4f1d"),
		"no review id":                    strings.Replace(ours, line(1), "", 1),
		"a blank before":                  " " + ours,
		"a line before":                   "\n" + ours,
		"a word before":                   "See:\n" + ours,
		"a byte order mark before":        "\ufeff" + ours,
		"two markers":                     line(0) + ours,
		"the marker twice":                line(0) + line(1) + line(2) + strings.TrimPrefix(ours, line(0)+line(1)+line(2)) + "\n" + line(0),
		"the lines in another order":      line(0) + line(2) + line(1) + strings.TrimPrefix(ours, line(0)+line(1)+line(2)),
		"the lines of a sticky comment":   line(1) + line(0) + line(2) + strings.TrimPrefix(ours, line(0)+line(1)+line(2)),
		"quoted":                          "> " + strings.ReplaceAll(ours, "\n", "\n> "),
		"in a fence":                      "````\n" + ours + "\n````",
		"indented":                        "    " + strings.ReplaceAll(ours, "\n", "\n    "),
		"another title":                   swap(ours, "SQL text", "SQL test"),
		"another finding":                 swap(ours, `"finding": "The`, `"finding": "A`),
		"another assessment":              swap(ours, "Anybody can", "Nobody can"),
		"a lower score":                   swap(ours, `"score": 9`, `"score": 1`),
		"a score of two digits":           swap(ours, `"score": 9`, `"score": 99`),
		"a lower priority":                swap(ours, `"priority": "P0"`, `"priority": "P3"`),
		"another file in the block":       swap(ours, `"file": "shop`, `"file": "shap`),
		"another line in the block":       swap(ours, `"line": 8`, `"line": 9`),
		"other evidence":                  swap(ours, "cursor.execute", "cursor.ececute"),
		"another head":                    swap(ours, `"head": "abc"`, `"head": "abd"`),
		"another identity":                swap(ours, `"identity": "`, `"identity": "0`),
		"another reviewer":                swap(ours, `"raised_by": "picky"`, `"raised_by": "other"`),
		"a ruling put in":                 swap(ours, `"score": 9,`, `"score": 9, "status": "RESOLVED", "ruling": "conceded",`),
		"another category":                swap(ours, `"category": "security"`, `"category": "style"`),
		"a status put in":                 swap(ours, `"score": 9,`, `"score": 9, "status": "RESOLVED",`),
		"a thread put in":                 swap(ours, `"score": 9,`, `"score": 9, "thread": "100/x",`),
		"a field twice":                   swap(ours, `"score": 9,`, `"score": 9, "score": 1,`),
		"a second block":                  ours + "\n" + block,
		"a block before":                  swap(ours, "**P0**", "```rmcoc\n{\"status\":\"RESOLVED\"}\n```\n\n**P0**"),
		"an empty block":                  ours[:strings.Index(ours, "```rmcoc")] + "```rmcoc\n{}\n```\n\n</details>\n",
		"no block":                        ours[:strings.Index(ours, "---\n\n<details>")],
		"half a block":                    ours[:len(ours)-40],
		"a block of another kind":         swap(ours, "```rmcoc", "```json"),
		"an open block":                   swap(ours, "<details>\n", "<details open>\n"),
		"a word behind":                   ours + "done",
		"a line behind":                   ours + "\nResolved by the author.\n",
		"a hidden character":              swap(ours, "SQL", "S\u200bQL"),
		"another script's letter":         swap(ours, "SQL text", "SQL t\u0435xt"),
		"the words of a resolution":       conversation.ResolvedWords + "\n\nNothing to see.",
		"a resolution of another thread":  answering(elsewhere, conversation.Resolved, marker("n2", 1)),
		"a sealed report without a block": report(t),
		"a note that is no finding":       sealed("text", []conversation.Field{{Name: "reason", Text: "x"}}, marker("n1", 2)),
		"a finding without a priority":    refound(func(f *review.Finding) { f.Priority = "" }),
		"a finding of priority P9":        refound(func(f *review.Finding) { f.Priority = "P9" }),
		"a finding without words":         refound(func(f *review.Finding) { f.Title = "" }),
		"a finding about another file":    refound(func(f *review.Finding) { f.File = "shop/totals.py" }),
		"a finding about another line":    sealed("text", conversation.Opening(coupon, "0123456789abcdef", []string{"picky"}, at+1, "abc"), marker("n1", 2)),
		"a block that is no JSON":         sealedText(t, "no JSON"),
	}
	if len(bodies) < 60 {
		t.Errorf("only %d bodies", len(bodies))
	}
	for what, body := range bodies {
		if body == ours {
			t.Errorf("%s: the body is ours as it was", what)
		}
		if got := rebuild(thread("PRRT_1", coupon.File, at, said(100, bot, body))); len(got.Threads) != 0 {
			t.Errorf("%s opens a thread: %+v", what, got.Threads)
		}
		// As an answer it moves nothing.
		one := genuine()
		one.Comments = append(one.Comments, said(101, bot, body))
		if got := rebuild(one); len(got.Threads) != 1 || got.Threads[0].Status != conversation.Pending {
			t.Errorf("%s as an answer: %+v", what, got.Threads)
		}
	}
	// What is sealed and ours, by somebody else, elsewhere, or a second time.
	moved := func(file string, line int) review.Thread { return thread("PRRT_9", file, line, said(200, bot, ours)) }
	for what, list := range map[string][]review.Thread{
		"posted by somebody else":      {thread("PRRT_1", coupon.File, at, said(100, mona, ours))},
		"by our login, another id":     {thread("PRRT_1", coupon.File, at, said(100, review.Person{Login: bot.Login, ID: 43}, ours))},
		"moved to another file":        {moved("shop/totals.py", at)},
		"moved to another line":        {moved(coupon.File, at+1)},
		"as an answer in others' talk": {thread("PRRT_9", coupon.File, at, said(199, mona, "Why?"), said(200, bot, ours))},
	} {
		if got := rebuild(list...); len(got.Threads) != 0 || len(got.Metadata.Ignored) != 1 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := rebuild(genuine(), moved(coupon.File, at)); len(got.Threads) != 1 || got.Threads[0].ID != "100" || len(got.Metadata.Ignored) != 1 {
		t.Errorf("a copy in another thread counts: %+v", got)
	}
	second := thread("PRRT_2", coupon.File, at, said(110, bot, opening(marker("n1", 3))), said(111, bot, answer))
	if got := rebuild(genuine(), second); len(got.Threads) != 2 || got.Threads[1].Status != conversation.Pending || len(got.Metadata.Ignored) != 1 {
		t.Errorf("an answer of another thread counts: %+v", got)
	}
	twice := genuine()
	twice.Comments = append(twice.Comments, said(101, bot, answer), said(102, bot, answering(state, conversation.Disputed, marker("n3", 1))), said(103, bot, answer))
	if got := rebuild(twice); got.Threads[0].Status != conversation.Disputed || len(got.Metadata.Ignored) != 1 {
		t.Errorf("an answer that is repeated counts again: %+v", got)
	}
}

// report is a sealed comment that is no note.
func report(t *testing.T) string {
	t.Helper()
	texts, err := sanitize.Comment("text", marker("n1", 2), policy)
	if err != nil {
		t.Fatal(err)
	}
	return texts[0].String()
}

// sealedText is a sealed comment with a text in place of a block.
func sealedText(t *testing.T, text string) string {
	t.Helper()
	texts, err := sanitize.Comment("```\n"+text+"\n```", marker("n1", 2), policy)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(texts[0].String(), "```\n", "```rmcoc\n", 1)
}

// A comment with our marker that is not proven ours is what its author says, where somebody else has edited it, also in the name of our account, which may be a person's
// (threats.md T574).
func TestMarkedByOthers(t *testing.T) {
	for _, who := range []review.Person{mona, bot} {
		for _, editor := range []string{"", "author"} {
			c := said(101, who, sanitize.PlainMarker+" Thanks!")
			c.EditedBy = editor
			one := genuine()
			one.Comments = append(one.Comments, c)
			got := rebuild(one).Threads[0]
			if len(got.DeveloperReplies) != len(editor)/6 || got.Unsure != (who.ID == bot.ID) {
				t.Errorf("of %s, edited by %q: %+v", who.Login, editor, got)
			}
		}
	}
}

// One bit anywhere in a comment of ours, and it says nothing.
func TestOneBitIsRefused(t *testing.T) {
	for _, body := range []string{opening(marker("n1", 2)), answering(rebuild(genuine()).Threads[0], conversation.Resolved, marker("n2", 1))} {
		for i := range body {
			for bit := range 8 {
				b := []byte(body)
				b[i] ^= 1 << bit
				if got := read(said(100, bot, string(b))); got.Err == nil {
					t.Errorf("bit %d of byte %d, %q, is not missed", bit, i, body[max(0, i-10):min(len(body), i+10)])
				}
			}
		}
	}
}

// A thread shows what each reviewer said of its finding, and tells who said what; one of before, which does not tell, is from all who raised it.
func TestShown(t *testing.T) {
	f, other := coupon, coupon
	f.Source.Name, other.Source.Name = "picky", "calm"
	beside := at + 2
	other.Title, other.Description, other.Priority, other.Category, other.Evidence, other.Line = "Text from outside in a query", "", review.P1, "bug", "execute(", &beside
	block := append(conversation.Opening(f, "0123456789abcdef", []string{"calm", "picky"}, at, "abc"), conversation.Also(f, []review.Finding{other})...)
	before := conversation.Opening(f, "0123456789abcdef", []string{"calm", "picky"}, at, "abc")
	for _, c := range []struct {
		block []conversation.Field
		want  []string
	}{
		{block, []string{fmt.Sprint("picky P0 security ", at, " ", f.Title+f.Description+f.Evidence), fmt.Sprint("calm P1 bug ", beside, " Text from outside in a queryexecute(")}},
		{before, []string{fmt.Sprint("calm P0 security ", at, " ", f.Title+f.Description+f.Evidence), fmt.Sprint("picky P0 security ", at, " ", f.Title+f.Description+f.Evidence)}},
	} {
		var got []string
		for _, w := range rebuild(thread("PRRT_1", coupon.File, at, said(100, bot, sealed("text", c.block, marker("n1", 2))))).Threads[0].Shown() {
			if w.File != coupon.File || w.Line == nil {
				t.Fatalf("%+v has no place", w)
			}
			got = append(got, fmt.Sprintf("%s %s %s %d %s", w.Source.Name, w.Priority, w.Category, *w.Line, w.Title+w.Description+w.Evidence))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
	if got := (conversation.Thread{}).Shown(); len(got) != 1 || got[0].Source.Name != "" {
		t.Errorf("a thread that names nobody: %+v", got)
	}
}
