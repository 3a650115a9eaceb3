package sanitize

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// One sample of each gitleaks rule: at least 97 in 100 are found by our patterns and the second pass together, and of none a part is left that was drawn
// (threats.md T665).
func TestRedactionSamples(t *testing.T) {
	file, err := os.Open("testdata/redaction/samples.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	var all, found int
	var missed []string
	for lines.Scan() {
		var row struct {
			Rule, Label, Text string
			Secrets           []string
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got := Redact(row.Text)
		if again := Redact(got); again != got {
			t.Errorf("%s: redacting twice changes %q to %q", row.Rule, got, again)
		}
		if row.Label != "tp" {
			continue
		}
		for _, word := range candidate.FindAllString(got, -1) {
			if Random(word) || Generated(word) {
				t.Errorf("%s: of %q is left %q", row.Rule, row.Text, word)
			}
		}
		all++
		if !containsAny(got, row.Secrets) {
			found++
			continue
		}
		missed = append(missed, row.Rule)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d found, missed: %v", found, all, missed)
	if all < 150 || found*100 < all*97 {
		t.Errorf("%d of %d secrets found, want 97 in 100; missed: %v", found, all, missed)
	}
}

// encoded is a PEM block of a kind in base64, as settings hold it.
func encoded(kind string) string {
	return base64.StdEncoding.EncodeToString([]byte("-----BEGIN " + kind + "-----\nMIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun\n-----END " + kind + "-----\n"))
}

// What our own patterns must find because gitleaks does not (libraries 9), and what must stay as it is.
func TestRedactTable(t *testing.T) {
	for _, c := range []struct{ clause, in, want string }{
		{"a generic password", `password = "hunter2-and-more"`, `password = "[REDACTED]"`},
		{"a password in a URL", "postgres://app:s3cretpw@db/x", "postgres://app:[REDACTED]@db/x"},
		{"a key header without its footer", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nb25l\nnext line", "[REDACTED]\nnext line"},
		{"the front of a Slack token goes with it", "t := xoxe.xoxb-" + strings.Repeat("1a", 20), "t := [REDACTED]"},
		{"gitleaks:allow is not obeyed", "t := \"glc_eyJvIjoiNzQ0NTg3IiwibiI6InN0YWNrLTEyMzQ1Njct\" // gitleaks:allow", "t := \"[REDACTED]\" // gitleaks:allow"},
		{"a fine-grained token", "github_pat_11ABCDEFG0123456789_abc", "[REDACTED]"},
		{"an OAuth token", "gho_16C7e42F292c6912E7710c838347Ae178B4a", "[REDACTED]"},
		{"a model key", "sk-proj-abc123def456ghi789", "[REDACTED]"},
		{"a bearer token", "Authorization: Bearer abcdef123456", "Authorization: Bearer [REDACTED]"},
		{"an assignment with entropy (layer 3)", "client_secret: 8f14e45fceea167a5a36dedd4bea2543", "client_secret: [REDACTED]"},
		{"a JSON key keeps its JSON", `{"api_key":"8f14e45fceea167a5a36dedd4bea2543","n":1}`, `{"api_key":"[REDACTED]","n":1}`},
		{"a private key inside a JSON string", `{"k":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n","n":1}`, `{"k":"[REDACTED]\n","n":1}`},
		{"a private key in base64", "client-key-data: " + encoded("RSA PRIVATE KEY"), "client-key-data: [REDACTED]"},
		{"another one", "tls.key: " + encoded("PRIVATE KEY"), "tls.key: [REDACTED]"},
		{"one of OpenSSH", "k: " + encoded("OPENSSH PRIVATE KEY"), "k: [REDACTED]"},
		{"a certificate in base64", "client-certificate-data: " + encoded("CERTIFICATE"), "client-certificate-data: " + encoded("CERTIFICATE")},
		{"a public key in base64", "k: " + encoded("RSA PUBLIC KEY"), "k: " + encoded("RSA PUBLIC KEY")},
		{"a signature that opens Azure's storage", "https://x.blob.core.windows.net/c?sv=2022&sig=Zq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1Hs5Gf0YaTeUiOo%2Fab%3D&se=1", "https://x.blob.core.windows.net/c?sv=2022&[REDACTED]&se=1"},
		{"a Tailscale key", "tskey-" + "auth-kZq7Xw2CNTRL-Zq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1", "[REDACTED]"},
		{"a Bitbucket password", "ATBB" + "Zq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1Hs5Gf0Ya", "[REDACTED]"},
		{"a Supabase token", "sbp_" + "8f14e45fceea167a5a36dedd4bea25438f14e45f", "[REDACTED]"},
		{"a Figma token", "figd_" + "Zq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1Hs5Gf0YaTeUiOo", "[REDACTED]"},
		{"a Netlify token", "nfp_" + "Zq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1Hs5Gf0YaTeUi", "[REDACTED]"},
		{"a LangSmith key", "lsv2_" + "pt_8f14e45fceea167a5a36dedd4bea2543_8f14e45fce", "[REDACTED]"},
		{"a Buildkite token", "bkua_" + "8f14e45fceea167a5a36dedd4bea25438f14e45f", "[REDACTED]"},
		{"a refresh token of Google", "1//0" + "gZq7Xw2Kp9Rt4Lm8Bn3Vc6Jd1Hs5Gf0YaTeUiOoLZq7Xw2Kp", "[REDACTED]"},
		{"the credentials of Sidekiq, named by their variable alone", "BUNDLE_GEMS__CONTRIBSYS__COM=\"d9bb90a6:d8b3e4b1\"", "BUNDLE_GEMS__CONTRIBSYS__COM=\"[REDACTED]\""},
		{"a token of Vercel", "vcp_" + "35UYJwYZDigYATKhxJUAhPqRhit2Xe3dtiG60LsUTHeklEXDQ94Jafpu", "[REDACTED]"},
		{"a token of a Docker organization", "docker login -p dckr_oat_" + "7bA9zRt5-JqX3vP0l_MnY8sK2wE-dF6h", "docker login -p [REDACTED]"},
		{"a token that joins a swarm", "--token SWMTKN-1-" + "a1kzmigyw4zbt9mahti9vufq7dhikgovehir30elwyjzg42q4m-trqwwkcdhai7r9m6grxw7opn", "--token [REDACTED]"},
		{"a cluster's key", "CCDB1_" + "z4m5MjGmTx3O4sK2IxvHIh_zv4Cbt3lNujc7f9TO9cZ1qGU7tyJhxrw01I0rWnZ", "[REDACTED]"},
		{"a personal key of PostHog", "phx_" + "H2Xq_5e9ZWq03Ao5TOp0N3b2tAmG8VsN0h5_lucnX-CTkwe", "[REDACTED]"},
		{"such numbers elsewhere", "between d9bb90a6:d8b3e4b1", "between d9bb90a6:d8b3e4b1"},
		{"an address of Ethereum is public", `{ tokenAddress: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" }`, `{ tokenAddress: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" }`},
		{"in code too", "IERC20 public token = IERC20(0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48);", "IERC20 public token = IERC20(0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48);"},
		{"a private key of Ethereum is not", `private_key = "0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"`, `private_key = "[REDACTED]"`},
		{"a value that is sealed for one controller", "kind: SealedSecret\n  password: AgB" + strings.Repeat("q7Rz2Lm9Xc4Vb8Nt1Wk6+/aZ", 23), "kind: SealedSecret\n  password: AgB" + strings.Repeat("q7Rz2Lm9Xc4Vb8Nt1Wk6+/aZ", 23)},
		{"a shorter one of that form", "password: AgBq7Rz2Lm9Xc4Vb8Nt1Wk6", "password: [REDACTED]"},
		{"one that is enveloped for a key", "token: ENC[PKCS7,MIIBiQYJKoZIhvcNAQcDoII" + strings.Repeat("q7Rz2Lm9Xc4Vb8Nt1Wk6+/aZ", 9) + "]", "token: ENC[PKCS7,MIIBiQYJKoZIhvcNAQcDoII" + strings.Repeat("q7Rz2Lm9Xc4Vb8Nt1Wk6+/aZ", 9) + "]"},
		{"a private key in its encoding", "token: ENC[PKCS7,MIIBiQYJKoZIhvcNAQEBBQAE" + strings.Repeat("q7Rz2Lm9Xc4Vb8Nt1Wk6+/aZ", 9) + "]", "token: ENC[PKCS7,[REDACTED]]"},
		{"an object of Xcode", "7A1B2C3D4E5F60718293A4B5 /* TokenStore.swift */,", "7A1B2C3D4E5F60718293A4B5 /* TokenStore.swift */,"},
		{"a package of Hex", `"guardian_tokens": {:hex, :guardian_tokens, "2.0.0", "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f9", [:mix], [], "hexpm", "1f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"},`, `"guardian_tokens": {:hex, :guardian_tokens, "2.0.0", "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f9", [:mix], [], "hexpm", "1f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"},`},
		{"a migration by its id", "1a2b3c4d5e6f_add_api_key.py", "1a2b3c4d5e6f_add_api_key.py"},
		{"a token behind its name", "api_key_1a2b3c4d5e6f7a8b9c0d", "[REDACTED]"},
		{"a reference is no secret", `password = os.Getenv("DB_PASSWORD")`, `password = os.Getenv("DB_PASSWORD")`},
		{"a variable is no secret", `token: ${{ secrets.GITHUB_TOKEN }}`, `token: ${{ secrets.GITHUB_TOKEN }}`},
		{"a call is no secret", "token := newToken(ctx)", "token := newToken(ctx)"},
		{"a commit is no secret", "commit 8f14e45fceea167a5a36dedd4bea25438f14e45f", "commit 8f14e45fceea167a5a36dedd4bea25438f14e45f"},
		{"a word with sk- in it is no key", "a task-management-component-for-everything", "a task-management-component-for-everything"},
		{"ordinary log lines stay", "2026/01/02 15:04:05 run=abc round=1 took=3.2s", "2026/01/02 15:04:05 run=abc round=1 took=3.2s"},
		{"hidden characters stay where they hide nothing", "a\u200bb", "a\u200bb"},
		{"hidden characters do not hide a secret", "ghp\u200b_abc", "[REDACTED]"},
	} {
		t.Run(c.clause, func(t *testing.T) {
			if got := Redact(c.in); got != c.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

// Recorded attacks come out inactive and readable, whole bodies too.
func TestInjectionTexts(t *testing.T) {
	data, err := os.ReadFile("testdata/injection/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID, Kind string
		Texts    []string
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 10 {
		t.Fatalf("only %d scenarios", len(rows))
	}
	for _, row := range rows {
		for _, s := range row.Texts {
			lawsOfField(t, s)
			lawsOfComment(t, s)
			if f := Field(s, testPolicy); strings.HasPrefix(f, "```text\n") && !strings.HasPrefix(s, "```") {
				t.Errorf("%s: the text did not settle and became plain code:\n%s", row.ID, f)
			}
		}
	}
}
