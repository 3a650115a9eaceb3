package config

import "encoding/json"

// Caches are whose module caches are lent.
type Caches []string

var allCaches = []string{"go", "cargo", "npm"}

// cachesShape is a list of tools, or true for all of them.
func cachesShape() shape {
	return shape{"if": shape{"type": "boolean"}, "else": list(choice(allCaches...), 0, len(allCaches))}
}

// UnmarshalJSON reads a list or a boolean.
func (c *Caches) UnmarshalJSON(b []byte) error {
	var all bool
	if err := json.Unmarshal(b, &all); err == nil {
		if *c = nil; all {
			*c = allCaches
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(c))
}
