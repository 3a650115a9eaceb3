package formats

import (
	"encoding/xml"

	"github.com/prloop/prloop/internal/distinct"
)

type (
	checkstyle struct {
		XMLName xml.Name          `xml:"checkstyle"`
		Version string            `xml:"version,attr"`
		Files   []*checkstyleFile `xml:"file"`
	}
	checkstyleFile struct {
		Name   string            `xml:"name,attr"`
		Errors []checkstyleError `xml:"error"`
	}
	checkstyleError struct {
		// Line is 0 when it is not known.
		Line     int    `xml:"line,attr"`
		Severity string `xml:"severity,attr"`
		Message  string `xml:"message,attr"`
		Source   string `xml:"source,attr"`
	}
)

// checkstyleVersion is the version of checkstyle whose format this is; readers look for one.
const checkstyleVersion = "4.3"

// Checkstyle gives the findings as checkstyle's XML. A finding about no file stands in a file with an empty name.
func (r Run) Checkstyle() ([]byte, error) {
	out := checkstyle{Version: checkstyleVersion}
	files := map[string]*checkstyleFile{}
	for _, e := range r.entries() {
		f := files[e.file]
		if f == nil {
			f = &checkstyleFile{Name: name(e.file)}
			files[e.file], out.Files = f, append(out.Files, f)
		}
		f.Errors = append(f.Errors, checkstyleError{
			Line: e.line, Severity: [...]string{distinct.Error: "error", distinct.Warning: "warning", distinct.Note: "info"}[e.level],
			Message: e.text, Source: "prloop." + e.rule,
		})
	}
	return encodeXML(out)
}
