package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/nearest"
)

// crewKeys are the settings that a crew may have: who reviews, and with which models.
var crewKeys = []string{"reviewers", "min_reviewers", "model", "escalation_model", "effort", "reasoning_effort", "verifier", "scout", "finder",
	"quick.prompt", "quick.max_answer_tokens", "full.prompt", "limits.max_answer_tokens"}

// Crew is a named model configuration, as the operator wrote it.
type Crew struct {
	Name string `json:"name"`
	// settings are its values, by the path of the key.
	settings map[string]any
}

// UnmarshalJSON keeps the values as they were written; each is read when the crew is used.
func (c *Crew) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	c.settings = map[string]any{}
	if err := d.Decode(&c.settings); err != nil {
		return err
	}
	c.Name, _ = c.settings["name"].(string)
	delete(c.settings, "name")
	return nil
}

// MarshalJSON shows its name alone.
func (c Crew) MarshalJSON() ([]byte, error) { return json.Marshal(c.Name) }

// crewShape takes the shapes of what a crew may have from the table, in which it stands itself.
func crewShape(table []key) shape {
	crew := object([]any{"name"}, "name", described(match(agentName), "What a policy calls it."))
	for _, k := range table {
		if slices.Contains(crewKeys, k.path) {
			enter(crew, k.path, described(maps.Clone(k.shape), "As `"+k.path+"`."))
		}
	}
	return crew
}

// crossCheckCrews finds names used twice, and agents that make no sense.
func (s *source) crossCheckCrews() {
	s.unique("crews", func(pointer string, m map[string]any) {
		list, _ := m["reviewers"].([]any)
		seen := map[string]bool{}
		for i, r := range list {
			s.checkReviewer(index(pointer+"/reviewers", i), r, seen)
		}
		if v, ok := m["verifier"].(map[string]any); ok {
			s.checkAgent(pointer+"/verifier", v)
		}
	})
}

// applyCrew applies the named model configuration that the policy, else the operator, chooses.
func (r *resolver) applyCrew() error {
	name, from := r.settings.Crew, r.origins["crew"]
	if row := r.in.Policy; row != nil {
		if v, ok := row.Columns["crew"].(string); ok {
			name, from = v, origin{layer: LayerPolicy, where: policyName(row)}
		}
	}
	if name == "" {
		return nil
	}
	i := slices.IndexFunc(r.settings.Crews, func(c Crew) bool { return c.Name == name })
	if i < 0 {
		var names []string
		for _, c := range r.settings.Crews {
			names = append(names, c.Name)
		}
		return &Error{[]Fault{{File: from.where, Line: from.line, Key: "crew", Suggestion: nearest.Name(name, names),
			Message: fmt.Sprintf("the operator's file has no crew %q (known: %s)", clip(name), knownNames(names)),
			Next:    "have the operator add it to crews in config.yml, or choose another: prloop policy set REPO crew=NAME"}}}
	}
	file := r.files[LayerOperator]
	written := &source{value: r.settings.Crews[i].settings}
	for _, k := range keys() {
		v, pointer, ok := written.lookup(k.path)
		if !ok || !slices.Contains(crewKeys, k.path) {
			continue
		}
		if err := setJSON(k.field(&r.settings), v); err != nil {
			return &Error{[]Fault{{File: file.name, Key: fmt.Sprintf("crews[%d].%s", i, k.path), Message: err.Error()}}}
		}
		at := file.places[index("/crews", i)+pointer]
		r.origins[k.path] = origin{layer: LayerCrew, where: file.name, line: at.line, note: "crew " + name}
		switch k.path {
		case "reviewers":
			for j := range r.settings.Reviewers {
				r.settings.Reviewers[j].FromRepository, r.settings.Reviewers[j].fromOperator = false, true
			}
		case "verifier":
			r.settings.Verifier.FromRepository, r.settings.Verifier.fromOperator = false, true
		case "scout":
			r.settings.Scout.FromRepository, r.settings.Scout.fromOperator = false, true
		case "finder":
			r.settings.Finder.FromRepository, r.settings.Finder.fromOperator = false, true
		}
	}
	return nil
}

// knowsCrew reports whether the operator's file has a crew, for who is about to choose it.
func (s Settings) knowsCrew(name string) bool {
	return slices.ContainsFunc(s.Crews, func(c Crew) bool { return c.Name == name })
}
