package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/failpoint"
)

// ArmFailpoint stops this process on purpose: NAME=kill ends it at a failpoint as kill -9 would, NAME=error makes that place fail
// once; a number behind @ waits for that many passes before (NAME=kill@2 is the third). Either is said to out.
func ArmFailpoint(order string, out io.Writer) error {
	name, action, _ := strings.Cut(order, "=")
	action, times, counted := strings.Cut(action, "@")
	wait, err := 0, error(nil)
	if counted {
		wait, err = strconv.Atoi(times)
	}
	if err != nil || action != "kill" && action != "error" || !slices.Contains(failpoint.Names(), name) {
		return errors.New("not a failpoint and what to do there")
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
		fmt.Fprintf(out, "failpoint %q: %s\n", at, action)
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
