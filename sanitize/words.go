package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Names that people choose for files, routes, topics, headers and classes hold numbers and versions as generated values do. What tells them apart is
// their words: no issuer makes tokens of words. What people make up themselves, passwords above all, may be words too.

// Bounds of a name in words.
const (
	maxWorded = 200
	// maxNumbers is how many digits it has in all.
	maxNumbers = 8
	// maxMixed is how many of its pieces may be a number with one or two letters that are no version: s3, x86, k8s.
	maxMixed = 2
	// pairsForOdd is how many pairs of letters may have one among them that words do not have. Of random pairs every second one is such.
	pairsForOdd = 8
)

var (
	// namePiece is what stands between the signs of a name: letters with at most one number of four digits.
	namePiece = lazyregexp.New(`^[A-Za-z]*[0-9]{0,4}[A-Za-z]*$`)
	camelWord = lazyregexp.New(`[A-Z]?[a-z]+|[A-Z]+`)

	// ownWords names what people make up themselves: passwords, secrets, shared keys, and keys to sign and encrypt with.
	ownWords = lazyregexp.New(`(?i)pass|pwd|secret|credential|private|signing|crypt|hmac|jwt_{0,2}key|shared|psk|wpa|master|salt|cookie`)
	// ownKey ends the name of a key that is made up to sign with, or that a value is stored by. The name of a stored value says what it is.
	ownKey = lazyregexp.New(`(?i)(token|auth|app|session)[_.-]?key$`)
	// aboutSecret ends the name of something else about a secret: PasswordResetTemplate, passwordHint, SECRET_TOPIC. wholeWord says where that begins.
	aboutSecret = lazyregexp.New(`(?i)(?:hint|template|hasher|input|field|label|polic(?:y|ie)|rule|page|view|route|screen|title|message|error|placeholder|class|header|topic|event|selector|provider|` +
		`issuer|audience|validator|algorithm|algo?|cipher|model|format|type|count|length|regex|pattern|ref|arn|id|name|ur[li]|path|file)s?$|existing_?secret$|secret_?store$`)
	// wholeWord ends what stands before a word of a name that is written in small letters, or in capitals.
	wholeWord = lazyregexp.New(`(?i)(?:^|[^a-z]|pass|pwd|word|secret|token|credentials?|key)$`)
	// objectOfSecret is the name of an object that holds a secret, objectName how such objects are named.
	objectOfSecret = lazyregexp.New(`(?i)(?:existing_?secret|secret_?store|secret_?provider_?class)$`)
	objectName     = lazyregexp.New(`^[a-z]{2,20}[0-9]{0,4}(?:-(?:[a-z]{2,20}[0-9]{0,4}|[0-9]{1,4})){1,6}$`)
	// placeInWords is a value that is a path, a file or an identifier of a program, under whatever name: words in small letters with a slash between, or
	// with the ending of a file, or behind a domain or the beginning of a URN.
	placeInWords = lazyregexp.New(`^[a-z][0-9a-z_.-]*/[0-9a-z_./-]*[0-9a-z]$|^[a-z][0-9a-z_.-]*\.(?:html?|pem|key|crt|json|ya?ml|toml|txt|tsx?|jsx?|py|rb|php|go|md|png|svg|hbs|erb|tmpl|xml|sh|conf|p12|pub)$|^(?:com|org|net|io|dev)\.[0-9a-z_.-]+$|^urn:[0-9a-z:_.-]+$`)
	// specialToken is a mark of a language model, such as <|eot_id|>.
	specialToken = lazyregexp.New(`^<\|[a-z]+(?:_[a-z]+)*(?:_[0-9]{1,6})?\|>$`)
)

// wordNamed reports whether a value is a name that programs know, or a name in words that stands behind a name that no password has, or says itself that it is made up. before is what stands in its line before it.
func wordNamed(before, v string) bool {
	name := nameBefore(before)
	switch {
	case fixedName(v), ofLanguage(name, v), classPath(v), namesItself(name, v):
		return true
	case namedThing(v):
		return containsAny(lowerASCII(name), assignedWords) && !madeByOwner(name, v)
	case !plainWords(v):
		return objectOfSecret.MatchString(name) && objectName.MatchString(v) || specialToken.MatchString(v)
	}
	if placeInWords.MatchString(v) || MadeUp(v) {
		return true
	}
	return containsAny(lowerASCII(name), assignedWords) && (!madeByOwner(name, v) || aboutElse(name))
}

// madeByOwner reports whether a name is of what people make up themselves. v is the value that it is given.
func madeByOwner(name, v string) bool {
	if ownWords.MatchString(name) {
		return true
	}
	m := ownKey.FindStringSubmatch(name)
	return m != nil && !strings.Contains(lowerASCII(v), lowerASCII(m[1]))
}

// aboutElse reports whether a name is of something else about a secret by its last word: keyPasswordAndroid is no id.
func aboutElse(name string) bool {
	return endsInWord(aboutSecret.FindStringIndex(name), name)
}

// endsInWord reports whether what was found at the end of a name, if anything, is a whole word of it.
func endsInWord(at []int, name string) bool {
	if at == nil {
		return false
	}
	capital := name[at[0]] >= 'A' && name[at[0]] <= 'Z' && at[0] > 0 && name[at[0]-1] >= 'a'
	return capital || wholeWord.MatchString(name[:at[0]])
}

// nameBefore is the name that a value is given to by what stands in its line before it, or nothing where no sign of assignment does.
func nameBefore(before string) string {
	before = strings.TrimRight(before[max(0, len(before)-namedReach):], "\"'`\\")
	sign := strings.TrimRight(before, " \t")
	name := strings.TrimRight(sign, ":=!>,")
	if name == sign {
		return ""
	}
	name = strings.TrimRight(strings.TrimRight(name, " \t"), "\"'`\\])")
	return name[strings.LastIndexFunc(name, func(c rune) bool { return c > 'z' || !wordByte(byte(c)) && c != '.' })+1:]
}

// plainWords reports whether a value is words and small numbers with signs between.
func plainWords(v string) bool {
	pieces, ok := worded(v)
	return ok && pieces >= 2
}

// worded reports whether a value is words and small numbers, and how many pieces signs make of it.
func worded(v string) (int, bool) {
	if len(v) > maxWorded {
		return 0, false
	}
	var t wordTally
	pieces := strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune("-_./:#,[]=<>|{}?& ", c) })
	for _, piece := range pieces {
		if !t.add(piece) {
			return 0, false
		}
	}
	return len(pieces), t.words >= 2 && t.inWords*2 >= t.rest*3 && t.digits <= maxNumbers && t.mixed <= maxMixed && t.odd <= max(1, t.pairs/pairsForOdd)
}

// namesItself reports whether a value in words is spelled out in the name that it is given to, as those of constants are: whoever reads the name has read it.
func namesItself(name, v string) bool {
	if _, ok := worded(v); !ok {
		return false
	}
	letters := strings.NewReplacer("_", "", "-", "", ".", "")
	return strings.Contains(lowerASCII(letters.Replace(name)), lowerASCII(letters.Replace(v)))
}

// wordTally counts what a name is made of: words, the letters in them and their pairs, odd ones among these, and the other letters and digits.
type wordTally struct {
	words, inWords, pairs, odd int
	rest, digits, mixed        int
}

// add counts a piece between signs. It is false for one that nobody writes in a name.
func (t *wordTally) add(piece string) bool {
	if !namePiece.MatchString(piece) {
		return false
	}
	letters := strings.FieldsFunc(piece, func(c rune) bool { return c <= '9' })
	n := 0
	for _, part := range letters {
		n += len(part)
		if !t.letters(part) {
			return false
		}
	}
	digits := len(piece) - n
	if digits > 0 && n > 0 && n < 3 && piece[0] != 'v' && piece[0] != 'V' {
		t.mixed++
	}
	t.digits += digits
	t.rest += digits
	return true
}

// letters counts the words of a run of letters. It is false for one of five letters and more that is no word, and where capitals stand as in no name.
func (t *wordTally) letters(part string) bool {
	words, known := camelWord.FindAllString(part, -1), 0
	for _, word := range words {
		w := lowerASCII(word)
		odd := oddPairs(w)
		switch {
		case len(w) > 4 && (pronounced(w) || w == "pbkdf" || w == "https"), len(w) > 2 && odd == 0 && pronounced(w):
			t.words++
			t.inWords += len(w)
			t.pairs += len(w) - 1
			t.odd += odd
			known += len(w)
		case len(w) > 4:
			return false
		default:
			t.rest += len(w)
		}
	}
	return len(words) == 1 || known*2 >= len(part)
}

// pronounced reports whether a word in small letters has a vowel, and no more consonants side by side than words have.
func pronounced(w string) bool {
	run, vowel := 0, false
	for i := range len(w) {
		if strings.IndexByte("aeiouy", w[i]) >= 0 {
			run, vowel = 0, true
			continue
		}
		if run++; run > 4 {
			return false
		}
	}
	return vowel
}

// oddPairs counts the pairs of letters in a word in small letters that words hardly have.
func oddPairs(w string) (n int) {
	for i := 1; i < len(w); i++ {
		if strings.IndexByte(lettersBehind[w[i-1]-'a'], w[i]) < 0 {
			n++
		}
	}
	return n
}

// lettersBehind are the letters that stand behind each letter of the alphabet in words of programs and their documents: the 330 pairs that make up 97 in 100 of all there, those of SQL among them.
var lettersBehind = [26]string{
	"abcdefgiklmnprstuvwy", "abcdefilorstuy", "acdefhiklmorstuy", "abcdefilorsuvy", "abcdefghiklmnopqrstuvwxy", "acdefilorstuy", "aceghilnorsu",
	"aeilmortuy", "abcdefglmnoprstvxz", "aeosu", "aeis", "acdefilnostuvy", "abeilmopstu", "abcdefgiklmnopstuvy",
	"abcdfgiklmnoprstuvw", "aceghiloprstu", "lu", "abcdefgiklmnoprstuvwy", "acefghiklmnopqstuwy", "acdefghilmoprstuwy", "abcdefgilmnoprst",
	"aeio", "aehinors", "aceipt", "eimnpst", "aei",
}
