package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/template"
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
)

// listFlags are gh's flags for lists: chosen fields as JSON, filtered by jq or formatted by a Go template.
type listFlags struct {
	fields        []string
	jq, templated string
}

func (l *listFlags) add(c *cobra.Command, fields []string) {
	c.Flags().StringSliceVar(&l.fields, "json", nil, "print JSON with these `FIELDS`: "+strings.Join(fields, ", "))
	c.Flags().StringVarP(&l.jq, "jq", "q", "", "filter the JSON with a jq `EXPRESSION`")
	c.Flags().StringVarP(&l.templated, "template", "t", "", "format the JSON with a Go `TEMPLATE`")
}

// check refuses fields that do not exist, and formats without fields.
func (l *listFlags) check(known []string) error {
	if len(l.fields) == 0 && (l.jq != "" || l.templated != "") {
		return advice.Misuse("--json "+strings.Join(known, ","), "--jq and --template need --json FIELDS")
	}
	for _, f := range l.fields {
		if !slices.Contains(known, f) {
			return advice.Misuse("one of: "+strings.Join(known, ", "), "there is no field %q", f)
		}
	}
	return nil
}

// print writes rows as the flags say.
func (l *listFlags) print(w io.Writer, rows []map[string]any, width int, color bool) error {
	chosen := make([]map[string]any, len(rows))
	for i, row := range rows {
		chosen[i] = map[string]any{}
		for _, f := range l.fields {
			chosen[i][f] = row[f]
		}
	}
	return l.format(w, chosen, width, color)
}

// format writes a value as the flags say.
func (l *listFlags) format(w io.Writer, chosen any, width int, color bool) error {
	data, err := json.Marshal(chosen)
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	switch {
	case l.jq != "":
		if err := jq.Evaluate(bytes.NewReader(data), w, l.jq); err != nil {
			return advice.Misuse("see the jq manual", "jq expression: %w", err)
		}
	case l.templated != "":
		t := template.New(w, width, color)
		if err := t.Parse(l.templated); err != nil {
			return advice.Misuse("see: gh help formatting", "template: %w", err)
		}
		if err := t.Execute(bytes.NewReader(data)); err != nil {
			return advice.Misuse("see: gh help formatting", "template: %w", err)
		}
		return t.Flush()
	default:
		_, err = fmt.Fprintln(w, string(data))
	}
	return err
}
