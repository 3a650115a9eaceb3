package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

// The MCP server's name, its tool, and the environment it finds its parent by.
const (
	ServerName = "prloop"
	ToolName   = "submit_result"

	EnvSocket = "PRLOOP_SUBMIT_SOCKET"
	EnvToken  = "PRLOOP_SUBMIT_TOKEN"
	EnvRole   = "PRLOOP_SUBMIT_ROLE"
	// EnvTree is the folder the other tools read; without it there are none.
	EnvTree = "PRLOOP_SUBMIT_TREE"
	// EnvTools are the names of the tools of a command, with commas between them. They are those that are offered, and no others.
	EnvTools = "PRLOOP_SUBMIT_TOOLS"
	// EnvFolders are the further folders these read, by name, as a JSON object.
	EnvFolders = "PRLOOP_SUBMIT_FOLDERS"
)

// readTools are the names of the tools that read the tree, as Toolbox may offer them: those of reviewers, then those of commands.
var readTools = []string{"read_file", "search_code", "list", "get_function_context",
	toolset.Read, toolset.Grep, toolset.Find, toolset.Ls, toolset.TodoWrite, toolset.TodoRead}

// ownTools are the names of all of prloop's tools as an agent calls them.
func ownTools(prefix string) []string {
	var names []string
	for _, name := range append([]string{ToolName}, readTools...) {
		names = append(names, prefix+name)
	}
	return names
}

// SubmitNames are the names a model may know submit_result by: the agents put the server's name before it.
func SubmitNames() []string {
	return []string{ToolName, ServerName + "_" + ToolName, ServerName + "-" + ToolName, "mcp__" + ServerName + "__" + ToolName}
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name, Description string
	// Parameters is a JSON Schema of an object.
	Parameters json.RawMessage
}

// Toolbox reads a tree for an agent.
type Toolbox interface {
	Specs() []ToolSpec
	// Call gives the result as text; an error is told to the model.
	Call(ctx context.Context, name string, args []byte) (string, error)
}

// ServeMCP is the program an agent starts as its MCP server: it offers submit_result on stdin and stdout until its input
// ends, and hands each result to the prloop that asked. open lends the tools that read the tree, for a command those of the names that do; nil offers none. getenv
// reads the variables above. It prints nothing itself.
func ServeMCP(ctx context.Context, stdin io.ReadCloser, stdout io.WriteCloser, getenv func(string) string, open func(tree string, names []string, folders map[string]string) (Toolbox, error)) error {
	socket, token, role := getenv(EnvSocket), getenv(EnvToken), review.Role(getenv(EnvRole))
	if socket == "" || token == "" {
		return fmt.Errorf("serve %s: %s and %s are not set: it is started by an agent that prloop drives", ToolName, EnvSocket, EnvToken)
	}
	schema, err := schema.ForModel(shapeOf(role))
	if err != nil {
		return fmt.Errorf("serve %s: %w", ToolName, err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: ServerName, Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: ToolName, InputSchema: json.RawMessage(schema),
		Description: "Hand in the result of your work. Call it once, at the end, with the whole result. If it is refused, put right what the reason names and call it again.",
	}, func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, refused := "The result was taken. You are done.", false
		if err := submit(ctx, socket, token, call.Params.Arguments); err != nil {
			text, refused = "Not taken: "+err.Error(), true
		}
		return &mcp.CallToolResult{IsError: refused, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	if tree := getenv(EnvTree); tree != "" && open != nil && (role == review.RoleReviewer || role == review.RoleVerifier || role == review.RoleCommand) {
		var folders map[string]string
		if text := getenv(EnvFolders); text != "" {
			if err := json.Unmarshal([]byte(text), &folders); err != nil {
				return fmt.Errorf("serve the tools that read %s: %w", tree, err)
			}
		}
		box, err := open(tree, commandTools(role, getenv(EnvTools)), folders)
		if err != nil {
			return fmt.Errorf("serve the tools that read %s: %w", tree, err)
		}
		lend(server, box)
	}
	if err := server.Run(ctx, &mcp.IOTransport{Reader: stdin, Writer: stdout, MaxLineLength: maxSubmission}); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve %s: %w", ToolName, err)
	}
	return nil
}

// commandTools are the tools that a command is lent; nil for any other role.
func commandTools(role review.Role, names string) []string {
	if role != review.RoleCommand {
		return nil
	}
	return slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return !slices.Contains(readTools, name) })
}

// lend offers the tools of a box that an agent may have.
func lend(server *mcp.Server, box Toolbox) {
	for _, t := range box.Specs() {
		if !slices.Contains(readTools, t.Name) {
			continue
		}
		server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters},
			func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				args := call.Params.Arguments
				if len(args) == 0 {
					args = json.RawMessage("{}")
				}
				got, err := box.Call(ctx, t.Name, args)
				if err != nil { // it is the model's to read
					got = err.Error()
				}
				return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: got}}}, nil
			})
	}
}

// submit hands one document over and returns why it was refused.
func submit(ctx context.Context, socket, token string, document json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, submitWithin)
	defer cancel()
	at, err := addressOf(socket)
	if err != nil {
		return fmt.Errorf("reach prloop: %w", err)
	}
	defer at.release()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", at.name)
	if err != nil {
		return fmt.Errorf("reach prloop: %w", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(submitWithin)); err != nil {
		return fmt.Errorf("reach prloop: %w", err)
	}
	if len(document) == 0 {
		document = json.RawMessage("{}")
	}
	if err := json.NewEncoder(c).Encode(submission{token, document}); err != nil {
		return fmt.Errorf("hand the result over: %w", err)
	}
	var v verdict
	if err := json.NewDecoder(io.LimitReader(c, maxSubmission)).Decode(&v); err != nil {
		return fmt.Errorf("hand the result over: %w", err)
	}
	if v.Refused != "" {
		return errors.New(v.Refused)
	}
	return nil
}

func shapeOf(role review.Role) string {
	switch role {
	case review.RoleCommentsAnalyzer:
		return "comments-result"
	case review.RoleFixer:
		return "fix-result"
	case review.RoleVerifier:
		return "verifier-result"
	case review.RoleCommand:
		return "command-result"
	case review.RoleScout:
		return "scout-result"
	case review.RoleFinder:
		return "finder-result"
	}
	return "reviewer-result"
}
