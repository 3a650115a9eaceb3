package git

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/filelock"
)

// staleAfter is when a half-written pack or a lock is that of a killed fetch or collection: none takes so long.
const staleAfter = 2 * time.Hour

// packs is the folder of packs, whose lock every command shares that may write one (command.packs).
const packs = "objects/pack/"

// leavings are what killed fetches and collections leave, which git never removes. Packs whose names begin with a dot, and locks, fail every later collection.
var leavings = []string{packs + "tmp_*", packs + ".tmp-*", "objects/info/*.lock", "*.lock"}

// removeLeavings removes from a repository the half-written packs that nobody is writing (threats.md T716), and what is too old to be anybody's.
func removeLeavings(dir string) {
	lock, err := filelock.TryFolder(filepath.Join(dir, packs))
	if err == nil {
		defer lock.Close()
	}
	alone := err == nil && filelock.Folders
	for _, pattern := range leavings {
		left, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		for _, name := range left {
			info, err := os.Lstat(name)
			if err == nil && (alone && strings.HasPrefix(pattern, packs) || time.Since(info.ModTime()) > staleAfter) {
				os.RemoveAll(name)
			}
		}
	}
}
