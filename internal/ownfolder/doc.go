// Package ownfolder checks that nobody else can change what a folder holds: neither through the folder nor through those on the way
// to it.
package ownfolder

// Error says why somebody else could.
type Error struct {
	Path, What string
	// Command would put it right, if what the folder holds is the user's; empty when there is none.
	Command string
	// LeadsTo is where a link leads; empty for everything else.
	LeadsTo string
}

func (e *Error) Error() string { return e.Path + " " + e.What }
