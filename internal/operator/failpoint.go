package operator

import (
	"io"
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/wallclock"
)

// EnvFailpoint stops prloop on purpose, to see what a crash leaves behind: NAME=kill ends the process there as kill -9
// would, NAME=error makes that place fail; a number behind @ waits for that many passes before (NAME=kill@2 is the third).
// Either says so on standard error.
// The kill suite uses it; docs/robustness.md.
const EnvFailpoint = "PRLOOP_FAILPOINT"

// EnvClock is a file that says how wrong prloop's clock is, such as 3h or -10m: tests have the clock jump.
const EnvClock = "PRLOOP_CLOCK"

// ArmFailpoint arms what the operator asks for; the process that is stopped says so.
func (w *Words) ArmFailpoint(to io.Writer) error {
	wallclock.Follow(w.Get(EnvClock))
	order := w.Get(EnvFailpoint)
	if order == "" {
		return nil
	}
	if err := proc.ArmFailpoint(order, to); err != nil {
		return advice.Misuse("give "+EnvFailpoint+"='NAME=kill' or 'NAME=error', with one of: "+strings.Join(failpoint.Names(), ", "), "%s=%q is not known", EnvFailpoint, order)
	}
	return nil
}
