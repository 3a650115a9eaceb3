package cli_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

var talkKills = flag.Int("talkkills", 4, "how many processes TestRandomKillsOfAConversation kills")

// talk is the conversation of script:inline/story, with what people do before each run.
type talk struct{ files map[string]string }

// talkRuns is how many runs it has.
const talkRuns = 5

func readTalk() (talk, error) {
	archive, err := txtar.ParseFile("testdata/script/inline/story.txtar")
	if err != nil {
		return talk{}, err
	}
	t := talk{files: map[string]string{}}
	for _, f := range archive.Files {
		t.files[f.Name] = string(f.Data)
	}
	return t, nil
}

// folder is a tree of the archive.
func (t talk) folder(name string) fstest.MapFS {
	out := fstest.MapFS{}
	for file, text := range t.files {
		if rest, ok := strings.CutPrefix(file, name+"/"); ok {
			out[rest] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

// open makes a world whose pull request is about to be reviewed for the first time.
func (t talk) open(dir, program, gh string) (*killWorld, error) {
	w := &killWorld{program: program}
	checker, err := killContract()
	if err != nil {
		return nil, err
	}
	if w.home, err = os.MkdirTemp(dir, "talk-*-"); err != nil {
		return nil, err
	}
	if w.forge, err = forge.Start(forge.Options{Contract: checker}); err != nil {
		return nil, err
	}
	w.pull, err = w.forge.Open(forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: 7, Title: "Count the stock", Body: "Because.", Author: "contributor", Base: os.DirFS("testdata/share/base"), Head: t.folder("topic"),
	})
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	if w.repo, err = w.forge.AddRepo("acme", "widgets"); err != nil {
		return nil, errors.Join(err, w.close())
	}
	for _, login := range []string{"octocat", "contributor", "keeper"} {
		w.repo.SetPermission(login, forge.Write)
	}
	token := "ghp_" + rand.Text() + rand.Text()[:10]
	w.forge.AddToken(token, forge.Token{Login: "octocat"})
	w.env = append(w.forge.EnvWithToken("", token), "HOME="+w.home, "PRLOOP_STATE="+filepath.Join(w.home, "state"), "GH_REPO=acme/widgets", "PRLOOP_CONFIG="+w.path("operator.yml"),
		"PRLOOP_SANDBOX=off", "PRLOOP_LOG=warn", "TMPDIR="+filepath.Join(w.home, "tmp"), "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(gh))
	err = errors.Join(os.Mkdir(w.path(""), 0o755), os.Mkdir(filepath.Join(w.home, "tmp"), 0o700))
	clean, readErr := os.ReadFile("testdata/share/clean.sh")
	fine, fineErr := os.ReadFile("testdata/share/fine.json")
	files := map[string]string{"finds.sh": t.files["finds.sh"], "judge.sh": t.files["judge.sh"], "clean.sh": string(clean), "fine.json": string(fine), "operator.yml": t.files["operator.yml"]}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(w.path(name), []byte(text), 0o755))
	}
	if err = errors.Join(err, readErr, fineErr); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// before is what people do before a run, and what the agents of it say.
func (t talk) before(w *killWorld, run int) error {
	threads := w.pull.Threads()
	says := func(n int, login, text string) { w.pull.Reply(threads[n-1].ID, login, text) }
	answers := func(name, file string) error {
		return os.WriteFile(w.path(name), []byte(t.files[file]), 0o644)
	}
	switch run {
	case 1:
		return errors.Join(answers("finds.json", "all.json"), answers("judge.json", "judge.json"))
	case 2:
		err := w.forge.Commit(w.repo, "topic", w.pull.HeadSHA(), "More", t.folder("more"))
		return errors.Join(err, answers("finds.json", "later.json"), answers("judge.json", "judge2.json"))
	case 3:
		says(1, "contributor", "Only our own pages call this.")
		says(2, "contributor", "The discount is taken off in Add already.")
		says(4, "contributor", "Nobody orders what we do not have.")
	case 4:
		says(4, "contributor", "I do not agree. Nobody does that.")
		w.pull.ResolveThreadAs(threads[0].ID, "contributor")
		w.pull.ResolveThreadAs(threads[2].ID, "keeper")
	case 5:
		says(1, "contributor", "It is compared with a list, see the line above.")
	}
	return answers("judge.json", fmt.Sprintf("judge%d.json", run))
}

// next is what a person does for a run of that number: resume the one that has not ended, start it, or nothing when it has ended.
func (w *killWorld) next(ctx context.Context, run int) ([]string, error) {
	got, err := w.prloop(ctx, "", "runs", "--json", "run,state")
	if err != nil {
		return nil, err
	}
	var runs []struct{ Run, State string }
	if err := json.Unmarshal(got.stdout, &runs); err != nil {
		return nil, fmt.Errorf("prloop runs: %w\n%s", err, got.stderr)
	}
	for _, r := range runs {
		if r.State != "finished" {
			return []string{"resume", r.Run}, nil
		}
	}
	if len(runs) == run {
		return nil, nil
	}
	return []string{"run", "7", "--reviewers", "exec:" + w.path("finds.sh") + ",exec:" + w.path("clean.sh")}, nil
}

// goesOn does a run to its end; kills is how often it and its resumptions are killed, at a random moment of the first half of what a run usually takes: looking for runs is part of that.
func (w *killWorld) goesOn(ctx context.Context, run, kills int, r *mathrand.Rand, usual time.Duration) (killed int, err error) {
	for tries := 0; ; tries++ {
		args, err := w.next(ctx, run)
		if err != nil || args == nil {
			return killed, err
		}
		if tries > kills+1 {
			return killed, fmt.Errorf("run %d has not ended after %d resumptions", run, tries)
		}
		cmd, stdout, stderr := w.command(ctx, "", args...)
		if err := cmd.Start(); err != nil {
			return killed, err
		}
		stop := func() bool { return false }
		if kills > tries {
			stop = time.AfterFunc(time.Duration(r.Int64N(int64(usual)/2)), func() { _ = cmd.Process.Kill() }).Stop
		}
		got, err := w.ended(cmd, stdout, stderr, cmd.Wait())
		stop()
		switch {
		case err != nil:
			return killed, err
		case got.status == -1:
			killed++
		case got.status != 3:
			return killed, fmt.Errorf("prloop %s exits with %d", strings.Join(args, " "), got.status)
		}
	}
}

// told is all that stands in the threads, as people read it, and who was asked to review. A nonce and part that stand there twice are an error.
func (w *killWorld) told() (string, error) {
	var b strings.Builder
	var wrong []error
	names := map[string]bool{}
	count := func(kind, body string) {
		m, ok := sanitize.ParseMarker(body)
		if name := fmt.Sprintf("%s %s/%d", kind, m.Nonce, m.Part); !ok || names[name] {
			wrong = append(wrong, fmt.Errorf("%s has no marker, or stands there twice", name))
		} else {
			names[name] = true
		}
	}
	for _, c := range w.pull.Comments() {
		count("report", c.Body)
	}
	for _, r := range w.pull.Reviews() {
		if r.Body != "" {
			count("review", r.Body)
		}
	}
	for i, t := range w.pull.Threads() {
		fmt.Fprintf(&b, "thread %d, %s:%d, resolved: %t by %q\n", i+1, t.Path, t.Line, t.Resolved, t.ResolvedBy)
		for _, c := range t.Comments {
			if c.Author == "octocat" {
				count("comment", c.Body)
			}
			fmt.Fprintf(&b, "  %s\n%s\n", c.Author, storyOf(c.Body))
		}
	}
	fmt.Fprintf(&b, "%d reports, %q asked\n", len(w.pull.Comments()), w.pull.Requested())
	for _, v := range w.forge.Violations() {
		wrong = append(wrong, fmt.Errorf("a request or answer broke GitHub's published contract: %s", v))
	}
	return b.String(), errors.Join(wrong...)
}

// TestRandomKillsOfAConversation kills the five runs of script:inline/story, and their resumptions, at random moments: in the end the
// conversation is the one that nobody killed, with nothing said twice and nothing lost (threats.md P1).
func TestRandomKillsOfAConversation(t *testing.T) {
	t.Parallel()
	soaks(t)
	s := newKillSuite(t)
	story, err := readTalk()
	if err != nil {
		t.Fatal(err)
	}
	seed := *killSeed
	if seed == 0 {
		seed = mathrand.Uint64()
	}
	// play does the conversation; kills says how often a run is killed.
	play := func(r *mathrand.Rand, usual time.Duration, kills func() int) (said string, killed int, usually time.Duration, err error) {
		w, err := story.open(s.dir, s.program, s.gh)
		if err != nil {
			return "", 0, 0, err
		}
		for run := 1; run <= talkRuns && err == nil; run++ {
			if err = story.before(w, run); err != nil {
				break
			}
			began, n := time.Now(), 0
			n, err = w.goesOn(t.Context(), run, kills(), r, usual)
			killed += n
			usually += time.Since(began) / talkRuns
		}
		said, wrong := w.told()
		if err = errors.Join(err, wrong); err != nil {
			dir, keepErr := w.keep(err)
			return said, killed, usually, errors.Join(fmt.Errorf("%w\nkept: %s", err, dir), keepErr)
		}
		return said, killed, usually, w.close()
	}
	want, _, usual, err := play(nil, time.Second, func() int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(want, "5 reports, [\"keeper\"] asked") || strings.Count(want, "Escalated") != 2 {
		t.Fatalf("the conversation is another:\n%s", want)
	}
	t.Logf("-talkkills %d -killseed %d; a run takes %v here", *talkKills, seed, usual.Round(time.Millisecond))
	var mu sync.Mutex
	var wg sync.WaitGroup
	kills, trials := 0, uint64(0)
	for range *killCrowd {
		wg.Go(func() {
			for {
				mu.Lock()
				if kills >= *talkKills || t.Failed() {
					mu.Unlock()
					return
				}
				trials++
				n, r := trials, mathrand.New(mathrand.NewPCG(seed, trials))
				mu.Unlock()
				said, killed, _, err := play(r, usual, func() int { return 1 + r.IntN(3) })
				mu.Lock()
				kills += killed
				t.Logf("trial %d: %d kills, %d in all", n, killed, kills)
				mu.Unlock()
				if err != nil {
					t.Errorf("trial %d of seed %d: %v", n, seed, err)
				}
				if said != want {
					t.Errorf("trial %d of seed %d: after kills the conversation is another:\n%s\nwant:\n%s", n, seed, said, want)
				}
			}
		})
	}
	wg.Wait()
	s.reportRandom(randomSection("talk", *talkKills), killFigures{Trials: int(trials), Kills: kills, Ends: map[string]int{"as if nobody had killed": int(trials)}}, seed, usual)
	t.Logf("%d kills in %d conversations of %d runs: nothing twice and nothing lost in those that passed", kills, trials, talkRuns)
}
