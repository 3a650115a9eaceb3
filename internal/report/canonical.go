package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Canonical is d as a report shows it: sorted, texts in the form they are printed in, figures rounded, and without what
// is not printed. A test reads it back from Render(d) exactly; Canonical changes nothing the second time.
func Canonical(d Data) Data {
	c := Data{Round: max(d.Round, 0), Rounds: max(d.Rounds, 0), Outcome: review.Outcome(word(string(d.Outcome))), Distinct: d.Distinct}
	c.Target = target(d.Target)
	if c.Outcome != "" {
		c.Reason = inline(d.Reason)
	}
	if d.Verdict != nil {
		v := *d.Verdict
		c.Why = inline(d.Why)
		c.Verdict = &review.Verdict{Consensus: review.Conclusion(word(string(v.Consensus))), Issues: v.Issues, Distinct: v.Distinct}
		for i, n := range v.Rules {
			reason := ""
			if i < len(v.Reasons) {
				reason = inline(v.Reasons[i])
			}
			c.Verdict.Rules, c.Verdict.Reasons = append(c.Verdict.Rules, n), append(c.Verdict.Reasons, reason)
		}
	} else {
		c.Distinct = review.Counts{}
	}
	local := links{c.Target, ""}.none()
	if d.Since != nil {
		c.Since = since(*d.Since)
	}
	c.Findings = findings(d.Findings, local)
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Open, f.Stuck, f.Look = f.Open && f.Must, f.Stuck && f.Must && c.Since != nil, false
		if f.Standing = known(f.Standing); c.Since == nil || !f.Must {
			f.Standing = ""
		}
		if f.Stuck {
			f.Standing = Back
		}
		f.Waits = f.Waits && f.Must && !f.Stuck
	}
	// As they are printed: what is open first, then what else must be fixed.
	slices.SortStableFunc(c.Findings, func(a, b Finding) int {
		return cmp.Or(boolRank(!a.Must)-boolRank(!b.Must), boolRank(!a.Open)-boolRank(!b.Open))
	})
	c.Unverified = findings(d.Unverified, local)
	for i := range c.Unverified { // these have a list of their own
		f := &c.Unverified[i]
		f.Must, f.Open, f.Stuck, f.Waits, f.Standing = false, false, false, false, ""
	}
	c.Dismissed, c.DismissalNotes = dismissals(d.Dismissed, local), texts(d.DismissalNotes)
	c.Commands = sections(d.Commands, local)
	if d.Diverging != nil {
		c.Diverging = diverging(*d.Diverging)
	}
	c.Course = course(d.Course)
	if d.Discussion != nil {
		c.Discussion = discussion(*d.Discussion)
	}
	c.Cured, c.Left, c.Unsettled, c.ByApp = d.Cured, d.Left, d.Unsettled, d.ByApp
	if t := d.Threadless; t != nil {
		c.Threadless = &Threadless{names(t.By), word(t.Commit), t.Report}
	}
	c.Remarks, c.Notes = sentences(d.Remarks), texts(d.Notes)
	c.Receipt = receipt(d.Receipt)
	return c
}

func known(s Standing) Standing {
	if s == Still || s == Back {
		return s
	}
	return New
}

func since(s Since) *Since {
	out := Since{Round: max(s.Round, 0), Unasked: max(s.Unasked, 0), Doubted: max(s.Doubted, 0)}
	for _, g := range s.Gone {
		g.Priority, g.Title, g.Commit = g.Priority.Level().Priority, itemTitle(g.Title), oid(g.Commit)
		if !g.Fixed {
			g.Commit = ""
		}
		out.Gone = append(out.Gone, g)
	}
	slices.SortFunc(out.Gone, func(a, b Gone) int {
		return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Commit, b.Commit), boolRank(a.Fixed)-boolRank(b.Fixed))
	})
	return &out
}

// sentences are texts that begin paragraphs.
func sentences(list []string) []string {
	out := texts(list)
	for i, s := range out {
		out[i] = sentence(s)
	}
	return out
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func target(t review.Target) review.Target {
	if t.Local() {
		return review.Target{Base: word(t.Base), Change: review.Change(word(string(t.Change))), Commit: word(t.Commit)}
	}
	name := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r)) {
				return r
			}
			return -1
		}, s)
	}
	out := review.Target{PR: t.PR, Repo: review.Repo{Host: name(t.Repo.Host), Owner: name(t.Repo.Owner), Name: name(t.Repo.Name)}}
	switch {
	case out.Repo.Owner == "" || out.Repo.Name == "":
		out.Repo = review.Repo{}
	case out.Repo.Host == "":
		out.Repo.Host = "github.com"
	}
	return out
}

// texts folds lines to one line each, keeps their order and drops empty ones.
func texts(list []string) []string {
	var out []string
	for _, s := range list {
		if s = inline(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// names are sorted and distinct words.
func names(list []string) []string {
	var out []string
	for _, s := range list {
		if s = word(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func findings(list []Finding, local bool) []Finding {
	var out []Finding
	for _, f := range list {
		out = append(out, finding(f, local))
	}
	slices.SortFunc(out, compare)
	return out
}

func finding(f Finding, local bool) Finding {
	f.ID, f.Identity, f.Category, f.Cause = word(f.ID), word(f.Identity), word(f.Category), word(f.Cause)
	f.Priority = f.Priority.Level().Priority
	if f.Category == "" {
		f.Category = "other"
	}
	if f.Title = pipes(inline(f.Title)); f.Title == "" {
		f.Title = "(no title)"
	}
	f.Description, f.Suggestions, f.Evidence = prose(f.Description), suggestions(f.Suggestions), excerpt(f.Evidence)
	if f.Language = language(f.Language); f.Evidence == "" {
		f.Language = ""
	}
	f.File = spelling.Name(spelling.Raw(f.File))
	if shown := word(f.File); local || shown == "" {
		f.File = shown
	}
	if f.File == "" || f.Line <= 0 {
		f.Line = 0
	}
	if f.LineEnd <= f.Line || f.Line == 0 {
		f.LineEnd = 0
	}
	f.By, f.Also, f.Reason = names(f.By), also(f), inline(f.Reason)
	if f.OriginalScore <= 0 || f.OriginalScore >= f.Score {
		f.Score, f.OriginalScore = 0, 0 // nothing is said of it
	}
	return f
}

// also are the further wordings of a finding, each text once.
func also(f Finding) []Wording {
	var out []Wording
	for _, w := range f.Also {
		w = Wording{By: cmp.Or(word(w.By), "?"), Priority: w.Priority.Level().Priority, Category: word(w.Category), Title: cmp.Or(inline(w.Title), "(no title)"), Description: prose(w.Description)}
		said := func(title, description string) bool { return title == w.Title && description == w.Description }
		if !said(f.Title, f.Description) && !slices.ContainsFunc(out, func(o Wording) bool { return said(o.Title, o.Description) }) {
			out = append(out, w)
		}
	}
	return out
}

// suggestions keep each text once, with who said it where there are several.
func suggestions(list []Suggestion) []Suggestion {
	var out []Suggestion
	for _, s := range list {
		text := block(s.Text)
		if line := inline(text); flowing(text) && !strings.Contains(text, "\n\n") && simple(line) {
			text = line
		}
		if text != "" && !slices.ContainsFunc(out, func(o Suggestion) bool { return o.Text == text }) {
			out = append(out, Suggestion{By: word(s.By), Text: text})
		}
	}
	if len(out) == 1 {
		out[0].By = ""
	}
	return out
}

// compare orders findings by urgency, then place, then by everything else that is shown, so that no two orders exist.
func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.LineEnd, b.LineEnd), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Category, b.Category),
		slices.Compare(a.By, b.By), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Description, b.Description),
		slices.CompareFunc(a.Suggestions, b.Suggestions, func(a, b Suggestion) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Text, b.Text)) }),
		slices.CompareFunc(a.Also, b.Also, func(a, b Wording) int {
			return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Description, b.Description))
		}),
		cmp.Compare(a.Evidence, b.Evidence), cmp.Compare(a.Language, b.Language),
		boolRank(a.Confirmed)-boolRank(b.Confirmed), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Reason, b.Reason), boolRank(a.Look)-boolRank(b.Look),
		cmp.Compare(a.OriginalScore, b.OriginalScore), cmp.Compare(a.Score, b.Score), boolRank(a.Stuck)-boolRank(b.Stuck), boolRank(a.Waits)-boolRank(b.Waits), cmp.Compare(a.Standing, b.Standing),
		boolRank(a.Must)-boolRank(b.Must), boolRank(a.Open)-boolRank(b.Open))
}

func discussion(d Discussion) *Discussion {
	out := Discussion{Threads: d.Threads, Truncated: d.Truncated, Impostors: names(d.Impostors)}
	for _, p := range d.ChangesRequestedBy {
		out.ChangesRequestedBy = append(out.ChangesRequestedBy, review.ChangesRequestedBy{Login: word(p.Login), Association: word(p.Association)})
	}
	slices.SortFunc(out.ChangesRequestedBy, func(a, b review.ChangesRequestedBy) int {
		return cmp.Or(cmp.Compare(a.Login, b.Login), cmp.Compare(a.Association, b.Association))
	})
	out.ChangesRequestedBy = slices.Compact(out.ChangesRequestedBy)
	if out.Threads == (review.ThreadStats{}) && !out.Truncated && out.Impostors == nil && out.ChangesRequestedBy == nil {
		return nil // there is nothing to say
	}
	return &out
}

func receipt(r review.Receipt) review.Receipt {
	out := r
	out.ReviewID, out.PromptVersion = word(r.ReviewID), word(r.PromptVersion)
	out.BaseSHA, out.MergeBaseSHA, out.HeadSHA = word(r.BaseSHA), word(r.MergeBaseSHA), word(r.HeadSHA)
	out.Status, out.Isolation, out.Config, out.Warnings = word(r.Status), inline(r.Isolation), inline(r.Config), texts(r.Warnings)
	out.LeftOut, out.Agents, out.Calibration = leftOut(r.LeftOut), nil, inline(r.Calibration)
	out.Masked, out.Found = max(0, r.Masked), lookedUp(r.Found)
	for _, a := range r.Agents {
		out.Agents = append(out.Agents, agent(a))
	}
	slices.SortFunc(out.Agents, func(a, b review.AgentReceipt) int {
		return cmp.Or(cmp.Compare(roleRank(a.Role), roleRank(b.Role)), cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(agentCells(a), a.Reason, a.Notes), fmt.Sprint(agentCells(b), b.Reason, b.Notes)))
	})
	return out
}

// lookedUp is what a finder brought, in the one order of a report.
func lookedUp(f *review.Found) *review.Found {
	if f == nil {
		return nil
	}
	out := review.Found{Excerpts: []review.Excerpt{}, Refused: texts(f.Refused), Later: max(0, f.Later)}
	for _, e := range f.Excerpts {
		out.Excerpts = append(out.Excerpts, review.Excerpt{File: word(e.File), Line: max(0, e.Line), LineEnd: max(0, e.LineEnd), Reason: inline(e.Reason)})
	}
	slices.SortStableFunc(out.Excerpts, func(a, b review.Excerpt) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.LineEnd, b.LineEnd), cmp.Compare(a.Reason, b.Reason))
	})
	return &out
}

func roleRank(r review.Role) int {
	if r == review.RoleReviewer {
		return 0
	}
	return 1
}

func agent(a review.AgentReceipt) review.AgentReceipt {
	if a.Model == "" {
		a.Model = strings.Join(a.Usage.Models, ", ")
	}
	a.Name, a.Kind, a.Model = word(a.Name), word(a.Kind), word(a.Model)
	a.Role, a.State = review.Role(word(string(a.Role))), review.AgentState(word(string(a.State)))
	a.Reason, a.Notes, a.Omitted = inline(a.Reason), texts(a.Notes), max(a.Omitted, 0)
	a.Seconds = rounded(a.Seconds, 1)
	a.Usage.LLMSeconds, a.Usage.Models = 0, nil
	if c := a.Usage.CostUSD; c != nil {
		usd := rounded(*c, 4)
		a.Usage.CostUSD = &usd
	}
	return a
}

func rounded(f float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	if err != nil || r != r || r > 1e12 || r <= 0 {
		return 0
	}
	return r
}
