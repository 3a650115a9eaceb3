package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Machine is what is known about the machine prloop runs on: the zero value looks for itself.
type Machine struct {
	// missing are parts that Probe is told not to find, with the reason to report.
	missing map[string]string
	// bwrap is where to look for bubblewrap instead of where systems install it; tests alone set it.
	bwrap  string
	probed probed
}

// Without is this machine with some parts left out for the reason given, as if it did not have them: what a weaker machine
// would do can be seen on a better one. It can only take away; a part that is not there does not appear by it.
func Without(reason string, parts ...string) *Machine {
	m := &Machine{missing: map[string]string{}}
	for _, name := range parts {
		m.missing[name] = reason
	}
	return m
}

// Parts are the names Without knows.
func Parts() []string {
	return []string{PartNamespaces, PartBubblewrap, PartLandlock, PartSeccomp, PartSeatbelt}
}

// Wrap turns a command into one that runs it confined. It returns a *TierError when the machine cannot do what
// policy.MinTier asks for, and a *PolicyError when a path is missing or would show what is to be hidden. With a MinTier
// of Tier4 on a machine of tier 4 the command comes back unchanged: that is running without a sandbox, and the caller has
// to say so in the report.
func (m *Machine) Wrap(policy Policy, cmd Command) (Command, error) {
	report := m.Probe(context.Background())
	want := policy.MinTier
	if want == 0 {
		want = Tier1b
	}
	if report.Tier > want {
		return Command{}, tierError(report, want)
	}
	if report.Tier == Tier4 {
		return cmd, nil
	}
	p := planFor(report)
	if err := p.fill(policy, cmd); err != nil {
		return Command{}, err
	}
	if p.root != "" && want < Tier3 {
		return Command{}, &TierError{Want: want, Have: Tier3, Missing: []Part{{PartUID, false, p.root}}}
	}
	self, err := os.Executable()
	if err != nil {
		return Command{}, fmt.Errorf("confine child: find this program: %w", err)
	}
	if p.Mode == modeSeatbelt {
		cmd.Env = replaceSocket(cmd.Env, policy.Gateway, p.Socket)
		return p.seatbelt(self, cmd)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return Command{}, fmt.Errorf("confine child: %w", err)
	}
	// The kernel takes no single argument longer than 128 KB.
	if len(data) >= 120<<10 {
		return Command{}, &PolicyError{"policy", "it names more paths than one argument can hold"}
	}
	return Command{
		Path: self,
		Args: append([]string{InitCommand, string(data), cmd.Path}, cmd.Args...),
		Env:  replaceSocket(cmd.Env, policy.Gateway, p.Socket),
		Dir:  "/",
	}, nil
}

func tierError(r Report, want Tier) error {
	e := &TierError{Want: want, Have: r.Tier}
	of := want
	if want == Tier1b {
		of = Tier1
	}
	names := r.lacks(of)
	if of >= Tier3 {
		names = []string{PartNamespaces, PartLandlock, PartSeccomp}
	}
	for _, name := range names {
		e.Missing = append(e.Missing, r.Part(name))
	}
	return e
}

// planFor takes all that the machine has.
func planFor(r Report) *plan {
	p := &plan{Mode: modeRules, Landlock: r.landlock, Seccomp: r.Part(PartSeccomp).OK}
	switch {
	case r.Part(PartNamespaces).OK:
		p.Mode, p.Userns = modeNamespaces, r.userns
	case r.Part(PartBubblewrap).OK:
		p.Mode, p.Bubblewrap = modeBubblewrap, r.bwrap
	case r.Part(PartSeatbelt).OK:
		p.Mode = modeSeatbelt
	}
	return p
}

// fill adds what the policy allows.
func (p *plan) fill(policy Policy, cmd Command) error {
	for what, path := range map[string]string{"program": cmd.Path, "home": policy.Home} {
		if err := checkPath(what, path); err != nil {
			return err
		}
	}
	if err := policy.checkShown(p.Mode); err != nil {
		return err
	}
	p.Home, p.Dir, p.Limits = policy.inside(filepath.Clean(policy.Home)), policy.inside(filepath.Clean(cmp.Or(cmd.Dir, policy.Home))), policy.Limits.withDefaults()
	p.Gateway, p.Port, p.Inet = policy.Gateway, policy.GatewayPort, policy.Loopback || policy.GatewayPort != 0
	p.Watch = policy.Watch
	if p.Inet && p.Mode.inPlace() {
		return &PolicyError{"loopback", "without a network namespace TCP would reach the network of the machine"}
	}
	if p.Port < 0 || p.Port > 65535 || p.Port != 0 && p.Gateway == "" {
		return &PolicyError{"gateway port", "it needs a gateway and a number up to 65535"}
	}
	if p.Gateway != "" {
		if err := checkPath("gateway", p.Gateway); err != nil {
			return err
		}
		limit := socketLimit
		switch p.Socket = GatewaySocket; p.Mode {
		case modeRules:
			p.Socket = p.Home + "/.prloop-model.sock"
		case modeSeatbelt: // it is reached where it is, by the path it has without links
			dir, err := filepath.EvalSymlinks(filepath.Dir(p.Gateway))
			if err != nil {
				return &PolicyError{"gateway", err.Error()}
			}
			p.Gateway = filepath.Join(dir, filepath.Base(p.Gateway))
			p.Socket, limit = p.Gateway, seatbeltSocketLimit
		}
		if len(p.Socket) > limit || len(p.Gateway) > limit {
			return &PolicyError{"gateway", fmt.Sprintf("a socket's path may have %d bytes at most", limit)}
		}
	}
	if err := p.show(policy, cmd); err != nil {
		return err
	}
	return p.chooseUID()
}

// checkShown refuses what is shown where it must not be.
func (p Policy) checkShown(m mode) error {
	for _, s := range p.Shown {
		switch {
		case m.inPlace():
			return &PolicyError{"shown path", "without a mount namespace every path is the machine's own"}
		case checkPath("shown path", s.Path) != nil || filepath.Clean(s.Path) != s.Path || filepath.Clean(s.At) != s.At || !within(s.At, RoomInside):
			return &PolicyError{"shown path", fmt.Sprintf("%q cannot be shown at %q", s.Path, s.At)}
		}
	}
	return nil
}

// socketLimit is the longest path of a unix socket that the kernel takes, in bytes.
const socketLimit = 107

func checkPath(what, path string) error {
	switch {
	case path == "":
		return &PolicyError{what, "it is empty"}
	case path[0] != '/' || strings.ContainsRune(path, 0) || !utf8.ValidString(path):
		return &PolicyError{what, fmt.Sprintf("%q is not an absolute path of valid UTF-8", path)}
	}
	return nil
}

// replaceSocket puts the socket's path inside where its path outside stands.
func replaceSocket(env []string, outside, inside string) []string {
	out := make([]string, len(env)) // never nil, which would mean "inherit"
	for i, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if outside != "" && value == outside {
			e = name + "=" + inside
		}
		out[i] = e
	}
	return out
}
