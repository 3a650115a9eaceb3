package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/review"
)

// agents settles who takes part: the configured reviewers or the default, then --reviewers, then what may run at all.
func (r *resolver) agents() error {
	s := &r.settings
	if len(s.Reviewers) == 0 {
		s.Reviewers = defaultReviewers(s.ModelConfigured(), levelOf(s.Effort).lenses)
	}
	if s.Comments.Use == "" {
		s.Comments.Use = review.KindStatic
		if s.ModelConfigured() {
			s.Comments.Use = review.KindBuiltin
		}
	}
	s.Comments.Name = "comments-analyzer"
	if len(r.in.Reviewers) > 0 {
		chosen, err := choose(r.in.Reviewers, append(slices.Clone(s.Reviewers), r.operatorReviewers...), r.early)
		if err != nil {
			return err
		}
		s.Reviewers = chosen
		r.origins["reviewers"] = origin{layer: LayerCommandLine, where: "--reviewers"}
	}
	var errs []error
	for i := range s.Reviewers {
		errs = append(errs, r.admit(&s.Reviewers[i], fmt.Sprintf("/reviewers/%d", r.position(s.Reviewers[i].Name))))
	}
	errs = append(errs, r.admit(&s.Comments, "/comments_analyzer"))
	r.fixer()
	errs = append(errs, r.admit(&s.Fixer, "/fixer"))
	r.verifier()
	errs = append(errs, r.admit(&s.Verifier, "/verifier"))
	r.judge()
	errs = append(errs, r.admit(&s.Judge, "/judge"))
	r.scout()
	errs = append(errs, r.admit(&s.Scout, "/scout"))
	r.finder()
	errs = append(errs, r.admit(&s.Finder, "/finder"))
	return errors.Join(errs...)
}

// defaultReviewers are a reviewer with a model for each lens, where there is a model, and static.
func defaultReviewers(model bool, lenses []string) (all []Agent) {
	if model {
		for i, l := range lenses {
			all = append(all, Agent{Name: fmt.Sprintf("reviewer-%d", i+1), Use: review.KindBuiltin, Lens: l})
		}
	}
	return append(all, Agent{Name: review.KindStatic, Use: review.KindStatic})
}

// choose picks the agents of --reviewers. Order and repetition are the person's, but no agent takes part twice. Where more
// names will be known later, unknown ones are passed over.
func choose(items []string, configured []Agent, early bool) ([]Agent, error) {
	var out []Agent
	var errs []error
	taken := map[string]bool{}
	for _, item := range items {
		a, err := pick(strings.TrimSpace(item), configured, taken)
		if early && errors.As(err, new(*UnknownAgentError)) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !taken[a.Name] {
			out = append(out, a)
		}
		taken[a.Name] = true
	}
	if len(out) > 5 {
		errs = append(errs, &Error{[]Fault{{File: "--reviewers", Message: fmt.Sprintf("names %d reviewers, but at most 5 take part", len(out))}}})
	}
	return out, errors.Join(errs...)
}

func pick(item string, configured []Agent, taken map[string]bool) (Agent, error) {
	if path, ok := strings.CutPrefix(item, "exec:"); ok {
		if path == "" {
			return Agent{}, &Error{[]Fault{{File: "--reviewers", Message: "exec: needs the path of a program"}}}
		}
		return Agent{Name: execName(path, taken), Use: review.KindCommand, Path: path}, nil
	}
	if path, ok := strings.CutPrefix(item, review.KindCommand+":"); ok {
		return Agent{}, &Error{[]Fault{{File: "--reviewers", Message: fmt.Sprintf("unknown reviewer %q", clip(item)), Suggestion: "exec:" + clip(path)}}}
	}
	known := []string{review.KindBuiltin, review.KindStatic}
	for _, a := range configured {
		if a.Name == item {
			return a, nil
		}
		known = append(known, a.Name)
	}
	switch item {
	case review.KindStatic:
		return Agent{Name: review.KindStatic, Use: review.KindStatic}, nil
	case review.KindBuiltin:
		return Agent{Name: review.KindBuiltin, Use: review.KindBuiltin, Lens: "general"}, nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return Agent{}, &UnknownAgentError{Name: item, Known: known, Suggestion: nearest.Name(item, known)}
}

// execName names a program after its file, with a number when two have the same.
func execName(path string, taken map[string]bool) string {
	base := strings.ToLower(filepath.Base(path))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	base = strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, base), "-._")
	if base == "" || slices.Contains(reserved, base) {
		base = "exec-" + base
	}
	base = strings.TrimSuffix(base[:min(len(base), 36)], "-")
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// admit decides whether an agent may run, and makes the path of a command that a file names absolute. A command of the
// repository's file is code of the repository: on a pull request it needs the operator's word, and its path must not
// lead into the pull request's own files.
func (r *resolver) admit(a *Agent, pointer string) error {
	if a.Use != review.KindCommand && a.Use != review.KindACP {
		return nil
	}
	if a.Use == review.KindACP && a.Path == "" && (!a.FromRepository || r.in.Local) {
		return nil // the preset's own program, as it is found in PATH
	}
	plainName := !strings.ContainsAny(a.Path, `/\`)
	if a.FromRepository && !r.in.Local {
		line := cmp.Or(r.repository.places[pointer+"/path"].line, r.repository.places[pointer].line)
		refusal := &RepoCommandError{Agent: a.Name, Path: a.Path, File: r.repository.name, Line: line}
		if !r.settings.AllowRepoCommands {
			return refusal
		}
		if !plainName && !filepath.IsAbs(a.Path) {
			refusal.Relative = true
			return refusal
		}
	}
	switch {
	case plainName || filepath.IsAbs(a.Path):
	case a.fromOperator:
		a.Path = filepath.Join(filepath.Dir(r.in.Operator.Name), a.Path)
	case a.FromRepository && r.in.Top != "":
		a.Path = filepath.Join(r.in.Top, a.Path)
	}
	return nil
}

// position is where the repository's file lists a reviewer; 0 when it does not.
func (r *resolver) position(name string) int {
	if r.repository != nil {
		list, _ := r.repository.value["reviewers"].([]any)
		for i, v := range list {
			if item(v, "name") == name {
				return i
			}
		}
	}
	return 0
}
