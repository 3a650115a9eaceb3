package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/forecast"
	"github.com/prloop/prloop/internal/gateway"
)

func modelsCommand(p *Invocation) *cobra.Command {
	var o runOptions
	var list listFlags
	c := &cobra.Command{
		Use:   "models",
		Short: "List the models that the endpoint serves, and what a review costs with each",
		Long: fmt.Sprintf("Asks the configured endpoint for its list of models; nothing is spent. Prices are dollars per million tokens: those of your own\n"+
			"configuration, else prloop's of %s; unknown is neither. REVIEW is a typical review: %d tokens in, %d out.\nFor your own change: prloop run --estimate.",
			gateway.PriceDate(), forecast.TypicalInput, forecast.TypicalOutput),
		Example: "  prloop models --json model,reviewUsd --jq '.[] | select((.reviewUsd // 1) < 0.02) | .model'",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.check(forecast.ModelFields); err != nil {
				return err
			}
			if err := o.takeSettings(c, nil); err != nil {
				return err
			}
			if err := p.readKey(&o); err != nil {
				return err
			}
			order, err := p.order(o)
			if err != nil {
				return err
			}
			settings, err := order.EarlySettings(true)
			if err != nil {
				return err
			}
			if !settings.ModelConfigured() {
				return advice.Misuse("set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that needs no key", "no model endpoint is configured")
			}
			models, err := app.Served(c.Context(), p.logger(), settings, p.note)
			if err != nil {
				return err
			}
			if len(list.fields) == 0 {
				return forecast.PrintModels(p.Stdout, models, p.terminal(p.Stdout), p.width())
			}
			rows := make([]map[string]any, len(models))
			for i, m := range models {
				rows[i] = m.Row()
			}
			return list.print(p.Stdout, rows, p.width(), p.color())
		},
	}
	o.addEndpoint(c)
	list.add(c, forecast.ModelFields)
	return c
}
