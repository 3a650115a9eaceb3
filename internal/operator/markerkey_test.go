package operator

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// The variable holds one key, or several of which the first signs; what is none is refused and never repeated.
func TestMarkerKeys(t *testing.T) {
	a, b := strings.Repeat("0a", sanitize.KeySize), strings.Repeat("0b", sanitize.KeySize)
	for _, row := range []struct {
		value string
		keys  int // -1: refused
	}{
		{"", 0}, {a, 1}, {" " + a + "\n", 1}, {a + "," + b, 2}, {a + ", " + b, 2}, {a + "," + b + ",", 2},
		{"abc", -1}, {a[:62], -1}, {a + ",abc", -1}, {a + b, -1}, {strings.Repeat(a+",", 9), -1},
	} {
		w := Words{Get: func(name string) string {
			if name != EnvMarkerKey {
				t.Errorf("%s is looked up", name)
			}
			return row.value
		}}
		key, err := w.markerKey()
		switch {
		case row.keys < 0:
			if err == nil || strings.Contains(err.Error(), "abc") || strings.Contains(err.Error(), "0a0a") {
				t.Errorf("%q: %v", row.value, err)
			}
		case err != nil || len(key) != row.keys*sanitize.KeySize:
			t.Errorf("%q: %d bytes, %v", row.value, len(key), err)
		case row.keys > 0 && key[0] != 0x0a:
			t.Errorf("%q: the first key does not sign", row.value)
		}
	}
}
