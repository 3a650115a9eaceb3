// Package sanitize is the only door between text from outside and a GitHub comment (threats.md "Sanitization"). Agents supply fields;
// the report's template joins them; Comment takes the whole body, cleans it once more and makes the only value that can
// be posted, a Text.
//
// Text is never cleaned by patterns over Markdown: it is parsed with goldmark into a small tree of allowed nodes, the
// tree is changed, and a canonical Markdown is written from it. Laws, each held by a fuzz target:
//
//   - cleaning twice changes nothing: every result is a fixed point of the pipeline by construction, and what does not
//     settle becomes one fenced block of plain text;
//   - a second reading of the exact bytes, with everything GitHub would make active switched on, finds no mention, no
//     foreign link, no image, no HTML beyond details and summary, no secret, no diff header, and no raw line that another bot
//     could take for an order (the oracle);
//   - results are valid UTF-8, within their cap, and made in linear time.
//
// The order is that of threats.md "Sanitization": bytes, hidden characters, exact secrets, diffs and key blocks, patterns, parse,
// text nodes, render and reparse, assemble and cap, oracle.
package sanitize
