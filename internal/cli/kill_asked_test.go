package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/prloop/prloop/internal/testkit/webhooks"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ofComments tells the places that only what a comment asked for passes.
func ofComments(point string) bool {
	return strings.HasPrefix(point, "asked: ") || strings.HasPrefix(point, "command: ")
}

// asked is a trial of a command that a comment asks for; a long one answers in parts.
func asked(x killTrial, long bool) killTrial {
	x.setting.asked, x.setting.long = true, long
	x.what += " (of a comment)"
	return x
}

// askTable are the places that comments share with reviews, and faults of the server.
func askTable(long bool) (list []killTrial) {
	list = append(list, asked(at("report: between parts", "kill", 0), true), asked(at("run: recorded", "kill", 0), false))
	// The first effect is the reaction, the second the review with comments on lines, the third the answer.
	for i, point := range []string{"outbox: before intent", "outbox: after intent", "outbox: sending", "outbox: before ack", "outbox: after ack"} {
		for pass := range 3 {
			if long || i%3 == pass {
				list = append(list, asked(at(point, "kill", pass), false))
			}
		}
	}
	for i, op := range []string{"CommentCreate", "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"} {
		for j, mode := range []forge.Mode{forge.BadGatewayAfter, forge.ResetAfter} {
			if long || i == j {
				list = append(list, asked(served("comment", forge.Fault{Op: op, Mode: mode}), false))
			}
		}
	}
	return append(list, asked(again("outbox: sending=kill@2", "outbox: absent=kill", "github: after comment=kill", "outbox: before ack=kill"), false))
}

// openAsked writes the event of a comment that asks for the command, by somebody who may write.
func (w *killWorld) openAsked() error {
	answer := map[string]any{"summary": "An empty list ends the program.", "confidence": "high", "notes": []string{}, "findings": w.answers()}
	data, err := json.Marshal(answer)
	body := "!look at it"
	id := w.pull.Comment("contributor", body)
	all := w.pull.Comments()
	var event []byte
	for _, e := range webhooks.All() {
		if err == nil && e.File == "issue_comment__created.json" {
			event, err = e.At(webhooks.Place{Repo: "acme/widgets", HeadRepo: "acme/widgets", PR: 7, Base: w.pull.BaseSHA(), Head: w.reviewed,
				Comment: &webhooks.Comment{ID: id, Author: "contributor", Body: body, Updated: all[len(all)-1].Updated}})
		}
	}
	operator, readErr := os.ReadFile(w.path("operator.yml"))
	if err = errors.Join(err, readErr); err != nil {
		return err
	}
	operator = append(operator, "allow_repo_commands: true\n"...)
	w.env = append(w.env, "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH="+w.path("event.json"), "GITHUB_REPOSITORY=acme/widgets", "GITHUB_ACTIONS=true", "GITHUB_JOB=answer")
	return errors.Join(os.WriteFile(w.path("operator.yml"), operator, 0o644), os.WriteFile(w.path("event.json"), event, 0o644),
		os.WriteFile(w.path("look.json"), data, 0o644), os.WriteFile(w.path("look.sh"), []byte(killHold+`cat "$here/look.json"`+"\n"), 0o755))
}

// answers are the findings of the command: one on a line of the diff, and for a long answer so many others that they need several comments.
func (w *killWorld) answers() []map[string]any {
	findings := []map[string]any{{"title": "Mean divides by zero", "severity": "low", "details": "Without shelves the program ends.", "suggestion": "Answer 0.",
		"location": map[string]any{"file": "stock.go", "line": 14}, "evidence": "return Count(shelves) / len(shelves)"}}
	for i := 0; w.long && i < 24; i++ {
		findings = append(findings, map[string]any{"title": fmt.Sprintf("Passage %d is hard to follow", i), "severity": "low", "suggestion": "Say it plainly.",
			"details": strings.Repeat(fmt.Sprintf("Number %d of the loops counts what the others have counted. ", i), 60)})
	}
	return findings
}

// withCommand is a tree of files with the command in its .reviewerc.
func (w *killWorld) withCommand(dir string) (fs.FS, error) {
	tree := fstest.MapFS{".reviewerc": {Data: fmt.Appendf(nil, "commands:\n  - {id: look, prompt: x, comment: {type: both}, agent: {use: command, path: %q}}\n", w.path("look.sh"))}}
	files, err := os.ReadDir(dir)
	for _, f := range files {
		data, readErr := os.ReadFile(filepath.Join(dir, f.Name()))
		err, tree[f.Name()] = errors.Join(err, readErr), &fstest.MapFile{Data: data}
	}
	return tree, err
}

// checkAsked compares what is stored of the answer with what stands on GitHub: a reaction, a comment on a line, and the answer, each once.
func (w *killWorld) checkAsked(ctx context.Context, f *killFigures) error {
	s, err := store.Open(ctx, store.Options{Address: filepath.Join(w.home, "state", "prloop.db")})
	if err != nil {
		return err
	}
	defer s.Close()
	runs, err := s.ListRuns(ctx, store.Filter{})
	if err != nil {
		return err
	}
	if len(runs) != 1 {
		return fmt.Errorf("%d runs are recorded, want one", len(runs))
	}
	var wrong []error
	said := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if f.Ends[string(runs[0].Outcome)]++; runs[0].Outcome != review.Answered || runs[0].State != store.Finished {
		said("run %s ended %s (%s)", runs[0].ID, runs[0].Outcome, runs[0].State)
	}
	stored := map[string]bool{}
	entries, err := s.Outbox(ctx, runs[0].ID)
	reactions, reactErr := s.Newest(ctx, (effects.Reaction{}).Name())
	if err = errors.Join(err, reactErr); err != nil {
		return err
	}
	for _, e := range slices.Concat(entries, reactions) {
		if e.State != store.StateAcked {
			said("%s %s is %s in the end", e.Kind, e.Key, e.State)
		} else if e.Kind != (effects.Reaction{}).Name() {
			stored[e.Nonce] = true
		}
	}
	there, answers := map[string]int{}, map[string]bool{}
	for _, c := range w.pull.Comments() {
		if c.Author == "contributor" {
			if n := len(c.Reactions); n != 1 {
				said("the comment has %d reactions, want one", n)
				f.Lost += max(0, 1-n)
				f.Duplicates += max(0, n-1)
			}
			continue
		}
		m, ok := sanitize.ParseMarker(c.Body)
		if !ok || m.Asked == "" {
			said("a comment that answers nothing stands there:\n%.300s", c.Body)
		}
		there[effects.CommentNonce(m.Nonce, m.Part)]++
		answers[m.Nonce] = true
		if m.Parts > 1 != w.long {
			said("the answer has %d parts", m.Parts)
		}
		for part := range m.Parts { // each has to be there
			there[effects.CommentNonce(m.Nonce, part+1)] += 0
		}
	}
	if len(answers) != 1 {
		said("%d answers stand there, want one", len(answers))
		f.Lost, f.Duplicates = f.Lost+max(0, 1-len(answers)), f.Duplicates+max(0, len(answers)-1)
	}
	for _, r := range w.pull.Reviews() {
		if m, ok := sanitize.ParseMarker(r.Body); ok {
			there[m.Nonce]++
		}
	}
	if lines := w.pull.Threads(); len(lines) != 1 || len(lines[0].Comments) != 1 {
		said("%d threads stand there, want one with one comment", len(lines))
		f.Lost, f.Duplicates = f.Lost+max(0, 1-len(lines)), f.Duplicates+max(0, len(lines)-1)
	}
	for nonce, n := range there {
		if n > 1 {
			said("%s stands there %d times", nonce, n)
			f.Duplicates += n - 1
		}
		if n == 0 || !stored[nonce] {
			said("%s stands there %d times and is stored as posted: %t", nonce, n, stored[nonce])
			f.Lost++
		}
	}
	for _, nonce := range slices.Sorted(maps.Keys(stored)) {
		if there[nonce] == 0 {
			said("%s is stored as posted and is not there", nonce)
			f.Lost++
		}
	}
	lease, err := s.Take(ctx, runs[0].Target.String()+" !look", "probe", time.Minute) // as the next process would: who died after its work is done has nothing to come back for
	if err != nil {
		said("the lease is not free: %w", err)
		return errors.Join(wrong...)
	}
	return errors.Join(append(wrong, lease.Release(ctx))...)
}
