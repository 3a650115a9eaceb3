package gateway

import (
	_ "embed"
	"encoding/json"
	"maps"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Price is what a model costs in US dollars per million tokens.
type Price struct {
	Input float64 `json:"input"`
	// Cached is for input tokens the provider had in its prompt cache.
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
}

// prices.json is the list prices of its date; they go stale, which is why configuration overrides them and an unknown
// model has no price at all instead of a guessed one.
//
//go:embed prices.json
var pricesJSON []byte

var builtinPrices = sync.OnceValue(func() (t struct {
	Date   string           `json:"date"`
	Models map[string]Price `json:"models"`
}) {
	if err := json.Unmarshal(pricesJSON, &t); err != nil {
		panic("prices.json is part of the program and must parse: " + err.Error())
	}
	return t
})

func priceTable(override map[string]Price) map[string]Price {
	table := maps.Clone(builtinPrices().Models)
	maps.Copy(table, override)
	return table
}

// PriceDate is the date of the built-in prices.
func PriceDate() string { return builtinPrices().Date }

// PriceOf is the price of a model: the one the options give, else the built-in one; nil when neither knows it.
func (o Options) PriceOf(model string) *Price { return priceOf(priceTable(o.Prices), model) }

// snapshotDate ends the names of dated model versions, which cost what the plain name costs.
var snapshotDate = lazyregexp.New(`-20\d\d-\d\d-\d\d$`)

// priceOf finds a model's price; nil when it is unknown.
func priceOf(table map[string]Price, model string) *Price {
	for _, name := range []string{model, snapshotDate.ReplaceAllString(model, "")} {
		if p, ok := table[name]; ok {
			return &p
		}
	}
	return nil
}

// Cost is what a call with so many tokens costs, in dollars; cached are those of the input that came from a cache.
func (p Price) Cost(input, cached, output int) float64 {
	cached = min(cached, input)
	return (float64(input-cached)*p.Input + float64(cached)*p.Cached + float64(output)*p.Output) / 1e6
}
