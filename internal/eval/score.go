package eval

// Score is precision, recall and F1, each 0 to 1.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func (s Score) plus(t Score) Score {
	return Score{s.Precision + t.Precision, s.Recall + t.Recall, s.F1 + t.F1}
}
func (s Score) over(n float64) Score { return Score{s.Precision / n, s.Recall / n, s.F1 / n} }

// count sums up what was found on several pull requests.
type count struct {
	pulls                   int
	found, invented, missed int
}

// add counts one pull request: how many findings were expected, and for each finding made which of them it is. A finding
// that brings nothing new is false.
func (c *count) add(expected int, brings [][]string) {
	brought := map[string]bool{}
	for _, b := range brings {
		before := len(brought)
		for _, g := range b {
			brought[g] = true
		}
		if len(brought) == before {
			c.invented++
		}
	}
	c.found += len(brought)
	c.missed += expected - len(brought)
}

func (c count) score() Score {
	return Score{
		Precision: share(c.found, c.found+c.invented), Recall: share(c.found, c.found+c.missed),
		F1: share(2*c.found, 2*c.found+c.invented+c.missed),
	}
}

// scores are what one set of tools comes to.
type scores struct{ everything, supported, first Score }

// together scores what a set of tools says: everything joined by identity, what enough of them support, and of the latter
// only the wording that comes first.
func (f field) together(set []int, support int) scores {
	var everything, supported, first count
	for _, p := range f.pulls {
		var which []int
		for _, t := range set {
			which = append(which, p.by[f.tools[t]]...)
		}
		var all, kept, led [][]string
		for _, group := range p.known.Join(which) {
			var members [][]string
			for _, at := range group {
				members = append(members, p.brings[which[at]])
			}
			one := agreed(members)
			if all = append(all, one); len(group) >= support {
				kept, led = append(kept, one), append(led, members[0])
			}
		}
		everything.add(p.expected, all)
		supported.add(p.expected, kept)
		first.add(p.expected, led)
	}
	return scores{everything.score(), supported.score(), first.score()}
}

// agreed is what a joined finding counts as: the one expected finding most of its members are, the first of equals. One
// finding in a report answers one expected finding, whatever was joined under it.
func agreed(members [][]string) []string {
	votes, top := map[string]int{}, ""
	for _, m := range members {
		for _, g := range m {
			votes[g]++
		}
	}
	for _, m := range members {
		for _, g := range m {
			if top == "" || votes[g] > votes[top] {
				top = g
			}
		}
	}
	if top == "" {
		return nil
	}
	return []string{top}
}

// choose calls do with each set of k of n indexes, ascending. The set is the caller's only until do returns.
func choose(n, k int, do func([]int)) {
	set := make([]int, 0, k)
	var from func(int)
	from = func(next int) {
		if len(set) == k {
			do(set)
			return
		}
		for i := next; i <= n-(k-len(set)); i++ {
			set = append(set, i)
			from(i + 1)
			set = set[:len(set)-1]
		}
	}
	from(0)
}
