package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// Words say in a report what the gate says: remarks are for everybody, notes explain it. They are Markdown, and names in them are
// others'. A nil gate has none.
func Words(g *review.Gate) (remarks, notes []string) {
	if g == nil {
		return nil, nil
	}
	if g.Missing != "" {
		remarks = append(remarks, fmt.Sprintf("The commit status `%s` could not be set: %s.", Context, g.Missing))
	} else {
		of := "policy `" + g.Policy + "`"
		if g.Effective != g.Policy {
			of += ", for this pull request `" + g.Effective + "`"
		}
		note := fmt.Sprintf("The commit status `%s` is `%s` (%s).", Context, g.State, of)
		if g.Trivial && Policy(g.Effective) == NonTrivial {
			note += " The change is trivial."
		}
		notes = append(notes, note)
	}
	for _, l := range g.Labels {
		label := "The label `" + l.Name + "`"
		if l.By != "" {
			label += fmt.Sprintf(", set by %s on %s,", l.By, l.At.UTC().Format(time.RFC3339))
		}
		switch {
		case l.Refused != "":
			remarks = append(remarks, label+" does not count: "+l.Refused+".")
		case l.Name == Advisory:
			remarks = append(remarks, label+" softens the gate to `"+string(Presence)+"`.")
		default:
			remarks = append(remarks, label+" hardens the gate to `"+string(Verdict)+"`.")
		}
	}
	return remarks, notes
}

// Named are the gate's labels among some words, such as "advisory".
func Named(words []string) (labels []string) {
	for _, l := range Labels {
		if slices.Contains(words, strings.TrimPrefix(l, Context+":")) {
			labels = append(labels, l)
		}
	}
	return labels
}

// LabelWords are what Labels are called in settings: without their prefix.
func LabelWords() (words []string) {
	for _, l := range Labels {
		words = append(words, strings.TrimPrefix(l, Context+":"))
	}
	return words
}
