package agentrun

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
)

// Confinement say how the agents of a run are confined (threats.md "Sandbox tiers"). [Probe] and [Unconfined] make them; behind the zero value nothing
// is started, so that nobody runs unconfined because a field was forgotten.
type Confinement struct {
	// off is true when somebody decided that agents run as they are.
	off bool
	// machine is what confines them; nil when they are off.
	machine *sandbox.Machine
	// weakest is the weakest tier that is taken.
	weakest sandbox.Tier
	// bounds says which bounds the kernel keeps here.
	bounds string
	// full is true when children are fully contained, with a loopback interface of their own.
	full bool
	// read are further paths agents may read.
	read  []string
	words string
}

// Probe looks at the machine and takes what it has, if that is no weaker than the tier given; otherwise the error is a
// *sandbox.TierError. read are further files and folders that agents may read.
func Probe(ctx context.Context, machine *sandbox.Machine, weakest sandbox.Tier, read []string) (Confinement, error) {
	report := machine.Probe(ctx).Private()
	w := Confinement{machine: machine, weakest: weakest, full: report.Tier <= sandbox.Tier1b, read: read, words: report.String()}
	w.bounds = BoundsHere(w.full)
	if w.full {
		w.words += ": a file system of its own, no credential, no network but the way to the model gateway"
	}
	if report.Tier > weakest {
		_, err := machine.Wrap(sandbox.Policy{MinTier: weakest}, sandbox.Command{})
		return w, err
	}
	return w, nil
}

// Unconfined lets agents run as the user who started prloop; why is what reports say of it.
func Unconfined(why string) Confinement {
	return Confinement{off: true, words: "none: " + why, bounds: BoundsHere(false)}
}

// On reports whether agents are confined at all.
func (w Confinement) On() bool { return !w.off }

// Full reports whether agents are fully contained, with a loopback interface of their own: what fixers and ACP agents need.
func (w Confinement) Full() bool { return w.full }

// String says what the confinement is.
func (w Confinement) String() string { return w.words }

// Report is what every report says of the sandbox (threats.md P15): what it is, and which bounds the kernel keeps.
func (w Confinement) Report() string { return w.words + boundsFollow + w.bounds }

const boundsFollow = ". Agents are "

// Told reports whether a report told of this confinement, whatever it said of bounds: those may be kept in another way tomorrow.
func (w Confinement) Told(report string) bool {
	kind, _, _ := strings.Cut(report, boundsFollow)
	return kind == w.words
}

var errNoSandbox = errors.New("the launcher is not told how to confine: Confinement is not set")

// wrap confines a command, no weaker than the confinement allows.
func (w Confinement) wrap(policy sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error) {
	if w.machine == nil {
		return sandbox.Command{}, errNoSandbox
	}
	policy.MinTier = w.weakest
	return w.machine.Wrap(policy, cmd)
}

// confine puts a child in the sandbox: a file system of its own, in which it may read the paths given and write its home
// and, for a fixer, its clone, and no network but the way to the gateway.
func (c *Launcher) confine(spec *agents.Spec, home, clone string, read []string) error {
	if c.Confinement.off {
		return nil
	}
	path, err := proc.LookPath(spec.Path)
	if err != nil {
		return err
	}
	policy := sandbox.Policy{Home: home, ReadOnly: append(read, c.Confinement.read...), Hide: []string{c.State}, Limits: c.limitsOf(clone != "").scratch()}
	if clone != "" {
		policy.Writable = []string{clone}
	}
	if c.Gateway != nil && hasValue(spec.Env, c.Gateway.Socket()) {
		policy.Gateway = c.Gateway.Socket()
		if c.Confinement.full && hasName(spec.Env, "OPENAI_BASE_URL") {
			policy.GatewayPort = gatewayPort
		}
	}
	wrapped, err := c.Confinement.wrap(policy, sandbox.Command{Path: path, Args: spec.Args, Env: spec.Env, Dir: spec.Dir})
	if err != nil {
		return err
	}
	spec.Path, spec.Args, spec.Env, spec.Dir = wrapped.Path, wrapped.Args, wrapped.Env, wrapped.Dir
	return nil
}

// confineACP puts an ACP agent in the sandbox. It may read the tree, the folders beside it, its own package, the programs it needs, and this
// program, which it starts as the server of the tools it answers through. A fixer may write its clone.
func (c *Launcher) confineACP(p proc.Spec, needs []string, home, tree, clone string, beside []string) (proc.Spec, error) {
	p.Bounds = c.agentBounds(home, clone)
	if c.Confinement.off {
		return p, nil
	}
	path, err := proc.LookPath(p.Path)
	if err != nil {
		return p, err
	}
	read := append(append([]string{tree, c.Self, filepath.Dir(path)}, beside...), c.Confinement.read...)
	for _, name := range needs {
		if need, err := proc.LookPath(name); err == nil { // without it the agent does worse, and says so
			read = append(read, need)
		}
	}
	policy := sandbox.Policy{
		Home: home, ReadOnly: read, Hide: []string{c.State}, Gateway: c.Gateway.Socket(), GatewayPort: gatewayPort,
		Limits: c.limitsOf(clone != "").scratch(),
	}
	if clone != "" {
		policy.ReadOnly, policy.Writable = policy.ReadOnly[1:], []string{clone}
	}
	wrapped, err := c.Confinement.wrap(policy, sandbox.Command{Path: path, Args: p.Args, Env: p.Env, Dir: p.Dir})
	p.Path, p.Args, p.Env, p.Dir = wrapped.Path, wrapped.Args, wrapped.Env, wrapped.Dir
	return p, err
}

// confineJob puts verify commands and what takes a fixer's work out of its clone in the sandbox. They get no gateway.
func (c *Launcher) confineJob(policy sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error) {
	if c.Confinement.off {
		return cmd, nil
	}
	policy.ReadOnly = append(policy.ReadOnly, c.Confinement.read...)
	policy.Hide = append(policy.Hide, c.State)
	return c.Confinement.wrap(policy, cmd)
}

// gatewayPort is where a confined program finds the gateway over TCP, on a loopback interface that is its own.
const gatewayPort = 4000

// gatewayEnv is how a program that is not ours finds the gateway: by the names OpenAI-compatible clients know, and by the
// socket. The key is a placeholder.
func gatewayEnv(socket, token string) []string {
	return []string{
		EnvSocket + "=" + socket, EnvToken + "=" + token, "OPENAI_API_KEY=" + token,
		"OPENAI_BASE_URL=http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(gatewayPort)) + "/v1",
	}
}

func hasName(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

func hasValue(env []string, value string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasSuffix(e, "="+value) })
}
