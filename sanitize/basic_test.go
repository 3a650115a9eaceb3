package sanitize

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A name and a password of basic authentication are known by what they decode to (threats.md T786).
func TestBasicCredentials(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 86))
	for _, form := range []string{"req.headers[\"Authorization\"] = \"Basic %s\"", "proxy_set_header Authorization \"Basic %s\";", "token := \"basic %s\"", ".header('Authorization','Basic %s')", "RequestHeader set Authorization \"Basic %s\""} {
		for range 100 {
			value := base64.StdEncoding.EncodeToString([]byte(drawForm(r, "user:ghp_{36a}")))
			for _, v := range []string{value, strings.TrimRight(value, "="), base64.StdEncoding.EncodeToString([]byte(drawForm(r, "svc-deploy:1{19a}")))} {
				formKeeps(t, form, v)
			}
		}
	}
	for _, pair := range []string{"Aladdin:open sesame", "user:pass", "user:password", "nobody in here 12345678", "user:${PASSWORD_2026}", "user:\x00\x0112345678"} {
		s := fmt.Sprintf("x = \"Basic %s\"", base64.StdEncoding.EncodeToString([]byte(pair)))
		if got := replaceSpans(s, basicSpans(s, lowerASCII(s))); got != s {
			t.Errorf("%q becomes %q", pair, got)
		}
	}
}
