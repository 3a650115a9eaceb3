package sanitize

import (
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
