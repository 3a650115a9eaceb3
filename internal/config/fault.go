package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing wrong with a configuration, at its own place.
type Fault struct {
	// File is the name the source was given, or the flag or variable the value came from.
	File string `json:"file"`
	// Line and Column are 1-based; 0 when the value came from no file.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Key is the path of the setting, such as reviewers[1].timeout.
	Key string `json:"key,omitempty"`
	// Message says what is wrong, in one line.
	Message string `json:"message"`
	// Suggestion is what was probably meant; empty when nothing is near.
	Suggestion string `json:"suggestion,omitempty"`
	// Excerpt is the line itself; empty when it may hold a secret.
	Excerpt string `json:"excerpt,omitempty"`
	// Next is what to do about it, where that is more than correcting the value; empty otherwise.
	Next string `json:"next,omitempty"`
}

// String is the fault in up to three lines: place and message, excerpt, marker below the column.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Key != "" && f.Key != strings.ReplaceAll(strings.TrimPrefix(f.File, "--"), "-", "_") { // a flag of the same name says it
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Message)
	if f.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", f.Suggestion)
	}
	if f.Excerpt != "" {
		number := fmt.Sprintf("%5d", f.Line)
		fmt.Fprintf(&b, "\n%s | %s", number, f.Excerpt)
		if f.Column >= 1 && f.Column <= len([]rune(f.Excerpt))+1 {
			fmt.Fprintf(&b, "\n%s | %s^", strings.Repeat(" ", len(number)), strings.Repeat(" ", f.Column-1))
		}
	}
	return b.String()
}

// docsPage is the page that describes all settings.
const docsPage = "https://github.com/prloop/prloop/blob/main/docs/config.md"

// Docs is the address of what the documentation says about the fault's key, or about the nearest group of keys above it.
func (f Fault) Docs() string {
	for at := f.Key; at != ""; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		for _, k := range keys() {
			if k.path == at {
				return docsPage + "#" + strings.ReplaceAll(at, ".", "")
			}
		}
	}
	return docsPage
}

// Error holds every fault found, in the order of the sources and lines.
type Error struct{ Faults []Fault }

// Error gives the faults one after the other.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// UnknownAgentError is a name in --reviewers that no configuration knows.
type UnknownAgentError struct {
	Name string
	// Known are the names that can be used, sorted.
	Known []string
	// Suggestion is the known name that was probably meant; empty when none is near.
	Suggestion string
}

// Error names the agent and those that exist.
func (e *UnknownAgentError) Error() string {
	s := fmt.Sprintf("unknown reviewer %q", e.Name)
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s + " (known: " + strings.Join(e.Known, ", ") + ", exec:PATH)"
}

// RepoCommandError is a reviewer of the repository's file that would run a program where the operator has not allowed it.
type RepoCommandError struct {
	// Agent is the reviewer's name, Path the program.
	Agent, Path string
	// File and Line are where it is written.
	File string
	Line int
	// Relative is true when commands are allowed, but the path would be looked up in the pull request's own files.
	Relative bool
}

// Error says what is refused and why.
func (e *RepoCommandError) Error() string {
	if e.Relative {
		return fmt.Sprintf("%s:%d: agent %q runs %q: on a pull request a command of the repository's file must be a bare name"+
			" or an absolute path, because a relative one would be the pull request's own file", e.File, e.Line, e.Agent, e.Path)
	}
	return fmt.Sprintf("%s:%d: agent %q runs the program %q on this machine, which the operator has not allowed"+
		" (allow_repo_commands)", e.File, e.Line, e.Agent, e.Path)
}

// faultsOf collects faults out of a joined error; anything else becomes a fault of its own.
func faultsOf(err error, file string) []Fault {
	var e *Error
	if errors.As(err, &e) {
		return e.Faults
	}
	return []Fault{{File: file, Message: err.Error()}}
}

func sortFaults(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.Compact(faults)
}
