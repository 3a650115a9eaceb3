// Package identity tells which findings are the same one, across reviewers and across rounds, although models reword
// them and lines move (design.md "Identity"). It is pure, and its answers do not depend on the order of its arguments.
//
// Two findings are the same when their fingerprints are equal; else when they are about the same file, their categories
// are related, their lines are close and they share enough significant words. Assignment is one-to-one.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/review"
)

// minEvidence is how many letters and digits quoted code needs to stand for one place: `return nil` occurs everywhere.
const minEvidence = 12

// Fingerprint is 16 hex digits over category, file and evidence with white space folded. It is empty for a
// finding without evidence, or with evidence too short to tell places apart: such findings are matched by words alone.
// Of a secret that a rule found it is over the hash of its value instead: all values look alike behind a mask.
// File is the path in the newer version; the caller follows renames.
func Fingerprint(f review.Finding) string {
	if f.ValueHash != "" {
		return digits(f.Category, f.File, "value", f.ValueHash)
	}
	return quoted(f)
}

// quoted is Fingerprint by the evidence alone, by which the wordings of several reviewers are compared: only rules know values.
func quoted(f review.Finding) string {
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
	return digits(f.Category, f.File, evidence)
}

// OfAll is the Fingerprint of what stands for several: over the identities of all of them, in whatever order.
func OfAll(parts []review.Finding) string {
	ids := make([]string, len(parts))
	for i := range parts {
		ids[i] = ID(parts[i : i+1])
	}
	slices.Sort(ids)
	return digits("", "", append([]string{"several"}, ids...)...)
}

// digits are 16 hex digits over a category, a file and what else tells a finding from others.
func digits(category, file string, rest ...string) string {
	sum := sha256.Sum256([]byte(Category(category) + "\x00" + file + "\x00" + strings.Join(rest, "\x00")))
	return hex.EncodeToString(sum[:8])
}
