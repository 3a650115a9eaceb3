package sanitize

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Ways to give a value to a name, in which the value goes and all else stays.
func TestAssignmentsInEveryForm(t *testing.T) {
	const random, word = "hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", "hunter2Horse77"
	for _, form := range []string{
		`const API_KEY: &str = "%s";`, `const API_KEY: &'static str = "%s";`, `val apiKey: String = "%s"`, "if token != \"%s\" {", "if (token !== \"%s\")", "TOKEN += %s", "token <- \"%s\"",
		`token.equals("%s")`, `req.Header.Set("Authorization", "Bearer %s")`, `"Authorization": "Bearer " + "%s"`, "Authorization: ApiKey %s", "Authorization: `Bearer %s`", "ENV API_TOKEN %s",
		"setenv API_TOKEN %s", "set -x API_TOKEN %s", "gh secret set TOKEN --body %s", "--token %s", "<apiKey>%s</apiKey>", `<add key="ApiKey" value="%s"/>`, "- name: API_TOKEN\n  value: %s",
		`{"name":"API_TOKEN","value":"%s"}`, `{"password": {"value": "%s"}}`, "variable \"db_password\" {\n  default = \"%s\"\n}", `"tokens": ["%s"]`, `tokens := []string{"%s"}`, "api_token = [\n  \"%s\",\n]",
		"TOKEN_FOR_THE_DEPLOYMENT_OF_SHOPS=%s", "password_of_the_production_database_server = \"%s\"", "getToken() == \"%s\"", "let token = String::from(\"%s\");", "const token = process.env.TOKEN || \"%s\"",
		"API_TOKEN=" + strings.Repeat("a", 220) + "%s", "postgres://app:word99@%s@db/x", "postgres://" + strings.Repeat("u", 90) + ":%s@db/x", "proxy_set_header X-Api-Key %s;", "machine x login me\n  password %s",
	} {
		formKeeps(t, form, random)
	}
	for _, form := range []string{"var password string = \"%s\"", "const password: string = \"%s\"", "password: str = \"%s\"", "DB_PASS=\"%s\"", "MYSQL_PASS=%s", "ansible_become_pass: %s", "if password != \"%s\"",
		"<password>%s</password>", "- name: DB_PASSWORD\n  value: \"%s\"", "password = b\"%s\"", "postgres://app:p@%s@db/x"} {
		formKeeps(t, form, word)
	}
}

// Names of secrets in other languages, and short ones, are known where a random value is given to them (threats.md T761).
func TestOtherNamesOfSecrets(t *testing.T) {
	const random = "kT9wZ2q7Lm4Vb8Xc5RqJ7n"
	for _, form := range []string{"Passwort: %s", "db_kennwort = \"%s\"", "mot_de_passe = \"%s\"", "contraseña: %s", "'contrasena' => '%s',", "пароль = \"%s\"", "Пароль: %s", "密码 = \"%s\"", "DB_SENHA=%s", "hasło: %s", "pw := \"%s\"", "psk=%s", "heslo = \"%s\"", "wachtwoord: %s", "lösenord: %s", "losenord=%s", "salasana: %s", "パスワード=%s", "비밀번호: %s", "sifre = \"%s\"", "db_şifre: '%s'",
		"{\"wpa_psk\": \"%s\"}"} {
		formKeeps(t, form, random)
	}
	for _, s := range []string{"passwort: \"Passwort vergessen?\"", "senha: \"Digite-sua-senha-novamente-123\"", "hasLock: " + random, "desenha = " + random, "cifre = " + random, "npw: " + random, "pw = await playwright.chromium.launchPersistentContext2()",
		"pw: sha256:" + strings.Repeat("c67772c6", 8), "Passwort=${DB_PASSWORT_2026_PRODUCTION}", "the Passwort of build " + random} {
		if got := replaceSpans(s, assignmentSpans(s)); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

// A key of 32 bytes in base64 begins with a slash once in 64 times, and is no path (threats.md T760).
func TestKeysThatBeginLikePaths(t *testing.T) {
	for _, form := range []string{"PrivateKey = %s", "PresharedKey = %s", "private_key: %s"} {
		formKeeps(t, form, "/UwcSPg38hW/D9Y3tcS1FOV0K1wuURMbS0sesJEP5ak=")
	}
	for _, s := range []string{"PrivateKey = /etc/wireguard/keys2026/Server01Private.key", "token_dir /usr/lib64/Store3/Abc9Xyz8Qrs7/T5= x"} {
		if got := replaceSpans(s, assignmentSpans(s)); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func formKeeps(t *testing.T, form, value string) {
	t.Helper()
	s := fmt.Sprintf(form, value)
	before, after, _ := strings.Cut(form, "%s")
	before = strings.TrimRight(strings.SplitAfter(before, "\n")[strings.Count(before, "\n")], "@") // the line of the value
	for gate, got := range map[string]string{"Mask": Mask(s), "Redact": Redact(s)} {
		if strings.Contains(got, value) || !strings.HasSuffix(got, Redacted+after) || !strings.Contains(got, strings.TrimRight(before[:min(len(before), 8)], "a")) {
			t.Errorf("%s(%q) = %q", gate, s, got)
		}
	}
	lawsOfMask(t, s)
}

// Long random words that are no secret, also beside the name of one.
func TestSumsAreNoSecrets(t *testing.T) {
	const hex40, sum = "8f14e45fceea167a5a36dedd4bea25438f14e45f", "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
	for _, s := range []string{
		"git checkout token " + hex40, "git show --token-list " + hex40, "ENV TOKENIZER_COMMIT " + hex40,
		"uses: actions/create-github-app-token@" + hex40 + " # v2", "\"node_modules/js-tokens\": {\n  \"integrity\": \"sha512-" + sum + "\",", "github.com/acme/token v1.0.0 h1:" + sum[:44],
		"resolved \"https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#" + hex40 + "\"", "the token check of " + hex40 + " is gone", "see https://github.com/octo/hello/blob/" + hex40 + "/auth/token.go#L3",
		"{file = \"token-5.whl\", hash = \"sha256:" + strings.Repeat("c67772c6", 8) + "\"}", "session 550e8400-e29b-41d4-a716-446655440000 used 12 tokens", "token: revoke(tokens, sha256sum)",
		"\"repo\": \"x/token\", \"sha\": \"" + hex40 + "\"", "\"" + hex40 + ":key.txt:private-key:1\"", "SOCKS5_CUSTOM_AUTH_END = SOCKS5_CUSTOM_AUTH_END;", "--- PASS: TestBase64Token (0.00s)",
		"--token-icon: url(data:image/png;base64," + sum + ")", "tokenizer.encode(\"" + sum + "\")", "password: ENC[AES256_GCM,data:O+5l4g==,iv:c/dS4BCBMbnKsXYuzBuCuVQt8RV9bOv5HgdpL+iwmns=,tag:KkQfh6OymvCt4uC13p318g==,type:str]",
		"MIIDPzCCAiegAwIBAgIIJkzCwkNrPHMwDQYJpwdhvcNAQELBQAwMDEQMA4GA1UE\n" + "ChMHVEVTVElORzEcMBoGA1UEAxMTKipUZXN0aW5nKiogUm9vdCBDQTAeFw0xNTAx", "WithHeader(\"Authorization\", \"token explicit-token\")",
	} {
		if got := replaceSpans(s, ownSpans(s)); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
		if got := redactOwn(s); got != s {
			t.Errorf("redactOwn(%q) = %q", s, got)
		}
	}
}

// Hex has at most four bits for each byte, so that keys of 32 digits differ little from what is written by hand; they are masked however their digits fall.
func TestHexKeysAreMasked(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for _, form := range []string{
		"DD_API_KEY=%032x", `api_key = "%032x"`, "- name: DD_API_KEY\n  value: %032x", "ENV DD_API_KEY %032x", `<add key="ApiKey" value="%032x"/>`, "token: %032x",
		"ENV SONAR_TOKEN %040x", "deploy --token %040x", "app --api-key %064x x", "set -gx API_TOKEN %040x", "ENV API_TOKEN 8f14e45f-ceea-467a-9a36-dedd%08x",
	} {
		shown, drawn := 0, regexp.MustCompile("%0([0-9]+)x")
		for range 300 {
			s := drawn.ReplaceAllStringFunc(form, func(verb string) string {
				n, _ := strconv.Atoi(drawn.FindStringSubmatch(verb)[1])
				var b strings.Builder
				for range n {
					fmt.Fprintf(&b, "%x", random.IntN(16))
				}
				return b.String()
			})
			if !strings.Contains(Mask(s), Redacted) {
				shown++
			}
		}
		if shown > 0 {
			t.Errorf("%s: %d of 300 are shown", form, shown)
		}
	}
}

// Passwords that a command, a statement or a mailer is given without the name of a secret before them (threats.md T595).
func TestGivenPasswords(t *testing.T) {
	for _, form := range []string{
		"docker login -u ci -p %s ghcr.io", "sshpass -p '%s' ssh ci@acme.io", "mysqldump -h db.acme.io -uapp -p%s shop", "redis-cli -h cache -a %s ping",
		"CREATE USER 'app'@'%%' IDENTIFIED BY '%s';", "ALTER USER app IDENTIFIED WITH mysql_native_password BY '%s'", `$p = ConvertTo-SecureString "%s" -AsPlainText -Force`,
		"auth: { user: 'ci@acme.io', pass: '%s' }", `req.SetBasicAuth("ci", "%s")`, "client.R().SetBasicAuth(`ci`, `%s`).Get(u)", `headers.setBasicAuth(cfg.user(), "%s");`, `get(u, auth=HTTPBasicAuth('ci', '%s'))`,
		`requests.get(u, auth=("ci", "%s"))`, "request.basic_auth 'ci', '%s'",
		`auth := smtp.PlainAuth("", "ci@acme.io", "%s", host)`, `new PDO($dsn, "root", "%s", [1])`, `$db = mysqli_connect("db.acme.io","root","%s","shop_2024");`, `DriverManager.getConnection(url, user(), "%s")`,
		`jwt.sign(payload, "%s")`, `server.login(user, '%s')`, `await client.signInWithEmailAndPassword(auth, "ci@acme.io", "%s")`, `new NetworkCredential("ci", "%s")`, `conn.simple_bind_s("cn=ci", "%s")`, `ldap_bind($c, "cn=ci", "%s")`,
		"ldapsearch -x -D cn=ci -w %s -b dc=acme", "requirepass %s", "redis-server --masterauth '%s'", "db.acme.io:5432:shop:app:%s", "echo '*:*:*:app:%s' > ~/.pgpass",
	} {
		for _, short := range []string{"hunter2pass!", "S3cretPw"} {
			if line := fmt.Sprintf(form, short); strings.Contains(Mask(line), short) {
				t.Errorf("%s is shown", line)
			}
		}
		line := fmt.Sprintf(form, "Winter7Falcon92x")
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, "Winter7") || len(GivenPasswords(line))+len(AssignedValues(line)) == 0 {
			t.Errorf("%s is shown, or not found", line)
		}
		lawsOfMask(t, line)
		for _, value := range []string{"$DB_PASSWORD_2024", "${DB_PASSWORD_20}", "example-password1", "secret123", "{{ .Values.pw2 }}"} {
			if line := fmt.Sprintf(form, value); GivenPasswords(line) != nil {
				t.Errorf("%s is found", line)
			}
		}
	}
	for _, line := range []string{"docker login -u ci --password-stdin ghcr.io2", "mysql -h db-primary-2.acme.io -P 3306", "mkdir -p build/release-2024-artifacts", "redis-cli -h redis-master-2024.acme.io",
		`req.SetBasicAuth("Winter7Falcon92x", password)`, `req.SetBasicAuth(user, os.Getenv("CI_PASSWORD_2024"))`, `req.SetBasicAuth("user", "test-password-2024")`, `if basicAuth { log("user 1, 'Winter7Falcon92x'") }`,
		`conn = connect("tcp", "broker-2.acme.io", "mqtt-7.acme.io:1883")`, `mysqli_connect("h", "root", getenv("DB_PW_1"), "shop_2024x")`, `button.connect("pressed", self, "_on_Button2_pressed")`, `connect("src", "input0_x")`,
		`login("Winter7Falcon92x")`, `login(user, os.environ["CI_PW_2024"])`, `login(user, "the word 42 is none")`, `jwt.sign({ sub: "Winter7Falcon92x" }, key)`, `jwt.verify(token, publicKey, "RS256")`, "ldapsearch -W uid=jdoe2024x", "requirepass foobared",
		`author("ci", "Winter7Falcon92x")`, `f.bind(this, "Winter7Falcon92x")`, "main.c:5432:13:error:something42x in it", "https://acme.io:5432:x"} {
		if GivenPasswords(line) != nil {
			t.Errorf("%s is found", line)
		}
	}
}

// Of whatever command, what was drawn is a password behind an option that commands have for one, and a token in the place of the user of an address (threats.md T595).
func TestDrawnValuesOfOptions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 95))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for _, form := range []string{
		"mongosh -u app -p %s --host db.acme.io", "az login --service-principal -u 6d1f -p %s --tenant corp", "helm registry login r.acme.io -u app -p '%s'", `sqlcmd -S db -U app -P %s -Q "select 1"`, "plink -pw %s app@acme.io", "security unlock-keychain -p %s login.keychain",
		"zip -P %s out.zip a", "7z a -p%s out.7z f", "rar a -hp%s f", "openssl enc -aes-256-cbc -k %s", "signtool sign /f c.pfx /p %s x.exe", "xfreerdp /u:app /p:%s /v:h", "tool -w=%s", `args: ["-p", "%s"]`, "http -a app:%s GET h",
		"winexe -U app%%%s //h", "rpcclient -U 'corp\\app%%%s' h", "etcdctl --user app:%s get x", "svc --user=app/%s h", "git clone https://%s@git.acme.io/x/_git/x", "https://%s:x-oauth-basic@git.acme.io/x", "https://%s:@api.acme.io/v1",
		"db.acme.io:5432:shop:app:%s", `smtp.PlainAuth("", "ci@acme.io", "%s", host)`, "podman login -u ci -p %s ghcr.io",
	} {
		for _, length := range []int{14, 20, 28} {
			shown := 0
			for range 40 {
				value := draw(random, letters, length)
				line := fmt.Sprintf(form, value)
				if strings.Contains(shownInDiff(t, line), value) || len(GivenPasswords(line))+len(AddressPasswords(line)) == 0 {
					shown++
				}
				lawsOfMask(t, line)
			}
			if shown > 3 {
				t.Errorf("%q with %d: %d of 40 are shown, or not found", form, length, shown)
			}
		}
	}
	for _, line := range []string{
		"git show -p 8f14e45fceea167a5a36dedd4bea25438f14e45f", "git log -p 8f14e45fceea1", `exec.Command("git", "log", "-p", "8f14e45fceea167a5a36dedd4bea25438f14e45f")`, "git diff -w '8f14e45fceea167a5a36dedd4bea25438f14e45f' -- src", "mvn -B clean verify -PJDK17SpringBoot3", "docker run -p 127.0.0.1:8080:80 -w /work/X86_64bcD3eF4 acme/img@sha256:8f14e45fceea167a5a36dedd4bea25438f14e45fceea167a5a36dedd4bea2543", "gpg -a --export 0x3AA5C34371567BD2",
		"gpg -k 3AA5C34371567BD2", "tool -p 550e8400-e29b-41d4-a716-446655440000", "tool -u 550e8400-e29b-41d4-a716-446655440000", "nix-shell -p python312Packages.requests", "mkdir -p build/aB3xK9mQ2/x86_64-v3", "npm i -w @acme/pkgA1b2C3d4", "aws -p prod-eu-west-1a-V2b3c4", "curl -k https://acme.io/AbC1dEf2GhI3jKl4",
		"cp -a s3://b/AbC1dEf2GhI3jKl4x .", "build -p linux/amd64,linux/arm64/v8", `grep -P '\d{3}A1b2C3d4E5f6'`, "pytest -k testB64UrlToHex2Utf8V1", "msbuild /p:Version=1.2.3-ci.20240101T1234Z /p:TargetFramework=net8.0", "gradle -Pversion=1.0-SNAPSHOT8a", "unzip -P ${ZIP_PASSWORD_2024} x", "uucp:*:10:10:uucp:/var/spool/uucp:/usr/sbin/nologin",
		"docker run -u 1000:1000 img", "https://8f14e45fceea167a9a36dedd4bea2543@o123.ingest.sentry.io/4567", "https://8f14e45fceea167a9a36dedd4bea2543@sentry.acme.io/2", "git+https://github.com/acme/x@8f14e45fceea167a5a36dedd4bea25438f14e45f", "https://q7Rz2Lm9Xc4Vb8Nt1Wk6@localhost/x",
	} {
		if got := shownInDiff(t, line); strings.Contains(got, Redacted) || len(GivenPasswords(line))+len(AddressPasswords(line)) > 0 {
			t.Errorf("%s is masked, or found: %s", line, got)
		}
	}
}

// The option for a user and a password is one for a user and a group, or for an address, of other commands (threats.md T614).
func TestUsersAndGroupsAreNoPasswords(t *testing.T) {
	for _, line := range []string{
		"docker run --rm -u 1000:1000 -v $PWD:/src img", "Run it with `docker run -u 1000:1000`.", `args '-u root:root'`, `args "-u jenkins:docker"`, `      options: -u 1001:1001`, `{"run": "docker run -u node:node"}`,
		"docker exec -u www-data:www-data web ls", "podman run -u nobody:nogroup img", "oc login -u https://api.cluster:6443", "ffuf -u https://acme.io/FUZZ -w words.txt", "(`sonar-scanner -u https://sonar.acme.io`)",
		"curl -u elastic:elastic http://localhost:9200/_cat", "curl -u admin:admin https://grafana.example.com/api", "curl https://acme.io -o x; docker run -u node:node img", "curl -u user:password https://acme.io",
	} {
		if got := Mask(line); got != line {
			t.Errorf("%s is masked: %s", line, got)
		}
	}
	for _, line := range []string{
		"curl -u app:s3cretpw https://acme.io", "curl -u admin:sunshine https://acme.io", "http -u 1000:q7Rz2Lm9 acme.io", "xh -u 4711:84729104738 acme.io", "curl -u root:docker42 acme.io", "influx -u root:rootroot", "curl -u App:/q7Rz2Lm9 acme.io",
		"curl -u svc-artifacts:svc-artifacts https://artifacts.acme.io/x -o x", `curl -s -u 4711:93517 "https://sms.acme.io/send?to=1"`, "$(curl https://acme.io/x -u jenkins:docker)",
	} {
		if got := Mask(line); !strings.Contains(got, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
	random := rand.New(rand.NewPCG(6, 14))
	for _, form := range []string{"curl -u app:%s acme.io", "http -u 1000:%s acme.io", "mc -u https:%s", "docker run -u root:%s img"} {
		for range 300 {
			if line := fmt.Sprintf(form, drawForm(random, "{16b}")); Mask(line) == line {
				t.Errorf("%s is shown", line)
			}
		}
	}
}
