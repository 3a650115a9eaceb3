// Package operator reads the operator's word on this machine: what confines agents, what they may take and read. It stands in
// environment variables alone: no repository has a say.
package operator

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/sanitize"
)

// The variables.
const (
	// EnvSandbox is required (the default: full containment or nothing), best (what the machine has) or off.
	EnvSandbox = "PRLOOP_SANDBOX"
	// EnvSandboxRead lists further files and folders that confined agents may read, separated as in PATH.
	EnvSandboxRead = "PRLOOP_SANDBOX_READ"
	// EnvVerify holds further variables of verify commands, "NAME=value", separated by white space: where they find what
	// EnvSandboxRead lends, such as GOPROXY=file:///var/cache/go/cache/download. Code of the pull request sees them.
	EnvVerify = "PRLOOP_VERIFY_ENV"
	// EnvLimits bounds what each agent and each verify command may take of the machine, as in "memory=4GB disk=2GB files=200000
	// free=1GB"; what is not named keeps its default.
	EnvLimits = "PRLOOP_LIMITS"
	// EnvSandboxWithout leaves parts of the sandbox out, separated by commas, as if the machine did not have them. It only
	// narrows: where full containment is required, a run that leaves a needed part out is refused.
	EnvSandboxWithout = "PRLOOP_SANDBOX_WITHOUT"
	// EnvWorkspace is the folder of a job in GitHub Actions, into which its workflow checks repositories out.
	EnvWorkspace = "GITHUB_WORKSPACE"
	// EnvSecrets is the word on values that look like secrets: "mask", the default, keeps them from agents other than static,
	// "show" lets models see those in files.
	EnvSecrets = "PRLOOP_SECRETS"
	// EnvMarkerKey are the keys by which prloop knows its own comments, each as 64 hexadecimal digits; the first signs. Machines that share it know each
	// other's threads; without it each makes its own.
	EnvMarkerKey = "PRLOOP_MARKER_KEY"
	// EnvGitHubBroker and EnvModelBroker are the sockets of the processes that hold the credentials in the place of this one (decision 94).
	EnvGitHubBroker = "PRLOOP_GITHUB_BROKER"
	EnvModelBroker  = "PRLOOP_MODEL_BROKER"
)

// Words are the operator's, in the environment of one process.
type Words struct {
	// Get looks a variable up.
	Get func(string) string
	// seen is what confines agents, once it was asked for.
	seen *sandbox.Machine
}

// Machine is what runs may have of this machine.
func (w *Words) Machine() (m app.Machine, err error) {
	if m.Confinement, err = w.Confinement(); err != nil {
		return m, err
	}
	if m.Sandbox, err = w.Sandbox(); err != nil {
		return m, err
	}
	if m.VerifyEnv, err = w.verifyEnv(); err != nil {
		return m, err
	}
	if m.Limits, err = w.Limits(); err != nil {
		return m, err
	}
	if m.MarkerKey, err = w.markerKey(); err != nil {
		return m, err
	}
	m.ShowSecrets, err = w.showSecrets()
	m.Readable = filepath.SplitList(w.Get(EnvSandboxRead))
	m.Caches = w.Caches()
	m.Workspace = w.Get(EnvWorkspace)
	if m.Workspace == "" && err == nil {
		m.Workspace, err = os.Getwd()
	}
	return m, err
}

// Confinement is the operator's word on confinement. One that is not known is refused wherever it stands: who wrote it
// believes that it does something.
func (w *Words) Confinement() (app.Confinement, error) {
	switch word := app.Confinement(w.Get(EnvSandbox)); word {
	case "":
		return app.ConfineRequired, nil
	case app.ConfineRequired, app.ConfineBest, app.ConfineOff:
		return word, nil
	default:
		return "", advice.Misuse(EnvSandbox+"=required, best or off", "%s=%s is not known", EnvSandbox, word)
	}
}

// maxMarkerKeys is how many keys may be about at a time.
const maxMarkerKeys = 8

// markerKey are the operator's keys for markers, one behind the other (sanitize.Keys); nil without one. They are not repeated in errors.
func (w *Words) markerKey() ([]byte, error) {
	var keys []byte
	words := strings.FieldsFunc(w.Get(EnvMarkerKey), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
	if len(words) > maxMarkerKeys {
		return nil, advice.Misuse(EnvMarkerKey+"=NEW,OLD", "%s has %d keys, more than %d", EnvMarkerKey, len(words), maxMarkerKeys)
	}
	for _, word := range words {
		key, err := hex.DecodeString(word)
		switch {
		case (err != nil || len(key) != sanitize.KeySize) && len(words) == 1:
			return nil, advice.Misuse(EnvMarkerKey+"=$(openssl rand -hex 32)", "%s is not 64 hexadecimal digits", EnvMarkerKey)
		case err != nil || len(key) != sanitize.KeySize:
			return nil, advice.Misuse(EnvMarkerKey+"=NEW,OLD", "a key of %s is not 64 hexadecimal digits", EnvMarkerKey)
		}
		keys = append(keys, key...)
	}
	return keys, nil
}

func (w *Words) showSecrets() (bool, error) {
	switch word := w.Get(EnvSecrets); word {
	case "", "mask":
		return false, nil
	case "show":
		return true, nil
	default: // who wrote it believes that it does something
		return false, advice.Misuse(EnvSecrets+"=mask or show", "%s=%s is not known", EnvSecrets, word)
	}
}

// verifyEnv are the operator's variables for verify commands.
func (w *Words) verifyEnv() ([]string, error) {
	env := strings.Fields(w.Get(EnvVerify))
	for _, e := range env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return nil, advice.Misuse(EnvVerify+`="NAME=value NAME=value"`, "%s: %q is not NAME=value", EnvVerify, e)
		}
	}
	return env, nil
}

// Limits is the operator's word on what children may take.
func (w *Words) Limits() (agentrun.Limits, error) {
	l, err := agentrun.ParseLimits(w.Get(EnvLimits))
	if err != nil {
		return l, advice.Misuse(EnvLimits+`="memory=4GB disk=2GB files=200000 free=1GB"`, "%s: %w", EnvLimits, err)
	}
	return l, nil
}

// Sandbox is the machine as the operator lets prloop see it.
func (w *Words) Sandbox() (*sandbox.Machine, error) {
	if w.seen != nil {
		return w.seen, nil
	}
	var parts []string
	for part := range strings.SplitSeq(w.Get(EnvSandboxWithout), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if !slices.Contains(sandbox.Parts(), part) {
			return nil, advice.Misuse(EnvSandboxWithout+"="+strings.Join(sandbox.Parts(), ",")+" or some of them", "%s: there is no part %q", EnvSandboxWithout, part)
		}
		parts = append(parts, part)
	}
	w.seen = sandbox.Without("left out by "+EnvSandboxWithout, parts...)
	return w.seen, nil
}
