package floors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each migration has a number of its own: two that were written side by side may have the same.
func TestMigrationsAreNumberedOnce(t *testing.T) {
	files, err := os.ReadDir(filepath.Join("..", "store", "migrations"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]string{}
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		if other := seen[number]; other != "" {
			t.Errorf("%s and %s have the same number: give the newer one the next that is free", other, f.Name())
		}
		seen[number] = f.Name()
	}
}
