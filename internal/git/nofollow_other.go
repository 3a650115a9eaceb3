//go:build !unix

package git

import "os"

const noFollow = 0

// linkedElsewhere cannot be told here; fixers run on unix alone, where they can be confined.
func linkedElsewhere(os.FileInfo) bool { return false }
