// Package builtin plays the builtin agents: it is the child's side of what internal/agentrun starts, this program once more in a
// sandbox, with one request on standard input and one envelope to write.
//
//	Review           the builtin reviewer: a model, and tools that read the tree the request names
//	Verify           the builtin verifier: a model that tries to refute findings, with the same tools
//	AnalyzeComments  the comments analyzer: by rule, worded by a model when there is one
//	Fix              the builtin fixer: a model, and tools that write in the clone the request names
//	ReviewStatic     the reviewer that needs no model
//
// A builtin agent holds no credential. Its one way out is the socket of the gateway that its parent keeps, for models and, where the
// operator lists hosts, for pages of the web. Whether it keeps to the rules is not its own affair: budgets are the gateway's,
// files the sandbox's, and what a fixer did is judged when it is taken out.
package builtin
