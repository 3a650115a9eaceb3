package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// report posts what became of the round's fix. A fix that lost the race against somebody's push is reported on the commit
// that won, naming both (threats.md P10).
func (j *fixing) report(ctx context.Context, fix review.FixOutcome, outcome review.Outcome, reason string) (urls []string, overtaken string, err error) {
	l := j.loop
	patch, err := j.patch(ctx, fix)
	if err != nil {
		return nil, "", err
	}
	body := fixReport(j.req, j.judged, fix, outcome, reason, patch)
	if err := l.Record.Save(ctx, j.req.Run, j.file("fix.md"), []byte(body)); err != nil {
		return nil, "", err
	}
	pr := j.judged.Inputs.Snapshot.PR
	pr.HeadSHA = cmp.Or(fix.NewerHead, fix.Head, fix.Base)
	l.say("posting the fix report")
	fixed := j.judged.fixed
	if fix.State == review.FixPushed {
		fixed = fixedWords(claimed(j.judged.Tracked, fix, j.round), fixed)
	}
	return l.publish(ctx, j.steps, j.req, saying{round: j.round, op: OpFix, pr: pr, body: body, raised: j.judged.raised, since: j.judged.since, fixed: fixed, objected: j.judged.Result.Receipt.Objected})
}

// patch is the fix as text when it could not be pushed, so that nothing of the work is lost; it is kept in the run's folder.
func (j *fixing) patch(ctx context.Context, fix review.FixOutcome) (string, error) {
	if j.tip == "" || fix.Head != "" {
		return "", nil
	}
	return doJSON(ctx, j.steps, fmt.Sprintf("round %d: keep the patch", j.round), func(ctx context.Context) (string, error) {
		if ok, err := j.loop.History.Have(ctx, j.tip); err != nil || !ok {
			return "", err
		}
		patch, err := j.loop.Executor.Patch(ctx, fix.Base, j.tip)
		if err != nil {
			return "", err
		}
		if patch == "" {
			return "", nil
		}
		d, err := j.loop.History.Diff(ctx, fix.Base, j.tip)
		if err != nil {
			return "", err
		}
		keys, err := j.loop.keysOf(ctx, fix.Base, j.tip, d.Files)
		if err != nil {
			return "", err
		}
		patch = j.loop.Learned.MaskDiff(patch, keys)
		return patch, j.loop.Record.Save(ctx, j.req.Run, j.file("fix.patch"), []byte(patch))
	})
}

func (j *fixing) file(name string) string { return fmt.Sprintf("round-%d/%s", j.round, name) }

// keep writes the fix as an artifact, and what it cost beside what the review cost.
func (j *fixing) keep(ctx context.Context, fix review.FixOutcome) error {
	_, err := doJSON(ctx, j.steps, fmt.Sprintf("round %d: keep the fix", j.round), func(ctx context.Context) (bool, error) {
		if err := j.loop.save(ctx, j.req, j.file("fix.json"), fix); err != nil {
			return false, err
		}
		round := j.judged.Result
		round.Receipt.Agents = append(slices.Clone(round.Receipt.Agents), fix.Agent)
		return true, j.loop.Record.Round(ctx, round)
	})
	return err
}

// fixReport renders the fix report. Agents supply fields, the template owns the structure (threats.md "Sanitization").
func fixReport(req Request, judged Judgement, fix review.FixOutcome, outcome review.Outcome, reason, patch string) string {
	c := cleanerFor(req.Target)
	d := report.FixData{
		Target: req.Target, Round: judged.Inputs.Round, Rounds: req.rounds(), Outcome: outcome, Reason: c.inline(reason),
		State: fix.State, Base: fix.Base, Head: fix.Head, NewerHead: fix.NewerHead, Commits: fix.Commits,
		Files: fix.Files, Lines: fix.Lines, Checks: c.checks(fix.Checks), PushedChecks: c.checks(fix.PushedChecks),
		Refusals: fix.Refusals, Tests: c.lines(fix.Tests), Tries: fix.Tries, Notes: c.lines(fix.Notes),
		GitHubToken: req.Fix.Silent && fix.State == review.FixPushed, Agent: c.receipt(req.Run, review.Receipt{Agents: []review.AgentReceipt{fix.Agent}}).Agents[0],
	}
	if fix.State == review.FixPatch || fix.State == review.FixFailed {
		d.Remarks = append(d.Remarks, c.inline(fix.Reason))
	}
	d.Remarks = append(d.Remarks, c.setUp(fix.Setup)...)
	if why := req.Fix.SetupOff; why != "" && len(req.Fix.Verify) > 0 {
		d.Remarks = append(d.Remarks, c.inline(why))
	}
	for _, k := range fix.Setup {
		if k.Good() {
			d.Notes = append(d.Notes, c.inline(fmt.Sprintf("`%s` set up the verify commands in %.0f s.", k.Command, k.Seconds)))
		}
	}
	if req.Fix.Detected && len(req.Fix.Verify) > 0 {
		d.Notes = append(d.Notes, "No verify commands are configured; these were found in the repository's own files.")
	}
	if len(req.Fix.Verify) == 0 && (fix.State == review.FixPushed || fix.State == review.FixPatch) {
		d.Remarks = append(d.Remarks, "Nothing was verified: no verify commands are configured, and none were found.")
	}
	if n := len(fix.Checks); n > 0 && !slices.ContainsFunc(fix.Checks, func(k review.Check) bool { return k.State != review.CheckSkipped }) {
		d.Remarks = append(d.Remarks, "Nothing was verified: no command that was found passes on the reviewed head either.")
	}
	items := map[string]report.Item{}
	for _, f := range append(append([]review.Finding{}, judged.Payload.IssuesToFix...), judged.Payload.OptionalIssues...) {
		item := report.Item{Title: c.inline(f.Title), Priority: f.Priority, File: f.File}
		if f.Line != nil {
			item.Line = *f.Line
		}
		items[f.ID] = item
	}
	if r := fix.Result; r != nil {
		for _, f := range r.FixedIssues {
			d.Fixed = append(d.Fixed, report.FixedItem{Item: items[f.FindingID], Commit: f.CommitSHA, Text: c.inline(f.Description),
				Tests: c.inline(f.Tests), Risk: c.inline(f.Risk)})
		}
		for _, f := range r.RejectedIssues {
			item := report.RejectedItem{Item: items[f.FindingID], Reason: c.inline(f.Reason)}
			if strings.HasPrefix(f.Reason, answer.NotFixedPrefix) {
				d.Missing = append(d.Missing, item)
				continue
			}
			d.Rejected = append(d.Rejected, item)
		}
		for _, n := range r.Noticed {
			item := report.NoticedItem{File: n.File, Text: c.inline(n.Text)}
			if n.Line != nil {
				item.Line = *n.Line
			}
			d.Noticed = append(d.Noticed, item)
		}
		d.Deferred = r.Summary.Deferred
	}
	if patch == "" && fix.State == review.FixPatch {
		d.Remarks = append(d.Remarks, "The fix is too large to be handed over as a patch.")
	}
	if strings.Contains(patch, sanitize.Redacted) {
		d.Remarks = append(d.Remarks, "Values that look like secrets are masked in the patch: it applies once they are put back.")
	}
	if patch != "" {
		d.Patch, d.PatchFile = report.Edits(patch), fmt.Sprintf("round-%d/fix.patch", judged.Inputs.Round)
		for i := range d.Patch { // as code, not as a diff, which would be taken out whole
			d.Patch[i].Text = sanitize.Redact(d.Patch[i].Text)
		}
	}
	return report.RenderFix(d)
}

// setUp says which setup command failed, and the last it printed.
func (c cleaner) setUp(list []review.Check) []string {
	bad := failing(list)
	if len(bad) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(sanitize.Redact(bad[0].Log)), "\n")
	end := lines[len(lines)-1:]
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "prloop: ") }); i >= 0 { // it knows best
		end = lines[i:]
	}
	return []string{c.inline(fmt.Sprintf("The verify commands ran without their setup, which failed: %s. Its log ends with: %s", commandsOf(bad), strings.Join(end, "; ")))}
}

func (c cleaner) checks(list []review.Check) []review.Check {
	out := make([]review.Check, len(list))
	for i, k := range list {
		k.Log = sanitize.Redact(k.Log)
		out[i] = k
	}
	return out
}
