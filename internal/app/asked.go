package app

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// accepted is where a kill has to be survived: a comment has its reaction, and no answer (threats.md K50).
var accepted = failpoint.New("asked: accepted")

// A Comment may ask for something. It is what an event says of it; what GitHub says is asked.
type Comment struct {
	Target review.Target
	ID     int64
	Heard  trigger.Comment
	// UpdatedAt is when it was last changed, as the event has it.
	UpdatedAt time.Time
	// Read is the comment as GitHub has it now; nil where that is to be asked.
	Read *review.Comment
	// Bot is the login that is mentioned; without one it is the account of a bot that the credential belongs to.
	Bot string
	// Again is true when a person started the work anew: what is not answered yet is then answered, whoever took it before.
	Again bool
}

// Ask is a line of a comment that is to be answered.
type Ask struct {
	review.Asked
	trigger.Ask
	// Closed is true where the pull request is not open: it can be stopped then, and nothing else is done about it.
	Closed bool
}

// Hear settles which lines of a comment are answered, and accepts it with a reaction: by the rules of decision 49. why says why nothing is.
func (s *Service) Hear(ctx context.Context, c Comment, o Order) (asks []Ask, why string, err error) {
	if _, why = trigger.Heard(c.Heard, c.Bot); why != "" && c.Bot != "" {
		return nil, why, nil
	}
	if s.denials.hold(c.Target.Repo, c.Heard.Author.Login) {
		return nil, mayNot(c.Target.Repo, c.Heard.Author.Login), nil
	}
	client, err := s.GitHubFor(ctx, c.Target.Repo)
	if err != nil {
		return nil, "", err
	}
	if c.Bot == "" {
		if c.Bot, err = botOf(ctx, client); err != nil {
			return nil, "", err
		}
		if _, why = trigger.Heard(c.Heard, c.Bot); why != "" {
			return nil, why, nil
		}
	}
	pr, err := client.PullRequest(ctx, c.Target.Repo, c.Target.PR)
	if err != nil {
		return nil, "", err
	}
	m, lines, why, err := s.now(ctx, client, c, pr)
	if err != nil || why != "" {
		return nil, why, err
	}
	known, err := s.commandIDs(ctx, lines, o)
	if err != nil {
		return nil, "", err
	}
	chosen := trigger.Choose(lines, known)
	if pr.State != openState { // thanks, and other words about it
		if chosen = slices.DeleteFunc(chosen, func(a trigger.Ask) bool { return a.Sentence }); len(chosen) == 0 {
			return nil, "the pull request is not open", nil
		}
	}
	if len(chosen) == 0 {
		return nil, "no line of the comment names a command of the repository", nil
	}
	for i, a := range chosen {
		asks = append(asks, Ask{review.Asked{Comment: c.ID, Line: i + 1, URL: m.URL, By: m.Author.Login, Since: m.CreatedAt.Add(-time.Minute)}, a, pr.State != openState})
	}
	if asks, err = s.unanswered(ctx, client, pr, asks); err != nil || len(asks) == 0 {
		return nil, "the comment is answered already", err
	}
	if why, err = s.accept(ctx, client, c, pr); err == nil {
		err = accepted.Hit()
	}
	return asks, why, err
}

// botOf is the login of the credential's account if that is an app's; empty otherwise. GITHUB_TOKEN's is everybody's.
func botOf(ctx context.Context, client *github.Client) (string, error) {
	viewer, err := client.Viewer(ctx, client.Host())
	if job, jobErr := client.ActionsToken(ctx); job || !viewer.Bot || errors.Join(err, jobErr) != nil {
		return "", errors.Join(err, jobErr)
	}
	return viewer.Login, nil
}

// now gives a comment as it is now, and asks whether its author may ask.
func (s *Service) now(ctx context.Context, client *github.Client, c Comment, pr review.PullRequest) (m review.Comment, lines []trigger.Ask, why string, err error) {
	if c.Read != nil {
		m = *c.Read
	} else {
		m, err = client.Comment(ctx, pr, c.ID)
	}
	if errors.Is(err, github.ErrNotFound) {
		return m, nil, "the comment is gone", nil
	}
	if err != nil {
		return m, nil, "", err
	}
	is := trigger.Comment{
		Action: c.Heard.Action, PullRequest: c.Heard.PullRequest, Author: m.Author, Body: m.Body, Marked: sanitize.HasMarker(m.Body),
		Changed: m.Body != c.Heard.Body || !m.UpdatedAt.Equal(c.UpdatedAt),
	}
	if lines, why = trigger.Heard(is, c.Bot); why != "" {
		return m, nil, why, nil
	}
	may, err := s.mayAsk(ctx, client, pr.Repo, m.Author.Login)
	if err == nil && !may {
		return m, nil, mayNot(pr.Repo, m.Author.Login), nil
	}
	is.Mailed = true
	if above, whyAbove := trigger.Heard(is, c.Bot); err == nil && len(above) != len(lines) { // how it was made matters (threats.md T759)
		if is.Mailed, err = client.Mailed(ctx, pr.Repo, m.ID); is.Mailed {
			lines, why = above, whyAbove
		}
	}
	return m, lines, why, err
}

func mayNot(repo review.Repo, login string) string {
	return login + " may not write to " + repo.String()
}

// mayAsk asks GitHub whether somebody is answered. Whom it does not know is not, and nobody is where it does not tell us who may write.
func (s *Service) mayAsk(ctx context.Context, client *github.Client, repo review.Repo, login string) (bool, error) {
	if s.denials.hold(repo, login) {
		return false, nil
	}
	permission, err := client.Permission(ctx, repo, login)
	if errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	if errors.Is(err, github.ErrForbidden) {
		s.log.Warn("a comment counts for nothing: GitHub does not tell this credential who may write to the repository", "repository", repo.String(), "login", login, "err", err)
		permission, err = "", nil
	}
	may := err == nil && review.MayWrite(permission)
	if err == nil && !may {
		s.denials.add(repo, login)
	}
	return may, err
}

// denials remember for a minute who may not write to a repository: GitHub is asked once about somebody who comments without end (threats.md T390). Who may is
// asked every time (decision 9).
type denials struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

const denialTime = time.Minute

func (d *denials) add(repo review.Repo, login string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ends == nil {
		d.ends = map[string]time.Time{}
	}
	maps.DeleteFunc(d.ends, func(_ string, end time.Time) bool { return !time.Now().Before(end) })
	d.ends[denied(repo, login)] = time.Now().Add(denialTime)
}

func (d *denials) hold(repo review.Repo, login string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.ends[denied(repo, login)])
}

// denied names somebody on a repository. GitHub's names know no case.
func denied(repo review.Repo, login string) string {
	return strings.ToLower(repo.String() + " " + login)
}

// commandIDs are the ids of the repository's commands at the base commit, if a line may name one. Where its settings are faulty they are all that lines name: whoever asks is
// told so when the run does not begin.
func (s *Service) commandIDs(ctx context.Context, lines []trigger.Ask, o Order) (ids []string, err error) {
	if !slices.ContainsFunc(lines, func(a trigger.Ask) bool { return a.ID != "" }) {
		return nil, nil
	}
	var settings config.Settings
	rules, err := s.Rules(ctx, o)
	if err == nil {
		settings, err = o.Settings(rules)
	}
	if errors.As(err, new(*config.Error)) {
		for _, a := range lines {
			ids = append(ids, a.ID)
		}
		return ids, nil
	}
	for _, c := range settings.Commands {
		ids = append(ids, c.ID)
	}
	return ids, err
}

// unanswered are the lines that no comments of our account answer, and those whose run has not ended here: its first report may be an answer, and
// a fix still to come.
func (s *Service) unanswered(ctx context.Context, client *github.Client, pr review.PullRequest, asks []Ask) ([]Ask, error) {
	viewer, err := client.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return nil, err
	}
	comments, err := client.CommentsSince(ctx, pr, asks[0].Since)
	if err != nil {
		return nil, err
	}
	reviews, err := client.Reviews(ctx, pr)
	if err != nil {
		return nil, err
	}
	answered := answeredBy(slices.Concat(comments, reviews), viewer)
	return slices.DeleteFunc(asks, func(a Ask) bool {
		if !answered[a.Key()] || err != nil {
			return false
		}
		var open bool
		open, err = s.unfinished(ctx, review.Target{Repo: pr.Repo, PR: pr.Number}, a)
		return !open
	}), err
}

// unfinished reports whether a run was begun here for a line, and has not ended.
func (s *Service) unfinished(ctx context.Context, target review.Target, a Ask) (bool, error) {
	id, err := s.AnsweringRun(ctx, target, a)
	if err != nil || id == "" {
		return false, err
	}
	run, err := s.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && run.State != store.Finished, err
}

// answeredBy are the lines of comments that an account has answered, by their keys. An answer of which parts are missing is none yet: whoever
// wrote it died between two, and what was recorded of it says which are to come.
func answeredBy(comments []review.Comment, viewer review.Person) map[string]bool {
	type answer struct{ asked, nonce string }
	parts, answered := map[answer]map[int]bool{}, map[string]bool{}
	for _, c := range comments {
		// Under another state folder's key the MAC cannot be held against anything: the account is the proof.
		m, ok := sanitize.ParseMarker(c.Body)
		if !ok || m.Asked == "" || !effects.Same(c.Author, viewer) {
			continue
		}
		a := answer{m.Asked, m.Nonce}
		if parts[a] == nil {
			parts[a] = map[int]bool{}
		}
		if parts[a][m.Part] = true; len(parts[a]) >= m.Parts {
			answered[m.Asked] = true
		}
	}
	return answered
}

// accept reacts to a comment. why says that another delivery of it is being answered: the reaction was there, and not from here.
func (s *Service) accept(ctx context.Context, client *github.Client, c Comment, pr review.PullRequest) (why string, err error) {
	key := effects.ReactionKey(pr.Repo.Host, c.ID, effects.Seen)
	_, first, err := s.store.Ask(ctx, key, "")
	if err != nil {
		return "", err
	}
	done, err := s.deliver(ctx, client, effects.Reaction{Reactor: client}, effects.Effect{Key: key, Payload: effects.ReactionPayload(c.ID, effects.Seen)}, pr)
	if err == nil && first && !c.Again && !effects.ReactionAdded(done.Ref) {
		return "another job answers the comment", nil
	}
	return "", err
}

// deliver makes an effect that belongs to no run.
func (s *Service) deliver(ctx context.Context, client *github.Client, k effects.Kind, e effects.Effect, pr review.PullRequest) (effects.Done, error) {
	viewer, err := client.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return effects.Done{}, err
	}
	e.Run, e.Target, e.Head, e.As = effects.NoRun, review.Target{Repo: pr.Repo, PR: pr.Number}, pr.HeadSHA, viewer
	if e.Nonce == "" {
		e.Nonce = hex.EncodeToString(randomBytes(16))
	}
	d := effects.Delivery{Outbox: outbox{s.store, nil}, Sleep: sleep, Overtaken: func(context.Context) (string, error) { return "", nil }}
	return d.Deliver(ctx, k, e)
}

// answerRun is what the marker of an answer has for its run, where no run made it.
const answerRun = "answer"

// Answer posts the answer to a line of a comment, once, and returns where it is.
func (s *Service) Answer(ctx context.Context, target review.Target, a Ask, body string) (url string, err error) {
	return s.answer(ctx, target, a, answerRun, body)
}

func (s *Service) answer(ctx context.Context, target review.Target, a Ask, run, body string) (url string, err error) {
	client, err := s.GitHubFor(ctx, target.Repo)
	if err != nil {
		return "", err
	}
	pr, err := client.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return "", err
	}
	key, err := s.markerKey(ctx)
	if err != nil {
		return "", err
	}
	nonce, policy := hex.EncodeToString(randomBytes(16)), sanitize.Policy{Repo: pr.Repo, Known: client.Secrets()}
	texts, err := sanitize.Comment(a.Says()+"\n\n"+body, sanitize.Marker{
		Run: run, RepoID: pr.Repo.String(), PR: pr.Number, Nonce: nonce, Asked: a.Key(), Key: key,
	}, policy)
	if err != nil {
		return "", fmt.Errorf("sanitize the answer to a comment: %w", err)
	}
	for i, text := range texts {
		part := i + 1
		done, err := s.deliver(ctx, client, effects.Comment{Poster: client, Key: key, Policy: policy, Sleep: sleep}, effects.Effect{
			Key: fmt.Sprintf("%s/%s/%d", pr.Repo.Host, a.Key(), part), Nonce: effects.CommentNonce(nonce, part), Payload: text.String(), Since: a.Since,
		}, pr)
		if err != nil {
			return "", fmt.Errorf("answer a comment: %w", err)
		}
		url = done.Ref
	}
	return url, nil
}

// AnsweringRun is the run that was begun for a line of a comment; empty when there is none.
func (s *Service) AnsweringRun(ctx context.Context, target review.Target, a Ask) (string, error) {
	return s.store.Asked(ctx, askedKey(target, a.Asked))
}

// askedKey names a line of a comment. GitHub's names know no case, and neither does it.
func askedKey(target review.Target, a review.Asked) string {
	return strings.ToLower(target.String()) + "/" + a.Key()
}
