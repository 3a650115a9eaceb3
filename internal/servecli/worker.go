package servecli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/daemon"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/postgres"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/internal/troubleshoot"
	"github.com/prloop/prloop/sanitize"
)

// memoryOfReview is what a review may need of a machine's memory, for how many it does at a time.
const memoryOfReview = 2 << 30

// Worker is `prloop worker`.
func Worker(h host.Host) subcommand.Command {
	var o options
	f := subcommand.Flags("worker")
	o.rules(f)
	f.IntVar(&o.Reviews, "reviews", 0, "review `N` pull requests at a time (default: one per core, and per 2 GB of memory)")
	f.DurationVar(&o.Drain, "drain", 10*time.Second, "on SIGTERM, give reviews `TIME` to finish before other workers take over")
	return subcommand.Command{
		Use:   "worker",
		Short: "Run reviews that prloop serve has queued",
		Long: "Machines share work through a shared database: PRLOOP_DATABASE or --database. Start workers with the same flags as serve.\n" +
			"When a worker dies, or is silent for 15 seconds, other workers take over its reviews and ask only the agents that had not answered.\n" +
			"SIGTERM ends a worker: other workers take over the reviews that do not finish in time.",
		Example: "  prloop worker --reviews 4",
		Flags:   f,
		Run:     func(ctx context.Context, p subcommand.Process, _ []string) error { return o.work(ctx, h, p) },
	}
}

// capacity is how many reviews this machine does at a time.
func capacity(cores int, memory int64) int {
	return int(max(1, min(int64(cores), memory/memoryOfReview)))
}

// memory is what this machine has, or this container, in bytes; as much as there can be where nobody says.
func memory() int64 {
	most := int64(math.MaxInt64)
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
				if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					most = kb << 10
				}
			}
		}
	}
	if data, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil {
			most = min(most, n)
		}
	}
	return most
}

func (o options) work(ctx context.Context, h host.Host, p subcommand.Process) error {
	if err := o.limits(); err != nil {
		return err
	}
	if o.Reviews < 0 {
		return advice.Misuse("prloop worker --reviews 2", "--reviews %d is no number of reviews", o.Reviews)
	}
	if o.Reviews == 0 {
		o.Reviews = capacity(runtime.GOMAXPROCS(0), memory())
	}
	order, err := h.Order()
	if err != nil {
		return err
	}
	o.Order = func(fixes bool) (app.Order, error) { return o.order(order, fixes), nil }
	if err := app.Preflight(o.order(order, o.fix), false); err != nil {
		return err
	}
	var mu sync.Mutex
	o.Said = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(p.Stdout, sanitize.Terminal(sanitize.Redact(line)))
	}
	o.Lasting = func(err error) bool { return troubleshoot.Explain(err).Status == advice.Usage }
	o.Fix, o.Log, o.Options.Host = o.fix, h.Log().Named("worker"), github.DefaultHost(p.Env)
	for {
		err := o.once(ctx, h, p)
		if !errors.Is(err, postgres.ErrLost) || ctx.Err() != nil {
			return err
		}
		o.Said(err.Error() + "; this worker begins anew")
	}
}

// once works until ctx ends, or until others have what this process had.
func (o options) once(ctx context.Context, h host.Host, p subcommand.Process) error {
	s, err := h.OpenToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	if !s.Shared() {
		return advice.Misuse("set "+operator.EnvDatabase+"=postgres://USER@HOST/DATABASE, as for prloop serve", "a worker needs a database that it shares with prloop serve")
	}
	confinement, err := s.Confined(ctx)
	if err != nil {
		return err
	}
	unmeasured, err := o.measure(ctx, h, p, s)
	if err != nil {
		return err
	}
	defer unmeasured()
	d, err := daemon.New(ctx, s, o.Options)
	if err != nil {
		return err
	}
	o.warnOfKeys(p, s)
	o.Said(fmt.Sprintf("working for %s: %d reviews at a time; agents are confined by %s", s.Database(), o.Reviews, confinement))
	return d.Work(ctx)
}

// warnOfKeys says that each state folder signs with a key of its own, where machines share a database: then none knows what another posted.
func (o options) warnOfKeys(p subcommand.Process, s *app.Service) {
	if s.Shared() && p.Getenv(operator.EnvMarkerKey) == "" {
		o.Said(operator.EnvMarkerKey + " is not set: machines do not recognize each other's comments and threads. Give all of them the same key")
	}
}
