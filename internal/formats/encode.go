package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"

	"github.com/prloop/prloop/internal/runnerlog"
)

// encode writes JSON in which no runner of workflows reads a command, wherever it is printed: a line of it begins with a
// bracket, a brace or a quote, and what may stand in the middle of one is an escape.
func encode(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(runnerlog.JSON(out.String())), nil
}

// encodeXML is encode for XML.
func encodeXML(v any) ([]byte, error) {
	out, err := xml.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return []byte(xml.Header + runnerlog.XML(string(out)) + "\n"), nil
}
