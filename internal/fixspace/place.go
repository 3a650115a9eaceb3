package fixspace

import (
	"path/filepath"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
)

// jobFolders are the folders of a room that setup and verify commands run in: the tree, a home, temporary files, what builds keep, what
// package managers keep, and where the operator's caches are shown.
var jobFolders = []string{"home", "tmp", "cache", "packages", "lent", "lent/cargo", "lent/npm"}

// place is where a room is, for prloop and for the commands in it.
type place struct{ outside, inside string }

// placed is the place of a room.
func (b *Workspace) placed(dir string) place {
	if b.OwnFiles {
		return place{dir, sandbox.RoomInside}
	}
	return place{dir, dir}
}

// at is where the commands find a part of the room.
func (p place) at(names ...string) string {
	return filepath.Join(append([]string{p.inside}, names...)...)
}

// job is a command of a room, without its script: with a home of its own, a loopback interface that leads nowhere, since tests that
// talk to themselves are common, and the operator's variables, which outrank ours.
func (b *Workspace) job(dir string, o VerifyOptions, env ...string) child {
	in := b.placed(dir)
	part := func(name string) string { return filepath.Join(dir, name) }
	policy := sandbox.Policy{
		Home: part("home"), Writable: []string{part("tree"), part("home"), part("tmp"), part("cache"), part("packages"), part("lent")},
		ReadOnly: o.Read, Loopback: true, Limits: o.Limits,
	}
	if b.OwnFiles {
		policy.Shown = []sandbox.Shown{{Path: dir, At: in.inside}}
		if o.Setup != nil {
			packages := filepath.Join(o.Setup.Path, "packages")
			policy.Writable = append(policy.Writable[:4:4], part("lent"))
			policy.ReadOnly = append(policy.ReadOnly[:len(policy.ReadOnly):len(policy.ReadOnly)], packages)
			policy.Shown = append(policy.Shown, sandbox.Shown{Path: packages, At: in.at("packages")})
			env = append(env, offline...)
		}
		env = append(env, o.lend(in, &policy)...)
	}
	env = append(append(o.environment(in), env...), o.Env...)
	return child{policy: policy, env: proc.BaseEnv(env...), dir: part("tree"), max: outputLimit}
}
