package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// ReviewID is the first 16 hex digits of the sha256 over repository, pull request, head, prompt version, the sorted
// reviewers with their models, and the budget (decision 11). Two runs with the same id were asked for the same review.
func ReviewID(target review.Target, head, promptVersion string, agents []AgentPlan, limits review.Limits) string {
	names := make([]string, 0, len(agents))
	for _, a := range agents {
		names = append(names, fmt.Sprintf("%q %q %q %q", a.Name, a.Role, a.Kind, a.Model))
	}
	slices.Sort(names)
	h := sha256.New()
	for _, part := range []string{
		target.Repo.String(), fmt.Sprint(target.PR), target.Base, head, promptVersion,
		strings.Join(names, "\n"), fmt.Sprintf("%+v", limits),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part) // length-prefixed: no two lists of parts read the same
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// RunID names a run: sortable by time, unique by what was asked.
func RunID(started time.Time, reviewID string) string {
	return started.UTC().Format("20060102T150405.000Z") + "_" + reviewID
}
