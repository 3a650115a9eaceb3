package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/progress"
)

// listFlags are gh's flags for lists: chosen fields as JSON, filtered by jq or formatted by a Go template.
type listFlags struct {
	fields        []string
	jq, templated string
}

func (l *listFlags) add(c *cobra.Command, fields []string) {
	c.Flags().StringSliceVar(&l.fields, "json", nil, "print JSON with these `FIELDS`")
	c.Annotations = map[string]string{jsonFields: "  " + progress.Wrap(strings.Join(fields, ", "), 80, 2)}
	completes(c, "json", fields...)
	c.Flags().StringVarP(&l.jq, "jq", "q", "", "filter the JSON with a jq `EXPRESSION`")
	c.Flags().StringVarP(&l.templated, "template", "t", "", "format the JSON with a Go `TEMPLATE`")
}

// jsonFields annotates a command with the fields that --json has, which its help lists at the end.
const jsonFields = "json fields"

const jsonFieldsHelp = `{{with index .Annotations "` + jsonFields + `"}}
JSON fields:
{{.}}
{{end}}`

// completes lets a shell complete the value of a flag, which is no file.
func completes(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

// check refuses fields that do not exist, formats without fields, and those that nothing could be formatted by.
func (l *listFlags) check(known []string) error {
	if len(l.fields) == 0 && (l.jq != "" || l.templated != "") {
		return advice.Misuse("--json "+strings.Join(known, ","), "--jq and --template need --json FIELDS")
	}
	for _, f := range l.fields {
		if !slices.Contains(known, f) {
			return advice.Misuse("one of: "+strings.Join(known, ", "), "there is no field %q", f)
		}
	}
	return progress.CheckFormat(l.jq, l.templated)
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
	return progress.Format(w, chosen, l.jq, l.templated, width, color)
}
