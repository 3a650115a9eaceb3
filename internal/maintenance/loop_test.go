package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// server is git, GitHub, the outbox and what is recorded, in one: branches by name, pull requests by the branch they are from.
type server struct {
	heads map[string]string
	// theirs are branches that somebody else pushed to, moves how often a push finds the branch moved, refuses why none gets through.
	theirs  []string
	moves   int
	refuses string
	// meanwhile is what a person does while a command is at work, onPush as soon as it is pushed, onIntent before something is sent.
	meanwhile, onPush func()
	onIntent          func(effects.Effect)
	pulls             map[string]review.PullRequest
	bodies            []string
	stored            map[string]effects.Effect
	saved             map[string]string
	ended             review.RunResult
}

const (
	oldHead = "1111111111111111111111111111111111111111"
	newHead = "2222222222222222222222222222222222222222"
	own     = "prloop/nightly/docs+style"
	// plain is its other name.
	plain = "prloop/job-c7a2a44d7aa8"
)

func (s *server) Fetch(_ context.Context, o git.FetchOptions) (map[string]string, error) {
	out := map[string]string{}
	for _, ref := range o.Refs {
		out[ref] = s.heads[strings.TrimPrefix(ref, "refs/heads/")]
	}
	return out, nil
}

func (s *server) RemotePlace(_ context.Context, _ git.Server, ref string) (head, inWay string, err error) {
	name := strings.TrimPrefix(ref, "refs/heads/")
	if head := s.heads[name]; head != "" {
		return head, "", nil
	}
	for _, other := range slices.Sorted(maps.Keys(s.heads)) {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return "", "refs/heads/" + other, nil
		}
	}
	return "", "", nil
}

func (s *server) FirstParents(_ context.Context, _, tip string) ([]git.Authored, error) {
	c := git.Authored{Author: author, Committer: author, Message: "Night\n\nprloop-job: nightly\n"}
	for _, name := range s.theirs {
		if s.heads[name] == tip {
			c.Author = "Mona <mona@example.com>"
		}
	}
	return []git.Authored{c}, nil
}

func (s *server) Merged(_ context.Context, ours, _, _ string, _ git.Signature) (string, error) {
	return ours, nil
}
func (s *server) Patch(context.Context, string, string, int) (string, error) { return "", nil }
func (s *server) ForgetFixes(context.Context, func(string) bool) error       { return nil }
func (s *server) Viewer(context.Context, string) (review.Person, error) {
	return review.Person{Login: "bot", ID: 1}, nil
}
func (s *server) Save(_ context.Context, _, name string, data []byte) error {
	s.saved[name] = string(data)
	return nil
}
func (s *server) Finish(_ context.Context, result review.RunResult) error {
	s.ended = result
	return nil
}
func (s *server) FindPushed(context.Context, review.Repo, effects.BranchPush) (string, error) {
	return "", nil
}

func (s *server) PullRequest(_ context.Context, _ review.Repo, number int) (review.PullRequest, error) {
	for _, p := range s.pulls {
		if p.Number == number {
			return p, nil
		}
	}
	return review.PullRequest{}, fmt.Errorf("there is no pull request %d", number)
}

func (s *server) PullsOfBranch(_ context.Context, _ review.Repo, branch string) ([]review.PullRequest, error) {
	if p, ok := s.pulls[branch]; ok {
		return []review.PullRequest{p}, nil
	}
	return nil, nil
}

func (s *server) OpenPull(_ context.Context, _ review.Repo, head, base, title string, body sanitize.Text) (string, error) {
	n := len(s.pulls) + 1
	s.pulls[head], s.bodies = review.PullRequest{Number: n, URL: fmt.Sprint("https://github.com/acme/widgets/pull/", n), State: "OPEN", BaseRef: base, Title: title}, append(s.bodies, body.String())
	return s.pulls[head].URL, nil
}

func (s *server) EditPull(_ context.Context, pr review.PullRequest, _ string, body sanitize.Text) (string, error) {
	s.bodies = append(s.bodies, body.String())
	return fmt.Sprint("https://github.com/acme/widgets/pull/", pr.Number), nil
}

func (s *server) PushBranch(_ context.Context, _ review.Repo, p effects.BranchPush) (string, error) {
	name := strings.TrimPrefix(p.Ref, "refs/heads/")
	switch {
	case s.refuses != "":
		return "", &effects.RefusedError{Reason: s.refuses}
	case s.moves > 0:
		s.moves--
		s.heads[name] = strings.Repeat("9", 40)
		return "", &effects.MovedError{Ref: p.Ref, Head: s.heads[name]}
	}
	s.heads[name] = p.New
	if s.onPush != nil {
		s.onPush()
	}
	return "https://github.com/acme/widgets/commit/" + p.New, nil
}

func (s *server) Intent(_ context.Context, e effects.Effect) (effects.Effect, error) {
	if old, ok := s.stored[e.Kind+e.Key]; ok {
		return old, nil
	}
	s.stored[e.Kind+e.Key] = e
	if s.onIntent != nil {
		s.onIntent(e)
	}
	return e, nil
}
func (s *server) Sending(context.Context, string) error     { return nil }
func (s *server) Absent(context.Context, string) error      { return nil }
func (s *server) Ack(context.Context, string, string) error { return nil }

// steps remembers what was done.
type steps map[string][]byte

func (s steps) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if out, ok := s[name]; ok {
		return out, nil
	}
	out, err := fn(ctx)
	if err == nil {
		s[name] = out
	}
	return out, err
}

// wants is the work of a command that commits and asks for a pull request.
func wants(title, branch string) review.JobWork {
	return review.JobWork{
		Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentComplete}, Command: &review.CommandAnswer{}},
		Tip:    newHead, Files: 1, Lines: 2, Pull: &review.PullWish{Title: title, Body: "Words of " + title + ".", Branch: branch},
	}
}

func idle(change func(*review.JobWork)) review.JobWork {
	w := review.JobWork{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentComplete}, Command: &review.CommandAnswer{}}}
	if change != nil {
		change(&w)
	}
	return w
}

// jobs is the pull request that an earlier run of the job opened, persons one that a person opened of its branch.
func jobs(base string) review.PullRequest {
	repo := review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
	m := sanitize.Marker{ReviewID: "4f1c", Run: "4f1c", RepoID: repo.String(), Nonce: strings.Repeat("0", 32), Title: "Night", Key: make([]byte, 32)}
	texts, err := sanitize.Comment("Night.", m, sanitize.Policy{Repo: repo})
	if err != nil {
		panic(err)
	}
	return review.PullRequest{Number: 5, State: "OPEN", BaseRef: base, Author: review.Person{Login: "bot"}, Title: "Night", Body: texts[0].String()}
}

const kept = "stay as somebody changed them"

func persons() review.PullRequest {
	return review.PullRequest{Number: 5, State: "OPEN", BaseRef: "main", Author: review.Person{Login: "alice"}, Title: "My words", Body: "My reasons."}
}

// How a job ends, by what its two commands did and by what the server says; and what stands there then.
func TestHowAJobEnds(t *testing.T) {
	refused := idle(func(w *review.JobWork) {
		w.Refusals = []review.Refusal{{Rule: "protected-path", Path: ".github/workflows/ci.yml", Detail: "it is a workflow"}}
	})
	broken := idle(func(w *review.JobWork) {
		w.Answer.Receipt.State, w.Answer.Receipt.Reason, w.Answer.Command = review.AgentFailed, "timeout after 60 s", nil
	})
	for _, c := range []struct {
		what   string
		works  []review.JobWork
		change func(*server, *Request)
		want   review.Outcome
		says   string
		// heads are the branches beside main in the end.
		heads []string
	}{
		{"both want it", []review.JobWork{wants("Docs", ""), wants("Style", "")}, nil, review.Opened, "a pull request is opened", []string{own}},
		{"the second alone", []review.JobWork{idle(nil), wants("Style", "")}, nil, review.Opened, "", []string{own}},
		{"nothing to do", []review.JobWork{idle(nil), idle(nil)}, nil, review.NothingToDo, "nothing was changed", nil},
		{"committed, and not asked for", []review.JobWork{idle(func(w *review.JobWork) { w.Tip = newHead }), idle(nil)}, nil, review.NothingToDo, "docs committed changes and did not call push_pr", nil},
		{"changed, and not committed", []review.JobWork{idle(func(w *review.JobWork) { w.Uncommitted = 2 }), idle(nil)}, nil, review.NothingToDo, "did not call commit_changes", nil},
		{"asked for, and not committed", []review.JobWork{idle(func(w *review.JobWork) { w.Pull = &review.PullWish{} }), idle(nil)}, nil, review.Failed, "push_pr failed: no committed changes are present", nil},
		{"one is refused", []review.JobWork{wants("Docs", ""), refused}, nil, review.Refused, "the rule protected-path refuses `.github/workflows/ci.yml`", nil},
		{"one fails", []review.JobWork{wants("Docs", ""), broken}, nil, review.Partial, "not all commands ended well", []string{own}},
		{"both fail", []review.JobWork{broken, broken}, nil, review.Partial, "docs did not end well: timeout after 60 s", nil},
		{"two branches", []review.JobWork{wants("Docs", "prloop/a"), wants("Style", "prloop/b")}, nil, review.Refused, "a job has one", nil},
		{"a branch of its own", []review.JobWork{wants("Docs", "prloop/mine"), idle(nil)}, nil, review.Opened, "", []string{"prloop/mine"}},
		{"the base branch", []review.JobWork{wants("Docs", "Main"), idle(nil)}, nil, review.Refused, "nothing is pushed", nil},
		{"somebody's branch", []review.JobWork{wants("Docs", "prloop/theirs"), idle(nil)}, func(s *server, _ *Request) {
			s.heads["prloop/theirs"], s.theirs = oldHead, []string{"prloop/theirs"}
		}, review.Refused, "is there already", []string{"prloop/theirs"}},
		{"a branch of an earlier run", []review.JobWork{wants("Docs", "prloop/docs"), idle(nil)}, func(s *server, _ *Request) { s.heads["prloop/docs"] = oldHead }, review.Opened, "prloop/docs stays as it is: it is there already", []string{"prloop/docs", own}},
		{"a branch above another job's", []review.JobWork{wants("Docs", "prloop/weekly"), idle(nil)}, nil, review.Refused, "in the place of a job's branch, `prloop/weekly/links`", nil},
		{"a branch below another job's", []review.JobWork{wants("Docs", "prloop/weekly/links/x"), idle(nil)}, nil, review.Refused, "the place of a job's branch", nil},
		{"another job's branch", []review.JobWork{wants("Docs", "prloop/weekly/links"), idle(nil)}, nil, review.Refused, "the place of a job's branch", nil},
		{"a branch above its own", []review.JobWork{wants("Docs", "prloop/nightly"), idle(nil)}, nil, review.Refused, "the place of a job's branch", nil},
		{"a branch below somebody's", []review.JobWork{wants("Docs", "prloop/theirs/x"), idle(nil)}, func(s *server, _ *Request) { s.heads["prloop/theirs"] = oldHead }, review.Refused, "`prloop/theirs` is in its way", []string{"prloop/theirs"}},
		{"a branch above somebody's", []review.JobWork{wants("Docs", "prloop/theirs"), idle(nil)}, func(s *server, _ *Request) { s.heads["prloop/theirs/x"] = oldHead }, review.Refused, "`prloop/theirs/x` is in its way", []string{"prloop/theirs/x"}},
		{"a branch stands above its own", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.heads["prloop/nightly"] = oldHead }, review.Opened,
			"prloop/nightly stays as it is: no branch can be below it", []string{plain, "prloop/nightly"}},
		{"a branch stands below its own", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.heads[own+"/x"] = oldHead }, review.Opened,
			own + "/x stays as it is: no branch can be above it", []string{own + "-2", own + "/x"}},
		{"a branch stands above all of them", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.heads["prloop"] = oldHead }, review.Failed,
			"the branch prloop is in the way of this job's", []string{"prloop"}},
		{"a dry run", []review.JobWork{wants("Docs", ""), idle(nil)}, func(_ *server, r *Request) { r.DryRun = true }, review.Opened, "dry run: a pull request would be opened from " + own, nil},
		{"its pull request is open", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
		}, review.Updated, "the pull request is updated", []string{own}},
		{"a person pushed to it", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.heads[own], s.theirs = oldHead, []string{own} }, review.Opened,
			own + " stays as it is: Mona", []string{own, own + "-2"}},
		{"somebody pushes meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.moves, s.theirs = 1, []string{own} }, review.Opened, "somebody pushed to it meanwhile", []string{own, own + "-2"}},
		{"the same job elsewhere pushes meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.moves = 1 }, review.NothingToDo,
			"nothing is pushed: another run of this job, which this machine has no record of, pushed to " + own + " meanwhile", []string{own}},
		{"somebody always does", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.moves, s.theirs = 9, []string{own, own + "-2", own + "-2-2"} }, review.Refused, "3 branches moved", []string{own, own + "-2", own + "-2-2"}},
		{"its pull request is given another base meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
			s.meanwhile = func() { s.pulls[own] = review.PullRequest{Number: 5, State: "OPEN", BaseRef: "develop"} }
		}, review.Opened, own + " (#5) stays as it is: its pull request goes to develop", []string{own, own + "-2"}},
		{"one is opened onto another base meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own] = oldHead
			s.meanwhile = func() { s.pulls[own] = review.PullRequest{Number: 5, State: "OPEN", BaseRef: "release"} }
		}, review.Opened, own + " (#5) stays as it is: its pull request goes to release", []string{own, own + "-2"}},
		{"one is opened of what was left behind meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own] = oldHead
			s.meanwhile = func() { s.pulls[own] = jobs("main") }
		}, review.Opened, own + " (#5) stays as it is: its pull request was opened meanwhile", []string{own, own + "-2"}},
		{"the same job elsewhere pushes and opens one meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.meanwhile = func() {
				s.moves, s.heads[own], s.pulls[own] = 1, newHead, jobs("main")
			}
		}, review.NothingToDo, "another run of this job", []string{own}},
		{"its pull request is closed meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
			s.meanwhile = func() { delete(s.pulls, own) }
		}, review.Superseded, "nothing is pushed: #5 is not open any more", []string{own}},
		{"its pull request is given another base once it is pushed to", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
			s.onPush = func() { s.pulls[own] = review.PullRequest{Number: 5, State: "OPEN", BaseRef: "develop"} }
		}, review.Opened, "a pull request is opened", []string{own}},
		{"its pull request is closed once it is pushed to", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
			s.onPush = func() { delete(s.pulls, own) }
		}, review.Superseded, "#5 is not open any more: the commits are on " + own, []string{own}},
		{"its pull request is given another base before its words are written", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, jobs("main")
			s.onIntent = func(e effects.Effect) {
				if e.Target.PR == 5 {
					s.pulls[own] = review.PullRequest{Number: 5, State: "OPEN", BaseRef: "develop"}
				}
			}
		}, review.Superseded, "#5 goes to develop meanwhile: the commits are on " + own, []string{own}},
		{"a person opened one of what was left behind", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own], s.pulls[own] = oldHead, persons()
		}, review.Opened, own + " (#5) stays as it is: its pull request has other words than prloop's", []string{own, own + "-2"}},
		{"its pull request has a person's words", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			p := jobs("main")
			p.Body = "My reasons."
			s.heads[own], s.pulls[own] = oldHead, p
		}, review.Opened, own + " (#5) stays as it is: its pull request has other words than prloop's", []string{own, own + "-2"}},
		{"a person adds words to its pull request", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			p := jobs("main")
			p.Body += "\nMy reasons."
			s.heads[own], s.pulls[own] = oldHead, p
		}, review.Updated, "the commits are on the pull request; its title and body " + kept, []string{own}},
		{"a person gives its pull request another title", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			p := jobs("main")
			p.Title = "Hold: Night"
			s.heads[own], s.pulls[own] = oldHead, p
		}, review.Updated, "the commits are on the pull request; its title and body " + kept, []string{own}},
		{"its pull request is by an earlier account of prloop's", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			p := jobs("main")
			p.Author.Login = "bot-of-yore"
			s.heads[own], s.pulls[own] = oldHead, p
		}, review.Updated, "the pull request is updated", []string{own}},
		{"a person opens one meanwhile", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.heads[own] = oldHead
			s.meanwhile = func() { s.pulls[own] = persons() }
		}, review.Opened, own + " (#5) stays as it is: its pull request has other words than prloop's", []string{own, own + "-2"}},
		{"a person opens one once it is pushed", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) {
			s.onPush = func() { s.pulls[own] = persons() }
		}, review.Superseded, "#5 has other words than prloop's: the commits are on " + own, []string{own}},
		{"the server says no", []review.JobWork{wants("Docs", ""), idle(nil)}, func(s *server, _ *Request) { s.refuses = "the branch is protected" }, review.Refused, "the branch is protected", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := &server{heads: map[string]string{"main": oldHead}, pulls: map[string]review.PullRequest{}, stored: map[string]effects.Effect{}, saved: map[string]string{}}
			req := Request{
				Run: "20260124T000000.000Z_0123456789abcdef", ReviewID: "0123456789abcdef", Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, Job: "nightly"},
				Job: "nightly", Base: "main", Head: oldHead, Commands: []Command{{ID: "docs"}, {ID: "style", Title: "Style"}},
				Places: []string{own, plain, "prloop/weekly/links", "prloop/job-0123456789ab"},
			}
			if c.change != nil {
				c.change(s, &req)
			}
			asked, nonces := 0, 0
			l := &Loop{
				Repo: s, Forge: s, Pusher: s, Outbox: s, Record: s, Emit: func(review.Event) {}, MarkerKey: make([]byte, 32), Now: time.Now,
				Nonce: func() string { nonces++; return fmt.Sprintf("%032d", nonces) }, Sleep: func(context.Context, time.Duration) error { return nil },
				Work: func(_ context.Context, o review.JobOrder) (review.JobWork, error) {
					asked++
					if s.meanwhile != nil {
						s.meanwhile()
					}
					return c.works[o.Number-1], nil
				},
			}
			done := steps{}
			r, err := l.Run(t.Context(), done, req)
			if err != nil || r.Outcome != c.want || !strings.Contains(r.Reason, c.says) {
				t.Fatalf("%s: %q, %v; want %s: %q", r.Outcome, r.Reason, err, c.want, c.says)
			}
			heads := slices.DeleteFunc(slices.Sorted(maps.Keys(s.heads)), func(name string) bool { return name == "main" })
			if !slices.Equal(heads, c.heads) {
				t.Errorf("the branches are %q, want %q", heads, c.heads)
			}
			if opened := c.want == review.Opened || c.want == review.Updated || len(c.heads) > 0 && c.want == review.Partial; (len(s.bodies) == 1) != (opened && !req.DryRun && !strings.HasSuffix(c.says, kept)) {
				t.Errorf("%d pull requests were given words", len(s.bodies))
			}
			if s.ended.Outcome != c.want || s.saved["review.md"] == "" || s.saved["job.json"] == "" {
				t.Errorf("recorded: %s, %q", s.ended.Outcome, slices.Sorted(maps.Keys(s.saved)))
			}
			// Done again from what is stored, nothing happens twice.
			before, works := len(s.bodies), 2
			if c.want == review.Failed && asked == 0 { // it ended before
				works = 0
			}
			if again, err := l.Run(t.Context(), done, req); err != nil || again.Outcome != c.want || asked != works || len(s.bodies) != before {
				t.Errorf("again: %s, %v, %d asked, %d words", again.Outcome, err, asked, len(s.bodies))
			}
		})
	}
}

// The report of a job is for everybody who may see its run: the error that ended it is in the result alone (threats.md T743).
func TestTheReportNamesNoError(t *testing.T) {
	s := &server{heads: map[string]string{"main": oldHead}, pulls: map[string]review.PullRequest{}, stored: map[string]effects.Effect{}, saved: map[string]string{}}
	l := &Loop{Repo: s, Forge: s, Pusher: s, Outbox: s, Record: s, Emit: func(review.Event) {}, MarkerKey: make([]byte, 32), Nonce: func() string { return strings.Repeat("0", 32) }, Now: time.Now,
		Permanent: func(error) bool { return true },
		Work: func(context.Context, review.JobOrder) (review.JobWork, error) {
			return review.JobWork{}, errors.New("start docs: exec /opt/inner/agent: no such file")
		}}
	req := Request{Run: "20260124T000000.000Z_0123456789abcdef", ReviewID: "0123456789abcdef", Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, Job: "nightly"},
		Job: "nightly", Base: "main", Head: oldHead, Commands: []Command{{ID: "docs"}}}
	r, err := l.Run(t.Context(), steps{}, req)
	if err != nil || r.Outcome != review.Failed || !strings.Contains(r.Reason, "/opt/inner") {
		t.Errorf("%s: %s, %v", r.Outcome, r.Reason, err)
	}
	if said := s.saved["review.md"]; strings.Contains(said, "/opt/inner") || !strings.Contains(said, "# Job nightly: failed") {
		t.Errorf("the report says:\n%s", said)
	}
}

// The body becomes the message of the squash commit in many repositories: neither the words of a command nor its findings switch a CI or make a release there, however
// Markdown spells them (threats.md T697).
func TestTheBodyIsAMessage(t *testing.T) {
	s := state{req: Request{Job: "nightly", Base: "main", Head: oldHead, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}}, Commands: []Command{{ID: "docs"}}},
		works: []review.JobWork{wants("Docs", "")}, tip: newHead, pull: review.PullWish{Title: "Docs"}}
	s.works[0].Pull.Body = "[skip ci] \\[skip ci\\] &#91;skip ci] [skip<!-- x --> ci] `[ci skip]` [x][skip ci] [[no ci]](https://github.com/acme/widgets)\n\n***NO_CI***\n\nBREAKING CHANGE: all\n\n" +
		"BREAKING&#32;CHANGE: all\n\n&plus;semver: major\n\nRelease-As: 9.9.9\n\n```\n[actions skip]\nBREAKING-CHANGE: all\n```\n"
	s.works[0].Answer.Command.Findings = []review.Finding{{Priority: review.P2, Title: "[skip actions]", Description: "+semver: minor"}}
	body, err := (&Loop{MarkerKey: make([]byte, 32)}).body(&s, 0, strings.Repeat("0", 32))
	if err != nil {
		t.Fatal(err)
	}
	acted := regexp.MustCompile(`(?i)\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI|BREAKING[ -]CHANGE|\+semver|Release-As`)
	if found := acted.FindString(body.String()); found != "" || !strings.Contains(body.String(), "(skip ci)") {
		t.Errorf("%q is left in:\n%s", found, body)
	}
}

// Trackers read the body of a pull request as it is written, and the message that it becomes has no code: what acts there is plain in prose, in code and in a block of code
// (threats.md T740, T728).
func TestNothingOfTheBodyActs(t *testing.T) {
	s := state{req: Request{Job: "nightly", Base: "main", Head: oldHead, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}}, Commands: []Command{{ID: "docs"}}},
		works: []review.JobWork{wants("Docs", "")}, tip: newHead, pull: review.PullWish{Title: "Docs"}}
	for said, acts := range map[string]string{
		"it fixes #16": `fixes #16`, "Closes https://github.com/acme/widgets/issues/17": `Closes https`, "Resolves acme/other#3": `Resolves acme/other#3`, "closes GH-12": `GH-12`,
		"Fixes LIN-123": `LIN-123`, "fixes LIN&#45;1": `LIN-1`, "ABC-12 #close #time 2d": `#close|#time`, "^ABC-12 Fixed": `\^ABC`, "CU-8669abc[closed]": `CU-\w+\[`, "A #major change": `#major`,
		"Depends-On: https://x.example/1": `(?m)^Depends-On`, "It is\n##vso[task.setvariable variable=x]y": `##vso\[`, "It is\nEOF": `(?m)^EOF`, "BASH_ENV=./env.sh": `(?m)^BASH_ENV`,
	} {
		for _, how := range []string{"%s", "- %s", "`%s`", "```\n%s\n```"} {
			s.works[0].Pull.Body = fmt.Sprintf(how, said)
			body, err := (&Loop{MarkerKey: make([]byte, 32)}).body(&s, 0, strings.Repeat("0", 32))
			if err != nil {
				t.Errorf("%q: %v", s.works[0].Pull.Body, err)
			} else if found := regexp.MustCompile(acts).FindString(body.String()); found != "" {
				t.Errorf("%q: %q is left in:\n%s", s.works[0].Pull.Body, found, body.String())
			}
			if _, err := sanitize.Restore(body.String(), sanitize.Policy{Repo: s.req.Target.Repo}); err != nil {
				t.Error(err)
			}
		}
	}
	s.works[0].Pull.Body = "It reads UTF-8 (see `a[1]`).\n\n- one\n- two\n\nFollow-up: the rest.\n"
	if body, err := (&Loop{MarkerKey: make([]byte, 32)}).body(&s, 0, strings.Repeat("0", 32)); err != nil || !strings.Contains(body.String(), "\nIt reads UTF-8 (see `a[1]`).\n\n- one\n- two\n\n Follow-up: the rest.\n") {
		t.Errorf("plain words change: %v\n%s", err, body.String())
	}
}

// What the commands of a job saw and did not change stands in its pull request, or in the report of a job that opens none. Whatever they say, it fits.
func TestFindingsStandInThePullRequest(t *testing.T) {
	line := 3
	s := state{req: Request{Job: "nightly", Base: "main", Head: oldHead, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}}, Commands: []Command{{ID: "docs"}, {ID: "style"}}},
		works: []review.JobWork{wants("Docs", ""), idle(nil)}, tip: newHead, pull: review.PullWish{Title: "Docs"}}
	s.works[0].Answer.Command.Findings = []review.Finding{{Priority: review.P2, Title: "The guide names no flag", File: "docs/guide.md", Line: &line, Description: "It was\n\nadded in June."}}
	s.works[1].Answer.Command.Findings = []review.Finding{{Priority: review.P0, Title: "@octocat A key stands in main.go", File: "main.go"}}
	l := &Loop{MarkerKey: make([]byte, 32)}
	body, err := l.body(&s, 0, strings.Repeat("0", 32))
	if err != nil {
		t.Fatal(err)
	}
	text := body.String()
	grave, small := strings.Index(text, "- **P0** "), strings.Index(text, "- **P2** The guide names no flag, `docs/guide.md:3`: It was added in June. (`docs`)")
	if grave < 0 || small < grave || strings.Contains(text, " @octocat") {
		t.Errorf("the pull request says:\n%s", text)
	}
	s.works[0].Unverified = []review.Unverified{{Finding: review.Finding{Priority: review.P0, Title: "It is all wrong"}, Reason: "quotes code that is not there"}}
	s.works[1].Settled = []review.Finding{{Priority: review.P3, Title: "Two blanks"}}
	report := s.report(review.RunResult{}, "")
	for _, want := range []string{"### Found\n", "- set aside: It is all wrong: quotes code that is not there\n", "- settled by its own changes: 1 finding\n"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	if body, err = l.body(&s, 0, strings.Repeat("0", 32)); err != nil || strings.Contains(body.String(), "It is all wrong") || strings.Contains(body.String(), "Two blanks") {
		t.Errorf("the pull request says what does not stand, %v:\n%s", err, body.String())
	}
	s.tip = ""
	if r := s.report(review.RunResult{}, ""); strings.Count(r, "### Found\n") != 1 {
		t.Errorf("the report of a job that opens nothing:\n%s", r)
	}
	for i := range s.works {
		s.works[i].Tip, s.works[i].Pull = newHead, &review.PullWish{Title: "x", Body: strings.Repeat("*a* ", 8000)}
		for range 200 {
			s.works[i].Answer.Command.Findings = append(s.works[i].Answer.Command.Findings, review.Finding{Priority: review.P1, Title: strings.Repeat("*", 300), File: strings.Repeat("`", 300), Description: strings.Repeat("<@_*", 200)})
		}
	}
	s.tip, s.by = newHead, 1
	if body, err = l.body(&s, 0, strings.Repeat("0", 32)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body.String(), " findings are in the artifacts of the run") {
		t.Errorf("it says nothing of those that it leaves out:\n%.2000s", body.String())
	}
}
