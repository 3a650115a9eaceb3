package sanitize

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// issuedForms are the tokens of issuedPatterns, with the lengths of their parts: x is hex, u a UUID, l small letters and digits, a letters and digits, w those of addresses, b base64, c capitals and digits.
var issuedForms = append(strings.Fields(`nvapi-{64w} dp.pt.{43a} dp.st.prd.{40a} apify_api_{36a} sk_{48x} sk_10x1_{64x} sk_test_1x2_{64x} pat-na1-{1u} pat-eu1-{1u} cfut_{40a}{8x} cfat_{40a}{8x} cfk_{40a}{8x} CFPAT-{43w} key-{32l}
	{32x}-us14 sdk-{8x}-{4x}-4{3x}-{4x}-{12x} api-{8x}-{4x}-4{3x}-{4x}-{12x} rh-api-{1u} aio_{28a} ddp_{36a} ddw_{36a} FLWSECK-{32l}-X FLWSECK_TEST-{32l}-X 00D{12a}!{96a} 5AEP861{87a} BBDC-{44b}
	bb_pr_{30x} bb_ma_{30x} api_{22a}.{22a} endr+{16a} figp_{44w} flb_live_{20a} shltm_{40a} na1.{100b} s-s4t2ud-{64x} s-s4t2af-{64x} pk_{34x} pk_{6a}_{34x} pk.{32x} live_{35x} test_{35x} NRII-{32w} NRIQ-{25w}
	eu01xx{26x}FFFFNRAL {32x}FFFFNRAL NF-{32a} ak_live_{30a} sec-c-{48a} ramp_sec_{48a} rootly_{64x} sqco_{59a} slk_{64x} {22b}==:{32a} thog-secret-{32x} tfp_{44w} BBFF-{30a} VF.{24x}.{16a} VF.DM.{24x}.{16a} 1000.{32x}.{32x}
	{42b}+ACR{6a} 0.A{52w}.Ag{250w} 1.A{52w}.1.Ag{250w} acme.tines.com/webhook/{32l}/{32l} hooks.zapier.com/hooks/catch/{7d}/{7a} acme.webhook.office.com/webhookb2/{1u}@{1u}/IncomingWebhook/{32x}/{1u}
	sk-lf-{1u} sk-service-{21a}T3BlbkFJ{20a} sk-None-{20a}T3BlbkFJ{20a} oy2{43l} MTk4NjIyNDgzNDcxOTI1MjQ4.{6w}.{27w}
	AQ.A{49w} re_{8a}_{24a} sl.{130w} snyk_uat.{8x}.{80w} snyk_sat.{8x}.{80w} tvly-{32a} tvly-dev-{32a} fc-{32x} {76b}ACDb{4b}== {76a}AZDO{4a} {52a}JQQJ99{26a} hvr.{90w} cio{32a} HRKU-{1u} wandb_v1_{77a} lin_oauth_{64x}
	napi_{64l} hf_oauth_{50a} access-production-{1u} sqp_{40x} squ_{40x} sqa_{40x} AVNS_{19a}`), "discord N{23a}.{6w}.{27w}", "wandb login {40x}", "wandb login --relogin {40x}", "xprv{107a}", "GOOG1E"+"{55c}", "nsec1{58l}")

// drawForm is a token of a form, drawn at random.
func drawForm(r *rand.Rand, form string) string {
	const digits, hex, small = "0123456789", "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"
	kinds := map[string]string{"c": digits + strings.ToUpper(small), "d": digits, "x": hex, "l": small + digits, "a": small + strings.ToUpper(small) + digits, "w": small + strings.ToUpper(small) + digits + "-_", "b": small + strings.ToUpper(small) + digits + "+/"}
	return regexp.MustCompile(`{([0-9]+)([a-z])}`).ReplaceAllStringFunc(strings.ReplaceAll(form, "{1u}", "{8x}-{4x}-{4x}-{4x}-{12x}"), func(part string) string {
		n, _ := strconv.Atoi(part[1 : len(part)-2])
		kind := kinds[part[len(part)-2:len(part)-1]]
		var b strings.Builder
		for range n {
			b.WriteByte(kind[r.IntN(len(kind))])
		}
		return b.String()
	})
}

// A token in the form of its issuer is masked and found without the name of a secret beside it (threats.md T632).
func TestIssuedTokens(t *testing.T) {
	r, met := rand.New(rand.NewPCG(6, 32)), map[int]bool{}
	for _, form := range issuedForms {
		for range 20 {
			token := drawForm(r, form)
			line := `x = f("` + token + `", 1)`
			diff := "@@ -0,0 +1 @@\n+" + line + "\n"
			if maskChange(t, nil, &diff, nil); strings.Contains(diff, token) || Redact(line) == line || len(IssuedTokens(line)) == 0 {
				t.Errorf("%s is shown, or not found", line)
			}
			for i, p := range issuedPatterns() {
				met[i] = met[i] || p.in(line) != nil
			}
		}
	}
	if len(met) != len(issuedPatterns()) || slices.Contains(slices.Collect(maps.Values(met)), false) {
		t.Errorf("not every pattern is met: %v", met)
	}
}

// Ordinary names are no tokens, whatever they begin with.
func TestIssuedTokensAreNoNames(t *testing.T) {
	for _, line := range []string{
		"path: cache-key-d41d8cd98f00b204e9800998ecf8427e", "https://acme.io/api-0b1f5d1c-9b1e-4a5e-8c2e-9a5f4d3c2b1a/x", "cp sdk-0b1f5d1c-9b1e-4a5e-8c2e-9a5f4d3c2b1a.zip /tmp",
		"key-abcdefghijklmnopqrstuvwxyzabcdef", `f("apify_api_client_for_the_tests_of_pages_01")`, "sk_buff_head_init(&sk->sk_write_queue64)", "us-east-1, en-us2", "test_3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c",
		"dp.st.prd.config", "wandb login $WANDB_API_KEY", "oy2_client_options_of_the_next_generation_of_them", "discord Messages.Create.WithEmbedsAndComponentsOfTheBot", "NodeNumberOfTheRequestHere.Format.ValueOfTheOtherRequestHere1", "re_settings_for_the_next_release_01", "ACDbadge", "fc-cache", "core_12345678_abcdefghijklmnopqrstuvwx", "sociocultural", "pk.eyJ1IjoiYWNtZSIsImEiOiJjbGV4YW1wbGUifQ.4URIAm1uYfJO7j8kWSe0Jg", "pk_live_51HqzRk2eZvKYlo2C9pLmNxTr", "v1000.12.3", "my_test_5f4dcc3b5aa765d61d8327deb882cf99abc",
	} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) || IssuedTokens(line) != nil {
			t.Errorf("%s is masked or found: %s", line, diff)
		}
	}
}

// What stands in the place of a token in its form is shown (threats.md T632).
func TestStandInsForIssuedTokens(t *testing.T) {
	for _, token := range []string{
		"hooks.zapier.com/hooks/catch/123456/abcdef/", "hooks.zapier.com/hooks/catch/12345/webhook", "hooks.zapier.com/hooks/catch/123456/a1b2c3/", "key-3ax6xnjp29jd6fds4gc373sgvjxteol0", "key-1234567890abcdef1234567890abcdef",
		"pat-na1-00000000-0000-0000-0000-000000000000", "pat-eu1-11111111-2222-3333-4444-555555555555", "sdk-12345678-1234-4123-8123-123456789012", "0123456789abcdef0123456789abcdef-us1", "fedcba9876543210fedcba9876543210-us6",
		"sk_10x1_" + strings.Repeat("0123456789abcdef", 4), "live_" + strings.Repeat("01234", 7),
	} {
		line := `x = f("` + token + `", 1)`
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) || IssuedTokens(line) != nil {
			t.Errorf("%s is masked or found: %s", line, diff)
		}
	}
}

// A token that was drawn hardly ever looks like one that stands in its place.
func TestDrawnTokensStandForThemselves(t *testing.T) {
	r, lost := rand.New(rand.NewPCG(6, 48)), 0
	for _, form := range issuedForms {
		for range 100 {
			if len(IssuedTokens(`x = f("`+drawForm(r, form)+`", 1)`)) == 0 {
				lost++
			}
		}
	}
	if lost > len(issuedForms)/2 {
		t.Errorf("%d of %d are lost", lost, 100*len(issuedForms))
	}
}
