package acp

import (
	"bufio"
	"io"
	"runtime"
	"strings"
	"testing"

	api "github.com/coder/acp-go-sdk"
)

// gated is a gate whose two ends are read; it gives what came to the SDK and to the agent.
func gated(t *testing.T, line string) (g *gate, updates []update, toSDK, toAgent string) {
	t.Helper()
	sdkR, sdkW := io.Pipe()
	agentR, agentW := io.Pipe()
	read := func(r io.Reader) chan string {
		got := make(chan string, 1)
		go func() {
			text, _ := bufio.NewReader(r).ReadString('\n')
			got <- text
		}()
		return got
	}
	sdk, agent := read(sdkR), read(agentR)
	g = &gate{to: sdkW, stdin: agentW, peer: &client{cwd: t.TempDir()}, update: func(u update) { updates = append(updates, u) }, excess: func() {}}
	g.line([]byte(line))
	sdkW.Close()
	if _, _, requests := g.counts(); requests == 0 {
		agentW.Close()
	}
	return g, updates, <-sdk, <-agent
}

// A line costs prloop little but its bytes, whatever it is made of, and no more than what prloop reads of it goes on (threats.md T473).
func TestMessagesCostWhatIsReadOfThem(t *testing.T) {
	const size = 4 << 20
	many := func(each string) string { return "[" + strings.Repeat(each+",", size/(len(each)+1)) + each + "]" }
	objects := many(`{"":0}`)
	permission := func(call, options string) string {
		return `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s","options":` + options + `,"toolCall":{"toolCallId":"t","kind":"read",` + call + `}}}`
	}
	const allow = `[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]`
	reply := func(rest string) string { return `{"jsonrpc":"2.0","id":1,` + rest + `}` }
	notice := func(rest string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"update":{` + rest + `}}}`
	}
	for name, row := range map[string]struct {
		line, sdk, agent string
		updates, dropped int
	}{
		"a request, what it is about":      {line: permission(`"rawInput":`+objects, allow), agent: `"optionId":"yes"`},
		"a request, what it holds":         {line: permission(`"content":`+objects, allow), agent: `"optionId":"yes"`},
		"a request, its notes":             {line: permission(`"_meta":{"x":`+objects+`}`, allow), agent: `"optionId":"yes"`},
		"a request, its title":             {line: permission(`"title":"`+strings.Repeat("x", size)+`"`, allow), agent: `"optionId":"yes"`},
		"a request, its places":            {line: permission(`"locations":`+many(`{"path":"a.go"}`), allow), agent: `"optionId":"no"`},
		"a request, its choices":           {line: permission(`"rawInput":{}`, many(`{"kind":"allow_once"}`)), agent: `"cancelled"`},
		"a request for what is no offer":   {line: `{"jsonrpc":"2.0","id":"p","method":"fs/write_text_file","params":{"content":` + objects + `}}`, agent: `"code":-32601`},
		"a request, its number":            {line: `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", size) + `","method":"session/request_permission","params":{}}`, dropped: 1},
		"a reply, its notes":               {line: reply(`"result":{"sessionId":"s","_meta":{"x":` + objects + `}}`), sdk: `{"id":1,"result":{"sessionId":"s"}}`},
		"a reply, its modes":               {line: reply(`"result":{"sessionId":"s","modes":{"currentModeId":"m","availableModes":` + objects + `}}`), sdk: `{"id":1,"result":{"sessionId":"s","modes":{"currentModeId":"m"}}}`},
		"a reply, its session":             {line: reply(`"result":{"sessionId":"` + strings.Repeat("x", size) + `"}`), sdk: `{"id":1,"result":{"sessionId":0}}`},
		"a reply, its error":               {line: reply(`"error":{"code":1,"message":"m","data":{"details":"d","x":` + objects + `}}`), sdk: `{"id":1,"error":{"code":1,"message":"m","data":{"details":"d"}}}`},
		"a reply of another shape":         {line: reply(`"error":{"code":1,"message":"m","data":` + objects + `}`), sdk: `{"id":1,"error":{"code":1,"message":"m","data":{}}}`},
		"an update, what a tool gave":      {line: notice(`"sessionUpdate":"tool_call_update","status":"failed","content":` + objects + `,"rawOutput":` + objects), updates: 1},
		"an update, its title":             {line: notice(`"sessionUpdate":"tool_call","title":"` + strings.Repeat("x", size) + `"`), updates: 1},
		"an update, a text":                {line: notice(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("x", size) + `"}`), updates: 1},
		"a notification nobody knows":      {line: `{"jsonrpc":"2.0","method":"x/y","params":` + objects + `}`},
		"a message that is none":           {line: objects, dropped: 1},
		"a message nested without end":     {line: strings.Repeat(`{"params":`, size/10), dropped: 1},
		"a name that occurs often":         {line: `{"method":"session/update","params":{` + strings.Repeat(`"update":{"title":"x"},`, size/230) + `"update":7}}`, dropped: 1},
		"a request, a choice without end":  {line: permission(`"rawInput":{}`, `[{"optionId":"`+strings.Repeat("x", 50<<10)+`","kind":"reject_once"}]`), agent: `"optionId":"xxx`},
		"an update, a text full of breaks": {line: notice(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat(`\n`, size/2) + `"}`), updates: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			g, updates, sdk, agent := gated(t, row.line)
			runtime.ReadMemStats(&after)
			// The line itself is copied into bytes; beside it stands at most the text of a turn, escaped and not.
			if cost := int(after.TotalAlloc-before.TotalAlloc) - len(row.line); cost > 6*maxText {
				t.Errorf("it cost %d bytes beside its own", cost)
			}
			if strings.TrimSpace(sdk) != row.sdk || !strings.Contains(agent, row.agent) || (agent == "") != (row.agent == "") || len(agent) > 1000 {
				t.Errorf("to the SDK %.200q\nto the agent %.200q", sdk, agent)
			}
			if dropped, _, _ := g.counts(); len(updates) != row.updates || dropped != row.dropped {
				t.Errorf("%d updates, %d lines dropped", len(updates), dropped)
			}
		})
	}
}

// The text of a turn is read to its bound, and only of blocks of text.
func TestTextOfAnUpdate(t *testing.T) {
	of := func(content string) string {
		_, updates, _, _ := gated(t, `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":`+content+`}}}`)
		return string(updates[0].Content)
	}
	for content, want := range map[string]string{
		`{"type":"text","text":"a \"b\" \u00e9 \ud83d\ude00\n"}`: "a \"b\" é 😀\n", `{"type":"image","text":"x"}`: "", `{"type":"text","text":7}`: "",
		`{"type":"text"}`: "", `null`: "", `[{"type":"text","text":"x"}]`: "", `"x"`: "",
	} {
		if got := of(content); got != want {
			t.Errorf("%s is %q, want %q", content, got, want)
		}
	}
	for _, piece := range []string{"x", `\n`, `\u0041`, "é", `\ud83d\ude00`} {
		got := of(`{"type":"text","text":"` + strings.Repeat(piece, maxText+7) + `"}`)
		if len(got) < maxText || len(got) > 4*maxText || !strings.HasSuffix(got, "…") {
			t.Errorf("%s: %d bytes, ending %q", piece, len(got), got[len(got)-10:])
		}
	}
}

// What is cut off a name makes it no other name.
func TestLongTitleIsNoOwnTool(t *testing.T) {
	c := &client{cwd: t.TempDir()}
	ask := func(title string) bool {
		var p permission
		p.Call.Kind = word(api.ToolKindOther)
		if err := p.Call.Title.UnmarshalJSON([]byte(`"` + title + `"`)); err != nil {
			t.Fatal(err)
		}
		return c.allows(p)
	}
	if !ask("prloop_submit_result") || ask("prloop_submit_result"+strings.Repeat(" ", maxWord)+"; rm -rf x") {
		t.Error("its title decides, all of it")
	}
}
