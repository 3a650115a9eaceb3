// Package floors holds tests over the whole repository: imports point down the house (docs/architecture.md), that is to packages
// of lower floors only, never sideways or up, and floors 0 and 1 stay pure; and what comments, tests and pages cite is there.
package floors
