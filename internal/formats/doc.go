// Package formats writes the distinct findings of a finished run for other tools: SARIF 2.1.0 for code scanning,
// checkstyle's XML, and reviewdog's rdjsonl (docs/formats.md). SARIF, Checkstyle and RDJSONL are pure; Files writes what
// they give. Every text passes the gate of posted comments, since these tools post what they read.
package formats
