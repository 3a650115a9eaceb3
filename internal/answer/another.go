package answer

import (
	"errors"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// ErrAnother says of an answer that text beside it may be another one: who wrote it may have quoted one that stands in the change, and nobody can tell which of them is
// meant (threats.md T789).
var ErrAnother = errors.New("text beside the answer may hold another one: write the answer once, alone, and quote none")

// anyKey is the field that only an answer has, of each role.
var anyKey = lazyregexp.New(`"(findings|pendingIssues|fixedIssues|assessments|confidence|complexity|wanted)"\s*:`)

// Another is ErrAnother where text beside an answer of a role has the field that only such an answer has, in whatever fence, thought or quotation; without a role,
// that of any answer.
func Another(beside []byte, role review.Role) error {
	text := string(beside)
	for _, m := range anyKey.FindAllStringSubmatchIndex(text, -1) {
		if role == "" || text[m[2]:m[3]] == Key(role) {
			return ErrAnother
		}
	}
	return nil
}
