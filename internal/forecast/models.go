package forecast

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cli/go-gh/v2/pkg/tableprinter"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/sanitize"
)

// A typical review is one reviewer and its verifier, one call each, on a brief of 13,000 tokens, the mean of the pull requests in
// docs/eval.md, with the instructions around it. Nothing is taken to come from a provider's cache.
const (
	TypicalInput  = 32_000
	TypicalOutput = 3_000
)

// Model is a model that can be asked for.
type Model struct {
	Name string
	// Endpoint is who serves it.
	Endpoint string
	// Price is nil when nobody knows it.
	Price *gateway.Price
	// Used is true when a run without flags asks for it.
	Used bool
}

// Review is what a typical review with the model costs, in dollars; nil when its price is unknown.
func (m Model) Review() *float64 { return cost(m.Price, TypicalInput, TypicalOutput) }

func cost(p *gateway.Price, input, output int) *float64 {
	if p == nil {
		return nil
	}
	usd := p.Cost(input, 0, output)
	return &usd
}

// ModelFields are what of a model can be printed as JSON.
var ModelFields = []string{"model", "endpoint", "used", "inputUsd", "cachedUsd", "outputUsd", "reviewUsd"}

// Row is a model by field. Prices are dollars per million tokens; those that are unknown are null.
func (m Model) Row() map[string]any {
	row := map[string]any{"model": m.Name, "endpoint": m.Endpoint, "used": m.Used, "inputUsd": nil, "cachedUsd": nil, "outputUsd": nil, "reviewUsd": m.Review()}
	if m.Price != nil {
		row["inputUsd"], row["cachedUsd"], row["outputUsd"] = m.Price.Input, m.Price.Cached, m.Price.Output
	}
	return row
}

// Sort puts models that a run asks for first, then those with a price, the cheapest first, then the others by name.
func Sort(models []Model) {
	rank := func(m Model) (int, float64) {
		switch usd := m.Review(); {
		case m.Used:
			return 0, 0
		case usd != nil:
			return 1, *usd
		}
		return 2, 0
	}
	slices.SortStableFunc(models, func(a, b Model) int {
		x, usdX := rank(a)
		y, usdY := rank(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(usdX, usdY), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Endpoint, b.Endpoint))
	})
}

// PrintModels prints models as a table on a terminal, else as fields between tabs.
func PrintModels(w io.Writer, models []Model, terminal bool, width int) error {
	t := tableprinter.New(w, terminal, width)
	if terminal {
		t.AddHeader([]string{"MODEL", "INPUT", "OUTPUT", "REVIEW", "ENDPOINT"})
	}
	for _, m := range models {
		input, output := "unknown", "unknown"
		if m.Price != nil {
			input, output = fmt.Sprintf("$%g", m.Price.Input), fmt.Sprintf("$%g", m.Price.Output)
		}
		name := sanitize.Terminal(m.Name)
		if m.Used && terminal {
			name += " *"
		}
		for _, cell := range []string{name, input, output, Dollars(m.Review())} {
			t.AddField(cell, tableprinter.WithTruncate(nil))
		}
		t.AddField(sanitize.Terminal(m.Endpoint))
		t.EndRow()
	}
	return t.Render()
}

// Dollars writes an amount as people read it.
func Dollars(usd *float64) string {
	switch {
	case usd == nil:
		return "unknown"
	case *usd == 0:
		return "$0"
	case *usd < 0.0001:
		return "< $0.0001"
	case *usd < 0.1:
		return fmt.Sprintf("$%.4f", *usd)
	}
	return fmt.Sprintf("$%.2f", *usd)
}
