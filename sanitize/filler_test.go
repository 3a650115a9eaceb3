package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What stands in a secret's place stays readable, and the secret beside it does not.
func TestFillerIsNoSecret(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"a character again and again", "ghu_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ""},
		{"in parts", "glpat-xxxxxxxx-xxxxxxxxxxxxxxxxxx.xx.xxxxxxx", ""},
		{"digits", `API_KEY="glc_111111111111111111111111111111111111111111="`, ""},
		{"counting up may be in use", `api_key = "abcdefghij1234567890klmnop"`, `api_key = "[REDACTED]"`},
		{"in a header", `-H "Authorization: Bearer XXXXXXXXXXXX"`, ""},
		{"words that ask for a value", `api_key = "put-your-api-key-here-123"`, ""},
		{"an example by its name", `secret_key = "EXAMPLE-example-2024"`, ""},
		{"a random rest behind filler", "ghu_xxxxxxxxxxxxxxxx16C7e42F292c6912E771", "[REDACTED]"},
		{"a secret that is called an example", `api_key = "example-8f14e45fceea167a5a36dedd4bea2543"`, `api_key = "[REDACTED]"`},
		{"a word within a token", `api_key = "8f14e45fexampleceea167a5a36ded"`, `api_key = "[REDACTED]"`},
		{"what the specification asks for goes all the same", "ghp_xxxxxxxxxxxx AKIAXXXXXXXXXXXXXXXX xoxb-xxx", "[REDACTED] [REDACTED] [REDACTED]"},
		{"a password that counts up is one that people use", `password = "abcdef123456"`, `password = "[REDACTED]"`},

		{"the number of a secret", `kms_key_id: "555ea4a3d53a44129c663a7cb667b0d6"`, ""},
		{"one in small and capital letters", `"credentialId": "B9mTcFSck2LzJO2S3ols63",`, ""},
		{"the name of one", `LLM_SECRET_NAME = "NEXUS-GPT4-API-KEY"`, ""},
		{"the address of one", "dev.credentials.url=dev-lb1.api.f4ke.com:5215", ""},
		{"its length", "secret_length = X25519.secret_length", ""},
		{"a public key", `public_key = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"`, ""},
		{"a token against forged forms", `csrf-token=Mj2qykJO5rELyHgezQ69nzUX0i3OH67V7+V4eUrLfpuyOuxmiW9r`, ""},
		{"a key that finds an object", `"bucket_key": "SalesResults-1.2"`, ""},
		{"a private key is none of these", `private_key = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"`, `private_key = "[REDACTED]"`},
		{"nor the secret behind an id", `client_id_secret = "8f14e45fceea167a5a36dedd4bea2543"`, `client_id_secret = "[REDACTED]"`},
		{"a token is found whatever its name", `token_name = "ghu_16C7e42F292c6912E7710c838347Ae178B4a"`, `token_name = "[REDACTED]"`},

		{"the word for a password in an address", "mongodb://user:pass@localhost:27017/app", ""},
		{"in a command", "curl -u username:token https://x.test", ""},
		{"a password in a command", "curl -u app:s3cretpw https://x.test", "curl [REDACTED] https://x.test"},
		{"a name with a token's prefix in it", "hf_requiredCharacteristicTypesForDisplayMetadata", ""},
		{"Slack's legacy prefix in an address", "https://indieweb.org/2018-250-xoxo-indieweb-1.jpg", ""},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		if got := Redact(c.in); got != want {
			t.Errorf("%s: Redact(%q) = %q, want %q", c.rule, c.in, got, want)
		}
		if got := Mask(c.in); got != want {
			t.Errorf("%s: Mask(%q) = %q, want %q", c.rule, c.in, got, want)
		}
	}
}

// Tokens drawn at random are secrets, whatever their letters happen to spell.
func TestDrawnTokensAreNoFiller(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	r := rand.New(rand.NewPCG(1, 2))
	for range 3_000 {
		var b strings.Builder
		for range 36 {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		if token := "ghu_" + b.String(); strings.Contains(Redact(token), token) {
			t.Fatalf("%s stays", token)
		}
	}
	for range 300 { // tokens of letters alone
		var b strings.Builder
		for range 34 {
			b.WriteByte(letters[r.IntN(52)])
		}
		if token := "hf_" + b.String(); Redact(token) == token && b.Len() > 0 && mixedLetters(token) {
			t.Fatalf("%s stays", token)
		}
	}
}

// In a change, what begins like a token of the specification is shown where nothing of a token stands behind it (threats.md T615).
func TestBeginningsOfTokensAreShown(t *testing.T) {
	for _, line := range []string{
		"GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "GITHUB_TOKEN=ghp_your_token_here", "token: ghp_your_personal_access_token", "SLACK_BOT_TOKEN=xoxb-your-token", "Use a classic token (`ghp_…`).", "re = `ghp_[A-Za-z0-9]{36}`",
		`func is(v string) bool { return strings.HasPrefix(v, "ghp_") }`, `token := "ghp_test123"`, `prefixes = ["xoxb-", "xoxp-", "AKIA"]`, "GITHUB_TOKEN=ghp_000000000000000000000000000000000000", "aws_access_key_id = AKIAXXXXXXXXXXXXXXXX",
	} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) {
			t.Errorf("%s is masked: %s", line, diff)
		}
	}
	for _, line := range []string{"ghp_test16C7e42F292c6912E7710c", `t = "ghp_example16C7e42F292c6912E7710c838347"`, "xoxb-1234-5678-your-16C7e42F292c", "GITHUB_TOKEN=ghp_your_token:16C7e42F292c6912E771", "u = https://ghp_x:16C7e42F292c@acme.io/x"} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, "16C7e42F292c") {
			t.Errorf("%s is shown", line)
		}
	}
	random, shown := rand.New(rand.NewPCG(6, 15)), 0
	for range 20_000 {
		diff := "+" + drawForm(random, "ghp_{36a}")
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, Redacted) {
			shown++
		}
	}
	if shown > 0 {
		t.Errorf("%d tokens of 20000 are shown", shown)
	}
}
