//go:build !race

package sanitize

const underRace = false
