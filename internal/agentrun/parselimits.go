package agentrun

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseLimits reads limits as people write them: "memory=4GB disk=2GB files=200000 free=1GB". What is not named keeps its default.
func ParseLimits(text string) (l Limits, err error) {
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		var n int64
		switch name {
		case "memory":
			n, err = parseBytes(value)
			l.MemoryBytes = n
		case "disk":
			n, err = parseBytes(value)
			l.DiskBytes = n
		case "free":
			n, err = parseBytes(value)
			l.FreeBytes = n
		case "files":
			n, err = strconv.ParseInt(value, 10, 64)
			l.Files = n
		}
		if err != nil || n <= 0 {
			return Limits{}, fmt.Errorf("%q is no limit", word)
		}
	}
	return l, nil
}

// parseBytes reads a number of bytes as people write it: 512MB, 4GB.
func parseBytes(text string) (int64, error) {
	shift := 20
	number, ok := strings.CutSuffix(text, "MB")
	if !ok {
		shift = 30
		if number, ok = strings.CutSuffix(text, "GB"); !ok {
			return 0, strconv.ErrSyntax
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	return n << shift, err
}
