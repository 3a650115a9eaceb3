package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// RepositoryFile is the name of the repository's file, at its root (spec.md C1).
const RepositoryFile = ".reviewerc"

// Lookalikes are names people give the repository's file by mistake. No file of such a name is read.
func Lookalikes() []string {
	return []string{RepositoryFile + ".yml", RepositoryFile + ".yaml", RepositoryFile + ".json"}
}

// ReadTree reads the repository's file of the working tree at top; nil without an error when there is none. Anything but a
// plain file that can be read is an *Error, a link too: its target may stand anywhere on this machine.
func ReadTree(top string) (*File, error) {
	path := filepath.Join(top, RepositoryFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
	case mode.IsDir():
		return nil, treeFault("is a folder, but must be a file")
	case mode&fs.ModeSymlink != 0:
		return nil, treeFault("is a link, but must be a plain file")
	default:
		return nil, treeFault("is not a plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	return &File{Name: RepositoryFile, Data: data}, nil
}

// TooLarge is the fault of a repository's file that was not read for its size.
func TooLarge() error { return treeFault(tooLarge) }

func treeFault(message string) error {
	return &Error{[]Fault{{File: RepositoryFile, Message: message}}}
}

// unreadable leaves the path out, which the fault's file name stands for.
func unreadable(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return treeFault("cannot be read: " + err.Error())
}
