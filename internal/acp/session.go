package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	api "github.com/coder/acp-go-sdk"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
)

// session is one agent process with one session open in it.
type session struct {
	spec  Spec
	place prepared
	desk  *resultServer
	gate  *gate
	peer  *client
	conn  *api.ClientSideConnection
	id    api.SessionId
	news  eventSink

	stdin *io.PipeWriter
	stop  context.CancelCauseFunc
	ended chan struct{} // closed when nothing of the process is left; result and err are then set
	// result and err are those of proc.Run.
	result proc.Result
	err    error

	mu        sync.Mutex
	text      []byte
	clipped   bool
	toolCalls int
	usage     *api.Usage
}

// nobody is never asked: the gate keeps updates and requests to itself.
type nobody struct{ api.Client }

var errTooManyRequests = errors.New("it asked prloop too often")

// launch starts the process. The context ends the conversation; the process itself is ended by close.
func launch(ctx context.Context, spec Spec, place prepared, d *resultServer, emit func(review.Event)) (*session, error) {
	path, err := proc.LookPath(place.command)
	if err != nil && spec.Preset.Package != "" {
		err = fmt.Errorf("%w (it comes with the npm package %s)", err, strings.TrimSuffix(spec.Preset.Package, "@"+spec.Preset.Tried()))
	}
	if err != nil {
		return nil, err
	}
	stdinR, stdinW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{spec: spec, place: place, desk: d, peer: &client{cwd: place.cwd, edits: spec.Role == review.RoleFixer}, stdin: stdinW, ended: make(chan struct{}),
		news: eventSink{emit: emit}}
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s.stop = stop
	s.gate = &gate{to: outW, stdin: stdinW, peer: s.peer, update: s.update, excess: func() { stop(errTooManyRequests) }}
	child := proc.Spec{
		Path: path, Args: place.args, Env: place.env, Dir: place.cwd, StdinFrom: stdinR,
		Idle: spec.Idle, Quiet: spec.Quiet, Grace: spec.Grace, MaxStdout: maxOutput, MaxLine: maxLine, OnLine: s.gate.line,
	}
	if child.Grace <= 0 {
		child.Grace = defaultGrace
	}
	if spec.Confine != nil {
		if child, err = spec.Confine(child); err != nil {
			stop(nil)
			return nil, err
		}
	}
	s.conn = api.NewClientSideConnection(nobody{}, stdinW, outR)
	s.conn.SetLogger(slog.New(slog.DiscardHandler))
	go func() { // whatever ends the connection, nobody may wait for it to read or write any more
		<-s.conn.Done()
		outR.CloseWithError(io.ErrClosedPipe)
	}()
	go func() {
		defer close(s.ended)
		s.result, s.err = proc.Run(life, child)
		stop(nil)
		outW.Close()
		stdinR.CloseWithError(io.ErrClosedPipe)
	}()
	return s, nil
}

// open makes the session: initialize, session/new with prloop's MCP server, the preset's mode.
func (s *session) open(ctx context.Context) error {
	_, err := s.conn.Initialize(ctx, api.InitializeRequest{
		ProtocolVersion: api.ProtocolVersionNumber, ClientInfo: &api.Implementation{Name: ServerName, Version: "1"},
	})
	if err != nil {
		return at("initialize", err)
	}
	servers := []api.McpServer{}
	if !s.spec.Preset.OwnServers {
		own := server(s.spec, s.desk)
		servers = append(servers, api.McpServer{Stdio: &own})
	}
	meta := s.spec.Preset.Meta
	if s.spec.Role == review.RoleFixer && s.spec.Preset.FixMeta != nil {
		meta = s.spec.Preset.FixMeta
	}
	made, err := s.conn.NewSession(ctx, api.NewSessionRequest{Cwd: s.place.cwd, Meta: meta, McpServers: servers})
	if err != nil {
		return at("open a session", err)
	}
	s.id = made.SessionId
	mode := s.spec.Preset.Mode
	if s.spec.Role == review.RoleFixer {
		mode = s.spec.Preset.FixMode
	}
	if mode == "" || made.Modes != nil && string(made.Modes.CurrentModeId) == mode {
		return nil
	}
	// An agent that stays in a mode of its own choice may write: that is a failure and no oddity.
	_, err = s.conn.SetSessionMode(ctx, api.SetSessionModeRequest{SessionId: s.id, ModeId: api.SessionModeId(mode)})
	if err != nil {
		return at("set mode "+mode, err)
	}
	return nil
}

// server is prloop's MCP server as the agent is to start it.
func server(spec Spec, d *resultServer) api.McpServerStdio {
	folders, _ := json.Marshal(spec.Folders) // names and paths, which JSON can always hold
	return api.McpServerStdio{
		Name: ServerName, Command: spec.Self, Args: append([]string{}, spec.SelfArgs...),
		Env: []api.EnvVariable{
			{Name: EnvSocket, Value: d.path()}, {Name: EnvToken, Value: d.token}, {Name: EnvRole, Value: string(spec.Role)},
			{Name: EnvTree, Value: spec.Cwd}, {Name: EnvTools, Value: strings.Join(spec.Tools, ",")},
			{Name: EnvFolders, Value: string(folders)},
		},
	}
}

// turn is how one prompt went.
type turn struct {
	stop api.StopReason
	text []byte
	err  error
}

// prompt puts one prompt and waits for the end of the turn. A turn that goes on long after its result was taken is
// cancelled, which is no error.
func (s *session) prompt(ctx context.Context, text string) turn {
	s.mu.Lock()
	s.text, s.clipped = nil, false
	s.mu.Unlock()
	turning, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-turning.Done():
		case <-s.desk.got:
			select {
			case <-turning.Done():
			case <-time.After(lingerFor):
				cancel()
			}
		}
	}()
	got, err := s.conn.Prompt(turning, api.PromptRequest{SessionId: s.id, Prompt: []api.ContentBlock{api.TextBlock(text)}})
	valid, _, _, _ := s.desk.standing()
	switch {
	case err != nil && ctx.Err() == nil && turning.Err() != nil:
		err = nil
		got.StopReason = api.StopReasonCancelled
	case err != nil:
		err = at("prompt", err)
	case valid == nil:
		select {
		case <-time.After(lateFor):
		case <-ctx.Done():
		case <-s.ended:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got.Usage != nil {
		s.usage = got.Usage
	}
	return turn{stop: got.StopReason, text: s.text, err: err}
}

// close ends the process: end of its input, then TERM, then KILL. When hurry is set, it is not waited for long.
func (s *session) close(hurry bool) {
	s.stdin.Close()
	wait := eofGrace
	if hurry {
		wait = eofGrace / 3
	}
	select {
	case <-s.ended:
	case <-time.After(wait):
		s.stop(errAnswered)
		<-s.ended
	}
}

// errAnswered is why an agent is ended that did not end with its input.
var errAnswered = errors.New("the conversation is over")

// update takes one session update, on the goroutine that reads the agent's output.
func (s *session) update(u update) {
	switch u.Kind {
	case kindMessage:
		s.mu.Lock()
		s.text = append(s.text, u.Content[:min(len(u.Content), maxText-len(s.text))]...)
		s.clipped = s.clipped || len(s.text) == maxText
		s.mu.Unlock()
		s.news.phase("writes")
	case kindThought:
		s.news.phase("thinks")
	case kindPlan:
		s.news.phase("plans")
	case kindTool:
		s.mu.Lock()
		s.toolCalls++
		s.mu.Unlock()
		s.peer.announce(u)
		s.news.say("uses " + string(u.Title))
	case kindToolUpdate:
		if u.Status == word(api.ToolCallStatusFailed) {
			s.news.phase("a tool call failed")
		}
	}
}
