package cli

import (
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/proc"
)

// envFailpoint stops prloop on purpose, to see what a crash leaves behind: NAME=kill ends the process there as kill -9
// would, NAME=error makes that place fail; a number behind @ waits for that many passes before (NAME=kill@2 is the third).
// Either says so on standard error.
// The kill suite uses it; docs/robustness.md.
const envFailpoint = "PRLOOP_FAILPOINT"

// armFailpoint arms what the operator asks for.
func (p *Invocation) armFailpoint() error {
	order := p.env(envFailpoint)
	if order == "" {
		return nil
	}
	if err := proc.ArmFailpoint(order, p.Stderr); err != nil {
		return advice.Misuse("give "+envFailpoint+"='NAME=kill' or 'NAME=error', with one of: "+strings.Join(failpoint.Names(), ", "), "%s=%q is not known", envFailpoint, order)
	}
	return nil
}
