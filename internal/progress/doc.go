// Package progress shows a run while it happens and its end: a view with one line per agent on a terminal, one line per event
// elsewhere, and groups and annotations in GitHub Actions.
//
// Everything shown may come from a child, a diff or a comment: control bytes are made visible before a terminal sees them
// (threats.md T41), and in Actions no text can become a workflow command.
//
// The view reads no input and handles no signal. The terminal stays in its ordinary mode, so ctrl-c sends SIGINT to the
// process as always and the caller's signal.Notify sees it; the caller then calls Close, which leaves the lines as they
// stand and the cursor below them.
package progress
