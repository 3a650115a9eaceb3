//go:build linux && !amd64 && !arm64

package sandbox

// No filter was written for this architecture: Probe says so and the machine gets a lower tier.
const (
	auditArch = 0
	x32Bit    = 0
)

var archDenied, archWatches []uint32
