package config

import (
	"errors"
	"maps"
	"path/filepath"
)

// Layer names where a value came from, the strongest first (decision 8).
type Layer string

// The layers that exist.
const (
	LayerCommandLine Layer = "command line"
	LayerEnvironment Layer = "environment"
	LayerPolicy      Layer = "policy"
	LayerCrew        Layer = "crew"
	LayerRepository  Layer = "repository"
	LayerOperator    Layer = "operator"
	LayerDefault     Layer = "default"
)

// Resolve applies the layers from the weakest to the strongest. Errors are *Error (faults with places),
// *UnknownAgentError and *RepoCommandError, joined when there are several.
func Resolve(in Input) (Settings, error) { return resolve(in, false) }

// ResolveEarly resolves what is known before the repository's file is, so that its faults can be told first. Names in Reviewers
// that nobody has yet are passed over: that file may have them. Errors are those of Resolve.
func ResolveEarly(in Input) (Settings, error) {
	in.Repository, in.Policy = nil, nil
	return resolve(in, true)
}

func resolve(in Input, early bool) (Settings, error) {
	r := &resolver{in: in, early: early, settings: defaults(), origins: map[string]origin{}, files: map[Layer]*source{}}
	for _, k := range keys() {
		r.origins[k.path] = origin{layer: LayerDefault}
	}
	var errs []error
	errs = append(errs, r.applyFile(in.Operator, Operator, LayerOperator))
	operator, origins := r.settings, maps.Clone(r.origins)
	errs = append(errs, r.applyRepository())
	if errors.Join(errs...) == nil {
		errs = append(errs, r.applyCrew(), r.applyPolicy(operator, origins))
	}
	errs = append(errs, r.applyEnv(), r.applyGiven())
	if err := errors.Join(errs...); err != nil {
		return Settings{}, err
	}
	r.settings.replayed = in.Replayed
	r.effort()
	if file := &r.settings.Calibration; *file != "" && !filepath.IsAbs(*file) && in.Operator != nil {
		*file = filepath.Join(filepath.Dir(in.Operator.Name), *file)
	}
	r.models()
	if err := r.agents(); err != nil {
		return Settings{}, err
	}
	if err := r.needed(); err != nil {
		return Settings{}, err
	}
	r.settings.resolved = r
	r.settings.explained = r.explain()
	return r.settings, nil
}
