package answer

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// claimed is what an answer says of its own findings.
type claimed struct {
	p0, p1, p2 int
	conclusion review.Conclusion
}

// claims reads them from lower-case text. A count that is no number claims one.
func claims(text string) (c claimed) {
	for _, m := range claim.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil && m[2] != "null" {
			n = 1
		}
		if m[1] == "0" {
			c.p0 = max(c.p0, n)
		} else {
			c.p1 = max(c.p1, n)
		}
	}
	switch {
	case majorWork.MatchString(text):
		c.conclusion = review.NeedsMajorWork
	case changes.MatchString(text):
		c.conclusion = review.RequestChanges
	}
	return c
}

// overclaim says which claim what is listed does not meet. Claims are no findings and change no count: one above the list only
// says that there is more than was listed.
func overclaim(c claimed, listed review.Counts) string {
	switch {
	case c.p0 > listed.P0:
		return fmt.Sprintf("it claims %d P0 and lists %d", c.p0, listed.P0)
	case c.p0+c.p1 > listed.P0+listed.P1:
		return fmt.Sprintf("it claims %d P0 and P1 and lists %d", c.p0+c.p1, listed.P0+listed.P1)
	case c.p2 > listed.P2 && c.p0+c.p1+c.p2 > listed.Total():
		return fmt.Sprintf("it claims %d P2 and lists %d findings in all", c.p2, listed.Total())
	case c.conclusion == review.NeedsMajorWork && listed.P0+listed.P1 == 0:
		return "it concludes needs_major_work and lists no P0 or P1"
	case c.conclusion == review.RequestChanges && listed.Total() == 0:
		return "it concludes request_changes and lists nothing"
	}
	return ""
}

// unmet adds the finding that stands for what a valid answer claims and does not list, or holds under a name that is no field of
// it. ok is false when there is no room for it.
func unmet(data []byte, shape reflect.Type, c claimed, findings []review.Finding, notes *schema.Notes) (all []review.Finding, why string, ok bool) {
	why = overclaim(c, review.Count(findings))
	if why == "" {
		why = stray(data, shape, notes)
	}
	if why == "" {
		return findings, "", true
	}
	return append(findings, unreadable(why)), why, len(findings) < schema.MaxFindings
}
