package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// keyHead is BEGIN PRIVATE KEY in all its kinds, with or without dashes: a header alone is
	// redacted too.
	keyHead = lazyregexp.New(`-*\s?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-*|PuTTY-User-Key-File-[0-9]`)
	keyEnd  = lazyregexp.New(`-*\s?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-*|Private-MAC:\s*[0-9a-fA-F]*`)
	// keyText is key material that follows a header on its own line, real or escaped line ends between.
	keyText = lazyregexp.New(`^(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{16,})*(?:\\[nr])*`)
	// keyLine is one line of an armoured key, perhaps as a piece of a string in code.
	keyLine = lazyregexp.New("^[\"'`]?(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines|Key-Derivation|Argon2-[A-Za-z]+): ?.*|\\[REDACTED\\])(?:\\\\[nr])*[\"'`]?[ \t]*[+,;.\\\\]?$")
	keyRest = lazyregexp.New(`^[A-Za-z0-9+/]{1,76}={0,2}$`)
)

// maxKeyLines bounds how far the end of a key is looked for.
const maxKeyLines = 200

// redactKeys replaces private key blocks, also header only, by Redacted (threats.md L2). A fence is never
// crossed, so a block cut off by the end of its code block leaves the fence standing.
func redactKeys(s string) string {
	if !strings.Contains(s, "PRIVATE KEY") && !strings.Contains(s, "PuTTY-User-Key") {
		return s
	}
	lines := strings.Split(s, "\n")
	out := make([]string, 0, len(lines))
	for i := 0; i < len(lines); i++ {
		line, open := redactKeyLine(lines[i])
		out = append(out, line)
		if open {
			i = keyTail(lines, i)
		}
	}
	return strings.Join(out, "\n")
}

// redactKeyLine replaces the keys of one line; open is true when the last of them may go on in the next line.
func redactKeyLine(line string) (_ string, open bool) {
	heads := keyHead.FindAllStringIndex(line, -1)
	if heads == nil && !strings.Contains(line, "END ") && !strings.Contains(line, "Private-MAC") {
		return line, false
	}
	ends := keyEnd.FindAllStringIndex(line, -1)
	var b strings.Builder
	done := 0
	redact := func(from, to int) {
		if from < done {
			from = done
		}
		b.WriteString(line[done:from])
		if from < len(line) && line[from] == ' ' {
			b.WriteByte(' ')
		}
		b.WriteString(Redacted)
		done = to
	}
	for i, head := range heads {
		for len(ends) > 0 && ends[0][0] < head[0] { // a footer alone tells nothing, but its words must not stand
			redact(ends[0][0], ends[0][1])
			ends = ends[1:]
		}
		next := len(line)
		if i+1 < len(heads) {
			next = heads[i+1][0]
		}
		if len(ends) > 0 && ends[0][0] < next {
			redact(head[0], ends[0][1])
			ends, open = ends[1:], false
			continue
		}
		redact(head[0], head[1]+len(keyText.FindString(line[head[1]:next])))
		open = true
	}
	for _, end := range ends {
		redact(end[0], end[1])
	}
	b.WriteString(line[done:])
	return b.String(), open
}

// keyTail returns the index of the last line of the key whose header stands in line i.
func keyTail(lines []string, i int) int {
	last := i
search:
	for j := i + 1; j < len(lines) && j <= i+maxKeyLines; j++ {
		_, text := splitContainer(lines[j])
		text = strings.TrimSpace(text)
		switch {
		case fenceRun(text) != "", keyHead.MatchString(text):
			break search
		case keyEnd.MatchString(text):
			return j
		}
	}
	for j := i + 1; j < len(lines); j++ {
		_, text := splitContainer(lines[j])
		text = strings.TrimSpace(text)
		switch {
		case fenceRun(text) != "", keyHead.MatchString(text):
			return last
		case keyLine.MatchString(text), last > i && keyRest.MatchString(text):
			last = j
		case text == "" && j == i+1:
		default:
			return last
		}
	}
	return last
}
