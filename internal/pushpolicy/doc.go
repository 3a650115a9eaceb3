// Package pushpolicy says by rule what a fixer may not change (threats.md "Push policy"), which tests it took away or
// weakened, and how its commit messages read. Nothing a fixer did is pushed while a rule is broken. It is pure: the changes
// are handed in, and the same changes give the same refusals in the same order.
//
// Paths, lines and messages come from an agent and are data.
package pushpolicy
