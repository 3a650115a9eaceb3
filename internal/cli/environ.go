package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/sandbox"
)

// The operator's word on the machine stands in the environment alone: no repository has a say.
const (
	// envSandbox is required (the default: full containment or nothing), best (what the machine has) or off.
	envSandbox = "PRLOOP_SANDBOX"
	// envSandboxRead lists further files and folders that confined agents may read, separated as in PATH.
	envSandboxRead = "PRLOOP_SANDBOX_READ"
	// envVerify holds further variables of verify commands, "NAME=value", separated by white space: where they find what
	// envSandboxRead lends, such as GOPROXY=file:///var/cache/go/cache/download. Code of the pull request sees them.
	envVerify = "PRLOOP_VERIFY_ENV"
	// envLimits bounds what each agent and each verify command may take of the machine, as in "memory=4GB disk=2GB files=200000
	// free=1GB"; what is not named keeps its default.
	envLimits = "PRLOOP_LIMITS"
	// envSandboxWithout leaves parts of the sandbox out, separated by commas, as if the machine did not have them. It only
	// narrows: where full containment is required, a run that leaves a needed part out is refused.
	envSandboxWithout = "PRLOOP_SANDBOX_WITHOUT"
	// envSecrets is the word on values that look like secrets: "mask", the default, keeps them from agents other than static,
	// "show" lets models see those in files.
	envSecrets = "PRLOOP_SECRETS"
)

// machine is what runs may have of this machine.
func (p *Invocation) machine() (m app.Machine, err error) {
	if m.Confinement, err = p.confinement(); err != nil {
		return m, err
	}
	if m.Sandbox, err = p.sandbox(); err != nil {
		return m, err
	}
	if m.VerifyEnv, err = p.verifyEnv(); err != nil {
		return m, err
	}
	if m.Limits, err = p.limits(); err != nil {
		return m, err
	}
	m.ShowSecrets, err = p.showSecrets()
	m.Readable = filepath.SplitList(p.env(envSandboxRead))
	return m, err
}

// confinement is the operator's word on confinement. One that is not known is refused wherever it stands: who wrote it
// believes that it does something.
func (p *Invocation) confinement() (app.Confinement, error) {
	switch word := app.Confinement(p.env(envSandbox)); word {
	case "":
		return app.ConfineRequired, nil
	case app.ConfineRequired, app.ConfineBest, app.ConfineOff:
		return word, nil
	default:
		return "", usage(envSandbox+"=required, best or off", "%s=%s is not known", envSandbox, word)
	}
}

func (p *Invocation) showSecrets() (bool, error) {
	switch word := p.env(envSecrets); word {
	case "", "mask":
		return false, nil
	case "show":
		return true, nil
	default: // who wrote it believes that it does something
		return false, usage(envSecrets+"=mask or show", "%s=%s is not known", envSecrets, word)
	}
}

// verifyEnv are the operator's variables for verify commands.
func (p *Invocation) verifyEnv() ([]string, error) {
	env := strings.Fields(p.env(envVerify))
	for _, e := range env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return nil, usage(envVerify+`="NAME=value NAME=value"`, "%s: %q is not NAME=value", envVerify, e)
		}
	}
	return env, nil
}

// limits is the operator's word on what children may take.
func (p *Invocation) limits() (agentrun.Limits, error) {
	l, err := agentrun.ParseLimits(p.env(envLimits))
	if err != nil {
		return l, usage(envLimits+`="memory=4GB disk=2GB files=200000 free=1GB"`, "%s: %w", envLimits, err)
	}
	return l, nil
}

// sandbox is the machine as the operator lets prloop see it.
func (p *Invocation) sandbox() (*sandbox.Machine, error) {
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
