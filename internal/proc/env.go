package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// inherited are the only variables a child gets from prloop's own environment (threats.md T70). The last
// ones are what programs on Windows cannot start without.
var inherited = []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR",
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE"}

// BaseEnv is the environment a child starts from: an allowlist of prloop's own, then extra ("NAME=value"), in which a
// later entry replaces an earlier one. It holds no credential unless extra does.
func BaseEnv(extra ...string) []string {
	env := make([]string, 0, len(inherited)+len(extra))
	set := func(entry string) {
		name, _, _ := strings.Cut(entry, "=")
		for i, e := range env {
			if n, _, _ := strings.Cut(e, "="); n == name {
				env[i] = entry
				return
			}
		}
		env = append(env, entry)
	}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			set(name + "=" + v)
		}
	}
	for _, e := range extra {
		set(e)
	}
	return env
}

// LookPath finds a program as Run does and returns its absolute path. A bare name is looked up in PATH, where the current
// folder is never searched; anything with a slash is taken as it is. The error wraps ErrNotFound when there is none.
func LookPath(name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("find program: %w: the name is empty", ErrNotFound)
	}
	p, err := exec.LookPath(name)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrDot) {
			return "", fmt.Errorf("find program %s: %w", name, ErrNotFound)
		}
		return "", fmt.Errorf("find program %s: %w", name, cause(err))
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", fmt.Errorf("find program %s: %w", name, err)
	}
	return abs, nil
}

// cause takes the packaging of os/exec off, which repeats the name.
func cause(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
