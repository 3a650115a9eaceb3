package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// CommandPlan is what an agent in the role of a command does, and what becomes of its answer (decision 48).
type CommandPlan struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Args and Argv are what stood behind the command where somebody asked for it.
	Args string   `json:"args,omitempty"`
	Argv []string `json:"argv,omitempty"`
	// Format is a word of review.CommandTask, Floor the least severity that is reported; empty is all.
	Format string `json:"format,omitempty"`
	Floor  string `json:"floor,omitempty"`
	// Mode says where the answer goes, Type of what kind its own comment is.
	Mode review.OutputMode  `json:"mode"`
	Type review.CommentType `json:"type,omitempty"`
	// Counts is whether its findings count for a verdict.
	Counts bool `json:"counts,omitempty"`
	// Files and DiffLines bound what it is told of the change, Findings what it may say; 0 is without bound.
	Files     int `json:"files,omitempty"`
	DiffLines int `json:"diffLines,omitempty"`
	Findings  int `json:"findings,omitempty"`
	// Include and Exclude are doublestar globs of the changed files it is about; without Include all are.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// Tools are the names of those it has.
	Tools []string     `json:"tools,omitempty"`
	Place review.Place `json:"place"`

	// wide is true where it is given the whole change, whatever Include and Exclude say.
	wide bool
}

// CommandAgent is the name of a command's agent in a run. No reviewer can have it.
func CommandAgent(id string) string { return "!" + id }

// markerOf is how a command's own comments are marked: apart from each other, and what somebody asked for apart from what a review says.
func markerOf(c CommandPlan) string {
	if c.Place == review.PlaceComment {
		return "asked/" + c.ID
	}
	return c.ID
}

// alone is the plan of the one command that is all the run does; nil for a review.
func (r Request) alone() *CommandPlan {
	if !r.Alone || len(r.Agents) != 1 {
		return nil
	}
	return r.Agents[0].Command
}

// learned is a request in whose words for a command what the change tells to be a secret is masked: they are told to any agent, and stored with a round (threats.md T814).
func (r Request) learned(known *sanitize.Learned) Request {
	r.Agents = slices.Clone(r.Agents)
	for i := range r.Agents {
		if c := r.Agents[i].Command; c != nil {
			told := *c
			told.Args, told.Argv = known.Mask(c.Args), slices.Clone(c.Argv)
			for j := range told.Argv {
				told.Argv[j] = known.Mask(told.Argv[j])
			}
			r.Agents[i].Command = &told
		}
	}
	return r
}

// feeds reports whether the answer is a section of the main report.
func (c CommandPlan) feeds() bool { return c.Mode == review.FeedMain || c.Mode == review.FeedBoth }

// decides reports whether its findings count for the verdict of a review.
func (c CommandPlan) decides() bool { return c.feeds() && c.Counts }

// posts reports whether the answer has a comment of its own.
func (c CommandPlan) posts() bool {
	return c.Mode == review.SeparateComment || c.Mode == review.FeedBoth
}

// Task is what the command's agent is told beside its prompt.
func (c CommandPlan) Task() *review.CommandTask {
	return &review.CommandTask{ID: c.ID, Title: c.Title, Args: c.Args, Argv: c.Argv, Format: c.Format, Place: c.Place, Tools: c.Tools}
}

// listens reports whether a command has a tool that lists what people said.
func (c CommandPlan) listens() bool {
	return slices.Contains(c.Tools, toolset.ListComments) || slices.Contains(c.Tools, toolset.ListThreads)
}

// about reports whether a command is about a file of a name, as it is spelled.
func (c CommandPlan) about(file string) bool {
	if c.wide {
		return true
	}
	g := globs.Globs{Include: c.Include, Exclude: c.Exclude}
	if masks.InName(file) {
		g.Include = nil
	}
	return g.Match(spelling.Raw(file))
}

// concerns reports whether a command is about a changed file, under one of its names. A file that may have any other is every command's.
func (c CommandPlan) concerns(f review.BriefFile) bool {
	return f.Moved || slices.ContainsFunc(namesOf(f), c.about)
}

// its reports whether a file that a finding names is one of the command's, or one that it was given since it had, or has, another name.
func (c CommandPlan) its(file string, b review.Brief) bool {
	return c.about(file) || slices.ContainsFunc(b.Files, func(f review.BriefFile) bool { return (f.Path == file || f.OldPath == file) && c.concerns(f) })
}

// names reports whether a pattern of a command was written for a file that a rule leaves out, such as package-lock.json or vendor/**: it matches no ordinary file
// beside it. An unknown name may be any.
func (c CommandPlan) names(f review.BriefFile) bool {
	if unknown(f) != "" {
		return len(c.Include) > 0
	}
	return slices.ContainsFunc(namesOf(f), func(name string) bool {
		raw := spelling.Raw(name)
		return slices.ContainsFunc(c.Include, func(pattern string) bool {
			one := []string{pattern}
			return globs.Any(one, raw) && !globs.Any(one, repocontext.Ordinary(raw))
		})
	})
}

// spared reports whether a command's answer is whole without a file that is left out of the brief: it is not about it, there is no text, the configuration keeps it
// from everybody, or a rule leaves it out that no pattern of the command names.
func (c CommandPlan) spared(f review.BriefFile) bool {
	switch {
	case !c.concerns(f):
		return true
	case !f.Excused:
		return false
	case f.Omitted == repocontext.OmittedBinary || f.Omitted == repocontext.OmittedExcluded:
		return true
	}
	return !c.names(f)
}

// narrow takes out of a brief what the command is not about or has no room for, in the order of the diff. Excused is what its answer is whole without.
func (c CommandPlan) narrow(b review.Brief) review.Brief {
	b.Files = slices.Clone(b.Files)
	files, lines := 0, 0
	for i := range b.Files {
		f := &b.Files[i]
		if f.Omitted != "" {
			f.Excused = c.spared(*f)
			continue
		}
		why := ""
		switch n := f.Additions + f.Deletions; {
		case !c.concerns(*f):
			why = notAbout
		case c.Files > 0 && files >= c.Files:
			why = fmt.Sprintf(beyondLimit+"%s (maxFiles)", plural(c.Files, "file", "files"))
		case c.DiffLines > 0 && lines+n > c.DiffLines:
			why = fmt.Sprintf(beyondLimit+"%s (maxDiffLines)", plural(c.DiffLines, "changed line", "changed lines"))
		default:
			files, lines = files+1, lines+n
			continue
		}
		f.Omitted, f.Excused, f.Diff, f.Context, f.HunksGiven = why, why == notAbout, "", nil, 0
	}
	return b
}

// narrowed is what of a brief an agent is given: a scout has the diff alone, a finder what was found by name beside it, a command its files.
func (r Request) narrowed(plan AgentPlan, b review.Brief) review.Brief {
	b = r.Context.told(b)
	switch {
	case plan.Role == review.RoleScout:
		return r.Quick.narrow(b)
	case plan.Role == review.RoleFinder:
		return r.Find.narrow(b)
	case plan.Command != nil:
		return plan.Command.narrow(b)
	}
	return b
}

const (
	notAbout    = "not one of the command's files"
	beyondLimit = "beyond the command's limit of "
)

// idle reports whether a narrowed brief leaves nothing to ask the command about: its files choose none of those that changed, but for those it is spared.
func (c CommandPlan) idle(b review.Brief) bool {
	return none(b) && (len(c.Include) > 0 || slices.ContainsFunc(b.Files, func(f review.BriefFile) bool { return f.Omitted == notAbout }))
}

// none reports whether a command is spared every file that changed.
func none(narrowed review.Brief) bool {
	return len(narrowed.Files) > 0 && !slices.ContainsFunc(narrowed.Files, func(f review.BriefFile) bool { return f.Omitted == "" || !f.Excused })
}

// idleWords say of an idle command that none of its files changed.
func (c CommandPlan) idleWords(b review.Brief) string {
	if slices.ContainsFunc(b.Files, func(f review.BriefFile) bool { return f.Omitted != "" && f.Omitted != notAbout && c.concerns(f) }) {
		return "no changed file is one of the command's files, but for those that nobody is given"
	}
	return "no changed file is one of the command's files"
}

// short says how many of its files a command was given whole, and what keeps it from the others; empty when it was given all. Who writes a change can make it as
// large as they like, so what a command finds in a part says nothing of the rest.
//
// What counts as read is told as for reviewers (threats.md T810).
func (in Inputs) short(c CommandPlan) string {
	given, all, hidden := 0, 0, in.hidden()
	var reasons []string
	for _, f := range c.narrow(in.Snapshot.Brief).Files {
		unread := c.read(review.Brief{Files: []review.BriefFile{f}}, hidden).Unread()
		why := ""
		switch {
		case f.Omitted != "" && len(unread) == 0:
			continue
		case len(unread) == 0:
			given, all = given+1, all+1
			continue
		case strings.HasPrefix(f.Omitted, beyondLimit):
			why = f.Omitted
		case f.Omitted != "":
			why = "left out (" + f.Omitted + ")"
		case f.HunksGiven < f.Hunks:
			why = "cut (" + repocontext.OmittedOverBudget + ")"
		default:
			why = "unread (" + unread[0].Reason + ")"
		}
		if all++; !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	if given == all {
		return ""
	}
	return fmt.Sprintf("given %d of %d of its files, the rest is %s", given, all, strings.Join(reasons, " or "))
}

// read is which files of a narrowed brief the command was given whole, and could read.
func (c CommandPlan) read(narrowed review.Brief, hidden map[string]string) coverage.Coverage {
	return coverage.Of(narrowed, [][]string{nil}, nil, 1, hidden)
}

// cutShort says which command that counts for the verdict was not given all of its files; empty when there is none.
func (g gathered) cutShort() string {
	for _, h := range g.in.Reports {
		c := g.in.Request.command(h)
		if c == nil || !c.decides() {
			continue
		}
		if why := g.in.short(*c); why != "" {
			return fmt.Sprintf("the command %s was %s", sanitize.CodeSpan(c.ID), why)
		}
	}
	return ""
}

// hold holds what a command found against its own bounds, most urgent first, each finding with its evidence: what is below its floor, about other files than its own or
// more than it may say is left out, and notes and omitted tell of it. What a person has to look at is never left out, and nothing severe for its file, whose name an
// agent may have got wrong, nor anything where the command was given the whole change. Nothing grave is too much, unless it is a P3, and what passes takes no place; untold is how many are left out
// that may have to be fixed (threats.md T856).
func (c CommandPlan) hold(b review.Brief, findings []review.Finding, given []evidence.Result, passes func(review.Finding, evidence.Result) bool) (kept []review.Finding, facts []evidence.Result, omitted, untold int, notes []string) {
	floor := 3
	if p, ok := review.PriorityOfSeverity(c.Floor); ok {
		floor = p.Rank()
	}
	order := make([]int, len(findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(findings[a].Priority.Rank(), findings[b].Priority.Rank()) })
	kept, below, elsewhere, said := []review.Finding{}, 0, 0, 0
	for _, i := range order {
		f := findings[i]
		aside := answer.Unreadable(f) || f.Unconfirmed != "" && f.Priority.Severe()
		switch {
		case aside:
		case f.Priority.Rank() > floor:
			below++
			continue
		case f.File != "" && !f.Priority.Severe() && !c.its(f.File, b):
			elsewhere++
			continue
		case c.Findings == 0 || passes(f, given[i]):
		case said >= c.Findings && (f.Priority == review.P3 || !objections.Grave(f)):
			if omitted++; f.Priority != review.P3 {
				untold++
			}
			continue
		default:
			said++
		}
		kept, facts = append(kept, f), append(facts, given[i])
	}
	tell := func(n int, why string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s left out: %s", plural(n, "finding", "findings"), why))
		}
	}
	tell(below, "below the severity floor "+c.Floor)
	tell(elsewhere, "about a file that is "+notAbout)
	tell(omitted, fmt.Sprintf("beyond the limit of %d (maxFindings)", c.Findings))
	return kept, facts, omitted, untold, notes
}

// passes reports whether a finding counts for nothing, whatever else is found: what it quotes is false, or people dismissed it, or it is settled in its thread.
func (in Inputs) passes(f review.Finding, ev evidence.Result) bool {
	in.Reports, f.Quoted, f.Altered, f.Named = nil, ev.Quoted, ev.Altered, ev.Named
	g := gathered{in: in, findings: []review.Finding{f}, support: map[int]evidence.Status{0: ev.Status}}
	return ev.Status == evidence.False || len(g.silence().agreed().findings) == 0
}

// maxWishes is how many comments and suggestions of one answer are carried out, beside one summary.
const maxWishes = 10

// granted are the wishes that are carried out: those of tools the command has, as many as there is room for, and of summaries the last one.
func (c CommandPlan) granted(wishes []review.Wish) (kept []review.Wish, notes []string) {
	refused, over, last := 0, 0, -1
	for i, w := range wishes {
		switch {
		case !slices.Contains(c.Tools, string(w.Kind)):
			refused++
		case w.Kind == review.WishPostSummary:
			last = i
		case len(kept) >= maxWishes:
			over++
		default:
			kept = append(kept, w)
		}
	}
	if last >= 0 {
		kept = append(kept, wishes[last])
	}
	if refused > 0 {
		notes = append(notes, fmt.Sprintf("%s not carried out: the command has no such tool", plural(refused, "wish", "wishes")))
	}
	if over > 0 {
		notes = append(notes, fmt.Sprintf("%s not carried out: an answer has room for %d", plural(over, "wish", "wishes"), maxWishes))
	}
	return kept, notes
}

// unneeded is the answer of a command about other files than those that changed: nobody is asked.
func unneeded(plan AgentPlan, b review.Brief) review.Answer {
	var none, free = 0, 0.0
	return review.Answer{Receipt: review.AgentReceipt{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, Model: plan.Model, State: review.AgentComplete,
		Usage: review.Usage{InputTokens: &none, CachedTokens: &none, OutputTokens: &none, CostUSD: &free}, Notes: []string{"not asked: " + plan.Command.idleWords(b)},
	}}
}

// checkCommand establishes the facts about the findings of a command's answer, as for those of reviewers, and holds the answer against the command's bounds.
func (l *Loop) checkCommand(ctx context.Context, in Inputs, plan AgentPlan, a *review.Answer) (facts []evidence.Result, untold int, err error) {
	facts, untold, err = examined(ctx, plan, a, in.Snapshot.Brief, in.Snapshot.checker(l.History, l.Learned), in.passes)
	if err != nil {
		return nil, 0, err
	}
	var notes []string
	a.Command.Wishes, notes = plan.Command.granted(a.Command.Wishes)
	a.Receipt.Notes = append(a.Receipt.Notes, notes...)
	return facts, untold, nil
}

// examined places the findings of a command's answer, says whose they are, and holds them against the command's bounds. The facts stand at the index of their finding.
func examined(ctx context.Context, plan AgentPlan, a *review.Answer, b review.Brief, check *evidence.Checker, passes func(review.Finding, evidence.Result) bool) (facts []evidence.Result, untold int, err error) {
	c, receipt := a.Command, &a.Receipt
	facts = make([]evidence.Result, len(c.Findings))
	for i := range c.Findings {
		f := &c.Findings[i]
		ev, note, err := check.Place(ctx, f, false)
		if err != nil {
			return nil, 0, err
		}
		if note != "" {
			receipt.Notes = append(receipt.Notes, fmt.Sprintf("findings/%d: %s", i, note))
		}
		if !answer.Unreadable(*f) {
			f.Category = plan.Command.ID
		}
		f.Source = review.Source{Type: "agent", Name: plan.Name}
		f.Fingerprint = identity.Fingerprint(*f)
		facts[i] = ev
	}
	var notes []string
	c.Findings, facts, receipt.Omitted, untold, notes = plan.Command.hold(b, c.Findings, facts, passes)
	receipt.Notes = append(receipt.Notes, notes...)
	receipt.Findings = len(c.Findings)
	return facts, untold, nil
}

// command is the plan of the command an answer is of, as it was asked; nil for an answer of somebody else.
func (r Request) command(h AgentReport) *CommandPlan {
	if h.Answer.Receipt.Role != review.RoleCommand {
		return nil
	}
	for _, a := range r.Agents {
		if a.Name == h.Answer.Receipt.Name && a.Role == review.RoleCommand {
			if h.Wide {
				return a.widened().Command
			}
			return a.Command
		}
	}
	return nil
}

// counting are the findings of an answer that count for the verdict as far as their evidence goes: a reviewer's, and a command's that feeds the main report, unless it
// says otherwise.
func (r Request) counting(h AgentReport) []review.Finding {
	if h.Answer.Reviewer != nil {
		return h.Answer.Reviewer.Findings
	}
	if c := r.command(h); c != nil && h.Answer.Command != nil && (r.Alone && c.Counts || c.decides()) {
		return h.Answer.Command.Findings
	}
	return nil
}

// silent are the commands that gave no complete answer.
func (g gathered) silent() (ids []string) {
	for _, h := range g.in.Reports {
		if c := g.in.Request.command(h); c != nil && h.Answer.Receipt.State != review.AgentComplete {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// writtenCommand are the texts of an answer that a command's agent wrote, beside its findings.
func writtenCommand(a *review.CommandAnswer) []*string {
	out := append([]*string{&a.Summary}, each(a.Notes)...)
	for i := range a.Wishes {
		w := &a.Wishes[i]
		out = append(append(out, &w.Body, &w.Title, &w.Branch), each(w.Paths)...)
		if w.Location != nil {
			out = append(out, &w.Location.File)
		}
	}
	return out
}
