package scoring

import (
	"fmt"
	"io"

	"github.com/prloop/prloop/sanitize"
)

// Share counts questions that were answered in one way.
type Share struct {
	Agreed int `json:"agreed"`
	Of     int `json:"of"`
}

// Add counts one.
func (s *Share) Add(agreed bool) {
	s.Of++
	if agreed {
		s.Agreed++
	}
}

// Agreement says what the judge was asked and how far it agrees with the deterministic measures and with itself.
type Agreement struct {
	Judge string `json:"judge"`
	// Open are pairs of which place and words say different things; Same of them are one fault to the judge in both orders, Different in
	// neither. The others are Contradicted.
	Open      int `json:"open"`
	Same      int `json:"same"`
	Different int `json:"different"`
	// Contradicted are the open pairs of which the judge said one thing in one order and the other in the other. They count as different.
	Contradicted []Contradiction `json:"contradicted"`
	// Itself counts all pairs, and those with the same answer in both orders.
	Itself Share `json:"itself"`
	// Place and Words count open pairs of which that measure says that they are one, and those of which the judge says so too.
	Place Share `json:"place"`
	Words Share `json:"words"`
	// ControlSame and ControlDifferent count pairs of which place and words say the same thing, and those of which the judge says it too. They
	// are asked to measure the judge and change no verdict.
	ControlSame      Share `json:"control_same"`
	ControlDifferent Share `json:"control_different"`
}

// Contradiction is a pair about which the judge contradicts itself.
type Contradiction struct {
	Case   string `json:"case"`
	Repeat int    `json:"repeat"`
	Golden string `json:"golden"`
	Title  string `json:"title"`
}

// String is one line of it.
func (c Contradiction) String() string {
	return fmt.Sprintf("%s/%d: %s and %q", c.Case, c.Repeat, c.Golden, c.Title)
}

// Write prints it.
func (a Agreement) Write(w io.Writer) error {
	share := func(s Share) string {
		if s.Of == 0 {
			return "0 of 0"
		}
		return fmt.Sprintf("%d of %d (%.0f %%)", s.Agreed, s.Of, 100*float64(s.Agreed)/float64(s.Of))
	}
	fmt.Fprintf(w, "\njudge %s: %s are open; one fault %d, different %d, contradicted %d\n", sanitize.Terminal(a.Judge), plural(a.Open, "pair"), a.Same, a.Different, len(a.Contradicted))
	for _, row := range []struct {
		what string
		s    Share
	}{
		{"agrees with itself, asked twice with the order swapped", a.Itself},
		{"open pairs that are one by place: one to the judge", a.Place},
		{"open pairs that are one by words: one to the judge", a.Words},
		{"pairs that are one by place and words: one to the judge", a.ControlSame},
		{"pairs that are one by neither: different to the judge", a.ControlDifferent},
	} {
		fmt.Fprintf(w, "  %-58s %s\n", row.what, share(row.s))
	}
	for _, c := range a.Contradicted {
		fmt.Fprintf(w, "  contradicts itself, counted as different: %s\n", sanitize.Terminal(c.String()))
	}
	return nil
}
