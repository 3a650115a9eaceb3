package git

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// ErrOtherReader: `git am` or `patch` would make another change of a patch than `git apply`, which passes over what is no diff of git.
var ErrOtherReader = errors.New("git apply passes over it")

var (
	// mailHead is the head of a mail: at the beginning, or behind the line that begins a mail of a mailbox.
	mailHead = lazyregexp.New(`(?:\A[\s\x{FEFF}]*|(?m:^)From )(?s:.*?)(?:\n\r?\n|\z)`)
	// mailField is a field of it that says how the text of the mail is written, with the lines that it goes on in.
	mailField = lazyregexp.New(`(?im)(?:\A[\s\x{FEFF}]*|^)(content-(?:transfer-encoding|type)):(.*(?:\n[ \t].*)*)`)
	// asItIs are the values of such a field with which `git am` reads the text as it stands: no other letters, no parts, and no lines that it joins.
	asItIs = lazyregexp.New(`(?i)^(?:[78]bit|binary|text/[a-z-]+(?: ?; ?charset="?(?:us-ascii|utf-8|iso-8859-[0-9]{1,2}|windows-125[0-9]|koi8-[ru])"?)? ?;?)$`)
	// hunkHead begins a hunk as git reads it, with how many lines of the file it has before and after.
	hunkHead = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	// otherDiff is the head of a hunk, or a line of a context diff, a normal one or a script of ed, as far as these may be indented and stand in a digest.
	otherDiff = lazyregexp.New(`(?m)^[ \tX]*(?:- )*[ \tX]*(?:\*{8}.*\n.*\*\*\* .*|@@ -[0-9].*|[0-9,]*(?:[acdi][0-9,]*|s/\.//)[ \t]*\r?)$`)
)

// checkReaders refuses a patch of which `git am` decodes something before it is applied, or of which `patch` applies what is no diff of git: that would not be
// reviewed, and come with what is.
func checkReaders(patch []byte) error {
	text := string(patch)
	for _, head := range mailHead.FindAllString(text, -1) {
		for _, m := range mailField.FindAllStringSubmatch(head, -1) {
			if value := strings.Join(strings.Fields(m[2]), " "); !asItIs.MatchString(value) {
				return fmt.Errorf("a mail in it has %s %q: %w", m[1], value, ErrOtherReader)
			}
		}
	}
	if line := otherDiff.FindString(outside(text)); line != "" {
		return fmt.Errorf("it has a diff that is none of git, at %q: %w", line, ErrOtherReader)
	}
	return nil
}

// outside is a patch without its hunks. git refuses the head of a hunk that belongs to no file.
func outside(patch string) string {
	var out strings.Builder
	before, after := 0, 0
	for line := range strings.Lines(patch) {
		switch m := hunkHead.FindStringSubmatch(line); {
		case before > 0 || after > 0:
			if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, `\`) {
				before--
			}
			if !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, `\`) {
				after--
			}
		case m != nil:
			before, after = lines(m[1]), lines(m[2])
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

// lines is a number of lines in the head of a hunk, which leaves out that it is one. A number that is none git refuses.
func lines(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return 1
}
