package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Tier says how well a child can be confined (threats.md "Sandbox tiers"). A smaller one is better.
type Tier int

// The tiers.
const (
	// Tier1 contains files, network, processes and signals, with namespaces of our own.
	Tier1 Tier = iota + 1
	// Tier1b contains the same with bubblewrap's namespaces.
	Tier1b
	// Tier2 has no namespaces: what files hold is contained, their modes and times are not; a child without a gateway has no network, one with a gateway may
	// reach other unix sockets of the machine. On macOS it reaches the gateway's alone, and what leaves its process group outlives it.
	Tier2
	// Tier3 contains a part; for pull requests of trusted authors and an explicit flag.
	Tier3
	// Tier4 contains nothing.
	Tier4
)

// String is the tier's name in threats.md "Sandbox tiers": 1, 1b, 2, 3 or 4.
func (t Tier) String() string {
	switch t {
	case Tier1:
		return "1"
	case Tier1b:
		return "1b"
	case Tier2, Tier3, Tier4:
		return fmt.Sprint(int(t) - 1)
	}
	return "unknown"
}

// The parts Probe looks at.
const (
	PartNamespaces = "namespaces" // user (unless root), pid, net, mount, ipc, uts; a fresh /proc; loopback
	PartLandlock   = "landlock"
	PartSeccomp    = "seccomp"
	PartBubblewrap = "bubblewrap"
	PartSeatbelt   = "seatbelt"    // of macOS, where it stands for the others
	PartUID        = "own uid"     // an unprivileged uid for the child when prloop runs as root
	PartCgroup     = "cgroup.kill" // told only: the pid namespace ends the child
)

// Part is one thing that was probed.
type Part struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail is what was found, or why the part is missing.
	Detail string `json:"detail"`
}

// Report is what a machine can do.
type Report struct {
	Tier  Tier
	Parts []Part
	// Took is how long the probe took.
	Took time.Duration

	landlock int
	userns   bool
	bwrap    string
	// keepsRoot is true when children keep root's uid.
	keepsRoot bool
}

// Part returns one part by name; one that was not looked at is missing.
func (r Report) Part(name string) Part {
	for _, p := range r.Parts {
		if p.Name == name {
			return p
		}
	}
	return Part{Name: name, Detail: "not looked at"}
}

// String is one line: the tier, and what keeps the machine from a better one.
func (r Report) String() string {
	line := "tier " + r.Tier.String()
	var missing []string
	names := r.lacks(Tier1)
	if r.keepsRoot {
		names = append(names, PartUID)
	}
	for _, name := range names {
		missing = append(missing, name+": "+r.Part(name).Detail)
	}
	if len(missing) > 0 {
		line += " (" + strings.Join(missing, "; ") + ")"
	}
	return line
}

// Private is the report for children whose folders no other user may enter, as those of prloop's runs are. Root's keep uid 0 there without
// namespaces, and may then change the modes of all of root's files: that is not tier 2.
func (r Report) Private() Report {
	if r.Tier != Tier2 || !isRoot() {
		return r
	}
	r.Tier = Tier3
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p Part) bool { return p.Name == PartUID })
	r.say(PartUID, false, "the folders of runs are closed to other users, so that root's children keep uid 0")
	r.keepsRoot = true
	return r
}

// Landlock versions a tier needs: 3 knows truncation, 4 knows TCP.
const (
	landlockTier1 = 3
	landlockTier2 = 4
)

// rate finds the tier of a filled report.
func (r Report) rate() Tier {
	for t := Tier1; t < Tier3; t++ {
		if len(r.lacks(t)) == 0 {
			return t
		}
	}
	if r.landlock > 0 || r.Part(PartSeccomp).OK || r.Part(PartNamespaces).OK {
		return Tier3
	}
	return Tier4
}

// lacks names the parts that keep the machine from a tier.
func (r Report) lacks(t Tier) []string {
	var names []string
	need := func(name string, ok bool) {
		if !ok {
			names = append(names, name)
		}
	}
	rules := func(abi int) {
		need(PartLandlock, r.landlock >= abi)
		need(PartSeccomp, r.Part(PartSeccomp).OK)
	}
	switch t {
	case Tier1:
		need(PartNamespaces, r.Part(PartNamespaces).OK)
		rules(landlockTier1)
	case Tier1b:
		need(PartBubblewrap, r.Part(PartBubblewrap).OK)
		rules(landlockTier1)
	case Tier2:
		if !r.Part(PartSeatbelt).OK {
			rules(landlockTier2)
		}
	}
	return names
}
