package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/internal/neverread"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// unnamed reports whether a changed file is withheld and its name is to be told to nobody. A name of which a part is masked cannot be
// held against the globs: it is not told when the file was left out by configuration.
func (o ContextOptions) unnamed(name, reason string) bool {
	if !o.HideWithheld || !strings.HasPrefix(reason, repocontext.OmittedExcluded) { // passedOver adds to it
		return false
	}
	return neverread.Paths(o.NeverRead).Has(spelling.Raw(name)) || masks.InName(name)
}

// unread reports whether nothing may read a file, as far as its name tells.
func (o ContextOptions) unread(name string) bool {
	return globs.Any(o.Exclude, spelling.Raw(name)) || len(o.Exclude) > 0 && masks.InName(name)
}

// told is a brief without the files whose names are told to nobody.
func (o ContextOptions) told(b review.Brief) review.Brief {
	if !o.HideWithheld {
		return b
	}
	b.Files = slices.DeleteFunc(slices.Clone(b.Files), func(f review.BriefFile) bool { return o.unnamed(f.Path, f.Omitted) })
	for i := range b.Files {
		if f := &b.Files[i]; f.OldPath != "" && o.unnamed(f.OldPath, f.Omitted) {
			f.OldPath = ""
		}
	}
	return b
}

// counted are files that were left out, those without their names whose names are told to nobody: an entry says how many they are that
// may go unread, and one how many they are that may not.
func (o ContextOptions) counted(files []review.LeftOut) []review.LeftOut {
	out, n := []review.LeftOut{}, map[bool]int{}
	for _, l := range files {
		if o.unnamed(l.Path, l.Reason) {
			n[l.Excused]++
			continue
		}
		out = append(out, l)
	}
	for _, excused := range []bool{true, false} {
		if n[excused] > 0 {
			out = append(out, review.LeftOut{Reason: fmt.Sprintf("%d withheld files are not named here", n[excused]), Excused: excused})
		}
	}
	return out
}
