package orchestrator

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// hashRounds make a guess at a value about ten milliseconds: identities are posted, and a password may be weak.
const hashRounds = 1 << 15

// linesBelow bounds how far below a finding the footer of a private key is looked for.
const linesBelow = 1000

// values tells the findings of the static reviewer apart, by the change as it was told to it.
type values struct {
	brief review.Brief
	// read reads a file of the head.
	read func(ctx context.Context, file string) (evidence.File, error)
	// known are the newer lines of files in the change, as far as they were asked for.
	known map[string]map[int]diff.Line
}

// lines are the newer lines of a file in the change, by number.
func (v *values) lines(file string) map[int]diff.Line {
	if lines, ok := v.known[file]; ok {
		return lines
	}
	lines := map[int]diff.Line{}
	for _, bf := range v.brief.Files { // a link that a file takes the place of has its name too
		if sanitize.MaskSpelled(bf.Path) == file {
			maps.Copy(lines, headLines(bf.Diff))
		}
	}
	if v.known == nil {
		v.known = map[string]map[int]diff.Line{}
	}
	v.known[file] = lines
	return lines
}

// hash is valueHash, with what likeBefore says.
func (v *values) hash(ctx context.Context, f review.Finding) (string, error) {
	before, err := v.likeBefore(ctx, f)
	if err != nil {
		return "", err
	}
	return v.valueHash(f, before)
}

// valueHash tells a secret, and what else the static reviewer finds that is grave, from others of its rule, whose words are the same: by the whole of its lines in the
// change as it was told to it, as what a mask hides of them is not known line by line. The lines of a private key are those up to its footer. A secret has one hash in all
// its like lines; of other like lines of a file each has its own, by before, which is what likeBefore says. Where the lines are not to be found it is of the whole change, so that no
// other finding has it. It is empty for small findings, and for what is about a whole file.
func (v *values) valueHash(f review.Finding, before int) (string, error) {
	if f.Line == nil || !ofSecrets(f) && !objections.Grave(f) {
		return "", nil
	}
	lines := v.lines(f.File)
	var text strings.Builder
	text.WriteString(f.Title)
	own, key := ownLines(f), false
	for n := own[0]; n <= own[1] || key && n <= own[1]+linesBelow; n++ {
		line, ok := lines[n]
		if !ok {
			break
		}
		text.WriteString("\n" + strings.TrimSpace(line.Text))
		key = key || strings.Contains(line.Text, "PRIVATE KEY")
		if n >= own[1] && strings.Contains(line.Text, "-----END") {
			break
		}
	}
	if _, ok := lines[own[0]]; !ok {
		for _, bf := range v.brief.Files {
			text.WriteString("\n" + bf.Path + "\n" + bf.Diff)
		}
	}
	if before > 0 {
		fmt.Fprintf(&text, "\n%d", before)
	}
	sum, err := pbkdf2.Key(sha256.New, text.String(), []byte("prloop value"), hashRounds, 8)
	if err != nil {
		return "", fmt.Errorf("hash the value of a finding: %w", err)
	}
	return hex.EncodeToString(sum), nil
}

// likeBefore counts the lines of the file of a grave finding that are like its first one: those that the change does not add, wherever they stand, and those it adds
// before. Whoever dismissed one of them said nothing of the next (threats.md T535). It is 0 for a secret, which is the same wherever it stands.
func (v *values) likeBefore(ctx context.Context, f review.Finding) (out int, err error) {
	if f.Line == nil || ofSecrets(f) || !objections.Grave(f) {
		return 0, nil
	}
	lines := v.lines(f.File)
	for _, bf := range v.brief.Files {
		if sanitize.MaskSpelled(bf.Path) == f.File {
			whole, err := v.read(ctx, bf.Path)
			if err != nil {
				return 0, err
			}
			out = max(out, whole.Like(lines[*f.Line].Text))
		}
	}
	for n, l := range lines {
		if l.Op == '+' && n >= *f.Line && strings.TrimSpace(l.Text) == strings.TrimSpace(lines[*f.Line].Text) {
			out--
		}
	}
	return max(out, 0), nil
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
func headLines(text string) map[int]diff.Line {
	out := map[int]diff.Line{}
	d, err := diff.Parse(text)
	if err != nil {
		return out
	}
	for i := range d.Files {
		for h := range d.Files[i].Hunks {
			for l := range d.Files[i].Hunks[h].Lines() {
				if l.Op != '-' {
					out[l.New] = l
				}
			}
		}
	}
	return out
}
