package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const maxBody = 64 << 20

// Server is a running model server. It is an http.Handler too.
type Server struct {
	mu       sync.Mutex
	script   Script
	calls    int
	requests []Request
	faults   []string

	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// New makes a server that is not listening, to be mounted as a handler.
func New(script Script) (*Server, error) {
	if err := script.compile(); err != nil {
		return nil, err
	}
	return &Server{script: script}, nil
}

// Start listens on a free port of the loopback interface until Close.
func Start(script Script) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s, err := Serve(l, script)
	if err != nil {
		_ = l.Close()
	}
	return s, err
}

// Serve answers on any listener until Close; it returns at once.
func Serve(l net.Listener, script Script) (*Server, error) {
	s, err := New(script)
	if err != nil {
		return nil, err
	}
	s.listener, s.done = l, make(chan struct{})
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always an error: closed
	}()
	return s, nil
}

// URL is the base URL clients are configured with, ending in /v1.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close stops the server and cuts what is still being answered.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// Requests are the completions asked for so far, refused ones included, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Faults are the reasons of all refusals that the script did not ask for: wrong keys, malformed requests, unknown paths.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

func (s *Server) fault(w http.ResponseWriter, status int, code, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.faults = append(s.faults, message)
	s.mu.Unlock()
	writeError(w, status, code, message)
}

// Page is what a Versioned server answers outside its API.
const Page = "<!DOCTYPE html>\n<html><head><title>Welcome to fakemodel</title></head><body>A dashboard.</body></html>\n"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, versioned := strings.CutPrefix(r.URL.Path, "/v1")
	if s.script.Versioned && !versioned {
		Answer{Raw: Page, Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"}}.bare(w)
		return
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if path == pathMessages {
		key, ok = r.Header.Get("X-Api-Key"), true
	}
	public := s.script.Open && path == "/models"
	if !public && path == "/models" && key == "" { // whoever asks without a key wants to know whether one is needed
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "You didn't provide an API key.")
		return
	}
	if !public && (!ok || key == "" || s.script.Key != "" && key != s.script.Key) {
		s.fault(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: %s.", key)
		return
	}
	switch {
	case path == "/models" && r.Method == http.MethodGet && s.script.List != nil:
		s.script.List.bare(w)
	case path == "/models" && r.Method == http.MethodGet:
		s.models(w)
	case (path == "/chat/completions" || path == pathResponses || path == pathMessages) && r.Method == http.MethodPost:
		s.complete(w, r, path)
	default:
		s.fault(w, http.StatusNotFound, "unknown_url", "Unknown request URL: %s %s", r.Method, r.URL.Path)
	}
}

func (s *Server) models(w http.ResponseWriter) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := []model{}
	for _, m := range s.script.Models {
		list = append(list, model{m, "model"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, api string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			s.fault(w, http.StatusRequestEntityTooLarge, "too_large", "request is larger than %d bytes", tooBig.Limit)
		}
		return
	}
	req := Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Header: r.Header.Clone(), Body: body, api: api}
	parse := req.parse
	switch api {
	case pathResponses:
		parse = req.parseResponse
	case pathMessages:
		parse = req.parseMessage
	}
	bad, status, code := parse(), http.StatusBadRequest, "invalid_request_error"
	if bad == nil && len(s.script.Models) > 0 && !slices.Contains(s.script.Models, req.Model) {
		bad, status, code = fmt.Errorf("The model `%s` does not exist or you do not have access to it.", req.Model), http.StatusNotFound, "model_not_found" //nolint:revive,staticcheck // the words of the real API
	}
	if bad != nil {
		req.Refused = bad.Error()
	}
	var sent struct {
		Tools json.RawMessage `json:"tools"`
	}
	if bad == nil && json.Unmarshal(body, &sent) == nil {
		req.tools = sent.Tools
	}
	answer, cached, err := s.record(&req)
	switch {
	case bad != nil:
		s.fault(w, status, code, "%s", bad)
	case err != nil:
		s.fault(w, http.StatusBadRequest, "invalid_request_error", "%s", err)
	default:
		reply{req: req, answer: answer, cached: cached}.send(w, r)
	}
}

// record remembers a request and chooses its answer.
func (s *Server) record(req *Request) (a Answer, cached int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	req.Call = s.calls
	if req.Refused == "" {
		a, err = s.script.choose(*req)
		cached = s.cachedTokens(*req)
		req.Tokens, req.Cached = len(flat(*req))/bytesPerToken, cached
	}
	s.requests = append(s.requests, *req)
	return a, cached, err
}

// cachedTokens imitates provider prompt caches: the longest prefix of 1,024 tokens or more that an earlier
// conversation with the same model shared, in steps of 128.
func (s *Server) cachedTokens(req Request) int {
	text, best := flat(req), 0
	for _, old := range s.requests {
		if old.Model != req.Model || old.Refused != "" {
			continue
		}
		other, n := flat(old), 0
		for n < len(text) && n < len(other) && text[n] == other[n] {
			n++
		}
		best = max(best, n)
	}
	tokens := best / bytesPerToken
	if tokens < 1024 {
		return 0
	}
	return tokens / 128 * 128
}

// bytesPerToken is the rough size of a token.
const bytesPerToken = 4

// flat is a prompt as providers cache it: the tools, then the messages.
func flat(r Request) string {
	var b strings.Builder
	b.Write(r.tools)
	for _, m := range r.Messages {
		b.WriteString(m.Role + "\n" + m.Text + "\n")
	}
	return b.String()
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": code,
	}})
}
