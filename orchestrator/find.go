package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/discovery"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// FindPlan is who looks for code and prose outside a change that reviewers should see, and within which bounds (decision 83).
type FindPlan struct {
	Agent  AgentPlan        `json:"agent"`
	Limits review.Limits    `json:"limits"`
	Bounds discovery.Bounds `json:"bounds"`
	// DiscoveryTokens and ExtractTokens bound the two answers.
	DiscoveryTokens int `json:"discoveryTokens"`
	ExtractTokens   int `json:"extractTokens"`
	// Prompt and ExtractPrompt are what the repository says about its files to each of the two questions.
	Prompt        string `json:"prompt,omitempty"`
	ExtractPrompt string `json:"extractPrompt,omitempty"`
	// Always are folders that are listed whether or not the change touches them.
	Always []string `json:"always,omitempty"`
	// Full gives what was found to the reviewers and the verifier, Quick to the scout.
	Full  bool `json:"full,omitempty"`
	Quick bool `json:"quick,omitempty"`
}

// Shelves are where a finder's wishes are read: the repository at the head.
type Shelves interface {
	// List lists folders, those first that the change is in. changed are names as package spelling writes them.
	List(ctx context.Context, r Range, o ContextOptions, p FindPlan, changed []string) ([]review.Listing, error)
	// Read reads files that the listings offer, masked, and says what it does not read.
	Read(ctx context.Context, r Range, o ContextOptions, p FindPlan, listings []review.Listing, wanted []review.Wanted) ([]review.Fragment, []string, error)
}

// The names of a finder in its two questions.
const (
	DiscoveryAgent  = "context-discovery"
	ExtractionAgent = "context-extraction"
)

// Found is what a finder brought to a run.
type Found struct {
	// Reports are its answers; those of another round or run cost nothing here.
	Reports []AgentReport        `json:"reports,omitempty"`
	Files   []review.RelatedFile `json:"files,omitempty"`
	Receipt review.Found         `json:"receipt"`
}

// discovered is the first half of a search.
type discovered struct {
	Report   AgentReport      `json:"report"`
	Listings []review.Listing `json:"listings"`
}

// narrow makes of a brief what a finder is given: the diff, as far as its budget goes, and the code that was found by name.
func (p FindPlan) narrow(b review.Brief) review.Brief {
	related := b.Related
	b = QuickPlan{Limits: p.Limits}.narrow(b)
	if b.Tokens <= p.Limits.ContextTokens || p.Limits.ContextTokens == 0 {
		b.Related = related
	}
	return b
}

// plan is the finder of one of the two questions.
func (p FindPlan) plan(name string) AgentPlan {
	one, limits := p.Agent, p.Limits
	one.Name, one.Prompt, limits.AnswerTokens = name, p.Prompt, p.DiscoveryTokens
	if name == ExtractionAgent {
		one.Prompt, limits.AnswerTokens = p.ExtractPrompt, p.ExtractTokens
	}
	one.Limits = &limits
	return one
}

// Plans are the finder in both of its questions.
func (p FindPlan) Plans() []AgentPlan {
	return []AgentPlan{p.plan(DiscoveryAgent), p.plan(ExtractionAgent)}
}

// find asks for the files that a reviewer has to see, reads them, and asks for their lines. It costs the review nothing but its context:
// a finder that fails, or lies, leaves the brief as it is, and the receipt names it.
func (l *Loop) find(ctx context.Context, steps Steps, req Request, in Inputs, spent time.Duration) (*Found, error) {
	plan := *req.Find
	first, err := doJSON(ctx, steps, fmt.Sprintf("round %d: ask %s", in.Round, DiscoveryAgent), func(ctx context.Context) (discovered, error) {
		l.say("looking for context of the change")
		listings, err := l.Shelves.List(ctx, in.Snapshot.Range, req.Context, plan, paths(req.Context.told(in.Snapshot.Brief)))
		if err != nil {
			return discovered{}, err
		}
		in.find = &review.FindTask{Listings: listings, Most: plan.Bounds.Fragments, Chars: plan.Bounds.Chars}
		report, err := l.ask(ctx, req, plan.plan(DiscoveryAgent), in, req.wallTime()-spent)
		return discovered{report, listings}, err
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", DiscoveryAgent, err)
	}
	out := &Found{Reports: []AgentReport{first.Report}, Receipt: review.Found{Excerpts: []review.Excerpt{}}}
	if err := contextDiscovered.Hit(); err != nil {
		return nil, err
	}
	said := first.Report.Answer
	if said.Finder == nil || said.Receipt.State != review.AgentComplete || len(said.Finder.Wanted) == 0 {
		return out, nil
	}
	spent += seconds(said.Receipt.Seconds)
	found, err := doJSON(ctx, steps, fmt.Sprintf("round %d: ask %s", in.Round, ExtractionAgent), func(ctx context.Context) (Found, error) {
		fragments, refused, err := l.Shelves.Read(ctx, in.Snapshot.Range, req.Context, plan, first.Listings, said.Finder.Wanted)
		if err != nil {
			return Found{}, err
		}
		got := Found{Receipt: review.Found{Excerpts: []review.Excerpt{}, Refused: refused}}
		if len(fragments) == 0 {
			return got, nil
		}
		in.find = &review.FindTask{Fragments: fragments, Most: mostExcerpts, Chars: plan.Bounds.Chars}
		report, err := l.ask(ctx, req, plan.plan(ExtractionAgent), in, req.wallTime()-spent)
		if err != nil {
			return Found{}, err
		}
		got.Reports = []AgentReport{report}
		if a := report.Answer; a.Finder != nil && a.Receipt.State == review.AgentComplete {
			got.Files, got.Receipt = discovery.Excerpts(plan.Bounds, fragments, a.Finder.Wanted, shownIn(in.Snapshot.Brief), req.room(plan, in.Snapshot.Brief))
			got.Receipt.Refused = append(refused, got.Receipt.Refused...)
		}
		got.Receipt.Refused = few(got.Receipt.Refused)
		return got, nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", ExtractionAgent, err)
	}
	out.Reports, out.Files, out.Receipt = append(out.Reports, found.Reports...), found.Files, found.Receipt
	return out, nil
}

const (
	// mostExcerpts is how many excerpts a finder is asked for, mostRefused how many refusals a receipt names.
	mostExcerpts = 20
	mostRefused  = 10
)

// few are as many refusals as a receipt names.
func few(refused []string) []string {
	if more := len(refused) - mostRefused; more > 0 {
		refused = append(slices.Clone(refused[:mostRefused]), plural(more, "more was refused", "more were refused"))
	}
	return refused
}

// room is how many characters all excerpts together may have: what the bounds allow, and what is left of the brief's budget.
func (r Request) room(p FindPlan, b review.Brief) int {
	most := p.Bounds.Fragments * p.Bounds.Chars
	if r.Limits.ContextTokens > 0 {
		most = min(most, 3*(r.Limits.ContextTokens-b.Tokens))
	}
	return max(0, most)
}

// paths are the changed files of a brief, the most changed ones first.
func paths(b review.Brief) (out []string) {
	files := slices.Clone(b.Files)
	slices.SortStableFunc(files, func(x, y review.BriefFile) int { return y.Additions + y.Deletions - x.Additions - x.Deletions })
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// shownIn reports which lines of the head version a brief shows.
func shownIn(b review.Brief) func(file string, line int) bool {
	type at struct {
		file string
		line int
	}
	there := map[at]bool{}
	regions := func(file string, list []review.Region) {
		for _, r := range list {
			for n := r.Start; n <= r.End; n++ {
				there[at{file, n}] = true
			}
		}
	}
	for _, f := range b.Files {
		regions(f.Path, f.Context)
		d, err := diff.Parse(f.Diff)
		if err != nil {
			continue
		}
		for i := range d.Files {
			for h := range d.Files[i].Hunks {
				for l := range d.Files[i].Hunks[h].Lines() {
					there[at{f.Path, l.New}] = true
				}
			}
		}
	}
	for _, f := range b.Related {
		regions(f.Path, f.Regions)
	}
	return func(file string, line int) bool { return there[at{file, line}] }
}

// later is what was found as a later round has it: without the files that a fix changed, of which the lines are others now.
func (f *Found) later(changed []string) *Found {
	if f == nil {
		return nil
	}
	out := &Found{Receipt: review.Found{Excerpts: []review.Excerpt{}}}
	for _, file := range f.Files {
		if !slices.Contains(changed, file.Path) {
			out.Files = append(out.Files, file)
		}
	}
	for _, e := range f.Receipt.Excerpts {
		if slices.Contains(changed, e.File) {
			out.Receipt.Later++
			continue
		}
		out.Receipt.Excerpts = append(out.Receipt.Excerpts, e)
	}
	return out
}

// withFound is a brief with what the finder brought, for those who are given it.
func (in Inputs) withFound(plan AgentPlan, b review.Brief) review.Brief {
	if in.Found == nil || in.Request.Find == nil || plan.Kind == review.KindStatic {
		return b
	}
	switch plan.Role {
	case review.RoleReviewer, review.RoleVerifier:
		if in.Request.Find.Full {
			b.Found = in.Found.Files
		}
	case review.RoleScout:
		if in.Request.Find.Quick {
			b.Found = in.Found.Files
		}
	}
	return b
}

// looks reports whether a finder is asked for a tier of this request.
func (r Request) looks(quick bool) bool {
	return r.Find != nil && (quick && r.Find.Quick || !quick && r.Find.Full)
}

// forQuick and forFull are the parts of a plan that decide what a scan, and a full review, are given.
func (p *FindPlan) forQuick() *FindPlan { return p.only(p != nil && p.Quick) }
func (p *FindPlan) forFull() *FindPlan  { return p.only(p != nil && p.Full) }

func (p *FindPlan) only(on bool) *FindPlan {
	if !on {
		return nil
	}
	one := *p
	one.Full, one.Quick = false, false
	return &one
}

// changedSince are the files that differ between two heads, under both of their names.
func changedSince(d *diff.Diff) []string {
	out := []string{}
	for i := range d.Files {
		f := &d.Files[i]
		out = append(out, spelling.Name(sanitize.MaskPath(f.Path)))
		if f.OldPath != "" {
			out = append(out, spelling.Name(sanitize.MaskPath(f.OldPath)))
		}
	}
	return sortedSet(out)
}

// writtenFinder are the texts of an answer that a finder wrote.
func writtenFinder(r *review.FinderResult) (out []*string) {
	for i := range r.Wanted {
		out = append(out, &r.Wanted[i].File, &r.Wanted[i].Reason)
	}
	return out
}

// shownFind is what a finder is asked with hidden characters made visible.
func shownFind(f *review.FindTask) *review.FindTask {
	if f == nil {
		return nil
	}
	out := *f
	out.Fragments = slices.Clone(out.Fragments)
	for i := range out.Fragments {
		p := &out.Fragments[i]
		p.Text, _ = sanitize.Visible(p.Text)
		p.Reason, _ = sanitize.Visible(p.Reason)
	}
	return &out
}
