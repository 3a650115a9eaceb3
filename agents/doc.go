// Package agents is the contract between prloop and an agent, a child process of any make: one JSON request
// (review.Task) on standard input, then end of file; on standard output any number of event lines and one envelope
// (spec.md A2, A3 or A5, review.VerifierResult or review.CommandResult). Ask is prloop's side, Serve the side of the builtin agents, Check tells whether a program keeps the contract.
//
// # What an agent writes
//
// An event is one line, a JSON object with the key "event" (progress, usage or log). Events feed the live view; nothing is
// decided by them, and one that is malformed is dropped and noted. The envelope is one JSON object, over one line or
// many, in one of three dresses:
//
//   - bare: then nothing else but events and blank lines may stand beside it;
//   - in a fence that opens with ```json (or ```) and closes with ```;
//   - between a line BEGIN_JSON and a line END_JSON.
//
// Text beside a fenced or marked envelope is ignored, unless it has the field that only such an envelope has ("findings"): that may be
// another one, or be quoted from the change (threats.md T789). Two envelopes are an error, even if
// they are equal: prloop never takes the last one, because text an agent merely repeats may hold one (threats.md T85). Lines
// are at most 1 MB, the whole stream 8 MB; a larger envelope has to be spread over lines. An envelope has at most
// 65,536 values and names, an event 1,024.
//
// # What becomes of it
//
// An agent is complete when it ended by itself with exit status 0 and its envelope is valid. An invalid answer is refused
// and the question put once more with the reason (review.Task.Repair). Everything else is not complete and never counts
// towards min_reviewers: a valid envelope before an exit status other than 0, a signal or a passed limit (the program
// itself says that it failed), and an envelope that stayed broken. Its findings that are valid one by one are kept, what
// may be a P0 or P1 and cannot be read leaves one (decision 34), and the agent is degraded; without any it is failed. So a broken answer can add to a verdict and never help to approve.
package agents
