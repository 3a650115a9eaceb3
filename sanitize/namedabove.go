package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// headOfValue is a line that names what stands below: a variable of Terraform, a parameter of CloudFormation, a key of a property list.
	headOfValue = lazyregexp.New(`^[ \t]*(?:variable[ \t]+"([0-9A-Za-z_-]{1,80})"[ \t]*\{|["']?([0-9A-Za-z_-]{1,80})["']?:[ \t]*\{?|<key>([^<]{1,80})</key>)[ \t\r]*$`)
	// valueBelow is what such a name is given.
	valueBelow = lazyregexp.New(`^[ \t]*(?:["']?[Dd]efault["']?[ \t]*[:=][ \t]*|<string>)["']?([^\s"'<>]{8,200})["']?(?:</string>)?,?[ \t\r]*$`)
)

// farBelow is how many lines below its name a value stands at most.
const farBelow = 6

// namedAbove are the values whose names stand in a line above: those that would be secrets beside them.
func namedAbove(s string) (out []Span) {
	if !strings.Contains(s, "efault") && !strings.Contains(s, "<string>") {
		return nil
	}
	name, below, at := "", 0, 0
	for line := range strings.SplitSeq(s, "\n") {
		below++
		if m := headName(line); m != "" {
			name, below = m, 0
		} else if name != "" && below <= farBelow && (strings.Contains(line, "efault") || below == 1) {
			if m := valueBelow.FindStringSubmatchIndex(line); m != nil && len(assignmentSpans(name+` = "`+line[m[2]:m[3]]+`"`)) > 0 {
				out = append(out, Span{Start: at + m[2], End: at + m[3]})
			}
		}
		at += len(line) + 1
	}
	return out
}

// headName is the name in a line that names what stands below; empty for other lines.
func headName(line string) string {
	if t := strings.TrimRight(line, " \t\r"); t == "" || strings.IndexByte(":{>", t[len(t)-1]) < 0 {
		return ""
	}
	m := headOfValue.FindStringSubmatch(line)
	return strings.Join(m[min(1, len(m)):], "")
}
