package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/internal/advice"
)

// Files says which formats are wanted, and where: paths, "-" for standard output, empty for not at all.
type Files struct{ SARIF, Checkstyle, RDJSONL string }

type file struct {
	flag, path string
	render     func(Run) ([]byte, error)
}

func (f Files) wanted() []file {
	var out []file
	for _, one := range []file{{"--sarif", f.SARIF, Run.SARIF}, {"--checkstyle", f.Checkstyle, Run.Checkstyle}, {"--rdjsonl", f.RDJSONL, Run.RDJSONL}} {
		if one.path != "" {
			out = append(out, one)
		}
	}
	return out
}

// Any reports whether a format is wanted at all.
func (f Files) Any() bool { return len(f.wanted()) > 0 }

// Printed reports whether one goes to standard output; nothing else does then.
func (f Files) Printed() bool { return f.SARIF == "-" || f.Checkstyle == "-" || f.RDJSONL == "-" }

// Check refuses what cannot be written, before anything is spent on a review; asJSON is true when --json has standard
// output already. Relative paths start at dir.
func (f Files) Check(dir string, asJSON bool) error {
	taken := ""
	if asJSON {
		taken = "--json"
	}
	for _, one := range f.wanted() {
		if one.path == "-" {
			if taken != "" {
				return advice.Misuse("give one of them a file", "%s and %s both print to standard output", taken, one.flag)
			}
			taken = one.flag
			continue
		}
		path := from(dir, one.path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return advice.Misuse("name a file in it", "%s: %s is a folder", one.flag, one.path)
		}
		if err := safe(dir, path); err != nil {
			return advice.Misuse("name a file of your own, outside of the checkout if need be", "%s: %s %w", one.flag, one.path, err)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return advice.Misuse("make it first", "%s: there is no folder %s", one.flag, filepath.Dir(one.path))
		}
	}
	return nil
}

// Write writes what is wanted of a run.
func (f Files) Write(stdout io.Writer, dir string, r Run) error {
	for _, one := range f.wanted() {
		text, err := one.render(r)
		if err == nil && one.path == "-" {
			_, err = stdout.Write(text)
		} else if err == nil {
			err = write(dir, from(dir, one.path), text)
		}
		if err != nil {
			return advice.Error{
				Err: fmt.Errorf("%s: %w", one.flag, err), Next: fmt.Sprintf("write it again: prloop show %s %s FILE", r.Result.Run, one.flag), Status: advice.Failed,
			}
		}
	}
	return nil
}

var (
	errNoFile  = errors.New("is a link or a pipe, not a file")
	errOutside = errors.New("leads through a link to another folder")
)

// inside gives a path below dir; false for one that is elsewhere, such as /dev/stdout, where no change can have put a link.
func inside(dir, path string) (string, bool) {
	name, err := filepath.Rel(dir, path)
	return name, err == nil && filepath.IsLocal(name)
}

// safe refuses paths below dir, which may be a checkout of somebody's change, that a link leads elsewhere or that are no files (threats.md T293).
func safe(dir, path string) error {
	name, below := inside(dir, path)
	if !below {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Stat(filepath.Dir(name)); err != nil {
		if _, there := os.Stat(filepath.Dir(path)); there == nil {
			return errOutside
		}
		return nil // there is no such folder, which is told by another rule
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return errNoFile
	}
	return nil
}

func write(dir, path string, text []byte) error {
	if err := safe(dir, path); err != nil {
		return err
	}
	name, below := inside(dir, path)
	if !below {
		return os.WriteFile(path, text, 0o644) //nolint:gosec // it is for other programs to read
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(name, text, 0o644)
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
