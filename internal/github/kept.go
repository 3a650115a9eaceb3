package github

import (
	"context"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// keeper decides how much is kept of what people wrote. What our account wrote, and who may block, is kept whole: rules read it. What the author of a
// pull request wrote has a bound, and so has what all others wrote together, of which rules read whether it is there and its first words.
type keeper struct {
	c      *Client
	author review.Person
	// ofAuthor and ofOthers are how many bytes may still be kept.
	ofAuthor, ofOthers int
	// cut counts texts of which the beginning is kept.
	cut int
}

// beginning is what is kept of a text that does not fit, in bytes.
const beginning = 512

func (c *Client) keeper(author review.Person) *keeper {
	return &keeper{c: c, author: author, ofAuthor: c.bounds.others, ofOthers: c.bounds.others}
}

// text is what is kept of a text. One takes an eighth of what is left at most, so that a few long ones do not take the place of all short ones.
// What is cut is masked before, while all of it stands there that tells a value for a secret (threats.md T793).
func (k *keeper) text(ctx context.Context, by review.Person, body string) (string, error) {
	if review.MayBlock(by.Association) || len(body) <= beginning {
		return body, nil
	}
	left := &k.ofOthers
	if k.author.ID != 0 && effects.Same(by, k.author) {
		left = &k.ofAuthor
	}
	if len(body) <= *left/8 {
		*left -= len(body)
		return body, nil
	}
	own, err := k.c.Viewer(ctx, "")
	if err != nil || effects.Same(by, own) {
		return body, err
	}
	k.cut++
	return sanitize.Beginning(sanitize.Mask(body), beginning) + "\n\n" + sanitize.TruncatedComment, nil
}
