//go:build !linux

package gateway

import "net"

// peerOf knows nobody here: connections count to an agent once its token came.
func peerOf(net.Conn) int32 { return 0 }
