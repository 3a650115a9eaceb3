package modelagent

import (
	"slices"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// visibleNames writes the names of a task's files as a person sees them: a name is as good a place to hide words for a
// model as any text (threats.md T40). back leads from such a name to the file's own.
func visibleNames(t review.Task) (shown review.Task, back map[string]string) {
	back = map[string]string{}
	show := func(name string) string {
		seen, hidden := sanitize.Visible(name)
		if len(hidden) > 0 {
			back[seen] = name
		}
		return seen
	}
	t.Brief.Files = slices.Clone(t.Brief.Files)
	for i := range t.Brief.Files {
		f := &t.Brief.Files[i]
		f.Path, f.OldPath = show(f.Path), show(f.OldPath)
	}
	for _, list := range []*[]review.RelatedFile{&t.Brief.Related, &t.Brief.Found} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Path = show((*list)[i].Path)
		}
	}
	if t.RunState != nil {
		s := *t.RunState
		s.Threads = slices.Clone(s.Threads)
		for i := range s.Threads {
			s.Threads[i].File = show(s.Threads[i].File)
		}
		t.RunState = &s
	}
	if t.Discussion != nil {
		d := *t.Discussion
		d.Threads = slices.Clone(d.Threads)
		for i := range d.Threads {
			d.Threads[i].File = show(d.Threads[i].File)
		}
		t.Discussion = &d
	}
	return t, back
}

// own gives findings the names their files have.
func own(findings []review.Finding, back map[string]string) {
	for i := range findings {
		if name, ok := back[findings[i].File]; ok {
			findings[i].File = name
		}
	}
}
