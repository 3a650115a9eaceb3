package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Voiced tells what people who may block say now in the threads of a pull request from what they said when a run read them (Receipt.ThreadsRead). It needs Forge
// and People.
func (l *Loop) Voiced(ctx context.Context, pr review.PullRequest) (string, error) {
	t, err := l.told(ctx, pr, nil)
	if err != nil {
		return "", err
	}
	return voiced(t.asIs, t.people), nil
}

// VoicedSince reports whether people who may block said something in the threads of a pull request at or after a time, or nobody can tell. It needs Forge and People.
func (l *Loop) VoicedSince(ctx context.Context, pr review.PullRequest, since time.Time) (bool, error) {
	t, err := l.told(ctx, pr, nil)
	if err != nil {
		return false, err
	}
	later := func(c review.Comment) bool { return !c.CreatedAt.Before(since) || !c.EditedAt.Before(since) }
	return t.asIs.Truncated || slices.ContainsFunc(voices(t.asIs, t.people), later), nil
}

// voiced names the voices in the threads of a discussion, and when they were edited. It is never empty.
func voiced(d review.Discussion, known conversation.People) string {
	said := []string{}
	for _, c := range voices(d, known) {
		said = append(said, fmt.Sprintf("%d %d", c.DatabaseID, c.EditedAt.Unix()))
	}
	slices.Sort(said)
	if d.Truncated { // what else there is nobody has read (threats.md T548)
		said = append(said, "and more")
	}
	sum := sha256.Sum256([]byte(strings.Join(said, "\n")))
	return hex.EncodeToString(sum[:8])
}

// voices are the comments in the threads of a discussion of people who may block by what GitHub says of them, or of whom it was asked (outsiders). The author's are not among
// them, and neither is what we post.
func voices(d review.Discussion, known conversation.People) (out []review.Comment) {
	asked := outsiders(d, known)
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			v := known.Voice(c.Author.Login, c.Author.Bot)
			counts := review.MayBlock(c.Author.Association) ||
				v.Write && slices.ContainsFunc(asked, func(login string) bool { return strings.EqualFold(login, c.Author.Login) })
			if counts && !v.Bot && !v.Author && (!v.Own || !sanitize.HasMarker(c.Body)) {
				out = append(out, c)
			}
		}
	}
	return out
}
