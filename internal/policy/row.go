package policy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// Repo is a repository as rows know it. Host and ID are its key; Name is owner/name as it was last seen.
type Repo struct {
	Host string `json:"host"`
	ID   int64  `json:"id"`
	Name string `json:"repository"`
}

func (r Repo) String() string {
	if r.Name == "" {
		return fmt.Sprintf("%s repository %d", r.Host, r.ID)
	}
	if r.Host == "" || r.Host == "github.com" {
		return r.Name
	}
	return r.Host + "/" + r.Name
}

// Key is what runs of it are known by.
func (r Repo) Key() review.RepoKey {
	owner, name, _ := strings.Cut(r.Name, "/")
	return review.Repo{Host: r.Host, Owner: owner, Name: name}.Key(r.ID)
}

// Row is what is decided about a repository.
type Row struct {
	Repo
	// Version rises by one with every change; 0 is a repository nothing was ever decided about.
	Version int64  `json:"version"`
	Columns Values `json:"columns"`
}

// Change is one column that somebody changed. From and To are JSON; empty is a column that is not set.
type Change struct {
	Repo    `json:"repository"`
	Version int64     `json:"version"`
	Column  string    `json:"column"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// ChangeFilter narrows a list of changes; the zero value lets all through.
type ChangeFilter struct {
	// Keys are repositories; nil is any, an empty list none.
	Keys []review.RepoKey
	// Before is the change that a page of a list ended with. Limit is the most to give; 0 means 100.
	Before ChangeMark
	Limit  int
}

// A ChangeMark is the place of a change in lists, the newest first.
type ChangeMark struct {
	At      time.Time
	Key     review.RepoKey
	Version int64
	Column  string
}

func (c Change) String() string {
	say := func(v string) string {
		if v == "" {
			return "(not set)"
		}
		return v
	}
	return fmt.Sprintf("%s  %s  version %d  %s: %s -> %s  by %s", c.At.UTC().Format(time.RFC3339), c.Repo, c.Version, c.Column, say(c.From), say(c.To), c.By)
}

// Clone is a copy that shares nothing that is changed in place.
func (v Values) Clone() Values {
	out := Values{}
	maps.Copy(out, v)
	return out
}

// Diff lists the columns in which two versions of a row differ, in the order of the table.
func Diff(from, to Values) (out []Change) {
	for _, c := range columns {
		if a, b := from[c.Name], to[c.Name]; !reflect.DeepEqual(a, b) {
			out = append(out, Change{Column: c.Name, From: Encode(a), To: Encode(b)})
		}
	}
	return out
}

// ConflictError: somebody changed a row since it was read. Nothing was saved.
type ConflictError struct {
	// Have is the row as it is now, and Since what was changed after the version that was read.
	Have  Row
	Since []Change
}

func (e *ConflictError) Error() string {
	lines := []string{fmt.Sprintf("somebody changed the policy of %s meanwhile (version %d now)", e.Have.Repo, e.Have.Version)}
	for _, c := range e.Since {
		lines = append(lines, "  "+c.String())
	}
	return strings.Join(lines, "\n")
}

// Lines are the columns a row sets, in the order of the table, as COLUMN=JSON.
func (v Values) Lines() (out []string) {
	for _, c := range columns {
		if value, ok := v[c.Name]; ok {
			out = append(out, c.Name+" = "+Encode(value))
		}
	}
	return out
}

func sorted(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
