package formats

import "github.com/prloop/prloop/internal/distinct"

// The parts of reviewdog's Diagnostic that are written here. Suggestions are never: reviewdog posts them as changes to
// commit with one click.
type (
	diagnostic struct {
		Message  string      `json:"message"`
		Location rdfLocation `json:"location"`
		Severity string      `json:"severity"`
		Source   rdfSource   `json:"source"`
		Code     rdfCode     `json:"code"`
	}
	rdfLocation struct {
		Path  string    `json:"path"`
		Range *rdfRange `json:"range,omitempty"`
	}
	rdfRange struct {
		Start rdfLine  `json:"start"`
		End   *rdfLine `json:"end,omitempty"`
	}
	rdfLine struct {
		Line int `json:"line"`
	}
	rdfSource struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	rdfCode struct {
		Value string `json:"value"`
		URL   string `json:"url"`
	}
)

// RDJSONL gives the findings in reviewdog's diagnostic format, one JSON object a line; nothing when there are none.
func (r Run) RDJSONL() ([]byte, error) {
	var out []byte
	for _, e := range r.entries() {
		d := diagnostic{
			Message: e.text, Location: rdfLocation{Path: name(e.file)}, Source: rdfSource{"prloop", home}, Code: rdfCode{e.rule, help + "#rules"},
			Severity: [...]string{distinct.Error: "ERROR", distinct.Warning: "WARNING", distinct.Note: "INFO"}[e.level],
		}
		if e.line > 0 {
			d.Location.Range = &rdfRange{Start: rdfLine{e.line}}
			if e.end > 0 {
				d.Location.Range.End = &rdfLine{e.end}
			}
		}
		line, err := encode(d, "")
		if err != nil {
			return nil, err
		}
		out = append(out, line...)
	}
	return out, nil
}
