// Package ghbin finds the pinned GitHub CLI, building it with tools/gh/build when it is not in the user's cache yet.
// Only Go is needed. A cold build takes minutes, so the binary is kept under the user's cache folder by version.
package ghbin

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/proc"
)

// buildTimeout bounds a cold build with empty module and build caches on a slow machine.
const buildTimeout = 20 * time.Minute

// Path returns the pinned gh. It looks for tools/gh from the working folder upwards, so it works anywhere in a checkout.
// What it is doing, when that takes long, goes to progress, which may be nil.
func Path(ctx context.Context, progress io.Writer) (string, error) {
	tools, err := findTools()
	if err != nil {
		return "", err
	}
	version, err := pinned(tools)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the pinned gh: %w", err)
	}
	dir := filepath.Join(cache, "prloop", "gh-"+version)
	gh := filepath.Join(dir, "gh")
	if executable(gh) {
		return gh, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keep the pinned gh: %w", err)
	}
	turn, err := filelock.File(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", fmt.Errorf("keep the pinned gh: %w", err)
	}
	defer turn.Close()
	if executable(gh) { // somebody else built it while we waited
		return gh, nil
	}
	if progress != nil {
		fmt.Fprintf(progress, "building gh %s (once, about three minutes)\n", version)
	}
	return gh, build(ctx, tools, gh)
}

func build(ctx context.Context, tools, gh string) error {
	res, err := proc.Run(ctx, proc.Spec{Path: filepath.Join(tools, "build"), Args: []string{gh}, Dir: tools, Env: os.Environ(), Timeout: buildTimeout, Direct: true})
	if err != nil {
		return fmt.Errorf("build the pinned gh: %w\n%s", err, res.StderrTail)
	}
	return nil
}

func findTools() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find tools/gh: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		tools := filepath.Join(at, "tools", "gh")
		if executable(filepath.Join(tools, "build")) {
			return tools, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find tools/gh: no folder above %s has it", dir)
		}
	}
}

var versionLine = regexp.MustCompile(`(?m)^\s*github\.com/cli/cli/v2 v(\S+)`)

// pinned reads the version from the tool module's go.mod.
func pinned(tools string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(tools, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the pinned version of gh: %w", err)
	}
	m := versionLine.FindSubmatch(mod)
	if m == nil {
		return "", fmt.Errorf("read the pinned version of gh: %s/go.mod does not require it", tools)
	}
	return string(m[1]), nil
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
