// Package prompts renders what builtin agents ask their models, from embedded templates. It is pure: the random word that
// fences untrusted text is passed in, and texts are expected with hidden characters already made visible.
//
// The long part of a reviewer's prompt, System and Brief, is byte for byte the same for all reviewers of a round and
// comes first, so that providers' prompt caches hit; what differs between reviewers stands in Tail. What differs between rounds
// stands after what does not: the commits after the changes, then conversations and earlier findings.
package prompts

// Version names the prompts as a whole. It is part of the review_id (decision 11): raise it with every change of a
// template that may change an answer, which the golden tests remind of.
const Version = "2026-12-01"
