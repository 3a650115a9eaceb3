package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// moody is a hall with a gate and a reviewer that approves everything, until picks has it raise a P1.
func moody(t *testing.T) (h *hall, reviewers []string, picks func(bool)) {
	t.Helper()
	h = openHall(t)
	mood := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\nif [ -e strict ]; then cat picky.json; else exec ./clean.sh </dev/null; fi\n"
	if err := errors.Join(os.WriteFile(filepath.Join(h.home, "mood.sh"), []byte(mood), 0o700), os.WriteFile(filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	return h, []string{"--reviewers", "exec:" + filepath.Join(h.home, "mood.sh")}, func(now bool) {
		t.Helper()
		strict := filepath.Join(h.home, "strict")
		if now {
			write(t, strict, nil)
		} else if err := os.Remove(strict); err != nil {
			t.Fatal(err)
		}
	}
}

// An approved commit that is forced back is no success any more where a reviewer raised a P1 on another one since, whatever its own review waits for (threats.md T734).
func TestASuccessThatComesBack(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, args := range map[string][]string{
		"over a limit":        {"--author-limit", "2"},
		"polled over a limit": {"--author-limit", "2", "--poll", "--every", "1s"},
		"a paused queue":      {},
		"without its label":   {"--label", "prloop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, reviewers, picks := moody(t)
			s := h.serve("", append(reviewers, args...)...)
			p := h.open(7, func(s *forge.PullSpec) { s.Labels = []string{"prloop"} })
			first := p.HeadSHA()
			h.status(first, "success")
			h.settled(1)
			picks(true)
			if _, err := p.Push("contributor", "more", map[string]string{"notes.txt": "more\n"}); err != nil {
				t.Fatal(err)
			}
			h.status(p.HeadSHA(), "failure")
			h.settled(1)
			switch name {
			case "a paused queue":
				h.run("pause")
			case "without its label":
				p.SetLabels()
			}
			if err := h.repo.MoveBranch("topic-7", first); err != nil {
				t.Fatal(err)
			}
			if said := h.status(first, "error"); said != "To be reviewed again: #7" {
				t.Errorf("%q", said)
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Nor is a fork's, until somebody asks for a review of it: what that says stands, be it by the answers of then, once a person has settled what was raised (threats.md T734).
func TestASuccessOfAForkThatComesBack(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, reviewers, picks := moody(t)
	fork, err := h.forge.AddRepo("contributor", "widgets")
	if err != nil {
		t.Fatal(err)
	}
	s := h.serve("", reviewers...)
	p := h.open(7, func(s *forge.PullSpec) { s.Fork = "contributor/widgets" })
	asked := 0
	review := func(state string) {
		t.Helper()
		p.Comment("mona", "!prloop review")
		asked++
		h.settled(1 + asked)
		h.status(p.HeadSHA(), state)
	}
	first := p.HeadSHA()
	review("success")
	picks(true)
	if _, err := p.Push("contributor", "more", map[string]string{"notes.txt": "more\n"}); err != nil {
		t.Fatal(err)
	}
	review("failure")
	if err := fork.MoveBranch("topic-7", first); err != nil {
		t.Fatal(err)
	}
	h.status(first, "error")
	h.settled(1 + asked)
	p.ResolveThreadAs(p.Threads()[0].ID, "mona")
	review("success")
	before := h.wanted()["#7"].Handled
	p.ResolveThread(p.AddThread(forge.Thread{Path: "notes.txt", Line: 1, Comments: []*forge.Comment{{Author: "contributor", Body: "Why?"}}}))
	h.within("a look", func() bool { return h.wanted()["#7"].Handled > before })
	h.settled(1 + asked)
	h.status(first, "success")
	s.stop(t, syscall.SIGTERM)
}

// Nor does it wait for ever where a run that the head left raised the P1, and no event tells that the approved commit is back: the look that takes its success back has it
// reviewed, once (threats.md T754).
func TestASuccessThatComesBackUnseen(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	at := func(name string) string { return filepath.Join(h.home, name) }
	held := "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat >/dev/null\necho >> asked\n" +
		"[ $(wc -l < asked) = 2 ] || exec ./clean.sh </dev/null\ntouch held\nwhile [ ! -e go ]; do sleep 0.1; done\ncat picky.json\n"
	if err := errors.Join(os.WriteFile(at("held.sh"), []byte(held), 0o700), os.WriteFile(at("operator.yml"), []byte("gate: verdict\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PRLOOP_CONFIG="+at("operator.yml"))
	s := h.serve("", "--reviewers", "exec:"+at("held.sh"))
	p := h.open(7, nil)
	first := p.HeadSHA()
	h.status(first, "success")
	h.settled(1)
	if _, err := p.Push("contributor", "more", map[string]string{"notes.txt": "more\n"}); err != nil {
		t.Fatal(err)
	}
	h.within("the reviewer of the second commit", func() bool { _, err := os.Stat(at("held")); return err == nil })
	h.forge.Delivered()
	h.mu.Lock()
	h.lost = true
	h.mu.Unlock()
	if err := h.repo.MoveBranch("topic-7", first); err != nil {
		t.Fatal(err)
	}
	write(t, at("go"), nil)
	h.settled(1)
	h.status(first, "success")
	said, asked := h.repo.Statuses(), 0
	if data, err := os.ReadFile(at("asked")); err == nil {
		asked = len(data)
	}
	if !slices.ContainsFunc(said, func(s forge.Status) bool { return s.SHA == first && s.Description == "To be reviewed again: #7" }) || asked != 3 {
		t.Errorf("reviewers were asked %d times, and the statuses are %+v", asked, said)
	}
	s.stop(t, syscall.SIGTERM)
}
