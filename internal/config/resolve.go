package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/policy"
)

// Input is what the layers are resolved from. Its zero value resolves to the defaults.
type Input struct {
	// Given are settings of the command line or of action inputs.
	Given []Given
	// Reviewers are the items of --reviewers: configured names, static, builtin, or exec:PATH. Empty: as configured.
	Reviewers []string
	// Env looks a variable up; nil means there is no environment.
	Env func(name string) string
	// KeyBroker is the socket of the process that holds the keys of models; empty where Env and the operator's file have them.
	KeyBroker string
	// Repository is `.reviewerc`: of the working tree for a local range, else at the base commit; nil when there is none.
	Repository *File
	// Policy is the row of the repository; nil when there is none.
	Policy *policy.Row
	// Operator is the operator's file; nil when there is none. See ReadOperator.
	Operator *File
	// Local is true for a local range, where commands of the repository's file may run. Top is then the root of the working
	// tree, where relative paths of that file start.
	Local bool
	Top   string
	// Replayed is true when recorded conversations stand in for models, which then need no key.
	Replayed bool
}

// Given is one setting of the command line. A key must come from a file a flag names, never from the flag itself, which
// every user of the machine could read in the process list.
type Given struct {
	// Key is the setting's path, such as limits.max_cost_usd.
	Key string
	// Value is written as in a file; lists are separated by commas.
	Value string
	// From is what the person typed, such as --model.
	From string
}

// File is one configuration file as bytes.
type File struct {
	// Name is shown in faults and in explain; relative commands of the operator's file are looked up beside it.
	Name string
	Data []byte
}

type resolver struct {
	in Input
	// early is true while the repository's file is not known.
	early    bool
	settings Settings
	origins  map[string]origin
	// files are kept for the places of what was written in them; repository is the one of that layer.
	files      map[Layer]*source
	repository *source
	// operatorReviewers can be named in --reviewers although the repository's list replaced them.
	operatorReviewers []Agent
}

// origin is the layer that set a value, and where.
type origin struct {
	layer Layer
	// where is the file, variable or flag; line is 0 without a file.
	where string
	line  int
	note  string
}

func (r *resolver) applyFile(f *File, kind Kind, layer Layer) error {
	if f == nil {
		return nil
	}
	s, err := load(kind, f.Name, f.Data)
	if err != nil {
		return err
	}
	for _, k := range keys() {
		v, pointer, ok := s.lookup(k.path)
		if !ok {
			continue
		}
		weaker, note := r.origins[k.path], ""
		if k.path == neverRead && weaker.layer != LayerDefault {
			list, _ := v.([]any)
			v, note = union(r.settings.Context.NeverRead, list), "added to those of "+weaker.String()
		}
		if err := setJSON(k.field(&r.settings), v); err != nil {
			return &Error{[]Fault{*s.at(s.places[pointer].line, s.places[pointer].column, k.path, err.Error())}}
		}
		r.origins[k.path] = origin{layer: layer, where: f.Name, line: s.places[pointer].line, note: note}
	}
	r.files[layer] = s
	r.own(s, kind)
	return nil
}

// own marks the agents a file wrote, because what may run depends on who wrote it.
func (r *resolver) own(s *source, kind Kind) {
	_, _, reviewers := s.lookup("reviewers")
	_, _, comments := s.lookup("comments_analyzer")
	_, _, fixer := s.lookup("fixer")
	_, _, verifier := s.lookup("verifier")
	_, _, judge := s.lookup("judge")
	_, _, scout := s.lookup("scout")
	_, _, finder := s.lookup("finder")
	mark := func(a *Agent) { a.FromRepository, a.fromOperator = kind == Repository, kind == Operator }
	if comments {
		mark(&r.settings.Comments)
	}
	if fixer {
		mark(&r.settings.Fixer)
	}
	if verifier {
		mark(&r.settings.Verifier)
	}
	if judge {
		mark(&r.settings.Judge)
	}
	if scout {
		mark(&r.settings.Scout)
	}
	if finder {
		mark(&r.settings.Finder)
	}
	for i := range r.settings.Reviewers {
		if reviewers {
			mark(&r.settings.Reviewers[i])
		}
	}
	if kind == Repository {
		r.repository = s
		return
	}
	r.operatorReviewers = slices.Clone(r.settings.Reviewers)
}

// applyRepository applies the repository's file and holds it to the limits of the operator's: whoever pays sets the cap.
func (r *resolver) applyRepository() error {
	if r.in.Repository == nil {
		return nil
	}
	before, origins := r.settings, maps.Clone(r.origins)
	if err := r.applyFile(r.in.Repository, Repository, LayerRepository); err != nil {
		return err
	}
	for _, k := range keys() {
		o := origins[k.path]
		if !k.capped || o.layer != LayerOperator || r.origins[k.path].layer != LayerRepository {
			continue
		}
		old, now := k.field(&before), k.field(&r.settings)
		if k.amount(now) > k.amount(old) {
			o.note = fmt.Sprintf("%s:%d asks for %s, which is more than the operator allows",
				r.in.Repository.Name, r.origins[k.path].line, display(now))
			reflect.ValueOf(now).Elem().Set(reflect.ValueOf(old).Elem())
			r.origins[k.path] = o
		}
	}
	return nil
}

func (r *resolver) applyEnv() error {
	if r.in.Env == nil {
		return nil
	}
	for _, k := range keys() {
		if k.env == "" {
			continue
		}
		if v := strings.TrimSpace(r.in.Env(k.env)); v != "" {
			if err := r.setText(k, v, "$"+k.env, LayerEnvironment); err != nil {
				return err
			}
		}
	}
	return nil
}

// notTyped are settings that the command line cannot carry: lists of groups.
var notTyped = []string{"reviewers", "commands", "upstreams", "models", "crews"}

func (r *resolver) applyGiven() error {
	byPath := map[string]key{}
	var paths []string
	for _, k := range keys() {
		if t := k.shape["type"]; t != "object" && !slices.Contains(notTyped, k.path) {
			byPath[k.path] = k
			paths = append(paths, k.path)
		}
	}
	var faults []Fault
	for _, g := range r.in.Given {
		k, ok := byPath[g.Key]
		if !ok {
			faults = append(faults, Fault{File: g.From, Key: g.Key, Message: "unknown setting", Suggestion: nearest.Name(g.Key, paths)})
			continue
		}
		if err := r.setText(k, g.Value, g.From, LayerCommandLine); err != nil {
			faults = append(faults, faultsOf(err, g.From)...)
		}
	}
	if len(faults) > 0 {
		return &Error{faults}
	}
	return nil
}

// setText applies a value that was typed rather than written in a file; it is held to the same schema.
func (r *resolver) setText(k key, value, from string, layer Layer) error {
	v := typed(k.shape, value)
	if kind, _ := k.shape["type"].(string); v == any(value) && slices.Contains([]string{"integer", "number", "boolean"}, kind) {
		return &Error{[]Fault{{File: from, Key: k.path, Message: fmt.Sprintf("%q is not %s", clip(value), article(kind))}}}
	}
	if k.dollars() && v == any(json.Number("0")) {
		next := "give a bound such as " + from + " 0.50, or review without a model: --reviewers static"
		return &Error{[]Fault{{File: from, Message: "0 dollars would let no model be asked", Next: next}}}
	}
	s := &source{name: from, places: map[string]place{}}
	if message := s.fits(k, v); message != "" {
		return &Error{[]Fault{{File: from, Key: k.path, Message: message}}}
	}
	if list, ok := v.([]any); ok && k.path == neverRead {
		v = union(r.settings.Context.NeverRead, list)
	}
	if err := setJSON(k.field(&r.settings), v); err != nil {
		return &Error{[]Fault{{File: from, Key: k.path, Message: err.Error()}}}
	}
	r.origins[k.path] = origin{layer: layer, where: from}
	return nil
}

// typed reads a text as its shape wants it; what does not fit stays text.
func typed(s shape, value string) any {
	switch s["type"] {
	case "integer":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return json.Number(strconv.FormatInt(n, 10))
		}
	case "number":
		if f, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case "boolean":
		if b, err := strconv.ParseBool(value); err == nil {
			return b
		}
	case "array":
		var list []any
		for _, part := range strings.Split(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return list
	}
	return value
}

// setJSON puts a plain value into a field.
func setJSON(field, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	switch f := field.(type) {
	case *time.Duration:
		return json.Unmarshal(data, (*Duration)(f))
	}
	reflect.ValueOf(field).Elem().SetZero() // a stronger layer replaces lists and groups, it does not mix with them
	return json.Unmarshal(data, field)
}

func (k key) amount(field any) float64 {
	switch v := reflect.ValueOf(field).Elem(); v.Kind() {
	case reflect.String: // of words, the later ask for more
		words, _ := k.shape["enum"].([]any)
		return float64(slices.Index(words, any(v.String())))
	case reflect.Int, reflect.Int64:
		return float64(v.Int())
	case reflect.Float64:
		return v.Float()
	}
	return 0
}

// lookup finds the value of a dotted path.
func (s *source) lookup(path string) (v any, pointer string, ok bool) {
	v = s.value
	for _, part := range strings.Split(path, ".") {
		m, _ := v.(map[string]any)
		if v, ok = m[part]; !ok {
			return nil, "", false
		}
		pointer += "/" + escape(part)
	}
	return v, pointer, true
}
