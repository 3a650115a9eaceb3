package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/policy"
)

// policyName is what a policy is called where settings are explained.
func policyName(row *policy.Row) string {
	return fmt.Sprintf("policy of %s, version %d", row.Repo, row.Version)
}

// adding are the settings of which a policy has more, and does not replace those of weaker layers: what one layer keeps from being
// read, another must not open.
var adding = []string{neverRead, "context.guidance"}

// neverRead is the setting whose lists of all layers add up.
const neverRead = "context.never_read"

// union is a list with what another has more.
func union(list []string, more []any) []string {
	out := slices.Clone(list)
	for _, m := range more {
		if s, ok := m.(string); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// applyPolicy applies the row of a repository, and holds it to the limits of the operator's file. operator is what held after that file.
func (r *resolver) applyPolicy(operator Settings, origins map[string]origin) error {
	row := r.in.Policy
	if row == nil || len(row.Columns) == 0 {
		return nil
	}
	where := policyName(row)
	for _, c := range policy.Columns() {
		v, ok := row.Columns[c.Name]
		if !ok {
			continue
		}
		i := slices.IndexFunc(keys(), func(k key) bool { return k.path == c.Key })
		k := keys()[i]
		field, o := k.field(&r.settings), origin{layer: LayerPolicy, where: where}
		weaker := r.origins[k.path]
		switch on, isSwitch := v.(bool); {
		case k.path == "fixer" && isSwitch && !on:
			v = UseNone
		case k.path == "fixer" && isSwitch && r.settings.Fixer.Use != UseNone: // as the weaker layers have it
			continue
		case k.path == "fixer" && isSwitch:
			r.settings.Fixer = Agent{}
			r.origins[k.path] = o
			continue
		case slices.Contains(adding, k.path) && weaker.layer != LayerDefault:
			var more []any
			for _, m := range v.([]string) {
				more = append(more, m)
			}
			v, o.note = union(*field.(*[]string), more), "added to those of "+weaker.String()
		}
		var before any
		if k.capped && origins[k.path].layer == LayerOperator {
			before = k.field(&operator)
		}
		if err := setJSON(field, v); err != nil {
			return &Error{[]Fault{{File: where, Key: c.Name, Message: err.Error()}}}
		}
		if before != nil && k.amount(field) > k.amount(before) {
			o = origins[k.path]
			o.note = fmt.Sprintf("%s asks for %s, which is more than the operator allows", where, display(field))
			reflect.ValueOf(field).Elem().Set(reflect.ValueOf(before).Elem())
		}
		r.origins[k.path] = o
	}
	return nil
}

// String names an origin for people.
func (o origin) String() string {
	if o.line > 0 {
		return fmt.Sprintf("%s:%d", o.where, o.line)
	}
	if o.where != "" {
		return o.where
	}
	return string(o.layer)
}

// CheckPolicy finds what the operator's file says against columns of a row: a crew it does not have, and amounts beyond its bounds. A run
// would take the operator's bound; who writes a row is told.
func CheckPolicy(operator *File, columns policy.Values) error {
	s, err := ResolveEarly(Input{Operator: operator})
	if err != nil {
		return err
	}
	var faults []policy.Fault
	if name, ok := columns["crew"].(string); ok && !s.knowsCrew(name) {
		var names []string
		for _, c := range s.Crews {
			names = append(names, c.Name)
		}
		faults = append(faults, policy.Fault{Field: "crew", Suggestion: nearest.Name(name, names),
			Message: fmt.Sprintf("the operator's file has no crew %q (known: %s)", clip(name), knownNames(names))})
	}
	for _, c := range policy.Columns() {
		v, ok := columns[c.Name]
		if !ok {
			continue
		}
		k := keys()[slices.IndexFunc(keys(), func(k key) bool { return k.path == c.Key })]
		if !k.capped || s.resolved.origins[k.path].layer != LayerOperator {
			continue
		}
		wanted := s
		if err := setJSON(k.field(&wanted), v); err != nil {
			return err
		}
		if k.amount(k.field(&wanted)) > k.amount(k.field(&s)) {
			faults = append(faults, policy.Fault{Field: c.Name, Message: fmt.Sprintf("the operator allows %s at most (%s)", display(k.field(&s)), s.resolved.origins[k.path])})
		}
	}
	if len(faults) > 0 {
		return &policy.Error{Faults: faults}
	}
	return nil
}
