package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// format is the version of exports.
const format = 1

// mostImport bounds an import.
const mostImport = 8 << 20

// Exported is one repository in an export.
type Exported struct {
	Repo
	Columns Values `json:"columns"`
}

// Export writes rows as Import reads them. Versions are the store's own and stay behind.
func Export(rows []Row) ([]byte, error) {
	out := struct {
		Format   int        `json:"format"`
		Policies []Exported `json:"policies"`
	}{format, []Exported{}}
	for _, r := range rows {
		out.Policies = append(out.Policies, Exported{r.Repo, r.Columns})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(out)
	return b.Bytes(), err
}

// Import reads an export. All faults are found, each at its field.
func Import(data []byte) ([]Exported, error) {
	if len(data) > mostImport {
		return nil, &Error{[]Fault{{Field: "the file", Message: fmt.Sprintf("has more than %d MB", mostImport>>20)}}}
	}
	var in struct {
		Format   int `json:"format"`
		Policies []struct {
			Repo
			Columns map[string]any `json:"columns"`
		} `json:"policies"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	err := d.Decode(&in)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind its end")
		}
	}
	if err != nil {
		return nil, &Error{[]Fault{{Field: "the file", Message: "is not an export of prloop policy export: " + clean(err.Error())}}}
	}
	if in.Format != format {
		return nil, &Error{[]Fault{{Field: "format", Message: fmt.Sprintf("is %d, but this prloop reads %d", in.Format, format)}}}
	}
	var out []Exported
	var wrong []Fault
	seen := map[Repo]int{}
	for i, p := range in.Policies {
		at := fmt.Sprintf("policies[%d]", i)
		switch key := (Repo{Host: p.Host, ID: p.ID}); {
		case p.Host == "":
			wrong = append(wrong, Fault{Field: at + ".host", Message: "is missing"})
		case p.ID <= 0:
			wrong = append(wrong, Fault{Field: at + ".id", Message: "is not the id of a repository"})
		case seen[key] > 0:
			wrong = append(wrong, Fault{Field: at, Message: fmt.Sprintf("names the repository of policies[%d] again", seen[key]-1)})
		default:
			seen[key] = i + 1
		}
		values, err := Read(p.Columns)
		var e *Error
		if errors.As(err, &e) {
			for _, f := range e.Faults {
				f.Field = at + ".columns." + f.Field
				wrong = append(wrong, f)
			}
		}
		out = append(out, Exported{p.Repo, values})
	}
	return out, faults(wrong)
}
