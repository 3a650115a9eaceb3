package sanitize

import (
	"strings"
	"testing"
)

// Rules about files of one name hold in those files, in pieces and in diffs of them, above hunks too, and nowhere else (threats.md T649, T795 and T890).
func TestFileSecrets(t *testing.T) {
	for _, c := range []struct{ path, line, value string }{
		{"infra/db.tf", `  password   = "Zq5NmA75mADg"`, "Zq5NmA75mADg"},
		{"vm.TF", `  administrator_login_password = "kV5-tQ9z_w5x"`, "kV5-tQ9z_w5x"},
		{"a.hcl", `db_password = "Zq5NmA75mADg"`, "Zq5NmA75mADg"},
		{"main.tf", `  secret_string = jsonencode({ username = "app", password = "S3cretPw!" })`, "S3cretPw!"},
		{"main.tf", `  secret_string = "{\"user\":\"app\",\"db_password\":\"Zq5!NmA75mAD\"}"`, "Zq5!NmA75mAD"},
		{"prod.tfvars", `db_password = "Zq5!NmA75mAD"`, "Zq5!NmA75mAD"},
		{"config/master.key", "5f1c9a0e7b3d42868cf0a1d95e7b2c43", "5f1c9a0e7b3d42868cf0a1d95e7b2c43"},
		{"config/credentials/production.key", "0a9d3be6f71c48529e6b07f3d1c8a254", "0a9d3be6f71c48529e6b07f3d1c8a254"},
		{"NuGet.Config", `      <add key="ClearTextPassword" value="Zq5!NmA75mAD" />`, "Zq5!NmA75mAD"},
	} {
		for path, masked := range map[string]bool{c.path: true, "main.py": false} {
			piece, diff := "a\n"+c.line+"\n", "@@ -1,2 +1,2 @@\n a\n-x\n+"+c.line+"\n"
			above := KeyLines{}
			heading := "@@ -23,2 +23,2 @@ " + c.line + "\n a\n-x\n+y\n"
			above.LearnNamedDiff(path, heading)
			if maskChange(t, nil, &heading, map[*string]KeyLines{&heading: above}); strings.Contains(heading, c.value) == masked {
				t.Errorf("%s above a hunk of %s is shown as %s", c.line, path, heading)
			}
			keys := KeyLines{}
			keys.LearnNamed(path, piece)
			keys.LearnNamedDiff(path, diff)
			pieces := map[*string]KeyLines{&diff: keys}
			if maskChange(t, nil, &diff, pieces); strings.Contains(diff, c.value) == masked || strings.Contains(diff, Redacted) != masked {
				t.Errorf("%s in %s is shown as %s", c.line, path, diff)
			}
			if got := len(FileSecrets(path, piece)) == 1; got != masked {
				t.Errorf("%s in %s is found: %v", c.line, path, got)
			}
		}
	}
	for path, lines := range map[string][]string{
		"main.tf": {`password = "changeme1"`, `password = "prod-db-1"`, `password_secret_name = "db-password-2"`, `password = "sunshine"`, `password_policy = "strict_policy_v2"`, `password = var.password_1`, `password = "your-password-1"`,
			`password = "${var.db_pw_1}"`, `jsonencode({ password = random_password.db1.result, user = "app_2024x" })`, `password = "op://prod/db-1/password"`, `password_length = "at_least_12"`,
			`password_hash = "bcrypt-sha256"`, `password = "admin-password1"`},
		"certs/a.key":  {"00000000000000000000000000000000", "sha256 5f1c9a0e7b3d42868cf0a1d95e7b2c43", "deadbeef"},
		"nuget.config": {`<add key="ClearTextPassword" value="%NUGET_TOKEN_1%" />`, `<add key="Password" value="your-password-1" />`, `<add key="Username" value="Zq5NmA75mADg" />`},
	} {
		for _, line := range lines {
			if FileSecrets(path, line+"\n") != nil {
				t.Errorf("%s in %s is a secret", line, path)
			}
		}
	}
}
