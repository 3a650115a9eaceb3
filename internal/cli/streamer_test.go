package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// streamer is a reviewer written against the contract alone: it asks the gateway for a stream and reads it to its end.
func streamer() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", os.Getenv("PRLOOP_GATEWAY_SOCKET"))
	}}}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://gateway/v1/chat/completions",
		strings.NewReader(`{"model":"endless","stream":true,"max_tokens":500,"messages":[{"role":"user","content":"Go on with `+plant("streamer")+`."}]}`))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+os.Getenv("PRLOOP_GATEWAY_TOKEN"))
		var resp *http.Response
		if resp, err = client.Do(req); err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
	}
	fmt.Fprintln(os.Stderr, "the stream ended:", err)
	os.Exit(1)
}
