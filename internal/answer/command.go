package answer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

const commandShape = "command-result"

// DecodeCommand reads the answer of a command (spec.md C1), as DecodeReviewer does. Its findings are settled and stand in the answer in
// prloop's own shape; who asked says by which agent they are.
func DecodeCommand(data []byte) (review.CommandAnswer, schema.Notes, error) {
	r, notes, err := schema.Decode[review.CommandResult](commandShape, data, readPlaces)
	if err != nil {
		return review.CommandAnswer{}, notes, err
	}
	a := review.CommandAnswer{Summary: r.Summary, Findings: []review.Finding{}, Notes: r.Notes, Confidence: r.Confidence, Wishes: r.Wishes}
	for i, f := range r.Findings {
		a.Findings = append(a.Findings, commandFinding(f, i))
	}
	faults := settleFindings(a.Findings, "findings", &notes)
	for i := range faults { // the file stands in the location there
		faults[i].Where = strings.TrimSuffix(faults[i].Where, "/file") + "/location/file"
	}
	for i := range a.Wishes {
		l := a.Wishes[i].Location
		if l == nil {
			continue
		}
		clean, ok := cleanPath(l.File)
		if !ok {
			faults = append(faults, schema.Fault{Where: fmt.Sprintf("wishes/%d/location/file", i), Why: "must be a path inside the repository, relative to its root, with slashes"})
		}
		l.File = clean
	}
	if len(faults) > 0 {
		return review.CommandAnswer{}, notes, schema.Refuse(commandShape, faults...)
	}
	all, why, ok := unmet(data, reflect.TypeFor[review.CommandResult](), claimed{}, a.Findings, &notes)
	if !ok {
		return review.CommandAnswer{}, notes, schema.Refuse(commandShape, schema.Fault{Where: "findings", Why: why})
	}
	if a.Findings = all; why != "" {
		notes.Add("a person has to look: %s", why)
	}
	return a, notes, nil
}

// CommandResult is an answer in the words of custom prompts, from which DecodeCommand makes it again.
func CommandResult(a review.CommandAnswer) review.CommandResult {
	r := review.CommandResult{Summary: a.Summary, Findings: []review.CommandFinding{}, Notes: a.Notes, Confidence: a.Confidence, Wishes: a.Wishes}
	for _, f := range a.Findings {
		c := review.CommandFinding{
			Title: f.Title, Severity: f.Priority.Level().Severity, Details: f.Description, Suggestion: f.Suggestion, Evidence: f.Evidence, Unconfirmed: f.Unconfirmed,
		}
		if f.File != "" {
			c.Location = &review.Location{File: f.File, Line: f.Line, LineEnd: f.LineEnd}
		}
		r.Findings = append(r.Findings, c)
	}
	return r
}

// CommandCategory is the category of a command's findings, which have none of their own, until the loop names them by their command.
const CommandCategory = "command"

// commandFinding is the finding at a place of a command's list in prloop's own shape.
func commandFinding(c review.CommandFinding, at int) review.Finding {
	priority, _ := review.PriorityOfSeverity(c.Severity) // the schema knows no other word
	f := review.Finding{
		ID: fmt.Sprintf("CMD-%03d", at+1), Priority: priority, Category: CommandCategory, Title: c.Title, Description: c.Details, Suggestion: c.Suggestion, Evidence: c.Evidence, Unconfirmed: c.Unconfirmed,
	}
	if c.Location != nil {
		f.File, f.Line, f.LineEnd = c.Location.File, c.Location.Line, c.Location.LineEnd
	}
	return f
}

// decodeCommandFinding reads one finding of a command's list.
func decodeCommandFinding(data []byte) (review.Finding, schema.Notes, error) {
	// The gate knows whole answers only.
	a, notes, err := DecodeCommand([]byte(`{"summary":"","confidence":"low","findings":[` + string(data) + `]}`))
	if err != nil {
		return review.Finding{}, notes, err
	}
	return a.Findings[0], notes, nil
}

// placed is a path with a line, or with two, behind it.
var placed = lazyregexp.New(`^(.+?):([1-9][0-9]{0,7})(?:-([1-9][0-9]{0,7}))?$`)

// readPlaces puts locations in order that are written as a text: custom prompts do not say what one looks like.
func readPlaces(v any) {
	whole, _ := v.(map[string]any)
	for _, list := range []string{"findings", "wishes"} {
		all, _ := whole[list].([]any)
		for _, one := range all {
			fields, _ := one.(map[string]any)
			text, ok := fields["location"].(string)
			if !ok {
				continue
			}
			place := map[string]any{"file": text}
			if m := placed.FindStringSubmatch(text); m != nil {
				place["file"], place["line"] = m[1], json.Number(m[2])
				if m[3] != "" {
					place["lineEnd"] = json.Number(m[3])
				}
			}
			if fields["location"] = any(place); strings.TrimSpace(text) == "" {
				delete(fields, "location")
			}
		}
	}
}
