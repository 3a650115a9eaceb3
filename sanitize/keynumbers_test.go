package sanitize

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"html"
	"math/big"
	"strings"
	"testing"
)

// The private numbers of a key go from a change, and nothing else of it (threats.md T558, T559).
func TestKeyNumbers(t *testing.T) {
	url := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	std := func(n *big.Int) string { return base64.StdEncoding.EncodeToString(n.Bytes()) }
	var key *rsa.PrivateKey
	for key == nil || Mask(url(key.N)) != url(key.N) || Mask(std(key.N)) != std(key.N) { // one in many has what looks like an issuer's token in its public number
		var err error
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	numbers := func(text func(*big.Int) string) *strings.Replacer {
		p := key.Precomputed
		return strings.NewReplacer("{n}", text(key.N), "{d}", text(key.D), "{p}", text(key.Primes[0]), "{q}", text(key.Primes[1]), "{dp}", text(p.Dp), "{dq}", text(p.Dq), "{qi}", text(p.Qinv),
			"{x}", base64.RawURLEncoding.EncodeToString(random(32)), "{s}", base64.RawURLEncoding.EncodeToString(random(32)))
	}
	const rsaKey = `{"p":"{p}","kty":"RSA","q":"{q}","d":"{d}","e":"AQAB","kid":"2026-11-a","qi":"{qi}","dp":"{dp}","alg":"RS256","dq":"{dq}","n":"{n}"}`
	const xmlKey = "<RSAKeyValue><Modulus>{n}</Modulus><Exponent>AQAB</Exponent><P>{p}</P><Q>{q}</Q><DP>{dp}</DP><DQ>{dq}</DQ><InverseQ>{qi}</InverseQ><D>{d}</D></RSAKeyValue>"
	for _, c := range []struct {
		form   string
		spell  func(*big.Int) string
		secret []string
	}{
		{rsaKey, url, []string{"{p}", "{q}", "{d}", "{qi}", "{dp}", "{dq}"}},
		{strings.ReplaceAll(strings.ReplaceAll(rsaKey, `,"`, ",\n  \""), `":`, `": `), url, []string{"{p}", "{q}", "{d}", "{qi}", "{dp}", "{dq}"}},
		{`const key = "` + strings.ReplaceAll(rsaKey, `"`, `\"`) + `"`, url, []string{"{p}", "{q}", "{d}", "{qi}", "{dp}", "{dq}"}},
		{"jwk := {\n  kty: 'EC', crv: 'P-256',\n  x: '{x}',\n  y: '{x}',\n  d: '{s}',\n}", url, []string{"{s}"}},
		{`{"keys":[{"kty":"EC","crv":"P-256","x":"{x}","y":"{x}"},{"kty":"OKP","crv":"Ed25519","d":"{s}","x":"{x}"}]}`, url, []string{"{s}"}},
		{`{"k": "{s}", "kid": "hmac", "kty": "oct"}`, url, []string{"{s}"}},
		{"key:\n  kty: oct\n  k: {s}\n", url, []string{"{s}"}},
		{`new JsonWebKey { Kty = "RSA", E = "AQAB", N = "{n}", D = "{d}" }`, url, []string{"{d}"}},
		{`{"Modulus":"{n}","Exponent":"AQAB","P":"{p}","InverseQ":"{qi}","D":"{d}"}`, std, []string{"{p}", "{qi}", "{d}"}},
		{xmlKey, std, []string{"{p}", "{q}", "{dp}", "{dq}", "{qi}", "{d}"}},
		{strings.ReplaceAll(xmlKey, "><", ">\n  <"), std, []string{"{p}", "{q}", "{dp}", "{dq}", "{qi}", "{d}"}},
		{`<add key="signing" value="` + html.EscapeString(xmlKey) + `"/>`, std, []string{"{p}", "{q}", "{dp}", "{dq}", "{qi}", "{d}"}},
		{"<DSAKeyValue><P>{n}</P><Q>{p}</Q><G>{dp}</G><Y>{dq}</Y><X>{qi}</X></DSAKeyValue>", std, []string{"{qi}"}},
	} {
		with := numbers(c.spell)
		text, want := with.Replace(c.form), c.form
		for _, name := range c.secret {
			want = strings.ReplaceAll(want, name, Redacted)
		}
		want = with.Replace(want)
		diff := "@@ -0,0 +1,99 @@\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n"
		maskChange(t, nil, &diff, nil)
		if got := strings.TrimSuffix(strings.TrimPrefix(diff, "@@ -0,0 +1,99 @@\n+"), "\n"); strings.ReplaceAll(got, "\n+", "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		lawsOfMask(t, text)
	}
}

// Numbers in lines of their own are known where a piece of the file shows nothing else of the key.
func TestKeyNumbersInAHunk(t *testing.T) {
	number := "Sm9obkRvZTEyMzQ1Njc4OTBhYmNkZWZnaGlqa2xtbm9wcXJz" + base64.RawURLEncoding.EncodeToString(random(96))
	keys := KeyLines{}
	keys.Learn("{\n  \"kty\": \"RSA\",\n  \"n\": \"x\",\n  \"dq\": \"" + number + "\"\n}\n")
	diff := "@@ -40,1 +40,2 @@\n \"alg\": \"RS256\"\n+  \"dq\": \"" + number + "\"\n"
	if !MayHoldKey(diff) {
		t.Error("nobody looks the line up")
	}
	maskChange(t, nil, &diff, map[*string]KeyLines{&diff: keys})
	if strings.Contains(diff, number[:20]) {
		t.Error(diff)
	}
}

// Public numbers, and what only has such a name, stay.
func TestKeyNumbersAreNoOthers(t *testing.T) {
	drawn := base64.StdEncoding.EncodeToString(random(66))
	for _, text := range []string{
		`{"kty":"RSA","n":"` + drawn + `","e":"AQAB","x5t":"` + drawn + `","x5c":["` + drawn + `"],"kid":"` + drawn + `"}`,
		`{"kty":"EC","crv":"P-256","x":"` + drawn + `","y":"` + drawn + `"}`,
		"<RSAKeyValue><Modulus>" + drawn + "</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>",
		"<RSAKeyValue><Modulus>" + drawn + "</Modulus></RSAKeyValue><P>" + drawn + "</P>",
		"<DSAKeyValue><P>" + drawn + "</P><Q>" + drawn + "</Q><G>" + drawn + "</G><Y>" + drawn + "</Y></DSAKeyValue>",
		"<P>" + drawn + "</P>",
		`{"d":"` + drawn + `","k":"` + drawn + `"}`,
		`{"kty":"RSA","d":"base64url-of-the-private-exponent"}`,
		"{ kty: 'RSA', d: bigIntToBase64UrlString(key.d), p: toBase64UrlOfTheIntOfAPrimeNumberOfTheKey2(key.p), k: keyOfTheSetOfTheUserAsBytes2, }",
		"switch jwk.kty {\ncase \"RSA\":\n\td := decodePrivateExponentOfTheKey(jwk)\n",
	} {
		if got := KeyBodies(text); got != nil {
			t.Errorf("%v in %s", got, text)
		}
	}
}

// A key of Ed25519 that is written byte by byte is known by its second half, in any text (threats.md T890).
func TestKeysByteByByte(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	list := func(format, sep string, key []byte) string {
		var numbers []string
		for _, b := range key {
			numbers = append(numbers, fmt.Sprintf(format, b))
		}
		return strings.Join(numbers, sep)
	}
	for _, numbers := range []string{list("%d", ",", key), list("%d", ", ", key), list("0x%02x", ", ", key), list("%d", ",\n  ", key)} {
		for _, form := range []string{"[%s]", "const key = Uint8Array.from([%s]);\n", "[]byte{%s}\n"} {
			text := fmt.Sprintf(form, numbers)
			diff := "@@ -0,0 +1,99 @@\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n"
			maskChange(t, nil, &diff, nil)
			if strings.Contains(diff, numbers[len(numbers)-20:]) || !strings.Contains(diff, Redacted) {
				t.Errorf("%s is shown as %s", text, diff)
			}
			lawsOfMask(t, text)
		}
	}
	other := append([]byte{}, key...)
	other[63]++
	for _, numbers := range []string{list("%d", ",", other), list("%d", ",", key) + ",1", "1," + list("%d", ",", key), list("%d", ",", key[32:])} {
		if got := KeyBodies("[" + numbers + "]"); got != nil {
			t.Errorf("%v in %s", got, numbers)
		}
	}
}
