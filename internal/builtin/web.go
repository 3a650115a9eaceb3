package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/tools"
)

// webLimit bounds what the gateway's answer may be, in bytes; it is bounded there too.
const webLimit = 256 << 10

// fetch asks for a page of the web, for a tool.
func (p Agent) fetch(ctx context.Context, url string) (json.RawMessage, error) {
	return p.web(ctx, "fetch", "url", url)
}

// search asks the operator's search provider, for a tool.
func (p Agent) search(ctx context.Context, query string) (json.RawMessage, error) {
	return p.web(ctx, "search", "query", query)
}

// web asks the gateway that started this child: the child itself has no network. Errors are *tools.Error.
func (p Agent) web(ctx context.Context, what, field, text string) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]string{field: text})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway/v1/prloop/"+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+p.Token)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", p.Socket)
	}}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, &tools.Error{Code: tools.Unavailable, Message: "prloop cannot be asked"}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, webLimit))
	if err == nil && resp.StatusCode == http.StatusOK && json.Valid(data) {
		return data, nil
	}
	var no struct {
		Error struct{ Message, Code string }
	}
	if err != nil || json.Unmarshal(data, &no) != nil || no.Error.Message == "" {
		return nil, &tools.Error{Code: tools.Unavailable, Message: fmt.Sprintf("there was no answer: HTTP %d", resp.StatusCode)}
	}
	code := tools.Unavailable
	if no.Error.Code == gateway.CodeBudget {
		code = tools.Limit
	}
	return nil, &tools.Error{Code: code, Message: no.Error.Message}
}
