package app

import (
	"context"

	"github.com/prloop/prloop/internal/forecast"
	"github.com/prloop/prloop/orchestrator"
)

// Estimate says what a prepared run would ask, from the prompts it would send. Nobody is asked, and nothing is stored or posted.
func (p *Prepared) Estimate(ctx context.Context) (forecast.Run, error) {
	r, req := p.run, p.Request
	key, err := r.markerKey(ctx)
	if err != nil {
		return forecast.Run{}, err
	}
	l := &orchestrator.Loop{
		History: r.history, Briefer: &briefer{repo: r.history.repo, early: r.early, own: r.opts.Machine.ownRules(req.Target)}, MarkerKey: key, Fence: fenceOf(key), Secrets: r.secrets(req.Target),
	}
	if !req.Target.Local() {
		l.Forge, l.Poster, l.People = r.client, r.client, gatekeeper{r.client}
	}
	questions, brief, err := l.Questions(ctx, req)
	if err != nil {
		return forecast.Run{}, err
	}
	return forecast.Estimate(req, questions, brief, gatewayOptions(r.log, r.settings).PriceOf, r.settings.RunLimits.CostUSD)
}
