package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
)

const (
	hiddenMore = "a part was masked as a secret, and the static reviewer found more secrets than it may report: keep fewer of them in one change"
	hiddenName = "a part of its name is masked as a secret, and what is left may be the name of another file too: rename it"
	// namedLines is how many lines a reason names.
	namedLines = 3
)

// hidden are the files that may be taken for others, and those with a changed line, or a name, of which a mask hides what may be code, and of which no rule says that it is
// a secret: all findings of the line's secrets have to stand, one of them about all that the mask took, and no rule speaks of removed lines. A mask takes out what looks
// like a value; code can be made to look like one, and nobody but the rules was shown it.
func (in Inputs) hidden() map[string]string {
	out := map[string]string{}
	for _, name := range in.Snapshot.Alike {
		out[name] = hiddenName
	}
	if in.Request.Secrets == ShowSecrets {
		return out
	}
	said := map[masks.Line]int{} // how many values, by the reviewer that knows of most
	for _, h := range in.Reports {
		if h.Answer.Receipt.Kind != review.KindStatic {
			continue
		}
		by := map[masks.Line]int{}
		for i, f := range in.Request.counting(h) {
			if f.Line == nil || !ofSecrets(f) || f.Unconfirmed != "" || i < len(h.Evidence) && h.Evidence[i].Status == evidence.False {
				continue
			}
			last := *f.Line
			if f.LineEnd != nil {
				last = *f.LineEnd
			}
			for n := *f.Line; n <= last && n-*f.Line < maxRuleLines; n++ {
				at := masks.Line{File: f.File, Line: n}
				by[at]++
				said[at] = max(said[at], by[at])
			}
		}
	}
	lines, removed := map[string][]int{}, map[string][]int{}
	for _, at := range in.Snapshot.Opaque {
		if at.Found == 0 || said[at.Line] < at.Found {
			lines[at.File] = append(lines[at.File], at.Line.Line)
		}
	}
	for _, at := range in.Snapshot.OpaqueRemoved {
		removed[at.File] = append(removed[at.File], at.Line)
	}
	for name := range lines {
		why := maskedOn("line", lines[name])
		if slices.ContainsFunc(in.Reports, overfull) {
			why = hiddenMore
		}
		out[name] = cmp.Or(out[name], why)
	}
	for name := range removed {
		out[name] = cmp.Or(out[name], maskedOn("removed line", removed[name]))
	}
	return out
}

// secretRule begins the ids of what the static reviewer finds by its rules about secrets.
const secretRule = "STATIC-SECRET-"

// maxRuleLines is how many lines one finding of a rule may stand for: a private key.
const maxRuleLines = 200

// maskedOn says on which lines values were masked of which no rule says that they are secrets.
func maskedOn(what string, lines []int) string {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	var words []string
	for _, n := range lines[:min(namedLines, len(lines))] {
		words = append(words, strconv.Itoa(n))
	}
	if more := len(lines) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	if len(lines) > 1 {
		what += "s"
	}
	return report.Masked + what + " " + strings.Join(words, ", ")
}
