//go:build !unix

package npmagent

// lock does nothing where there is no flock: two installations at once waste time and nothing else, as the folder is renamed
// into place.
func lock(string) (unlock func(), err error) { return func() {}, nil }
