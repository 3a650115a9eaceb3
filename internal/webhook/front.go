package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// forwardTime is how long whoever writes deliveries down may take. GitHub waits for ten seconds.
const forwardTime = 8 * time.Second

// Forward hands deliveries on by a transport, to a handler that Verified made.
func Forward(by http.RoundTripper) func(context.Context, Delivery) error {
	client := http.Client{Transport: by, Timeout: forwardTime}
	return func(ctx context.Context, d Delivery) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://serve/webhook", bytes.NewReader(d.Body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-GitHub-Delivery", d.GUID)
		req.Header.Set("X-GitHub-Event", d.Event)
		resp, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("hand a delivery on: %w", err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<12)) // so that the connection can be used again
		switch resp.StatusCode {
		case http.StatusAccepted:
			return nil
		case http.StatusBadRequest:
			return ErrMalformed
		}
		return fmt.Errorf("hand a delivery on: %s", resp.Status)
	}
}
