package effects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// rows are the kinds that pass the suite, by name. The last two are dummies: the proof that a new kind is a type like theirs and
// a row.
var rows = map[string]row{
	"comment": {
		kind: func(g *github) effects.Kind {
			return effects.Comment{Poster: comments{g}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
		},
		payload: func(run, nonce string) string { return comment("a report", run, nonce) },
	},
	"minimize": {
		kind:    func(g *github) effects.Kind { return effects.Minimize{Minimizer: comments{g}} },
		payload: func(string, string) string { return "IC_kwDO" },
	},
	"review": {
		kind: func(g *github) effects.Kind {
			return effects.Review{Reviewer: comments{g}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
		},
		payload: func(run, nonce string) string {
			p, err := effects.ReviewPayload(note("two findings", run, nonce), []effects.LineComment{{Path: "a.go", Start: 1, Line: 2, Body: note("one", run, nonce)}})
			if err != nil {
				panic(err)
			}
			return p
		},
	},
	"reply": {
		kind: func(g *github) effects.Kind {
			return effects.Reply{Replier: comments{g}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
		},
		payload: func(run, nonce string) string {
			p, err := effects.ReplyPayload(17, note("resolved", run, nonce))
			if err != nil {
				panic(err)
			}
			return p
		},
	},
	"resolve": {
		kind:    func(g *github) effects.Kind { return effects.Resolve{Resolver: comments{g}} },
		payload: func(string, string) string { return "PRRT_kwDO" },
	},
	"unresolve": {
		kind:    func(g *github) effects.Kind { return effects.Unresolve{Resolver: comments{g}} },
		payload: func(string, string) string { return "PRRT_kwDO" },
	},
	"ask": {
		kind:    func(g *github) effects.Kind { return effects.Ask{Requester: comments{g}} },
		payload: func(string, string) string { return effects.AskPayload([]string{"mona", "octo/core"}) },
	},
	"branch": {
		kind: func(g *github) effects.Kind { return effects.Branch{Pusher: branches{g}} },
		payload: func(run, _ string) string {
			return effects.BranchPush{Ref: "refs/heads/prloop/nightly/docs", Old: strings.Repeat("0", 40), New: run}.Payload()
		},
	},
	"pull-request": {
		kind: func(g *github) effects.Kind {
			return effects.OpenPull{Pulls: pulls{g}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
		},
		payload: func(run, nonce string) string {
			return effects.PullWords{Head: "prloop/nightly/docs", Base: "main", Title: "Update the docs", Body: described("Words.", run, nonce)}.Payload()
		},
	},
	"pull-request-words": {
		kind: func(g *github) effects.Kind {
			return effects.EditPull{Pulls: pulls{g}, Policy: sanitize.Policy{Repo: repo}}
		},
		payload: func(run, nonce string) string {
			return effects.PullWords{Title: "Update the docs", Body: described("Words.", run, nonce)}.Payload()
		},
	},
	"status": {
		kind: func(g *github) effects.Kind { return effects.Status{Statuses: comments{g}} },
		payload: func(string, string) string {
			return effects.CommitStatus{State: review.GatePending, Description: "Reviewing", Target: "https://github.com/octo/demo/pull/7"}.Payload()
		},
	},
	"edit-comment": {
		kind: func(g *github) effects.Kind {
			return effects.Edit{Editor: comments{g}, Policy: sanitize.Policy{Repo: repo}}
		},
		payload: func(run, nonce string) string {
			p, err := effects.EditPayload("https://github.com/octo/demo/pull/7#issuecomment-17", text("escalating", run, nonce))
			if err != nil {
				panic(err)
			}
			return p
		},
	},
	"rewrite-comment": {
		kind: func(g *github) effects.Kind {
			return effects.Rewrite{Editor: comments{g}, Poster: comments{g}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
		},
		payload: func(run, nonce string) string {
			p, err := effects.EditPayload("https://github.com/octo/demo/pull/7#issuecomment-17", text("another report", run, nonce))
			if err != nil {
				panic(err)
			}
			return p
		},
	},
	"reaction": {
		kind:    func(g *github) effects.Kind { return effects.Reaction{Reactor: comments{g}} },
		payload: func(string, string) string { return effects.ReactionPayload(17, effects.Seen) },
	},
	"dummy": {
		kind:    func(g *github) effects.Kind { return dummy{g} },
		payload: func(string, string) string { return "hello" },
	},
	"repeatable dummy": {
		kind:    func(g *github) effects.Kind { return again{g} },
		payload: func(string, string) string { return "hello" },
	},
}

var key = bytes.Repeat([]byte{7}, 32)

// comment is a sealed text, the one part of a report.
func comment(body, run, nonce string) string { return text(body, run, nonce).String() }

func text(body, run, nonce string) sanitize.Text {
	report, _, _ := strings.Cut(nonce, "-")
	m := sanitize.Marker{ReviewID: "4f1c", Run: run, Round: 1, RepoID: repo.String(), PR: 7, Nonce: report, Key: key}
	texts, err := sanitize.Comment(body, m, sanitize.Policy{Repo: repo})
	if err != nil || len(texts) != 1 {
		panic(fmt.Sprint(len(texts), " texts, ", err))
	}
	return texts[0]
}

// note is a sealed text of a thread.
func note(body, run, nonce string) sanitize.Text {
	m := sanitize.Marker{ReviewID: "4f1c", Run: run, Round: 1, Part: 1, Parts: 2, RepoID: repo.String(), PR: 7, Nonce: nonce, Key: key}
	text, err := sanitize.Note(body, []sanitize.Value{{Name: "finding", Text: body}, {Name: "score", Number: 7}}, m, sanitize.Policy{Repo: repo})
	if err != nil {
		panic(err)
	}
	return text
}

type comments struct{ *github }

func (c comments) Review(ctx context.Context, _ review.PullRequest, commit string, body sanitize.Text, lines []effects.LineComment) (string, error) {
	if commit != "abc" || len(lines) != 1 || lines[0].Path != "a.go" || lines[0].Start != 1 || lines[0].Line != 2 || lines[0].Body.String() == "" {
		return "", fmt.Errorf("%s is not what was stored: %+v", commit, lines)
	}
	return c.take(ctx, body.String())
}

func (c comments) Reviews(ctx context.Context, pr review.PullRequest) ([]review.Comment, error) {
	return c.CommentsSince(ctx, pr, time.Unix(1, 0))
}

func (c comments) Reply(ctx context.Context, _ review.PullRequest, first int64, body sanitize.Text) (string, error) {
	if first != 17 {
		return "", fmt.Errorf("%d is not what was stored", first)
	}
	return c.take(ctx, body.String())
}

func (c comments) ThreadCommentsSince(ctx context.Context, pr review.PullRequest, since time.Time) ([]review.Comment, error) {
	return c.CommentsSince(ctx, pr, since)
}

func (c comments) Resolve(ctx context.Context, _ review.PullRequest, thread string) (string, error) {
	return c.take(ctx, thread)
}

func (c comments) Unresolve(ctx context.Context, _ review.PullRequest, thread string) (string, error) {
	return c.take(ctx, thread)
}

func (c comments) Post(ctx context.Context, _ review.PullRequest, body sanitize.Text) (string, error) {
	return c.take(ctx, body.String())
}

func (c comments) Minimize(ctx context.Context, _ review.PullRequest, comment string) (string, error) {
	return c.take(ctx, comment)
}

func (c comments) RequestReview(ctx context.Context, _ review.PullRequest, users, teams []string) (string, error) {
	return c.take(ctx, strings.Join(append(users, teams...), " "))
}

func (c comments) EditComment(ctx context.Context, _ review.PullRequest, comment int64, body sanitize.Text) (string, error) {
	if comment != 17 {
		return "", fmt.Errorf("%d is not what was stored", comment)
	}
	return c.take(ctx, body.String())
}

func (c comments) React(ctx context.Context, _ review.PullRequest, comment int64, content string) (string, error) {
	return c.take(ctx, effects.ReactionPayload(comment, content))
}

func (c comments) CommentsSince(_ context.Context, _ review.PullRequest, since time.Time) (out []review.Comment, err error) {
	if since.IsZero() {
		return nil, errors.New("asked for more comments than can be ours")
	}
	for _, x := range c.list() {
		out = append(out, review.Comment{ID: fmt.Sprint(x.id), URL: x.ref(), Author: x.by, Body: x.text})
	}
	return out, nil
}

// described is the body of a pull request that is not there yet.
func described(body, run, nonce string) string {
	m := sanitize.Marker{ReviewID: "4f1c", Run: run, RepoID: repo.String(), Nonce: nonce, Key: key}
	texts, err := sanitize.Comment(body, m, sanitize.Policy{Repo: repo})
	if err != nil || len(texts) != 1 {
		panic(fmt.Sprint(len(texts), " texts, ", err))
	}
	return texts[0].String()
}

type branches struct{ *github }

func (b branches) PushBranch(ctx context.Context, _ review.Repo, p effects.BranchPush) (string, error) {
	return b.take(ctx, p.New)
}

// FindPushed reads until it settles: where a branch is, git asks once and hears for certain.
func (b branches) FindPushed(ctx context.Context, _ review.Repo, p effects.BranchPush) (string, error) {
	return effects.Settled(ctx, b.sleep, func() (ids []string, ref string, err error) {
		for _, x := range b.list() {
			ids = append(ids, fmt.Sprint(x.id))
			if x.text == p.New && x.by != stranger { // a stranger has no commit of ours
				return ids, x.ref(), nil
			}
		}
		return ids, "", nil
	})
}

type pulls struct{ *github }

func (p pulls) OpenPull(ctx context.Context, _ review.Repo, _, _, _ string, body sanitize.Text) (string, error) {
	return p.take(ctx, body.String())
}

func (p pulls) EditPull(ctx context.Context, _ review.PullRequest, _ string, body sanitize.Text) (string, error) {
	return p.take(ctx, body.String())
}

func (p pulls) PullsOfBranch(context.Context, review.Repo, string) (out []review.PullRequest, err error) {
	for _, x := range p.list() {
		out = append(out, review.PullRequest{Number: x.id, URL: x.ref(), Author: x.by, Body: x.text})
	}
	return out, nil
}

func (c comments) SetStatus(ctx context.Context, _ review.Repo, _ string, s effects.CommitStatus) (string, error) {
	return c.take(ctx, s.Payload())
}

// dummy is found again by its nonce and account.
type dummy struct{ *github }

func (dummy) Name() string     { return "dummy" }
func (dummy) Repeatable() bool { return false }
func (d dummy) Send(ctx context.Context, e effects.Effect) (string, error) {
	return d.take(ctx, e.Nonce)
}
func (d dummy) Find(ctx context.Context, e effects.Effect) (string, error) {
	return effects.Settled(ctx, d.sleep, func() (ids []string, ref string, err error) {
		for _, x := range d.list() {
			ids = append(ids, fmt.Sprint(x.id))
			if x.text == e.Nonce && x.by.ID == e.As.ID {
				return ids, x.ref(), nil
			}
		}
		return ids, "", nil
	})
}

// again is the same however often it is sent.
type again struct{ *github }

func (again) Name() string     { return "repeatable dummy" }
func (again) Repeatable() bool { return true }
func (again) Find(context.Context, effects.Effect) (string, error) {
	panic("what may be repeated is not looked for")
}
func (a again) Send(ctx context.Context, e effects.Effect) (string, error) {
	return a.take(ctx, e.Payload)
}

// What is stored is data: a comment is checked once more before it is sent, and one that is not safe any more is not sent.
func TestCommentIsCheckedAgain(t *testing.T) {
	secret := "correct-horse-battery-staple-93"
	e := rows["comment"].effect(1)
	e.Payload = comment("the word is "+secret, e.Run, e.Nonce)
	g := &github{viewer: bot}
	k := effects.Comment{Poster: comments{g}, Key: key, Policy: sanitize.Policy{Repo: repo, Known: []string{secret}}, Sleep: g.sleep}
	_, err := k.Send(t.Context(), e)
	var r interface{ Refused() bool }
	if !errors.Is(err, sanitize.ErrKnownSecret) || !errors.As(err, &r) || !r.Refused() || g.calls != 0 {
		t.Errorf("%v after %d calls, want a known secret and no call", err, g.calls)
	}
}

// Nor is anything minimised or resolved that cannot be an id, and nothing sent that is no payload of its kind.
func TestStoredPayloadsAreChecked(t *testing.T) {
	sealed := note("text", "run-1", "n").String()
	list := map[string][]string{
		"minimize":  {"", "IC_1 IC_2", "IC_1\n", "IC_\u202e1"},
		"resolve":   {"", "PRRT_1 PRRT_2", "PRRT_1\n"},
		"unresolve": {"", "PRRT_\u202e1"},
		"reply":     {"", "text", `{}`, `{"first":17,"body":"@octocat"}`, `{"first":0,"body":` + strconv.Quote(sealed) + `}`},
		"review": {"", "text", `{}`, `{"body":"@octocat","comments":[]}`,
			`{"body":` + strconv.Quote(sealed) + `,"comments":[{"path":"a.go","start":1,"line":2,"body":"/merge"}]}`},
	}
	for kind, payloads := range list {
		for _, payload := range payloads {
			e, g := rows[kind].effect(1), &github{viewer: bot}
			e.Payload = payload
			_, err := rows[kind].kind(g).Send(t.Context(), e)
			var r interface{ Refused() bool }
			if !errors.As(err, &r) || !r.Refused() || g.calls != 0 {
				t.Errorf("%s %q: %v after %d calls", kind, payload, err, g.calls)
			}
		}
	}
}

// A name that is not UTF-8 would be stored as another one.
func TestReviewPayloadRefusesOtherNames(t *testing.T) {
	if p, err := effects.ReviewPayload(note("text", "run-1", "n"), []effects.LineComment{{Path: "a\xff.go", Line: 1}}); err == nil {
		t.Errorf("stored as %s", p)
	}
}

// Nor is a branch pushed, or a pull request opened or changed, from what nobody may have stored.
func TestStoredPushesAndWordsAreChecked(t *testing.T) {
	secret := "correct-horse-battery-staple-93"
	good := described("Words.", "run-1", "n")
	for what, c := range map[string]struct{ row, payload string }{
		"a tag":            {"branch", effects.BranchPush{Ref: "refs/tags/v1", New: "abc"}.Payload()},
		"nothing":          {"branch", effects.BranchPush{Ref: "refs/heads/x"}.Payload()},
		"no JSON":          {"branch", "refs/heads/x"},
		"onto itself":      {"pull-request", effects.PullWords{Head: "main", Base: "main", Title: "T", Body: good}.Payload()},
		"no base":          {"pull-request", effects.PullWords{Head: "x", Title: "T", Body: good}.Payload()},
		"a raw body":       {"pull-request", effects.PullWords{Head: "x", Base: "main", Title: "T", Body: "@mona"}.Payload()},
		"no title":         {"pull-request-words", effects.PullWords{Title: " ", Body: good}.Payload()},
		"a title of lines": {"pull-request-words", effects.PullWords{Title: "a\nb", Body: good}.Payload()},
		"a long title":     {"pull-request-words", effects.PullWords{Title: strings.Repeat("a", 257), Body: good}.Payload()},
		"a secret":         {"pull-request-words", effects.PullWords{Title: secret, Body: good}.Payload()},
	} {
		g := &github{viewer: bot}
		k := rows[c.row].kind(g)
		if what == "a secret" {
			k = effects.EditPull{Pulls: pulls{g}, Policy: sanitize.Policy{Repo: repo, Known: []string{secret}}}
		}
		e := rows[c.row].effect(1)
		e.Payload = c.payload
		_, err := k.Send(t.Context(), e)
		var r interface{ Refused() bool }
		if !errors.As(err, &r) || !r.Refused() || g.calls != 0 {
			t.Errorf("%s: %v after %d calls", what, err, g.calls)
		}
	}
}

// Nor is a status set that says more than one line of 140 characters, leads elsewhere than to a page, or holds a secret.
func TestStatusIsCheckedAgain(t *testing.T) {
	good := effects.CommitStatus{State: review.GateSuccess, Description: "Approved", Target: "https://github.com/octo/demo/pull/7"}
	for name, change := range map[string]func(*effects.CommitStatus){
		"no state":       func(s *effects.CommitStatus) { s.State = "green" },
		"no words":       func(s *effects.CommitStatus) { s.Description = "" },
		"hidden words":   func(s *effects.CommitStatus) { s.Description = "Appr\u202eoved" },
		"another scheme": func(s *effects.CommitStatus) { s.Target = "javascript:alert(1)" },
		"two addresses":  func(s *effects.CommitStatus) { s.Target += " x" },
		"a secret":       func(s *effects.CommitStatus) { s.Target += "#correct-horse-battery-staple-93" },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			change(&bad)
			e, g := rows["status"].effect(1), &github{viewer: bot}
			e.Payload = bad.Payload()
			k := effects.Status{Statuses: comments{g}, Policy: sanitize.Policy{Known: []string{"correct-horse-battery-staple-93"}}}
			_, err := k.Send(t.Context(), e)
			var r interface{ Refused() bool }
			if !errors.As(err, &r) || !r.Refused() || g.calls != 0 {
				t.Errorf("%v after %d calls", err, g.calls)
			}
		})
	}
	long := good
	long.Description = strings.Repeat("ünïcode ", 40)
	if s, err := effects.ReadStatus(long.Payload()); err != nil || len([]rune(s.Description)) != effects.StatusLimit {
		t.Errorf("a long description: %+v, %v", s, err)
	}
}

// Nor does anything react to what cannot be a comment.
func TestReactionChecksThePayload(t *testing.T) {
	for _, payload := range []string{"", "17", "eyes", "17 eyes 18", "-17 eyes", "17 ../eyes", "9999999999999999999 eyes", "17\neyes"} {
		e, g := rows["reaction"].effect(1), &github{viewer: bot}
		e.Payload = payload
		_, err := rows["reaction"].kind(g).Send(t.Context(), e)
		var r interface{ Refused() bool }
		if !errors.As(err, &r) || !r.Refused() || g.calls != 0 {
			t.Errorf("%q: %v after %d calls", payload, err, g.calls)
		}
	}
}

// A comment is ours by nonce, part, MAC and account; each alone is not enough (threats.md T34, "Marker").
func TestCommentIsFoundByAllOfItsProof(t *testing.T) {
	e := rows["comment"].effect(1)
	e.As = bot
	other := e.Nonce[:len(e.Nonce)-1] + "2"
	for what, c := range map[string]struct {
		by    review.Person
		body  string
		nonce string
		want  bool
	}{
		"ours":                    {bot, e.Payload, e.Nonce, true},
		"ours, renamed":           {review.Person{Login: "new", ID: bot.ID}, e.Payload, e.Nonce, true},
		"ours, by login alone":    {review.Person{Login: bot.Login}, e.Payload, e.Nonce, true},
		"another account":         {mona, e.Payload, e.Nonce, false},
		"our login, another id":   {review.Person{Login: bot.Login, ID: 99}, e.Payload, e.Nonce, false},
		"edited":                  {bot, e.Payload + "!", e.Nonce, false},
		"another part":            {bot, e.Payload, other, false},
		"another report's nonce":  {bot, e.Payload, "ff" + e.Nonce[2:], false},
		"quoted in another text":  {bot, "> " + e.Payload, e.Nonce, false},
		"nothing of a marker":     {bot, "a report", e.Nonce, false},
		"made for another number": {bot, e.Payload, e.Nonce, false},
	} {
		t.Run(what, func(t *testing.T) {
			g := &github{viewer: c.by}
			g.add(c.by, c.body)
			e := e
			if e.Nonce = c.nonce; what == "made for another number" {
				e.Target.PR = 8
			}
			ref, err := rows["comment"].kind(g).Find(t.Context(), e)
			if err != nil || (ref != "") != c.want {
				t.Errorf("found %q, %v; want found %v", ref, err, c.want)
			}
		})
	}
}
