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

// streamer is a reviewer written against the contract alone: it asks the gateway for a stream and reads it to its end. Its
// argument is the model it asks for.
func streamer() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	model := "endless"
	if len(os.Args) > 1 {
		model = os.Args[1]
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", os.Getenv("PRLOOP_GATEWAY_SOCKET"))
	}}}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://gateway/v1/chat/completions",
		strings.NewReader(`{"model":"`+model+`","stream":true,"max_tokens":500,"messages":[{"role":"user","content":"Go on with `+plant("streamer")+`."}]}`))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+os.Getenv("PRLOOP_GATEWAY_TOKEN"))
		var resp *http.Response
		if resp, err = client.Do(req); err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
	}
	fmt.Fprintln(os.Stderr, "the stream of "+model+" ended:", err)
	os.Exit(1)
}
