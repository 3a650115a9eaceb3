package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A name in words with numbers and versions in it is shown and is no finding, whatever secret the name before it speaks about (threats.md T567).
func TestNamesInWordsAreShown(t *testing.T) {
	for _, line := range []string{
		`export const ROUTES = { tokenRefresh: "/api/v1/token/refresh", apiKeys: "settings/v2/api-keys" };`,
		`export const cache = { apiKeyList: "settings/api-keys/v2/list" };`,
		`export const tokenCacheKey = "auth/v2/tokens/current";`,
		`export const E = { INVALID_TOKEN: "auth/invalid-token-401", WEAK_PASSWORD: "auth/weak-password-400" };`,
		`TOKEN_TOPIC = "identity.v1.token-revoked"`,
		`MODEL_KEY = "models/2024-01/classifier.onnx"; S3_KEY="uploads/v1/avatars/default.png"`,
		`private_key = "keys/2024/deploy.pem"`,
		`const m = { passwordHint: "min.8-chars,1-digit" };`,
		`const cls = { tokenBadge: "bg-blue-100,text-blue-800" };`,
		`const session = { accessToken: "access-token-123" };`,
		`const res = { apiKey: "api-key-for-user-1" };`,
		`locals { token_secret_name = "prod/orders/token-v2" }`,
		`const x = <Box token="color-bg-neutral-500-hover" />;`,
		`{"button":{"token":"sys.color.primary-40","fontToken":"md.ref.typeface.plain2"}}`,
		`tok = Tokenizer(bos_token="<|begin_of_text|>", eos_token="<|eot_id_128009|>", tokenizer="cl100k_base")`,
		`private static final String TOKEN_HEADER = "X-Auth-Token-V2-Internal";`,
		`const val PREF_ACCESS_TOKEN = "pref_access_token_v2"`,
		`static let keychainTokenKey = "com.acme.app.token.v2"`,
		`static let keychainPassword = "com.acme.app.password.v2"`,
		`const PasswordResetTemplate = "emails/v2/password-reset.html"`,
		`PASSWORD_RESET_TEMPLATE = "mailers/v2/password_reset"`,
		`router.get("/x", { resetPassword: "pages/v2/reset-password.tsx" });`,
		`PASSWORD_HASHER = "argon2id.v19.default"; TOKEN_BACKEND = "acme.auth.backends.v2.TokenBackend"`,
		`REST = {"TOKEN_MODEL": "accounts.v2.models.Token"}`,
		`auth: {tokenIssuer: "accounts.acme2.com", secretStore: "vault-prod-eu1"}`,
		`const refreshToken = "refresh-token-user-2";`,
		`var o = new Opts { ApiKeyHeader = "X-Api-Key-V2-Header", TokenAudience = "api://orders-v2-prod" };`,
		`const selectors = { passwordInput: "input[name=password2]", tokenRow: "[data-test=token-row-1]" };`,
		`auth: {existingSecret: "postgresql-auth-2024", secretProviderClass: "azure-kvname-user-msi2"}`,
		`tokenStore: "mysql-tokens-table-v2"`,
		`const TOKEN_KEY = "acme.auth.token.v2"; const SESSION_KEY = "acme-session-data-v2"`,
		`secretname: "orders-credentials-v2"`,
		`auth: {existingSecret: "redis-credentials-v2", existingSecretPasswordKey: "redis-password-v2"}`,
		`tokenTopic: identity.v1.token-revoked`,
		`TokenRequestTTLHeader       = "X-aws-ec2-metadata-token-ttl-seconds"`,
		`API_KEY_ROUTE = "v2/keys/{key_id}/rotate-now"`,
	} {
		if found := AssignedValues(line); found != nil {
			t.Errorf("%q is found in %s", line[found[0].Start:found[0].End], line)
		}
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) {
			t.Errorf("%s is masked: %s", line, diff)
		}
	}
}

// A made-up value in words that says so is shown under every name, as the reason of a partial run promises.
func TestMadeUpWordsAreShown(t *testing.T) {
	for _, name := range []string{"password", "secret", "token", "api_key", "private_key", "SECRET_KEY"} {
		for _, value := range []string{"test-token-1", "test-token-for-unit-tests-17", "example-password-2024", "dummy-secret-key-1234", "fake-api-key-42-for-tests"} {
			for _, line := range []string{name + ` = "` + value + `"`, name + ": '" + value + "'"} {
				diff := "@@ -0,0 +1 @@\n+" + line + "\n"
				if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) || AssignedValues(line) != nil {
					t.Errorf("%s is masked", line)
				}
			}
		}
	}
}

// What people make up themselves, and words among which something was drawn, are found (threats.md T567, T568).
func TestSecretsOfWordsAreFound(t *testing.T) {
	for _, line := range []string{
		`password = "Correct-Horse-Staple-42"`,
		`DB_PASSWORD: "Summer-2024-Winter"`,
		`db_password = "winter_falcon_2024_prod"`,
		`passphrase: "correct.horse.battery.staple2"`,
		`adminPassword := "Acme/Prod/2024-Winter"`,
		`client_secret = "super-duper-jwt-key-2024"`,
		`SECRET_KEY = "acme-prod-django-2024"`,
		`private_key = "winter-falcon-horse-2024"`,
		`resetPassword("password", "correct-horse-staple-42")`,
		`credentials = "admin:winter-falcon-42"`,
		`api_key = "kqzvxw-trpwqx-mnbvgh-12"`,
		`api_key = "access-token-kqzvxw-12"`,
		`token = "prod-token-kqzvxwtr-2024"`,
		`token = "access/q7Rz2Lm9Xc4Vb8/token"`,
		`token = "access-token-qRzLmXcVbN-12"`,
		`apiKey: "acme_live_4f9a1c7be2d05386"`,
		`apiKey: "access-token-3f9-a7c-1b2-e4d"`,
		`access_key = "orders-token-84729104738"`,
		`authToken: "hubkyz-9myzwa-xykbog"`,
		`token_cache = "secret/data/q7Rz2Lm9Xc4Vb8"`,
		`passwordHint = "q7Rz2Lm9Xc4Vb8Nt1Wk6"`,
		`<Box token="8f14e45f-ceea-467a-9a36-dedd4bea2543" />`,
		`const tokens: Map = { password: "winter-falcon-horse-2024" }`,
		`password_backend = "Winter-Falcon-2024"`,
		`"TokenKey": "super-secret-unguessable-key-2024"`,
		`Jwt__Key: "acme-prod-falcon-horse-2024"`,
		`AUTH_KEY = "winter-falcon-horse-2024"`,
		`tunnel1_preshared_key = "Winter.Falcon.Tunnel.2024"`,
		`wpa_psk_key = "winter-falcon-horse-2024"`,
		`def keyPasswordAndroid = "Winter-Falcon-Horse-2024"`,
		`PASSWORD_VALID = "winter-falcon-horse-2024"`,
		`existingSecret = "q7rz2lm9-xc4vb8nt1wk6"`,
		`eos_token="<|q7Rz2Lm9Xc4Vb8Nt|>"`,
	} {
		if len(AssignedValues(line)) != 1 {
			t.Errorf("nothing is found in %s", line)
		}
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
}

// The type that stands between the name of a password and its value is no name, and neither is who logs in at an address.
func TestPasswordsOfWordsAreMasked(t *testing.T) {
	for _, line := range []string{`SESSION_KEY = "winter-falcon-horse-2024"`, `val password: String = "winter-falcon-horse-2024"`, `const clientSecret: string = "winter-falcon-horse-2024"`,
		`u = "https://token:winter-falcon-horse@db.acme.io/x"`} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
}

// Of values drawn at random, in pieces as issuers write them too, hardly one is taken for words.
func TestDrawnValuesAreNoWords(t *testing.T) {
	draw := func(random *rand.Rand, alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	const small, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	for name, c := range map[string]struct {
		alphabet string
		pieces   []int
	}{
		"letters in sixes":       {small, []int{6, 6, 6, 6}},
		"small letters, numbers": {small + digits, []int{8, 8, 8}},
		"letters and numbers":    {small + strings.ToUpper(small) + digits, []int{8, 8, 8}},
		"fours":                  {small + digits, []int{4, 4, 4, 4, 4}},
		"base64":                 {small + strings.ToUpper(small) + digits + "-_", []int{32}},
		"base32":                 {strings.ToUpper(small) + "234567", []int{8, 8, 8}},
		"hex":                    {digits + "abcdef", []int{8, 4, 4, 4, 12}},
		"letters of both cases":  {small + strings.ToUpper(small), []int{8, 8, 8}},
	} {
		words, random := 0, rand.New(rand.NewPCG(5, 67))
		for range 20_000 {
			var list []string
			for _, n := range c.pieces {
				list = append(list, draw(random, c.alphabet, n))
			}
			if plainWords(strings.Join(list, "-")) {
				words++
			}
		}
		if words > 20 {
			t.Errorf("%s: %d of 20000 are taken for words", name, words)
		}
	}
}

// A text for people behind the name of a password is shown, also with a number in it, and in languages that are written without blanks (threats.md T615).
func TestTextsForPeopleAreShown(t *testing.T) {
	for _, line := range []string{
		`{ "password": "Password (min. 8 characters)" }`, `{ "password": "Password must be at least 8 characters" }`, `{ "password": "Contraseña (mín. 8 caracteres)" }`, `{ "password": "Пароль (мин. 8 символов)" }`,
		`      password: "Password (6 characters minimum)"`, `    'password' => 'Password: at least 8 characters.',`, `const labels = { email: "Email", password: "Password (min. 8 characters)" };`,
		`{ "password": "请输入6到20位的Password密码" }`, `{ "password": "パスワード(8文字以上20文字以下)" }`, `{ "token": "รหัสผ่านอย่างน้อย8ตัวอักษรAPI" }`, `"secret_hint": "비밀번호는8자이상Password"`,
	} {
		if found := AssignedValues(line); found != nil {
			t.Errorf("%q is found in %s", line[found[0].Start:found[0].End], line)
		}
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) {
			t.Errorf("%s is masked: %s", line, diff)
		}
	}
	for _, line := range []string{`password = "密码q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `{ "password": "请输入:q7Rz2Lm9Xc4Vb8Nt1Wk6" }`, `password = "q7Rz2Lm9Xc4V as sent 2 days ago"`, `password = "Pässw0rd-Schlüssel-42x9"`} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
}

// A constant whose value is spelled out in its name is shown, if that is words (threats.md T567).
func TestNamesOfThemselvesAreShown(t *testing.T) {
	for _, line := range []string{`const KeyCredentialTypeX509CertAndPassword = "X509CertAndPassword"`, `PASSWORD_RESET_STEP_2 = "password-reset-step-2"`, `SecretRotationV2Enabled: "secret_rotation_v2_enabled"`} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) || AssignedValues(line) != nil {
			t.Errorf("%s is masked, or found", line)
		}
	}
	for _, line := range []string{`const PasswordQ7Rz2Lm9Xc4Vb8Nt1 = "Q7Rz2Lm9Xc4Vb8Nt1"`, `PASSWORD_RESET = "password-reset-winter-42"`} {
		if len(AssignedValues(line)) != 1 {
			t.Errorf("nothing is found in %s", line)
		}
	}
}
