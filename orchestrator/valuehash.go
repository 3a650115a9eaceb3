package orchestrator

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hashRounds make a guess at a value about ten milliseconds: identities are posted, and a password may be weak.
const hashRounds = 1 << 15

// valueHash tells a secret, and what else the static reviewer finds that is grave, from others of its rule, whose words are the same: by the whole of its lines in the
// change as it was told to it, as what a mask hides of them is not known line by line. The lines of a private key are those up to its footer. Where the lines are not to be
// found it is of the whole change, so that no other finding has it. It is empty for small findings, and for what is about a whole file.
func valueHash(f review.Finding, b review.Brief) (string, error) {
	if f.Line == nil || !ofSecrets(f) && !grave(f) {
		return "", nil
	}
	lines := map[int]string{}
	for _, bf := range b.Files { // a link that a file takes the place of has its name too
		if sanitize.MaskSpelled(bf.Path) == f.File {
			maps.Copy(lines, headLines(bf.Diff))
		}
	}
	text := f.Title
	for n := *f.Line; ; n++ {
		line, ok := lines[n]
		if !ok {
			break
		}
		text += "\n" + strings.TrimSpace(line)
		if last := f.LineEnd == nil || n >= *f.LineEnd; last && (strings.Contains(line, "-----END") || !strings.Contains(text, "PRIVATE KEY")) {
			break
		}
	}
	if _, ok := lines[*f.Line]; !ok {
		for _, bf := range b.Files {
			text += "\n" + bf.Path + "\n" + bf.Diff
		}
	}
	sum, err := pbkdf2.Key(sha256.New, text, []byte("prloop value"), hashRounds, 8)
	if err != nil {
		return "", fmt.Errorf("hash the value of a finding: %w", err)
	}
	return hex.EncodeToString(sum), nil
}

// ownLines are the lines of a finding of the static reviewer, which counted them in the change. Its quote is without the value: the rest may stand elsewhere,
// or be made to, and does not move the finding.
func ownLines(f review.Finding) [2]int {
	if f.LineEnd != nil {
		return [2]int{*f.Line, *f.LineEnd}
	}
	return [2]int{*f.Line, *f.Line}
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
