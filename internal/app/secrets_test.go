package app

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/review"
)

// A password of the database is guarded from 16 bytes on: what reports say of a shorter one would tell an author which guess is right (threats.md L0).
func TestGuardedPassword(t *testing.T) {
	for password, want := range map[string]bool{"tY7kq2ZpXw94mB3v": true, "tY7kq2Zp": false, "sunshine24": false, "postgres": false} {
		r := run{Service: &Service{folder: &files{}}}
		r.opts.Database = "postgres://prloop:" + password + "@db.acme.io/prloop"
		if got := slices.Contains(r.secrets(review.Target{}), password); got != want {
			t.Errorf("%q is guarded: %t", password, got)
		}
	}
}
