package sanitize

import (
	"strings"
	"testing"
)

// The name of a secret may stand in a line above it; what is no secret beside its name is none below it.
func TestNamedAbove(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6Yh3J"
	for name, text := range map[string]string{
		"a property list":    "<dict>\n\t<key>ApiToken</key>\n\t<string>VALUE</string>\n</dict>\n",
		"Terraform":          "variable \"db_password\" {\n  type      = string\n  sensitive = true\n  default   = \"VALUE\"\n}\n",
		"CloudFormation":     "Parameters:\n  DBPassword:\n    Type: String\n    NoEcho: true\n    Default: VALUE\n",
		"the same as JSON":   "{\n  \"Parameters\": {\n    \"DBPassword\": {\n      \"Type\": \"String\",\n      \"Default\": \"VALUE\"\n    }\n  }\n}\n",
		"lines of two bytes": "<key>ApiToken</key>\r\n<string>VALUE</string>\r\n",
	} {
		text = strings.ReplaceAll(text, "VALUE", value)
		diff := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, value) || Mask(text) != strings.ReplaceAll(text, value, Redacted) || strings.Contains(Redact(text), value) {
			t.Errorf("%s: shown in\n%s\n%s", name, diff, Mask(text))
		}
		lawsOfMask(t, text)
	}
	for _, text := range []string{
		"inputs:\n  token:\n    description: The token\n    required: true\n    default: ${{ github.token }}\n",
		"variable \"db_password_length\" {\n  type    = string\n  default = \"minimum-of-sixteen\"\n}\n",
		"<key>ApiToken</key>\n<true/>\n<key>Build</key>\n<string>" + value + "</string>\n",
		"variable \"region\" {\n  default = \"" + value + "\"\n}\n",
		"DBPassword:\n  Type: AWS::SSM::Parameter::Value<String>\n  Default: /prod/database/password\n",
		"token:\n  a: 1\n  b: 2\n  c: 3\n  d: 4\n  e: 5\n  f: 6\n  default: " + value + "\n",
	} {
		if got := Mask(text); got != text {
			t.Errorf("masked:\n%s", got)
		}
	}
}
