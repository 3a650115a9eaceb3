// Package identity tells which findings are the same one, across reviewers and across rounds, although models reword
// them and lines move (design.md "Identity"). It is pure, and its answers do not depend on the order of its arguments.
//
// Two findings are the same when their fingerprints are equal; else when they are about the same file, their categories
// are related, their lines are close and they share enough significant words. Assignment is one-to-one.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/prloop/prloop/review"
)

// minEvidence is how many letters and digits quoted code needs to stand for one place: `return nil` occurs everywhere.
const minEvidence = 12

// Fingerprint is 16 hex digits over category, file and evidence with white space folded. It is empty for a
// finding without evidence, or with evidence too short to tell places apart: such findings are matched by words alone.
// File is the path in the newer version; the caller follows renames.
func Fingerprint(f review.Finding) string {
	evidence := strings.Join(strings.Fields(f.Evidence), " ")
	significant := 0
	for _, r := range evidence {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			significant++
		}
	}
	if significant < minEvidence {
		return ""
	}
	sum := sha256.Sum256([]byte(Category(f.Category) + "\x00" + f.File + "\x00" + evidence))
	return hex.EncodeToString(sum[:8])
}
