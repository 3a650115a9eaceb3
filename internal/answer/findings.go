package answer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// settleFindings applies what a schema cannot say to the findings of one answer, in place.
func settleFindings(findings []review.Finding, at string, notes *schema.Notes) []schema.Fault {
	var faults []schema.Fault
	for i := range findings {
		f := &findings[i]
		where := at
		if at != "" {
			where = fmt.Sprintf("%s/%d", at, i)
		}
		if clean, ok := cleanPath(f.File); ok {
			f.File = clean
		} else {
			faults = append(faults, schema.Fault{Where: schema.At(where, "file"), Why: "must be a path inside the repository, relative to its root, with slashes"})
		}
		for f.Several() { // that is for prloop to say
			f.ID = strings.TrimPrefix(f.ID, review.PrefixSeveral)
		}
		if p := review.PriorityOfScore(f.Score); f.Score > 0 && p.Severe() && !f.Priority.Severe() {
			notes.Add("%s: a score of %d is that of %s, which counts", where, f.Score, p)
			f.Priority = p
		}
		if f.LineEnd != nil && (f.Line == nil || *f.LineEnd < *f.Line) {
			f.LineEnd = nil
			notes.Add("%s: lies before line and was dropped", schema.At(where, "lineEnd"))
		}
		if f.Fingerprint != "" || f.ValueHash != "" || f.Cause != nil || f.Assessment != nil {
			f.Fingerprint, f.ValueHash, f.Cause, f.Assessment = "", "", nil, nil
			notes.Add("%s: fingerprint, assessment and cause are for prloop to say, the claim was dropped", where)
		}
	}
	distinctIDs(findings, notes)
	return faults
}

// cleanPath accepts a path that cannot leave the repository, and the empty path of a finding about no file, and gives its one
// spelling. An unusual name may come quoted, as it was shown, or as it is in the tree. In a quoted one a backslash and a colon are
// what they are in git: letters of a name.
func cleanPath(p string) (string, bool) {
	name := spelling.Raw(p)
	bare, dividers := name == p, "/"
	if bare {
		dividers = `/\`
	}
	if path.IsAbs(name) || strings.IndexByte(name, 0) >= 0 || (bare && len(p) > 1 && p[1] == ':') {
		return "", false
	}
	if slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(dividers, r) }), "..") {
		return "", false
	}
	if name = path.Clean(name); name == "." {
		name = ""
	}
	return spelling.Name(name), true
}

// distinctIDs renames the later of two findings with one id: reports and the fixer refer to findings by it (spec.md A5).
func distinctIDs(findings []review.Finding, notes *schema.Notes) {
	used := make(map[string]bool, len(findings))
	for _, f := range findings {
		used[f.ID] = true
	}
	seen := make(map[string]bool, len(findings))
	for i := range findings {
		f := &findings[i]
		if !seen[f.ID] {
			seen[f.ID] = true
			continue
		}
		for n := 2; ; n++ {
			// The suffix must not push the id over its cap.
			base := f.ID
			if r := []rune(base); len(r) > schema.MaxName-8 {
				base = string(r[:schema.MaxName-8])
			}
			if id := fmt.Sprintf("%s-%d", base, n); !used[id] {
				notes.Add("an id is used twice; the later finding is shown under another one")
				f.ID = id
				used[id], seen[id] = true, true
				break
			}
		}
	}
}

// recount replaces claimed counts by those of the findings (threats.md T87: well-formed lies).
func recount(claimed *review.Counts, findings []review.Finding, notes *schema.Notes) {
	if counted := review.Count(findings); *claimed != counted {
		notes.Add("issues: claimed %d/%d/%d/%d, counted %d/%d/%d/%d", claimed.P0, claimed.P1, claimed.P2, claimed.P3,
			counted.P0, counted.P1, counted.P2, counted.P3)
		*claimed = counted
	}
}
