package git

import (
	"strings"
	"unicode"
)

// answerFor finds the line about a ref in what push --porcelain prints: "flag\tfrom:to\tsummary". The flag is one letter;
// empty when there is no such line.
func answerFor(out, ref string) (flag, summary string) {
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		if len(f) == 3 && len(f[0]) == 1 && strings.HasSuffix(f[1], ":"+ref) {
			return f[0], f[2]
		}
	}
	return "", ""
}

// refusals map what servers print to rules. Order matters: the first match wins.
var refusals = []struct{ text, rule string }{
	{"push protection", RefusedSecret},
	{"push cannot contain secrets", RefusedSecret},
	{"gh009", RefusedSecret},
	{"gh001", RefusedLarge},
	{"gh007", RefusedEmail},
	{"create or update workflow", RefusedWorkflow},
	{"gh006", RefusedProtected},
	{"protected branch", RefusedProtected},
	{"gh013", RefusedRule},
	{"repository rule violations", RefusedRule},
}

// denials are refusals before any ref was looked at.
var denials = []struct{ text, rule string }{
	{"resource not accessible", RefusedPermission},
	{"archived so it is read-only", RefusedPermission},
	{"returned error: 403", RefusedPermission},
	{"write access to repository not granted", RefusedPermission},
	{"could not read username", RefusedAuth},
	{"could not read password", RefusedAuth},
	{"authentication failed", RefusedAuth},
	{"returned error: 401", RefusedAuth},
	{"permission denied (publickey", RefusedAuth},
	{"repository not found", RefusedNotFound},
	{"returned error: 404", RefusedNotFound},
}

// refusal tells from the answer about the ref and from standard error whether the server said no, and why; an empty rule
// means that it did not, or that another push was quicker.
func refusal(flag, summary, stderr string) (rule, reason string) {
	text := strings.ToLower(summary + "\n" + stderr)
	if flag != "!" {
		for _, d := range denials {
			if strings.Contains(text, d.text) {
				return d.rule, line(stderr, d.text, "")
			}
		}
		return "", ""
	}
	// What git itself rejected (stale info, fetch first) and a lock or an old value on the server are lost races.
	if !strings.HasPrefix(summary, "[remote rejected]") || raced(summary) {
		return "", ""
	}
	for _, known := range refusals {
		if strings.Contains(text, known.text) {
			return known.rule, line(stderr, known.text, summary)
		}
	}
	if strings.Contains(text, "hook declined") {
		return RefusedHook, line(stderr, "", summary)
	}
	return RefusedOther, printable(summary)
}

func raced(summary string) bool {
	for _, s := range []string{"cannot lock ref", "failed to update ref", "failed to lock", "fetch first", "non-fast-forward", "incorrect old value", "reference already exists"} {
		if strings.Contains(summary, s) {
			return true
		}
	}
	return false
}

// line is the first line that holds text (lower case), else the first line the server said, else the last resort; made
// printable.
func line(said, text, otherwise string) string {
	first := ""
	for l := range strings.Lines(said) {
		clean := printable(strings.TrimPrefix(l, "remote:"))
		if text != "" && strings.Contains(strings.ToLower(clean), text) {
			return clean
		}
		if first == "" && strings.HasPrefix(l, "remote:") {
			first = clean
		}
	}
	if first == "" {
		return printable(otherwise)
	}
	return first
}

func printable(l string) string {
	l = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(l, "\ufffd"))
	l = strings.TrimPrefix(strings.TrimSpace(l), "error: ")
	if r := []rune(l); len(r) > 300 {
		l = string(r[:299]) + "…"
	}
	return l
}
