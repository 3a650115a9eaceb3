package values

import (
	"strings"
	"testing"
)

func TestMoreThan(t *testing.T) {
	for doc, n := range map[string]int{
		`1`: 1, `[]`: 2, `[1,2]`: 3, `{"a":1}`: 3, `{"a":{"b":[1,2]},"c":"x"}`: 9, `"a,b:[{"`: 1, `"\"a,b"`: 1, `"\\",1`: 2,
	} {
		doc += strings.Repeat(" ", 20)
		if MoreThan(n, []byte(doc)) || !MoreThan(n-1, []byte(doc)) {
			t.Errorf("%s does not have %d", doc, n)
		}
	}
}
