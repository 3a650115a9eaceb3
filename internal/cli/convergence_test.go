package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// The case all these runs are about: a real change with real flaws (its index names them).
const (
	mongoCase = casesFolder + "/go-gofr-1355"
	mongoFile = "pkg/gofr/datasource/mongo/mongo.go"
	// escaped twice: url.UserPassword escapes what it is given.
	escapes = "		u.User = url.UserPassword(url.QueryEscape(config.User), url.QueryEscape(config.Password))"
)

// twice is the flaw in the words of one reviewer, again in those of another, which recorded tools used for it.
var (
	twice = sight{Line: "url.QueryEscape(config.User)", ID: "BUG-1", Priority: review.P1, Title: "Credentials are URL-escaped twice",
		Text: "url.UserPassword already escapes user name and password. Escaping them with url.QueryEscape before changes every password with a special character, and authentication fails."}
	twiceAgain = sight{Line: "url.QueryEscape(config.User)", ID: "R2-7", Priority: review.P1, Title: "Double escaping of user and password",
		Text: "The user name and the password go through url.QueryEscape although url.UserPassword escapes them anyway; a password with special characters is then wrong and authentication fails."}
)

// stageCase is a pull request of a case with the actors of a playbook.
type stageCase struct {
	forge *forge.Forge
	repo  *forge.Repo
	pull  *forge.PullRequest
	env   []string
	home  string
	book  playbook
}

func openStage(t *testing.T, book playbook, config string) *stageCase {
	t.Helper()
	s := &stageCase{forge: forgetest.Start(t), book: book, home: t.TempDir()}
	var err error
	if s.pull, err = s.forge.OpenCase(mongoCase); err != nil {
		t.Fatal(err)
	}
	if s.repo, err = s.forge.AddRepo("gofr-dev", "gofr"); err != nil {
		t.Fatal(err)
	}
	s.repo.SetPermission("octocat", forge.Write)
	file := filepath.Join(s.home, "playbook.json")
	if s.book.Wait != "" {
		s.book.Wait = filepath.Join(s.home, s.book.Wait)
	}
	data, err := json.Marshal(s.book)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, data)
	operator := filepath.Join(s.home, "config.yml")
	write(t, operator, []byte(fmt.Sprintf(`reviewers:
  - {name: observer, use: command, path: observer, args: [%[1]q]}
  - {name: second, use: command, path: observer, args: [%[1]q]}
fixer: {use: command, path: mender, args: [%[1]q]}
fix: {untrusted_authors: true}
verify: ["test -f %[2]s"]
%[3]s`, file, mongoFile, config)))
	gh := filepath.Dir(forgetest.GH(t))
	s.env = append(s.forge.Env(""), "PRLOOP_SANDBOX=off", "HOME="+s.home, "PRLOOP_STATE="+filepath.Join(s.home, "state"), "PRLOOP_CONFIG="+operator,
		"PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+gh)
	return s
}

func (s *stageCase) run(t *testing.T) (review.RunResult, ended) {
	t.Helper()
	got := start(t, s.env, s.home, "prloop", "run", "1355", "-R", "gofr-dev/gofr", "--json")
	var r review.RunResult
	if err := json.Unmarshal(got.stdout, &r); err != nil {
		t.Fatalf("exit %d, standard output is not a result: %v\n%s", got.status, err, got.stderr)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, "state", "scratch", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	return r, got
}

// rewrite makes the fixer put something else where old stands.
func rewrite(round int, old, new string) edit {
	return edit{Rounds: []int{round}, File: mongoFile, Old: old, New: new}
}

func TestConvergence(t *testing.T) {
	t.Parallel()
	const mended = "		u.User = url.UserPassword(config.User, config.Password)"
	// The fixer moves the flaw and leaves it.
	const moved = "		// Special characters have to be escaped.\n		user, password := url.QueryEscape(config.User), url.QueryEscape(config.Password)\n		u.User = url.UserPassword(user, password)"
	for _, c := range []struct {
		what     string
		book     playbook
		config   string
		outcome  review.Outcome
		rounds   int
		says     []string // in the posted comments, the newest last
		comments int
	}{
		{"a flaw that is fixed converges in two rounds", playbook{
			Sees: []sight{twice}, Edits: []edit{rewrite(1, escapes, mended)},
		}, "", review.Converged, 2, []string{"Credentials are URL-escaped twice", "fixed Credentials", "approve"}, 3},
		{"a flaw that the fixer only moves comes back in other words on other lines: stuck", playbook{
			Sees:  []sight{with(twice, 1), with(twiceAgain, 2)},
			Edits: []edit{rewrite(1, escapes, moved)},
		}, "", review.Stuck, 2, []string{"", "", "manual intervention required"}, 3},
		{"fixes that keep breaking one region diverge", playbook{
			Sees: []sight{twice,
				{Line: "config.User[0]", ID: "A", Priority: review.P1, Title: "Index out of range when the field is blank", Text: "config.User[0] reads the first byte without looking at the length. With a blank field the process panics with index out of range instead of returning errMissingField."},
				{Line: "defer recover()", ID: "B", Priority: review.P2, Title: "A deferred recover hides every failure", Text: "recover called by defer directly does nothing, and errors are lost."}},
			Edits: []edit{
				rewrite(1, escapes, "		if config.User[0] == ' ' {\n			return\n		}\n"+mended),
				rewrite(2, "		if config.User[0] == ' ' {\n			return\n		}\n", "		defer recover()\n"),
			},
		}, "", review.Diverging, 3, []string{"", "", "introduced by commit", "", "git revert --no-edit"}, 5},
		{"the fixer's time is used up: budget", playbook{
			Sees: []sight{twice}, Edits: []edit{rewrite(1, escapes, mended)}, Wait: "for.ever",
		}, "wall_time: 4s\n", review.Budget, 1, []string{"", "wall time"}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := openStage(t, c.book, c.config)
			r, got := s.run(t)
			if r.Outcome != c.outcome || r.Round != c.rounds || got.status != c.outcome.ExitStatus() {
				t.Fatalf("%s (%s) in round %d, exit %d; want %s in round %d\n%s", r.Outcome, r.Reason, r.Round, got.status, c.outcome, c.rounds, got.stderr)
			}
			comments := s.pull.Comments()
			if len(comments) != c.comments || len(r.Comments) != c.comments {
				t.Fatalf("%d comments are posted, the result names %d; want %d", len(comments), len(r.Comments), c.comments)
			}
			for i, want := range c.says {
				if !strings.Contains(comments[i].Body, want) && !slices.ContainsFunc(s.pull.Threads(), func(t forge.Thread) bool { return strings.Contains(t.Comments[0].Body, want) }) {
					t.Errorf("comment %d does not say %q:\n%s", i+1, want, comments[i].Body)
				}
			}
			if last := r.Rounds[len(r.Rounds)-1]; last.Head != s.pull.HeadSHA() && last.Fix != nil && last.Fix.Head != "" {
				t.Errorf("the run ends at %s, the branch at %s", last.Head, s.pull.HeadSHA())
			}
		})
	}
}

// with limits a sight to some rounds.
func with(s sight, rounds ...int) sight {
	s.Rounds = rounds
	return s
}

func TestAPersonPushesDuringTheFix(t *testing.T) {
	t.Parallel()
	s := openStage(t, playbook{
		Sees: []sight{twice}, Edits: []edit{rewrite(1, "url.QueryEscape(config.User), url", "config.User, url")}, Wait: "fixer.works",
	}, "")
	theirs := make(chan string, 1)
	go func() {
		for {
			if _, err := os.Stat(s.book.Wait); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		head, err := s.pull.Push("mona", "Mine", map[string]string{"NOTES.md": "mine\n"})
		if err != nil {
			t.Error(err)
		}
		theirs <- head
		if err := os.Remove(s.book.Wait); err != nil {
			t.Error(err)
		}
	}()
	r, got := s.run(t)
	person := <-theirs
	if r.Outcome != review.Superseded || got.status != 7 || !strings.Contains(r.Reason, person[:10]) {
		t.Fatalf("%s (%s), exit %d; want superseded by %s\n%s", r.Outcome, r.Reason, got.status, person, got.stderr)
	}
	if head := s.pull.HeadSHA(); head != person {
		t.Errorf("the head is %s, want the person's commit %s", head, person)
	}
	comments := s.pull.Comments()
	if len(comments) != 2 || !strings.Contains(comments[1].Body, person) || !strings.Contains(comments[1].Body, r.Rounds[0].Head) {
		t.Errorf("%d comments, the last of which has to name both commits:\n%s", len(comments), comments[len(comments)-1].Body)
	}
	// Nothing of ours is lost: the work stands in the run's folder.
	patch, err := os.ReadFile(filepath.Join(s.home, "state", "runs", r.Run, "round-1", "fix.patch"))
	if err != nil || !strings.Contains(string(patch), "+		u.User = url.UserPassword(config.User, url.") {
		t.Errorf("the fix is not kept as a patch: %v\n%s", err, patch)
	}
}
