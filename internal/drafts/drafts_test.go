package drafts_test

import (
	"testing"

	"github.com/prloop/prloop/internal/drafts"
)

func TestWhy(t *testing.T) {
	for _, c := range []struct{ draft, wanted, asked, left bool }{
		{false, false, false, false},
		{true, false, false, true},
		{true, true, false, false},
		{true, false, true, false},
	} {
		if got := drafts.Why(c.draft, c.wanted, c.asked); (got != "") != c.left {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
