package git

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// IsOID reports whether s is a full object id (SHA-1 or SHA-256, lower case).
func IsOID(s string) bool {
	if len(s) != 40 && len(s) != 64 || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// checkRef refuses everything that is not a fully qualified, plain ref name (threats.md T22): no options, no wildcards, no
// revision syntax.
func checkRef(ref string) error {
	bad := func(why string) error { return fmt.Errorf("ref %q: %w: %s", ref, ErrName, why) }
	if !strings.HasPrefix(ref, "refs/") {
		return bad("not fully qualified")
	}
	if len(ref) > 512 || !utf8.ValidString(ref) {
		return bad("too long, or not UTF-8")
	}
	for _, part := range strings.Split(ref, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasPrefix(part, "-") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return bad("a part of it is not allowed")
		}
	}
	if strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.ContainsAny(ref, " ~^:?*[\\\x7f") {
		return bad("it holds revision syntax")
	}
	for _, r := range ref {
		if r < ' ' {
			return bad("it holds control characters")
		}
	}
	return nil
}

// checkPath refuses names that are not canonical in a tree (threats.md T26): empty parts, dots, anything a file system may
// take for .git, NUL. Everything else is data, line feeds included.
func checkPath(path string) error {
	bad := func() error { return fmt.Errorf("path %q: %w", path, ErrMalformedTree) }
	if path == "" || len(path) > 4096 || strings.IndexByte(path, 0) >= 0 {
		return bad()
	}
	for _, part := range strings.Split(path, "/") {
		if part == "" || part == "." || part == ".." || isDotGit(part) {
			return bad()
		}
	}
	return nil
}

// isDotGit knows the spellings of .git that HFS+ and NTFS fold into it: ignorable characters, trailing dots and spaces,
// streams, the short name.
func isDotGit(name string) bool {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	folded, _, _ = strings.Cut(folded, ":")
	if i := strings.LastIndexByte(folded, '\\'); i >= 0 {
		return isDotGit(name[:strings.LastIndexByte(name, '\\')]) || isDotGit(folded[i+1:])
	}
	folded = strings.ToLower(strings.TrimRight(folded, ". "))
	return folded == ".git" || folded == "git~1"
}
