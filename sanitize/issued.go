package sanitize

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/needles"
)

// hexUUID is a UUID in small letters.
const hexUUID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// issuedPatterns are tokens of issuers that gave them a beginning and a length, so that the form alone is the token.
var issuedPatterns = sync.OnceValue(func() []pattern {
	list := []pattern{
		one("nvapi-", `nvapi-[0-9A-Za-z_-]{64}`),
		one("dp.", `dp\.(?:ct|pt|st(?:\.[0-9a-z_-]{2,35})?|sa|scim|audit)\.[0-9A-Za-z]{40,44}`), // Doppler
		one("apify_api_", `apify_api_[0-9A-Za-z]{36}`),
		alone(`sk_[0-9a-f]{48}`, "sk_"),                                                                              // ElevenLabs
		{words: []string{"sk_test_", "sk_"}, re: lazyregexp.New(`sk_(?:test_)?(?:10|[1235])x[123]_[0-9a-fA-F]{64}`)}, // Recharge
		one("pat-", `pat-(?:eu|na)[0-9]-`+hexUUID),                                                                   // HubSpot
		{words: []string{"cfut_", "cfat_", "cfk_"}, re: lazyregexp.New(`cf(?:[ua]t|k)_[0-9A-Za-z]{40}[0-9a-f]{8}`)},  // Cloudflare
		one("CFPAT-", `CFPAT-[0-9A-Za-z_-]{43}`),                                                                     // Contentful
		alone(`key-[0-9a-z]{32}`, "key-"),                                                                            // Mailgun
		alone(`[0-9a-f]{32}-us[0-9]{1,2}`, "-us"),                                                                    // Mailchimp
		alone(`(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "sdk-", "api-"),           // LaunchDarkly
		one("rh-api-", `rh-api-`+hexUUID),                                                                            // Robinhood
		alone(`aio_[0-9A-Za-z]{28}`, "aio_"),                                                                         // Adafruit
		alone(`dd[pw]_[0-9A-Za-z]{36}`, "ddp_", "ddw_"),                                                              // Deno
		{words: []string{"FLWSECK_TEST", "FLWSECK"}, re: lazyregexp.New(`FLWSECK(?:_TEST)?-[0-9a-z]{32}-X`)},
		one("00D", `00D[0-9A-Za-z]{12}![0-9A-Za-z_.]{96}`), // Salesforce
		one("5AEP861", `5AEP861[0-9A-Za-z._=]{80,}`),
		one("BBDC-", `BBDC-[0-9A-Za-z+/@_-]{40,50}`), // Bitbucket
		{words: []string{"bb_pr_", "bb_ma_"}, re: lazyregexp.New(`bb_(?:pr|ma)_[0-9a-f]{30}`)},
		alone(`api_[0-9A-Za-z]{22}\.[0-9A-Za-z]{22}`, "api_"), // Close
		{words: []string{"endr+"}, re: lazyregexp.New(`endr\+[0-9A-Za-z-]{16}`), alone: true},
		one("figp_", `figp_[0-9A-Za-z_=-]{40,54}`),
		one("flb_live_", `flb_live_[0-9A-Za-z]{20}`),
		one("shltm_", `shltm_[0-9A-Za-z_-]{40}`), // Flexport
		one("na1.", `na1\.[0-9A-Za-z+/]{100}`),   // FullStory
		{words: []string{"s-s4t2ud-", "s-s4t2af-"}, re: lazyregexp.New(`s-s4t2(?:ud|af)-[0-9a-f]{64}`)},
		alone(`pk_(?:[0-9A-Za-z]{6}_)?[0-9a-f]{34}`, "pk_"),   // Klaviyo
		alone(`pk\.[0-9a-f]{32}`, "pk."),                      // LocationIQ
		alone(`(?:live|test)_[0-9a-f]{35}`, "live_", "test_"), // Lob
		{words: []string{"NRII-", "NRIQ-"}, re: lazyregexp.New(`NRI[IQ]-[0-9A-Za-z_-]{25,32}`)},
		one("FFFFNRAL", `[0-9a-z]{32}FFFFNRAL`),
		alone(`NF-[0-9A-Za-z]{32}`, "NF-"), // Nightfall
		one("ak_live_", `ak_live_[0-9A-Za-z]{30}`),
		one("sec-c-", `sec-c-[0-9A-Za-z]{48}`), // PubNub
		one("ramp_sec_", `ramp_sec_[0-9A-Za-z]{48}`),
		one("rootly_", `rootly_[0-9a-f]{64}`),
		one("sqco_", `sqco_[0-9A-Za-z]{59}`), // SonarCloud
		one("slk_", `slk_[0-9a-f]{64}`),      // Sourcegraph
		one("==:", `[0-9A-Za-z+/]{22}==:[0-9A-Za-z]{32}`),
		one("sk-lf-", `sk-lf-`+hexUUID),                                             // Langfuse
		one("T3BlbkFJ", `sk-[0-9A-Za-z_-]{8,}T3BlbkFJ[0-9A-Za-z_-]{16,}`),           // OpenAI, of whatever kind
		alone(`oy2[0-9a-z]{43}`, "oy2"),                                             // NuGet
		{words: botNumbers, re: lazyregexp.New(botToken), sure: ofBot, alone: true}, // Discord
		{words: []string{"discord", "Discord", "DISCORD"}, re: lazyregexp.New(botToken), sure: hasDigit, alone: true},
		one("wandb login ", `wandb login (?:--?[a-z-]{1,20}(?:[ =]\S{1,200})? )?[0-9a-f]{40}\b`),
		one("thog-secret-", `thog-secret-[0-9a-f]{32}`),
		{words: []string{"tfp_"}, re: lazyregexp.New(`tfp_[0-9A-Za-z_-]{40,59}`), sure: hasDigit}, // Typeform
		one("prv", `[t-z]prv[0-9A-Za-z]{107}`),                                                    // a key of a wallet, BIP 32
		one("nsec1", `nsec1[0-9a-z]{58}`),                                                         // Nostr
		one("BBFF-", `BBFF-[0-9A-Za-z]{30}`),                                                      // Ubidots
		one("VF.", `VF\.(?:(?:DM|WS)\.)?[0-9a-fA-F]{24}\.[0-9A-Za-z]{16}`),
		one("1000.", `1000\.[0-9a-f]{32}\.[0-9a-f]{32}`), // Zoho
		one("+ACR", `[0-9A-Za-z+/]{42}\+ACR[0-9A-Za-z]{6}`),
		one("AQ.", `AQ\.[A-Z][0-9A-Za-z_-]{49}`),                                                                       // Gemini
		{words: []string{"re_"}, re: lazyregexp.New(`re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24}`), sure: hasDigit, alone: true}, // Resend
		{words: []string{"sl."}, re: lazyregexp.New(`sl\.[0-9A-Za-z_-]{120,}`), alone: true},                           // Dropbox
		{words: []string{"snyk_uat.", "snyk_sat."}, re: lazyregexp.New(`snyk_[us]at\.[0-9a-f]{8}\.[0-9A-Za-z_-]{60,}`)},
		one("tvly-", `tvly-(?:(?:dev|prod)-)?[0-9A-Za-z]{32}`), // Tavily
		alone(`fc-[0-9a-f]{32}`, "fc-"),                        // Firecrawl
		one("ACDb", `[0-9A-Za-z+/]{76}ACDb[0-9A-Za-z+/]{4}==`), // Cosmos DB
		one("AZDO", `[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}`),       // Azure DevOps
		one("JQQJ99", `[0-9A-Za-z]{52}JQQJ99[0-9A-Za-z]{26}`),  // Azure AI
		one("hvr.", `hvr\.[0-9A-Za-z_-]{80,}`),                 // Vault
		alone(`cio[0-9A-Za-z]{32}`, "cio"),                     // crates.io
		one("HRKU-", `HRKU-`+hexUUID),                          // Heroku
		one("wandb_v1_", `wandb_v1_[0-9A-Za-z_]{60,}`),
		one("lin_oauth_", `lin_oauth_[0-9a-f]{64}`),     // Linear
		alone(`napi_[0-9a-z]{64}`, "napi_"),             // Neon
		one("GOOG1E", `GOOG1E[0-9A-Z]{55}`),             // Google Cloud Storage
		one("hf_oauth_", `hf_oauth_[0-9A-Za-z_-]{40,}`), // Hugging Face
		{words: []string{"access-production-", "access-development-", "access-sandbox-"}, re: lazyregexp.New(`access-(?:production|development|sandbox)-` + hexUUID)}, // Plaid
		{words: []string{"sqp_", "squ_", "sqa_"}, re: lazyregexp.New(`sq[pua]_[0-9a-f]{40}`), alone: true},                                                            // SonarQube
		alone(`AVNS_[0-9A-Za-z_-]{19,23}`, "AVNS_"),                                            // Aiven
		one(".Ag", `[01]\.A[0-9A-Za-z_-]{50,}\.(?:[0-9]\.)?Ag[0-9A-Za-z_-]{100,}`),             // Entra
		one("/IncomingWebhook/", hexUUID+`@`+hexUUID+`/IncomingWebhook/[0-9a-f]{32}/`+hexUUID), // Teams
		one("tines.com/webhook/", `tines\.com/webhook/[0-9a-z]{32}/[0-9a-z]{32}`),
		{words: []string{"hooks.zapier.com/hooks/catch/"}, re: lazyregexp.New(`hooks\.zapier\.com/hooks/catch/[0-9]{5,}/[0-9A-Za-z]{6,}`), sure: func(v string) bool {
			name := v[strings.LastIndexByte(v, '/')+1:]
			return hasDigit(name) || lowerASCII(name) != name || oddPairs(name) > 1 // no word
		}},
	}
	for i, p := range list {
		list[i].sure = func(v string) bool { return !standIn(v, p.words) && (p.sure == nil || p.sure(v)) }
	}
	return list
})

// botToken is a token of a bot of Discord: its number in base64, when the token was made, and a signature. botNumbers are how digits begin in base64.
const botToken = `[MNO][0-9A-Za-z]{22,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,38}`

var botNumbers = []string{"MT", "MD", "Mj", "Mz", "NT", "ND", "Nj", "Nz", "OD", "OT"}

// ofBot reports whether a token of that form begins with a number.
func ofBot(v string) bool {
	number, _, _ := strings.Cut(v, ".")
	digits, err := base64.RawStdEncoding.DecodeString(number)
	return err == nil && strings.Trim(string(digits), "0123456789") == ""
}

// standIn reports whether a value says that it is no real one, or counts. What every token of its issuer begins with says nothing.
func standIn(v string, prefixes []string) bool {
	if Published(v) {
		return true
	}
	for _, p := range prefixes {
		v = strings.Replace(v, p, "", 1)
	}
	return MadeUp(v) || counts(v)
}

// counts reports whether three of four letters and digits of a value are those before them, or the next ones: 00000000-1111, 987654, a1b2c3.
func counts(v string) bool {
	var drawn []byte
	for i := range len(v) {
		if v[i] != '_' && wordByte(v[i]) && v[i] != '-' {
			drawn = append(drawn, v[i])
		}
	}
	next := func(a, b byte) bool { return a == b || a+1 == b || a == b+1 || a == '9' && b == '0' }
	n := 0
	for i := 1; i < len(drawn); i++ {
		if next(drawn[i-1], drawn[i]) || i > 1 && next(drawn[i-2], drawn[i]) {
			n++
		}
	}
	return len(drawn) > 1 && n*4 >= (len(drawn)-1)*3
}

// alone is a pattern whose beginning also stands in names, so that only a word of its own with a digit counts.
func alone(re string, words ...string) pattern {
	return pattern{words: words, re: lazyregexp.New(re), sure: hasDigit, alone: true}
}

// issuedWords are the words of issuedPatterns, in their order.
var issuedWords = sync.OnceValue(func() *needles.Set { return wordsOf(issuedPatterns()) })

// IssuedTokens are the tokens in a line that have the form of their issuers, of those that no other rule of the static reviewer knows.
func IssuedTokens(line string) (out []Span) {
	present, at := issuedWords().In(line), 0
	for _, p := range issuedPatterns() {
		if present.Any(at, len(p.words)) {
			for _, m := range p.in(line) {
				out = append(out, Span{Start: m[0], End: m[1]})
			}
		}
		at += len(p.words)
	}
	return joinSpans(out)
}

// in are the places in a line that are a token of the pattern.
func (p pattern) in(line string) (out [][]int) {
	for _, m := range p.re.FindAllStringIndex(line, -1) {
		if p.sureOf(line[m[0]:m[1]]) && (!p.alone || aloneIn(line, m[0], m[1])) && (p.here == nil || p.here(line, m[0], m[1])) {
			out = append(out, m)
		}
	}
	return out
}

// aloneIn reports whether the text from start to end of a line is a word of its own, and no part of a path or of a name of a host.
func aloneIn(line string, start, end int) bool {
	if start > 0 && (wordByte(line[start-1]) || strings.IndexByte("./@", line[start-1]) >= 0) {
		return false
	}
	return end == len(line) || !wordByte(line[end]) && line[end] != '/' && (line[end] != '.' || end+1 == len(line) || !wordByte(line[end+1]))
}
