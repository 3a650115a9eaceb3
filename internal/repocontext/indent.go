package repocontext

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// definitionLine recognises, in any language, a line that begins a function or type, and its name.
var definitionLine = lazyregexp.New(`(?:^|[\s(])(func|function|def|fn|fun|sub|proc|method|class|interface|struct|impl|trait|module|enum)\s+(?:\([^)]*\)\s*)?([\p{L}_$][\p{L}\p{N}_$.:]*)`)

// callLine recognises "int main(int argc) {" and the like.
var callLine = lazyregexp.New(`([\p{L}_$][\p{L}\p{N}_$]*)\s*\([^;]*\)?[^;]*[{:]\s*$`)

// notCalls are words that look like a function's name before a bracket.
var notCalls = lazyregexp.New(`^\s*\}?\s*(if|for|foreach|while|switch|catch|else|elif|with|try|return|do|case|when|match|unless|until)\b`)

// searchLimit bounds the walk up and down from a line.
const searchLimit = 2000

// byIndent finds the definition around a line by indentation alone: the nearest line above that is indented less and
// begins a definition, down to the last line indented deeper, with its closing line.
func byIndent(lines []string, line int) (span, bool) {
	at := line - 1
	for at < len(lines)-1 && blank(lines[at]) {
		at++
	}
	if name, ok := definitionName(lines[at]); ok {
		return downFrom(lines, at, name), true
	}
	level := indent(lines[at])
	for i := at - 1; i >= 0 && i > at-searchLimit && level > 0; i-- {
		if blank(lines[i]) || indent(lines[i]) >= level {
			continue
		}
		level = indent(lines[i])
		if name, ok := definitionName(lines[i]); ok {
			return downFrom(lines, i, name), true
		}
	}
	return span{}, false
}

// downFrom finds where the definition that starts at an index ends.
func downFrom(lines []string, start int, name string) span {
	level, end := indent(lines[start]), start
	for i := start + 1; i < len(lines) && i < start+searchLimit; i++ {
		if blank(lines[i]) {
			continue
		}
		if indent(lines[i]) > level {
			end = i
			continue
		}
		t := strings.TrimSpace(lines[i])
		if strings.HasPrefix(t, "{") {
			continue
		}
		if strings.HasPrefix(t, "}") || strings.HasPrefix(t, "end") || strings.HasPrefix(t, ")") {
			end = i
			if strings.HasPrefix(t, ")") {
				continue // the end of the parameters, not of the body
			}
		}
		break
	}
	return span{start: start + 1, end: end + 1, name: name, function: true}
}

func definitionName(line string) (string, bool) {
	if len(line) > 400 {
		return "", false
	}
	if m := definitionLine.FindStringSubmatch(line); m != nil {
		return m[2], true
	}
	if notCalls.MatchString(line) {
		return "", false
	}
	if m := callLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
		return m[1], true
	}
	return "", false
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// indent counts leading white space; a tab is eight.
func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}
