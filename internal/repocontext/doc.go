// Package repocontext makes the brief reviewers read: the diff, the code around each change, and the repository's written
// rules, all from pinned commits and within a token budget (design.md "Context", spec.md R7).
// What is left out is named with its reason, never dropped silently.
//
// The pull request must not choose what is looked at: rules and attributes come from the base commit, and a file's own
// claim to be generated is believed only if the base version makes it too.
package repocontext
