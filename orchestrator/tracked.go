package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Tracked is one distinct finding of an earlier round and what became of it, at its place in the head under review.
type Tracked struct {
	// Findings are the wordings of all who raised it. Their lines are mapped to the head of the round that reads this; one
	// that is gone is where it would stand, near enough to ask whether it is still the same place.
	Findings []review.Finding `json:"findings"`
	// No is its number in the run, from 1; 0 of what was set aside, and in runs of before.
	No int `json:"no,omitempty"`
	// Round is where it was last seen.
	Round int `json:"round"`
	// ID is what it was called when the fixer was asked; empty when the fixer was not.
	ID string `json:"id,omitempty"`
	// Claim is what the fixer said of it last.
	Claim *review.Claim `json:"claim,omitempty"`
	// FixedIn is the round whose fix is said to have fixed it; 0 when the fixer never said so.
	FixedIn int `json:"fixedIn,omitempty"`
	// Stuck is true once it came back after it was reported fixed. It never turns false again.
	Stuck bool `json:"stuck,omitempty"`
	// Settled is true once somebody who raised it gave a complete answer without it.
	Settled bool `json:"settled,omitempty"`
	// SetAside is true of a P0 or P1 that did not count in its round. The next round's reviewers are told, and decide.
	SetAside bool `json:"setAside,omitempty"`
	// Words is what people said of it then, as markers name it.
	Words []string `json:"words,omitempty"`
	// Introduced is true when it stood on lines that a fix of this run wrote, and was new.
	Introduced bool `json:"introduced,omitempty"`

	// quiet are those of who raised it whose findings that are it again fell silent in this round.
	quiet []review.Source
}

// silent reports whether what somebody says of the finding fell silent in this round.
func (t Tracked) silent(by review.Source) bool {
	return slices.ContainsFunc(t.quiet, func(q review.Source) bool { return sameSource(q, by) })
}

// sameSource reports whether two findings are from one reviewer, or one person.
func sameSource(a, b review.Source) bool { return a.Type == b.Type && a.Name == b.Name }

// quieted lets what somebody says of an earlier finding fall silent where it is one of this round that does: as grave as what they said of it before, and, where
// that was grave, of the same lines.
func (t Tracked) quieted(now review.Finding) Tracked {
	if !slices.ContainsFunc(t.Findings, func(f review.Finding) bool {
		nowhere := f.Line == nil && now.Line == nil && f.File == now.File
		return sameSource(f.Source, now.Source) && objections.Grave(f) && !(objections.Grave(now) && (nowhere || sameLines(f, now)))
	}) {
		t.quiet = append(slices.Clone(t.quiet), now.Source)
	}
	return t
}

// Written is a range of lines at the head that a fix commit of this run wrote.
type Written struct {
	File string `json:"file"`
	// From and To are 1-based and inclusive.
	From   int    `json:"from"`
	To     int    `json:"to"`
	Commit string `json:"commit"`
}

// atNewHead moves what is known of earlier rounds from one head to another.
func atNewHead(tracked []Tracked, d *diff.Diff) []Tracked {
	out := slices.Clone(tracked)
	for i := range out {
		out[i].Findings = slices.Clone(out[i].Findings)
		for j := range out[i].Findings {
			move(&out[i].Findings[j], d)
		}
	}
	return out
}

func move(f *review.Finding, d *diff.Diff) {
	if f.File == "" {
		return
	}
	line := 1
	if f.Line != nil {
		line = *f.Line
	}
	old := spelling.Raw(f.File)
	file, at, ok := d.MapLine(old, line)
	f.File = spelling.Name(file)
	if f.Line == nil {
		return
	}
	if f.LineEnd != nil {
		_, end, still := d.MapLine(old, *f.LineEnd)
		f.LineEnd = &end
		if !still || end < at {
			f.LineEnd = nil
		}
	}
	f.Line = &at
	if !ok {
		f.LineEnd = nil
	}
}

// written lists the lines at head that the commits wrote and that are still there. commits stand oldest first and follow
// on base.
func (l *Loop) written(ctx context.Context, base string, commits []review.FixCommit, head string) ([]Written, error) {
	var out []Written
	parent := base
	for _, c := range commits {
		made, err := l.History.Diff(ctx, parent, c.SHA)
		if err != nil {
			return nil, fmt.Errorf("read fix commit %s: %w", short(c.SHA), err)
		}
		since, err := l.History.Diff(ctx, c.SHA, head)
		if err != nil {
			return nil, fmt.Errorf("follow fix commit %s: %w", short(c.SHA), err)
		}
		for i := range made.Files {
			f := &made.Files[i]
			for line := range f.Added() {
				if file, at, ok := since.MapLine(f.Path, line.New); ok {
					out = extend(out, Written{File: spelling.Name(file), From: at, To: at, Commit: c.SHA})
				}
			}
		}
		parent = c.SHA
	}
	return out, nil
}

// extend adds a range, joined with the one before it where they touch.
func extend(list []Written, w Written) []Written {
	if n := len(list); n > 0 {
		last := &list[n-1]
		if last.File == w.File && last.Commit == w.Commit && last.To+1 == w.From {
			last.To = w.To
			return list
		}
	}
	return append(list, w)
}

// wrote gives the commit of this run that wrote the lines of a finding, the newest when there are several.
func wrote(f review.Finding, lines []Written) string {
	if f.File == "" || f.Line == nil {
		return ""
	}
	from, to := *f.Line, *f.Line
	if f.LineEnd != nil {
		to = max(to, *f.LineEnd)
	}
	commit := ""
	for _, w := range lines {
		if w.File == f.File && w.From <= to && from <= w.To {
			commit = w.Commit
		}
	}
	return commit
}

// returning finds which earlier finding each group of this round is: -1 for a new one. All wordings take part, each at most
// once, so that a finding is known by whatever reviewer worded it alike. One that has to be fixed is none that has not and that says something else of the code it quotes.
func returning(earlier []Tracked, findings []review.Finding, groups [][]int) []int {
	var old []review.Finding
	var owner []int
	for i, t := range earlier {
		for _, f := range t.Findings {
			old, owner = append(old, f), append(owner, i)
		}
	}
	of := make([]int, len(findings))
	for i := range of {
		of[i] = -1
	}
	same := func(a, b int) bool {
		return weigh(old[a].Priority) == 0 || weigh(findings[b].Priority) > 0 || identity.Akin(old[a], findings[b])
	}
	for _, p := range identity.MatchAmong(old, findings, nil, same) {
		of[p.B] = owner[p.A]
	}
	out := make([]int, len(groups))
	for g, group := range groups {
		out[g] = -1
		for _, i := range group {
			// One that was reported fixed decides: that it is back is what has to be known.
			if t := of[i]; t >= 0 && (out[g] < 0 || earlier[t].FixedIn > 0 && earlier[out[g]].FixedIn == 0) {
				out[g] = t
			}
		}
	}
	return out
}

// claims are what the fixer said in earlier rounds, in the order of the findings, each as far as its share goes: an agent does not choose how much others read.
func claims(tracked []Tracked) (out []review.Claim) {
	for _, t := range tracked {
		if t.Claim != nil {
			out = append(out, *t.Claim)
		}
	}
	for i := range out {
		out[i].Text = sanitize.Beginning(out[i].Text, share(len(out)))
	}
	return out
}

// noticed is what the fixers of earlier rounds saw and left alone, in the order of the rounds, as far as claims are told.
func noticed(past []review.RoundResult) (out []review.Notice) {
	for _, r := range past {
		if r.Fix != nil && r.Fix.Result != nil {
			out = append(out, r.Fix.Result.Noticed...)
		}
	}
	for i := range out {
		out[i].Text = sanitize.Beginning(out[i].Text, share(len(out)))
	}
	return out
}

// rewrittenIn are the lines that fixes of this run wrote, in files whose changes an agent is shown.
func rewrittenIn(lines []Written, brief review.Brief) []review.Rewritten {
	shown := map[string]bool{}
	for _, f := range brief.Files {
		shown[f.Path] = f.Omitted == ""
	}
	var out []review.Rewritten
	for _, w := range lines {
		if shown[w.File] {
			out = append(out, review.Rewritten{File: w.File, From: w.From, To: w.To})
		}
	}
	slices.SortStableFunc(out, func(a, b review.Rewritten) int { return cmp.Or(strings.Compare(a.File, b.File), a.From-b.From) })
	return out
}

// earlierFindings is one wording of each finding of earlier rounds.
func earlierFindings(tracked []Tracked) []review.Finding {
	var out []review.Finding
	for _, t := range tracked {
		f := t.Findings[0]
		f.ID = t.shownAs()
		out = append(out, f)
	}
	return out
}

// claimed notes what the fixer said of each finding it was asked about.
func claimed(tracked []Tracked, fix review.FixOutcome, round int) []Tracked {
	out := slices.Clone(tracked)
	for i := range out {
		t := &out[i]
		if t.ID == "" || t.Round != round || t.Stuck { // what is stuck was not asked about
			continue
		}
		for _, f := range fix.Result.FixedIssues {
			if f.FindingID == t.ID {
				t.FixedIn = round
				t.Claim = &review.Claim{FindingID: t.ID, Kind: review.ClaimFixed, Text: f.Description, Commit: f.CommitSHA}
			}
		}
		for _, r := range fix.Result.RejectedIssues {
			if r.FindingID == t.ID {
				t.Claim = &review.Claim{FindingID: t.ID, Kind: review.ClaimRejected, Text: r.Reason}
			}
		}
	}
	return out
}
