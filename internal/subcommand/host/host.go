// Package host is what the program offers to commands that work with runs: the service, opened as the operator wants it.
package host

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/operator"
)

// Host is the program around a command.
type Host struct {
	// Operator reads the operator's words, and with them the environment.
	Operator *operator.Words
	// StateFolder names the folder of the state.
	StateFolder func() (string, error)
	// Open opens the record of runs, to look at it; OpenToRun opens it to do runs, with the operator's word on the machine and on
	// telemetry. Whoever opens it closes it.
	Open, OpenToRun func(context.Context) (*app.Service, error)
	// Order is a run without flags; the error is why there is none.
	Order func() (app.Order, error)
	// Log writes what PRLOOP_LOG asks for, to standard error.
	Log func() hclog.Logger
}
