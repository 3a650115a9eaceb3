package floors

import (
	"fmt"
	"regexp"
	"strings"
)

// page is what can be cited of a Markdown page.
type page struct {
	// headings are the texts of headings, slugs their anchors on GitHub, numbers the rows and headings that begin with one.
	headings, slugs, numbers map[string]bool
	faults                   []string
}

var (
	heading = regexp.MustCompile(`^#{1,6} +(.*?) *$`)
	row     = regexp.MustCompile(`^\| ([A-Z][0-9]+(?:\.[0-9]+)?) \|(.*)\|$`)
	unslug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	code    = regexp.MustCompile("`[^`]*`")
	marks   = regexp.MustCompile("[`*]|\\]\\([^()]*\\)|\\[")
)

// read finds what a page offers. Fenced code offers nothing.
func read(text string) page {
	p := page{map[string]bool{}, map[string]bool{}, map[string]bool{}, nil}
	number := func(n string) {
		if p.numbers[n] {
			p.faults = append(p.faults, n+" is given twice")
		}
		p.numbers[n] = true
	}
	for _, line := range prose(text) {
		if m := heading.FindStringSubmatch(line); m != nil {
			words := marks.ReplaceAllString(m[1], "")
			slug := strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
			for i, base := 1, slug; p.slugs[slug]; i++ {
				slug = fmt.Sprintf("%s-%d", base, i)
			}
			p.headings[words], p.slugs[slug] = true, true
			if first, _, _ := strings.Cut(words, " "); one.FindString(first) == first && first != "" {
				number(first)
			}
		} else if m := row.FindStringSubmatch(line); m != nil {
			number(m[1])
		}
	}
	return p
}

// prose are the lines of a Markdown text, those of fenced code empty.
func prose(text string) []string {
	lines, fence := strings.Split(text, "\n"), false
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fence = !fence
			lines[i] = ""
		} else if fence {
			lines[i] = ""
		}
	}
	return lines
}
