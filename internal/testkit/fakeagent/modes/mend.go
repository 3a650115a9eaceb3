package modes

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/review"
)

// Mended is the line a fixer that fixes puts at the end of a file.
const Mended = "// Mended by fakeagent."

// fix makes a plain change, as a good fixer does, before the mode does what it is there for: the file of the first finding
// gets one more line. A fixer that is asked again in the same folder finds it done.
func (a *agent) mend() error {
	if !a.mends || a.task.Fix == nil || len(a.task.Fix.IssuesToFix) == 0 {
		return nil
	}
	root, err := os.OpenRoot(a.tree)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(a.task.Fix.IssuesToFix[0].File)
	text, err := root.ReadFile(name)
	if err != nil || strings.HasSuffix(string(text), Mended+"\n") {
		return err
	}
	return root.WriteFile(name, append(text, "\n"+Mended+"\n"...), 0o600)
}

// settled adds a fixer's answer to one finding: fixed by one that fixes, rejected by others. Modes with something to say
// say it there.
func (a *agent) settled(r *review.FixResult, id string) {
	if a.mends {
		r.FixedIssues = append(r.FixedIssues, review.FixedIssue{FindingID: id, Description: cmp.Or(a.words, "fixed")})
		return
	}
	r.RejectedIssues = append(r.RejectedIssues, review.RejectedIssue{FindingID: id, Reason: cmp.Or(a.words, "this agent fixes nothing")})
}
