// Package database reads the addresses that the engine and the store are opened by:
//
//	sqlite:PATH                               a SQLite file; PATH alone says the same
//	postgres://USER:PASSWORD@HOST/DATABASE    PostgreSQL, which processes on several machines share; postgresql: says the same
//
// Whatever else begins with a word of two letters or more and a colon names another kind of database.
package database

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// The kinds of databases.
const (
	// SQLite is one file, for the processes of one machine.
	SQLite = "sqlite"
	// Postgres is a server, for those of several.
	Postgres = "postgres"
)

// An Address says which database is meant. It may hold a password: errors and logs name the database by something else.
type Address struct {
	// Kind is the kind of database, such as SQLite.
	Kind string
	// Rest is what follows the kind and the colon: the path of a SQLite file.
	Rest string
}

// String writes the address as Parse reads it, its password included.
func (a Address) String() string { return a.Kind + ":" + a.Rest }

// kind is the beginning of an address. A single letter is a drive of Windows.
var kind = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// Parse reads an address of one of the kinds given. Others are refused here and nowhere else.
func Parse(address string, kinds ...string) (Address, error) {
	a := Address{Kind: SQLite, Rest: address}
	if m := kind.FindStringSubmatch(address); m != nil {
		a.Kind, a.Rest = strings.ToLower(m[1]), address[len(m[0]):]
	}
	switch {
	case a.Kind == "postgresql":
		a.Kind = Postgres
	case a.Rest == "":
		return Address{}, errors.New("the address of the database is empty")
	}
	if slices.Contains(kinds, a.Kind) {
		return a, nil
	}
	return Address{}, fmt.Errorf("%q is no kind of database that is known here: give sqlite:PATH or postgres://USER@HOST/DATABASE", a.Kind)
}

// SQLiteURI is the address of a SQLite file for its drivers. As a file URI, so that a question mark in a folder's name stays part
// of it.
func SQLiteURI(path, query string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query}).String()
}

// SQLiteLock is the file whose lock whoever changes a SQLite file as a whole has: makes it, makes it a WAL database, or changes
// its tables. SQLite refuses to make a new file a WAL database, without waiting, while another process does, and neither goose
// nor DBOS has a lock for its migrations. The file stays.
func SQLiteLock(path string) string { return path + ".lock" }
