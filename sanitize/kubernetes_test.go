package sanitize

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/pace"
)

// secretOf is a Secret of Kubernetes with one entry.
func secretOf(section, entry string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\n" + section + ":\n  " + entry + "\n"
}

func inBase64(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }

// What a Secret of Kubernetes keeps is masked under whatever name it stands (threats.md T648).
func TestKeptValues(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6Yh3J"
	npmrc, htpasswd := inBase64("//registry.npmjs.org/:_authToken=npm_Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb4c\n"), inBase64("admin:$apr1$k3Jx8QzP$Zq5NmA75mADgRt7NmA75mA")
	blanks, xml := inBase64(`{"mode": "a", "smtp": "Ab3dEf7hIj1kLm5nOp9qRs2t"}`), inBase64("<x><password>Ab3dEf7hIj1kLm5nOp9qRs2t</password></x>")
	docker := inBase64(`{"auths": {"ghcr.io": {"auth": "` + inBase64("octocat:ghp_Zx8Qw3Er5Ty7Ui9Op1As2Df4Gh6Jk8Lz0Xcv") + `"}}}`)
	address := inBase64("postgres://app:V3x8Qm7Tv2Kq9WpL@db.acme.io/x")
	for name, c := range map[string]struct{ text, value string }{
		"an address":           {secretOf("data", "postgres-url: "+address), address},
		"a short password":     {secretOf("data", "smtp: "+inBase64("Zq5NmA75mADg")), inBase64("Zq5NmA75mADg")},
		"signs, no digit":      {secretOf("data", "extra: UyFCXCpkJHpEc2I9"), "UyFCXCpkJHpEc2I9"},
		"drawn bytes":          {secretOf("data", "seed: "+inBase64("\x8f\x01\xfe\x90\xa7\x11\x0c\xd2\xe3")), inBase64("\x8f\x01\xfe\x90\xa7\x11\x0c\xd2\xe3")},
		"in clear":             {secretOf("stringData", "smtp: "+value), value},
		"a short one in clear": {secretOf("stringData", "conn: T7kq3Zr8Lw2Vx9"), "T7kq3Zr8Lw2Vx9"},
		"in quotes":            {secretOf("stringData", `"smtp": "`+value+`" # the relay`), value},
		"below its name":       {secretOf("stringData", "smtp: |-\n    "+value), value},
		"wrapped":              {secretOf("data", "dsn: >-\n    "+address[:40]+"\n    "+address[40:]), address[:40]},
		"the kind comes last":  {"data:\n  dsn: " + address + "\nkind: Secret\n", address},
		"in a list":            {"items:\n- apiVersion: v1\n  kind: Secret\n  stringData:\n    smtp: " + value + "\n- kind: Pod\n", value},
		"the list begins so":   {"items:\n  - kind: 'Secret'\n    stringData:\n      smtp: " + value + "\n", value},
		"behind other objects": {"kind: Pod\n---\n" + secretOf("data", "dsn: "+address), address},
		"as JSON":              {"{\n    \"apiVersion\": \"v1\",\n    \"data\": {\n        \"dsn\": \"" + address + "\",\n        \"x\": \"eA==\"\n    },\n    \"kind\": \"Secret\",\n    \"metadata\": {\n        \"name\": \"app\"\n    }\n}\n", address},
		"with a tag":           {secretOf("stringData", "smtp: !!str "+value), value},
		"with an anchor":       {secretOf("stringData", "smtp: &s "+value), value},
		"in braces":            {"kind: Secret\nstringData: {mode: a, smtp: " + value + "} # the relay\n", value},
		"in braces, quoted":    {"kind: Secret\nstringData: { mode: \"{a, b}\", 'smtp': '" + value + "' }\n", value},
		"the first in braces":  {"kind: Secret\nstringData: {smtp: \"" + value + "\", mode: it's}\n", value},
		"braces in lines":      {"kind: Secret\nstringData: {mode: a,\n  host: b, smtp: \"" + value + "\"}\n", value},
		"an object in braces":  {"- {kind: ConfigMap, data: {a: b}}\n- {stringData: {smtp: " + value + "}, kind: Secret}\n", value},
		"JSON in one line":     {`{"apiVersion":"v1","data":{"a":"eA==","dsn":"` + address + `"},"kind":"Secret","metadata":{"name":"app"}}` + "\n", address},
		"JSON of a list":       {`{"items":[{"kind":"Pod"},{"data":{"dsn":"` + address + `"},"kind":"Secret"}]}` + "\n", address},
		"what was applied":     {"metadata:\n  annotations:\n    applied: |\n      {\"data\":{\"dsn\":\"" + address + "\"},\"kind\":\"Secret\"}\n", address},
		"a comma in a value":   {secretOf("stringData", "smtp: "+value+",x:{"+value+"}"), value},
		"a brace in a value":   {secretOf("stringData", "smtp: q7Rz2Lm9}"+value+"}x"), value},
		"lines of settings":    {secretOf("stringData", ".env: |\n    MODE=a\n\n    # the relay\n    export SMTP=\""+value+"\"\n"), value},
		"lines of YAML":        {secretOf("stringData", "app.yaml: |\n    mail:\n      smtp: "+value+"\n"), value},
		"settings, encoded":    {secretOf("data", ".env: "+inBase64("MODE=a\nSMTP="+value+"\n")), inBase64("MODE=a\nSMTP=" + value + "\n")},
		"settings of npm":      {secretOf("data", ".npmrc: "+npmrc), npmrc},
		"JSON with blanks":     {secretOf("data", "config: "+blanks), blanks},
		"a registry's login":   {secretOf("data", ".dockerconfigjson: "+docker), docker},
		"a file of passwords":  {secretOf("data", "auth: "+htpasswd), htpasswd},
		"XML":                  {secretOf("data", "config: "+xml), xml},
		"lines of two bytes":   {strings.ReplaceAll(secretOf("data", "dsn: "+address), "\n", "\r\n"), address},
	} {
		diff := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(c.text, "\n"), "\n", "\n+") + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, c.value) || strings.Contains(Mask(c.text), c.value) {
			t.Errorf("%s: shown in\n%s", name, diff)
		}
		if strings.Contains(Redact(c.text), c.value) {
			t.Errorf("%s: printed as\n%s", name, Redact(c.text))
		}
		lawsOfMask(t, c.text)
	}
	// A hunk may show the value alone.
	whole := secretOf("stringData", "a: b\n  c: d\n  e: f\n  smtp: 8c3f01be97a24d56e0b9c81f7a6d2e43")
	piece := "@@ -8,2 +8,2 @@ stringData:\n   e: f\n-  smtp: x\n+  smtp: 8c3f01be97a24d56e0b9c81f7a6d2e43\n"
	keys := KeyLines{}
	keys.Learn(whole)
	if maskChange(t, nil, &piece, map[*string]KeyLines{&piece: keys}); strings.Contains(piece, "8c3f") || !MayHoldKey("  smtp: 8c3f01be97a24d56e0b9c81f7a6d2e43\n") {
		t.Errorf("a piece is shown as\n%s", piece)
	}
}

// Settings in words, templates, and what stands in other objects are shown (threats.md T648).
func TestKeptValuesAreNoSettings(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6Yh3J"
	for _, text := range []string{
		secretOf("data", "username: "+inBase64("administrator")), secretOf("data", "password: {{ .Values.smtp | b64enc }}"), secretOf("stringData", "host: mail1.acme.io:587"), secretOf("data", "url: "+inBase64("redis://redis-1.acme.io:6379/0")),
		secretOf("data", "ca.crt: "+inBase64("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")), secretOf("stringData", "smtp: ${SMTP_RELAY_1}"), secretOf("stringData", "mode: smtp-over-tls12"), secretOf("data", "user: "+inBase64("your-user-1")),
		secretOf("stringData", "app.yaml: |\n    level: debug\n    workers: 12"), secretOf("metadata", "smtp: "+value), strings.ReplaceAll(secretOf("data", "smtp: "+value), "Secret", "ConfigMap"),
		"{\n  \"data\": {\n    \"smtp\": \"" + value + "\"\n  },\n  \"kind\": \"ConfigMap\"\n}\n", "{\n  \"kind\": \"Secret\",\n  \"metadata\": {\n    \"smtp\": \"" + value + "\"\n  }\n}\n",
		"kind: Secret\nstringData: {mode: smtp-over-tls12, smtp: ${SMTP_RELAY_1}, url: {{ .Values.smtp1relay2host3 }}}\n", `{"kind":"ConfigMap","data":{"smtp":"` + value + `"}}` + "\n", `{"items":[{"kind":"Secret","data":{}},` + "\n" + `{"kind":"ConfigMap","data":{"smtp":"` + value + `"}}]}` + "\n",
		"- {kind: Secret, metadata: {smtp: a}}\n- {kind: ConfigMap, data: {smtp: " + value + "}}\n", secretOf("stringData", ".env: |\n    HOST=mail1.acme.io:587\n    CACHE=/var/lib/app1/q7Rz2Lm9Xc4Vb8Nt\n    URL=redis://redis-1.acme.io:6379/0"),
		"items:\n- kind: Secret\n  type: Opaque\n- kind: ConfigMap\n  data:\n    smtp: " + value + "\n", "kind: Secret\n---\nkind: ConfigMap\ndata:\n  smtp: " + value + "\n", strings.ReplaceAll(secretOf("data", "smtp: "+inBase64(value)), "Secret", "SecretStore"),
	} {
		diff := "@@ -0,0 +1,9 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
		if was := diff; maskChange(t, nil, &diff, nil) != 0 || diff != was || len(KeptValues(text)) > 0 {
			t.Errorf("masked:\n%s", diff)
		}
	}
}

// A Secret that keeps a Secret, and so on, costs one reading of each.
func TestKeptSecretsWithinEachOther(t *testing.T) {
	within := func(levels int) func() {
		text := "a: b\r\n"
		for range levels {
			text = "kind: Secret\r\ndata:\r\n  a: " + inBase64(text) + "\r\n"
		}
		return func() {
			if spans := KeptValues(text); len(spans) != 1 {
				t.Errorf("%d values are kept", len(spans))
			}
		}
	}
	pace.Within(t, 12, within(20), within(26)) // the text grows by a third with each level
}
