// Package forge is a GitHub stand-in that is a program: REST, GraphQL and git over HTTP for everything prloop and the real
// gh ask for, with users, permissions, pull requests made from real trees and diffs, exact records of what was posted, and
// faults on demand (security.md 6.3).
//
// Every GraphQL query is validated against GitHub's published schema, and answers are built by walking it, so an answer
// cannot have another shape than GitHub's. REST answers are filled from the published OpenAPI description; the package
// contract checks requests and answers against it with an independent validator. What breaks a contract is answered as
// GitHub would and kept in Violations, and a test that finds one there fails.
//
// It is reached as github.com over a unix socket (gh's http_unix_socket), as a GitHub Enterprise Server host over the
// same socket, and over plain HTTP on loopback for git. Env gives the environment for either.
package forge
