package cli_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// killNight is the program of the job: it says something new each night.
const killNight = `echo "night $(wc -l <README.md)" >>README.md
cat <<'END'
{"summary":"","findings":[],"notes":[],"confidence":"high","wishes":[
 {"kind":"commit_changes","body":"Say what happened"},{"kind":"push_pr","title":"Say what happened","body":"Words."}]}
END`

const killBranch = "prloop/nightly/docs"

// ofJobs tells the places that only scheduled jobs pass.
func ofJobs(point string) bool {
	return strings.HasPrefix(point, "job: ") || strings.HasPrefix(point, "branch: ") || strings.HasSuffix(point, " pull request")
}

// openJob puts the job on the default branch, and opens its pull request where it is to be updated.
func (w *killWorld) openJob() error {
	night := w.path("night.sh")
	rules := fmt.Sprintf("commands:\n  - {id: docs, prompt: x, agent: {use: command, path: %q}}\nschedule: {runs: {nightly: [docs]}}\n", night)
	tree := fstest.MapFS{".reviewerc": {Data: []byte(rules)}, "README.md": {Data: []byte("Widgets\n")}}
	operator, err := os.ReadFile(w.path("operator.yml"))
	if err == nil {
		operator = append(operator, "allow_repo_commands: true\n"...)
		err = errors.Join(os.WriteFile(w.path("operator.yml"), operator, 0o644), os.WriteFile(night, []byte(killHold+killNight+"\n"), 0o755),
			w.forge.Commit(w.repo, "main", w.pull.BaseSHA(), "The job", tree))
	}
	if err != nil || !w.updates {
		return err
	}
	// The night before ran on another machine.
	elsewhere := *w
	elsewhere.env = append(slices.Clone(w.env), "PRLOOP_STATE="+filepath.Join(w.home, "elsewhere"))
	got, err := elsewhere.prloop(context.Background(), "", w.begin()...)
	if err == nil && got.status != 0 {
		err = fmt.Errorf("the night before exits with %d:\n%s", got.status, got.stderr)
	}
	return err
}

// scheduled is a trial of a job, with its pull request open already if it updates one.
func scheduled(x killTrial, updates bool) killTrial {
	x.setting.scheduled, x.setting.updates = true, updates
	x.what += " (of a job)"
	if updates {
		x.what = strings.TrimSuffix(x.what, ")") + " that updates)"
	}
	return x
}

// jobTable are the places that jobs share with reviews, at the push and at the pull request, and faults of the server.
func jobTable(long bool) (list []killTrial) {
	points := []string{"outbox: before intent", "outbox: after intent", "outbox: sending", "outbox: before ack", "outbox: after ack"}
	if !long {
		list = append(list, scheduled(inOneRun([]string{"outbox: after intent=kill", "outbox: before ack=kill", "github: after pull request=kill"}), true))
	}
	for i, point := range points {
		for pass := range 2 {
			if long {
				list = append(list, scheduled(at(point, "kill", pass), i%2 == 1))
			}
		}
	}
	for _, updates := range []bool{false, true} {
		op := "POST /repos/{owner}/{repo}/pulls"
		if updates {
			op = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}"
		}
		for i, mode := range []forge.Mode{forge.BadGatewayAfter, forge.ResetAfter, forge.BadGateway, forge.ResetBefore} {
			pull, push := forge.Fault{Op: op, Mode: mode}, forge.Fault{Op: "git-receive-pack", Mode: mode, Skip: 1}
			switch {
			case long:
				list = append(list, scheduled(served("pull request", pull), updates), scheduled(served("push", push), updates))
			case updates == (i%2 == 0):
				list = append(list, scheduled(served("push and pull request", push, pull), updates))
			}
		}
		if long {
			list = append(list, scheduled(at("github: after pull request", "kill", 0), updates), scheduled(at("branch: after push", "kill", 0), updates))
		}
	}
	return append(list,
		scheduled(again("outbox: sending=kill@1", "outbox: absent=kill", "github: after pull request=kill", "outbox: before ack=kill"), false),
		scheduled(again("branch: before push=kill", "branch: after push=kill", "job: pushed=kill"), true),
		confined(scheduled(at("job: command asked", "kill", 0), false)),
	)
}

// checkJob compares what is stored of a job with what stands on GitHub: one branch with the job's commits, and one pull request with its words.
func (w *killWorld) checkJob(ctx context.Context, f *killFigures) error {
	s, err := store.Open(ctx, store.Options{Address: filepath.Join(w.home, "state", "prloop.db")})
	if err != nil {
		return err
	}
	defer s.Close()
	runs, err := s.ListRuns(ctx, store.Filter{})
	if err != nil {
		return err
	}
	var wrong []error
	said := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if len(runs) != 1 {
		return fmt.Errorf("%d runs are recorded, want one", len(runs))
	}
	end, kind, commits := review.Opened, (effects.OpenPull{}).Name(), 1
	if w.updates {
		end, kind, commits = review.Updated, (effects.EditPull{}).Name(), 2
	}
	if f.Ends[string(runs[0].Outcome)]++; runs[0].Outcome != end || runs[0].State != store.Finished {
		said("run %s ended %s (%s)", runs[0].ID, runs[0].Outcome, runs[0].State)
	}
	entries, err := s.Outbox(ctx, runs[0].ID)
	if err != nil {
		return err
	}
	stored := map[string]store.Entry{}
	for _, e := range entries {
		if e.State != store.StateAcked {
			said("%s %s is %s in the end", e.Kind, e.Key, e.State)
		}
		if _, twice := stored[e.Kind]; twice {
			said("%s is stored twice", e.Kind)
		}
		stored[e.Kind] = e
	}
	if want := []string{(effects.Branch{}).Name(), kind}; !slices.Equal(slices.Sorted(maps.Keys(stored)), want) {
		said("%q are stored, want %q", slices.Sorted(maps.Keys(stored)), want)
	}
	out, err := forgeGit(w.repo, "rev-list", "--count", "refs/heads/main..refs/heads/"+killBranch)
	switch n := strings.TrimSpace(out); {
	case err != nil:
		f.Lost++
		said("the branch: %w", err)
	case n != fmt.Sprint(commits):
		said("%s commits are on the branch, want %d", n, commits)
		f.Duplicates++
	}
	pulls := w.repo.PullRequests()
	if len(pulls) != 2 { // the world's own is the other
		said("%d pull requests are there, want one of the job", len(pulls)-1)
		f.Lost += max(0, 2-len(pulls))
		f.Duplicates += max(0, len(pulls)-2)
		return errors.Join(wrong...)
	}
	_, body, _, head := pulls[1].Words()
	if m, ok := sanitize.ParseMarker(body); !ok || m.Nonce != stored[kind].Nonce || head != killBranch {
		said("the pull request from %s says %q, want what is stored as %s", head, body, stored[kind].Nonce)
		f.Lost++
	}
	if heads, err := w.repo.Branches(); err != nil || len(heads) != 3 {
		said("branches %v, %w", heads, err)
	}
	lease, err := s.Take(ctx, runs[0].Target.String(), "probe", time.Minute) // as the next process would: who died after its work is done has nothing to come back for
	if err != nil {
		said("the lease is not free: %w", err)
		return errors.Join(wrong...)
	}
	return errors.Join(append(wrong, lease.Release(ctx))...)
}
