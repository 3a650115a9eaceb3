// Package review holds the shapes every other package speaks in: the wire shapes of spec.md A1 to A5, the
// request an agent receives, the facts of a round (snapshot), and what a run ends with. It imports nothing of prloop.
//
// Wire shapes keep the spelling of the spec; fields that prloop adds are optional, so that a reviewer written against
// the spec alone is a valid reviewer.
package review
