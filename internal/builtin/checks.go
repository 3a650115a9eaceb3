package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

const (
	// checksText bounds the logs of one run of the checks as a model reads them, in bytes.
	checksText = 24 << 10
	// checksNews is how often a child that waits for checks says so, that it does not pass for one that hangs.
	checksNews = 30 * time.Second
)

// checks has verify commands run by the gateway that started this child, which runs none itself.
func (p Agent) checks(ctx context.Context, command string, emit func(review.Event)) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	go func() {
		defer close(ended)
		tick := time.NewTicker(checksNews)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				emit(review.Event{Kind: review.EventProgress, Message: "the verify commands are running"})
			}
		}
	}()
	got, err := p.web(ctx, "checks", "command", command)
	if err != nil {
		return "", err
	}
	var all []review.Check
	if err := json.Unmarshal(got, &all); err != nil {
		return "", &tools.Error{Code: tools.Unavailable, Message: "the checks gave no answer"}
	}
	return checksOf(all), nil
}

// checksOf is what checks came to, with the end of the log of each that did not pass.
func checksOf(all []review.Check) string {
	bad := 0
	for _, c := range all {
		if !c.Good() {
			bad++
		}
	}
	var b strings.Builder
	if bad == 0 {
		b.WriteString("all verify commands pass on the tree as it is now\n")
	} else {
		fmt.Fprintf(&b, "%d of %d verify commands do not pass on the tree as it is now\n", bad, len(all))
	}
	for _, c := range all {
		fmt.Fprintf(&b, "%s: %s", c.State, c.Command)
		switch {
		case c.State == review.CheckSkipped:
			b.WriteString(", because it does not pass on the reviewed head either")
		case c.ExitCode > 0:
			fmt.Fprintf(&b, ", exit status %d", c.ExitCode)
		}
		b.WriteString("\n")
		if c.Good() {
			continue
		}
		log := c.Log
		if most := checksText / bad; len(log) > most {
			cut := strings.ToValidUTF8(log[len(log)-most:], "")
			_, cut, _ = strings.Cut(cut, "\n")
			log = fmt.Sprintf("(%d bytes before this are missing)\n%s", len(log)-len(cut), cut)
		}
		b.WriteString(strings.TrimRight(log, "\n") + "\n")
	}
	return b.String()
}
