package sanitize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What programs call by a name that is fixed elsewhere stands beside the names of secrets, and is shown (threats.md T633).
func TestFixedNamesAreShown(t *testing.T) {
	for _, line := range []string{
		`llm = ChatOpenAI(api_key, "claude-3-5-sonnet-20241022")`, `OpenAI(api_key, "gpt-4o-mini-2024-07-18")`, `tokens: "gpt-4-turbo-2024-04-09"`, `"token": "text-embedding-ada-002-v2"`,
		`tokenizer = "Qwen/Qwen2.5-72B-Instruct"`, `"tokenizerModel": "gpt-4-1106-preview"`, `tokenizer='sentence-transformers/all-MiniLM-L6-v2'`, `tokenizer="BAAI/bge-large-en-v1.5"`,
		`"tokenizer_class": "Qwen2TokenizerFast"`, `"tokenizer_class": "GPT2TokenizerFast",`, `tokenizer_class = 'Wav2Vec2CTCTokenizer'`, `tokenizer_class="M2M100Tokenizer"`, `tokenizer = "THUDM/chatglm3-6b-32k"`,
		`--tokenizer="01-ai/Yi-1.5-34B-Chat-16K"`, `tokenizer: 'laion/CLIP-ViT-bigG-14-laion2B-39B-b160k'`,
		`answer = request(token, "application/vnd.github.v3+json")`, `"secret", "application/vnd.acme.v3+json"`,
		`PASSWORD_HASH_ALGORITHM = "PBKDF2WithHmacSHA512";`, `TOKEN_CIPHER = "AES/CBC/PKCS5Padding";`, `TOKEN_SIGNING_ALG = "RSASSA-PKCS1-v1_5"`, `secret_cipher = "aes-256-cbc-hmac-sha256"`,
		`secretAlgorithm: 'xchacha20-poly1305',`, `token_alg: "RSA-OAEP-256-A128CBC-HS256"`, `passwordHashing = "argon2id-v19-m65536"`,
		`PASSWORD_HASHER = "django.contrib.auth.hashers.PBKDF2PasswordHasher"`, `PASSWORD_RESET_FORM = "accounts.forms.Oauth2PasswordResetForm"`, `password.encoder: "org.springframework.security.crypto.password.Pbkdf2PasswordEncoder"`,
		`'secret_handler' => 'App\\Security\\OAuth2SecretHandler',`, `const KeyTypeEd25519 = "Ed25519VerificationKey2018"`, `keyType: "X25519KeyAgreementKey2020"`,
		`grantTypes = ["password", "urn:ietf:params:oauth:grant-type:saml2-bearer", "refresh_token"];`, `AUTH_TOKEN_COOKIE = "__Host-acme-session-v2.1"`,
		"The implementations are `OAuth2AccessTokenGenerator`, `OAuth2RefreshTokenGenerator`, and `JwtGenerator`.",
		`ssh_authorized_keys = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl mona@acme"`, `auth_keys = ["ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7VJTUt9Us8cKjMzEfYyjiWA4R4xk9Xq2Zr8Lm3Qw7Tn mona"]`,
		`  DB_SECRET: "arn:aws:secretsmanager:eu-west-1:480917345862:secret:rds!cluster-5d1c9b1e-0b1f-4a5e-8c2e-9a5f4d3c2b1a-Xy12Za"`,
		"RUN pip install openai==1.12.0 cohere==4.47.0 slack-sdk==3.27.0 sendgrid==6.11.0 twilio==8.12.0 stripe==8.2.0 datadog==0.48.0 sentry-sdk==1.40.0 okta==2.9.5 dropbox==11.36.2 plaid-python==18.0.0 mailchimp-marketing==3.0.80",
		"export type Provider = 'github' | 'gitlab' | 'slack' | 'discord' | 'twitter' | 'facebook' | 'dropbox' | 'linkedin' | 'heroku' | 'okta' | 'oauth2-generic';",
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

// A value that was drawn is found where such a name stands, or is written like one in part (threats.md T633).
func TestDrawnValuesAreFoundBesideFixedNames(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 33))
	for _, line := range []string{
		`llm = ChatOpenAI(api_key, "%s")`, `tokenizer = "%s"`, `"tokenizerModel": "%s"`, `request(token, "%s")`, `PASSWORD_HASH_ALGORITHM = "%s"`, `TOKEN_CIPHER = "%s"`, `["password", "%s"]`, "`AccessTokenGenerator`, `%s`",
		`token = "gpt-4-%s"`, `token = "application/%s"`, `password = "urn:ietf:%s"`, `AUTH_TOKEN_COOKIE = "__Host-%s"`, `PASSWORD_HASHER = "django.contrib.auth.%s"`, `api_key = "Ed25519%s"`, `auth_token = "ssh-ed25519%s"`, `secret = "arn:aws:secretsmanager:eu-west-1:480917345862:secret:rds!%s"`,
		`api_key = "%s" // openai cohere slack sendgrid twilio stripe datadog sentry okta dropbox plaid mailchimp`,
	} {
		for _, form := range []string{"{32x}", "{40x}", "{64x}", "{40b}", "{44b}", "{32a}", "{1u}"} {
			shown := 0
			for range 100 {
				value := drawForm(r, form)
				if len(AssignedValues(`access_token = "`+value+`"`)) == 0 { // by the luck of its digits
					continue
				}
				diff := "@@ -0,0 +1 @@\n+" + fmt.Sprintf(line, value) + "\n"
				if maskChange(t, nil, &diff, nil); strings.Contains(diff, value) {
					shown++
				}
			}
			if shown > 1 {
				t.Errorf("%s of %s: %d of 100 are shown", line, form, shown)
			}
		}
	}
	for _, line := range []string{`password = "gpt-winter-falcon-2024"`, `secret = "OAuth2WinterFalconHorse"`, `resetPassword("password", "CorrectHorseStaple42")`, `tokenizer_password = "winter-falcon-2024"`,
		`password = "winter.falcon.horse.2024"`, `password = "Winter.Falcon.Horse42Staple"`, `secret = "acme.prod.Q7rz2Lm9xc4Vb8nt"`, `password = "X509WinterFalconHorse"`} {
		if len(AssignedValues(line)) != 1 {
			t.Errorf("nothing is found in %s", line)
		}
	}
}
