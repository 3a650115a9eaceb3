package forge

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// gitTimeout bounds one git command of the forge.
const gitTimeout = 2 * time.Minute

// gitBinary is git's absolute path.
type gitBinary string

func findGit() (gitBinary, error) {
	p, err := proc.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("the forge needs git: %w", err)
	}
	return gitBinary(p), nil
}

// gitEnv is git's whole environment: no configuration of the machine, and fixed names and dates, so that the same trees
// give the same commits everywhere.
func gitEnv(extra ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=Forge", "GIT_AUTHOR_EMAIL=forge@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=Forge", "GIT_COMMITTER_EMAIL=forge@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}, extra...)
}

// run executes git in a bare repository and returns what it printed.
func (g gitBinary) run(bare string, stdin []byte, env []string, args ...string) ([]byte, error) {
	res, err := proc.Run(context.Background(), proc.Spec{
		Path: string(g), Args: args, Dir: bare, Stdin: stdin, Timeout: gitTimeout, MaxStdout: 256 << 20, Direct: true,
		Env: append(gitEnv("GIT_DIR="+bare), env...),
	})
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(res.StderrTail))
	}
	return res.Stdout, nil
}

// line is run for commands that print one line.
func (g gitBinary) line(bare string, stdin []byte, env []string, args ...string) (string, error) {
	out, err := g.run(bare, stdin, env, args...)
	return strings.TrimSpace(string(out)), err
}

func (f *Forge) initBare(bare string) error {
	if err := os.MkdirAll(bare, 0o700); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	if _, err := f.git.run(bare, nil, nil, "init", "--quiet", "--bare", "--initial-branch=main", bare); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	settings := "[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n" +
		"[receive]\n\thideRefs = refs/pull\n\tdenyDeleteCurrent = ignore\n[gc]\n\tauto = 0\n" +
		"[core]\n\tcompression = 1\n"
	w, err := os.OpenFile(filepath.Join(bare, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configure repository: %w", err)
	}
	if _, err := w.WriteString(settings); err != nil {
		_ = w.Close()
		return fmt.Errorf("configure repository: %w", err)
	}
	return w.Close()
}

// sha resolves a revision; empty when there is none. A ref that is a file is read without git, which would be most of what a forge takes.
func (f *Forge) sha(bare, rev string) string {
	if strings.HasPrefix(rev, "refs/") && filepath.IsLocal(rev) {
		if data, err := os.ReadFile(filepath.Join(bare, filepath.FromSlash(rev))); err == nil && loose.Match(data) {
			return strings.TrimSpace(string(data))
		}
	}
	out, err := f.git.line(bare, nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return ""
	}
	return out
}

// loose is a ref's file: the object it names.
var loose = regexp.MustCompile(`^[0-9a-f]{40}\n$`)

// diffSize is what GitHub counts about a pull request's diff.
type diffSize struct {
	files              []fileSize
	additions, removed int
}

type fileSize struct {
	path, oldPath, change string
	additions, deletions  int
	blob                  string
}

// measure counts the diff between the merge base and the head. The caller does not need the lock.
func (f *Forge) measure(bare, base, head string) (diffSize, error) {
	var d diffSize
	out, err := f.git.run(bare, nil, nil, "diff", "--numstat", "-z", "-M", base+"..."+head)
	if err != nil {
		return d, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i < len(fields) && fields[i] != ""; i++ {
		part := strings.SplitN(fields[i], "\t", 3)
		s := fileSize{path: part[2], change: "modified"}
		s.additions, _ = strconv.Atoi(part[0]) // "-" for binary files
		s.deletions, _ = strconv.Atoi(part[1])
		if s.path == "" { // a rename: the two names follow
			s.oldPath, s.path, s.change = fields[i+1], fields[i+2], "renamed"
			i += 2
		}
		d.files = append(d.files, s)
		d.additions += s.additions
		d.removed += s.deletions
	}
	return d, f.classify(bare, base, head, d.files)
}

// classify fills in what the numbers do not say: additions, deletions and blob ids.
func (f *Forge) classify(bare, base, head string, files []fileSize) error {
	out, err := f.git.run(bare, nil, nil, "diff", "--raw", "-z", "--no-abbrev", "-M", base+"..."+head)
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00")
	for i, n := 0, 0; i+1 < len(fields) && n < len(files); n++ {
		part := strings.Fields(fields[i])
		files[n].blob = part[3]
		step := 2
		switch part[4][0] {
		case 'A':
			files[n].change = "added"
		case 'D':
			files[n].change = "removed"
			files[n].blob = part[2]
		case 'R', 'C':
			step = 3
		}
		i += step
	}
	return nil
}

// HeadSHA is the commit at the head of the pull request: refs/pull/N/head.
func (p *PullRequest) HeadSHA() string {
	return p.f.sha(p.repo.Bare, fmt.Sprintf("refs/pull/%d/head", p.Number))
}

// BaseSHA is the tip of the base branch.
func (p *PullRequest) BaseSHA() string { return p.f.sha(p.repo.Bare, "refs/heads/"+p.baseRef) }

// size counts the diff, once per pair of commits. The caller holds the lock.
func (p *PullRequest) size() diffSize {
	base, head := p.BaseSHA(), p.HeadSHA()
	key := base + head
	if d, ok := p.sizes[key]; ok {
		return d
	}
	d, err := p.f.measure(p.repo.Bare, base, head)
	if err != nil {
		return diffSize{}
	}
	if p.sizes == nil {
		p.sizes = map[string]diffSize{}
	}
	p.sizes[key] = d
	return d
}

// syncHeads points refs/pull/N/head at the head branch of every open pull request that lives in repo, as GitHub does
// after a push, or of those of one branch. The caller does not hold the lock.
func (f *Forge) syncHeads(repo *Repo, branch ...string) error {
	f.mu.Lock()
	var open []*PullRequest
	for _, r := range f.repos {
		for _, p := range r.prs {
			if p.head == repo && p.state == "OPEN" && (branch == nil || slices.Contains(branch, p.headRef)) {
				open = append(open, p)
			}
		}
	}
	f.mu.Unlock()
	for _, p := range open {
		if p.lags() {
			continue
		}
		before := p.HeadSHA()
		if err := f.syncHead(p, repo); err != nil {
			return err
		}
		f.mu.Lock()
		if before != "" && before != p.HeadSHA() {
			p.happened("pull_request", "synchronize", p.author, map[string]any{"before": before, "after": p.HeadSHA()})
		}
		f.mu.Unlock()
	}
	return nil
}

func (f *Forge) syncHead(p *PullRequest, head *Repo) error {
	if head == p.repo {
		if _, err := f.git.run(p.repo.Bare, nil, nil, "update-ref", fmt.Sprintf("refs/pull/%d/head", p.Number), "refs/heads/"+p.headRef); err != nil {
			return fmt.Errorf("update the head of %s#%d: %w", p.repo.FullName(), p.Number, err)
		}
		return nil
	}
	spec := fmt.Sprintf("+refs/heads/%s:refs/pull/%d/head", p.headRef, p.Number)
	if _, err := f.git.run(p.repo.Bare, nil, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", head.Bare, spec); err != nil {
		return fmt.Errorf("update the head of %s#%d: %w", p.repo.FullName(), p.Number, err)
	}
	return nil
}
