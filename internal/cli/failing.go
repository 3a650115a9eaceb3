package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/failpoint"
)

// envFailpoint stops prloop on purpose, to see what a crash leaves behind: NAME=kill ends the process there as kill -9
// would, NAME=error makes that place fail; a number behind @ waits for that many passes before (NAME=kill@2 is the third).
// Either says so on standard error.
// The kill suite uses it; docs/robustness.md.
const envFailpoint = "PRLOOP_FAILPOINT"

// armFailpoint arms what the operator asks for.
func (p *Proc) armFailpoint() error {
	order := p.env(envFailpoint)
	if order == "" {
		return nil
	}
	name, action, _ := strings.Cut(order, "=")
	action, times, counted := strings.Cut(action, "@")
	wait, err := 0, error(nil)
	if counted {
		wait, err = strconv.Atoi(times)
	}
	if err != nil || action != "kill" && action != "error" || !slices.Contains(failpoint.Names(), name) {
		return usage("give "+envFailpoint+"='NAME=kill' or 'NAME=error', with one of: "+strings.Join(failpoint.Names(), ", "), "%s=%q is not known", envFailpoint, order)
	}
	var mu sync.Mutex
	failpoint.Arm(func(at string) error {
		mu.Lock()
		defer mu.Unlock()
		if at != name {
			return nil
		}
		if wait--; wait >= 0 {
			return nil
		}
		fmt.Fprintf(p.Stderr, "failpoint %q: %s\n", at, action)
		if action == "error" {
			wait = 1 << 30 // once
			return fmt.Errorf("failpoint %q: told to fail", at)
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err == nil {
			select {} // the signal is on its way
		}
		return err
	})
	return nil
}
