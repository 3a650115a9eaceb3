package cli

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// The operator's word on confinement stands in the environment alone: no repository has a say.
const (
	// envSandbox is required (the default: full containment or nothing), best (what the machine has) or off.
	envSandbox = "PRLOOP_SANDBOX"
	// envSandboxRead lists further files and folders that confined agents may read, separated as in PATH.
	envSandboxRead = "PRLOOP_SANDBOX_READ"
	// envVerify holds further variables of verify commands, "NAME=value", separated by white space: where they find what
	// envSandboxRead lends, such as GOPROXY=file:///var/cache/go/cache/download. Code of the pull request sees them.
	envVerify = "PRLOOP_VERIFY_ENV"
	// envSandboxWithout leaves parts of the sandbox out, separated by commas, as if the machine did not have them. It only
	// narrows: where full containment is required, a run that leaves a needed part out is refused.
	envSandboxWithout = "PRLOOP_SANDBOX_WITHOUT"
)

// walls say how the agents of a run are confined (security 8).
type walls struct {
	// machine is what confines them.
	machine *sandbox.Machine
	// on is false when agents run as they are.
	on bool
	// weakest is the weakest tier that is taken.
	weakest sandbox.Tier
	// ownNetwork is true when children are fully contained, with a loopback interface of their own.
	ownNetwork bool
	// read are further paths agents may read.
	read []string
	// words stand in every report (security P15).
	words string
}

// walls settles how the agents of a run are confined. A local range is the person's own tree, reviewed by the person's own
// programs, whose linters need the person's caches; a pull request is somebody else's, and fails closed.
func (p *Proc) walls(ctx context.Context, target review.Target) (walls, error) {
	if target.Local() {
		return walls{words: "none: a local range, reviewed as the user who started prloop"}, nil
	}
	w := walls{on: true, weakest: sandbox.Tier1b, read: filepath.SplitList(p.env(envSandboxRead))}
	switch word := p.env(envSandbox); word {
	case "", "required":
	case "best":
		w.weakest = sandbox.Tier4 // whatever there is; the report says what
	case "off":
		return walls{words: "none: switched off by the operator; agents run as the user who started prloop"}, nil
	default:
		return w, usage(envSandbox+"=required, best or off", "%s=%s is not known", envSandbox, word)
	}
	var err error
	if w.machine, err = p.machine(); err != nil {
		return w, err
	}
	report := w.machine.Probe(ctx)
	w.words, w.ownNetwork = report.String(), report.Tier <= sandbox.Tier1b
	if w.ownNetwork {
		w.words += ": a file system of its own, no credential, no network but the way to the model gateway"
	}
	if report.Tier > w.weakest {
		_, err := w.machine.Wrap(sandbox.Policy{MinTier: w.weakest}, sandbox.Command{})
		return w, err
	}
	return w, nil
}

// verifyEnv are the operator's variables for verify commands.
func (p *Proc) verifyEnv() ([]string, error) {
	env := strings.Fields(p.env(envVerify))
	for _, e := range env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return nil, usage(envVerify+`="NAME=value NAME=value"`, "%s: %q is no variable", envVerify, e)
		}
	}
	return env, nil
}

// machine is the machine as the operator lets prloop see it.
func (p *Proc) machine() (*sandbox.Machine, error) {
	if p.seen != nil {
		return p.seen, nil
	}
	var parts []string
	for part := range strings.SplitSeq(p.env(envSandboxWithout), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if !slices.Contains(sandbox.Parts(), part) {
			return nil, usage(envSandboxWithout+"="+strings.Join(sandbox.Parts(), ",")+" or some of them", "%s: there is no part %q", envSandboxWithout, part)
		}
		parts = append(parts, part)
	}
	p.seen = sandbox.Without("left out by "+envSandboxWithout, parts...)
	return p.seen, nil
}

// confine puts a child behind the walls: a file system of its own, in which it may read the paths given and write its home
// and, for a fixer, its clone, and no network but the way to the gateway.
func (a *asker) confine(spec *agents.Spec, home, clone string, read []string) error {
	if !a.walls.on {
		return nil
	}
	path, err := proc.LookPath(spec.Path)
	if err != nil {
		return err
	}
	policy := sandbox.Policy{MinTier: a.walls.weakest, Home: home, ReadOnly: append(read, a.walls.read...), Hide: []string{a.state}}
	if clone != "" {
		policy.Writable = []string{clone}
	}
	if a.gateway != nil && hasValue(spec.Env, a.gateway.Socket()) {
		policy.Gateway = a.gateway.Socket()
		if a.walls.ownNetwork && hasName(spec.Env, "OPENAI_BASE_URL") {
			policy.GatewayPort = gatewayPort
		}
	}
	wrapped, err := a.walls.machine.Wrap(policy, sandbox.Command{Path: path, Args: spec.Args, Env: spec.Env, Dir: spec.Dir})
	if err != nil {
		return err
	}
	spec.Path, spec.Args, spec.Env, spec.Dir = wrapped.Path, wrapped.Args, wrapped.Env, wrapped.Dir
	return nil
}

// gatewayPort is where a confined program finds the gateway over TCP, on a loopback interface that is its own.
const gatewayPort = 4000

// gatewayEnv is how a program that is not ours finds the gateway: by the names OpenAI-compatible clients know, and by the
// socket. The key is a placeholder.
func gatewayEnv(socket, token string) []string {
	return []string{
		envSocket + "=" + socket, envToken + "=" + token, "OPENAI_API_KEY=" + token,
		"OPENAI_BASE_URL=http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(gatewayPort)) + "/v1",
	}
}

func hasName(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

func hasValue(env []string, value string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasSuffix(e, "="+value) })
}
