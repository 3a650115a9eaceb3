package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBegins(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", wholeLimit/16) + "more"
	dir := origin(t, map[string]string{"large": large, "small": "0123456789", "short": "01", "none": "", "d/f": "below"})
	head := strings.TrimSpace(shell(t, dir, "rev-parse", "HEAD"))
	r := open(t, find(t))
	fetch(t, r, dir, "refs/heads/main")
	got, err := r.Begins(t.Context(), head, []string{"short", "large", "absent", "d", "small", "none", "d/f"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, data := range got {
		texts[name] = string(data)
	}
	want := map[string]string{"short": "01", "large": "0123", "small": "0123", "none": "", "d/f": "belo"}
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
}
