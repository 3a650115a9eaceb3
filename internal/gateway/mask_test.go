package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// TestTextsAreMasked: what a model reads is masked, once, its own thoughts included; ids, data, signatures and what a provider encrypted are not touched.
func TestTextsAreMasked(t *testing.T) {
	for _, row := range []struct{ path, body, want string }{
		{pathChat, `{"model":"S","messages":[{"role":"system","content":"S s"},{"role":"user","content":[{"type":"text","text":"S s"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,S"}}]},` +
			`{"role":"assistant","content":null,"reasoning":"S","reasoning_content":"S","reasoning_text":"S","reasoning_opaque":"S","reasoning_details":[` +
			`{"type":"reasoning.text","text":"S","signature":"S"},{"type":"reasoning.summary","summary":"S"},{"type":"reasoning.encrypted","data":"S"}],` +
			`"tool_calls":[{"id":"S","type":"function","function":{"name":"S","arguments":"{\"a\":\"S\\\"\",\"b\":1.0}"}}]},` +
			`{"role":"tool","tool_call_id":"S","content":"S"}],"tools":[{"type":"function","function":{"name":"S","description":"S",` +
			`"parameters":{"type":"object","properties":{"z":{"type":"string","description":"S"},"a":{"type":"string"}}}}}]}`,
			`"arguments":"{\"a\":\"#\\\"\",\"b\":1.0}"`},
		{pathResponses, `{"model":"S","instructions":"S","input":[{"role":"user","content":[{"type":"input_text","text":"S"}]},` +
			`{"type":"reasoning","id":"S","summary":[{"type":"summary_text","text":"S"}],"content":[{"type":"reasoning_text","text":"S"}],"encrypted_content":"S"},{"type":"function_call","call_id":"S","name":"S","arguments":"S"},` +
			`{"type":"function_call_output","call_id":"S","output":"S"}]}`, `"encrypted_content":"S"`},
		{pathMessages, `{"model":"S","max_tokens":9,"system":[{"type":"text","text":"S"}],"messages":[{"role":"user","content":"S"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"S","signature":"S"},{"type":"redacted_thinking","data":"S"},` +
			`{"type":"tool_use","id":"S","name":"S","input":{"a":"S"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"S",` +
			`"content":[{"type":"text","text":"S"},{"type":"image","source":{"type":"base64","media_type":"S","data":"S"}}]}]}]}`, `"signature":"S"`},
	} {
		r := setup(t, fakemodel.Script{}, review.Limits{}, func(o *Options) {
			o.Mask = func(s string) string { return strings.ReplaceAll(s, "S", "#") }
			o.Upstreams[0].Models = []string{"S"}
		})
		r.send(row.path, row.body)
		got := string(r.model.Requests()[0].Body)
		sent, marks := strings.Count(row.body, "S"), strings.Count(got, "#")
		if !strings.Contains(got, row.want) || marks == 0 || strings.Count(got, "S")+marks != sent {
			t.Errorf("%s: %d masked of %d\n%s", row.path, marks, sent, got)
		}
		for _, plain := range []string{`"text":"S`, `"content":"S`, `"description":"S`, `"output":"S`, `"instructions":"S`, `"a":"S`, `"arguments":"S`, `"id":"#`, `"name":"#`, `"data":"#`, `base64,#`,
			`"thinking":"S`, `"summary":"S`, `"reasoning":"S`, `"reasoning_content":"S`, `"reasoning_text":"S`, `"reasoning_opaque":"#`, `"encrypted_content":"#`, `"signature":"#`} {
			if strings.Contains(got, plain) {
				t.Errorf("%s: %s stands in\n%s", row.path, plain, got)
			}
		}
	}
}

// send posts a body to one of the paths.
func (r *rig) send(path, body string) (int, string) {
	r.t.Helper()
	return r.call(http.MethodPost, path, r.token, body)
}

// TestShownLinesStay: what was shown reaches a model as it is, whatever a mask over the whole request learned elsewhere in it; what
// an agent adds is masked, and so are credentials that are known, wherever they stand.
func TestShownLinesStay(t *testing.T) {
	const code = "     5 +os.system(request.args['c'])"
	r := setup(t, fakemodel.Script{}, review.Limits{LLMCalls: 9}, func(o *Options) {
		o.Mask = func(s string) string { return strings.ReplaceAll(s, "os.system(request", "#") }
		o.MaskKnown = func(s string) string { return strings.ReplaceAll(s, "credential", "!") }
		o.Upstreams[0].Models = []string{"m"}
	})
	ask := func(text string) string {
		t.Helper()
		body, err := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": text}}})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := r.send(pathChat, string(body)); status != http.StatusOK {
			t.Fatal(status, answer)
		}
		all := r.model.Requests()
		return all[len(all)-1].Messages[0].Text
	}
	text := "os.system(request of an agent\n" + code + "\n" + code + " and more\nthe credential\nthe end os.system(request"
	masked := "# of an agent\n     5 +#.args['c'])\n     5 +#.args['c']) and more\nthe !\nthe end #"
	if got := ask(text); got != masked {
		t.Errorf("before it is shown: %q", got)
	}
	r.g.Show("title\n" + code + "\nthe credential")
	if got, want := ask(text), strings.Replace(masked, "     5 +#.args['c'])\n", code+"\n", 1); got != want {
		t.Errorf("after it was shown:\n%q, want\n%q", got, want)
	}
	r.g.Show("the end os.system(request", "\xff\xfe os.system(request")
	if got := ask("\xff\xfe os.system(request"); got != "\ufffd\ufffd os.system(request" {
		t.Errorf("bytes that are no UTF-8: %q", got)
	}
	if got := ask(text); !strings.HasSuffix(got, "the !\nthe end os.system(request") || !strings.Contains(got, "\n"+code+"\n") {
		t.Errorf("after more was shown: %q", got)
	}
}

// A command may hand on its request as JSON: a diff in it that was shown stays, however it is encoded, and what stands around it does not.
func TestShownStringsStay(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "secret", "#") }
	const diff = "+say \"<secret>\"\n-b\\c\n"
	m := Masks{Values: hide, Learned: hide}
	m.Show(diff)
	for _, text := range []string{diff, "+say \"<secret>\"", "+other \"secret\"\n-b\\c\n", diff + "secret"} {
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, around := range []string{`{"secret":1,"diff":%s,"title":"secret\n"}`, "A 5\" secret:\n%s", `%s"`, `%s%[1]s secret\`} {
			sent, want := fmt.Sprintf(around, plain), fmt.Sprintf(hide(around), plain)
			if text != diff {
				want = hide(want)
			}
			if got := m.Mask(sent); got != want {
				t.Errorf("%s\nis sent as\n%s\nwant\n%s", sent, got, want)
			}
		}
	}
	for _, line := range []string{`+puts("password="secret"\n");`, `+secret("+say \"<secret>\"\n")`} { // code has such strings too
		m.Show(line)
		if got := m.Mask("secret\n" + line); got != "#\n"+line {
			t.Errorf("%s is sent as %s", line, got)
		}
	}
	if got, want := m.Mask(`secret("\n", secret)`), `#("\n", #)`; got != want {
		t.Errorf("blank lines: %s", got)
	}
	var other bytes.Buffer
	e := json.NewEncoder(&other)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]string{"diff": diff}); err != nil {
		t.Fatal(err)
	}
	if got := m.Mask(other.String()); got != other.String() {
		t.Errorf("another encoder's is sent as %s", got)
	}
}

// A mask that does not keep lines is not undone: which line became which is not known.
func TestLinesThatAreNotKept(t *testing.T) {
	shown := map[string]struct{}{"secret": {}}
	for masked, want := range map[string]string{"*\n*": "*\nsecret", "*": "*", "a\nb\nc": "a\nb\nc"} {
		if got := keepLines("my secret\nsecret", masked, shown); got != want {
			t.Errorf("%q: %q, want %q", masked, got, want)
		}
	}
}

func TestMasksRemember(t *testing.T) {
	var asked atomic.Int64
	m := Masks{Values: func(s string) string { asked.Add(1); return strings.ReplaceAll(s, "secret", "***") }}
	texts := []string{"a secret", "plain", ""}
	for range 3 {
		var got []string
		for _, s := range texts {
			got = append(got, m.Mask(s))
		}
		if !slices.Equal(got, []string{"a ***", "plain", ""}) {
			t.Errorf("%q", got)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("%d texts were masked, want 2", n)
	}
	for i := range 5 * maskedTexts {
		m.Mask(fmt.Sprint("text ", i))
		m.Mask("plain") // stays known as it is asked for
	}
	if len(m.young) > maskedTexts || len(m.old) > maskedTexts || asked.Load() != int64(2+5*maskedTexts) {
		t.Errorf("%d and %d are remembered, %d were masked", len(m.young), len(m.old), asked.Load())
	}
	m.Mask(strings.Repeat("secret", maskedBytes))
	if m.bytes > maskedBytes {
		t.Errorf("%d bytes are remembered", m.bytes)
	}
}

// What is learned of the change after a text was masked once is masked in it from then on. In lines that were shown it is not: coverage counts
// them as they were.
func TestMasksGrow(t *testing.T) {
	var known atomic.Bool
	m := Masks{Values: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }, Learned: func(s string) string {
		if known.Load() {
			return strings.ReplaceAll(strings.ReplaceAll(s, "value", "#"), "+word", "#")
		}
		return s
	}}
	m.Show("a shown value", "+word")
	for _, want := range []string{"a *** value\na shown value\n+word", "a *** #\na shown value\n+word"} {
		if got := m.Mask("a secret value\na shown value\n+word"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		known.Store(true)
	}
}
