package acp

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	api "github.com/coder/acp-go-sdk"
)

// client answers what the agent asks for. None of it is advertised but permissions.
type client struct {
	cwd string
	// edits lets the agent change files below cwd.
	edits bool

	mu       sync.Mutex
	calls    map[word]update // tool calls by id, as first announced
	allowed  int
	rejected int
}

// maxCalls bounds the tool calls remembered; later ones are judged by the request alone.
const maxCalls = 2000

func (c *client) announce(u update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[word]update{}
	}
	if _, known := c.calls[u.Call]; !known && len(c.calls) < maxCalls {
		c.calls[u.Call] = update{Title: u.Title, Tool: u.Tool}
	}
}

// answer is that to a request for permission, by policy. Options are chosen by kind: their ids and names differ by agent and version.
func (c *client) answer(p permission) api.RequestPermissionResponse {
	want := []api.PermissionOptionKind{api.PermissionOptionKindRejectOnce, api.PermissionOptionKindRejectAlways}
	allow := c.allows(p)
	if allow {
		want = append([]api.PermissionOptionKind{api.PermissionOptionKindAllowOnce}, want...)
	}
	var options []struct {
		ID   word `json:"optionId"`
		Kind word `json:"kind"`
	}
	_ = json.Unmarshal(p.Options, &options) // without one the request is cancelled
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range want {
		for _, o := range options {
			if o.Kind != word(kind) {
				continue
			}
			if kind == api.PermissionOptionKindAllowOnce {
				c.allowed++
			} else {
				c.rejected++
			}
			return api.RequestPermissionResponse{Outcome: api.RequestPermissionOutcome{
				Selected: &api.RequestPermissionOutcomeSelected{OptionId: api.PermissionOptionId(o.ID)}}}
		}
	}
	c.rejected++
	return api.RequestPermissionResponse{Outcome: api.RequestPermissionOutcome{Cancelled: &api.RequestPermissionOutcomeCancelled{}}}
}

// ownTool is one of prloop's tools as agents call them: prloop_submit_result (OpenCode), mcp__prloop__submit_result (Claude
// Code), prloop-submit_result (Copilot), prloop.submit_result (Codex), mcp_prloop_submit_result or "submit_result (prloop MCP
// Server)" (Gemini CLI).
var ownTool = sync.OnceValue(func() *regexp.Regexp {
	names := strings.Join(ownTools(""), "|")
	return regexp.MustCompile(`^(?:(?:mcp_{1,2})?prloop(?:_{1,2}|[./:-])(?:` + names + `)|(?:` + names + `) \(prloop MCP Server\))$`)
})

func (c *client) allows(p permission) bool {
	c.mu.Lock()
	known := c.calls[p.Call.ID]
	c.mu.Unlock()
	title, kind := cmp.Or(p.Call.Title, known.Title), cmp.Or(p.Call.Kind, known.Tool)
	var places []struct {
		Path string `json:"path"`
	}
	if p.Call.Locations != nil && json.Unmarshal(p.Call.Locations, &places) != nil {
		return false
	}
	switch api.ToolKind(kind) {
	case api.ToolKindRead, api.ToolKindSearch:
		for _, l := range places {
			if !c.within(l.Path) {
				return false
			}
		}
		return true
	case api.ToolKindEdit, api.ToolKindDelete, api.ToolKindMove:
		for _, l := range places {
			if !c.edits || !c.writable(l.Path) {
				return false
			}
		}
		return c.edits && len(places) > 0
	case api.ToolKindOther, api.ToolKindThink, "":
		return ownTool().MatchString(strings.TrimSpace(string(title)))
	}
	return false
}

// within reports whether a path lies below the working folder, by its name alone.
func (c *client) within(path string) bool {
	if !filepath.IsAbs(path) {
		return filepath.IsLocal(path) || path == ""
	}
	rel, err := filepath.Rel(c.cwd, path)
	return err == nil && filepath.IsLocal(rel)
}

// writable reports whether a path lies below the working folder once links are followed, and outside git's own folder. A path
// need not exist; the folders that do decide. Nothing outside of the working folder is looked at: a link that leaves it is
// refused, whatever is there, or an agent could ask which files and processes the machine has (threats.md T322).
func (c *client) writable(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.cwd, path)
	}
	rel, err := filepath.Rel(c.cwd, path)
	if err != nil || !filepath.IsLocal(rel) || ofGit(rel) {
		return false
	}
	root, err := os.OpenRoot(c.cwd)
	if err != nil {
		return false
	}
	defer root.Close()
	real, ok := follow(root, rel)
	return ok && !ofGit(real)
}

// mostLinks is how many links a path may lead through.
const mostLinks = 40

// follow gives the path without links that a path leads to. It fails where a link is absolute, leaves the root or leads to nothing.
func follow(root *os.Root, path string) (string, bool) {
	at, steps := ".", strings.Split(path, separator)
	ofLink := 0 // how many of the steps a link has put there
	for links := 0; len(steps) > 0; {
		step := steps[0]
		steps = steps[1:]
		linked := ofLink > 0
		ofLink = max(ofLink-1, 0)
		if step == ".." {
			if at == "." {
				return "", false
			}
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, step)
		info, err := root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !linked:
			return filepath.Join(next, filepath.Join(steps...)), true
		case err != nil:
			return "", false
		case info.Mode().Type() != fs.ModeSymlink:
			at = next
			continue
		}
		target, err := root.Readlink(next)
		if links++; err != nil || links > mostLinks || filepath.IsAbs(target) {
			return "", false
		}
		more := strings.Split(target, separator)
		steps, ofLink = append(more, steps...), ofLink+len(more)
	}
	return at, true
}

const separator = string(filepath.Separator)

func ofGit(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(step string) bool { return strings.EqualFold(step, ".git") })
}

func (c *client) counts() (allowed, rejected int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.allowed, c.rejected
}
