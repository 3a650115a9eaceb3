package git

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A patch of few bytes may copy a large file a thousand times, or change it as often.
func TestPatchesTakeLittleMemory(t *testing.T) {
	dir := origin(t, map[string]string{"big": strings.Repeat(strings.Repeat("x", 99)+"\n", 80_000)})
	r := open(t, find(t))
	copied := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "diff --git a/big b/c%d\nsimilarity index 100%%\ncopy from big\ncopy to c%[1]d\n", i)
		}
		return []byte(b.String())
	}
	if _, err := r.Patched(t.Context(), dir, copied(5)); err != nil {
		t.Errorf("few copies: %v", err)
	}
	var refused *PatchError
	if _, err := r.Patched(t.Context(), dir, copied(1000)); !errors.As(err, &refused) || !errors.Is(err, ErrTooLarge) || !strings.Contains(refused.Detail, "used more than 512 MB of memory") {
		t.Errorf("many copies: %v", err)
	}
}
