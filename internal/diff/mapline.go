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

// Changed gives the ranges of lines of the head side (1-based, inclusive) that the file's change wrote, and those beside which it took lines
// away. ok is false for a file whose hunks are not known.
func (f *File) Changed() (ranges [][2]int, ok bool) {
	if f.Binary || f.Omitted != "" {
		return nil, false
	}
	add := func(from, to int) {
		if n := len(ranges); n > 0 && from <= ranges[n-1][1]+1 {
			ranges[n-1][1] = max(ranges[n-1][1], to)
			return
		}
		ranges = append(ranges, [2]int{from, to})
	}
	for i := range f.Hunks {
		h := &f.Hunks[i]
		next, gap := first(h.NewStart, h.NewLines), false
		for l := range h.Lines() {
			switch {
			case l.Op == '-':
				add(next-1, next-1)
				gap = true
				continue
			case l.Op == '+' || gap:
				add(l.New, l.New)
			}
			next, gap = l.New+1, gap && l.Op == '+'
		}
		if gap {
			add(next, next)
		}
	}
	return ranges, true
}

// MapRange follows lines of the old tree that stand one after the other, from and to included. ok is false when not all of them do in the new tree. It reads
// the file's hunks once, however many lines there are.
func (d *Diff) MapRange(path string, from, to int) (first, last int, ok bool) {
	_, first, begins := d.MapLine(path, from)
	_, last, ends := d.MapLine(path, to)
	if !begins || !ends || to < from || last-first != to-from {
		return 0, 0, false
	}
	i, changed := d.byOld[path]
	if !changed {
		return first, last, true
	}
	for h := range d.Files[i].Hunks {
		for l := range d.Files[i].Hunks[h].Lines() {
			if l.Op == '-' && from <= l.Old && l.Old <= to { // as many came as went
				return 0, 0, false
			}
		}
	}
	return first, last, true
}

// Around gives the lines of the new tree that stand where some of the old one did, from and to included: all between the nearest lines before and behind
// these that are as they were. It reads the file's hunks once. Where nobody knows them it is all of the file.
func (d *Diff) Around(path string, from, to int) (first, last int) {
	d.index()
	i, changed := d.byOld[path]
	if !changed {
		return from, to
	}
	return d.Files[i].around(from, to)
}

func (f *File) around(from, to int) (top, bottom int) {
	top, bottom = 1, lineLimit
	if f.Binary || f.Omitted != "" {
		return top, bottom
	}
	kept := func(old, end, shift int) { // these lines of the old side are as they were
		if old < from && old <= end {
			top = min(end, from-1) + shift + 1
		}
		if end > to && old <= end && bottom == lineLimit {
			bottom = max(old, to+1) + shift - 1
		}
	}
	begins := func(h *Hunk) int { return first(h.OldStart, h.OldLines) }
	next, shift := 1, 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		kept(next, begins(h)-1, shift)
		for l := range h.Lines() {
			if l.Op == ' ' {
				kept(l.Old, l.Old, l.New-l.Old)
			}
		}
		next, shift = begins(h)+h.OldLines, shift+h.NewLines-h.OldLines
	}
	kept(next, lineLimit, shift)
	return top, bottom
}
