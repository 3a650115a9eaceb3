// Package git drives the git binary, 2.39 or newer, in a hardened environment (threats.md "Git environment"). prloop has
// a bare repository of its own for each repository it reviews: it fetches into it by fully qualified refspecs, compares
// two trees in it and reads blobs from it. No git of ours ever runs with a work tree, a hook, a filter, a textconv or a
// file system monitor that somebody else chose; configuration of other people's repositories is read by plumbing that
// executes nothing.
//
// Names from trees and diffs are data: they travel with -z, never as options, and non-canonical ones are refused.
package git
