package orchestrator

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/masks"
)

const (
	hiddenPart = "a part was masked as a secret, which no rule says it is: a name in plain words, or a made-up value that says so, such as test-token-1, is not masked, lines of a private key are known as such where the change shows its first one, and PRLOOP_SECRETS=show lets models read all"
	hiddenMore = "a part was masked as a secret, and the static reviewer found more secrets than it may report: keep fewer of them in one change"
	hiddenName = "a part of its name is masked as a secret, and what is left may be the name of another file too: rename it"
)

// hidden are the files that may be taken for others, and those with a changed line, or a name, of which a mask hides what may be code, and of which no rule says that it is
// a secret: a finding of a rule stands for one value of its line, and no rule speaks of removed lines. A mask takes out what looks
// like a value; code can be made to look like one, and nobody but the rules was shown it.
func (g gathered) hidden() map[string]string {
	out := map[string]string{}
	for _, name := range g.in.Snapshot.Alike {
		out[name] = hiddenName
	}
	if g.in.Request.Secrets == ShowSecrets {
		return out
	}
	why := hiddenPart
	if slices.ContainsFunc(g.in.Reports, overfull) {
		why = hiddenMore
	}
	said := map[masks.Line]int{} // how many values, by the reviewer that knows of most
	by := map[string]map[masks.Line]int{}
	for _, f := range slices.Concat(g.findings, g.again) {
		if !g.rules[f.Source.Name] || f.Line == nil || !ofSecrets(f) {
			continue
		}
		last := *f.Line
		if f.LineEnd != nil {
			last = *f.LineEnd
		}
		for n := *f.Line; n <= last && n-*f.Line < maxRuleLines; n++ {
			at := masks.Line{File: f.File, Line: n}
			if by[f.Source.Name] == nil {
				by[f.Source.Name] = map[masks.Line]int{}
			}
			by[f.Source.Name][at]++
			said[at] = max(said[at], by[f.Source.Name][at])
		}
	}
	for _, at := range g.in.Snapshot.Opaque {
		if said[at]--; said[at] < 0 {
			out[at.File] = cmp.Or(out[at.File], why)
		}
	}
	for _, at := range g.in.Snapshot.OpaqueRemoved {
		out[at.File] = cmp.Or(out[at.File], hiddenPart)
	}
	return out
}

// secretRule begins the ids of what the static reviewer finds by its rules about secrets.
const secretRule = "STATIC-SECRET-"

// maxRuleLines is how many lines one finding of a rule may stand for: a private key.
const maxRuleLines = 200
