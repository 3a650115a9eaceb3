package acp

import (
	"fmt"
	"os"
	"path/filepath"
)

// address is a name for a socket that fits into a socket's address.
type address struct {
	name   string
	folder *os.File
}

// maxSocketPath is what every system's socket address can hold, in bytes.
const maxSocketPath = 100

// addressOf gives a name for a socket. A path that is too long is shortened by way of its open folder, which Linux allows:
// the socket stays where the agent's sandbox shows it.
func addressOf(path string) (address, error) {
	if len(path) <= maxSocketPath {
		return address{name: path}, nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return address{}, err
	}
	short := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	if _, err := os.Stat(short); err != nil {
		folder.Close()
		return address{}, fmt.Errorf("its path is longer than %d bytes: %s", maxSocketPath, path)
	}
	return address{filepath.Join(short, filepath.Base(path)), folder}, nil
}

func (a address) release() {
	if a.folder != nil {
		a.folder.Close()
	}
}
