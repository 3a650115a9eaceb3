// Package sandbox confines an agent's process (threats.md "Sandbox tiers"). A confined child sees a file system of its own, has no
// network but a way to the model gateway, holds no capability, cannot see or signal processes outside, and ends with
// whoever started it. On Linux it is built of namespaces, Landlock and seccomp, on macOS, where it holds less, of Seatbelt
// (decision 60). Elsewhere Probe says tier 4.
//
// [Probe] finds out by behaviour what this machine can do, because two kernels of one version can differ. [Wrap] turns a
// command into one that starts this same program again, as "sandbox-init", which sets everything up and then starts the
// agent. If one step fails it ends with [ExitSetup] and one line on standard error; it never starts an agent less
// confined than it was told to.
//
//	prloop -> sandbox-init (outside)    gives the folders away, takes signals, passes the status on
//	            -> sandbox-init (inside)   the new namespaces' init: mounts, loopback, bridge to the gateway, reaping
//	                 -> agent                 confined by the thread that forked it
//
// Both halves branch off in this package's init, before the rest of the program is set up: every binary that links this
// package can confine, tests included, and no package that is slow to initialize delays a child.
//
// Landlock and seccomp are applied by bare system calls to the one thread that forks the agent, not to the whole process.
// The library way stops every thread of the process; built with cgo it looks for them in /proc, finds another process's in
// a new pid namespace, and spins for ever (threats.md "Sandbox tiers"). A thread is also all that is needed: a child inherits from the
// thread that forked it.
package sandbox
