package demo

import "strings"

// excerpt is a report's beginning and those of its sections that are named, with a line that names the others; all of it
// when no section is named. "Section/Group" is a section up to the end of that group.
func excerpt(body string, sections []string) string {
	if sections == nil {
		return body
	}
	wanted := map[string]string{} // a section's last group; empty means all
	for _, s := range sections {
		section, group, _ := strings.Cut(s, "/")
		wanted[section] = group
	}
	begin, rest, _ := strings.Cut(body, "\n## ")
	shown, left := strings.TrimSpace(begin), []string(nil)
	for part := range strings.SplitSeq(rest, "\n## ") {
		heading, _, _ := strings.Cut(part, "\n")
		group, ok := wanted[heading]
		if !ok {
			left = append(left, heading)
			continue
		}
		if group != "" {
			if through := upTo(part, "\n### "+group+"\n"); through != part {
				part, left = through, append(left, "the rest of "+heading)
			}
		}
		shown += "\n\n## " + strings.TrimSpace(part)
	}
	if left != nil {
		shown += "\n\n*Also in this report: " + strings.Join(left, ", ") + ".*"
	}
	return shown + "\n"
}

// upTo cuts a section behind the group that begins with heading.
func upTo(section, heading string) string {
	before, group, ok := strings.Cut(section, heading)
	if !ok {
		return section
	}
	group, _, _ = strings.Cut(group, "\n### ")
	group, _, _ = strings.Cut(group, "\n<details>")
	return before + heading + group
}
