// Package diff reads the unified two-tree diffs git prints: which files changed and how, their hunks, and how lines of
// the old version map to lines of the new one (threats.md T26-T28).
//
// File headers (names, modes, renames) are read by go-gitdiff; hunk bodies are walked here, because what it accepts
// silently has to be an error for us: a combined diff gives it no files at all, and a truncated one gives it fewer lines
// than the header promised. Line text is never copied: everything points into the one string that was parsed.
package diff
