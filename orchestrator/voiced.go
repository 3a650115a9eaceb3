package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

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

// voiced names the comments in the threads of a discussion, and when they were edited, of people who may block by what GitHub says of them, or of whom it was asked
// (outsiders). The author's are not among them, and neither is what we post. It is never empty.
func voiced(d review.Discussion, known conversation.People) string {
	asked, said := outsiders(d, known), []string{}
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			v := known.Voice(c.Author.Login, c.Author.Bot)
			counts := review.MayBlock(c.Author.Association) ||
				v.Write && slices.ContainsFunc(asked, func(login string) bool { return strings.EqualFold(login, c.Author.Login) })
			if counts && !v.Bot && !v.Author && (!v.Own || !sanitize.HasMarker(c.Body)) {
				said = append(said, fmt.Sprintf("%d %d", c.DatabaseID, c.EditedAt.Unix()))
			}
		}
	}
	slices.Sort(said)
	if d.Truncated { // what else there is nobody has read (threats.md T548)
		said = append(said, "and more")
	}
	sum := sha256.Sum256([]byte(strings.Join(said, "\n")))
	return hex.EncodeToString(sum[:8])
}
