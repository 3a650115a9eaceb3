package dismissals

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Case is one distinct finding that may be silenced.
type Case struct {
	// Wordings are what is said of it now, at least one; Earlier what was said of it in earlier rounds.
	Wordings, Earlier []review.Finding
}

// Grave reports whether only a dismissal that somebody else merged silences the finding: one wording, of now or earlier, is P0,
// P1, of no known priority, or about security.
func (c Case) Grave() bool { return len(c.grave()) > 0 }

func (c Case) grave() []review.Finding {
	return slices.DeleteFunc(slices.Concat(c.Wordings, c.Earlier), func(f review.Finding) bool { return !grave(f) })
}

func grave(f review.Finding) bool {
	return f.Priority.Severe() || !f.Priority.Valid() || identity.Security(f.Category)
}

// Said reports whether a person raised the finding: nothing silences that.
func (c Case) Said() bool {
	return slices.ContainsFunc(c.Wordings, func(f review.Finding) bool { return f.Source.Type != "agent" })
}

// nearLines is how far apart two wordings are about the same code, in lines.
const nearLines = 3

// only reports whether all that counts of a finding, and is not grave, is what was dismissed, or is said of the same code and goes along with that: what was taken for
// the same finding may be another one, and nobody dismissed that.
func (c Case) only(dismissed func(review.Finding) bool, titles func(review.Finding) []identity.Mark) bool {
	return !slices.ContainsFunc(c.Wordings, func(w review.Finding) bool {
		return w.Priority != review.P3 && !grave(w) && !dismissed(w) && !slices.ContainsFunc(c.Wordings, func(d review.Finding) bool {
			return dismissed(d) && near(w, d) && (sameReviewer(w, d) || like(w, titles(d)))
		})
	})
}

// near reports whether two findings are about the same code, as far as their lines tell, those of their quotes first.
func near(a, b review.Finding) bool {
	from, to := lines(a)
	first, last := lines(b)
	return a.File == b.File && (from == 0 || first == 0 || from-nearLines <= last && first-nearLines <= to)
}

func sameReviewer(a, b review.Finding) bool {
	return a.Source.Type == b.Source.Type && a.Source.Name == b.Source.Name
}

// like reports whether a finding has a title like that of a line of dismissals. What another reviewer says now is nothing to go by: a model that wants others silent
// chooses words that are like all (threats.md T506).
func like(w review.Finding, marks []identity.Mark) bool {
	w.Description = ""
	return slices.ContainsFunc(marks, func(m identity.Mark) bool {
		return identity.Alike(w, review.Finding{Category: m.Category, File: m.File, Title: m.Title})
	})
}

// lines are those that a finding is about; 0 when nobody knows.
func lines(f review.Finding) (from, to int) {
	switch {
	case f.Quoted[0] > 0:
		return f.Quoted[0], f.Quoted[1]
	case f.Line != nil:
		return *f.Line, *f.Line
	}
	return 0, 0
}

// MarkOf is what a line keeps of a wording of a finding whose identity is id. Where a rule knows the value of a secret, and the wording is about that, the line is for
// the value.
func (c Case) MarkOf(w review.Finding, id string) identity.Mark {
	m := identity.Mark{ID: id, Category: w.Category, File: w.File, Title: w.Title}
	hashed := func(s review.Finding) bool { return s.ValueHash != "" }
	switch {
	case hashed(w) || slices.ContainsFunc(c.Wordings, func(s review.Finding) bool { return hashed(s) && sameSecret(w, s) }):
		if m.Value = true; !hashed(w) {
			m.Category = review.CategorySecurity
		}
	case slices.ContainsFunc(c.Wordings, hashed):
		m.ID = identity.ID([]review.Finding{w})
	}
	return m
}

// Takes reports whether a mark is for a wording of the finding.
func (c Case) Takes(m identity.Mark, w review.Finding) bool { return takes(m, w, c.Wordings) }

// takes reports whether a mark is for a finding of a group. One for the value of a secret is for those that know it, and of the others for what is said in its words of
// the very secret: behind the words may stand any (threats.md T459).
func takes(m identity.Mark, w review.Finding, group []review.Finding) bool {
	if !m.Value || w.ValueHash != "" {
		return knows(m, w)
	}
	return m.Worded(w) && !(grave(w) && w.Altered) && slices.ContainsFunc(group, func(s review.Finding) bool { return s.ValueHash != "" && knows(m, s) && sameSecret(w, s) })
}

func knows(m identity.Mark, w review.Finding) bool {
	return identity.Recognize([]identity.Mark{m}, [][]review.Finding{{w}})[0] == 0
}

// sameSecret reports whether all lines that a finding is about are those of the secret that a rule found. The next line may hold another one.
func sameSecret(w, s review.Finding) bool {
	from, to := extent(w)
	first, last := extent(s)
	return w.File == s.File && from > 0 && first <= from && to <= last
}

// extent are all lines that a finding claims, and those of its quote, of which nobody knows the place while there is a mask in it.
func extent(f review.Finding) (from, to int) {
	from, to = lines(f)
	if f.Quoted[0] == 0 {
		to += strings.Count(strings.TrimSpace(f.Evidence), "\n")
	}
	if f.Line != nil {
		from, to = min(from, *f.Line), max(to, *f.Line)
	}
	if f.LineEnd != nil {
		to = max(to, *f.LineEnd)
	}
	return from, to
}

// Facts are what is known of the dismissals that count.
type Facts struct {
	List []Dismissal
	// Today is the day they are applied on, in UTC, such as 2026-11-22.
	Today string
	// Merged names, by commit, who merged what brought dismissals onto the base branch; only people other than the author of
	// the pull request stand in it.
	Merged map[string]string
}

// Applied is the dismissal that a finding met.
type Applied struct {
	Dismissal
	// Silent is true when the finding is listed and not counted. Otherwise it counts, because it is grave and nobody else is
	// proven to have merged the dismissal, or because of Apart.
	Silent bool
	// Apart is true when the finding counts because another reviewer says it of other code, or in other words, and nobody dismissed that.
	Apart bool
	// OtherValue is true when the finding counts because it is a secret, or another grave one of a rule, and the dismissal was for another value or line of code, or
	// from before these were told apart.
	OtherValue bool
	// MergedBy is who merged it, where that was asked.
	MergedBy string
}

// Apply says which dismissal each finding meets; nil for none.
func (f Facts) Apply(cases []Case) []*Applied {
	out := make([]*Applied, len(cases))
	var lines, comments []Dismissal
	for _, d := range f.List {
		switch {
		case d.Expired(f.Today):
		case d.Mark != nil:
			lines = append(lines, d)
		default:
			comments = append(comments, d)
		}
	}
	// Of two lines about the same finding the one that somebody merged counts.
	slices.SortStableFunc(lines, func(a, b Dismissal) int { return f.unmerged(a) - f.unmerged(b) })
	marks, groups := make([]identity.Mark, len(lines)), make([][]review.Finding, len(cases))
	for i, d := range lines {
		marks[i] = *d.Mark
	}
	for i, c := range cases {
		groups[i] = c.Wordings
	}
	named := func(c Case) func(review.Finding) bool {
		return func(w review.Finding) bool {
			return slices.ContainsFunc(comments, func(d Dismissal) bool { return d.Code.holds(w) }) ||
				slices.ContainsFunc(marks, func(m identity.Mark) bool { return takes(m, w, c.Wordings) })
		}
	}
	only := func(c Case) bool {
		return c.only(named(c), func(w review.Finding) []identity.Mark {
			return slices.DeleteFunc(slices.Clone(marks), func(m identity.Mark) bool { return m.Value || !takes(m, w, c.Wordings) })
		})
	}
	idle, known := map[int]bool{}, map[int]int{}
	for i, g := range identity.Recognize(marks, groups) {
		if idle[i] = g < 0; !idle[i] {
			known[g] = i
		}
	}
	for g, c := range cases {
		i, ok := known[g]
		if !ok { // the value may stand in several like lines of a file, and one line is for all of them
			i = slices.IndexFunc(marks, c.holds)
		}
		if i < 0 || c.Said() {
			continue
		}
		by := f.Merged[lines[i].Commit]
		apart := !only(c)
		out[g] = &Applied{Dismissal: lines[i], Silent: !apart && (!c.Grave() || by != "" && f.proven(lines, c)), Apart: apart, MergedBy: by}
		out[g].OtherValue = !out[g].Silent && slices.ContainsFunc(c.Wordings, func(w review.Finding) bool { return w.ValueHash != "" && !named(c)(w) })
	}
	for g, c := range cases {
		if out[g] != nil && out[g].Silent || c.Said() {
			continue
		}
		if i := slices.IndexFunc(comments, func(d Dismissal) bool { return slices.ContainsFunc(c.Wordings, d.Code.holds) }); i >= 0 && (out[g] == nil || !c.Grave()) {
			apart := !only(c)
			out[g] = &Applied{Dismissal: comments[i], Silent: !c.Grave() && !apart, Apart: apart}
		}
	}
	for g, c := range cases {
		if i := slices.IndexFunc(lines, func(d Dismissal) bool { return c.otherValue(*d.Mark) }); out[g] == nil && i >= 0 && idle[i] && !c.Said() {
			out[g] = &Applied{Dismissal: lines[i], OtherValue: true}
		}
	}
	return out
}

// holds reports whether a mark is for the value of a secret that a rule found in the lines of the finding.
func (c Case) holds(m identity.Mark) bool {
	return m.Value && slices.ContainsFunc(c.Wordings, func(w review.Finding) bool {
		return w.ValueHash != "" && identity.ID([]review.Finding{w}) == m.ID && knows(m, w)
	})
}

// otherValue reports whether a mark would be for a finding that knows its value if values were not told apart.
func (c Case) otherValue(m identity.Mark) bool {
	return slices.ContainsFunc(c.Wordings, func(w review.Finding) bool {
		return w.ValueHash != "" && m.Worded(w)
	})
}

// proven reports whether a line that somebody else merged names each grave wording of a finding, as grave as it is. Wordings that were
// taken for the same finding may be two, and nobody dismissed the other.
func (f Facts) proven(lines []Dismissal, c Case) bool {
	open := func(group []review.Finding) func(review.Finding) bool {
		return func(w review.Finding) bool {
			return grave(w) && !slices.ContainsFunc(lines, func(d Dismissal) bool {
				return f.Merged[d.Commit] != "" && d.Covers(w) && takes(*d.Mark, w, group)
			})
		}
	}
	return !slices.ContainsFunc(c.Wordings, open(c.Wordings)) && !slices.ContainsFunc(c.Earlier, open(slices.Concat(c.Earlier, c.Wordings)))
}

func (f Facts) unmerged(d Dismissal) int {
	if f.Merged[d.Commit] != "" {
		return 0
	}
	return 1
}

// holds reports whether a finding is about the code: all lines that it claims or quotes are the code's own, or those beside that may be among them. A quote of which
// nobody knows the place has to be a part of the line. Whatever else it quotes, it may be about that.
func (c Code) holds(f review.Finding) bool {
	from, to := extent(f)
	if f.File != c.File || from == 0 || from > c.Line || to < c.Line || from < cmp.Or(c.First, c.Line) || to > max(c.Last, c.Line) {
		return false
	}
	return f.Quoted[0] > 0 || !strings.ContainsFunc(f.Evidence, isWord) || strings.Contains(c.Text, fold(f.Evidence))
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
