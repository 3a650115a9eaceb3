package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// SalvageReviewer keeps the findings of a broken reviewer answer that are valid one by one. The envelope may
// be cut off, have faults elsewhere or stand in other text. It never makes an answer complete: what comes back can only
// add findings to a verdict.
func SalvageReviewer(data []byte) ([]review.Finding, Notes) {
	return salvage(data, "findings")
}

// SalvageComments is SalvageReviewer for the comments analyzer's pendingIssues.
func SalvageComments(data []byte) ([]review.Finding, Notes) {
	return salvage(data, "pendingIssues")
}

func salvage(data []byte, list string) ([]review.Finding, Notes) {
	var kept []review.Finding
	var notes Notes
	if len(data) > maxBytes {
		data = data[:maxBytes]
	}
	refused := 0
	for rest := afterKey(data, list); rest != nil; rest = afterKey(rest, list) {
		for len(kept)+refused < maxFindings {
			var object []byte
			object, rest = nextObject(rest)
			if object == nil {
				break
			}
			f, n, err := DecodeFinding(object)
			if err != nil {
				notes.add("finding %d was not kept: %v", len(kept)+refused+1, err)
				if f, ok := unreadable(object, err, len(kept)+1); ok && list == "findings" {
					kept = append(kept, f)
				} else {
					refused++
				}
				continue
			}
			kept = append(kept, f)
			for _, note := range n {
				notes.add("finding %d: %s", len(kept)+refused, note)
			}
		}
		if len(kept)+refused >= maxFindings {
			break
		}
	}
	distinctIDs(kept, &notes)
	return kept, notes
}

// unreadable stands for a finding that was refused and does not plainly say that it is P2 or P3: what nobody can read must not be
// passed over. It is not counted, and a person has to look.
func unreadable(object []byte, why error, n int) (review.Finding, bool) {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &fields) // what is not read here says nothing
	if len(fields) == 0 && !bytes.Contains(object, []byte(":")) {
		return review.Finding{}, false // an empty object is no finding
	}
	priority := review.P0
	if strings.Count(strings.ToLower(string(object)), `"priority"`) == 1 { // said twice, it says nothing plainly
		switch strings.ToUpper(strings.Trim(string(fields["priority"]), "\" ")) {
		case "P1":
			priority = review.P1
		case "P2", "P3":
			return review.Finding{}, false
		}
	}
	return review.Finding{
		ID: fmt.Sprintf("unreadable-%d", n), Priority: priority, Category: "unreadable", Title: "A finding that could not be read",
		Description: "The reviewer's answer has a finding that breaks the contract: " + short(why.Error()), Unconfirmed: "could not be read",
	}, true
}

// afterKey returns what follows the next `"key": [`, or nil. A key quoted inside a JSON string has escaped quotes and is
// not taken for one.
func afterKey(data []byte, key string) []byte {
	quoted := []byte(`"` + key + `"`)
	for {
		i := bytes.Index(data, quoted)
		if i < 0 {
			return nil
		}
		data = data[i+len(quoted):]
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(":")); ok {
			if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("[")); ok {
				return rest
			}
		}
	}
}

// nextObject cuts the next complete {...} of an array off data; nil when the array ends, or something else or half an
// object follows.
func nextObject(data []byte) (object, rest []byte) {
	start := bytes.TrimLeft(data, " \t\r\n,")
	if len(start) == 0 || start[0] != '{' {
		return nil, start
	}
	depth, quoted := 0, false
	for i := 0; i < len(start); i++ {
		switch c := start[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return start[:i+1], start[i+1:]
			}
		}
	}
	return nil, nil
}
