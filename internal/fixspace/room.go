package fixspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/sandbox"
)

// Names of the folders below Workspace.Scratch.
const (
	fixRoom    = "fix-"
	verifyRoom = "verify-"
	setupRoom  = "setup-"
	layerRoom  = "layer-"
)

// room makes the private folder of one call, with folders in it. A star at the end of the name stands for what nobody has
// yet; otherwise what an earlier call of that name left is removed.
func (b *Workspace) room(name string, folders ...string) (string, error) {
	if b.Confine == nil {
		return "", errNoSandbox
	}
	dir, err := b.floor(name)
	if err != nil {
		return "", fmt.Errorf("make room: %w", err)
	}
	for _, f := range folders {
		err := os.Mkdir(filepath.Join(dir, f), 0o700)
		if err == nil && strings.HasPrefix(f, "lent") { // something is shown in it, which the sandbox has to find when it is the child's
			err = os.Chmod(filepath.Join(dir, f), 0o755)
		}
		if err != nil {
			return "", errors.Join(fmt.Errorf("make room: %w", err), sandbox.Remove(dir))
		}
	}
	return dir, nil
}

func (b *Workspace) floor(name string) (string, error) {
	if strings.HasSuffix(name, "*") {
		return os.MkdirTemp(b.Scratch, name)
	}
	dir := filepath.Join(b.Scratch, name)
	if err := sandbox.Remove(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}
