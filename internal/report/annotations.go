package report

import (
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

// Annotations gives one GitHub Actions workflow command for each finding, most urgent first: error for P0 and P1,
// warning for P2, notice for P3. GitHub shows ten errors and ten warnings a step. The lines hold no control characters,
// so a finding cannot issue a command of its own.
func Annotations(findings []Finding) []string {
	var out []string
	for _, f := range Canonical(Data{Findings: findings}).Findings {
		out = append(out, annotation(f))
	}
	return out
}

func annotation(f Finding) string {
	level := map[review.Priority]string{review.P0: "error", review.P1: "error", review.P2: "warning", review.P3: "notice"}[f.Priority]
	var props []string
	add := func(name, value string) { props = append(props, name+"="+property.Replace(value)) }
	if f.File != "" {
		add("file", f.File)
		if f.Line > 0 {
			add("line", strconv.Itoa(f.Line))
		}
		if f.LineEnd > 0 {
			add("endLine", strconv.Itoa(f.LineEnd))
		}
	}
	add("title", string(f.Priority)+" "+f.Title)
	text := f.Description
	if text == "" {
		text = f.Title
	}
	return "::" + level + " " + strings.Join(props, ",") + "::" + message.Replace(text)
}

// Escapes of workflow commands; properties also need their separators escaped.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
