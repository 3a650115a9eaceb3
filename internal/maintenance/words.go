package maintenance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func (l *Loop) policy(req Request) sanitize.Policy {
	return sanitize.Policy{Repo: req.Target.Repo, Known: l.Secrets}
}

// title is the pull request's, plain as the subject of a commit is.
func (s *state) title() string {
	said := sanitize.Redact(s.pull.Title)
	if strings.TrimSpace(said) == "" {
		said = "Maintenance by the job " + s.req.Job
	}
	if title := pushpolicy.Subject(said); !errors.Is(sanitize.CheckLine(title, sanitize.Policy{}), sanitize.ErrUnsafe) {
		return title
	}
	return "Maintenance by the job " + s.req.Job
}

// bodyLimit is how much of what one command says of its pull request is shown, in bytes: all commands share one comment's room.
const bodyLimit = 24 << 10

// body is what the pull request says, sealed: the words of the commands, and below them where they come from. It may become the message of a commit.
func (l *Loop) body(s *state, number int, nonce string) (sanitize.Text, error) {
	m := sanitize.Marker{
		ReviewID: s.req.ReviewID, Run: s.req.Run, RepoID: s.req.Target.Repo.String(), PR: number, Nonce: nonce, Title: s.title(), Key: l.MarkerKey,
	}
	var err error
	p := l.policy(s.req)
	p.Last = pushpolicy.PlainMarkdown                         // Comment writes the Markdown anew: what is a blank before a line goes
	for _, most := range []int{mostFound, mostFound / 4, 0} { // findings that need much room leave it to the words
		var texts []sanitize.Text
		if texts, err = sanitize.Comment(pushpolicy.PlainMarkdown(s.markdown(p, most)), m, p); err == nil && len(texts) != 1 {
			err = fmt.Errorf("it is in %d parts", len(texts))
			continue
		}
		if err == nil {
			return texts[0], nil
		}
		break
	}
	return sanitize.Text{}, fmt.Errorf("sanitize the body of the pull request: %w", err)
}

// markdown is the body before it is sanitized as a whole. Agents supply fields, the template owns the structure.
func (s *state) markdown(p sanitize.Policy, most int) string {
	var b strings.Builder
	asked := s.askers()
	for _, i := range asked {
		w := s.works[i]
		if len(asked) > 1 {
			fmt.Fprintf(&b, "### %s\n\n", s.name(i, p))
		}
		said := w.Pull.Body
		if limit := bodyLimit / len(asked); len(said) > limit {
			said = strings.ToValidUTF8(said[:limit], "") + "\n\n(The rest is left out.)"
		}
		if text := sanitize.Field(said, p); text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	b.WriteString(s.found(p, most))
	b.WriteString("---\n\n")
	var names []string
	for _, i := range asked {
		names = append(names, s.name(i, p))
	}
	last := s.works[s.by]
	fmt.Fprintf(&b, "Made by the scheduled job `%s` of prloop, by %s, from `%s` at `%s`: %s, %s. No tests were run.\n", s.req.Job, strings.Join(names, " and "),
		sanitize.Line(s.req.Base, 200), s.req.Head[:10], count(last.Files, "file", "files"), count(last.Lines, "changed line", "changed lines"))
	if s.req.Silent {
		b.WriteString("\nIt was pushed with GITHUB_TOKEN, and GitHub starts no workflow for that: there will be no checks here unless somebody pushes to the branch, or closes and opens" +
			" the pull request. With the token of an app, or a personal one, they run by themselves.\n")
	}
	for _, left := range s.place.Left {
		fmt.Fprintf(&b, "\n%s", sanitize.CodeSpan(left.Branch))
		if left.Pull != 0 {
			fmt.Fprintf(&b, " (pull request %d)", left.Pull)
		}
		fmt.Fprintf(&b, " stays as it is: %s. This is on %s.\n", sanitize.Inline(left.Why, p), sanitize.CodeSpan(s.place.Branch))
	}
	return b.String()
}

// How many findings a pull request shows, and how much of what is said of each, in bytes.
const (
	mostFound  = 20
	foundLimit = 500
)

// found are the findings of all commands, most urgent first and so many at most: what they saw and did not, or could not, change.
func (s *state) found(p sanitize.Policy, most int) string {
	type sighting struct {
		review.Finding
		by string
	}
	var all []sighting
	for i, w := range s.works {
		if c := w.Answer.Command; c != nil {
			for _, f := range c.Findings {
				all = append(all, sighting{f, s.req.Commands[i].ID})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(x, y sighting) int { return cmp.Compare(x.Priority.Rank(), y.Priority.Rank()) })
	var b strings.Builder
	b.WriteString("### Found\n\n")
	for _, f := range all[:min(len(all), most)] {
		fmt.Fprintf(&b, "- **%s** %s", f.Priority, sanitize.Inline(sanitize.Redact(f.Title), p))
		if f.File != "" {
			at := f.File
			if f.Line != nil {
				at += fmt.Sprintf(":%d", *f.Line)
			}
			fmt.Fprintf(&b, ", %s", sanitize.CodeSpan(at))
		}
		if text := strings.Join(strings.Fields(sanitize.Redact(f.Description)), " "); text != "" {
			if len(text) > foundLimit {
				text = strings.ToValidUTF8(text[:foundLimit], "") + " …"
			}
			fmt.Fprintf(&b, ": %s", sanitize.Inline(text, p))
		}
		fmt.Fprintf(&b, " (`%s`)\n", f.by)
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(&b, "- %s in the artifacts of the run\n", count(more, "finding is", "findings are"))
	}
	b.WriteString("\n")
	return b.String()
}

// askers are the commands whose work is pushed.
func (s *state) askers() (all []int) {
	for i, w := range s.works {
		if i <= s.by && w.Tip != "" && w.Pull != nil {
			all = append(all, i)
		}
	}
	return all
}

// name is a command with its title.
func (s *state) name(i int, p sanitize.Policy) string {
	c := s.req.Commands[i]
	if c.Title == "" {
		return "`" + c.ID + "`"
	}
	return fmt.Sprintf("`%s` (%s)", c.ID, sanitize.Inline(c.Title, p))
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// result is how the run ended.
func (s *state) result(l *Loop, outcome review.Outcome, reason string) review.RunResult {
	r := review.RunResult{
		Run: s.req.Run, Target: s.req.Target, URL: s.url, Outcome: outcome, Reason: reason, Rules: []int{}, Findings: []review.Finding{}, Groups: []review.Group{},
		Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Rounds: []review.RoundResult{}, Comments: []string{}, Started: s.req.Started,
		Receipt: review.Receipt{ReviewID: s.req.ReviewID, BaseSHA: s.req.Head, HeadSHA: s.tip, LeftOut: []review.LeftOut{}, Agents: []review.AgentReceipt{}, Warnings: []string{}, Status: "ok"},
	}
	if s.url != "" {
		r.Comments = append(r.Comments, s.url)
	}
	for i, w := range s.works {
		r.Receipt.Agents = append(r.Receipt.Agents, w.Answer.Receipt)
		for _, n := range w.Notes {
			r.Receipt.Warnings = append(r.Receipt.Warnings, s.req.Commands[i].ID+": "+sanitize.Line(sanitize.Redact(n), 300))
		}
	}
	if outcome == review.Opened || outcome == review.Updated {
		for _, w := range s.works {
			if w.Answer.Receipt.State != review.AgentComplete {
				r.Outcome, r.Reason = review.Partial, reason+"; not all commands ended well"
			}
		}
	}
	r.Seconds = l.Now().Sub(s.req.Started).Seconds()
	return r
}

// dry is the end of a dry run: what would have been done.
func (s *state) dry(l *Loop) review.RunResult {
	outcome, what := review.Opened, "would be opened from "
	if s.place.Pull != 0 {
		outcome, what = review.Updated, fmt.Sprintf("(#%d) would be updated on ", s.place.Pull)
	}
	return s.result(l, outcome, s.told("dry run: a pull request "+what+s.place.Branch))
}

// finish keeps the report, the patch and the result.
func (l *Loop) finish(ctx context.Context, steps Steps, s *state, result *review.RunResult) error {
	end, err := do(ctx, l, steps, "keep the end", func(ctx context.Context) (review.RunResult, error) {
		patch := ""
		if tip := s.last(); tip != "" {
			text, err := l.Repo.Patch(ctx, s.req.Head, tip, patchLimitBytes)
			if err == nil {
				keys := sanitize.KeyLines{} // a hunk may show the middle of a key alone
				keys.LearnPiece(text)
				patch = keys.MaskDiff(text)
				err = l.Record.Save(ctx, s.req.Run, "job.patch", []byte(patch))
			}
			if err != nil && !l.permanent(err) { // one that is too large is left out
				return *result, err
			}
		}
		if err := l.Record.Save(ctx, s.req.Run, "review.md", []byte(s.report(*result, patch))); err != nil {
			return *result, err
		}
		data, err := json.MarshalIndent(map[string]any{"request": s.req, "place": s.place, "works": s.works, "result": result}, "", "  ")
		if err != nil {
			return *result, err
		}
		return *result, l.Record.Save(ctx, s.req.Run, "job.json", []byte(sanitize.Redact(string(data))))
	})
	if err != nil {
		return err
	}
	*result = end // with the time it took then
	if err := l.Record.Finish(ctx, end); err != nil {
		return err
	}
	return l.Repo.ForgetFixes(ctx, func(run string) bool { return run == s.req.Run })
}

// last is the newest commit anybody made, pushed or not.
func (s *state) last() string {
	tip := s.tip
	for _, w := range s.works {
		if tip == "" && w.Tip != "" {
			tip = w.Tip
		}
	}
	return tip
}

// report is the run for people, as `prloop show` prints it. Whoever may see the run reads it: the words of an error are the operator's (threats.md T743).
func (s *state) report(r review.RunResult, patch string) string {
	var b strings.Builder
	p := sanitize.Policy{Repo: s.req.Target.Repo}
	why := r.Reason
	if s.broken {
		why = "An error ended it, which whoever runs prloop sees"
	}
	fmt.Fprintf(&b, "# Job %s: %s\n\n%s.\n\n", s.req.Job, strings.ReplaceAll(string(r.Outcome), "_", " "), sanitize.Inline(why, p))
	if r.URL != "" {
		fmt.Fprintf(&b, "%s\n\n", r.URL)
	}
	for i, w := range s.works {
		fmt.Fprintf(&b, "## %s\n\n", s.name(i, p))
		if w.Answer.Receipt.Reason != "" {
			fmt.Fprintf(&b, "%s: %s\n\n", w.Answer.Receipt.State, sanitize.Inline(w.Answer.Receipt.Reason, p))
		}
		for _, c := range w.Commits {
			fmt.Fprintf(&b, "- `%s` %s\n", c.SHA[:10], sanitize.Inline(c.Message, p))
		}
		for _, x := range w.Refusals {
			fmt.Fprintf(&b, "- refused by `%s`: %s %s\n", x.Rule, sanitize.CodeSpan(x.Path), sanitize.Inline(x.Detail, p))
		}
		if w.Uncommitted > 0 {
			fmt.Fprintf(&b, "- not committed: %s\n", count(w.Uncommitted, "file", "files"))
		}
		for _, n := range w.Notes {
			fmt.Fprintf(&b, "- %s\n", sanitize.Inline(n, p))
		}
		for _, u := range w.Unverified {
			fmt.Fprintf(&b, "- set aside: %s: %s\n", sanitize.Inline(u.Finding.Title, p), sanitize.Inline(u.Reason, p))
		}
		if n := len(w.Settled); n > 0 {
			fmt.Fprintf(&b, "- settled by its own changes: %s\n", count(n, "finding", "findings"))
		}
		b.WriteString("\n")
	}
	if s.tip == "" { // the pull request says it otherwise
		b.WriteString(s.found(p, mostFound))
	}
	if s.tip != "" {
		fmt.Fprintf(&b, "## Pull request: %s\n\n%s\n", sanitize.Inline(s.title(), p), s.markdown(p, mostFound))
	}
	if patch != "" {
		b.WriteString("\n## Changes\n\n")
		for line := range strings.Lines(patch) {
			b.WriteString("    " + line)
		}
	}
	return b.String()
}
