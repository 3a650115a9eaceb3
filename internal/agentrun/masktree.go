package agentrun

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/sanitize"
)

// maskLimitBytes is the largest file that is masked; larger ones no reviewer of ours reads either, and they are removed.
const maskLimitBytes = 8 << 20

// maskTree takes values that look like secrets, and those that are known, out of an export that agents read by their own means: out of text files, each
// line in its place, and out of names. What a text has itself that is written like a mask is spelled otherwise.
func maskTree(dir string, known *sanitize.Learned) error {
	var renamed []string // children first
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if sanitize.MaskName(d.Name()) != d.Name() {
			renamed = append([]string{path}, renamed...)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return maskFile(path, known)
	})
	if err != nil {
		return fmt.Errorf("mask secrets: %w", err)
	}
	for _, path := range renamed {
		to := filepath.Join(filepath.Dir(path), sanitize.MaskName(filepath.Base(path)))
		if _, taken := os.Lstat(to); taken == nil { // two cannot have one name, and none may be shown under that of the other
			err = errors.Join(err, os.RemoveAll(path))
			continue
		}
		err = errors.Join(err, os.Rename(path, to))
	}
	return err
}

func maskFile(path string, known *sanitize.Learned) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maskLimitBytes {
		return os.Remove(path)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return err
	}
	masked := known.Mask(sanitize.Mask(sanitize.Spelled(string(text))))
	if masked == string(text) {
		return nil
	}
	return os.WriteFile(path, []byte(masked), info.Mode().Perm())
}
