// Package ownfolder checks that nobody else can change what a folder holds: neither through the folder nor through those on the way
// to it.
package ownfolder

import "os"

// Error says why somebody else could.
type Error struct {
	Path, What string
	// Command would put it right, if what the folder holds is the user's; empty when there is none.
	Command string
	// LeadsTo is where a link leads; empty for everything else.
	LeadsTo string
}

func (e *Error) Error() string { return e.Path + " " + e.What }

// Make makes a folder that nobody else can change, or checks that one is.
func Make(dir string) error {
	if err := checkWay(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return check(dir)
}
