package operator

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/blobs"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/ownfolder"
	"github.com/prloop/prloop/internal/postgres"
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

// EnvDatabase is the address of the database of runs, such as postgres://USER@HOST/DATABASE: machines that share it share the work.
const EnvDatabase = "PRLOOP_DATABASE"

// Database is the address of the database of runs; empty for the file in the state folder. flag, if it is not empty, says so instead. A
// password is not taken from there: everybody on the machine can read the arguments of a process.
func (w *Words) Database(flag string) (string, error) {
	address, from := w.Get(EnvDatabase), EnvDatabase
	if flag != "" {
		address, from = flag, "--database"
	}
	if address == "" {
		return "", nil
	}
	a, err := database.Parse(address, database.SQLite, database.Postgres)
	if err != nil {
		return "", advice.Misuse(from+"=postgres://USER@HOST/DATABASE", "%s: %w", from, err)
	}
	if a.Kind != database.Postgres {
		return "", advice.Misuse("set PRLOOP_STATE to the folder of the database", "%s: a SQLite database is prloop.db in the state folder", from)
	}
	known, err := postgres.Parse(a.String())
	if err != nil {
		return "", advice.Misuse(from+"=postgres://USER@HOST/DATABASE", "%s: %w", from, err)
	}
	if flag != "" && known.Written() {
		return "", advice.Misuse("set "+EnvDatabase+" or PGPASSWORD, or use ~/.pgpass", "the address of --database holds a password, which others on this machine could read")
	}
	return a.String(), nil
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

// EnvBlobs is the address of the blob store that keeps the files of runs for all machines, such as s3://BUCKET/PREFIX?endpoint=URL.
const EnvBlobs = "PRLOOP_BLOBS"

// Blobs opens the blob store; nil without an address.
func (w *Words) Blobs() (app.Blobs, error) {
	address := w.Get(EnvBlobs)
	if address == "" {
		return nil, nil
	}
	s, err := blobs.Open(address, w.Get)
	if err != nil {
		return nil, advice.Misuse("docs/daemon.md has an example", "%s: %w", EnvBlobs, err)
	}
	return s, nil
}
