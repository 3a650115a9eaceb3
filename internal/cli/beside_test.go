package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// alone reviews a pull request from a state folder that has nothing, as a job of GitHub Actions does, and gives what it says of the commit last.
func (h *hall) alone(number int) (last forge.Status, out string) {
	h.t.Helper()
	h.jobs++
	env := h.env
	folder := filepath.Join(h.home, fmt.Sprint("alone-", h.jobs))
	h.env = append(slices.Clone(env), "PRLOOP_STATE="+folder, "XDG_STATE_HOME="+folder, "PRLOOP_MARKER_KEY="+strings.Repeat("ab", 32))
	out = h.prloop("", "run", fmt.Sprint(number), "-R", "acme/widgets", "--no-fix", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.env = env
	if all := h.repo.Statuses(); len(all) > 0 {
		last = all[len(all)-1]
	}
	return last, out
}

// What was refused keeps a success of its commit from being said where only GitHub tells of it, whoever opened it, and also where it is not among those that changed last
// (threats.md T838).
func TestBesideWhatWasRefusedElsewhere(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, row := range map[string]struct {
		of    func(h *hall, s *forge.PullSpec)
		after func(*forge.PullRequest)
	}{
		"a fork of another author": {func(h *hall, s *forge.PullSpec) {
			s.Author, s.Fork, s.BaseRef, s.Head = "stranger", "stranger/widgets", "own", os.DirFS(filepath.Join(h.home, "tree"))
		}, func(*forge.PullRequest) {}},
		"a draft now": {func(*hall, *forge.PullSpec) {}, func(p *forge.PullRequest) { p.SetDraft(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, own := openGated(t)
			if _, err := h.forge.AddRepo("stranger", "widgets"); err != nil {
				t.Fatal(err)
			}
			other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.HeadRef = nil, nil, "shared"; row.of(h, s) })
			if other.HeadSHA() != own.HeadSHA() {
				t.Fatal("the heads differ")
			}
			retarget(t, other, "main")
			if last, out := h.alone(9); last.State != "failure" || strings.HasPrefix(last.Description, "#") {
				t.Fatalf("%+v\n%s", last, out)
			}
			row.after(other)
			if last, out := h.alone(8); last.State != "failure" || !strings.HasPrefix(last.Description, "#9 has the same commit and is not approved") {
				t.Errorf("%+v\n%s", last, out)
			}
			other.SetState("CLOSED")
			if last, out := h.alone(8); last.State != "success" {
				t.Errorf("%+v\n%s", last, out)
			}
		})
	}
}

// What was approved for one branch, which only GitHub tells of, is not for another, also where its success was withheld (threats.md T839).
func TestBesideWhatWasApprovedElsewhereForAnotherBase(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, own := openGated(t)
	if err := h.repo.MoveBranch("staging", own.BaseSHA()); err != nil {
		t.Fatal(err)
	}
	other := h.open(9, func(s *forge.PullSpec) { s.Base, s.Head, s.BaseRef, s.HeadRef = nil, nil, "staging", "shared" })
	if last, out := h.alone(9); last.State != "failure" || !strings.HasPrefix(last.Description, "#8 has the same commit and is not approved") {
		t.Fatalf("%+v\n%s", last, out)
	}
	retarget(t, other, "main")
	if last, out := h.alone(8); last.State != "failure" || !strings.HasPrefix(last.Description, "#9 has the same commit and is not approved") {
		t.Errorf("%+v\n%s", last, out)
	}
	retarget(t, other, "staging")
	if last, out := h.alone(8); last.State != "success" {
		t.Errorf("%+v\n%s", last, out)
	}
}
