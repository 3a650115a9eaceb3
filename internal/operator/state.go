package operator

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/ownfolder"
)

// StateFolder is where prloop keeps its database, its repositories and the artifacts of runs. A relative one is below dir.
func (w *Words) StateFolder(dir string) (string, error) {
	here := dir
	if dir = w.Get("PRLOOP_STATE"); dir == "" {
		if xdg := w.Get("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
			dir = filepath.Join(xdg, "prloop")
		} else if home := w.Get("HOME"); home != "" {
			dir = filepath.Join(home, ".local", "state", "prloop")
		} else {
			return "", advice.Misuse("set PRLOOP_STATE to a folder of your own", "no place to keep runs: neither PRLOOP_STATE, XDG_STATE_HOME nor HOME is set")
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(here, dir)
	}
	err := ownfolder.Make(dir)
	var untrusted *ownfolder.Error
	switch {
	case errors.As(err, &untrusted):
		return "", advice.Error{Err: fmt.Errorf("the state folder cannot be trusted: %w", err), Next: trust(untrusted), Status: advice.Usage}
	case err != nil:
		return "", advice.Error{Err: fmt.Errorf("make the state folder: %w", err), Next: "set PRLOOP_STATE to a folder you can write", Status: advice.Failed}
	}
	return dir, nil
}

// trust is what to do about a state folder that cannot be trusted.
func trust(e *ownfolder.Error) string {
	const elsewhere = "set PRLOOP_STATE to a folder of your own"
	switch {
	case e.LeadsTo != "":
		return "name the folder it leads to: PRLOOP_STATE=" + e.LeadsTo
	case e.Command != "":
		return elsewhere + ", or, if what it holds is yours: " + e.Command
	}
	return elsewhere
}
