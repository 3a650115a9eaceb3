package agentrun

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/sanitize"
)

const (
	// maskLimitBytes is the largest file that is masked; larger ones no reviewer of ours reads either, and they are removed.
	maskLimitBytes = 8 << 20
	// dataLimitBytes is that for a file with a NUL, of which no reviewer of ours reads any.
	dataLimitBytes = 256 << 10
)

// maskTree takes values that look like secrets, and those that are known, out of an export that agents read by their own means: out of files, each
// line in its place, and out of names. What is not masked is not there, but for pictures, archives and the like, as their first bytes have it (threats.md T813). What a text has itself that is written like a mask is spelled otherwise.
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

// bareText takes out of a text in UTF-16 what it has beside its letters of ASCII.
var bareText = strings.NewReplacer("\x00", "", "\xff\xfe", "", "\xfe\xff", "")

func maskFile(path string, known *sanitize.Learned) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maskLimitBytes {
		return os.Remove(path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	noText := bytes.IndexByte(text, 0) >= 0
	switch kind := http.DetectContentType(text); {
	case !noText:
	case kind != "application/octet-stream" && !strings.HasPrefix(kind, "text/"):
		return nil
	case len(text) > dataLimitBytes:
		return os.Remove(path)
	}
	masked := known.Mask(sanitize.Mask(sanitize.Spelled(string(text))))
	if noText { // it may be UTF-16, in which not every rule knows a value
		if bare := bareText.Replace(masked); known.Mask(sanitize.Mask(bare)) != bare {
			return os.Remove(path)
		}
	}
	if masked == string(text) {
		return nil
	}
	return os.WriteFile(path, []byte(masked), info.Mode().Perm())
}
