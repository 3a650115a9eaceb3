package sanitize

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// What programs call by a name that is fixed elsewhere: models, algorithms, types of media, classes. Such names stand beside tokens and passwords, and hold numbers.

var (
	// algorithm is a name of an algorithm, of nothing but the words for such.
	algorithm = lazyregexp.New(`^(?i)(?:(?:aes|des|desede|rsa|rsassa|rsaes|ecdsa|eddsa|ecdh|ecies|dsa|hmac|pbkdf|pbes?|hkdf|sha|shake|md|keccak|blake[23]?[bs]?|argon|bcrypt|scrypt|ripemd|chacha|xchacha|xsalsa|salsa|poly|ietf|siphash` +
		`|gcm|cbc|ctr|cfb|ofb|ecb|ccm|siv|xts|kw|oaep|pss|pkcs|mgf|no|padding|and|with|encryption|hash|digest|curve|nistp|secp|ed|es|hs|rs|ps|id|[xvkprmt]|a(?:128|192|256))(?:[-_]?[0-9]{1,5})?[-_/.+]{0,2})+$`)
	// mediaType is a type of RFC 6838 in words.
	mediaType = lazyregexp.New(`^(?:application|audio|font|image|message|model|multipart|text|video)/[a-z]{1,20}[0-9]{0,4}(?:[.+-][a-z]{1,20}[0-9]{0,4})*$`)
	// modelName is a name of a language model: whose it is, its family, and words, sizes and dates.
	modelName = lazyregexp.New(`^(?i)(?:[a-z0-9-]{2,30}[./]){0,2}(?:gpt|chatgpt|claude|gemini|gemma|palm|llama|codellama|mistral|mixtral|codestral|qwen|qwq|deepseek|phi|grok|text-embedding|whisper|bert|roberta|bge|glm|kimi)` +
		`[0-9]{0,2}[a-z]?(?:[-_.:@](?:[a-z]{1,15}[0-9]{0,3}|[0-9]{1,4}[a-z]{0,2}|20[0-9]{6}))*$`)
	// kindOfKey is a curve, a digest, a cipher or a form of keys, within the name of a class.
	kindOfKey = lazyregexp.New(`Ed25519|Ed448|X25519|X448|X509|Secp(?:256|384|521)[kr]1|(?:SHA|Sha)(?:1|256|384|512)|(?:AES|Aes)(?:128|192|256)|(?:PKCS|Pkcs)[0-9]{1,2}`)
	// pathOfClass is a class behind the path of its module or its name space: two parts and more, and a last one of several words with a number between at most.
	pathOfClass = lazyregexp.New(`^(?:(?:[a-z_]+[0-9]?\.){2,}|(?:[A-Z][A-Za-z]+[0-9]?\\{1,2}){2,})[A-Z][A-Za-z]*[0-9]{0,2}(?:[A-Z][a-z]+)+$`)
	// cookieName is a name of a cookie that browsers give rules to.
	cookieName = lazyregexp.New(`^__(?:Host|Secure)-`)
)

// fixedName reports whether a value is an algorithm, a type of media or a cookie, which is no secret under whatever name it stands.
func fixedName(v string) bool {
	if len(v) > maxWorded {
		return false
	}
	return algorithm.MatchString(v) || mediaType.MatchString(v) && spoken(v) ||
		cookieName.MatchString(v) && plainWords(v[strings.IndexByte(v, '-')+1:])
}

// namedThing reports whether a value is a model or a class, as nobody but who makes a password of words calls a secret.
func namedThing(v string) bool {
	return len(v) <= maxWorded && (modelName.MatchString(v) && spoken(v) || className(v))
}

// spoken reports whether all longer words of a value are such that people write.
func spoken(v string) bool {
	var t wordTally
	for _, part := range strings.FieldsFunc(v, func(c rune) bool { return c < 'A' || c > 'z' || c > 'Z' && c < 'a' }) {
		if len(part) > 4 && !t.letters(part) {
			return false
		}
	}
	return t.odd <= max(1, t.pairs/pairsForOdd)
}

// minClassWord is how long the words of a class are in the mean, in bytes.
const minClassWord = 5

// className reports whether a value is a class in words, such as OAuth2RefreshTokenGenerator. What its words are about may have a number in its name, as in Ed25519VerificationKey2018.
func className(v string) bool {
	var t wordTally
	v = kindOfKey.ReplaceAllString(v, "Digest")
	return v != "" && v[0] >= 'A' && v[0] <= 'Z' && t.add(v) && t.words >= 3 && t.inWords >= max(t.rest*5, t.words*minClassWord) && t.odd <= max(1, t.pairs/pairsForOdd)
}

// classPath reports whether a value is a class by its path, such as django.contrib.auth.hashers.PBKDF2PasswordHasher.
func classPath(v string) bool {
	return pathOfClass.MatchString(v) && plainWords(strings.ReplaceAll(v, `\`, "."))
}

// tokenized reports whether a name is about the tokens of a language, and names no secret beside.
func tokenized(name string) bool {
	lower := lowerASCII(name)
	rest := strings.NewReplacer("tokeniz", "", "tokenis", "").Replace(lower)
	return rest != lower && !containsAny(rest, assignedWords) && !ownWords.MatchString(rest)
}

// ofLanguage reports whether a value is what a tokenizer is given by name: a model or a class, and nothing that was drawn.
func ofLanguage(name, v string) bool { return tokenized(name) && !drawnLike(v) }

// minDrawnPart is how long a part between signs is that may have been drawn, in bytes. Those of the names of models are mostly shorter.
const minDrawnPart = 12

// drawnLike reports whether a value may have been drawn: as a UUID, or with a part between signs that is hex or too mixed for a name. The word Tokenizer tells a class.
func drawnLike(v string) bool {
	parts := strings.FieldsFunc(strings.ReplaceAll(v, "Tokenizer", "."), func(c rune) bool { return strings.ContainsRune("-_./:", c) })
	return len(v) > maxWorded || uuid.MatchString(v) || slices.ContainsFunc(parts, drawnPart)
}

// drawnPart reports whether a part between signs may have been drawn. The longer it is, the less its pieces vary from the mean.
func drawnPart(v string) bool {
	most := mixedPiece
	if len(v) >= minGenerated {
		most = mixedNumber
	}
	return hexKey(v) || len(v) >= minDrawnPart && len(v)*100 <= pieces(v)*most && !className(v)
}
