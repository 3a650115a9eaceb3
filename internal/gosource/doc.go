// Package gosource reads Go packages from their source, as far as the compiler's types and the analyzers of `go vet` need it, and
// says what they say. Nothing is built and no program is started: it answers where `go vet` would first have to compile the
// standard library, which takes half a minute.
//
// What is imported is read for its declarations alone: from the module of the file, its vendor folder, and the sources of the Go
// that is installed. Where something imported cannot be read so, errors of types are left out, for they may come from that.
package gosource
