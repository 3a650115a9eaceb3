package answer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
)

var (
	// ratesFinding and ratesChange are the words in the name of a field that rates a finding, or the change as a whole.
	ratesFinding = lazyregexp.New(`severity|impact|risk|level|likelihood|urgency|importance|rating`)
	ratesChange  = lazyregexp.New(`risk|impact|complexity|confidence`)
	// blocks are words of a rating that no P2 or P3 has.
	blocks = lazyregexp.New(`p[\s_-]?[01]|critical|block|must[\s_-]fix|exploit|rce\b|sever(e|ity)\s*[:=]|priority\s*[:=]`)
)

// rated takes out of an object the unknown fields that rate what it is about, in words short of those for a P0: that a listed P2 is
// called "high", or the change risky, is no other finding. It says what they were. A field that is no text, or names anything that
// blocks, stays.
func rated(object map[string]json.RawMessage, name *lazyregexp.Regexp, at string, notes *schema.Notes) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var text string
		if !name.MatchString(strings.ToLower(key)) || json.Unmarshal(object[key], &text) != nil {
			continue
		}
		if text == "" || grave(key, text) || blocks.MatchString(undenied(strings.ToLower(text))) {
			continue
		}
		delete(object, key)
		notes.Add("%s: rates it %s, which counts for nothing", schema.At(at, key), schema.Quote(text))
	}
}
