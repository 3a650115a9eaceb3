package demo

import (
	"fmt"
	"strings"
)

// excerpt is a report's beginning with the details of as many findings, and a line that names what else stands in it.
func excerpt(body string, findings int) string {
	parts := strings.Split(body, "\n#### ")
	shown, rest := parts[0], parts[1:]
	for findings > 0 && len(rest) > 0 {
		shown, rest = shown+"\n#### "+rest[0], rest[1:]
		findings--
	}
	left := strings.Join(rest, "\n")
	if begin, folded, ok := strings.Cut(shown, "\n<details>\n"); ok {
		shown, left = begin, "<details>\n"+folded+"\n"+left
		rest = nil // what follows a fold is folded
	}
	var also []string
	if n := openly(rest); n > 0 {
		also = append(also, fmt.Sprintf("details of %d more", n))
	}
	for line := range strings.SplitSeq(left, "\n") {
		if s, ok := strings.CutPrefix(line, "<summary>"); ok {
			also = append(also, strings.TrimSuffix(s, "</summary>"))
		}
	}
	if shown = strings.TrimSpace(shown); also != nil {
		shown += "\n\n*Also in this report: " + strings.Join(also, "; ") + ".*"
	}
	return shown + "\n"
}

// openly is how many of these findings are not folded.
func openly(list []string) int {
	for i, f := range list {
		if strings.Contains(f, "\n<details>\n") {
			return i + 1
		}
	}
	return len(list)
}
