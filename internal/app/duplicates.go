package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// duplicateAlarm is the alarm of threats.md P1: whenever a discussion is read, comments of ours that say the same thing twice
// are reported. There are none as long as GitHub ends a request within the time it promises; if there are, a person has to
// know.
type duplicateAlarm struct {
	orchestrator.Forge
	store *store.Store
	// key authenticates our markers.
	key  []byte
	emit func(review.Event)
}

// Discussion reads the discussion and looks through it.
func (w duplicateAlarm) Discussion(ctx context.Context, pr review.PullRequest) (review.Discussion, error) {
	d, err := w.Forge.Discussion(ctx, pr)
	if err != nil {
		return d, err
	}
	return d, w.sweep(ctx, pr, d.Comments)
}

// sweep records an incident of the run that posted, for each comment whose nonce and part stand in one before it, or that the
// outbox knows under another number. Only what our account wrote counts: anybody can paste a comment of ours.
func (w duplicateAlarm) sweep(ctx context.Context, pr review.PullRequest, comments []review.Comment) error {
	viewer, err := w.Forge.Viewer(ctx, pr.Repo.Host)
	if err != nil {
		return err
	}
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b review.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	there, outbox := map[string]string{}, map[string][]store.Entry{}
	for _, c := range comments {
		if c.Author.Login != viewer.Login {
			continue
		}
		m, err := sanitize.Verify(c.Body, w.key, pr.Repo.String(), pr.Number)
		if err != nil {
			continue
		}
		if _, asked := outbox[m.Run]; !asked {
			if outbox[m.Run], err = w.store.Outbox(ctx, m.Run); err != nil {
				return err
			}
		}
		nonce := effects.CommentNonce(m.Nonce, m.Part)
		for _, e := range outbox[m.Run] {
			if e.Nonce == nonce && e.State == store.StateAcked && commentID(e.Ref) != commentID(c.URL) {
				there[nonce] = e.Ref
			}
		}
		if first := there[nonce]; first != "" && first != c.URL {
			if err := w.alarm(ctx, m.Run, fmt.Sprintf("duplicate comment: %s repeats %s", c.URL, first)); err != nil {
				return err
			}
			continue
		}
		there[nonce] = c.URL
	}
	return nil
}

// commentID is the number of a comment, with which its address ends: #issuecomment-NUMBER.
func commentID(url string) string { return url[strings.LastIndexByte(url, '-')+1:] }

func (w duplicateAlarm) alarm(ctx context.Context, run, detail string) error {
	w.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: "incident of run " + run + ": " + detail, Time: time.Now()})
	return w.store.Incident(ctx, run, store.IncidentTwice, detail)
}
