package sanitize

import (
	"fmt"
	"strings"
)

// Comment turns a report's body into one to three comments, each within Cap, each with the marker first and valid alone
// (threats.md "Sanitization"). The body may use headings, tables, lists, quotes, code, emphasis, <details> with <summary>, and links to
// p.Repo's own pages; everything else is shown, not active. Leading markers of an earlier Comment are replaced.
//
// It fails closed: with ErrKnownSecret when the body holds a secret this process knows, and with ErrUnsafe when the
// oracle does not agree with the result.
func Comment(body string, m Marker, p Policy) ([]Text, error) {
	return comment(body, m, p, MaxParts)
}

// Filter makes one comment out of any text, for `prloop sanitize`: plain marker, no links, cut after Cap. Filtering twice
// changes nothing.
func Filter(body string) (Text, error) { return Summary(body, Policy{}) }

// Summary makes one comment of a report for a place that takes one, such as the step summary of GitHub Actions: plain marker,
// cut after Cap. It fails as Comment does.
func Summary(body string, p Policy) (Text, error) {
	out, err := comment(body, Marker{}, p, 1)
	if err != nil {
		return Text{}, err
	}
	return out[0], nil
}

func comment(body string, m Marker, p Policy, most int) ([]Text, error) {
	if err := m.valid(); err != nil {
		return nil, err
	}
	if h, ok := readHeader(body); ok {
		body = h.rest
	}
	if Leaks(body, p) {
		return nil, fmt.Errorf("sanitize comment: %w", ErrKnownSecret)
	}
	md := mode{policy: p, body: true}
	whole := md.settled(shorten(strings.Trim(clean(p.Learned.Mask(body)), "\n")), maxBody, md.writeBlocks)
	if p.Last != nil {
		whole = p.Last(whole)
	}
	bodies := []string{whole}
	if room := Cap - reserve - len(strings.Join(m.Objected, ",")); len(whole) > room {
		bodies = md.parts(whole, most, room-256)
	}
	out := make([]Text, 0, len(bodies))
	for i, b := range bodies {
		part := m
		if len(bodies) > 1 || m.Part < 1 || m.Parts < m.Part {
			part.Part, part.Parts = i+1, len(bodies)
		}
		sealed := part.seal(b)
		if err := check(sealed, p); err != nil {
			return nil, fmt.Errorf("sanitize comment: %w", err)
		}
		out = append(out, Text{sealed})
	}
	return out, nil
}
