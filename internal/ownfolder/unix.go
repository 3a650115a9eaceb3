//go:build unix

package ownfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxLinks is how many links may stand on the way to a folder.
const maxLinks = 40

// checkWay checks the way to a folder that may not exist yet: nobody but this user and root may put another folder, or a link, in
// the place of one on it. Folders that everybody may write pass if they are sticky, as /tmp is.
func checkWay(dir string) error {
	links, way := 0, strings.Split(filepath.Clean(dir), string(filepath.Separator))
	at := string(filepath.Separator)
	for len(way) > 0 {
		name := way[0]
		way = way[1:]
		if name == "" {
			continue
		}
		parent := at
		if at = filepath.Join(at, name); len(way) == 0 {
			return nil // the folder itself is left to check
		}
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is made by us, and all below it
		}
		if err != nil {
			return err
		}
		if id := owner(info); id != 0 && id != os.Getuid() {
			return &Error{at, fmt.Sprintf("belongs to another user (%s)", userName(id)), "", ""}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if links++; links > maxLinks {
				return &Error{dir, "has too many links on its way", "", ""}
			}
			if at = parent; filepath.IsAbs(to) {
				at = string(filepath.Separator)
			}
			way = append(strings.Split(to, string(filepath.Separator)), way...)
			continue
		}
		if info.Mode()&fs.ModeSticky == 0 && othersMayWrite(info) {
			return &Error{at, fmt.Sprintf("may be written by others (mode %#o)", info.Mode().Perm()), "chmod go-w " + at, ""}
		}
	}
	return nil
}

// check checks a folder: it is no link, it and all that stands in it are this user's, and nobody else may write it.
func check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := filepath.EvalSymlinks(dir) // it may lead nowhere
		return &Error{dir, "is a link", "", to}
	}
	if id := owner(info); id != os.Getuid() {
		return &Error{dir, fmt.Sprintf("belongs to another user (%s)", userName(id)), "", ""}
	}
	if othersMayWrite(info) {
		return &Error{dir, fmt.Sprintf("may be written by others (mode %#o)", info.Mode().Perm()),
			"chmod go-w " + dir, ""}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(dir, e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // another prloop has just removed it
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return &Error{path, "is a link, which prloop never makes", "rm " + path, ""}
		case owner(info) != os.Getuid():
			return &Error{path, fmt.Sprintf("belongs to another user (%s)", userName(owner(info))), "", ""}
		}
	}
	return nil
}

// owner is the number of the user a file belongs to.
func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// othersMayWrite reports whether somebody else may write a folder. A group of the user's own name, which some systems give to every
// user, is nobody else.
func othersMayWrite(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	if mode&0o002 != 0 || mode&0o020 == 0 {
		return mode&0o002 != 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	me, err := user.Current()
	if !ok || err != nil {
		return true
	}
	group, err := user.LookupGroupId(strconv.Itoa(int(st.Gid)))
	return err != nil || group.Name != me.Username
}

// userName is a user's name, or the number where there is none.
func userName(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return strconv.Itoa(id)
}
