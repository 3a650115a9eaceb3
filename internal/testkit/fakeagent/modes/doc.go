// Package modes holds the behaviours of fakeagent (threats.md "Agent modes"), for every role an agent can have: it answers with
// spec.md A2, A3 or A5 as the task it reads asks. Each mode does one thing wrong, or, like ok and slow, nothing.
package modes
