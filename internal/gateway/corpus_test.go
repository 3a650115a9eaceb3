package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// plainQuestion is what every document of the corpus asks, by path.
var plainQuestion = map[string]string{
	pathChat:      `"model":"m","messages":[{"role":"user","content":"x"}]`,
	pathResponses: `"model":"m","input":"x"`,
	pathMessages:  `"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]`,
}

// TestCorpus: documents of hostile and of honest agents. ~ in a body stands for a plain question. A want that begins with { is
// what is sent beside the plain question, to the byte; any other is a part of the reason why the document is refused.
func TestCorpus(t *testing.T) {
	const evil = `https://evil.example/?q=1`
	part := func(p string) string { return `{"model":"m","messages":[{"role":"user","content":[` + p + `]}]}` }
	item := func(i string) string { return `{"model":"m","input":[` + i + `]}` }
	block := func(b string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + b + `]}]}`
	}
	partOut := func(p string) string { return `{"messages":[{"role":"user","content":[` + p + `]}]}` }
	blockOut := partOut
	itemOut := func(i string) string { return `{"input":[` + i + `]}` }
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	rows := []struct{ name, path, body, want string }{
		// The form of a document, whatever its protocol.
		{"nothing", pathChat, ``, "not one JSON document"},
		{"half a document", pathChat, `{"model":"m"`, "not one JSON document"},
		{"two documents", pathChat, `{~}{~}`, "not one JSON document"},
		{"a word after it", pathChat, `{~} x`, "not one JSON document"},
		{"a byte order mark", pathChat, "\xef\xbb\xbf{~}", "not one JSON document"},
		{"a comment", pathChat, `{~/**/}`, "not one JSON document"},
		{"a comma too many", pathChat, `{~,}`, "not one JSON document"},
		{"NaN", pathChat, `{~,"temperature":NaN}`, "not one JSON document"},
		{"a bare tab in a text", pathChat, "{~,\"user\":\"\t\"}", "not one JSON document"},
		{"UTF-16", pathChat, "{\x00}\x00", "not one JSON document"},
		{"broken UTF-8 in a text", pathChat, "{~,\"user\":\"\xff\"}", "not valid UTF-8"},
		{"a surrogate as UTF-8", pathChat, "{~,\"user\":\"\xed\xa0\x80\"}", "not valid UTF-8"},
		{"an overlong slash", pathMessages, "{~,\"system\":\"\xc0\xaf\"}", "not valid UTF-8"},
		{"a list", pathChat, `[]`, "not a JSON object"},
		{"null", pathResponses, `null`, "not a JSON object"},
		{"a text", pathMessages, `"x"`, "not a JSON object"},
		{"no model", pathChat, `{"messages":[]}`, "model is missing"},
		{"a model of null", pathChat, `{"model":null,"messages":[]}`, "model is missing"},
		{"a list of models", pathChat, `{"model":["m"],"messages":[]}`, "field model: has the wrong type"},
		{"nested too deep", pathChat, `{~,"tools":` + deep(64) + `}`, "nested more than 64"},
		{"nested far too deep", pathChat, `{~,"x":` + deep(20000) + `}`, "not one JSON document"},
		{"too many values", pathChat, `{~,"x":[0` + strings.Repeat(",0", maxValues) + `]}`, "more than 65536 values"},
		{"too many names", pathMessages, `{~,"x":{` + manyNames(maxValues/2) + `}}`, "more than 65536 values"},
		{"space is folded", pathChat, " {\n\t\"model\" : \"m\",\r\n\"messages\":[ { \"role\":\"user\" , \"content\":\"x\" } ], \"stop\" : [ \"a\" , \"b\" ] } ", `{"stop":["a","b"]}`},

		// Names that occur twice.
		{"a model twice", pathChat, `{~,"model":"o1-pro"}`, `"model" twice`},
		{"the same name spelt with an escape", pathChat, `{~,"mod\u0065l":"o1-pro"}`, `"model" twice`},
		{"an address twice", pathChat, part(`{"type":"image_url","image_url":{"url":"` + evil + `","url":"data:image/png;base64,AA"}}`), `"url" twice`},
		{"a type twice", pathMessages, `{~,"tools":[{"type":"web_search_20250305","name":"n","type":"custom"}]}`, `"type" twice`},
		{"a server twice", pathResponses, `{~,"tools":[{"type":"function","type":"mcp","server_url":"` + evil + `"}]}`, `"type" twice`},
		{"twice in an unknown field", pathChat, `{~,"x":{"a":[{"b":1,"b":2}]}}`, `"b" twice`},
		{"twice in what a tool was asked", pathMessages, block(`{"type":"tool_use","id":"t","name":"n","input":{"a":1,"a":2}}`), `"a" twice`},
		{"twice among many names", pathMessages, `{~,"x":{` + manyNames(100) + `,"n7":1}}`, `"n7" twice`},
		{"twice when half a pair is read", pathChat, `{~,"x":{"\ud800":1,"\udfff":2}}`, "twice"},

		// Names in another case.
		{"Model", pathChat, `{~,"Model":"o1-pro"}`, "case-sensitive, write model"},
		{"Type of a tool", pathResponses, `{~,"tools":[{"type":"function","name":"n","Type":"mcp"}]}`, "case-sensitive, write type"},
		{"the other way round", pathResponses, `{~,"tools":[{"type":"mcp","server_url":"` + evil + `","Type":"function"}]}`, `"mcp"`},
		{"TYPE alone", pathChat, `{~,"tools":[{"TYPE":"function","function":{"name":"n"}}]}`, "which the provider runs"},
		{"URL beside url", pathChat, part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","URL":"` + evil + `"}}`), "case-sensitive, write url"},
		{"a letter that folds", pathMessages, "{~,\"\u017fystem\":\"x\"}", "case-sensitive, write system"},
		{"Models", pathChat, `{~,"Models":["o1-pro"]}`, "case-sensitive, write models"},
		{"case is the caller's business in schemas", pathChat, `{~,"tools":[{"type":"function","function":{"name":"n","parameters":{"properties":{"a":{},"A":{}}}}}]}`,
			`{"tools":[{"type":"function","function":{"name":"n","parameters":{"properties":{"a":{},"A":{}}}}}]}`},

		// Fields that reach out, choose models or addresses, or bring out what is stored.
		{"a search", pathChat, `{~,"web_search_options":{}}`, "field web_search_options: agents have no network"},
		{"search parameters", pathChat, `{~,"search_parameters":{"sources":[{"type":"rss","links":["` + evil + `"]}]}}`, "field search_parameters: agents have no network"},
		{"plugins", pathChat, `{~,"plugins":[{"id":"web"}]}`, "field plugins"},
		{"Azure's data sources", pathChat, `{~,"data_sources":[{"type":"azure_search"}]}`, "field data_sources"},
		{"a search of Qwen's", pathChat, `{~,"enable_search":true}`, "field enable_search"},
		{"servers of tools", pathMessages, `{~,"mcp_servers":[{"type":"url","url":"` + evil + `"}]}`, "field mcp_servers"},
		{"no servers of tools", pathMessages, `{~,"mcp_servers":[]}`, `{}`},
		{"other models", pathChat, `{~,"models":["openai/o1-pro"],"route":"fallback"}`, "the operator chooses models"},
		{"a route", pathChat, `{~,"route":"fallback"}`, "field route"},
		{"fallbacks", pathChat, `{~,"fallbacks":["o1-pro"]}`, "field fallbacks"},
		{"fallbacks in messages", pathMessages, `{~,"fallbacks":[{"model":"o1-pro"}]}`, "field fallbacks"},
		{"an address of the API", pathChat, `{~,"api_base":"` + evil + `"}`, "field api_base"},
		{"another", pathResponses, `{~,"base_url":"` + evil + `"}`, "field base_url"},
		{"a key", pathChat, `{~,"api_key":"k"}`, "field api_key"},
		{"a provider", pathChat, `{~,"provider":{"order":["x"]}}`, "field provider"},
		{"fields inside a field", pathChat, `{~,"extra_body":{"models":["o1-pro"]}}`, "field extra_body"},
		{"a stored prompt", pathResponses, `{~,"prompt":{"id":"p"}}`, "field prompt"},
		{"a stored conversation", pathResponses, `{~,"conversation":"c"}`, "field conversation"},
		{"a stored answer", pathResponses, `{~,"previous_response_id":"r"}`, "field previous_response_id"},
		{"no stored answer", pathResponses, `{~,"previous_response_id":null}`, `{}`},
		{"a container", pathMessages, `{~,"container":"c"}`, "field container"},
		{"functions of old", pathChat, `{~,"functions":[{"name":"n"}]}`, "use tools"},
		{"a call of old", pathChat, `{"model":"m","messages":[{"role":"assistant","content":null,"function_call":{"name":"n","arguments":"{}"}}]}`, "messages/0/function_call"},
		{"a stored voice", pathChat, `{"model":"m","messages":[{"role":"assistant","audio":{"id":"a"}}]}`, "messages/0/audio"},
		{"sound as answer", pathChat, `{~,"modalities":["text","audio"]}`, `modalities/1: "audio" is not one of text`},
		{"answers of the provider's tools", pathResponses, `{~,"include":["web_search_call.action.sources"]}`, "include/0"},

		// Tools that the provider runs.
		{"a remote server in chat", pathChat, `{~,"tools":[{"type":"mcp","server_url":"` + evil + `"}]}`, `a tool of the kind "mcp", which the provider runs`},
		{"a search as tool", pathResponses, `{~,"tools":[{"type":"function","name":"n"},{"type":"web_search"}]}`, `tools/1: a tool of the kind "web_search"`},
		{"an interpreter", pathResponses, `{~,"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}`, `"code_interpreter"`},
		{"a search in messages", pathMessages, `{~,"tools":[{"type":"web_search_20250305","name":"web_search"}]}`, `"web_search_20250305"`},
		{"a shell in messages", pathMessages, `{~,"tools":[{"type":"bash_20250124","name":"bash"}]}`, `"bash_20250124"`},
		{"a tool whose type is a list", pathChat, `{~,"tools":[{"type":["function"]}]}`, "tools/0/type: has the wrong type"},
		{"a tool that is a text", pathChat, `{~,"tools":["web_search"]}`, "tools/0: has the wrong type"},
		{"tools that are an object", pathChat, `{~,"tools":{"type":"mcp"}}`, "field tools: has the wrong type"},
		{"a choice of one", pathResponses, `{~,"tool_choice":{"type":"web_search"}}`, `a choice of a tool of the kind "web_search"`},
		{"a choice of one by name", pathChat, `{~,"tool_choice":"web_search"}`, "is not one of none"},
		{"a choice among some", pathResponses, `{~,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp","server_label":"x"}]}}`, `a tool of the kind "mcp"`},
		{"a schema somewhere else", pathChat, `{~,"tools":[{"type":"function","function":{"name":"n","parameters":{"$ref":"` + evil + `"}}}]}`, "parameters/$ref: an address"},
		{"a schema somewhere else, as of 2019", pathChat, `{~,"tools":[{"type":"function","function":{"name":"n","parameters":{"items":{"$recursiveRef":"` + evil + `"}}}}]}`, "$recursiveRef: an address"},
		{"references relative to somewhere else", pathMessages, `{~,"tools":[{"name":"n","input_schema":{"$id":"` + evil + `","$ref":"#/a"}}]}`, "$id: an address"},
		{"the same as of draft 4", pathResponses, `{~,"tools":[{"type":"function","name":"n","parameters":{"id":"//example.com/x","$ref":"#/a"}}]}`, "id: an address"},
		{"relative to somewhere else, as browsers write it", pathMessages, `{~,"tools":[{"name":"n","input_schema":{"$id":"https:evil.example/x","$ref":"#/a"}}]}`, "$id: an address"},
		{"the same with a line end, behind another scheme", pathChat, `{~,"tools":[{"type":"function","function":{"name":"n","parameters":{"$id":"url:h\nttp:evil.example/x"}}}]}`, "$id: an address"},
		{"a schema with a name of its own", pathMessages, `{~,"tools":[{"name":"n","input_schema":{"$id":"urn:example:n","default":{"id":"user:42"}}}]}`,
			`{"tools":[{"name":"n","input_schema":{"$id":"urn:example:n","default":{"id":"user:42"}}}]}`},
		{"its own rules somewhere else", pathMessages, `{~,"tools":[{"name":"n","input_schema":{"$schema":"` + evil + `"}}]}`, "an address"},
		{"a schema as zod writes it", pathMessages, `{~,"tools":[{"name":"n","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"z":{"$ref":"#/a"},"a":{}}}}]}`,
			`{"tools":[{"name":"n","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"z":{"$ref":"#/a"},"a":{}}}}]}`},

		// Parts of messages: by content, not by address.
		{"an image by address", pathChat, part(`{"type":"image_url","image_url":{"url":"` + evil + `"}}`), "messages/0/content/0/image_url/url: a message part with an address"},
		{"with the address alone", pathChat, part(`{"type":"image_url","image_url":"` + evil + `"}`), "a message part with an address"},
		{"an address that begins like data", pathChat, part(`{"type":"image_url","image_url":{"url":"DATA:,x"}}`), "a message part with an address"},
		{"a file of this machine", pathChat, part(`{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}`), "a message part with an address"},
		{"a video", pathChat, part(`{"type":"video_url","video_url":{"url":"` + evil + `"}}`), `a message part of the kind "video_url"`},
		{"a file that is stored", pathChat, part(`{"type":"file","file":{"file_id":"f"}}`), "file/file_id"},
		{"a file whose data are an address", pathChat, part(`{"type":"file","file":{"filename":"f","file_data":"` + evil + `"}}`), "a message part with an address"},
		{"sound that is an address", pathChat, part(`{"type":"input_audio","input_audio":{"data":"` + evil + `","format":"wav"}}`), "content that is not base64"},
		{"an image in base64 that is an address", pathMessages, block(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + evil + `"}}`), "content that is not base64"},
		{"an address behind a data address", pathResponses, item(`{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,` + evil + `"}]}`), "content that is not base64"},
		{"sound behind another data address", pathChat, part(`{"type":"input_audio","input_audio":{"data":"data:text/html;base64,AA"}}`), "content that is not base64"},
		{"sound", pathChat, part(`{"type":"input_audio","input_audio":{"data":"//vQAA+_-/\nAA==","format":"mp3"}},{"type":"input_audio","input_audio":{"data":"data:;base64,AA"}},{"type":"input_audio","input_audio":{"data":"data:audio/wav;base64,AA"}}`),
			partOut(`{"type":"input_audio","input_audio":{"data":"//vQAA+_-/\nAA==","format":"mp3"}},{"type":"input_audio","input_audio":{"data":"data:;base64,AA"}},{"type":"input_audio","input_audio":{"data":"data:audio/wav;base64,AA"}}`)},
		{"an image as the Responses API has it", pathResponses, item(`{"role":"user","content":[{"type":"input_image","image_url":"` + evil + `"}]}`), "a message part with an address"},
		{"a file there", pathResponses, item(`{"role":"user","content":[{"type":"input_file","file_url":"` + evil + `"}]}`), "a message part with an address"},
		{"a stored image there", pathResponses, item(`{"role":"user","content":[{"type":"input_image","file_id":"f"}]}`), "file_id"},
		{"in what a tool gave", pathResponses, item(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"` + evil + `"}]}`), "a message part with an address"},
		{"an image as Anthropic has it", pathMessages, block(`{"type":"image","source":{"type":"url","url":"` + evil + `"}}`), "a message part with an address"},
		{"a stored document there", pathMessages, block(`{"type":"document","source":{"type":"file","file_id":"f"}}`), "a message part with an address"},
		{"in what a tool gave there", pathMessages, block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"` + evil + `"}}]}`), "a message part with an address"},
		{"a source that is a text", pathMessages, block(`{"type":"image","source":"` + evil + `"}`), "has the wrong type"},
		{"a result inside a result", pathMessages, block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_result"}]}`), `a content block of the kind "tool_result"`},
		{"an upload", pathMessages, block(`{"type":"container_upload","file_id":"f"}`), `"container_upload"`},
		{"what a tool of the provider gave", pathMessages, block(`{"type":"server_tool_use","id":"t","name":"web_search","input":{}}`), `"server_tool_use"`},
		{"an image as system", pathMessages, `{~,"system":[{"type":"image","source":{"type":"base64","data":"AA"}}]}`, `a content block of the kind "image"`},
		{"content that is an object", pathChat, `{"model":"m","messages":[{"role":"user","content":{"type":"text"}}]}`, "messages/0/content: has the wrong type"},
		{"content that is a number", pathMessages, `{"model":"m","messages":[{"role":"user","content":7}]}`, "has the wrong type"},
		{"tools inside the input", pathResponses, item(`{"type":"additional_tools","tools":[{"type":"web_search"}]}`), `an input item of the kind "additional_tools"`},
		{"what is stored", pathResponses, item(`{"type":"item_reference","id":"i"}`), `"item_reference"`},
		{"what is stored, without saying so", pathResponses, item(`{"id":"i"}`), "of no kind that nobody said"},
		{"with an empty type", pathResponses, item(`{"type":"","role":"","id":"i"}`), "of no kind that nobody said"},
		{"with a type of null", pathResponses, item(`{"type":null,"id":"i"}`), "of no kind that nobody said"},
		{"a call of the provider's", pathResponses, item(`{"type":"web_search_call","id":"i"}`), `"web_search_call"`},
		{"an address in a text is only text", pathChat, part(`{"type":"text","text":"` + evil + `"}`), partOut(`{"type":"text","text":"` + evil + `"}`)},
		{"an address a tool of the caller's is asked for", pathMessages, block(`{"type":"tool_use","id":"t","name":"n","input":{"url":"` + evil + `"}}`),
			blockOut(`{"type":"tool_use","id":"t","name":"n","input":{"url":"` + evil + `"}}`)},

		// What is left out, and what stays as it is.
		{"unknown fields", pathChat, `{~,"unknown":{"models":["o1-pro"]},"temperature":0.1}`, `{"temperature":0.1}`},
		{"unknown fields of parts", pathChat, part(`{"type":"text","text":"x","url":"` + evil + `"}`), partOut(`{"type":"text","text":"x"}`)},
		{"fields of another kind of part", pathResponses, item(`{"role":"user","content":[{"type":"input_text","text":"x","file_url":"` + evil + `"}]}`),
			itemOut(`{"role":"user","content":[{"type":"input_text","text":"x"}]}`)},
		{"price, privacy and labels", pathResponses, `{~,"service_tier":"priority","store":true,"background":true,"metadata":{"a":"b"},"user":"u"}`, `{"store":false,"user":"u"}`},
		{"a chat that is not to be stored", pathChat, `{~,"store":false}`, `{"store":false}`},
		{"a chat that is to be stored", pathChat, `{~,"store":true}`, `{"store":false}`},
		{"a chat that leaves it to the account", pathChat, `{~,"store":null}`, `{"store":false}`},
		{"storing in other words", pathChat, `{~,"store":"true"}`, "field store: has the wrong type"},
		{"storing spelt otherwise", pathResponses, `{~,"Store":true}`, "write store"},
		{"messages are never stored", pathMessages, `{~,"store":true}`, `{}`},
		{"betas", pathMessages, `{~,"output_config":{"effort":"high"},"context_management":{"edits":[]},"metadata":{"user_id":"u"}}`, `{}`},
		{"the other protocol's fields", pathChat, `{~,"input":[{"type":"item_reference","id":"i"}],"max_output_tokens":7}`, `{}`},
		{"numbers keep their digits", pathChat, `{~,"seed":12345678901234567890,"temperature":0.10,"top_p":1E-2}`, `{"seed":12345678901234567890,"temperature":0.10,"top_p":1E-2}`},
		{"texts are written in one way", pathChat, part(`{"type":"text","text":"\u0041\/\ud83d\ude00\u2028<\"\\\u0000"}`), partOut(`{"type":"text","text":"A/` + "\U0001F600\u2028" + `<\"\\\u0000"}`)},
		{"half a pair is replaced", pathChat, part(`{"type":"text","text":"a\ud83d"}`), partOut(`{"type":"text","text":"a` + "\uFFFD" + `"}`)},
		{"an image in the message", pathChat, part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}`),
			partOut(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}`)},
		{"a chat with calls and thoughts", pathChat, `{"model":"m","messages":[{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"S","index":0}],` +
			`"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`,
			`{"messages":[{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"S","index":0}],` +
				`"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`},
		{"a shape of answers keeps its order", pathChat, `{~,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"properties":{"z":{},"a":{}}}}}}`,
			`{"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"properties":{"z":{},"a":{}}}}}}`},
		{"responses with calls and sealed thoughts", pathResponses, item(`{"type":"reasoning","id":"r","summary":[],"encrypted_content":"S"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]},` +
			`{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"y"}`),
			itemOut(`{"type":"reasoning","id":"r","summary":[],"encrypted_content":"S"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]},` +
				`{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"y"}`)},
		{"messages with calls and signed thoughts", pathMessages, block(`{"type":"thinking","thinking":"t","signature":"S"},{"type":"redacted_thinking","data":"S"},` +
			`{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}`),
			blockOut(`{"type":"thinking","thinking":"t","signature":"S"},{"type":"redacted_thinking","data":"S"},` +
				`{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}`)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c, no := inspect(row.path, []byte(strings.ReplaceAll(row.body, "~", plainQuestion[row.path])), nil)
			want, isRefused := row.want, !strings.HasPrefix(row.want, "{")
			switch {
			case isRefused && (no == nil || !strings.Contains(no.message, want) || no.status != 400 || no.code != CodeRefused):
				t.Errorf("%+v, want a refusal: %s", no, want)
			case isRefused:
			case no != nil:
				t.Errorf("refused: %s", no.message)
			case beside(row.path, c.fields) != want:
				t.Errorf("sent\n%s\nwant\n%s", beside(row.path, c.fields), want)
			}
			if isRefused || c == nil {
				return
			}
			clean, no := inspect(row.path, []byte(strings.ReplaceAll(row.body, "~", plainQuestion[row.path])), func(s string) string { return s })
			if no != nil || beside(row.path, clean.fields) != want {
				t.Errorf("a mask that finds nothing makes it %v %+v", clean, no)
			}
		})
	}
	if len(rows) < 60 {
		t.Errorf("%d documents", len(rows))
	}
}

// beside is what fields hold that the plain question does not.
func beside(path string, fields map[string]json.RawMessage) string {
	var plain map[string]json.RawMessage
	_ = json.Unmarshal([]byte("{"+plainQuestion[path]+"}"), &plain)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !bytes.Equal(fields[name], plain[name]) {
			out = append(out, fmt.Sprintf("%q:%s", name, fields[name]))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func manyNames(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"n%d":0`, i))
	}
	return strings.Join(all, ",")
}
