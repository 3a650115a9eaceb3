package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// Tier 1b keeps what tier 1 keeps. PRLOOP_TEST_BWRAP names a bwrap that is not installed.
func TestBubblewrap(t *testing.T) {
	t.Parallel()
	bwrap := cmp.Or(os.Getenv("PRLOOP_TEST_BWRAP"), findBubblewrap())
	if bwrap == "" {
		t.Skip("this machine cannot: " + thisMachine.Probe(t.Context()).Part(PartBubblewrap).Detail)
	}
	start := func(t *testing.T, part string, args ...string) *trial {
		r := newTrial(t, nobody, part, args...)
		r.order.Bwrap, r.order.Missing = bwrap, map[string]string{PartNamespaces: "masked"}
		return r
	}
	t.Run("channels", func(t *testing.T) {
		world := newOutside(t)
		text, err := json.Marshal(world)
		if err != nil {
			t.Fatal(err)
		}
		if out := start(t, "channels", string(text)).good(); strings.Contains(out, "open ") || strings.Count(out, "refused ") < 12 {
			t.Error(out)
		}
		if got := world.taken(); got != nil {
			t.Errorf("the outside was reached: %v", got)
		}
	})
	t.Run("gateway", func(t *testing.T) {
		r := start(t, "gateway", "unix!"+GatewaySocket, "tcp!127.0.0.1:4141")
		path := r.dir("gw") + "/model.sock"
		gatewayAt(t, path)
		if err := errors.Join(os.Chown(path, nobody, -1), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		r.order.Policy.Gateway, r.order.Policy.GatewayPort = path, 4141
		if out := r.good(); out != "unix answer unix <nil>\ntcp answer tcp <nil>\n" {
			t.Error(out)
		}
	})
	t.Run("files", func(t *testing.T) {
		r := start(t, "read", "walk")
		canary := r.file("operator/.netrc", "canary-1")
		r.env = []string{"GH_TOKEN=canary-2", "HOME=" + r.dir("operator")}
		listed, hidden := r.file("export/file.go", "package shown"), r.file("export/.env", "canary-3")
		r.order.Policy.ReadOnly, r.order.Policy.Hide = []string{r.root + "/export"}, []string{hidden}
		r.order.Command.Args = append(r.order.Command.Args, canary, listed, hidden)
		if out := r.good(); strings.Contains(out, "canary-") || !strings.Contains(out, "package shown") {
			t.Error(out)
		}
	})
	t.Run("state", func(t *testing.T) {
		lines := strings.Split(start(t, "state").good(), "\n")
		for _, w := range []string{"CapEff: 0000000000000000", "CapPrm: 0000000000000000", "NoNewPrivs: 1", "limit core 0"} {
			if !slices.Contains(lines, w) {
				t.Errorf("%q is missing in %q", w, lines)
			}
		}
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "open ") }) {
			t.Errorf("open files: %q", lines)
		}
	})
	t.Run("status", func(t *testing.T) {
		for part, want := range map[string]int{"exit": 9, "die": 128 + 9} {
			if _, errs, code := start(t, part, "9").run(); code != want {
				t.Errorf("%s: status %d: %s", part, code, errs)
			}
		}
	})
	t.Run("zombies", func(t *testing.T) { start(t, "zombies").good() })
	t.Run("term", func(t *testing.T) { start(t, "term").termReaches() })
	for name, args := range map[string][]string{"the agent's end": nil, "kill -9 of the spawner": {"run"}} {
		t.Run("nothing survives "+name, func(t *testing.T) {
			marker := "marker-" + rand.Text()
			start(t, "daemon", append([]string{marker}, args...)...).leavesNothing(marker, args != nil)
		})
	}
}
