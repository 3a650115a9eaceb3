package sanitize

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// formsOfNames give a value to the name of a secret.
var formsOfNames = []string{
	"DB_PASSWORD=%s", `DB_PASSWORD="%s"`, "export DB_PASSWORD='%s'", "password: %s", `"password": "%s",`, `password = "%s"`, `Password := '%s';`, "DB_PASSWORD := %s", `"password": '%s'`, "'password' => '%s',", `password <- "%s"`, `{password, "%s"},`,
	"Server=db;User Id=a;Password=%s;", "<password>%s</password>", `<add key="DbPassword" value="%s"/>`, "<key>Password</key>\n<string>%s</string>", "<property name=\"password\">\n  <value>%s</value>", "ENV POSTGRES_PASSWORD %s", "setenv DB_PASSWORD %s",
	"SetEnv DB_PASSWORD %s", "restic backup --password %s /srv", "tool --password=%s /srv", "kubectl create secret generic db --from-literal=password=%s", "machine ci.acme.io login ci password %s", "CREATE USER app WITH PASSWORD '%s';",
	"ALTER ROLE app WITH LOGIN PASSWORD '%s'", `#define WIFI_PASSWORD "%s"`, "`define PASSWORD \"%s\"", "define('DB_PASSWORD', '%s');", `set(DB_PASSWORD "%s")`, `set password "%s"`, `(setq api-password "%s")`, `{:password "%s"}`, `password equ "%s"`,
	`DATA password TYPE string VALUE '%s'.`, "password '%s'", `storePassword "%s"`, `ds.setPassword("%s");`, `.password("%s")`, `os.Setenv("DB_PASSWORD", "%s")`, `const password = process.env.DB_PASSWORD || "%s";`, `let g:api_password = "%s"`,
	"Authorization: Bearer %s", "proxy_set_header X-Api-Key %s;", "https://acme.io/?access_token=%s", "otpauth://totp/acme:ci?secret=%s&issuer=acme", "- name: DB_PASSWORD\n  value: %s", "- name: DB_PASSWORD\n  value: \"%s\"", "- value: %s\n  name: DB_PASSWORD",
	"{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"%s\"\n}", "{\n  \"value\": \"%s\",\n  \"name\": \"DB_PASSWORD\"\n}", "\"ParameterKey\": \"DBPassword\",\n\"ParameterValue\": \"%s\"", "\"db_password\": {\n  \"sensitive\": true,\n  \"type\": \"string\",\n  \"value\": \"%s\"",
	"variable \"db_password\" {\n  default = \"%s\"\n}", "apiToken:\n  type: string\n  example: %s", "the password of the shop is %s.", "password:\n  %s", "client_secrets:\n  - %s",
	"pass: %s", "pass: '%s',", `"pass": "%s",`, "auth: {\n  user: 'ci@acme.io',\n  pass: '%s'\n}", `dbPass = "%s"`, "DBPASS=%s", "PASS=%s", "smtpPass: %s", "<adminPass>%s</adminPass>",
	"func apiToken() string {\n\treturn \"%s\"\n}", "def get_token():\n    return '%s'", "API_TOKENS = [\n    \"alice\",\n    \"bob\",\n    \"carol\",\n    \"%s\",\n]", "secrets:\n  - alice\n  - %s\n  - bob", `: "${API_TOKEN:-%s}"`,
}

// One law judges what was drawn, whatever stands between it and the name of a secret: of no form more than a few values stay readable in a diff (threats.md T848).
func TestDrawnValuesInEveryForm(t *testing.T) {
	const small, large, digits, draws = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", 40
	for _, c := range []struct {
		alphabet      string
		length, shown int // of draws at most
	}{
		{small + large + digits, 13, 5}, {small + large + digits, 16, 3}, {small + large + digits, 20, 3}, {small + large + digits, 24, 2}, {small + large + digits, 32, 2},
		{small + digits, 16, 7}, {small + digits, 24, 5}, {large + digits, 16, 7}, {digits + "abcdef", 16, 2}, {digits + "ABCDEF", 24, 2}, {small + large, 16, 10}, {small + large, 28, 5},
	} {
		random := rand.New(rand.NewPCG(8, 48))
		for _, form := range formsOfNames {
			shown := 0
			for range draws {
				value := draw(random, c.alphabet, c.length)
				if got := shownInDiff(t, fmt.Sprintf(form, value)); strings.Contains(got, value) {
					shown++
				}
			}
			lawsOfMask(t, fmt.Sprintf(form, draw(random, c.alphabet, c.length)))
			if shown > c.shown {
				t.Errorf("%q with %d of %s: %d of %d are shown", form, c.length, c.alphabet, shown, draws)
			}
		}
	}
}

// Signs within a value change nothing, however it was made: as base64, or by a generator of passwords.
func TestDrawnValuesWithSigns(t *testing.T) {
	const letters, draws = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 40
	var quoted []string
	for _, form := range formsOfNames {
		if strings.Contains(form, `"%s"`) || strings.Contains(form, "'%s'") {
			quoted = append(quoted, form)
		}
	}
	given := []string{
		"SESSION_SECRET=%s", "export API_TOKEN=%s", "A_SECRET=a B_SECRET=%s", "AUTH_TOKEN := x\nAPI_KEY:=%s", "tool --auth-token=%s /srv", "- API_KEY=%s", `- "API_TOKEN=%s"`, "secret:%s", "<env>API_TOKEN=%s</env>", "API_TOKEN: %s", // (threats.md T885)
	}
	random := rand.New(rand.NewPCG(8, 62))
	base64Of := func(n int) func() string {
		return func() string {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(random.IntN(256))
			}
			return base64.StdEncoding.EncodeToString(b)
		}
	}
	from := func(alphabet string, n int) func() string {
		return func() string { return draw(random, alphabet, n) }
	}
	for _, c := range []struct {
		name  string
		forms []string
		value func() string
		shown int // of draws at most
	}{
		{"12 bytes of base64", formsOfNames, base64Of(12), 6}, {"16 bytes of base64", formsOfNames, base64Of(16), 4}, {"24 bytes of base64", formsOfNames, base64Of(24), 4}, {"32 bytes of base64", formsOfNames, base64Of(32), 2},
		{"16 with signs, given", given, from(letters+"!@#$%^&*?", 16), 10}, {"18 with signs, given", given, from(letters+"!@#$%^&*?", 18), 8}, {"18 without digits, given", given, from(letters[:52]+"!@#$%^&*?", 18), 12},
		{"16 with signs", quoted, from(letters+"!@#$%^&*", 16), 10}, {"24 with signs", quoted, from(letters+"!@#$%^&*()", 24), 8}, {"32 with signs", quoted, from(letters+"!@#$%^&*-_=+?", 32), 5},
	} {
		for _, form := range c.forms {
			shown := 0
			for range draws {
				value := c.value()
				if strings.Contains(shownInDiff(t, fmt.Sprintf(form, value)), strings.TrimRight(value, "=")) {
					shown++
				}
			}
			lawsOfMask(t, fmt.Sprintf(form, c.value()))
			if shown > c.shown {
				t.Errorf("%q with %s: %d of %d are shown", form, c.name, shown, draws)
			}
		}
	}
}

// What has signs and stands near the name of a secret in everyday code stays.
func TestNamesWithSignsAreShown(t *testing.T) {
	for _, lines := range []string{
		`import { token } from "../../lib/x86_64/auth-v2/tokens.js"`, `fetch("/api/v1/users/token?grant=a1&b2=c3")`, `moment(token.exp).format("YYYY-MM-DDTHH:mm:ssZ")`, `new SimpleDateFormat("yyyy-MM-ddThh:mm:ss") // of the token`,
		`tokens: []string{"%e7%ac%ac%e4%b8%80%e7%89%88"}`, `it("drops an invalid session token (GHSA-2xm2-xj2q-qgpj)", async () => {})`, `github.com/acme/token-store v0.0.0-20240131120000-a1b2c3d4e5f6 h1:q7Rz2Lm9Xc4Vb8Nt1Wk6+/Jd0Pf5Gh3Ys=`,
		`"resolved": "https://registry.npmjs.org/token-types/-/token-types-4.2.1.tgz", "integrity": "sha512-q7Rz2Lm9Xc4Vb8Nt1Wk6/Jd0Pf5Gh3Ys+aBcD=="`, `<img alt="token" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAF" />`, `password: z.string().regex(/^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9@$!%*?&]{8,}$/)`,
		`<div class="w-1/2 md:p-4 lg:mt-8 password-field-3xl">`, `<path d="M9-3h4V5H2z-7v2" id="password" />`, "func isCGoTypeObj(fset *token.FileSet, obj *TypeName) bool {", "Testing basn0g01.png: PASS (524 zero samples)", "func isFuzzTargetDotFuzz(pass *analysis.Pass, call *ast.CallExpr) bool {",
		`userId: "507f1f77bcf86cd799439011", token: "t"`, `{ id: "clh1x2y3z0000abcd1234efgh", token }`, "ALTER TABLE tokens ADD CONSTRAINT FK_9f3a8b7c6d5e4f3a2b1c0d9e8f7 FOREIGN KEY (user_id)", "CREATE INDEX idx_tokens_a1b2c3d4e5 ON tokens (id);", "`CREATE TABLE \"token\" (CONSTRAINT \"PK_82fae97f905930df5d62a702fc9\" PRIMARY KEY (\"id\"))`",
		`expect(validatePassword("Abc123!@#xyzQ")).toBe(true)`, `await page.fill('#password', 'S3cur3P@ssw0rd!')`, `expect(isStrong("aB3!xK9@mQ2#p")).toBe(true) // password`,
		"pass: true", "bypass: isDevelopment2", "const pass = await promptForPassword(user)", "pass=$(cat /run/secrets/db_pass)", "  pass: ${SMTP_PASS}",
		"API_KEY=$(openssl rand -hex 16)", "token=${API_TOKEN:-$(cat /run/token)}", "--secret-id=arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf", "token=value1&api_key2=value2&x=3", "TOKEN_URL=https://auth.acme.io/oauth2/v1/token?grant_type=x&v=2", "TOKEN_PATTERN=^gh[pousr]_[A-Za-z0-9]{36}$",
		"TOKEN_FORM=^v1:[0-9]+$", "tokens=2*n^2+3*k-m4:x1", "token_cost=price*count2^2+base1", "key:=a*x^2+b*x+c?x1:x2", "signing_key=%Y%m%dT%H%M%SZ:%s:%d", "API_KEY=op://Private/acme-api/credential", "API_TOKEN=vault:secret/data/app#API_TOKEN", "<input name=token:v2 data-key=$user.apiKey@v1 />", "token:hover:not(.token-v2) a", "access-key:Ctrl+Shift+F12,Alt+F4", "SECRET_KEY=change!me!in!production!2024", "token:=lexer.Next().Kind&mask2", "sort=token:asc,createdAt:desc&page[size]=20", "AUTH_TOKEN=user:group:0644:svc-deploy@acme.io",
		`token: "0102030405060708090a0b0c0d0e0f10"`,
	} {
		if got := shownInDiff(t, lines); strings.Contains(got, Redacted) {
			t.Errorf("%s is shown as\n%s", lines, got)
		}
	}
	for _, line := range []string{`"secretId": "3fa85f64-5717-4562-b3fc-2c963f66afa6"`, `password: "507f1f77bcf86cd799439011"`, `token: "q7Rz2Lm9Xc4Vb8Nt1Wk6", userId: "x"`} {
		if got := shownInDiff(t, line); !strings.Contains(got, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
}

// shownInDiff is what a reviewer is shown of added lines.
func shownInDiff(t *testing.T, lines string) string {
	t.Helper()
	diff := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(lines, "\n", "\n+") + "\n"
	maskChange(t, nil, &diff, nil)
	return diff
}

// What people write in the place of a value stays, in every form.
func TestWordsInEveryFormAreShown(t *testing.T) {
	for _, word := range strings.Fields("userInputField newPassword getPasswordFromVault IsNullOrWhiteSpace XMLHttpRequestUpload kubernetesServiceAccount DB_PASSWORD_FILE productionDatabase AuthenticationError authenticationmiddleware " +
		"knowledgeable odnoklassniki thequickbrownfox useInMemoryPgpKeys abcdefghijklmnopqrstuvwxyz ECDSAPrivateKeyBytes mlkemSharedSecret xxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyyyyyy 0000000000000000 1234567890123456 BadCredentialsException") {
		for _, form := range formsOfNames {
			if line := fmt.Sprintf(form, word); !strings.Contains(shownInDiff(t, line), word) {
				t.Errorf("%s is masked", line)
			}
		}
	}
	for _, name := range strings.Fields("VerifyPKCS1v15 EncryptPKCS1v15 hexPKCS8TestPKCS1Key sha256WithRSAEncryption handleOAuth2Callback parseX509Certificates ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 bcryptHashRounds12 AmazonS3AccessKeysConfig listObjectsV2Query " +
		"createHTTPClientWithTLS2 0123456789abcdef ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 StringUtilsTest11 RSAPKCS1v15Signer imdsv2SessionTokenURL MarshalPKCS8PrivateKey PBKDF2WithHmacSHA512 x509CertificateChain") {
		if Drawn(name) {
			t.Errorf("%s is drawn", name)
		}
	}
	for _, lines := range []string{
		"password = userInputField", "setPassword(newPassword)", "run --password-file /run/secrets/db_password", "PASSWORD VARCHAR(255) NOT NULL", "token: ${{ secrets.GITHUB_TOKEN }}", `"password": "Passwort vergessen?",`, "password: process.env.DB_PASSWORD_PRODUCTION",
		"private readonly passwordEncoder: PasswordEncoderFactory", `"token": "Das Zugriffstoken ist abgelaufen",`, "func (s *Server) refreshToken(ctx context.Context, oldToken string) (string, error)", `createSvgIcon(<path d="M19 19H5V5h14v14z" />, "Password")`, `<assemblyIdentity name="Microsoft.IdentityModel.Tokens" publicKeyToken="31bf3856ad364e35" culture="neutral" />`, "<PublicKeyToken>b03f5f7f11d50a3a</PublicKeyToken>",
		"Version=4.0.0.0, Culture=neutral, PublicKeyToken=31bf3856ad364e35", "rsa.DecryptPKCS1v15(rand.Reader, privateKey, sealed)", "EncryptPKCS1v15(random, &rsaPrivateKey.PublicKey, in)", `const charset = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" // of a password`,
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n- name: RELEASE\n  value: q7Rz2Lm9Xc4Vb8Nt1", "- name: RELEASE\n  value: q7Rz2Lm9Xc4Vb8Nt1\n- name: DB_PASSWORD\n  valueFrom: x", "<key>ApiToken</key>\n<true/>\n<key>Build</key>\n<string>q7Rz2Lm9Xc4Vb8Nt1</string>",
		"97C146F01CF9000F007C117D /* TokenStore.swift in Sources */,", "CREATE TABLE passwords (id BIGINT, passwordHashAlgorithmVersion2 TEXT)", "relation avodbjjfgbkdrtaerohxkxbabpwdfuizqy: person",
	} {
		if got := shownInDiff(t, lines); strings.Contains(got, Redacted) {
			t.Errorf("%s is shown as\n%s", lines, got)
		}
	}
}

func draw(random *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(b)
}
