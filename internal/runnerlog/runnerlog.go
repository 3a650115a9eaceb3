// Package runnerlog knows what the runners of workflows obey in the output of a step, and writes texts so that none does (threats.md T730).
package runnerlog

import "strings"

// Order is an expression of what makes an order of two number signs anywhere in a line: "##[" of GitHub Actions and Azure Pipelines, "##vso[", "##teamcity[".
const Order = `[A-Za-z]*\[`

// Inert keeps every line of a text from being an order: those of GitHub Actions begin a line with "::".
func Inert(text string) string {
	var b strings.Builder
	for text = parted(text, "## "); text != ""; { // the runner ends a line at a carriage return too
		end := strings.IndexAny(text, "\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		if strings.HasPrefix(strings.TrimSpace(text[:end]), "::") {
			b.WriteString("> ")
		}
		b.WriteString(text[:end])
		text = text[end:]
	}
	return b.String()
}

// JSON is for what is JSON: the texts in it are the same to whoever reads it. No line of JSON begins with "::".
func JSON(s string) string { return parted(s, `#\u0023`) }

// XML is JSON for XML.
func XML(s string) string { return parted(s, "#&#35;") }

// parted writes other marks in the place of the two number signs of an order.
func parted(s, marks string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, "##")
		if at < 0 {
			return b.String() + s
		}
		rest := s[at+2:]
		if behind := strings.TrimLeft(rest, letters); strings.HasPrefix(behind, "[") {
			b.WriteString(s[:at] + marks)
			s = rest
			continue
		}
		b.WriteString(s[:at+1]) // the second may be the first of another two
		s = s[at+1:]
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
