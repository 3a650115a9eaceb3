// Package floors holds tests over the whole repository: imports point to packages of lower floors only
// (docs/architecture.md), never sideways or up, and floors 0 and 1 stay pure; and what comments, tests and pages cite is there.
package floors
