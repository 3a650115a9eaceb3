package app

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// A password of the database is guarded from 8 characters on, unless ordinary text is made of it (threats.md L0).
func TestDatabaseSecrets(t *testing.T) {
	for password, want := range map[string][]string{"tY7kq2Zp": {"tY7kq2Zp"}, "correcthorsebatterystaple": {"correcthorsebatterystaple"}, "postgres": nil, "a1b2c3": nil} {
		got := databaseSecrets("postgres://prloop:" + password + "@db.acme.io/prloop")
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q are guarded", password, got)
		}
		if want != nil && !sanitize.Leaks("It dials with "+password+".", sanitize.Policy{Known: got}) {
			t.Errorf("%q is posted", password)
		}
	}
	if got := databaseSecrets(""); got != nil {
		t.Errorf("without a database %q are guarded", got)
	}
}
