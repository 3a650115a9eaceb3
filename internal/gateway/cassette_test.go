package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

const leaked = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

// talk is one conversation: two agents, the same question twice, a stream, a refusal.
func talk(t *testing.T, r *rig) []string {
	t.Helper()
	var heard []string
	limits := review.Limits{LLMCalls: 9}
	for _, agent := range []string{"r2", "r1"} {
		r.token = r.g.Issue(agent, limits, known...)
		for _, text := range []string{"again", "again", "wrong"} {
			_, body := r.ask(mini, agent+" "+text)
			heard = append(heard, body)
		}
		text, err := r.streamed(chat(mini, agent+" streamed", true))
		if err != nil {
			t.Error(err)
		}
		heard = append(heard, text)
	}
	return heard
}

func record(t *testing.T, path string) (heard []string, usage review.Usage) {
	t.Helper()
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{
		{Contains: "wrong", Answer: fakemodel.Answer{Status: 400, Message: "not like this"}},
		{Contains: "r1 again", Times: 1, Answer: fakemodel.Answer{Text: "first"}},
	}}, review.Limits{}, func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record} })
	heard = talk(t, r)
	usage = r.g.Usage("r1")
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	return heard, usage
}

func replay(t *testing.T, path string, change ...func(*Options)) *rig {
	t.Helper()
	o := Options{Cassette: Cassette{Path: path, Mode: Replay}}
	for _, c := range change {
		c(&o)
	}
	g, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return &rig{t: t, g: g, token: g.Issue("r1", review.Limits{LLMCalls: 9}, known...)}
}

// Conversations are recorded and replayed, offline and deterministically.
func TestReplayIsWhatWasRecorded(t *testing.T) {
	for _, name := range []string{"talk.jsonl", "talk.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			want, usage := record(t, path)
			again := filepath.Join(t.TempDir(), name)
			record(t, again)
			one, err := os.ReadFile(path)
			two, err2 := os.ReadFile(again)
			if err != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Errorf("the same conversation is another file: %v %v", err, err2)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("others may read it: %v %v", info.Mode(), err)
			}
			if bytes.Contains(one, []byte(realKey)) || bytes.Contains(one, []byte("Bearer")) {
				t.Error("a key stands in it")
			}
			r := replay(t, path)
			if got := talk(t, r); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("replayed\n%q\nrecorded\n%q", got, want)
			}
			if got := r.g.Usage("r1"); got.LLMCalls != usage.LLMCalls || *got.InputTokens != *usage.InputTokens || *got.CostUSD != *usage.CostUSD {
				t.Errorf("usage %+v, recorded %+v", got, usage)
			}
			if err := r.g.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEarlierAnswersAreUsedFirst: what an earlier conversation holds is not asked again, and is recorded with what is new.
func TestEarlierAnswersAreUsedFirst(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "second.jsonl")
	want, _ := record(t, first)
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{
		{Contains: "wrong", Answer: fakemodel.Answer{Status: 400, Message: "not like this"}},
		{Answer: fakemodel.Answer{Text: "asked anew"}},
	}}, review.Limits{}, func(o *Options) { o.Cassette = Cassette{Path: second, Mode: Record, From: first} })
	got := talk(t, r)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("heard\n%q\nrecorded\n%q", got, want)
	}
	if n := len(r.model.Requests()); n != 2 { // the two refusals
		t.Errorf("the model was asked %d times", n)
	}
	if _, body := r.ask(mini, "something new"); !strings.Contains(body, "asked anew") {
		t.Errorf("%s", body)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	p := replay(t, second)
	if got := talk(t, p); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("replayed\n%q\nrecorded\n%q", got, want)
	}
	if status, _ := p.ask(mini, "something new"); status != http.StatusOK {
		t.Error("what was new is not recorded")
	}
	o := Options{Cassette: Cassette{Path: second, Mode: Record, From: filepath.Join(t.TempDir(), "none.jsonl")}}
	if g, err := Start(t.Context(), o); errors.Is(err, os.ErrNotExist) {
		t.Errorf("no earlier conversation: %v", err)
	} else if err == nil {
		_ = g.Close()
	}
}

func TestWhatIsNotOnTheCassetteIsAMiss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	record(t, path)
	r := replay(t, path)
	var miss *CassetteMissError
	for range 2 {
		if status, body := r.ask(mini, "r1 again"); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	}
	for what, text := range map[string]string{"another question": "r1 other", "once more than recorded": "r1 again", "another agent's": "r2 again"} {
		status, body := r.ask(mini, text)
		if status != http.StatusNotFound || !strings.Contains(body, CodeCassette) || !errors.As(r.g.Err("r1"), &miss) || miss.Agent != "r1" {
			t.Errorf("%s: %d %s, err %v", what, status, body, r.g.Err("r1"))
		}
	}
	resp, err := replay(t, path).post(strings.Replace(chat(mini, "r1 again", false), `"max_tokens":100`, `"max_tokens":77,"user":"u"`, 1))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("limits and labels are no part of the question: %v %v", resp, err)
	}
	_ = resp.Body.Close()
}

// A cassette that was recorded by an earlier prloop is found again.
func TestQuestionsKeepTheirNames(t *testing.T) {
	c, no := inspect(pathChat, []byte(`{"user":"u","stream":true,"model":"m","max_tokens":7,"stream_options":{"include_usage":true},`+
		`"messages":[{"role":"user","content":"a < \u0062 \u2028"}],"temperature":0.010,"store":true}`), nil)
	if no != nil {
		t.Fatal(no)
	}
	const want = "/chat/completions\n" + `{"messages":[{"content":"a \u003c b \u2028","role":"user"}],"model":"m","stream":true,"temperature":0.010}`
	if got, err := c.question(); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// What differs from run to run stands in no cassette: a replay with another word around untrusted text finds its answers,
// which speak of its own word.
func TestCassettesForgetTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	word := func(w string) func(*Options) {
		return func(o *Options) { o.Cassette.Words = func() []string { return []string{w} } }
	}
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "said between 0a1b2c3d4e5f", PieceRunes: 5}}, review.Limits{},
		func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record} }, word("0a1b2c3d4e5f"))
	if status, body := r.ask(mini, "<<<0a1b2c3d4e5f text"); status != http.StatusOK || !strings.Contains(body, "0a1b2c3d4e5f") {
		t.Errorf("%d %s", status, body)
	}
	if text, err := r.streamed(chat(mini, "<<<0a1b2c3d4e5f text", true)); err != nil || strings.Contains(text, "0a1b2c3d4e5f") {
		t.Fatalf("the test needs a word in pieces: %v %s", err, text)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("0a1b2c3d4e5f")) || bytes.Contains(data, []byte(`0a1b2`)) {
		t.Errorf("the word of the run stands in the file: %v\n%s", err, data)
	}
	if status, body := replay(t, path, word("ffeeddccbbaa")).ask(mini, "<<<ffeeddccbbaa text"); status != http.StatusOK || !strings.Contains(body, "ffeeddccbbaa") {
		t.Errorf("%d %s", status, body)
	}
	if text, err := replay(t, path, word("ffeeddccbbaa")).streamed(chat(mini, "<<<ffeeddccbbaa text", true)); err != nil || !strings.Contains(text, "said between ffeeddccbbaa") {
		t.Errorf("%v %s", err, text)
	}
}

func TestCassettesAreRedacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	answer := strings.Repeat("word ", 7) + "token " + leaked + " end" // over two events of a stream
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: answer}}, review.Limits{}, func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record} })
	r.ask(mini, "my token is "+leaked)
	live, err := r.streamed(chat(mini, "x", true))
	if err != nil || strings.Contains(live, leaked) {
		t.Fatalf("the test needs a secret in pieces: %v %s", err, live)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("ghp_")) || bytes.Contains(data, []byte(leaked[20:])) {
		t.Errorf("the secret stands in the file: %v\n%s", err, data)
	}
	p := replay(t, path)
	if status, body := p.ask(mini, "my token is "+leaked); status != http.StatusOK || strings.Contains(body, leaked) || !strings.Contains(body, "word") {
		t.Errorf("%d %s", status, body)
	}
	if text, err := p.streamed(chat(mini, "x", true)); err != nil || !strings.Contains(text, " end") || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("%v %s", err, text)
	}
}

func TestBadCassettes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for rule, c := range map[string]Cassette{
		"a missing file":    {Path: filepath.Join(dir, "none"), Mode: Replay},
		"no cassette":       {Path: write("a", "hello\n"), Mode: Replay},
		"a later version":   {Path: write("b", `{"cassette":"prloop","version":2}`+"\n"), Mode: Replay},
		"a broken line":     {Path: write("c", `{"cassette":"prloop","version":1}`+"\n{\n"), Mode: Replay},
		"not gzipped":       {Path: write("d.gz", `{"cassette":"prloop","version":1}`+"\n"), Mode: Replay},
		"an unknown mode":   {Path: "x", Mode: "both"},
		"a path is missing": {Mode: Record},
		"no such folder":    {Path: filepath.Join(dir, "none", "x"), Mode: Record},
	} {
		if g, err := Start(t.Context(), Options{Cassette: c}); err == nil {
			_ = g.Close()
			t.Errorf("%s was accepted", rule)
		}
	}
}

// A credential that prloop holds is in no spelling in what is kept, whoever wrote it there: a conversation with a model is not
// worth its key.
func TestCassetteHoldsNoKnownSecret(t *testing.T) {
	const secret = "prl_7Qm2Zx9Kd4Tn8Vb1Wc6Hs3Jf5Lg0Rp"
	copies := map[string]string{
		"plain": secret, "hex": hex.EncodeToString([]byte(secret)), "base64": base64.StdEncoding.EncodeToString([]byte("x" + secret)),
	}
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "a word\nof " + copies["hex"]}}, review.Limits{LLMCalls: 9},
		func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record, Known: []string{secret}} })
	for _, copied := range copies {
		if status, body := r.ask(mini, "Kept.\n"+copied); status != http.StatusOK {
			t.Fatal(status, body)
		}
	}
	if _, err := r.streamed(chat(mini, copies["base64"], true)); err != nil {
		t.Fatal(err)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, copied := range copies {
		if strings.Contains(string(data), copied) {
			t.Errorf("%s stands in\n%s", what, data)
		}
	}
	if n := strings.Count(string(data), "Kept.\\n[REDACTED]"); n != len(copies) {
		t.Errorf("%d of %d questions are kept\n%s", n, len(copies), data)
	}
}

// TestOlderRecordings: what was recorded when agents asked for whole answers is replayed to those that ask for a stream. What was
// recorded as a stream is one still, and no other question is found.
func TestOlderRecordings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Times: 1, Contains: "plain", Answer: fakemodel.Answer{Text: "first <&>"}}, {Answer: fakemodel.Answer{Text: "second"}}}},
		review.Limits{LLMCalls: 9}, func(o *Options) { o.Cassette = Cassette{Path: path, Mode: Record} })
	plain := strings.Replace(chat(mini, "plain <&>", false), `,"stream":false`, "", 1)
	for range 2 {
		r.call(http.MethodPost, pathChat, r.token, plain)
	}
	if _, err := r.streamed(chat(mini, "streamed", true)); err != nil {
		t.Fatal(err)
	}
	if err := r.g.Close(); err != nil {
		t.Fatal(err)
	}
	r = replay(t, path)
	for _, want := range []string{"first", "second"} {
		text, err := r.streamed(chat(mini, "plain <&>", true))
		if err != nil || !strings.Contains(text, want) || !strings.HasPrefix(text, "{") {
			t.Errorf("%v %s", err, text)
		}
	}
	if text, err := r.streamed(chat(mini, "streamed", true)); err != nil || !strings.HasPrefix(text, "data:") {
		t.Errorf("%v %s", err, text)
	}
	for _, question := range []string{chat(mini, "plain <&>", true), chat(mini, "streamed", false)} {
		if status, body := r.call(http.MethodPost, pathChat, r.token, question); status != http.StatusNotFound || !strings.Contains(body, CodeCassette) {
			t.Errorf("%d %s", status, body)
		}
	}
}

// TestPiecesOfCallsStayApart: what is taken out of the arguments of one call of a stream does not move those of another.
func TestPiecesOfCallsStayApart(t *testing.T) {
	event := func(index, text string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":` + index + `,"function":{"arguments":"` + text + `"}}]}}]}` + "\n\n"
	}
	got := redactStream([]byte(event("0", "to sec")+event("1", "mine")+event("0", "ret")), func(s string) string { return strings.ReplaceAll(s, "secret", "[x]") })
	for n, want := range []string{`"to [x]"`, `"mine"`, `""`} {
		if line := strings.Split(got, "\n\n")[n]; !strings.Contains(line, `"arguments":`+want) {
			t.Errorf("event %d is %s", n, line)
		}
	}
}
