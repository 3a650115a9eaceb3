package operator

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/internal/fixspace"
)

// Caches are the module caches of this machine, where the tools say they are or keep them by default. What lies in them may be lent to
// verify commands (lend_caches).
func (w *Words) Caches() (found []fixspace.Lent) {
	home := w.Get("HOME")
	gopath := home + "/go"
	if list := filepath.SplitList(w.Get("GOPATH")); len(list) > 0 {
		gopath = list[0]
	}
	for _, c := range []struct {
		tool, folder string
		// holds is what stands in a cache that is one.
		holds string
	}{
		{fixspace.LendGo, cmp.Or(w.Get("GOMODCACHE"), filepath.Join(gopath, "pkg", "mod")), "cache"},
		{fixspace.LendCargo, cmp.Or(w.Get("CARGO_HOME"), filepath.Join(home, ".cargo")), "registry"},
		{fixspace.LendNPM, cmp.Or(w.Get("npm_config_cache"), w.Get("NPM_CONFIG_CACHE"), filepath.Join(home, ".npm")), "_cacache"},
	} {
		if info, err := os.Stat(filepath.Join(c.folder, c.holds)); err == nil && info.IsDir() && filepath.IsAbs(c.folder) {
			found = append(found, fixspace.Lent{Tool: c.tool, Folder: filepath.Clean(c.folder)})
		}
	}
	return found
}
