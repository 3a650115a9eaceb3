package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// TestMain lets the test binary play the agent and prloop's MCP server: the children of these tests are real.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "acp-agent" {
		play(os.Args[2])
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "acp-mcp" {
		if err := ServeMCP(context.Background(), os.Stdin, os.Stdout, os.Getenv, openBox); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// box lends the real tools, as package cli does.
type box struct{ *tools.Box }

func openBox(tree string, _ []string, _ map[string]string) (Toolbox, error) {
	b, err := tools.Open(tools.Options{Tree: tree})
	return box{b}, err
}

func (b box) Specs() []ToolSpec {
	var all []ToolSpec
	for _, s := range b.Box.Specs() {
		all = append(all, ToolSpec(s))
	}
	return all
}

// actor is a small real ACP agent that behaves as its mode says.
type actor struct {
	mode  string
	conn  *api.AgentSideConnection
	tools *mcp.ClientSession
	turns int
	caps  api.ClientCapabilities
}

func play(mode string) {
	a := &actor{mode: mode}
	a.conn = api.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	<-a.conn.Done()
	if mode == "stays" {
		time.Sleep(time.Hour)
	}
}

func (a *actor) Initialize(_ context.Context, p api.InitializeRequest) (api.InitializeResponse, error) {
	a.caps = p.ClientCapabilities
	if a.mode == "refuses" {
		fmt.Fprintln(os.Stderr, "no model key")
		return api.InitializeResponse{}, errors.New("not today")
	}
	return api.InitializeResponse{ProtocolVersion: api.ProtocolVersionNumber}, nil
}

func (a *actor) NewSession(ctx context.Context, p api.NewSessionRequest) (api.NewSessionResponse, error) {
	s := p.McpServers[0].Stdio
	cmd := exec.Command(s.Command, s.Args...)
	for _, e := range s.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Stderr = os.Stderr
	var err error
	a.tools, err = mcp.NewClient(&mcp.Implementation{Name: "actor", Version: "1"}, nil).Connect(context.WithoutCancel(ctx), &mcp.CommandTransport{Command: cmd}, nil)
	return api.NewSessionResponse{SessionId: "s-1"}, err
}

func (a *actor) SetSessionMode(_ context.Context, p api.SetSessionModeRequest) (api.SetSessionModeResponse, error) {
	if p.ModeId != "read-only" {
		return api.SetSessionModeResponse{}, errors.New("no such mode")
	}
	return api.SetSessionModeResponse{}, nil
}

func (a *actor) Prompt(ctx context.Context, p api.PromptRequest) (api.PromptResponse, error) {
	a.turns++
	said := p.Prompt[0].Text.Text
	end := api.PromptResponse{StopReason: api.StopReasonEndTurn, Usage: &api.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120}}
	switch a.mode {
	case "flood":
		for i := range 3000 {
			a.say(ctx, p, fmt.Sprintf("%d,", i))
		}
	case "noise":
		fmt.Println("npm warn something")
		fmt.Println(`[1,2]`)
		fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"made_up"}}}`)
		fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"update":7}}`)
	case "permissions":
		a.permissions(ctx, p)
		return end, nil
	case "asks-much":
		for i := range maxRequests + 10 {
			_, _ = fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":\"x%d\",\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"s-1\",\"path\":\"/etc/passwd\"}}\n", i)
		}
		<-ctx.Done()
	case "hang":
		a.say(ctx, p, "hm")
		select {}
	case "submit-hang":
		a.submit(ctx, valid("found"))
		select {}
	case "long-line":
		fmt.Println(`{"x":"` + strings.Repeat("x", maxLine+1) + `"}`)
		select {}
	case "silent":
		return end, nil
	case "dies":
		fmt.Fprintln(os.Stderr, "segmentation fault")
		os.Exit(3)
	case "refusal":
		return api.PromptResponse{StopReason: api.StopReasonRefusal}, nil
	case "text":
		a.say(ctx, p, "Here: if (x) { y } and then\n```json\n"+valid("in text")[:40])
		a.say(ctx, p, valid("in text")[40:]+"\n```\n")
		return end, nil
	case "two-texts":
		a.say(ctx, p, valid("one")+"\n"+valid("two"))
		return end, nil
	case "cut", "cut-then-prose", "takes-back", "claims", "claims-on", "claims-no-more":
		text := map[string][2]string{
			"cut":            {cutP0, cutP0},
			"cut-then-prose": {cutP0, "I cannot do that."},
			"takes-back":     {strings.Replace(valid("kept"), `"approve"`, `"maybe"`, 1), none},
			"claims":         {claims, ""},
			"claims-on":      {claims, claims},
			"claims-no-more": {claims, none},
		}[a.mode]
		a.say(ctx, p, text[min(a.turns, 2)-1])
		return end, nil
	case "claims-submitted":
		a.submit(ctx, claims)
		if a.turns == 1 {
			a.submit(ctx, "{}")
		}
		return end, nil
	case "salvage":
		a.say(ctx, p, strings.Replace(valid("kept"), `"conclusion":"approve"`, `"conclusion":"maybe"`, 1))
		return end, nil
	case "repair":
		if a.turns == 1 {
			a.say(ctx, p, a.submit(ctx, `{"findings":[]}`))
			return end, nil
		}
		if !strings.Contains(said, "prNumber") {
			return end, errors.New("the reason was not quoted")
		}
	case "fix", "fix-hang":
		a.edit(p)
		a.submit(ctx, mended("F-1", "F-2"))
		if a.mode == "fix-hang" {
			select {}
		}
		return end, nil
	case "fix-forgets":
		a.submit(ctx, mended("F-1"))
		a.submit(ctx, mended("F-1", "F-2", "F-9"))
		return end, nil
	case "fix-partly":
		a.submit(ctx, mended("F-1"))
		return end, nil
	case "fix-text":
		a.say(ctx, p, mended("F-1", "F-2"))
		return end, nil
	case "fix-permissions":
		a.editPermissions(ctx, p)
		return end, nil
	case "reads":
		read := a.call(ctx, "read_file", `{"path":"rows.go"}`) + a.call(ctx, "read_file", `{"path":"../../etc/passwd"}`)
		fmt.Fprintln(os.Stderr, read)
		a.submit(ctx, valid(read))
		return end, nil
	case "severe-then-silent":
		a.submit(ctx, valid("It runs what it is given"))
		a.submit(ctx, silent)
		return end, nil
	case "refused-twice-then-silent", "refused-twice":
		a.submit(ctx, strings.Replace(valid("It runs what it is given"), `"approve"`, `"maybe"`, 1))
		a.submit(ctx, `{"findings":[]}`)
		if a.mode == "refused-twice-then-silent" {
			a.submit(ctx, silent)
		}
		return end, nil
	case "severe-text-then-silent":
		a.say(ctx, p, valid("It runs what it is given"))
		a.submit(ctx, silent)
		return end, nil
	case "in-turn":
		a.submit(ctx, `{"findings":[]}`)
	}
	a.submit(ctx, valid("found"))
	return end, nil
}

// permissions asks for all sorts of things and answers with what it was allowed.
func (a *actor) permissions(ctx context.Context, p api.PromptRequest) {
	var got []string
	ask := func(name, title string, kind api.ToolKind, path string) {
		u := api.ToolCallUpdate{ToolCallId: api.ToolCallId(name), Title: &title, Kind: &kind}
		if path != "" {
			u.Locations = []api.ToolCallLocation{{Path: path}}
		}
		r, err := a.conn.RequestPermission(ctx, api.RequestPermissionRequest{SessionId: p.SessionId, ToolCall: u, Options: []api.PermissionOption{
			{Kind: api.PermissionOptionKindAllowAlways, Name: "a", OptionId: "always"},
			{Kind: api.PermissionOptionKindAllowOnce, Name: "b", OptionId: "yes"},
			{Kind: api.PermissionOptionKindRejectOnce, Name: "c", OptionId: "no"},
		}})
		if err == nil && r.Outcome.Selected != nil {
			got = append(got, name+"="+string(r.Outcome.Selected.OptionId))
		}
	}
	wd, _ := os.Getwd()
	ask("own", "prloop_submit_result", api.ToolKindOther, "")
	ask("tool", "prloop_read_file", api.ToolKindOther, "")
	ask("invented", "prloop_run_anything", api.ToolKindOther, "")
	ask("disguise", "prloop_submit_result", api.ToolKindExecute, "")
	ask("suffix", "prloop_submit_result; rm -rf /", api.ToolKindOther, "")
	ask("read", "read", api.ToolKindRead, wd+"/a.go")
	ask("outside", "read", api.ToolKindRead, "/etc/passwd")
	ask("bash", "bash", api.ToolKindExecute, "")
	ask("edit", "edit", api.ToolKindEdit, wd+"/a.go")
	ask("fetch", "fetch", api.ToolKindFetch, "")
	if _, err := a.conn.ReadTextFile(ctx, api.ReadTextFileRequest{SessionId: p.SessionId, Path: wd + "/a.go"}); err == nil {
		got = append(got, "fs")
	}
	if a.caps.Fs.ReadTextFile || a.caps.Fs.WriteTextFile || a.caps.Terminal {
		got = append(got, "caps")
	}
	a.submit(ctx, valid(strings.Join(got, " ")))
}

// edit changes the tree, as a fixer does.
func (a *actor) edit(p api.PromptRequest) {
	if err := os.WriteFile("rows.go", []byte("package rows // fixed\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// editPermissions asks for all sorts of changes and answers with what it was allowed.
func (a *actor) editPermissions(ctx context.Context, p api.PromptRequest) {
	wd, _ := os.Getwd()
	var got []string
	ask := func(name string, kind api.ToolKind, paths ...string) {
		u := api.ToolCallUpdate{ToolCallId: api.ToolCallId(name), Title: &name, Kind: &kind}
		for _, path := range paths {
			u.Locations = append(u.Locations, api.ToolCallLocation{Path: path})
		}
		r, err := a.conn.RequestPermission(ctx, api.RequestPermissionRequest{SessionId: p.SessionId, ToolCall: u, Options: []api.PermissionOption{
			{Kind: api.PermissionOptionKindAllowOnce, Name: "b", OptionId: "yes"}, {Kind: api.PermissionOptionKindRejectOnce, Name: "c", OptionId: "no"},
		}})
		if err == nil && r.Outcome.Selected != nil {
			got = append(got, name+"="+string(r.Outcome.Selected.OptionId))
		}
	}
	_ = os.Symlink("/etc", filepath.Join(wd, "away"))
	_ = os.Symlink("/nowhere/yet", filepath.Join(wd, "dangling"))
	ask("inside", api.ToolKindEdit, wd+"/rows.go")
	ask("new", api.ToolKindEdit, wd+"/sub/new.go")
	ask("relative", api.ToolKindDelete, "rows.go")
	ask("outside", api.ToolKindEdit, "/etc/passwd")
	ask("above", api.ToolKindEdit, wd+"/../x")
	ask("both", api.ToolKindMove, wd+"/rows.go", "/tmp/x")
	ask("link", api.ToolKindEdit, wd+"/away/passwd")
	ask("dangling", api.ToolKindEdit, wd+"/dangling")
	ask("git", api.ToolKindEdit, wd+"/.git/hooks/pre-commit")
	ask("unknown", api.ToolKindEdit)
	ask("shell", api.ToolKindExecute, wd+"/rows.go")
	fixed := mended("F-1", "F-2")
	a.submit(ctx, strings.Replace(fixed, "fixed F-1", strings.Join(got, " "), 1))
}

// fixed is a fixer's answer that says it fixed these.
func mended(ids ...string) string {
	r := review.FixResult{Agent: "x", PRNumber: 7, Summary: review.FixSummary{Fixed: len(ids)}, RejectedIssues: []review.RejectedIssue{}, Commits: []review.FixCommit{}}
	for _, id := range ids {
		r.FixedIssues = append(r.FixedIssues, review.FixedIssue{FindingID: id, Description: "fixed " + id})
	}
	return mustJSON(r)
}

func (a *actor) say(ctx context.Context, p api.PromptRequest, text string) {
	_ = a.conn.SessionUpdate(ctx, api.SessionNotification{SessionId: p.SessionId, Update: api.UpdateAgentMessageText(text)})
}

// submit calls the tool and returns what it answered.
func (a *actor) submit(ctx context.Context, doc string) string {
	_ = a.conn.SessionUpdate(ctx, api.SessionNotification{SessionId: "s-1", Update: api.StartToolCall("c-1", "prloop_submit_result", api.WithStartKind(api.ToolKindOther))})
	return a.call(ctx, ToolName, doc)
}

// call calls one of prloop's tools and returns what it answered.
func (a *actor) call(ctx context.Context, tool, args string) string {
	r, err := a.tools.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return err.Error()
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// valid is a review with one finding of that title.
const (
	cutP0  = `{"agent":"x","prNumber":7,"findings":[{"id":"A","priority":"P0","title":"It runs wha`
	claims = `{"agent":"x","prNumber":7,"issues":{"p0_blocking":1,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}`
	none   = `{"agent":"x","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}`
)

func valid(title string) string {
	quoted, _ := json.Marshal(title)
	return `{"agent":"x","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":1,"p2_important":0,"p3_suggestion":0},"findings":[{"id":"A-1","priority":"P1","category":"bug","file":"rows.go","line":12,"title":` +
		string(quoted) + `,"description":"d"}],"fullReport":"r"}`
}

// silent is a result without findings.
const silent = `{"agent":"x","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":""}`

func (a *actor) Authenticate(context.Context, api.AuthenticateRequest) (api.AuthenticateResponse, error) {
	return api.AuthenticateResponse{}, nil
}
func (a *actor) Logout(context.Context, api.LogoutRequest) (api.LogoutResponse, error) {
	return api.LogoutResponse{}, nil
}
func (a *actor) Cancel(context.Context, api.CancelNotification) error { return nil }
func (a *actor) CloseSession(context.Context, api.CloseSessionRequest) (api.CloseSessionResponse, error) {
	return api.CloseSessionResponse{}, nil
}
func (a *actor) ListSessions(context.Context, api.ListSessionsRequest) (api.ListSessionsResponse, error) {
	return api.ListSessionsResponse{}, nil
}
func (a *actor) ResumeSession(context.Context, api.ResumeSessionRequest) (api.ResumeSessionResponse, error) {
	return api.ResumeSessionResponse{}, nil
}
func (a *actor) SetSessionConfigOption(context.Context, api.SetSessionConfigOptionRequest) (api.SetSessionConfigOptionResponse, error) {
	return api.SetSessionConfigOptionResponse{}, nil
}
