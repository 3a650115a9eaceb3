package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
)

// inJSON is a text as JSON quotes it.
func inJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// What kubectl keeps of a Secret in an annotation is masked as the Secret is, wherever that stands, also where it is all that a hunk shows (threats.md T662).
func TestKeptValuesInQuotes(t *testing.T) {
	const short = "Zq5NmA75mADg"
	value := inBase64(short)
	clear := "q7Rz2Lm9Xc4Vb8Nt"
	object := `{"apiVersion":"v1","data":{"mode":"eA==","smtp":"` + value + `"},"kind":"Secret","metadata":{"annotations":{},"name":"app"}}`
	inClear := `{"kind":"Secret","stringData":{"note":"it''s","smtp":"` + clear + `"}}`
	applied := func(quoted string) string {
		return "    kubectl.kubernetes.io/last-applied-configuration: " + quoted + "\n"
	}
	before := func(quoted string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata:\n  annotations:\n" + applied(quoted) + "  name: app\ndata:\n  smtp: " + value + "\n"
	}
	for name, text := range map[string]string{
		"one quote":               applied("'" + object + "'"),
		"two quotes":              applied(inJSON(object + "\n")),
		"one quote, escaped":      applied(strings.ReplaceAll("'"+object+"'", `"`, `\"`)),
		"in its Secret":           before("'" + object + "'"),
		"in its Secret, escaped":  before(inJSON(object)),
		"behind what is kept":     secretOf("data", "smtp: "+value) + "metadata:\n  annotations:\n" + applied(inJSON(object)),
		"without data":            "kind: Secret\nmetadata:\n  annotations:\n" + applied(inJSON(object)) + "data: {}\n",
		"a line end in it":        applied("'" + object + "\n\n      '"),
		"folded":                  applied("'" + strings.Replace(object, `"smtp"`, "\n      \"smtp\"", 1) + "'"),
		"folded, escaped":         applied(strings.Replace(inJSON(object), `\"smtp\"`, "\\\n      \\\"smtp\\\"", 1)),
		"folded at once":          applied("\"\\\n      " + inJSON("\n" + object)[1:]),
		"in clear":                applied("'" + inClear + "'"),
		"as short as one kept":    before("'" + strings.Replace(inClear, clear, short, 1) + "'"),
		"short, escaped":          before(inJSON(strings.Replace(inClear, clear, short, 1))),
		"short, in a block":       before("|\n      " + strings.Replace(inClear, clear, short, 1)),
		"folded, in a block":      applied(">-\n      " + strings.NewReplacer(`"smtp":`, "\"smtp\":\n      ", `"kind":`, "\n      \"kind\":\n\n      ").Replace(object)),
		"a block with its Secret": before("|\r\n      " + strings.Replace(object, `"smtp":`, "\"smtp\":\r\n          ", 1) + "\r"),
		"a list, in a block":      "items: >\n  [" + strings.Replace(object, `,"kind"`, ",\n  \"kind\"", 1) + "]\n",
		"in clear, escaped":       applied(inJSON(inClear)),
		"JSON in JSON":            "{\n  \"kind\": \"Secret\",\n  \"metadata\": {\n    \"annotations\": {\n      \"applied\": " + inJSON(object) + "\n    }\n  }\n}\n",
		"in one line":             `{"kind":"Secret","metadata":{"annotations":{"applied":` + inJSON(object) + `},"name":"app"}}` + "\n",
		"twice in quotes":         "content: " + inJSON(`{"metadata":{"annotations":{"applied":`+inJSON(object)+`}}}`) + "\n",
		"in lines, escaped":       applied(inJSON(strings.NewReplacer(`,"`, ",\n  \"", `{"`, "{\n    \"").Replace(object))),
		"a list":                  applied("'[" + object + "]'"),
		"in a command":            "kubectl apply -f - <<< '" + object + "'\n",
		"in code":                 "s := `" + object + "`\n",
		"behind an open quote":    "# no \"{\\\"a\n" + before(inJSON(object)),
		"behind a mark of a text": "# it's '{\" that begins one\n" + before("'"+object+"'"),
	} {
		diff := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
		maskChange(t, nil, &diff, nil)
		for _, got := range []string{diff, Mask(text)} {
			if strings.Contains(got, value) || strings.Contains(got, clear) || strings.Contains(got, short) || !strings.Contains(got, Redacted) {
				t.Errorf("%s: shown in\n%s", name, got)
			}
			if strings.Contains(text, `"eA==`) && !strings.Contains(got, "eA==") {
				t.Errorf("%s: more is masked in\n%s", name, got)
			}
		}
		lawsOfMask(t, text)
	}
	for _, text := range []string{
		applied("'" + strings.Replace(object, "Secret", "ConfigMap", 1) + "'"), applied(">-\n      " + strings.Replace(object, `"kind":"Secret"`, "\n      \"kind\":\"ConfigMap\"", 1)),
		applied(">-\n      {\"kind\":\n  \"Secret\",\"data\":\n    {\"smtp\":\"" + value + "\"}}"), applied(inJSON(strings.Replace(object, "Secret", "SecretStore", 1))),
		applied(inJSON(`{"kind":"Secret","metadata":{"smtp":"` + value + `"}}`)), applied("'" + strings.Replace(object, value, inBase64("administrator"), 1) + "'"),
		applied(inJSON(strings.Replace(object, value, "${SMTP_RELAY_1}", 1))), applied("'" + strings.Replace(inClear, clear, "mail1.acme.io:587", 1) + "'"), applied(inJSON(strings.Replace(inClear, clear, "smtp-over-tls", 1))), "if s == \"{\" || kind == '{' { return Secret }\n",
	} {
		if kept := KeptValues(text); len(kept) > 0 {
			t.Errorf("masked: %v of\n%s", kept, text)
		}
	}
}
