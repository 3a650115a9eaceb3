package report

import (
	"fmt"
	"strings"
)

// sinceStart begins the line about what changed.
const sinceStart = "**Since round "

// since says in one line what changed since the round before, which is what the reader of a second report wants to know first.
func (p *page) since(d Data) {
	if d.Since == nil {
		return
	}
	var fixed, gone int
	for _, g := range d.Since.Gone {
		fixed += boolRank(g.Fixed)
		gone += boolRank(!g.Fixed)
	}
	found := map[Standing]int{}
	for _, f := range d.Findings {
		if f.Must {
			found[f.Standing]++
		}
	}
	var parts []string
	for _, c := range []struct {
		n     int
		words string
	}{{fixed, "fixed"}, {gone, "no longer found"}, {found[Still], string(Still)}, {found[Back], string(Back)}, {found[New], string(New)},
		{d.Since.Unasked, "not looked at again by everybody who had raised it"}, {d.Since.Doubted, "not raised again, and not said to be gone"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.words))
		}
	}
	switch {
	case parts == nil:
		parts = []string{"nothing changed"}
	case allBack(d) && len(parts) == 1 && found[Back] > 0: // which the heading says
		parts = []string{"nothing else is open"}
	}
	p.add(fmt.Sprintf("%s%d:** %s.", sinceStart, d.Since.Round, strings.Join(parts, ", ")))
}

// sumGone begins the summary of what was not found again.
const sumGone = "Gone since round "

func (p *page) gone(s *Since) {
	if s == nil || len(s.Gone) == 0 {
		return
	}
	var lines []string
	for _, g := range s.Gone {
		line := "**" + string(g.Priority) + "** " + g.Title
		switch {
		case g.Commit != "":
			line += fixedIn + p.links.id(g.Commit)
		case g.Fixed:
			line += separator + "fixed"
		}
		lines = append(lines, line)
	}
	p.fold(fmt.Sprintf("%s%d: %s", sumGone, s.Round, count(len(s.Gone), "finding")), func() { p.add(bullets(lines)) })
}
