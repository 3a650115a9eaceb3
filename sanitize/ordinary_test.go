package sanitize

import (
	"strings"
	"testing"
)

// An ordinary word stays in a diff, so that it can be read: it may be code. What a rule knows as a secret goes.
func TestMaskChange(t *testing.T) {
	const stays = ""
	for _, c := range []struct{ says, line, want string }{
		{"a command in a shell", "PASSWORD=`reset_prod_db`", stays},
		{"another one", `PASSWORD= "reset_prod_db"`, stays},
		{"a third", `db_pwd = 'reset_prod_db'`, stays},
		{"in a workflow", `      - run: TOKEN_PASSWORD= 'deploy_prod1'`, stays},
		{"a macro of C between two texts", "\tputs(\"password=\"EVIL_MACRO_9\"\\n\");", stays},
		{"a version", `  "generate-password": "1.27.0-b4d",`, stays},
		{"a setting", "password_policy: enforce2fa-always", stays},
		{"a comparison", "assert password == expected_hash_9", stays},
		{"a short password", `password = "Tr0ub4dor&3!"`, stays},
		{"a password for development", "DB=postgres://app:s3cretpw9@localhost/x", stays},
		{"the first line of a key alone", "-----BEGIN PRIVATE KEY-----", stays},
		{"code that reads keys", `	return strings.HasPrefix(s, "-----BEGIN RSA PRIVATE KEY-----\n")`, stays},
		{"code that writes them", `pem = "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString(der) + "\n-----END PRIVATE KEY-----\n"`, stays},
		{"an example of settings", `APP_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----\n"`, stays},
		{"a publishable key", `const stripe = loadStripe('pk_test_TYooMQauvdEDq54NiTphI7jx');`, stays},
		{"one behind the name of a secret", `STRIPE_API_KEY="pk_live_51HqzRk2eZvKYlo2C9pLmNxTr"`, stays},
		{"an image by its commit", "image: ghcr.io/acme/token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", stays},
		{"one in quotes", `"image": "acme/token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c",`, stays},
		{"one behind a name", `tokenServiceImage = "ghcr.io/acme/token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, stays},
		{"one in a command", "kubectl set image deploy/token-service token-service=ghcr.io/acme/token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", stays},
		{"a commit", "uses: acme/auth-token-action@3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", stays},
		{"a digest that says it is one", "token_image_digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", stays},
		{"one in quotes", `"tokenDigest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`, stays},
		{"the commit of a service", "token-service-commit: 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", stays},
		{"one in quotes", `"auth-token-service-ref": "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c",`, stays},
		{"a revision of a model", `tokenizer_revision = "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, stays},
		{"one in code", `const tokenizerRev = "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, stays},
		{"a list at a commit", `token_list_commit = "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, stays},
		{"one in a variable", "TOKEN_SERVICE_SHA=3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", stays},
		{"a fingerprint", "ENV GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D", stays},
		{"one in quotes", `export GPG_KEYS='A035C8C19219BA821ECEA86B64E628F8D684696D'`, stays},
		{"one of a signing key", `pgp_signing_key_id: "A035C8C19219BA821ECEA86B64E628F8D684696D"`, stays},
		{"a key of a site", `<div class="g-recaptcha" data-sitekey="6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm"></div>`, stays},
		{"one in a variable", "RECAPTCHA_SITE_KEY=6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm", stays},
		{"one in code", `const recaptchaSiteKey = "6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm";`, stays},
		{"one that is defined", `define('RECAPTCHA_SITE_KEY', '6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm');`, stays},
		{"a name in the store of AWS", `"DB_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:480917345862:secret:prod/db-AbC1d2",`, stays},
		{"one of Google's", `"DB_PASSWORD_SECRET": "projects/480917345862/secrets/db-password/versions/2",`, stays},
		{"one of 1Password's", `"SMTP_PASSWORD": "op://Production/smtp-relay-2/password",`, stays},
		{"one of Vault's", `apiKey = "vault:secret/data/app2#api_key9"`, stays},
		{"a pattern of tokens", `TOKEN_FORMAT = "[a-zA-Z0-9_-]{8,64}"`, stays},
		{"a rule for passwords", `PASSWORD_POLICY = "^(?=.*[A-Z])(?=.*[0-9])(?=.*[a-z]).{12,}$"`, stays},
		{"a token of Mapbox's for pages", `mapboxgl.accessToken = "pk.eyJ1IjoiYWNtZSIsImEiOiJjbGV4YW1wbGUifQ.4URIAm1uYfJO7j8kWSe0Jg";`, stays},
		{"a module at a commit", `  source = "git::https://github.com/acme/tf-modules.git//secrets?ref=3f8a9c1e5b7d2046af3c9e1d8b6a4c2f0e9d7b5a"`, stays},
		{"another one", `  source = "git::ssh://git@github.com/acme/aws-secrets.git?ref=8d1f3c7a9e2b4f60a5d7c9e1b3f5a7d9c1e3b5f7"`, stays},
		{"a path behind a sign", `TOKEN_STORE=/var/lib/acme/q7Rz2Lm9Xc4Vb8Nt1Wk6/tokens`, stays},
		{"one of a version", `secret_mount = "/v1/kv/8f14e45fceea467a9a36dedd4bea2543"`, stays},
		{"a key that Gradle trusts", `         <trusted-key id="8756C4F765C9AC3CB6B85D62379CE192D401AB61" group="org.acme"/>`, stays},
		{"an object of Unity", "  tokenSprite: {fileID: 21300000, guid: 8a1c9e1ab2d44c7f8e9a0b1c2d3e4fbc, type: 3}", stays},
		{"one of a script", "  secretDoor: {fileID: -11400000, guid: 1f3c9e1ab2d44c7f8e9a0b1c2d3e4fcc, type: 2}", stays},
		{"a value that says it is none", `token = "test-token-for-unit-tests-17"`, stays},
		{"when a token ends", `  "token_expires_at": "2023-11-16T08:47:09.000-07:00"`, stays},
		{"when a password was changed", `  passwordChangedAt: "2023-11-16T08:47:09.123Z",`, stays},
		{"one without quotes", "  password_reset_sent_at: 2023-11-16T08:47:09.123456+00:00", stays},
		{"one with a blank", `    return {"id": 1, "password_changed_at": "2023-11-16 08:47:09.123456+00:00"}`, stays},
		{"one of Rails", `  password_reset_sent_at: "2024-05-06 07:08:09 UTC"`, stays},
		{"one with a zone by its hours", `  "password_changed_at" => '2024-05-06 07:08:09.123456 +0200',`, stays},
		{"one of Go", `PASSWORD_CHANGED_AT="2024-05-06 07:08:09.123456789 +0200 CEST"`, stays},
		{"one of PostgreSQL", `(1, password_changed_at='2024-05-06 07:08:09+02')`, stays},
		{"one by half the day", `password_changed_at: "2024-05-06 07:08 PM"`, stays},
		{"one of Java", `passwordChangedAt = "2024-05-06T07:08:09.123+02:00[Europe/Berlin]"`, stays},
		{"one with its place", `password_changed_at: "2024-05-06 07:08:09 America/New_York"`, stays},
		{"one in a text of JSON", `body = "{\"password_changed_at\": \"2024-05-06 07:08:09 UTC\"}"`, stays},
		{"a type of keys of CryptoKit", "    let privateKey: Curve25519.Signing.PrivateKey", stays},
		{"another", "    let privateKey: P256.KeyAgreement.PrivateKey", stays},
		{"a type of keys", "type PrivateKey = ed25519.PrivateKey", stays},
		{"one of Python", "  signing_key: ed25519.Ed25519PrivateKey = None", stays},
		{"one of X25519", "PRIVATE_KEY = x25519.X25519PrivateKey", stays},
		{"one of TypeScript", "privateKey: ed25519.PrivateKey;", stays},
		{"one of ML-DSA", "	PrivateKey = mldsa65.PrivateKey", stays},
		{"one of ML-KEM", "	secretKey: mlkem.DecapsulationKey768", stays},
		{"one of ML-KEM in Swift", "    let privateKey: MLKEM768.PrivateKey", stays},
		{"one of secp256k1", "    privateKey: Secp256k1.PrivateKey", stays},
		{"one of Rust", "    signing_key: ed25519_dalek::SigningKey,", stays},
		{"one alone", "    signing_key: Ed25519PrivateKey = None", stays},
		{"a curve", "PRIVATE_KEY = ec.SECP256R1", stays},
		{"the sum of a customer's key", `    "X-Amz-Server-Side-Encryption-Customer-Key-Md5": "CuLZ0mv4o9w8xZ7Qj1Kb2A==",`, stays},
		{"one in a setting", `sse_customer_key_md5 = "CuLZ0mv4o9w8xZ7Qj1Kb2A=="`, stays},
		{"one in a call", `req.Header.Set("X-Amz-Server-Side-Encryption-Customer-Key-Md5", "CuLZ0mv4o9w8xZ7Qj1Kb2A==")`, stays},
		{"an audience of Entra", `  tokenAudience: "api://8f14e45f-ceea-467a-9a36-dedd4bea2543"`, stays},
		{"parameters of a hash", `PASSWORD_HASH_PARAMS = "$argon2id$v=19$m=65536,t=3,p=4"`, stays},
		{"a count of rounds", `password_hash_scheme = "PBKDF2-HMAC-SHA256:600000"`, stays},
		{"a call in an address", `token = "javascript:alert(1)"`, stays},

		{"a customer's key", `"X-Amz-Server-Side-Encryption-Customer-Key": "CuLZ0mv4o9w8xZ7Qj1Kb2A==",`, `"X-Amz-Server-Side-Encryption-Customer-Key": "[REDACTED]",`},
		{"one longer than a sum", `sse_customer_key_md5 = "CuLZ0mv4o9w8xZ7Qj1Kb2ACuLZ0mv4o9w8xZ7Qj1Kb2A="`, `sse_customer_key_md5 = "[REDACTED]"`},
		{"one as long that is none", `sse_customer_key_md5 = "CuLZ0mv4o9w8xZ7Qj1Kb2z"`, `sse_customer_key_md5 = "[REDACTED]"`},
		{"the sum of another key", `api_key_md5 = "CuLZ0mv4o9w8xZ7Qj1Kb2A=="`, `api_key_md5 = "[REDACTED]"`},
		{"a key behind the name of its sum", `sse_customer_key_md5_key = "CuLZ0mv4o9w8xZ7Qj1Kb2A=="`, `sse_customer_key_md5_key = "[REDACTED]"`},
		{"an audience with more", `tokenAudience = "api://q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `tokenAudience = "[REDACTED]"`},
		{"a password behind rounds", `password_hash = "PBKDF2-HMAC-SHA256:600000:q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `password_hash = "[REDACTED]"`},
		{"what begins with a time", `token = "2023-11-16T08:47:09.123Zq7Rz2Lm9"`, `token = "[REDACTED]"`},
		{"what begins with a date", `password = "2024-05-06 q7Rz2Lm9Xc"`, `password = "[REDACTED] q7Rz2Lm9Xc"`},
		{"what begins with a time in words", `password = "2024-05-06 07:08:09 q7Rz2Lm9"`, `password = "[REDACTED] 07:08:09 q7Rz2Lm9"`},
		{"what goes on behind a zone", `password = "2024-05-06 07:08:09 UTCq7Rz2Lm9"`, `password = "[REDACTED] 07:08:09 UTCq7Rz2Lm9"`},
		{"what goes on behind a place", `password = "2024-05-06 07:08:09 Europe/q7Rz2Lm9"`, `password = "[REDACTED] 07:08:09 Europe/q7Rz2Lm9"`},
		{"one in no place", `token = "2024-05-06T07:08:09.123[q7Rz/Lm9Xc]"`, `token = "[REDACTED]"`},
		{"what goes on behind another quote", `password = '2024-05-06 07:08:09"q7Rz2Lm9'`, `password = '[REDACTED] 07:08:09"q7Rz2Lm9'`},
		{"a secret beside a time", `password = "2024-05-06 07:08:09" + "q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `password = "2024-05-06 07:08:09" + "[REDACTED]"`},
		{"what has no day of a year", `token = "2023-19-46T08:47:09.123456+00:00"`, `token = "[REDACTED]"`},
		{"a key behind an algorithm", "PRIVATE_KEY = ed25519.q7Rz2Lm9Xc4Vb8Nt1Wk6", "PRIVATE_KEY = [REDACTED]"},
		{"one behind that of ML-DSA", "PRIVATE_KEY = mldsa65.q7Rz2Lm9Xc4Vb8Nt1Wk6", "PRIVATE_KEY = [REDACTED]"},
		{"one behind a type", `private_key = "Ed25519PrivateKeyq7Rz2Lm9"`, `private_key = "[REDACTED]"`},
		{"one with a type in it", `signing_key = "Ed25519q7Rz2Lm9SigningKey"`, `signing_key = "[REDACTED]"`},
		{"one with a number behind a type", "signing_key = mldsa65.PrivateKey4Vb8Nt1Wk6q7Rz2", "signing_key = [REDACTED]"},
		{"one of another algorithm", "private_key = Zd25519PrivateKey", "private_key = [REDACTED]"},
		{"a key in the form of a fingerprint", `<signing-key id="8756C4F765C9AC3CB6B85D62379CE192D401AB61"/>`, `<signing-key id="[REDACTED]"/>`},
		{"a secret like an object of Unity in part", "secretDoor: {fileID: 1, guid: 1f3c9e1ab2d44c7f8e9a0b1c2d3e4fcc}", "secretDoor: {fileID: 1, guid: [REDACTED]}"},
		{"another one", "secretDoor: {fileID: 1, guid: q7Rz2Lm9Xc4Vb8Nt1Wk6, type: 2}", "secretDoor: {fileID: 1, guid: [REDACTED], type: 2}"},
		{"a secret key of Stripe", `k = "sk_test_TYooMQauvdEDq54NiTphI7jx"`, `k = "[REDACTED]"`},
		{"a secret key that begins like a publishable one", `k = "pk_test_2X3DJ8KQ2GMZ3HKM6GYN9RQ3VFK4"`, `k = "[REDACTED]"`},
		{"a secret token of Mapbox's", `mapboxgl.accessToken = "sk.eyJ1IjoiYWNtZSIsImEiOiJjbGV4YW1wbGUifQ.4URIAm1uYfJO7j8kWSe0Jg";`, `mapboxgl.accessToken = "[REDACTED]";`},
		{"a JWT behind the prefix of a public one", `k = "pk.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyMSJ9.4URIAm1uYfJO7j8kWSe0Jg"`, `k = "pk.[REDACTED]"`},
		{"a value right behind the sign", `u = "https://acme.io/secrets?v=3f8a9c1e5b7d2046af3c9e1d8b6a4c2f0e9d7b5a"`, `u = "https://acme.io/secrets?v=[REDACTED]"`},
		{"a token in an address", `u = "https://acme.io/secrets?token=3f8a9c1e5b7d2046af3c9e1d8b6a4c2f0e9d7b5a"`, `u = "https://acme.io/secrets?token=[REDACTED]"`},
		{"a token of 40 hex digits", "auth-token: 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "auth-token: [REDACTED]"},
		{"one behind who logs in by it", "curl -d mona@acme.io/token:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "curl -d mona@acme.io/token:[REDACTED]"},
		{"one behind who logs in, given to a token", "DEPLOY_AUTH_TOKEN=acme/ci-bot:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "DEPLOY_AUTH_TOKEN=[REDACTED]"},
		{"base64 that begins with a slash", `export AWS_SECRET_ACCESS_KEY=/QFpk2Un1C6XKKyBcPIljukoS87jk4hPPvXyzYUU`, `export AWS_SECRET_ACCESS_KEY=[REDACTED]`},
		{"one with more of them", `      - AUTH_SECRET=/kgn8Qs9NCxx0pXmy7txKPHhJel2/ynX8LuSih/YaL1=`, `      - AUTH_SECRET=[REDACTED]`},
		{"one in quotes", `auth_secret: "/kgn8Qs9NCxx0pXmy7txKPHhJel2/ynX8LuSih"`, `auth_secret: "[REDACTED]"`},
		{"a token under the name of its service", `    auth-token-service: "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, `    auth-token-service: "[REDACTED]"`},
		{"one in a list of them", `"tokens": {"api-gateway": "51f44b88257ae8cc2e492ca15fddffc21e69a4089b10418b42a5131d2fcd1032"}`, `"tokens": {"api-gateway": "[REDACTED]"}`},
		{"one in a list of these", `  service_tokens: { "billing-service": "1e5bb93e6d63111541f7a139d6f67edf17de7d6f" }`, `  service_tokens: { "billing-service": "[REDACTED]" }`},
		{"one in a command", `kubectl create secret generic x --from-literal=payment-gateway="51f44b88257ae8cc2e492ca15fddffc21e69a4089b10418b42a5131d2fcd1032"`, `kubectl create secret generic x --from-literal=payment-gateway="[REDACTED]"`},
		{"one of 64 hex digits", `token_ref = "51f44b88257ae8cc2e492ca15fddffc21e69a4089b10418b42a5131d2fcd1032"`, `token_ref = "[REDACTED]"`},
		{"a secret that is called one by its commit", `secret_key_ref = "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, `secret_key_ref = "[REDACTED]"`},
		{"a name that ends like one of a commit", `token_xref = "3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c"`, `token_xref = "[REDACTED]"`},
		{"a token for a service", "token_service: 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "token_service: [REDACTED]"},
		{"one behind a service that logs in", "http -a token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c acme.io", "http -a token-service:[REDACTED] acme.io"},
		{"a password of a service", "password-service: 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "password-service: [REDACTED]"},
		{"one behind a name of a service", "token-service-token: 3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c", "token-service-token: [REDACTED]"},
		{"the passphrase of a key", "GPG_KEY_PASSPHRASE=A035C8C19219BA821ECEA86B64E628F8D684696D", "GPG_KEY_PASSPHRASE=[REDACTED]"},
		{"a secret key of reCAPTCHA", "RECAPTCHA_SECRET_KEY=6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm", "RECAPTCHA_SECRET_KEY=[REDACTED]"},
		{"one beside the key of a site", `verify(siteKey, "6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm")`, `verify(siteKey, "[REDACTED]")`},
		{"a key whose name ends like that of a site", "WEBSITE_KEY=6LdXo2EpAAAAAK9fQ3wZr7Tn5uYv1bHc8sJkPqRm", "WEBSITE_KEY=[REDACTED]"},
		{"what is like an image, given to a password", `api_password = 'ghcr.io/acme/ci-bot:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c'`, `api_password = '[REDACTED]'`},
		{"one in an address", "url: https://token-service:3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c@acme.io/x", "url: https://token-service:[REDACTED]@acme.io/x"},
		{"the digest of a password", `password = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`, `password = "[REDACTED]"`},
		{"a token", `k = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"`, `k = "[REDACTED]"`},
		{"a random value", `secret = "q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `secret = "[REDACTED]"`},
		{"a password that was generated", `passwd => "aB3$xY7!kL9#mN2@"`, `passwd => "[REDACTED]"`},
		{"one without quotes", `DB_PASSWORD=xK9mP2vL8nQ4wR7t`, `DB_PASSWORD=[REDACTED]`},
		{"a password of a server", "DB=postgres://app:s3cr3tPw9@db.acme.io/x", "DB=postgres://app:[REDACTED]@db.acme.io/x"},
		{"a word as the password of a server", "DB=postgres://app:sunshine@db.acme.io/x", "DB=postgres://app:[REDACTED]@db.acme.io/x"},
		{"a name that gitleaks takes for a key", `api_key = verifySignatureV2Strict`, `api_key = [REDACTED]`},
		{"one in a comparison", `    assert api_key == verifySignatureV2Strict`, `    assert api_key == [REDACTED]`},
		{"the beginning of a key", `k = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw"`, `k = "[REDACTED]"`},
		{"a key in pieces", `k = "-----BEGIN PRIVATE KEY-----" + "MC4CAQAw" + "BQYDK2Vw" + "BCIEIKq7" + "-----END PRIVATE KEY-----"`, `k = "[REDACTED]"`},
		{"a key in small pieces", `k = "-----BEGIN PRIVATE KEY-----" + "` + strings.Join(strings.SplitAfter(strings.Repeat("MC4CAQAw", 8), "C"), `" + "`) + `" + "-----END PRIVATE KEY-----"`, `k = "[REDACTED]"`},
		{"a secret behind the name of a store", `password = "op://Production/q7Rz2Lm9Xc4Vb8Nt1Wk6/x"`, `password = "[REDACTED]"`},
		{"one behind the name of one of AWS", `secret = "arn:aws:secretsmanager:us-east-1:480917345862:secret:q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `secret = "[REDACTED]"`},
		{"one behind a range", `password = "[a-z]{2}q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `password = "[REDACTED]"`},
		{"a secret with a bracket", `password = "abc12345(deFghij12X"`, `password = "[REDACTED]"`},
		{"one with a sign of code among its first characters", `DB_PASSWORD = "aX%q&,A2h9U-+z$0!T1S"`, `DB_PASSWORD = "[REDACTED]"`},
		{"one that begins with it", `API_SECRET = "a)*>=Q6;dD@w+/xl+Ge{"`, `API_SECRET = "[REDACTED]"`},
		{"one behind a comma", `set("token", '{x9Kq2Zr8[Lm3Qw7Tn')`, `set("token", '[REDACTED]')`},
		{"a bracket in the password of an address", `u = "postgres://app:q7R[z2Lm9|Xc4@db.acme.io/x"`, `u = "postgres://app:[REDACTED]@db.acme.io/x"`},
		{"a key of Django", `SECRET_KEY = 'django-insecure-q7w(2e)m#k$v8{b^n1&x*c0z9l_h5g!f4d3s'`, `SECRET_KEY = '[REDACTED]'`},
		{"another quote in one", `password = "abc12345'deF{ghij}12X",`, `password = "[REDACTED]",`},
		{"a quote that belongs to one", `password = "abc12345\"deF(ghij12X", 1)`, `password = "[REDACTED]", 1)`},
		{"one in a text of JSON", `{"k": "password=\"abc12345(deFghij12X\", f(x)"}`, `{"k": "password=\"[REDACTED]\", f(x)"}`},
		{"what stands behind a blank", `password = "abc12345(deFghij12X and f(x)"`, `password = "[REDACTED](deFghij12X and f(x)"`},
		{"code behind the closing quote", `password = "abc12345deFghij12X".concat(f("x"))`, `password = "[REDACTED]".concat(f("x"))`},
		{"hidden characters in a token", "run(\"ghp\u200b_abc\", x)", `run("[REDACTED]", x)`},
	} {
		diff := "@@ -1,2 +1,2 @@\n-" + c.line + "\n+" + c.line + "\n x = 1\n"
		want := diff
		if c.want != stays {
			want = strings.ReplaceAll(diff, c.line, c.want)
		}
		text := c.line
		maskChange(t, []*string{&text}, &diff, nil)
		if diff != want {
			t.Errorf("%s: got\n%s want\n%s", c.says, diff, want)
		}
		if text != Mask(c.line) {
			t.Errorf("%s: the text is %q", c.says, text)
		}
		again := diff
		maskChange(t, nil, &again, nil)
		if again != diff {
			t.Errorf("%s: masking twice gives\n%s", c.says, again)
		}
	}
}

// No value of the redaction samples that Mask takes out stays.
func TestMaskChangeSamples(t *testing.T) {
	all, found := 0, 0
	for _, row := range samples(t) {
		if row.Label != "tp" {
			continue
		}
		diff := "+" + strings.ReplaceAll(row.Text, "\n", "\n+")
		if containsAny(maskedDiff(diff), row.Secrets) { // nobody finds it
			continue
		}
		all++
		maskChange(t, nil, &diff, nil)
		if !containsAny(diff, row.Secrets) {
			found++
			continue
		}
		t.Logf("%s: %q", row.Rule, diff)
	}
	t.Logf("%d of %d found", found, all)
	if all < 150 || found < all {
		t.Errorf("%d of %d secrets are masked", found, all)
	}
}

// What AWS prints as an example in its documentation, and jwt.io on its page, is shown in a change, as no rule calls it a secret; what learns of it does not hide it either.
func TestMaskChangeKeepsPublishedExamples(t *testing.T) {
	lines := []string{"aws = {\"AKIAIOSFODNN7EXAMPLE\", secret: \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\"}\n"}
	for _, token := range shownTokens {
		lines = append(lines, "    Authorization: Bearer "+token+"\n", "token = \""+token+"\"\n")
	}
	for _, line := range lines {
		text, diff := line, "@@ -0,0 +1 @@\n+"+line
		want := diff
		maskChange(t, []*string{&text}, &diff, nil)
		if text != line || diff != want {
			t.Errorf("%s%s", text, diff)
		}
		line = strings.Replace(line, "SflKxw", "SflKxx", 1)
		text = line
		if maskChange(t, []*string{&text}, &diff, nil); strings.Contains(line, "SflKxx") && text == line {
			t.Errorf("%s stays", text)
		}
	}
}

// What stands before the bracket in a secret is taken out elsewhere too.
func TestMaskChangeLearnsWhatABracketEnds(t *testing.T) {
	text, diff := `secret = "q7Rz2Lm9Xc4Vb8Nt1Wk6(x9Kq2"`, "@@ -0,0 +1 @@\n+# was q7Rz2Lm9Xc4Vb8Nt1Wk6\n"
	maskChange(t, []*string{&text}, &diff, nil)
	if text != `secret = "[REDACTED]"` || diff != "@@ -0,0 +1 @@\n+# was [REDACTED]\n" {
		t.Errorf("%s\n%s", text, diff)
	}
}

// The header and the footer of a key say nothing of it: without key material beside them they stay in a change, with the code that stands between them.
func TestMaskChangeShowsMentionsOfKeys(t *testing.T) {
	const head, foot = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
	for name, text := range map[string]string{
		"constants":     "const (\n\tpemHead = \"" + head + "\"\n\tpemTail = \"" + foot + "\"\n)\nx := sha256sum1(y)\n",
		"concatenation": "pem := \"" + head + "\\n\" +\n\tbody +\n\t\"\\n" + foot + "\"\nif !allowed2ndFactor(user) { return }\n",
		"a placeholder": head + "\n...\n" + foot + "\n",
		"a document":    "Paste the key, with the line `" + head + "`,\ninto the form.\n",
		"a pattern":     "re.compile(r'(?s)" + head + "(.+?)" + foot + "')\n",
		"PuTTY's":       "if line.startswith(\"PuTTY-User-Key-File-2: \"):\n\treturn load(line)\n",
	} {
		change := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
		keys := KeyLines{}
		keys.Learn(text)
		got := change
		maskChange(t, nil, &got, map[*string]KeyLines{&got: keys})
		if got != change {
			t.Errorf("%s: %s", name, got)
		}
	}
	lines := strings.Split(madeUpKey(3, 64), "\n")
	for name, text := range map[string]string{
		"cut off":                      strings.Join(lines[:2], "\n"),
		"cut off in its line":          lines[0] + "\n" + lines[1][:30],
		"behind a mention":             "// " + head + "\n" + strings.Join(lines, "\n"),
		"joined by code":               "k = \"" + strings.Join(lines[:4], "\\n\" +\n  \"") + "\"",
		"hidden characters in it":      strings.NewReplacer("+", "\u200b", "/", "\u200b", lines[1][9:10], lines[1][9:10]+"\u200b").Replace(strings.Join(lines, "\n")),
		"in a line with what names it": `{"key": "` + strings.Join(lines[:4], `\n`) + `"}`,
	} {
		got := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n"
		maskChange(t, nil, &got, nil)
		if plain := strings.ReplaceAll(got, "\u200b", ""); strings.Contains(plain, strings.NewReplacer("+", "", "/", "").Replace(lines[1][:14])) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
