package diff

// Place is where a comment on the head version of a file may stand: on the lines of one hunk, which GitHub shows. Start is the first
// of several lines, 0 for one.
type Place struct{ Start, Line int }

// maxSpan is how many lines a comment on several may cover: it is read above all of them.
const maxSpan = 20

// Place finds the place for a comment on the lines from first to last (1-based, head side; last 0 for one line). ok is false when
// none of them is an added or context line of a hunk. Lines that stand outside the hunk, or are too many, are left out.
func (f *File) Place(first, last int) (p Place, ok bool) {
	if f.Binary || f.Omitted != "" || first < 1 {
		return p, false
	}
	last = max(first, last)
	for i := range f.Hunks {
		h := &f.Hunks[i]
		from, to := max(first, h.NewStart), min(last, h.NewStart+h.NewLines-1)
		if h.NewLines == 0 || from > to {
			continue
		}
		to = min(to, from+maxSpan-1)
		if from == to {
			return Place{Line: to}, true
		}
		return Place{Start: from, Line: to}, true
	}
	return p, false
}
