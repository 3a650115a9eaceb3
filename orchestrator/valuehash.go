package orchestrator

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hashRounds make a guess at a value about ten milliseconds: identities are posted, and a password may be weak.
const hashRounds = 1 << 15

// valueHash tells the value of a secret that the static reviewer found from others, by the whole of its lines in the change as it was told to it: what a
// mask hides of them is not known line by line. The lines of a private key are those up to its footer. It is empty for other findings.
func valueHash(f review.Finding, b review.Brief) (string, error) {
	i := slices.IndexFunc(b.Files, func(bf review.BriefFile) bool { return sanitize.MaskSpelled(bf.Path) == f.File })
	if i < 0 || f.Line == nil || !strings.HasPrefix(f.ID, secretRule) {
		return "", nil
	}
	lines := headLines(b.Files[i].Diff)
	text := f.Title
	for n := *f.Line; n < *f.Line+maxRuleLines; n++ {
		line, ok := lines[n]
		if !ok {
			break
		}
		text += "\n" + strings.TrimSpace(line)
		if last := f.LineEnd == nil || n >= *f.LineEnd; last && (strings.Contains(line, "-----END") || !strings.Contains(text, "PRIVATE KEY")) {
			break
		}
	}
	sum, err := pbkdf2.Key(sha256.New, text, []byte("prloop value"), hashRounds, 8)
	if err != nil {
		return "", fmt.Errorf("hash the value of a finding: %w", err)
	}
	return hex.EncodeToString(sum), nil
}

// headLines are the lines of the newer side of a diff, by number; none of a diff that cannot be read, which is not whole.
func headLines(text string) map[int]string {
	out := map[int]string{}
	d, err := diff.Parse(text)
	if err != nil {
		return out
	}
	for i := range d.Files {
		for h := range d.Files[i].Hunks {
			for l := range d.Files[i].Hunks[h].Lines() {
				if l.Op != '-' {
					out[l.New] = l.Text
				}
			}
		}
	}
	return out
}
