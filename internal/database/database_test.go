package database

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		address string
		want    Address
		refused string
	}{
		{"sqlite:/state/prloop.db", Address{SQLite, "/state/prloop.db"}, ""},
		{"SQLite:state/a:b?c.db", Address{SQLite, "state/a:b?c.db"}, ""},
		{"/state/sqlite:x.db", Address{SQLite, "/state/sqlite:x.db"}, ""},
		{"prloop.db", Address{SQLite, "prloop.db"}, ""},
		{`C:\state\prloop.db`, Address{SQLite, `C:\state\prloop.db`}, ""},
		{"other:x", Address{"other", "x"}, ""},
		{"", Address{}, "empty"},
		{"sqlite:", Address{}, "empty"},
		{"postgres://me:secret@db/prloop", Address{Postgres, "//me:secret@db/prloop"}, ""},
		{"postgresql://me:secret@db/prloop", Address{Postgres, "//me:secret@db/prloop"}, ""},
		{"mysql://me:secret@db/prloop", Address{}, `"mysql" is no kind of database`},
	} {
		got, err := Parse(row.address, SQLite, Postgres, "other")
		if row.refused == "" {
			if err != nil || got != row.want {
				t.Errorf("%s: %+v, %v; want %+v", row.address, got, err, row.want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), row.refused) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want that it says %q and no password", row.address, err, row.refused)
		}
	}
}
