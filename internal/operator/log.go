package operator

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/sanitize"
)

// Log writes what PRLOOP_LOG asks for (error, warn, info, debug); errors without it.
func (w *Words) Log(to io.Writer) hclog.Logger {
	level := hclog.LevelFromString(w.Get("PRLOOP_LOG"))
	if level == hclog.NoLevel {
		level = hclog.Error
	}
	return hclog.New(&hclog.LoggerOptions{Name: "prloop", Level: level, Output: redacting{to}})
}

// redacting is the sink of the log: nothing secret, no control byte and no order to a runner passes it (threats.md P14, T41, T730).
type redacting struct{ to io.Writer }

func (r redacting) Write(line []byte) (int, error) {
	if _, err := io.WriteString(r.to, runnerlog.Inert(sanitize.Terminal(sanitize.Redact(string(line))))); err != nil {
		return 0, err
	}
	return len(line), nil
}
