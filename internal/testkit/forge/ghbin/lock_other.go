//go:build !unix

package ghbin

// lock does nothing where there is no flock: two builds at once waste time and nothing else, as the binary is renamed
// into place.
func lock(string) (unlock func(), err error) { return func() {}, nil }
