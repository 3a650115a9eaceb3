package review

import "slices"

// Bill is what agents cost together.
type Bill struct {
	// USD adds up the costs that are known; Known is true where one is.
	USD   float64
	Known bool
	// Unknown is true where an agent asked a model and nobody knows what that cost. Unpriced are the models of which all is known but the price, sorted.
	Unknown  bool
	Unpriced []string
}

// BillOf adds up what agents cost.
func BillOf(agents ...AgentReceipt) Bill {
	var b Bill
	for _, a := range agents {
		switch u := a.Usage; {
		case u.CostUSD != nil:
			b.USD, b.Known = b.USD+*u.CostUSD, true
		case u.LLMCalls > 0:
			b.Unknown = true
			if model := a.Answered(); model != "" && u.InputTokens != nil && u.OutputTokens != nil {
				b.Unpriced = append(b.Unpriced, model)
			}
		}
	}
	slices.Sort(b.Unpriced)
	b.Unpriced = slices.Compact(b.Unpriced)
	return b
}
