package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Run is what is written.
type Run struct {
	Result review.RunResult
	// Policy is what texts may refer to and must not hold.
	Policy sanitize.Policy
	// Version is prloop's own.
	Version string
}

// Bounds of what one finding says, in columns, before it is made safe.
const (
	longestTitle = 300
	longestText  = 2000
)

// entry is one finding as all formats tell it; its texts are safe.
type entry struct {
	rule  string
	level distinct.Level
	text  string
	// file is the name in bytes; empty when the finding is about no file.
	file string
	// line and end are 1-based and inclusive; line is 0 when it is not known, end when it is not after line.
	line, end int
	// identity is 16 hex digits, the same for the same finding in every run.
	identity string
	priority review.Priority
	must     bool
}

// entries are the findings of a run. A run without a finding that must be fixed, but which approves nothing either,
// begins with an entry that says why: no tool may take its silence for an approval (decision 30).
func (r Run) entries() []entry {
	var out []entry
	list := distinct.Of(r.Result)
	if reason := r.unapproved(); reason != "" && (len(list) == 0 || !list[0].Must) {
		out = append(out, entry{
			rule: notApproved, level: distinct.Error, text: reason,
			identity: digest(notApproved, string(r.Result.Outcome)), must: true,
		})
	}
	for _, d := range list {
		out = append(out, r.entry(d))
	}
	return out
}

// unapproved says why a run approves nothing; empty when it does, and for static checks, which never do.
func (r Run) unapproved() string {
	if r.Result.Outcome == review.Converged || r.Result.Outcome == review.StaticOnly {
		return ""
	}
	return sanitize.Field("Not approved ("+string(r.Result.Outcome)+"): "+short(r.Result.Reason, longestText), r.Policy)
}

func (r Run) entry(d distinct.Finding) entry {
	f := d.Wordings[0]
	e := entry{rule: ruleOf(f), level: d.Level(), text: r.say(d), file: r.file(f.File), identity: d.ID, priority: f.Priority, must: d.Must}
	if f.Line != nil && *f.Line > 0 {
		e.line = *f.Line
		if f.LineEnd != nil && *f.LineEnd > e.line {
			e.end = *f.LineEnd
		}
	}
	return e
}

// say is what a finding says: title and voices, why, and each suggestion once, as text, never as a change that a tool
// could apply.
func (r Run) say(d distinct.Finding) string {
	f := d.Wordings[0]
	var voices, parts []string
	for _, w := range d.Wordings {
		if name := sanitize.Inline(short(w.Source.Name, longestTitle), r.Policy); name != "" && !slices.Contains(voices, name) {
			voices = append(voices, name)
		}
	}
	title := string(f.Priority) + " " + sanitize.Inline(short(f.Title, longestTitle), r.Policy)
	if len(voices) > 0 {
		title += " (" + strings.Join(voices, ", ") + ")"
	}
	parts = append(parts, title)
	if f.Description != "" {
		parts = append(parts, sanitize.Field(short(f.Description, longestText), r.Policy))
	}
	var suggested []string
	for _, w := range d.Wordings {
		if s := strings.TrimSpace(w.Suggestion); s != "" && !slices.Contains(suggested, s) {
			suggested = append(suggested, s)
			parts = append(parts, "Suggestion: "+sanitize.Field(short(s, longestText), r.Policy))
		}
	}
	return strings.Join(parts, "\n\n")
}

// file gives the name a spelling stands for, without secrets; empty for what is no name inside the repository.
func (r Run) file(spelled string) string {
	raw := spelling.Raw(spelled)
	if text := strings.ToValidUTF8(raw, ""); sanitize.Redact(text) != text || sanitize.Leaks(raw, r.Policy) {
		return ""
	}
	for part := range strings.SplitSeq(raw, "/") {
		if part == "" || part == "." || part == ".." {
			return ""
		}
	}
	return raw
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// name is a file's name as tools look it up: as it is, or spelled as git does when it cannot stand in text as it is. What
// is spelled can be told from what is not.
func name(raw string) string {
	if !utf8.ValidString(raw) || sanitize.Terminal(raw) != raw || strings.ContainsAny(raw, "\n\t") || spelling.Raw(raw) != raw {
		return spelling.Name(raw)
	}
	return raw
}

// uri is a file's name as a relative URI: every byte comes back by decoding.
func uri(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		switch c := raw[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func short(s string, columns int) string { return runewidth.Truncate(s, columns, "…") }
