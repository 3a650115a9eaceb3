// Package policy is what the administrators of a repository decide about its reviews: one row of columns for each repository, keyed
// by the host and GitHub's numeric id, because names move. A column that is not set says nothing, and a row without columns is as
// good as none. The package knows the columns and their bounds, reads what people and files say, and compares versions of a row. It
// is pure: internal/store keeps rows, internal/config ranks them among the other layers.
package policy
