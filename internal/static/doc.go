// Package static is the reviewer that needs no model. It reads the added lines of the brief's diff and reports what can
// be told for certain, or nearly so: secrets, conflict markers, focused or skipped tests, debugger leftovers, hidden
// Unicode, key files; on local ranges also what the machine's linters say about changed lines.
//
// Everything in a diff is data. No text of it decides what is checked (marks such as "nosec" or "gitleaks:allow" mean
// nothing here), and titles and descriptions are fixed sentences of ours, so that a diff cannot speak through them. A
// secret that was found is never repeated: evidence is a part of its line that leaves it out.
//
// Linters load configuration and plugins from the checkout, which is running code of its author (threats.md T01). They run
// on local ranges only, never on a pull request.
package static
