package diff

// MapLine follows a line of the old tree into the new one: findings keep their place although lines move and files are
// renamed. path and line (1-based) are of the old side. ok is false when the line, or its whole file, is gone;
// line then is where it would stand, so that "close to" can still be asked. A file the diff does not name is unchanged.
// A file whose hunks are not known (binary, omitted) gives ok false and the same line.
func (d *Diff) MapLine(path string, line int) (newPath string, newLine int, ok bool) {
	d.index()
	i, changed := d.byOld[path]
	if !changed {
		return path, line, true
	}
	f := &d.Files[i]
	if f.Change == Deleted {
		return path, line, false
	}
	newLine, ok = f.MapLine(line)
	return f.Path, newLine, ok
}

// MapLine is Diff.MapLine within one file.
func (f *File) MapLine(line int) (int, bool) {
	if f.Binary || f.Omitted != "" {
		return line, false
	}
	shift := 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		start := first(h.OldStart, h.OldLines)
		if line < start {
			break
		}
		if line < start+h.OldLines {
			return h.mapLine(line)
		}
		shift += h.NewLines - h.OldLines
	}
	return line + shift, true
}

// mapLine maps a line that stands in the hunk. A removed line maps to the line that now stands in its place.
func (h *Hunk) mapLine(line int) (int, bool) {
	next := first(h.NewStart, h.NewLines)
	for l := range h.Lines() {
		if l.Old == line {
			if l.Op == ' ' {
				return l.New, true
			}
			return next, false
		}
		if l.New > 0 {
			next = l.New + 1
		}
	}
	return next, false
}

// Touched reports whether line (1-based, head side) of path was written by this diff: whether it is an added line.
func (d *Diff) Touched(path string, line int) bool {
	f := d.File(path)
	if f == nil {
		return false
	}
	h := f.hunkAtNew(line)
	if h == nil {
		return false
	}
	for l := range h.Lines() {
		if l.New == line {
			return l.Op == '+'
		}
	}
	return false
}
