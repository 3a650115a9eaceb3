package review

import "slices"

// MayWrite reports whether a permission on a repository, in GitHub's words, includes writing. It is the one rule of who may ask for
// something, soften a gate or have a pull request fixed (decision 9).
func MayWrite(permission string) bool {
	return slices.Contains([]string{"admin", "maintain", "write"}, permission)
}
