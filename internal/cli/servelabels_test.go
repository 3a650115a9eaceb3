package cli_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/testkit/forge"
)

// A maintainer takes off the label that softened the gate of a pull request while that cannot be merged, or while no review begins: no success stands when it can be (threats.md T864, T865).
func TestLabelsAreHeardWheneverTheyChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after func(*hall, *forge.PullRequest)
		// status is what the commit has until after.
		status string
	}{
		"a draft":  {func(_ *hall, p *forge.PullRequest) { p.SetDraft(true) }, func(_ *hall, p *forge.PullRequest) { p.SetDraft(false) }, "failure"},
		"closed":   {func(_ *hall, p *forge.PullRequest) { p.SetState("CLOSED") }, func(_ *hall, p *forge.PullRequest) { p.SetState("OPEN") }, "error"},
		"a pause":  {func(h *hall, _ *forge.PullRequest) { h.run("pause") }, func(h *hall, _ *forge.PullRequest) { h.run("resume-queue") }, "error"},
		"no delay": {func(*hall, *forge.PullRequest) {}, func(*hall, *forge.PullRequest) {}, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			write(t, filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\ngate_labels: [advisory, strict]\n"))
			h.repo.SetPermission("mona", forge.Write)
			p.Label("mona", gate.Advisory)
			s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "picky.sh"), "--settle", "0s")
			h.status(p.HeadSHA(), "success")
			h.settled(2)
			c.before(h, p)
			h.within("that to be seen", func() bool { return name == "a pause" || !h.wanted()["#8"].Open() })
			p.Label("mona", "bug")
			h.within("another label to be seen", func() bool { return name == "a pause" || !h.wanted()["#8"].Open() })
			h.status(p.HeadSHA(), "success")
			p.Unlabel("mona", gate.Advisory)
			h.status(p.HeadSHA(), c.status)
			c.after(h, p)
			h.status(p.HeadSHA(), "failure")
			s.stop(t, syscall.SIGTERM)
		})
	}
}
