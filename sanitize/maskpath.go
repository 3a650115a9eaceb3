package sanitize

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
)

// MaskPath is Mask for a slash-separated path. Each folder or file whose name holds a value is called by what is left of the
// name, a few digits that tell it from its like, and its extension: conf/[REDACTED]~1f3a.txt. The same path always gives the
// same name, and masking twice changes nothing. UnmaskPath is the way back.
func MaskPath(p string) string {
	if len(p) < 4 {
		return p
	}
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = MaskName(part)
	}
	out := strings.Join(parts, "/")
	spans := Secrets(out)
	if len(spans) == 0 {
		return out
	}
	at := 0 // a value that stands in several names
	for i, part := range parts {
		for _, s := range spans {
			if s.Start < at+len(part) && at < s.End && !isMaskedName(part) {
				parts[i] = Redacted + nameTag(part)
			}
		}
		at += len(part) + 1
	}
	return strings.Join(parts, "/")
}

// MaskSpelled is MaskPath for a file's name as it is spelled.
func MaskSpelled(name string) string {
	raw := spelling.Raw(name)
	if shown := MaskPath(raw); shown != raw {
		return spelling.Name(shown)
	}
	return name
}

// MaskName is MaskPath for one name.
func MaskName(name string) string {
	if len(name) < 4 || isMaskedName(name) {
		return name
	}
	masked := Mask(name)
	if masked == name {
		return name
	}
	if ext := path.Ext(name); len(ext) <= maxExtension && strings.Trim(strings.ToLower(ext), ".abcdefghijklmnopqrstuvwxyz") == "" && len(ext) > 1 {
		return strings.TrimSuffix(masked, ext) + nameTag(name) + ext
	}
	return masked + nameTag(name)
}

// maxExtension is the longest end of a name, in bytes, that stays when a value stands before it.
const maxExtension = 8

// nameTag tells names apart whose values are masked. It is too short to tell anything about them.
func nameTag(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "~" + hex.EncodeToString(sum[:2])
}

// isMaskedName reports whether a name could have been made by MaskName.
func isMaskedName(name string) bool { return strings.Contains(name, Redacted+"~") }

// UnmaskPath finds the path MaskPath gave a name to. list names what stands in a folder, "." at first; its errors are those of
// UnmaskPath. A path without masked names is given back as it is, as is one that nothing or more than one thing fits; what is called so fits too.
func UnmaskPath(p string, list func(folder string) ([]string, error)) (string, error) {
	if !isMaskedName(p) {
		return p, nil
	}
	folder := "."
	for part := range strings.SplitSeq(p, "/") {
		if isMaskedName(part) {
			names, err := list(folder)
			if err != nil {
				return "", err
			}
			found := ""
			for _, name := range names {
				if name == part || path.Base(MaskPath(path.Join(folder, name))) == part {
					if found != "" {
						return p, nil
					}
					found = name
				}
			}
			if found != "" {
				part = found
			}
		}
		folder = path.Join(folder, part)
	}
	return folder, nil
}
