package app

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/forecast"
	"github.com/prloop/prloop/internal/gateway"
)

// Served are the models that the endpoints of settings list, and those the settings ask for, with their prices. An endpoint that cannot be asked
// while another answers is told to note, as is one that lists nothing.
func Served(ctx context.Context, log hclog.Logger, settings config.Settings, note func(string)) ([]forecast.Model, error) {
	o := gatewayOptions(log, settings)
	g, err := gateway.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	listed := g.List(ctx)
	if err := g.Close(); err != nil {
		return nil, err
	}
	var models []forecast.Model
	var errs []error
	add := func(endpoint string, names []string) {
		for _, name := range names {
			models = append(models, forecast.Model{Name: name, Endpoint: endpoint, Price: o.PriceOf(name), Used: name == settings.Model})
		}
	}
	for i, l := range listed {
		if l.Err != nil {
			errs = append(errs, l.Err)
			continue
		}
		// What is routed elsewhere cannot be asked for here.
		only := o.Upstreams[i].Models
		names := slices.DeleteFunc(slices.Clone(l.Models), func(name string) bool {
			return len(only) > 0 && !slices.Contains(only, name) || len(only) == 0 && routed(settings, name)
		})
		if len(l.Models) == 0 {
			names = only
			if len(only) == 0 {
				names = []string{settings.Model}
			}
			note(l.Upstream + " lists no models; these are the configured ones")
		}
		add(l.Upstream, names)
	}
	if len(errs) == len(listed) {
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		note(err.Error())
	}
	forecast.Sort(models)
	return models, nil
}

// routed reports whether a model is one of those that an endpoint of its own serves.
func routed(settings config.Settings, model string) bool {
	return slices.ContainsFunc(settings.Upstreams, func(u config.Upstream) bool { return slices.Contains(u.Models, model) })
}
