package sanitize

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/needles"
	"github.com/prloop/prloop/sanitize/secretrules"
)

// pattern finds one kind of secret. Patterns have no boundary on their left: text around a secret never un-redacts it.
type pattern struct {
	// words is the prefilter: at least one must stand in the text, or re is not tried.
	words []string
	re    *lazyregexp.Regexp
	// sure is asked about each match when it is set.
	sure func(string) bool
	// all matches count, also those that are nothing but filler.
	all bool
	// alone matches count only as words of their own.
	alone bool
	// here is asked about the place of each match in its line when it is set.
	here func(line string, start, end int) bool
}

// sureOf reports whether a match is a secret.
func (p pattern) sureOf(match string) bool {
	return (p.all || drawn(match, p.words...) >= minDrawn) && (p.sure == nil || p.sure(match))
}

// specPatterns are those of spec.md L3, literally and before all others; "BEGIN PRIVATE KEY" is in keyblock.go.
var specPatterns = []pattern{
	{all: true, words: []string{"AKIA"}, re: lazyregexp.New(`AKIA[0-9A-Z]{4,}`)},
	{all: true, words: []string{"xoxb-"}, re: lazyregexp.New(`xoxb-[0-9A-Za-z-]*`)},
	{all: true, words: []string{"ghp_"}, re: lazyregexp.New(`ghp_[0-9A-Za-z]*`)},
}

// ownPatterns are anchored on what the issuer put into the token, those of issuedPatterns last.
// They are compiled at first use: prloop starts often and mostly reads little.
var ownPatterns = sync.OnceValue(func() []pattern {
	return append([]pattern{
		one("github_pat_", `github_pat_[0-9A-Za-z_]{10,}`),
		{words: []string{"gho_", "ghu_", "ghs_", "ghr_"}, re: lazyregexp.New(`gh[ousr]_[0-9A-Za-z]{16,}`)},
		{words: []string{"ASIA", "ABIA", "ACCA", "A3T"}, re: lazyregexp.New(`(?:ASIA|ABIA|ACCA|A3T[0-9A-Z])[0-9A-Z]{16}`)},
		one("glpat-", `glpat-[0-9A-Za-z_-]{16,}`),
		{words: []string{"xox", "xapp-", "xoxe"}, re: lazyregexp.New(`(?:xox[acdeoprs](?:\.xox[bp])?-|xapp-)[0-9A-Za-z-]{10,}`), sure: numbered},
		one("hooks.slack.com/", `hooks\.slack\.com/(?:services|workflows|triggers)/[0-9A-Za-z/_-]{20,}`),
		{words: []string{"sk-"}, re: lazyregexp.New(`sk-[0-9A-Za-z]{20,}`), sure: hasDigit},
		{words: []string{"sk-"}, re: lazyregexp.New(`sk-(?:proj|ant|svcacct|admin|live|test|api\d\d)-[0-9A-Za-z_-]{16,}`), sure: hasDigit},
		one("sk-or-v1-", `sk-or-v1-[0-9a-f]{64}`),
		{words: []string{"k_live_", "k_test_", "k_prod_"}, re: lazyregexp.New(`[srp]k_(?:live|test|prod)_[0-9A-Za-z]{10,}`), sure: func(v string) bool { return !publishable(v) }},
		one("whsec_", `whsec_[0-9A-Za-z+/=]{20,}`),
		{words: []string{"AIza"}, re: lazyregexp.New(`AIza[0-9A-Za-z_-]{35,}`), sure: func(v string) bool { return !secretrules.Published(v) }},
		one("GOCSPX-", `GOCSPX-[0-9A-Za-z_-]{20,}`),
		one("ya29.", `ya29\.[0-9A-Za-z_-]{20,}`),
		one("eyJ", `eyJ[0-9A-Za-z_-]{8,}\.(?:eyJ[0-9A-Za-z_-]{4,}|[0-9A-Za-z_-]{16,})(?:\.[0-9A-Za-z_-]*)*`),
		{words: []string{"npm_"}, re: lazyregexp.New(`npm_[0-9A-Za-z]{30,}`)},
		one("pypi-AgEI", `pypi-AgEI[0-9A-Za-z_-]{20,}`),
		one("rubygems_", `rubygems_[0-9a-f]{40,}`),
		{words: []string{"dckr_pat_", "dckr_oat_"}, re: lazyregexp.New(`dckr_(?:pat|oat)_[0-9A-Za-z_-]{20,}`)},
		{words: []string{"_v1_"}, re: lazyregexp.New(`do[oprt]_v1_[0-9a-f]{32,}`)},
		one("SG.", `SG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}`),
		{words: []string{"shp"}, re: lazyregexp.New(`shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}`)},
		one("AGE-SECRET-KEY-1", `AGE-SECRET-KEY-1[0-9A-Z]{20,}`),
		{words: []string{"hf_"}, re: lazyregexp.New(`hf_[0-9A-Za-z]{34,}`), sure: mixedLetters},
		{words: []string{"gsk_"}, re: lazyregexp.New(`gsk_[0-9A-Za-z]{30,}`)},
		{words: []string{"api_org_"}, re: lazyregexp.New(`api_org_[0-9A-Za-z]{34,}`), sure: mixedLetters},
		{words: []string{"-u "}, re: lazyregexp.New(`-u\s+["']?[\w.-]+:[^\s"'$]{4,}`), here: passwordGiven},
		one(encodedBegin, encodedBegin+`[0-9A-Za-z+/]{0,32}(?:UFJJVkFU|UklWQVRF|FBSSVZB)[0-9A-Za-z+/]{20,}={0,2}`), // PRIVATE, at any of three places
		{words: []string{"ATBB"}, re: lazyregexp.New(`ATBB[0-9A-Za-z]{28,}`), sure: hasDigit},
		one("CCIPAT_", `CCIPAT_[0-9A-Za-z]{20,}_[0-9a-f]{40}`),
		one("figd_", `figd_[0-9A-Za-z_-]{36,}`),
		one("nfp_", `nfp_[0-9A-Za-z]{36,}`),
		one("tskey-", `tskey-[a-z]{2,10}-[0-9A-Za-z]{8,}-[0-9A-Za-z]{20,}`),
		one("sbp_", `sbp_[0-9a-f]{40}`),
		{words: []string{"sb_secret_"}, re: lazyregexp.New(`sb_secret_[0-9A-Za-z_-]{20,}`), sure: hasDigit},
		one("pcsk_", `pcsk_[0-9A-Za-z_]{40,}`),
		one("lsv2_", `lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`),
		{words: []string{"r8_"}, re: lazyregexp.New(`r8_[0-9A-Za-z]{36,}`), sure: hasDigit},
		{words: []string{"bkua_", "bkat_", "bkct_"}, re: lazyregexp.New(`bk(?:ua|at|ct)_[0-9a-f]{40}`)},
		one("1//0", `1//0[0-9A-Za-z_-]{40,}`),
		{words: []string{"sig="}, re: lazyregexp.New(`sig=[0-9A-Za-z%+/_-]{40,}`), sure: hasDigit},
		one("xai-", `xai-[0-9A-Za-z]{40,}`),
		one("CONTRIBSYS__COM", `[0-9a-f]{8}:[0-9a-f]{8}`), // Sidekiq's, named by the variable alone
		{words: []string{"vcp_", "vca_", "vcr_", "vci_", "vck_"}, re: lazyregexp.New(`vc[parik]_[0-9A-Za-z]{56}`)},
		one("phx_", `phx_[0-9A-Za-z_-]{40,}`),
		one("CCDB1_", `CCDB1_[0-9A-Za-z]{22}_[0-9A-Za-z]{40}`),
		{words: []string{"SWMTKN-1-", "SWMKEY-1-"}, re: lazyregexp.New(`SWM(?:TKN|KEY)-1-[0-9A-Za-z+/-]{40,}`)},
		one("lin_api_", `lin_api_[0-9A-Za-z]{30,}`),
		one("pul-", `pul-[0-9a-f]{40}`),
		{words: []string{"hvs.", "hvb."}, re: lazyregexp.New(`hv[bs]\.[0-9A-Za-z_-]{20,}`)},
		{words: []string{"dapi"}, re: lazyregexp.New(`dapi[0-9a-f]{32}`)},
		one("ATATT3", `ATATT3[0-9A-Za-z_=-]{30,}`),
		one("ATCTT3", `ATCTT3[0-9A-Za-z_=-]{30,}`),
		one("PMAK-", `PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}`),
		one("NRAK-", `NRAK-[0-9A-Z]{20,}`),
		{words: []string{"sntry"}, re: lazyregexp.New(`sntry(?:s_eyJ[0-9A-Za-z+/=_-]{30,}|u_[0-9a-f]{64})`)},
		{words: []string{"glsa_", "glc_"}, re: lazyregexp.New(`(?:glsa_|glc_)[0-9A-Za-z+/=_]{30,}`)},
		{words: []string{"sq0"}, re: lazyregexp.New(`sq0(?:csp|atp)-[0-9A-Za-z_-]{20,}`)},
		{words: []string{":AA"}, re: lazyregexp.New(`[0-9]{8,10}:AA[0-9A-Za-z_-]{32,}`)},
		{words: []string{"AccountKey="}, re: lazyregexp.New(`AccountKey=[0-9A-Za-z+/=]{20,}`)},
		{words: []string{"SharedAccess"}, re: lazyregexp.New(`SharedAccess(?:Key|Signature)=[0-9A-Za-z+/=%&]{20,}`)},
		{words: []string{"discord"}, re: lazyregexp.New(`discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[0-9A-Za-z_-]{20,}`)},
	}, issuedPatterns()...)
})

// patternWords are the words of all patterns, in their order.
var patternWords = sync.OnceValue(func() *needles.Set { return wordsOf(specPatterns, ownPatterns()) })

func wordsOf(lists ...[]pattern) *needles.Set {
	var words []string
	for _, p := range slices.Concat(lists...) {
		words = append(words, p.words...)
	}
	return needles.New(words)
}

func one(word, re string) pattern { return pattern{words: []string{word}, re: lazyregexp.New(re)} }

// encodedBegin is how "-----BEGIN " begins in base64, as settings hold keys in: client-key-data of kubectl, tls.key of Kubernetes.
const encodedBegin = "LS0tLS1CRUdJTi"

// unmarked are the prefixes of tokens without punctuation in them.
var unmarked = []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T", "AIza", "eyJ", "dapi", "ATATT3", "ATCTT3", "ATBB", encodedBegin}

// redactPatterns replaces the words that hold a token. The rest of the line stays, so that a table row, a heading or a
// fence keeps its shape and a person can still read what the finding says.
func redactPatterns(s string) string { return replaceSpans(s, joinSpans(patternSpans(s))) }

func wordByte(c byte) bool {
	return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// numbered reports whether a token holds what all of Slack's do but cookies and refreshed ones, which are one word: the numbers of
// the team and of the application.
func numbered(v string) bool {
	if strings.HasPrefix(v, "xoxd") || strings.HasPrefix(v, "xoxe") {
		return true
	}
	n := 0
	for i := range len(v) {
		if v[i] >= '0' && v[i] <= '9' {
			n++
		}
	}
	return n >= 4
}

// mixedLetters reports whether a token of Hugging Face has its 34 letters, or more of them as mixed as in a token with something behind
// it. Names of words are not.
func mixedLetters(v string) bool {
	return len(v)-strings.LastIndexByte(v, '_')-1 == 34 || len(v)*100 <= pieces(v)*mixedPiece*2
}

var (
	// accountID is the number of a user or a group.
	accountID = lazyregexp.New(`^[0-9]{1,5}$`)
	// groupName is a group that systems come with.
	groupName = lazyregexp.New(`^(?:root|daemon|disk|mail|news|proxy|www-data|backup|operator|staff|games|users|nogroup|nobody|wheel|sudo|docker|node|nginx|apache|video|audio|plugdev|systemd-journal)$`)
	// scheme is the beginning of an address.
	scheme = lazyregexp.New(`^[a-z][a-z0-9+.-]{1,15}$`)
)

// passwordGiven reports whether what a command is given as user and password from start to end of a line holds one. Commands that know no password have an option of this name
// too: what stands there is a user and a group, or an address. Curl knows nothing but a password, so for it a name twice and numbers are one, unless the line names no host but
// one of a set-up for development.
func passwordGiven(line string, start, end int) bool {
	user, password, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(line[start:end], "-u"), " \t\"'"), ":")
	password = strings.TrimRight(password, "`.,;:)]}|\\>")
	switch {
	case wordOfPassword.MatchString(password):
		return false
	case curlBefore.MatchString(line[max(0, start-curlReach):start]) && farHost(line[max(0, start-curlReach):min(len(line), end+curlReach)]):
		return true
	case password == user, groupName.MatchString(password):
		return false
	case accountID.MatchString(user) && accountID.MatchString(password):
		return false
	}
	return !(strings.HasPrefix(password, "//") && scheme.MatchString(user))
}

var (
	// curlBefore is what stands before an option of curl in its line.
	curlBefore = lazyregexp.New(`(?:^|[^\w-])curl(?:\.exe)?\s(?:[^|;&]*\s)?$`)
	// webHost is a host in an address.
	webHost = lazyregexp.New(`\bhttps?://([A-Za-z0-9.-]+)`)
)

// curlReach is how far from its option a command is read, in bytes.
const curlReach = 512

// farHost reports whether a line has an address of a host that is none of a set-up for development.
func farHost(line string) bool {
	for _, m := range webHost.FindAllStringSubmatch(line, -1) {
		if !LocalHost(m[1]) {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// drawnHex is hex of the length that issuers give keys. Four bits are the most that hex can have, so a value drawn at random often has less than minEntropy.
var drawnHex = lazyregexp.New(`^(?:[0-9a-f]{32,}|[0-9A-F]{32,})$`)

// minHexEntropy is what hex of that length has at least. Of a million values that are drawn, none has less.
const minHexEntropy = 3.0

// hexKey reports whether a value is hex as it is drawn for keys.
func hexKey(v string) bool {
	return drawnHex.MatchString(v) && LettersAndDigits(v) && Entropy(v) >= minHexEntropy && !standIn(v, nil)
}

// varied reports whether the bytes of a value are as different as those of one that was drawn.
func varied(v string) bool { return Entropy(v) >= minEntropy || hexKey(v) }

// Entropy is Shannon's, in bits for each byte.
func Entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum, n := 0.0, float64(len(s))
	for _, c := range counts {
		if c > 1 {
			sum += timesLog(c)
		}
	}
	return math.Log2(n) - sum/n
}

// logs are the products of small numbers and their logarithms.
var logs = sync.OnceValue(func() (out [minSecretLen + 1]float64) {
	for c := 1; c < len(out); c++ {
		out[c] = float64(c) * math.Log2(float64(c))
	}
	return out
})

func timesLog(c int) float64 {
	if c <= minSecretLen {
		return logs()[c]
	}
	return float64(c) * math.Log2(float64(c))
}
