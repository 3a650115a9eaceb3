//go:build race

package sanitize

// underRace is true when the race detector slows everything down tenfold.
const underRace = true
