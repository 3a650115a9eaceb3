package maintenance

import (
	"context"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// propose opens the pull request, or gives the open one its new words.
func (l *Loop) propose(ctx context.Context, steps Steps, s *state) (none review.RunResult, err error) {
	req := s.req
	type proposal struct {
		Nonce string `json:"nonce"`
		Pull  int    `json:"pull,omitempty"`
		URL   string `json:"url,omitempty"`
		// Closed says that the one that was pushed to is not open any more, or that a person opened one.
		Closed string `json:"closed,omitempty"`
	}
	p, err := do(ctx, l, steps, "look for the pull request", func(ctx context.Context) (proposal, error) {
		pull, astray, err := l.pullsOf(ctx, req, s.place.Branch)          // somebody may have opened or closed it meanwhile
		if err == nil && pull.Number == 0 && astray.BaseRef == req.Base { // a person opened it meanwhile
			return proposal{Closed: fmt.Sprintf("#%d %s", astray.Number, otherWords)}, nil
		}
		if err == nil && s.place.Pull != 0 && pull.Number == 0 && astray.Number == 0 {
			return proposal{Closed: closedWords(s.place.Pull)}, nil
		}
		return proposal{Nonce: l.Nonce(), Pull: pull.Number, URL: pull.URL}, err
	})
	if err != nil {
		return none, err
	}
	if p.Closed != "" {
		return s.result(l, review.Superseded, fmt.Sprintf("%s: the commits are on %s", p.Closed, s.place.Branch)), nil
	}
	body, err := l.body(s, p.Pull, p.Nonce)
	if err != nil {
		return none, err
	}
	words := effects.PullWords{Title: s.title(), Body: body.String()}
	e := effects.Effect{Key: req.Run + "/pull", Nonce: p.Nonce, Run: req.Run, Target: req.Target, Head: s.tip}
	done, err := do(ctx, l, steps, "propose the change", func(ctx context.Context) (pushDone, error) {
		var k effects.Kind = effects.EditPull{Pulls: l.Forge, Policy: l.policy(req)}
		if p.Pull == 0 {
			l.say("opening a pull request from " + s.place.Branch)
			words.Head, words.Base = s.place.Branch, req.Base
			k = effects.OpenPull{Pulls: l.Forge, Key: l.MarkerKey, Policy: l.policy(req), Sleep: l.Sleep}
		} else {
			l.say("updating " + p.URL)
			e.Target.PR = p.Pull
		}
		kept := false
		e.Payload = words.Payload()
		got, err := l.deliver(ctx, k, e, func(ctx context.Context) (string, error) {
			if p.Pull == 0 {
				return "", nil
			}
			now, err := l.Forge.PullRequest(ctx, req.Target.Repo, p.Pull)
			switch {
			case err != nil:
				return "", err
			case now.State != "OPEN":
				return fmt.Sprintf("#%d was %s meanwhile", now.Number, strings.ToLower(sanitize.Line(now.State, 20))), nil
			case now.BaseRef != req.Base:
				return fmt.Sprintf("#%d goes to %s meanwhile", now.Number, sanitize.Line(now.BaseRef, 80)), nil
			case sanitize.Reworded(now.Title, now.Body):
				kept = true
				return "its title and body stay as somebody changed them", nil
			}
			return "", nil
		})
		if kept {
			return pushDone{URL: p.URL, Kept: got.Overtaken}, err
		}
		return pushDone{URL: got.Ref, Moved: got.Overtaken}, err
	})
	if err != nil {
		return none, err
	}
	if err := proposed.Hit(); err != nil {
		return none, err
	}
	s.url = done.URL
	switch {
	case done.Moved != "":
		return s.result(l, review.Superseded, fmt.Sprintf("%s: the commits are on %s", done.Moved, s.place.Branch)), nil
	case done.Kept != "":
		return s.result(l, review.Updated, s.told("the commits are on the pull request; "+done.Kept)), nil
	case p.Pull != 0:
		return s.result(l, review.Updated, s.told("the pull request is updated")), nil
	}
	return s.result(l, review.Opened, s.told("a pull request is opened")), nil
}

// told is a sentence with the branches that stay as they are behind it.
func (s *state) told(what string) string {
	for _, b := range s.place.Left {
		what += "; " + b.Branch
		if b.Pull != 0 {
			what += fmt.Sprintf(" (#%d)", b.Pull)
		}
		what += " stays as it is: " + b.Why
	}
	return what
}
