// Package schema is the gate between JSON and the review shapes: the published JSON Schemas (draft 2020-12, generated from
// the Go types), strict decoding, and encoding. What an answer of an agent has to be beyond its schema is package answer's business.
//
// What is required. A reviewer written against spec.md A2 alone is a valid reviewer, so only the fields
// without which an answer means nothing are required: of a reviewer result agent, prNumber, conclusion, issues and
// findings; of a finding id, priority, category, file, title and description. The other fields of spec.md A1 and A2 (line,
// suggestion, source, fullReport) and everything prloop adds may be left out. A field that may be left out may also be
// null, which means the same.
//
// What is refused: bytes that are not one JSON document in valid UTF-8, a byte order mark, NUL, half a surrogate pair,
// keys that occur twice or differ from another or from a known field only in case, numbers out of range, documents over
// the caps on size, depth and count, and whatever the schema refuses. Unknown fields are dropped and noted.
package schema
