// Package modelagent is the builtin reviewer, comments analyzer and fixer. It runs inside a child process (prloop agent ROLE) and
// talks to any OpenAI-compatible endpoint, in practice prloop's own gateway on a unix socket: it holds a placeholder
// token, never a key. Answers are asked for as structured output, decoded by the same gate as every agent's (wire),
// repaired once, and brought in line with the severity table and the evidence rule before they leave the child. The fixer
// works through tools, and ends by one that hands its answer over.
package modelagent
