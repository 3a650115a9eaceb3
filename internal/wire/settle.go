package wire

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// settleFindings applies what a schema cannot say to the findings of one answer, in place.
func settleFindings(findings []review.Finding, at string, notes *Notes) []Fault {
	var faults []Fault
	for i := range findings {
		f := &findings[i]
		where := at
		if at != "" {
			where = fmt.Sprintf("%s/%d", at, i)
		}
		if clean, ok := cleanPath(f.File); ok {
			f.File = clean
		} else {
			faults = append(faults, Fault{join2(where, "file"), "must be a path inside the repository, relative to its root, with slashes"})
		}
		if p := review.PriorityOfScore(f.Score); f.Score > 0 && p.Severe() && !f.Priority.Severe() {
			notes.add("%s: a score of %d is that of %s, which counts", where, f.Score, p)
			f.Priority = p
		}
		if f.LineEnd != nil && (f.Line == nil || *f.LineEnd < *f.Line) {
			f.LineEnd = nil
			notes.add("%s: lies before line and was dropped", join2(where, "lineEnd"))
		}
		if f.Fingerprint != "" || f.Cause != nil || f.Assessment != nil {
			f.Fingerprint, f.Cause, f.Assessment = "", nil, nil
			notes.add("%s: fingerprint, assessment and cause are for prloop to say, the claim was dropped", where)
		}
	}
	distinctIDs(findings, notes)
	return faults
}

func join2(at, name string) string {
	if at == "" {
		return name
	}
	return at + "/" + name
}

// cleanPath accepts a path that cannot leave the repository, and the empty path of a finding about no file, and gives its one
// spelling. An unusual name may come quoted, as it was shown, or as it is in the tree.
func cleanPath(p string) (string, bool) {
	name := spelling.Raw(p)
	if path.IsAbs(name) || strings.IndexByte(name, 0) >= 0 || (len(p) > 1 && p[1] == ':') {
		return "", false
	}
	if slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return "", false
	}
	if name = path.Clean(name); name == "." {
		name = ""
	}
	return spelling.Name(name), true
}

// distinctIDs renames the later of two findings with one id: reports and the fixer refer to findings by it (spec.md A5).
func distinctIDs(findings []review.Finding, notes *Notes) {
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
			if r := []rune(base); len(r) > maxName-8 {
				base = string(r[:maxName-8])
			}
			if id := fmt.Sprintf("%s-%d", base, n); !used[id] {
				notes.add("an id is used twice; the later finding is shown under another one")
				f.ID = id
				used[id], seen[id] = true, true
				break
			}
		}
	}
}

// recount replaces claimed counts by those of the findings (threats.md T87: well-formed lies).
func recount(claimed *review.Counts, findings []review.Finding, notes *Notes) {
	if counted := review.Count(findings); *claimed != counted {
		notes.add("issues: claimed %d/%d/%d/%d, counted %d/%d/%d/%d", claimed.P0, claimed.P1, claimed.P2, claimed.P3,
			counted.P0, counted.P1, counted.P2, counted.P3)
		*claimed = counted
	}
}

func settleFix(r *review.FixResult, notes *Notes) []Fault {
	var faults []Fault
	seen := map[string]bool{}
	once := func(list string, i int, id string) {
		if seen[id] {
			faults = append(faults, Fault{fmt.Sprintf("%s/%d/findingId", list, i), short(id) + " is named twice; each finding is either fixed or rejected, once"})
		}
		seen[id] = true
	}
	for i, f := range r.FixedIssues {
		once("fixedIssues", i, f.FindingID)
	}
	for i, f := range r.RejectedIssues {
		once("rejectedIssues", i, f.FindingID)
	}
	if fixed, rejected := len(r.FixedIssues), len(r.RejectedIssues); r.Summary.Fixed != fixed || r.Summary.Rejected != rejected {
		notes.add("summary: claimed %d fixed and %d rejected, listed %d and %d", r.Summary.Fixed, r.Summary.Rejected, fixed, rejected)
		r.Summary.Fixed, r.Summary.Rejected = fixed, rejected
	}
	return faults
}
