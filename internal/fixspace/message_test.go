package fixspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Whatever mark an agent cuts a secret by, and wherever: the message that is made of it holds nothing that redacting would still change (threats.md T742).
func TestMessageJoinsNoSecret(t *testing.T) {
	tokens := []string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLF", "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
		"glpat-x7Yz_Q2w9RtLk4PbNm3s", "password = hunter2hunter9X", "sk-ant-api03-" + strings.Repeat("aB3dE5fG7h", 9)}
	for _, token := range tokens {
		for _, mark := range []string{"#", "##", "@", "^", "!", "***", "::", "+semver", "\u200b", "\u00ad", "\x00", "\ufe0f", " ", "/", "$", "[skip ci]", "fixup!", "BREAKING CHANGE"} {
			for at := range len(token) + 1 {
				for _, said := range []string{"use " + token[:at] + mark + token[at:], "A change\n\nuse " + token[:at] + mark + token[at:] + " here\n\nmore"} {
					m := new(Workspace).plain(said)
					if strings.Contains(m, token) || sanitize.Redact(m) != m {
						t.Fatalf("%q becomes %q", said, m)
					}
					subject, body, _ := strings.Cut(m, "\n")
					if again := pushpolicy.Message(subject, body); again != m || !strings.HasPrefix(m, "use ") && !strings.HasPrefix(m, "A change\n") && !strings.HasPrefix(m, "Change: ") {
						t.Fatalf("%q becomes %q, and then %q", said, m, again)
					}
				}
			}
		}
	}
}

// What the run learned of the change to be a secret stands in no word that leaves the workspace, whoever says it and where: in commits that are pushed, and in what is told of
// work that is not taken (threats.md T800).
func TestLearnedValuesLeaveInNoWord(t *testing.T) {
	const value = "Xk92LmQp7RtVb3NzYw81QaWs"
	said := "call " + value + "\n\nThe old " + value + " stays, and " + value[:7] + "\u200b" + value[7:] + "."
	w := newWorld(t, plainFiles)
	w.workspace.Learned = &sanitize.Learned{}
	w.workspace.Learned.Learn(value)
	write := func(clone string) {
		if err := os.WriteFile(filepath.Join(clone, "a.txt"), []byte("new\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	tips := map[string]string{}
	w.script("echo 1 >a.txt; git commit -qam '" + said + "'")
	tips["a fixer's commit"] = w.fix(w.order()).Tip
	w.workspace.Ask = func(_ context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
		write(clone)
		return review.Answer{Fix: &review.FixResult{Commits: []review.FixCommit{{Message: said}}}}
	}
	tips["a fixer's answer"] = w.fix(w.order()).Tip
	w.agent(write, review.Wish{Kind: review.WishCommit, Body: said})
	job, err := w.workspace.Job(t.Context(), w.jobOrder(review.JobTerms{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	tips["a wish"] = job.Tip
	for who, tip := range tips {
		if tip == "" {
			t.Errorf("%s: nothing was taken", who)
		} else if all := w.git(w.workspace.Repo.Dir(), "log", "--format=%B", w.base+".."+tip); strings.Contains(all, value) || strings.Count(all, "REDACTED") != 3 {
			t.Errorf("%s becomes %q", who, all)
		}
	}
	var heard string
	told := w.workspace.notTaken(errors.New(said), func(e review.Event) { heard = e.Message })
	refusal, is := w.workspace.refusalOf(fmt.Errorf("%s %s %w", strings.Repeat("x", 285), value, git.ErrTooLarge)) // which is cut within it
	pushed := Refused(git.PushResult{Outcome: git.Refused, Reason: said}, w.workspace.Learned)
	if all := told + heard + refusal.Detail + pushed; !is || strings.Contains(all, value[:5]) {
		t.Errorf("it is told %q", all)
	}
}
