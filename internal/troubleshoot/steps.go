package troubleshoot

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/review"
)

// afterClosing is the next step for a pull request that is not open: GitHub reopens a closed one, and never a merged one.
func afterClosing(state string) string {
	if strings.EqualFold(state, "merged") {
		return "open a new one for what is left to do, or check the merged commits out and review them with: prloop run --base REVISION"
	}
	return "reopen it, or review the commits with: prloop run --base REVISION"
}

// otherRevision names branches that are there instead of a revision that is not.
func otherRevision(e *git.UnknownRevisionError) string {
	next := "check it with: git rev-parse REVISION"
	if len(e.Branches) > 0 {
		next = "name one that exists; branches here: " + strings.Join(e.Branches, ", ")
	}
	if e.Shallow {
		next += "; this clone is shallow, for all of it: git fetch --unshallow"
	}
	return next
}

// oneOfRefs names the branch in full where a tag has its name.
func oneOfRefs(e *git.AmbiguousError) string {
	return "name one of them in full, such as " + e.Refs[0] + ", or delete the tag"
}

// nameRepository is the next step where the folder does not say which repository is meant.
func nameRepository(e *app.NoRemoteError) string {
	if !e.PullRequest {
		return "go to a checkout of it, or use -R OWNER/REPO"
	}
	next := "use -R OWNER/REPO, or give the pull request's URL"
	if e.Base != "" {
		next += "; for local changes: prloop run --base " + e.Base
	}
	return next
}

// obtain is the next step for a program that cannot be started.
func obtain(e *app.ProgramError) string {
	without := "choose others with --reviewers"
	switch e.Agent.Role {
	case review.RoleFixer:
		without = "use --no-fix"
	case review.RoleVerifier:
		without = "configure verifier: off"
	case review.RoleScout:
		without = "configure scout: off"
	case review.RoleFinder:
		without = "configure finder: off"
	case review.RoleCommand:
		without = "take the command out of .reviewerc"
	case review.RoleCommentsAnalyzer:
		without = "leave comments_analyzer to its default"
	}
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("chmod +x %s, or %s", e.Program, without)
	case e.Package != "":
		return fmt.Sprintf("npm install -g %s, or %s", e.Package, without)
	case !strings.ContainsRune(e.Program, filepath.Separator):
		return fmt.Sprintf("install it, write ./%s if it stands in this folder, or %s", e.Program, without)
	}
	return "correct the path, or " + without
}

// misconfigured is the next step for an endpoint that refuses what was configured for it.
func misconfigured(err error) (next string, ok bool) {
	var e *gateway.EndpointError
	if !errors.As(err, &e) {
		return "", false
	}
	return e.Next(), e.Trouble == gateway.TroubleKey || e.Trouble == gateway.TroubleModel || e.Trouble == gateway.TroubleAddress
}

// restore is the next step for a run that began with another setup.
func restore(e *app.ChangedError) string {
	switch e.Part {
	case app.CommonEndpoint:
		return "OPENAI_BASE_URL=" + e.Had + ", with the key of that endpoint in OPENAI_API_KEY"
	case app.NamedEndpoint:
		return "add it to upstreams in your own configuration"
	case app.Isolation:
		return "restore what it had (" + operator.EnvSandbox + ", " + operator.EnvSandboxWithout + ", prloop doctor), or start a new run"
	case app.Folders:
		return "check the same commits out there, or start a new run"
	case app.Seal:
		return "start a new run; where PRLOOP_MARKER_KEY was replaced, keep the old key behind the new one until its runs have ended"
	case app.Readable:
		return operator.EnvSandboxRead + "=" + e.Had
	}
	return "restore " + operator.EnvVerify + ", or start a new run"
}
