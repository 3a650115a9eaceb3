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
		"curl 'https://acme.io/me' -H 'Accept: */*' -H 'Cookie: user_session=%s; theme=dark'", "curl -b 'session=%s' https://acme.io/me", "curl --cookie sid=%s https://acme.io", "curl -sb session=%s https://acme.io", "curl -fsSLb \"sid=%s\" https://acme.io", "curl -b'sid=%s' https://acme.io | jq .", "curl 'https://acme.io/me' \\\n  -H 'accept: */*' \\\n  -b 'theme=dark; sid=%s' \\\n  -H 'dnt: 1'",
		`cookies = {"session": "%s"}`, "cookies = {\n    'theme': 'dark',\n    'sid': '%s',\n}", "requests.get(url, cookies=dict(sid='%s'))", `headers = {"Cookie": "sid=%s"}`, "Cookie:\n- sessionid=%s; theme=dark", `{"name": "Cookie", "value": "sid=%s"}`, "\"name\": \"Cookie\",\n\"value\": \"sid=%s; theme=dark\"", `document.cookie = "sid=%s"`,
		"Cookie: connect.sid=s%%3A%s.f3g", "PHPSESSID=%s", "connect.sid: 's%%3A%s.abc'", ".acme.io\tTRUE\t/\tTRUE\t1735689600\tuser_session\t%s", "#HttpOnly_.acme.io\tTRUE\t/\tFALSE\t0\tsid\t%s\r\n",
		"{\n  \"name\": \"sid\",\n  \"value\": \"%s\",\n  \"path\": \"/\",\n  \"httpOnly\": true\n}", "await context.addCookies([{ name: 'sid', value: '%s', url, sameSite: 'Lax' }])",
		"erl -setcookie %s", "RABBITMQ_ERLANG_COOKIE: %s",
		"snmp-server community %s RW", "rocommunity %s", "tacacs-server key %s", "radius-server host 10.0.0.4 key %s", "crypto isakmp key %s address 0.0.0.0", "ntp authentication-key 1 md5 %s", "rootpw --plaintext %s", "jarsigner -keypass %s a.jar", "vault login %s",
		"smbclient //srv/a -U ci%%%s", "GH_PAT=%s", "TOTP=%s", "RECOVERY_CODES=%s", "BACKUP_CODE=%s", "PEPPER=%s", "BINDPW=%s", "PASSWRD=%s", "{passcode: '%s'}", "pswd: '%s'", "azure_pat: '%s'",
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
		`<script src="https://cdn.cookielaw.org/scripttemplates/otSDKStub.js" data-domain-script="018d2f3a-7c9b-7e21-a1b2-c3d4e5f60718-test"></script>`, "curl -fsSL https://acme.io/tool.tgz | tar xz\ngit checkout -b bump/deps-2024Q3-a7Bc9",
		"curl -fsSL https://acme.io/a.tgz && tool -b id=q7Rz2Lm9Xc4Vb8Nt1Wk6", "curl -fsSL https://acme.io/a.tgz; tool -b id=q7Rz2Lm9Xc4Vb8Nt1Wk6", "curl https://acme.io\ntool -b id=q7Rz2Lm9Xc4Vb8Nt1Wk6", "cookie: https://acme.io/a?v=8f7e6d5c4b3a2910",
		`get("/me").withCookie("JSESSIONID", "9C1D2E3F4A5B6C7D8E9F0A1B2C3D4E5F")`, `cookies.get("d41d8cd98f00b204e9800998ecf8427e")`, "const COOKIE_NAME = 'connect.sid.9f8a7b6c5d4e'", `<div class="cookieBanner__Ab3kZ9xQ1m css-1q2w3e4r5t">`,
		`"cookieTitle.message.aB3xK9Qz7Lm2": "We use cookies"`, `github "tough-cookie" "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"`, `refresh: "M4v5h.582m15.356a8.001A8.2m0H9"`, `jwt: "HS256WithKeyIdV2x9"`, `test "cookies" do get(conn, "/a8Zk2Lm9Xc4Vb8Nt1")`,
		"Cookie: _ga=GA1.2.1033501218.1368477899; session=abc123def456ghi; JSESSIONID=1234567890ABCDEF", "TRUE\tq7Rz2Lm9Xc4Vb8Nt1Wk6\tx\tTRUE\t1", `{"name": "theme", "value": "dark", "httpOnly": false}, {"name": "build", "value": "q7Rz2Lm9Xc4V-b8Nt1Wk6"}`, "cookies: {\n  cache_policy_id: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'\n}",
	} {
		if got := shownInDiff(t, text); strings.Contains(got, Redacted) {
			t.Errorf("%s is shown as\n%s", text, got)
		}
	}
}
