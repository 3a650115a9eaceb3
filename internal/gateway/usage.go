package gateway

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// usageWire is the usage object of chat completions and of responses, with the cost some providers add.
type usageWire struct {
	PromptTokens      figure      `json:"prompt_tokens"`
	CompletionTokens  figure      `json:"completion_tokens"`
	TotalTokens       figure      `json:"total_tokens"`
	PromptDetails     cachedWire  `json:"prompt_tokens_details"`
	CompletionDetails thoughtWire `json:"completion_tokens_details"`
	InputTokens       figure      `json:"input_tokens"`
	OutputTokens      figure      `json:"output_tokens"`
	InputDetails      cachedWire  `json:"input_tokens_details"`
	OutputDetails     thoughtWire `json:"output_tokens_details"`
	Cost              bill        `json:"cost"`
	// BYOK and Details are those of OpenRouter, in whatever shape others use these names.
	BYOK    json.RawMessage `json:"is_byok"`
	Details struct {
		Bill bill `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	// The messages API counts apart what its cache held and what was put into it.
	CacheRead    figure `json:"cache_read_input_tokens"`
	CacheWritten figure `json:"cache_creation_input_tokens"`
}

type cachedWire struct {
	CachedTokens figure `json:"cached_tokens"`
}

type thoughtWire struct {
	ReasoningTokens figure `json:"reasoning_tokens"`
}

// loosely reads JSON into a struct. What has another type than expected leaves its own field as it is, and hides none beside it.
func loosely(raw []byte, into any) {
	_ = json.Unmarshal(raw, into)
}

// figure is a number of an answer, plain or in quotes; nil when it is unknown.
type figure struct{ value *float64 }

// UnmarshalJSON takes what is a number, and leaves out what is not: an error would end the reading of all that follows.
func (f *figure) UnmarshalJSON(raw []byte) error {
	if v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64); err == nil {
		f.value = &v
	}
	return nil
}

// bill is an amount of dollars, which some endpoints give as an object with its parts and their sum.
type bill struct{ figure }

// UnmarshalJSON takes the amount itself or the sum of its parts.
func (b *bill) UnmarshalJSON(raw []byte) error {
	var parts struct {
		Total figure `json:"total_cost"`
	}
	if loosely(raw, &parts); parts.Total.value != nil {
		b.figure = parts.Total
		return nil
	}
	return b.figure.UnmarshalJSON(raw)
}

// input is how many tokens went in, cached ones included.
func (u *usageWire) input() *int {
	n := sane(u.PromptTokens, u.InputTokens)
	if n == nil {
		return nil
	}
	all := *n + value(sane(u.CacheRead)) + value(sane(u.CacheWritten))
	return &all
}

// cached is how many of them a cache held.
func (u *usageWire) cached() *int {
	return sane(u.InputDetails.CachedTokens, u.PromptDetails.CachedTokens, u.CacheRead)
}

// output is how many tokens came out. What was thought is a part of them for most, OpenAI among them; others, such as xAI, tell it beside them and add it to nothing but the
// total. So it is the most that either says, and no sum.
func (u *usageWire) output() *int {
	n := sane(u.CompletionTokens, u.OutputTokens)
	if in, total := u.input(), sane(u.TotalTokens); in != nil && total != nil {
		if rest := *total - withCached(*in, value(u.cached())); rest > value(n) {
			n = &rest
		}
	}
	if thoughts := sane(u.CompletionDetails.ReasoningTokens, u.OutputDetails.ReasoningTokens); n != nil && value(thoughts) > *n {
		return thoughts
	}
	return n
}

// cost is what the answer cost in dollars, nil when that is not said. Behind OpenRouter a provider may bill its caller itself, by a key of their own: then cost is the fee
// of OpenRouter alone, mostly 0, and the bill comes on top. Other answers repeat in the details what their cost holds already.
func (u *usageWire) cost() *float64 {
	cost, bill := u.Cost.dollars(), u.Details.Bill.dollars()
	own := string(u.BYOK) == "true"
	switch {
	case own && bill == nil:
		return nil
	case bill != nil && (own || string(u.BYOK) != "false" && cost != nil && *bill > *cost):
		if cost == nil {
			return bill
		}
		all := *cost + *bill
		return &all
	}
	return cost
}

// mostCost is what no answer costs, in dollars. A sum of what endpoints say must stay a number that can be written down.
const mostCost = 1e6

// dollars is an amount that can be what an answer cost; nil for another.
func (b bill) dollars() *float64 {
	if v := b.value; v != nil && *v >= 0 && *v < mostCost {
		return v
	}
	return nil
}

// sane gives the first figure that can be a count of tokens.
func sane(figures ...figure) *int {
	for _, f := range figures {
		if v := f.value; v != nil && *v >= 0 && *v < 1e9 && *v == math.Trunc(*v) {
			n := int(*v)
			return &n
		}
	}
	return nil
}
