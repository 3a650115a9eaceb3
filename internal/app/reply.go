package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Reply answers a line of a comment that needs no agent. ok is false when the line asks for something else.
func (s *Service) Reply(ctx context.Context, o Order, a Ask) (url string, ok bool, err error) {
	body, run := "", answerRun
	switch {
	case a.Word == trigger.Stop:
		body = "A run in hand on this pull request, or about to begin, ends now: agents and commands that are at work are ended, within half a minute, and nothing more is posted or pushed. " +
			"A server begins no other by itself before the next commit, also where the pull request is closed and opened again; `!prloop review` asks for one."
		var head string
		head, err = s.halt(ctx, o.Target, a)
		run = stopRun(head)
	case a.Word == trigger.Status:
		body, err = s.status(ctx, o.Target)
	case a.Word == trigger.Help:
		body, err = s.help(ctx, o)
	case a.Word == trigger.Unsure:
		body = "Do you want a stop? Say `!prloop stop`. This comment has begun and ended nothing."
	case a.Closed:
		body = "Nothing was done: the pull request is not open. Ask again when it is."
	default:
		return "", false, nil
	}
	if err == nil {
		url, err = s.answer(ctx, o.Target, a, run, body)
	}
	return url, true, err
}

// status says what is known of a pull request without asking anybody but GitHub.
func (s *Service) status(ctx context.Context, target review.Target) (string, error) {
	client, err := s.GitHubFor(ctx, target.Repo)
	if err != nil {
		return "", err
	}
	pr, err := client.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return "", err
	}
	viewer, err := client.Viewer(ctx, target.Repo.Host)
	if err != nil {
		return "", err
	}
	comments, err := client.CommentsSince(ctx, pr, time.Time{})
	if err != nil {
		return "", err
	}
	running, err := s.Runs(ctx, ofPull(pr.Repo, pr.RepoID, pr.Number, store.Running))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- The head is `%.7s`", pr.HeadSHA)
	switch {
	case pr.State != openState:
		b.WriteString(", and the pull request is not open: nothing is reviewed or fixed")
	case pr.Draft:
		b.WriteString(", and the pull request is a draft: it is reviewed when it is ready, or when somebody asks for it")
	}
	b.WriteString(".\n- " + lastReport(comments, viewer) + "\n")
	note, holds, err := s.halted(ctx, pr)
	if err != nil {
		return "", err
	}
	if holds {
		b.WriteString("- " + note.Said + ". A server begins no run by itself before the next commit.\n")
	}
	for _, r := range running {
		if r.State == store.Running { // one that nobody is at work on is told apart as interrupted
			fmt.Fprintf(&b, "- The run %s is in hand since %s.\n", r.ID, r.Created.UTC().Format("2006-01-02 15:04 UTC"))
		}
	}
	return b.String(), nil
}

// lastReport names the newest report of an account.
func lastReport(comments []review.Comment, viewer review.Person) string {
	var last *review.Comment
	round := 0
	for _, c := range comments {
		m, ok := sanitize.ParseMarker(c.Body)
		if ok && m.Round > 0 && m.Command == "" && effects.Same(c.Author, viewer) && (last == nil || !c.CreatedAt.Before(last.CreatedAt)) {
			last, round = &c, m.Round
		}
	}
	if last == nil {
		return "There is no report of prloop yet."
	}
	return fmt.Sprintf("The last report is of %s, round %d: [read it](%s).", last.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), round, last.URL)
}

// help lists what can be asked for.
func (s *Service) help(ctx context.Context, o Order) (string, error) {
	text := "A line of a comment on a pull request asks for something, if its author may write to the repository:\n\n" +
		"- `!prloop review` reviews the pull request, a draft too\n- `!prloop fix`, with nothing else in its paragraph, reviews it and fixes what is found\n- `!prloop stop` ends the run in hand\n" +
		"- `!prloop status` says what there is\n- `!prloop help` says this\n"
	rules, err := s.Rules(ctx, o)
	if err != nil {
		return "", err
	}
	settings, err := o.Settings(rules)
	if e := (*config.Error)(nil); errors.As(err, &e) {
		return text + "\nThe repository's commands cannot be read: its `.reviewerc` is faulty. `prloop config validate` says where.\n", nil
	}
	if err != nil {
		return "", err
	}
	for _, c := range settings.Commands {
		text += fmt.Sprintf("- `!%s`", c.ID)
		if c.Title != "" {
			text += ": " + sanitize.Inline(c.Title, sanitize.Policy{Repo: o.Target.Repo})
		}
		text += "\n"
	}
	return text, nil
}
