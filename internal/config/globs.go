package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	pathglobs "github.com/prloop/prloop/internal/globs"
)

// Globs choose paths.
type Globs = pathglobs.Globs

// Idle finds the including patterns of commands and schedules in a repository's file that match none of the paths, which are asked for only
// where there are such patterns. They are no mistake for certain, so each is a warning for whoever reads the log. A file that is not
// valid has none: Validate says what is wrong with it.
func Idle(f File, all func() ([]string, error)) ([]Fault, error) {
	s, err := load(Repository, f.Name, f.Data)
	if err != nil {
		return nil, nil //nolint:nilerr // as said above
	}
	patterns := slices.DeleteFunc(slices.Collect(maps.Keys(s.places)), func(pointer string) bool { return !isIncluding(pointer) })
	if len(patterns) == 0 {
		return nil, nil
	}
	paths, err := all()
	if err != nil {
		return nil, err
	}
	for _, pointer := range patterns {
		pattern, _ := s.get(pointer).(string)
		if !slices.ContainsFunc(paths, func(p string) bool { return pathglobs.Any([]string{pattern}, p) }) {
			s.faultAt(pointer, strconv.Quote(clip(pattern))+" matches no file", "")
		}
	}
	return sortFaults(s.faults), nil
}

// isIncluding tells the pointers of patterns in an include list of a command or a schedule.
func isIncluding(pointer string) bool {
	parts := strings.Split(pointer, "/")
	n := len(parts)
	return n > 3 && parts[n-2] == "include" && (parts[1] == "commands" || parts[1] == "schedule")
}

// get is the value at a pointer; nil when there is none.
func (s *source) get(pointer string) any {
	var at any = s.value
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch v := at.(type) {
		case map[string]any:
			at = v[unescape(part)]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}
