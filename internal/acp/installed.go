package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/proc"
)

// Installed reports where a preset's program is, by prloop's own PATH, and what it needs that is missing. The path is empty
// when the program itself is.
func (p Preset) Installed() (path string, missing []string) {
	path, err := proc.LookPath(p.Command)
	if err != nil {
		missing = append(missing, p.Command)
	}
	for _, need := range p.Needs {
		if _, err := proc.LookPath(need); err != nil {
			missing = append(missing, need)
		}
	}
	return path, missing
}

// Fixes reports whether the preset can be a fixer.
func (p Preset) Fixes() bool { return p.FixMode != "" }

// Tried is the version of the package whose switches were tried.
func (p Preset) Tried() string { return p.Package[strings.LastIndex(p.Package, "@")+1:] }

// versionWithin bounds how long a program may take to say its version. One that ships as one file unpacks itself first.
const versionWithin = 20 * time.Second

// number finds a version in what a program says.
var number = lazyregexp.New(`\d+\.\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.+-]*[0-9A-Za-z])?`)

// Version is that of the program at path: what its npm package says, or else the program itself, asked in an empty home so
// that it leaves nothing behind. Some agents do not know the question and only wait for a conversation.
func (p Preset) Version(ctx context.Context, path string) (version string, err error) {
	if version = packageVersion(path); version != "" {
		return version, nil
	}
	home, err := os.MkdirTemp("", "prloop-version-")
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p.Name, err)
	}
	defer os.RemoveAll(home)
	got, err := proc.Run(ctx, proc.Spec{Path: path, Args: []string{"--version"}, Dir: home, Timeout: versionWithin, Grace: time.Second,
		Env: proc.BaseEnv("HOME="+home, "TMPDIR="+home)})
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p.Name, err)
	}
	if version = number.FindString(string(got.Stdout)); version == "" {
		return "", fmt.Errorf("ask %s for its version: %w", p.Name, errors.New("it does not say one"))
	}
	return version[:min(len(version), maxVersion)], nil
}

// maxVersion bounds a version in bytes.
const maxVersion = 40

// packageVersion is the version of the npm package a program lies in; empty when it lies in none.
func packageVersion(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(real); strings.Contains(dir, string(filepath.Separator)+"node_modules"+string(filepath.Separator)); dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var p struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(data, &p) == nil && len(p.Version) <= maxVersion && number.FindString(p.Version) == p.Version {
			return p.Version
		}
		return ""
	}
	return ""
}
