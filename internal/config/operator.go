package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// OperatorPath is where the operator's file is: PRLOOP_CONFIG, else prloop/config.yml in XDG_CONFIG_HOME or ~/.config.
// named is true when the person named it, so that its absence is an error. Empty without any home.
func OperatorPath(env func(string) string) (path string, named bool) {
	if p := env("PRLOOP_CONFIG"); p != "" {
		return p, true
	}
	dir := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG specification tells to ignore relative paths
		home := env("HOME")
		if home == "" {
			return "", false
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "prloop", "config.yml"), false
}

// ReadOperator reads the operator's file; nil without an error when there is none and nobody named one. A file that holds
// a key and that others may read is refused.
func ReadOperator(env func(string) string) (*File, error) {
	path, named := OperatorPath(env)
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named && !link(path) && !link(filepath.Dir(path)) { // a link that leads nowhere is a file that is missing
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the operator's configuration: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the operator's configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the operator's configuration: %s is not a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the operator's configuration: %w", err)
	}
	file := &File{Name: path, Data: data}
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return file, nil
	}
	if s, err := parse(path, data); err == nil && s.value["api_key"] != nil {
		p := s.places["/api_key"]
		return nil, &Error{[]Fault{{File: path, Line: p.line, Column: p.column, Key: "api_key",
			Message: fmt.Sprintf("others may read this file (mode %04o): chmod 600 it, or use OPENAI_API_KEY", info.Mode().Perm())}}}
	}
	return file, nil
}

func link(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// OperatorLookalike is a file that people may take for the operator's by mistake; empty when there is none. It is not read.
func OperatorLookalike(env func(string) string) string {
	path, named := OperatorPath(env)
	name := strings.TrimSuffix(path, filepath.Ext(path)) + ".yaml"
	if _, err := os.Lstat(name); err != nil || named || path == "" {
		return ""
	}
	return name
}
