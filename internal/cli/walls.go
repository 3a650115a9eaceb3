package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/crew"
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
	// envLimits bounds what each agent and each verify command may take of the machine, as in "memory=4GB disk=2GB files=200000
	// free=1GB"; what is not named keeps its default.
	envLimits = "PRLOOP_LIMITS"
	// envSandboxWithout leaves parts of the sandbox out, separated by commas, as if the machine did not have them. It only
	// narrows: where full containment is required, a run that leaves a needed part out is refused.
	envSandboxWithout = "PRLOOP_SANDBOX_WITHOUT"
)

// walls settles how the agents of a run are confined. A local range is the person's own tree, reviewed by the person's own
// programs, whose linters need the person's caches; a pull request is somebody else's, and fails closed.
func (p *Proc) walls(ctx context.Context, target review.Target) (crew.Walls, error) {
	word, err := p.confinement()
	if err != nil {
		return crew.Walls{}, err
	}
	if target.Local() {
		return crew.NoWalls("a local range, reviewed as the user who started prloop"), nil
	}
	weakest := sandbox.Tier1b
	switch word {
	case confineBest:
		weakest = sandbox.Tier4 // whatever there is; the report says what
	case confineOff:
		return crew.NoWalls("switched off by the operator; agents run as the user who started prloop"), nil
	}
	machine, err := p.machine()
	if err != nil {
		return crew.Walls{}, err
	}
	return crew.Raise(ctx, machine, weakest, filepath.SplitList(p.env(envSandboxRead)))
}

// The words of envSandbox.
const (
	confineRequired = "required"
	confineBest     = "best"
	confineOff      = "off"
)

// confinement is the operator's word on confinement. One that is not known is refused wherever it stands: who wrote it
// believes that it does something.
func (p *Proc) confinement() (string, error) {
	switch word := p.env(envSandbox); word {
	case "":
		return confineRequired, nil
	case confineRequired, confineBest, confineOff:
		return word, nil
	default:
		return "", usage(envSandbox+"=required, best or off", "%s=%s is not known", envSandbox, word)
	}
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

// limits is the operator's word on what children may take.
func (p *Proc) limits() (l crew.Limits, err error) {
	for _, word := range strings.Fields(p.env(envLimits)) {
		name, text, _ := strings.Cut(word, "=")
		var n int64
		switch name {
		case "memory":
			n, err = bytesOf(text)
			l.MemoryBytes = n
		case "disk":
			n, err = bytesOf(text)
			l.DiskBytes = n
		case "free":
			n, err = bytesOf(text)
			l.FreeBytes = n
		case "files":
			n, err = strconv.ParseInt(text, 10, 64)
			l.Files = n
		}
		if err != nil || n <= 0 {
			return crew.Limits{}, usage(envLimits+`="memory=4GB disk=2GB files=200000 free=1GB"`, "%s: %q is no limit", envLimits, word)
		}
	}
	return l, nil
}

// bytesOf reads a number of bytes as people write it: 512MB, 4GB.
func bytesOf(text string) (int64, error) {
	shift := 20
	number, ok := strings.CutSuffix(text, "MB")
	if !ok {
		shift = 30
		if number, ok = strings.CutSuffix(text, "GB"); !ok {
			return 0, strconv.ErrSyntax
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	return n << shift, err
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
