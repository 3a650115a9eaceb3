package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/artifacts"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// recorder keeps a run's artifacts and its end.
type recorder struct {
	store  *store.Store
	folder *artifacts.Folder
}

func (r recorder) Save(_ context.Context, run, name string, data []byte) error {
	return r.folder.Save(run, name, data)
}

// Round keeps the verdict of a round. Saying it again replaces it.
func (r recorder) Round(ctx context.Context, result review.RunResult) error {
	verdict := review.Verdict{Issues: result.Issues, Distinct: result.Distinct, Rules: result.Rules}
	if result.Consensus != nil {
		verdict.Consensus = review.Conclusion(*result.Consensus)
	}
	round := store.Round{Run: result.Run, Number: result.Round, Verdict: verdict, Receipt: result.Receipt, Findings: result.Findings}
	return r.store.SaveRound(ctx, round)
}

func (r recorder) Finish(ctx context.Context, result review.RunResult) error {
	return r.store.FinishRun(ctx, result)
}

// outbox lends the loop the store's outbox. The store's nonce names one comment, the loop's one report: the part is what
// tells them apart.
type outbox struct {
	store *store.Store
	// lease is what a posting is held against; nil when nobody shares the pull request.
	lease  *store.Lease
	policy sanitize.Policy
}

func entryNonce(p orchestrator.Posting) string { return fmt.Sprintf("%s-%d", p.Nonce, p.Part) }

func (o outbox) Intend(ctx context.Context, p orchestrator.Posting) (orchestrator.Posting, error) {
	e, err := o.store.Intent(ctx, store.Entry{
		Nonce: entryNonce(p), Run: p.Run, Round: p.Round, Op: p.Op, Part: p.Part, Parts: p.Parts,
		Target: review.Target{Repo: p.PR.Repo, PR: p.PR.Number}, Head: p.PR.HeadSHA, Body: p.Body.String(), Poster: p.Poster,
	})
	if err != nil {
		return p, err
	}
	nonce, ok := strings.CutSuffix(e.Nonce, fmt.Sprintf("-%d", p.Part))
	if !ok {
		return p, fmt.Errorf("stored nonce %q is of another part than %d", e.Nonce, p.Part)
	}
	p.Nonce, p.SentAt, p.URL = nonce, e.SentAt, e.CommentURL
	if e.Poster.Login != "" { // it is empty in rows of an earlier prloop
		p.Poster = e.Poster
	}
	if e.State == store.StateAbsent {
		p.SentAt = time.Time{} // proven not to be there
	}
	if e.Body != p.Body.String() {
		// What was intended first is what is said. It was sanitized then, and is checked again now.
		if p.Body, err = sanitize.Restore(e.Body, o.policy); err != nil {
			return p, fmt.Errorf("stored comment of run %s: %w", p.Run, err)
		}
	}
	return p, nil
}

func (o outbox) Sending(ctx context.Context, p orchestrator.Posting) error {
	if o.lease == nil {
		return o.store.Sending(ctx, entryNonce(p))
	}
	return o.store.Sending(ctx, entryNonce(p), o.lease)
}

func (o outbox) Absent(ctx context.Context, p orchestrator.Posting) error {
	return o.store.Absent(ctx, entryNonce(p))
}

func (o outbox) Acked(ctx context.Context, p orchestrator.Posting, url string) error {
	id, err := commentID(url)
	if err != nil {
		return err
	}
	return o.store.Ack(ctx, entryNonce(p), id, url)
}

// commentID reads the number out of a comment's address, which ends in #issuecomment-NUMBER.
func commentID(url string) (int64, error) {
	_, number, ok := strings.Cut(url, "#issuecomment-")
	if !ok {
		return 0, errors.New("the address of the posted comment has no comment number")
	}
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("number of the posted comment: %w", err)
	}
	return id, nil
}
