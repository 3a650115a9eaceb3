package sanitize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What was drawn is masked in cookies too, near what names no secret in plain words, and given to names of other kinds (threats.md T903).
func TestValuesNearOtherNames(t *testing.T) {
	const letters, draws = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 20
	random := rand.New(rand.NewPCG(9, 3))
	for _, form := range []string{
		"curl 'https://acme.io/me' -H 'Accept: */*' -H 'Cookie: user_session=%s; theme=dark'", "curl -b 'session=%s' https://acme.io/me", "curl --cookie sid=%s https://acme.io", "curl 'https://acme.io/me' \\\n  -H 'accept: */*' \\\n  -b 'theme=dark; sid=%s' \\\n  -H 'dnt: 1'",
		`cookies = {"session": "%s"}`, `headers = {"Cookie": "sid=%s"}`, "Cookie:\n- sessionid=%s; theme=dark", `{"name": "Cookie", "value": "sid=%s"}`, "\"name\": \"Cookie\",\n\"value\": \"sid=%s; theme=dark\"", `document.cookie = "sid=%s"`,
		"snmp-server community %s RW", "rocommunity %s", "tacacs-server key %s", "radius-server host 10.0.0.4 key %s", "crypto isakmp key %s address 0.0.0.0", "ntp authentication-key 1 md5 %s", "rootpw --plaintext %s", "jarsigner -keypass %s a.jar", "vault login %s",
		"smbclient //srv/a -U ci%%%s", "GH_PAT=%s", "TOTP=%s", "REFRESH=%s", "RECOVERY_CODES=%s", "BACKUP_CODE=%s", "PEPPER=%s", "BINDPW=%s", "PASSWRD=%s", "{passcode: '%s'}", "cred: '%s',", "jwt: \"%s\"", "pswd: '%s'", "pat: '%s'", `"csrf": "%s"`,
	} {
		shown := 0
		for range draws {
			value := draw(random, letters, 32)
			text := fmt.Sprintf(form, value)
			if strings.Contains(shownInDiff(t, text), value) {
				shown++
			}
		}
		if shown > 1 {
			t.Errorf("%q: %d of %d are shown", form, shown, draws)
		}
		lawsOfMask(t, fmt.Sprintf(form, draw(random, letters, 32)))
	}
	for _, text := range []string{
		"Set the Cookie header to user_session=<your session>; theme=dark", "cookie: ${SESSION_COOKIE_FROM_BROWSER}", "\"node_modules/cookie\": {\n  \"version\": \"0.4.0\",\n  \"integrity\": \"sha512-q7Rz2Lm9Xc4Vb8Nt1Wk6Yh3Jq7Rz2Lm9Xc4Vb8Nt1Wk6Yh3Jq7Rz2Lm9Xc4Vb8Nt1Wk6Yh3Jq7Rz2Lm9Xc4Vb8Q==\"",
		"cookie@0.4.0:\n  resolved \"https://registry.yarnpkg.com/cookie/-/cookie-0.4.0.tgz#beb437e7022b3b6d49019d088665303ebe9c14ba\"", "github.com/gorilla/securecookie v1.1.2 h1:YCIWL56dvtr73r6715mJs5ZvhtnY73hBvEF8kXD8ePA=",
		"res.cookie('theme', 'dark', { sameSite: 'strict' })", "CookieAuthenticationDefaults.AuthenticationScheme", "Join the community: https://join.slack.com/t/acme/shared_invite/zt-1a2B3c4D5e", "git checkout -b feature/2f0c1d9-cookieless", "session: 3fa85f64-5717-4562-b3fc-2c963f66afa6",
		"pat := regexp.MustCompile(`^[a-z0-9]{13,40}$`)", "session = requests.Session()", "refresh: handleOAuth2Callback", "otp_release: 26.2.1", "backup: s3://acme-backups/2024-01-02T03-04-05Z.tar.gz", "jwt: jsonwebtoken@9.0.2",
	} {
		if got := shownInDiff(t, text); strings.Contains(got, Redacted) {
			t.Errorf("%s is shown as\n%s", text, got)
		}
	}
}
