//go:build !unix

package sandbox

import "os"

// Remove removes a folder that children could write, with all that they made of it.
func Remove(dir string) error { return os.RemoveAll(dir) }
