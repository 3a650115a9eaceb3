package sandbox

import (
	"bytes"
	"strings"
)

// The rules a child is ended by that used up its scratch space, or what it may keep in TCP connections.
const (
	RuleDisk   = "disk-limit"
	RuleFiles  = "inode-limit"
	RuleMemory = "memory-limit"
)

// boundsPrefix opens the line on standard error that says by which rule a child was ended.
const boundsPrefix = "prloop: ended sandbox: "

// Exceeded reads from a wrapped command's exit status and the end of its standard error that it was ended for what it used of
// these: by which rule, and what it did. Both are empty when it was not. A child can say that of itself.
func Exceeded(code int, stderr []byte) (rule, what string) {
	i := bytes.LastIndex(stderr, []byte("\n"+boundsPrefix))
	if code != ExitBounds || i < 0 {
		return "", ""
	}
	line, _, _ := strings.Cut(string(stderr[i+1+len(boundsPrefix):]), "\n")
	rule, what, _ = strings.Cut(line, ": ")
	if rule != RuleDisk && rule != RuleFiles && rule != RuleMemory {
		return "", ""
	}
	return rule, what
}
