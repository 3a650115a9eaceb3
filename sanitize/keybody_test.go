package sanitize

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// pemKeys are private keys in all their forms, each by its lines.
func pemKeys(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(name, kind string, der []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out[name] = strings.Split(strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))), "\n")
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	add("RSA", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), nil)
	for name, key := range map[string]any{"RSA, PKCS #8": rsaKey, "EC, PKCS #8": ecKey, "Ed25519": edKey} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		add(name, "PRIVATE KEY", der, err)
	}
	der, err := x509.MarshalECPrivateKey(ecKey)
	add("EC", "EC PRIVATE KEY", der, err)
	for name, head := range map[string]string{"ENCRYPTED PRIVATE KEY": "MIIFNTBfBgkqhkiG9w0BBQ0wUjAxBgkqhkiG9w0BBQwwJAQQ", "OPENSSH PRIVATE KEY": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAA", "PGP PRIVATE KEY BLOCK": ""} {
		der, err := base64.StdEncoding.DecodeString(head)
		add(name, name, append(der, random(1337-len(der))...), err) // as long as the first of them says
	}
	return out
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// The text of a key that stands apart from its header, and these with it, is in no change (threats.md T534).
func TestKeyBodies(t *testing.T) {
	for name, l := range pemKeys(t) {
		head, foot, in := l[0], l[len(l)-1], l[1:len(l)-1]
		all := strings.Join(in, "")
		constants := "HEAD = \"" + head + "\"\nFOOT = \"" + foot + "\"\n"
		forms := map[string]string{
			"a format":            `pem = "` + head + `\n%s\n` + foot + `" % "` + strings.Join(in, `\n`) + `"`,
			"a template":          "const pem = `" + head + "\\n${body}\\n" + foot + "`;\nconst body = '" + all + "';",
			"constants":           constants + `BODY = "` + all + `"`,
			"constants in a list": constants + "BODY = (\n    \"" + strings.Join(in, "\"\n    \"") + "\"\n)",
			"between comments":    head + "\n# a part\n" + strings.Join(in, "\n# a part\n") + "\n# the end\n" + foot,
			"behind a remark":     head + "\n; exported by us\n" + strings.Join(in, "\n"),
			"a call":              `pem = wrap("` + head + `", "` + foot + "\",\n    \"" + strings.Join(in, "\"\n    \"") + "\")",
			"a sum":               `String k = "` + all + "\";\nString pem = \"" + head + `\n" + k + "\n` + foot + `";`,
			"a field":             `key=` + strings.NewReplacer("+", "%2B", " ", "+").Replace(strings.Join(l, "%0A")),
			"an address":          `key=` + strings.NewReplacer("+", "%2B", " ", "%20").Replace(strings.Join(l, "%0A")),
			"without a header":    `PRIVATE_KEY="` + strings.Join(in, `\n`) + `"`,
			"below a name":        "private_key: |\n  " + strings.Join(in, "\n  ") + "\nport: 80",
			"below a remark":      "private-key: >-\n  # of production\n\n  " + strings.Join(in, "\n  "),
			"in properties":       "app.private.key=" + strings.Join(in, "\\\n    "),
			"below quotes":        "private_key =\n  \"\"\"\n" + strings.Join(in, "\n") + "\n\"\"\"\n",
			"in a list":           `"privateKey": [` + "\n  \"" + strings.Join(in, "\",\n  \"") + "\"\n]",
			"on the next line":    "const privateKey =\n  \"" + all + "\";",
		}
		if name != "PGP PRIVATE KEY BLOCK" { // what begins in no way of its own
			forms["a whole one"] = "tls:\n  pem: |\n    " + strings.Join(in, "\n    ") + "\n"
			forms["a whole one in its line"] = `load("` + all + `")`
			small := strings.Join(strings.SplitAfter(all, all[11:12]), `" + "`)
			forms["constants in pieces"] = constants + `BODY = "` + small + `"`
		}
		for form, text := range forms {
			diff := "@@ -0,0 +1,99 @@\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n"
			keys := KeyLines{}
			keys.Learn(text)
			whole := diff
			maskChange(t, nil, &diff, nil)
			maskChange(t, nil, &whole, map[*string]KeyLines{&whole: keys})
			for i := 0; i+12 <= max(64*(len(in)-1), 60); i += 4 { // a last line of a few letters may be a word
				if strings.Contains(diff, all[i:i+12]) || strings.Contains(whole, all[i:i+12]) {
					t.Errorf("%s, %s: %s is in\n%s", name, form, all[i:i+12], diff)
					break
				}
			}
			if strings.Contains(form, "constants") && strings.Contains(diff, "PRIVATE KEY") {
				t.Errorf("%s, %s: header and footer are in\n%s", name, form, diff)
			}
		}
	}
}

// What is no key is shown beside code that names keys: certificates, public keys, digests, tokens, paths.
func TestKeyBodiesAreNoOthers(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "acme"}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	armoured := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	mention := "if strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\") {\n"
	for name, text := range map[string]string{
		"a certificate":               armoured("CERTIFICATE", certificate),
		"one in a text":               `CERT="` + strings.ReplaceAll(armoured("CERTIFICATE", certificate), "\n", `\n`) + `"`,
		"a public key":                armoured("PUBLIC KEY", public),
		"a digest for npm":            `"integrity": "sha512-` + base64.StdEncoding.EncodeToString(random(64)) + `"`,
		"a digest":                    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"a public key of OpenSSH":     "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + base64.StdEncoding.EncodeToString(random(240)) + " mona@acme",
		"an address":                  "https://github.com/acme/widgets/blob/3f8a9c1d2e4b5a6c7d8e9f0a1b2c3d4e5f6a7b8c/docs/HowToUse2",
		"a name":                      "TestThatAVeryLongNameOfATestWithManyWordsInItIsNoPartOfAKey2AtAll()",
		"a certificate in constants":  "cert = " + inConstants(base64.StdEncoding.EncodeToString(certificate)),
		"a bundle in base64":          "caBundle: " + base64.StdEncoding.EncodeToString([]byte(armoured("CERTIFICATE", certificate))),
		"a picture":                   "url(data:image/png;base64,iVBORw0KGgo" + base64.StdEncoding.EncodeToString(random(600)) + ")",
		"a certificate in one run":    `cert = "` + base64.StdEncoding.EncodeToString(certificate) + `"`,
		"one below the name of a key": "private_key:\n  " + base64.StdEncoding.EncodeToString(certificate),
		"words below it":              "privateKey:\n  loadTheKeyThatIsCalledServerFromTheStoreOfTheClusterInTheRegion1",
		"a request of SNMP":           `send("` + base64.StdEncoding.EncodeToString(append([]byte("\x30\x26\x02\x01\x01\x04\x06public"), random(27)...)) + `")`,
	} {
		if got := KeyBodies(mention + text + "\n"); got != nil {
			t.Errorf("%s: %v in %s", name, got, text)
		}
	}
	for name, text := range map[string]string{ // beside a mention these would be keys
		"a name for the next value": "private_key: $KEY\nca: " + base64.StdEncoding.EncodeToString(random(90)),
		"a part of a key":           strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDUnIGVY4eKh18W\n", 2),
		"text far below a name":     "private_key:\n  x\n  " + base64.StdEncoding.EncodeToString(random(90)),
	} {
		if got := KeyBodies(text); got != nil {
			t.Errorf("%s: %v in %s", name, got, text)
		}
	}
}

// inConstants is a text in string constants of 64 bytes.
func inConstants(s string) string {
	var out []string
	for piece := range slices.Chunk([]byte(s), 64) {
		out = append(out, `"`+string(piece)+`"`)
	}
	return strings.Join(out, " +\n  ")
}
