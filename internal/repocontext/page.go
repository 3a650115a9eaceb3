package repocontext

import (
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const (
	// wholeBody is how long a function is at most that is given whole, in lines; of a longer one at most mostMatter lines that matter.
	wholeBody  = 10
	mostMatter = 8
	// lineMost is the longest line of related code, in bytes.
	lineMost = 300
	// maskSpan is the longest span that is looked through for secrets as a whole, in lines.
	maskSpan = 400
	// maskBytes is the longest such text; of a longer one nothing is given.
	maskBytes = 32 << 10
)

// matters recognises, in any language, the lines of a function that say what comes out of it.
var matters = lazyregexp.New(`\b(?:return|raise|throw|throws|panic|yield|abort|assert|None|nil|null|undefined|default|catch|except|rescue|recover|defer|lock|Lock|unwrap|expect)\b|\?;`)

// page is a file as related code shows it.
type page struct {
	lines []string
	there map[int]bool // lines that are shown elsewhere
	taken map[int]string
	named bool
}

func newPage(text []byte, there map[int]bool) *page {
	return &page{lines: splitLines(text), there: there, taken: map[int]string{}}
}

// add takes the lines of an item that are not shown yet, and says which and what they cost. Lines that hold what looks like a
// secret are left out, as the whole of the span shows them: a piece may be too little to tell.
func (p *page) add(it item) (fresh []int, cost int) {
	if len(it.lines) == 0 || it.lines[0] > len(p.lines) {
		return nil, 0
	}
	wanted := slices.Clone(it.lines)
	if it.matter {
		wanted = append(wanted, p.matter(it.span)...)
	}
	secret := p.secrets(it.span, wanted)
	for _, n := range wanted {
		if n < 1 || n > len(p.lines) || p.there[n] || secret[n] || len(p.lines[n-1]) > lineMost || strings.TrimSpace(p.lines[n-1]) == "" {
			continue
		}
		if _, taken := p.taken[n]; taken {
			continue
		}
		p.taken[n] = it.why
		fresh = append(fresh, n)
		cost += Estimate(p.lines[n-1])
	}
	if len(fresh) > 0 {
		cost += Estimate(it.why)
	}
	return fresh, cost
}

func (p *page) drop(fresh []int) {
	for _, n := range fresh {
		delete(p.taken, n)
	}
}

// matter are the lines of a function's body to give: all of a short one, or those that say what comes out of it.
func (p *page) matter(s span) []int {
	var all []int
	end := min(s.end, len(p.lines))
	for n := s.start; n <= end; n++ {
		if end-s.start < wholeBody || matters.MatchString(p.lines[n-1]) && len(all) < mostMatter {
			all = append(all, n)
		}
	}
	return all
}

// secrets are the lines of a span, and of what else is wanted, in which the rules find a secret.
func (p *page) secrets(s span, wanted []int) map[int]bool {
	first, last := s.start, min(s.end, s.start+maskSpan)
	for _, n := range wanted {
		if n >= s.start-maskSpan && n <= s.end+maskSpan {
			first, last = min(first, n), max(last, n)
		}
	}
	first, last = max(first, 1), min(last, len(p.lines))
	out := map[int]bool{}
	if first > last {
		return out
	}
	was := p.lines[first-1 : last]
	var is []string
	if text := strings.Join(was, ""); len(text) <= maskBytes {
		is = splitLines([]byte(sanitize.Mask(text)))
	}
	for i := range was {
		if len(is) != len(was) || is[i] != was[i] {
			out[first+i] = true
		}
	}
	return out
}

// file puts together what was taken.
func (p *page) file(name string) review.RelatedFile {
	f := review.RelatedFile{Path: spelling.Name(name)}
	for _, n := range slices.Sorted(maps.Keys(p.taken)) {
		last := len(f.Regions) - 1
		text := spelling.Text(p.lines[n-1])
		if last >= 0 && f.Regions[last].End == n-1 && f.Regions[last].Symbol == p.taken[n] {
			f.Regions[last].End, f.Regions[last].Text = n, f.Regions[last].Text+text
			continue
		}
		f.Regions = append(f.Regions, review.Region{Start: n, End: n, Symbol: p.taken[n], Text: text})
	}
	return f
}
