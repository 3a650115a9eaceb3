package sanitize

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// What stands in a secret's place and is none: examples of documentation, and names that say where a secret is kept. Each rule
// here has a reason that holds for every issuer; none knows a single value.

// Bounds of filler.
const (
	// minRun is how often a character stands side by side before nobody drew it at random: five times in a row happen once in
	// ten million places of a token of letters and digits.
	minRun = 5
	// minDrawn is how many letters and digits a secret has at least beyond its filler and its issuer's prefix.
	minDrawn = 6
)

// fillerWord is a word that says that another value belongs here. Words of less than seven letters count only as whole ones.
var fillerWord = lazyregexp.New(`(?i)example|placeholder|redacted|changeme|(?:^|[^0-9a-z])(?:your|my|here|put|insert|replace|enter|dummy|fake|sample|some|the|access|api|app|bot|user|auth|bearer|token|key|secret|password|value)(?:$|[^0-9a-z])`)

// drawn counts the letters and digits of a value that may have been drawn at random: those that are neither filler nor a part of
// the prefixes.
func drawn(v string, prefixes ...string) int {
	if n := digits(v); n >= minDrawn { // no word of filler holds any
		return n
	}
	for _, p := range prefixes {
		v = strings.Replace(v, p, " ", 1)
	}
	for range 8 { // short words share the sign between them
		t := fillerWord.ReplaceAllString(v, " ")
		if t == v {
			break
		}
		v = t
	}
	n := 0
	for i := 0; i < len(v); {
		run := fillerAt(v, i)
		if run == 0 {
			if c := v[i]; c != '_' && c != '-' && wordByte(c) {
				n++
			}
			run = 1
		}
		i += run
	}
	return n
}

// digits counts those that are no filler.
func digits(v string) int {
	n := 0
	for i := 0; i < len(v); i++ {
		if v[i] < '0' || v[i] > '9' {
			continue
		}
		if run := fillerAt(v, i); run > 0 {
			i += run - 1
			continue
		}
		n++
	}
	return n
}

// fillerAt is how many bytes at i are one character again and again. Counting up is no filler: people take such tokens into use.
func fillerAt(v string, i int) int {
	same := 1
	for i+same < len(v) && v[i+same] == v[i] {
		same++
	}
	if same < minRun {
		return 0
	}
	return same
}

var (
	// placeOf ends a name that says where a secret is, or what it is like, from the word on that names secrets: credentialsId,
	// secret_name, token_url, key_length.
	placeOf = lazyregexp.New(`^(?i)s?[_.-]?(?:ids?|names?|ur[il]s?|endpoints?|len|length|size|count|types?|kind|paths?|files?|dir)$`)
	// noSecret begins a name of what everybody may see: public keys, and tokens against forged forms, which are worth nothing
	// without the session they were made for.
	noSecret = lazyregexp.New(`(?i)(?:public|csrf|xsrf|authenticity)[_-]?$`)
	// indexKey begins a name of a key that finds a row or an object.
	indexKey = lazyregexp.New(`(?i)(?:bucket|cache|primary|foreign|sort|partition|object|storage|index)[_-]$`)
	// wordOfPassword is a password that is the word for one.
	wordOfPassword = lazyregexp.New(`^(?i)(?:user|username|pass|passwd|password|pwd|pw|token|secret|key|apikey|api[_-]key|test|example|changeme|your[_-]?(?:password|token|secret|key)|[x*.]+)$`)
)

var (
	// wordsOfKey are words with signs between, perhaps with a number behind: sk-team-proxy-key, correct-horse-battery-staple.
	wordsOfKey = lazyregexp.New(`^[A-Za-z]{1,15}(?:[-_./:+]+[A-Za-z]{1,15})+(?:[-_./:+]*[0-9]{1,4})?$`)
	// noKeyNeeded is what servers of local models have people write where no key is asked for, as the documentation of llama.cpp does.
	noKeyNeeded = lazyregexp.New(`^(?i)(?:sk[-_])?(?:(?:api|key|token|auth|is)[-_])*(?:no|not)(?:[-_](?:api|key|token|auth|is|needed|required|necessary|used))+$`)
)

// inWords reports whether somebody made a value of words. One that was drawn changes between capitals and small letters all the time.
func inWords(v string) bool {
	return wordsOfKey.MatchString(v) && len(v)*100 > pieces(v)*mixedPiece
}

// saysNoKey reports whether a key says of itself that it is none.
func saysNoKey(v string) bool { return noKeyNeeded.MatchString(v) }

// isPublic reports whether a value is made to be seen by everybody: an address of Ethereum, a value that Bitnami's controller alone opens, which
// begins with the length of its key, one that is enveloped for a key, as hiera-eyaml keeps them, a key of Stripe's kind for pages that customers load, a token of Mapbox's for pages, the name of an image by its version, commit or digest,
// a date with its time, a type that is named after an algorithm, the name of a constraint, or a form that has no room for a secret.
func isPublic(v string) bool {
	return address.MatchString(v) || sealedValue.MatchString(v) || enveloped.MatchString(v) || publishable(v) || mapToken.MatchString(v) || image.MatchString(v) || moment.MatchString(v) || typeOfKey.MatchString(v) || constraint.MatchString(v) || noRoom.MatchString(v)
}

// publishable reports whether a value is a key for pages that customers load. Keys of Courier begin so too, are secret, and have no small letter.
func publishable(v string) bool {
	key, ok := strings.CutPrefix(v, "pk_")
	return ok && publishableKey.MatchString(key) && strings.ToUpper(key[len("live_"):]) != key[len("live_"):]
}

// dateOfMoment is a date, timeOfMoment a time, perhaps with a zone: by its hours, by three or four capitals, or by a place of the tz database.
const (
	dateOfMoment = `(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])`
	timeOfMoment = `(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?: ?(?:[Zz]|[+-][01][0-9](?::?[0-5][0-9])?))?(?: (?:[AP]M|[A-Z]{3,4}))?` +
		`(?:(?: |\[)(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z][A-Za-z_]{1,20}\]?)?`
)

var (
	address        = lazyregexp.New(`^0x[0-9a-fA-F]{40}$`)                                   // private keys are longer
	mapToken       = lazyregexp.New(`^pk\.eyJ1Ijoi[0-9A-Za-z_-]{8,200}\.[0-9A-Za-z_-]{22}$`) // {"u":" first, as no JWT has; secret ones begin with sk.
	sealedValue    = lazyregexp.New(`^Ag[A-D][0-9A-Za-z+/]{500,}={0,2}$`)
	enveloped      = lazyregexp.New(`^MII[0-9A-Za-z+/]{3}YJKoZIhvcNAQcDoII[0-9A-Za-z+/]{100,}={0,2}$`) // enveloped data of PKCS #7 in DER
	publishableKey = lazyregexp.New(`^(?:live|test)_[0-9A-Za-z]{10,}$`)
	image          = lazyregexp.New(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[0-9]{2,5})?(?:/[a-z0-9._-]+)+(?::(?:[a-z]{1,10}-)?(?:[0-9a-f]{7,40}|v?[0-9]+(?:\.[0-9]+){1,3}))?(?:@sha256:[0-9a-f]{64})?$`)
	// moment is a date with its time, as RFC 3339 writes it or near enough; momentDate is its first word where a blank follows, momentRest the rest in quotes.
	moment     = lazyregexp.New(`^` + dateOfMoment + `[Tt ]` + timeOfMoment + `$`)
	momentDate = lazyregexp.New(`^` + dateOfMoment + `$`)
	momentRest = lazyregexp.New(`^ ` + timeOfMoment + `\\?(["'\x60])`)
	// typeOfKey is a type of keys, or a curve, in the module of an algorithm, or a type by the name of its algorithm alone.
	typeOfKey = lazyregexp.New(`^(?:(?:(?:ed25519|x25519)(?:_dalek)?|ed448|x448|sr25519|[Ss]ecp256k1|secp256r1|[Pp]256|[Pp]384|[Pp]521|k256|Curve25519|bls12381|ec|ecdsa|rsa|dsa|dh|(?:mldsa|MLDSA)(?:44|65|87)?|(?:mlkem|MLKEM)(?:512|768|1024)?)(?:\.|::)(?:(?:Signing|KeyAgreement)\.)?` +
		`(?:(?:Ed25519|Ed448|X25519|X448|RSA|Rsa|DSA|DH|EC|EllipticCurve)?(?:Private|Public|Secret|Signing|Verifying|Decapsulation|Encapsulation)Key(?:44|65|87|512|768|1024)?|SECP(?:192|224|256|384|521)[RK]1)` +
		`|(?:Ed25519|Ed448|X25519|X448|Secp256[kr]1)(?:Private|Public|Secret|Signing|Verifying)Key)$`)
	// noRoom is the audience of an application of Entra, by its id, the parameters of a hash without one, an advisory of GitHub, or a call with a number.
	noRoom = lazyregexp.New(`^(?:api://[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\$argon2(?:id|i|d)(?:\$v=[0-9]{1,3})?\$m=[0-9]{1,8},t=[0-9]{1,4},p=[0-9]{1,3}\$?` +
		`|GHSA(?:-[2-9cfghjmpqrvwx]{4}){3}|(?i:PBKDF2-HMAC-SHA)(?:1|256|384|512):[0-9]{4,8}|javascript:(?:alert|confirm|prompt|print|void)\([0-9]?\);?)$`)
	// digestValue is a value that says of which kind of digest it is.
	digestValue = lazyregexp.New(`^(?:sha(?:1|224|256|384|512)|md5):[0-9a-f]{32,128}$`)
	// constraint is the name of a constraint or an index of a database, with a hash behind.
	constraint = lazyregexp.New(`^(?:PK|FK|UQ|IX|IDX|REL|CHK|XCL|DF|fk|uq|ix|idx)_(?:[A-Za-z]{2,20}_){0,4}[0-9a-f]{6,30}$`)
	// tagged ends what stands before the commit of an image: a part of its path, its name, and a colon. Who logs in by a name and a token writes no such name.
	tagged = lazyregexp.New(`[0-9A-Za-z]/[0-9a-z._]*(?:-[0-9a-z._]+)+:$`)
)

// imageCommit reports whether a value is the commit in the name of an image, by what stands around it in its line.
func imageCommit(before, value, behind string) bool {
	return hexWord.MatchString(value) && tagged.MatchString(before) && !strings.HasPrefix(behind, "@")
}

// signBefore is what stands between a name and its value.
const signBefore = `\\?["'\x60]?\s{0,4}(?::=|=>|[:=])\s{0,4}\{?\\?["'\x60]?`

var (
	// fingerprint is the fingerprint of a key of OpenPGP, fingerprintOf ends the name of such a key, as the images of Docker have it in their environment
	// and Gradle in the list of whose packages it takes.
	fingerprint   = lazyregexp.New(`^(?:0x)?[0-9A-Fa-f]{40}$`)
	fingerprintOf = lazyregexp.New(`(?i)(?:(?:gpg|pgp)(?:[_.-]?signing)?[_.-]?keys?(?:[_.-]?(?:id|fingerprint))?` + signBefore + `|<(?:trusted|ignored)-key id=")$`)
	// siteKey is a key of reCAPTCHA or of Turnstile, whose secret keys are written alike; siteKeyOf ends the name of one that pages show.
	siteKey   = lazyregexp.New(`^(?:6L[0-9A-Za-z_-]{38}|0x4[0-9A-Za-z_-]{21})$`)
	siteKeyOf = lazyregexp.New(`(?:(?:^|[^A-Za-z])(?i:site)|[a-z]Site|(?i:captchasite))(?i:[_-]?key)(?:` + signBefore + `|["'\x60]\s{0,4},\s{0,4}["'\x60])$`)
	// ofCommit ends what stands before a commit that something is pinned by: a name that says so in its last word. Who logs in by such a name and a token writes no
	// blank between.
	ofCommit = lazyregexp.New(`(?:^|[^0-9A-Za-z_.-])((?:[0-9A-Za-z_.-]*[_.-])?(?i:commit|sha|revision|rev|ref)|[0-9A-Za-z_.-]*[0-9a-z](?:Commit|Sha|SHA|Revision|Rev|Ref))` +
		`(?:\\?["'\x60]?\s{0,4}(?::=|=>|=)|\\?["'\x60]\s{0,4}:|\s{0,4}:\s)\s{0,4}\\?["'\x60]?$`)
	commitWord = lazyregexp.New(`^[0-9a-f]{40}$`)
	// sumOfKey is the MD5 of a key in base64, sumOfKeyOf ends the name of the header, or of its setting, that tells a store of objects which key a customer encrypts by.
	sumOfKey   = lazyregexp.New(`^[0-9A-Za-z+/]{21}[AQgw](?:==)?$`)
	sumOfKeyOf = lazyregexp.New(`(?i)(?:sse[_-]?|encryption-)customer[_-]?key[_-]?md5(?:` + signBefore + `|["'\x60]\s{0,4},\s{0,4}["'\x60])$`)
	// idWord is an id that a database or a program gives: of MongoDB, a cuid, a ULID, a UUID. idOf ends the name of one.
	idWord = lazyregexp.New(`^(?:[0-9a-f]{24}|c[0-9a-z]{24}|[0-7][0-9A-HJKMNP-TV-Z]{25}|` + hexUUID + `)$`)
	idOf   = lazyregexp.New(`((?:^|[0-9A-Za-z_.-]*[^0-9A-Za-z])(?i:id)|[0-9A-Za-z_.-]*[a-z]I[dD])` + signBefore + `$`)
	// namesValue is in a name of a secret itself: its commit is none.
	namesValue = lazyregexp.New(`(?i)pass|pwd|secret|credential|key`)
)

var (
	// strongName is the token of the public key of an assembly of .NET, strongNameOf ends what stands before it.
	strongName   = lazyregexp.New(`^(?i)[0-9a-f]{16}$`)
	strongNameOf = lazyregexp.New(`(?i)publickeytoken["']?\s{0,4}[:=>]\s{0,4}["']?$`)
	// managedSecret ends the name of a secret that RDS keeps.
	managedSecret = lazyregexp.New(`^(?:cluster|db)-` + hexUUID + `-[0-9A-Za-z]{6}$`)
	// sshKind ends what stands before a public key of SSH.
	sshKind = lazyregexp.New(`(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) $`)
)

var (
	// unityID is the id of an asset of Unity; ofUnity and ofUnityEnd are what stands around it: the rest of a reference to an object of the asset, as the editor writes it.
	unityID    = lazyregexp.New(`^[0-9a-f]{32}$`)
	ofUnity    = lazyregexp.New(`\{fileID: -?[0-9]{1,20}, guid: $`)
	ofUnityEnd = lazyregexp.New(`^,\s{1,20}type: [0-9]\}`)
)

// sshKey reports whether a value is a public key of SSH: its kind stands before it, and in it once more, behind its length.
func sshKey(before, value string) bool {
	kind := strings.TrimSuffix(sshKind.FindString(before), " ")
	if kind == "" {
		return false
	}
	head := base64.RawStdEncoding.EncodeToString(append([]byte{0, 0, 0, byte(len(kind))}, kind...))
	return strings.HasPrefix(value, head[:len(head)/4*4])
}

// publicHere reports whether a value is made to be seen by everybody, by what stands around it: the commit of an image or under a name that ends in a word for one, the fingerprint
// of a key, the key of a site, the MD5 of a customer's key, the public key of SSH, the token of an assembly's public key, the secret that RDS keeps in the store of AWS by its name, an object of Unity, an address of a blockchain,
// the date of a moment.
func publicHere(before, value, behind string) bool {
	switch {
	case imageCommit(before, value, behind), beginsMoment(before, value, behind):
		return true
	case siteKey.MatchString(value) && siteKeyOf.MatchString(before), sumOfKey.MatchString(value) && sumOfKeyOf.MatchString(before), fingerprint.MatchString(value) && fingerprintOf.MatchString(before):
		return true
	case unityID.MatchString(value) && ofUnity.MatchString(before) && ofUnityEnd.MatchString(behind), publicAddress(before, value):
		return true
	case idWord.MatchString(value):
		m := idOf.FindStringSubmatch(before)
		return m != nil && !namesValue.MatchString(m[1])
	case strongName.MatchString(value) && strongNameOf.MatchString(before):
		return true
	case managedSecret.MatchString(value) && strings.HasSuffix(before, ":secret:rds!"), sshKey(before, value):
		return true
	case !commitWord.MatchString(value):
		return false
	}
	m := ofCommit.FindStringSubmatch(before)
	return m != nil && !namesValue.MatchString(m[1])
}

// beginsMoment reports whether a value is the date of a moment in quotes, which the value is cut off at a blank of.
func beginsMoment(before, value, behind string) bool {
	if before == "" || !momentDate.MatchString(value) {
		return false
	}
	m := momentRest.FindStringSubmatch(behind)
	return m != nil && strings.HasSuffix(before, m[1])
}

// ofPublic reports whether the match from start to end of a line is the rest of a public token of Mapbox's, which is written like a JWT behind its prefix.
func ofPublic(line string, start, end int) bool {
	return strings.HasSuffix(line[:start], "pk.") && mapToken.MatchString(line[start-3:end]) && (start == 3 || !wordByte(line[start-4]))
}

// digestNamed reports whether a value is a digest, given to something that is no password.
func digestNamed(name, value string) bool {
	return digestValue.MatchString(value) && !passwordName.MatchString(name)
}

// publicNamed reports whether a value that is given to a name is public whatever the name is, or nearly so: what is given to a password is no image.
func publicNamed(name, value string) bool {
	return isPublic(value) && !(image.MatchString(value) && givenToPassword.MatchString(name))
}

// givenToPassword ends in the name of a password, and the sign behind it.
var givenToPassword = lazyregexp.New(`(?i)(?:passw(?:or)?d|passphrase|pwd)["'\x60\])\\]{0,3}\s*(?::=|=>|<-|[!=]?==?=?|[+?|]{1,2}=|:|,)\s*["'\x60]?$`)

// Published reports whether a value says itself that it is one of AWS's documentation, or is a token that jwt.io or Mailgun shows as its example.
func Published(v string) bool {
	return strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY") || slices.Contains(shownTokens, v)
}

// shownTokens are the examples of jwt.io, of now and of earlier years, and that of Mailgun's documentation. Each of jwt.io is signed with a key that the page shows beside it.
var shownTokens = []string{
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30",
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
	"key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
}

// namesNoSecret reports whether the name around the word at i is that of a place, a measure or something public.
func namesNoSecret(s string, i int, word string) bool {
	from, to := i, i+len(word)
	for from > 0 && i-from < maxNameRest && wordByte(s[from-1]) {
		from--
	}
	for to < len(s) && to-i < maxNameRest && (wordByte(s[to]) || s[to] == '.') {
		to++
	}
	before, behind := s[from:i], strings.TrimRight(s[i+len(word):to], ".")
	return behind != "" && placeOf.MatchString(behind) || before != "" && (noSecret.MatchString(before) || word == "key" && indexKey.MatchString(before))
}
