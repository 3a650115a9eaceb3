package sources

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/internal/eval/cases"
)

// Own checks a folder of cases and copies it, with the hash of each base tree pinned.
func Own(dir, out string) (Imported, error) {
	i := Imported{Cases: filepath.Join(out, "cases")}
	set, err := cases.Read(dir)
	if err != nil {
		return i, err
	}
	for _, c := range set.Cases {
		var archive, diffText []byte
		if c.Code != nil {
			from := filepath.Join(dir, c.ID)
			if archive, err = os.ReadFile(filepath.Join(from, filepath.Base(c.BaseTree.Archive))); err != nil {
				return i, fmt.Errorf("copy case: %w", err)
			}
			if diffText, err = os.ReadFile(filepath.Join(from, "pr.diff")); err != nil {
				return i, fmt.Errorf("copy case: %w", err)
			}
		}
		if err := i.add(c, archive, diffText); err != nil {
			return i, err
		}
	}
	return i.done()
}
