package cli_test

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/registry"
)

// cmdRegistry starts a package registry, whose address is REGISTRY from then on, or stops it: registry start|stop
func cmdRegistry(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1 && (args[0] == "start" || args[0] == "stop"), "registry start|stop")
	if args[0] == "start" {
		r := registry.Start("true")
		ts.Defer(r.Close)
		worldOf(ts).registry = r
		ts.Setenv("REGISTRY", r.Host())
		ts.Setenv("CRATE_SUM", registry.CrateSum())
		return
	}
	worldOf(ts).registry.Close()
}
