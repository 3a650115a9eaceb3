package forge

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// PushRefusal is why GitHub refuses a push to a branch, in its own words.
type PushRefusal string

// The refusals.
const (
	// ProtectedBranch is a classic branch protection rule.
	ProtectedBranch PushRefusal = "GH006"
	// RepositoryRule is a ruleset. Unlike branch protection, GraphQL's refUpdateRule does not tell of it.
	RepositoryRule PushRefusal = "GH013: rule"
	// PushProtection found a secret in what was pushed.
	PushProtection PushRefusal = "GH013: secret"
	// SignatureRequired is a branch protection rule that wants signed commits; people may push them.
	SignatureRequired PushRefusal = "GH006: signature"
)

// words are what GitHub prints before the refusal, and the refusal of the ref itself.
func (k PushRefusal) words(ref string) (said []string, why string) {
	switch k {
	case ProtectedBranch:
		return []string{"GH006: Protected branch update failed for " + ref + ".", "Changes must be made through a pull request."}, "protected branch hook declined"
	case SignatureRequired:
		return []string{"GH006: Protected branch update failed for " + ref + ".", "Commits must have verified signatures."}, "protected branch hook declined"
	case PushProtection:
		return []string{"GH013: Repository rule violations found for " + ref + ".", "- GITHUB PUSH PROTECTION", "  - Push cannot contain secrets"}, "push declined due to repository rule violations"
	}
	return []string{"GH013: Repository rule violations found for " + ref + ".", "- Cannot update this protected ref."}, "push declined due to repository rule violations"
}

// RefusePushes makes GitHub refuse every push to a branch from now on, or lets them in again (an empty refusal).
func (r *Repo) RefusePushes(branch string, k PushRefusal) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string]PushRefusal{}
	}
	r.refused[branch] = k
}

// Archive makes the repository read-only.
func (r *Repo) Archive() { r.setArchived(true) }

// Unarchive lets people write again.
func (r *Repo) Unarchive() { r.setArchived(false) }

func (r *Repo) setArchived(archived bool) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.archived = archived
}

// MoveBranch is somebody's push of a commit that is there to a branch, by force where it has to be; without a commit the branch is deleted, which
// closes the pull requests it is the head of.
func (r *Repo) MoveBranch(branch, commit string) error {
	args := []string{"update-ref", "refs/heads/" + branch, commit}
	if commit == "" {
		args = []string{"update-ref", "-d", "refs/heads/" + branch}
	}
	if _, err := r.f.git.run(r.Bare, nil, nil, args...); err != nil {
		return fmt.Errorf("move the branch %s: %w", branch, err)
	}
	r.f.mu.Lock()
	r.f.touches = append(r.f.touches, Touch{At: r.f.opt.Now(), Branch: branch, Deleted: commit == ""})
	var closed []*PullRequest
	for _, base := range r.f.repos {
		for _, p := range base.prs {
			if commit == "" && p.head == r && p.headRef == branch && p.state == "OPEN" {
				closed = append(closed, p)
			}
		}
	}
	r.f.mu.Unlock()
	for _, p := range closed {
		p.SetState("CLOSED")
	}
	return r.f.syncHeads(r, branch)
}

// update is one command of a push.
type update struct{ old, new, ref string }

// pushCommands reads what a receive-pack request wants to do: pkt-lines up to the first flush.
func pushCommands(body []byte) (list []update, caps string) {
	for len(body) >= 4 {
		n, err := strconv.ParseUint(string(body[:4]), 16, 32)
		if err != nil || n < 4 || int(n) > len(body) {
			return list, caps
		}
		line, extra, first := strings.Cut(string(body[4:n]), "\x00")
		if first {
			caps = extra
		}
		if f := strings.Fields(line); len(f) == 3 {
			list = append(list, update{f[0], f[1], f[2]})
		}
		body = body[n:]
	}
	return list, caps
}

// judgePush says why a push is refused as a whole, as with a protected branch among its refs, or lets it in.
func (f *Forge) judgePush(repo *Repo, login string, list []update) (PushRefusal, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range list {
		branch := strings.TrimPrefix(u.ref, "refs/heads/")
		if k := repo.refused[branch]; k != "" {
			return k, u.ref
		}
		if repo.permission(login).rank() < Write.rank() && !f.asMaintainer(repo, login, branch) {
			return RepositoryRule, u.ref // let in as a maintainer, for another branch than the pull request's
		}
	}
	return "", ""
}

// asMaintainer is GitHub's "allow edits by maintainers": who may write to the base may push to the head branch of an open
// pull request. With no branch, to any. The caller holds the lock.
func (f *Forge) asMaintainer(repo *Repo, login, branch string) bool {
	for _, base := range f.repos {
		for _, p := range base.prs {
			if p.head == repo && base != repo && p.canModify && p.state == "OPEN" && (branch == "" || branch == p.headRef) &&
				base.permission(login).rank() >= Write.rank() {
				return true
			}
		}
	}
	return false
}

// refusePush answers a push as GitHub does when it declines: the pack was read, no ref moved.
func refusePush(w http.ResponseWriter, k PushRefusal, at string, list []update, caps string) {
	said, why := k.words(at)
	var report bytes.Buffer
	pkt(&report, "unpack ok\n")
	for _, u := range list {
		pkt(&report, "ng "+u.ref+" "+why+"\n")
	}
	report.WriteString("0000")
	out := &report
	if slices.Contains(strings.Fields(caps), "side-band-64k") {
		out = &bytes.Buffer{}
		for _, s := range said {
			pkt(out, "\x02error: "+s+"\n")
		}
		pkt(out, "\x01"+report.String())
		out.WriteString("0000")
	}
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(out.Bytes())
}

func pkt(b *bytes.Buffer, s string) { fmt.Fprintf(b, "%04x%s", len(s)+4, s) }

// Push commits files onto the pull request's head branch as login, as somebody working on it does, and returns the new
// head. Files not named stay; an empty content is an empty file.
func (p *PullRequest) Push(login, message string, files map[string]string) (string, error) {
	p.f.mu.Lock()
	head, branch := p.head, p.headRef
	p.f.mu.Unlock()
	if head == nil {
		return "", fmt.Errorf("push to #%d: the fork is gone", p.Number)
	}
	var b bytes.Buffer
	who := fmt.Sprintf("%s <%s@example.com> 1700000100 +0000", login, login)
	fmt.Fprintf(&b, "commit refs/heads/%s\nauthor %s\ncommitter %s\ndata %d\n%s\nfrom refs/heads/%s^0\n", branch, who, who, len(message), message, branch)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		writeEntry(&b, "100644", name, []byte(files[name]))
	}
	if _, err := p.f.git.run(head.Bare, b.Bytes(), nil, "fast-import", "--quiet", "--date-format=raw"); err != nil {
		return "", fmt.Errorf("push to #%d: %w", p.Number, err)
	}
	return p.f.sha(head.Bare, "refs/heads/"+branch), p.f.syncHeads(head, branch)
}

// Moments at which somebody may push to the pull request while prloop works on it: how many requests with the operation
// pass first. A push asks git-receive-pack twice: for the refs, then with the pack.
var (
	// BeforePush is after everything else, before the refs are read.
	BeforePush = Moment{"git-receive-pack", 0}
	// DuringPush is between the reading of the refs and the pack: what a compare-and-swap is for.
	DuringPush = Moment{"git-receive-pack", 1}
	// BeforeMayPush is between the verification of a fix and the question whether it may be pushed.
	BeforeMayPush = Moment{"PushRight", 0}
	// BeforeComment is right before a comment is taken.
	BeforeComment = Moment{"CommentCreate", 0}
)

// A Moment is a request that something happens in front of.
type Moment struct {
	// Op is named as in Fault.Op; Skip is how many such requests pass first.
	Op   string
	Skip int
}

// PushWhen makes login push files at a moment, once. What goes wrong with it is a violation.
func (p *PullRequest) PushWhen(m Moment, login string, files map[string]string) {
	p.f.Fail(Fault{Op: m.Op, Skip: m.Skip, Times: 1, Do: func() {
		if _, err := p.Push(login, "Meanwhile", files); err != nil {
			p.f.violate("push at the moment of %s: %v", m.Op, err)
		}
	}})
}

// LagHead makes the API show the old head for this many readings of the pull request after each push, as GitHub does while
// its replicas catch up. The branch itself moves at once.
func (p *PullRequest) LagHead(readings int) { p.change(func() { p.lag = readings }) }

// lags reports whether the head is to stay behind for now; it notes a push.
func (p *PullRequest) lags() bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if p.lag > 0 {
		p.lagLeft, p.behind = p.lag, true
	}
	return p.behind
}

// read counts one reading of a pull request that is behind. The caller holds the lock.
func (p *PullRequest) read() {
	switch {
	case !p.behind:
	case p.lagLeft > 0:
		p.lagLeft--
	default:
		p.behind = false
		if p.head != nil {
			_ = p.f.syncHead(p, p.head) // a ref that cannot be updated stays behind, which the test sees
		}
	}
}
