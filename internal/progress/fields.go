package progress

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// ResultFields are the names of the fields of a run's result, as JSON has them.
func ResultFields() []string {
	var names []string
	for f := range reflect.TypeFor[review.RunResult]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// AreResultFields reports whether a list with commas names fields of a result and nothing else.
func AreResultFields(list string) bool {
	known := ResultFields()
	return !slices.ContainsFunc(strings.Split(list, ","), func(f string) bool { return !slices.Contains(known, f) })
}

// Picked are the named fields of a result.
func Picked(result review.RunResult, fields []string) (map[string]any, error) {
	data, err := json.Marshal(result)
	var all map[string]any
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(fields, name) })
	return all, nil
}
