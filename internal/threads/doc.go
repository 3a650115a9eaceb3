// Package threads reads a pull request's discussion by rule (spec.md A3): who asks for changes, how many
// threads are open, and which findings are pending because of what people said. No model takes part, so the review state
// and the counts cannot be argued with; an analyzer may only refine the wording and urgency of what the rules found.
//
// The rules for pending findings:
//
//   - A resolved thread is settled. An unresolved one gives exactly one finding, unless nothing readable is left in it
//     (prloop's own comments are removed before, collapsed ones are skipped); it counts as unresolved either way.
//   - A thread of prloop's own is no conversation that somebody has to settle: it is not counted, and what people answer in it gives a
//     finding only when one who may block says in the first words that it is P0 or P1 (decision 51).
//   - A thread is P2 by default: somebody wants something, and nobody has said that it is done.
//   - It is P3 when its first comment says so (nit, minor, optional, praise, non-blocking and the like), when it only asks
//     for information, or when it is outdated: the lines it is about have changed since.
//   - It is P1 or P0 when an owner, member or collaborator says so in the first words: "P0:", "P1:", "Priority: P1", "(blocking)".
//     Association may block, never grant (decision 9).
//   - The body of a standing CHANGES_REQUESTED review is a finding about no file: P2 from an owner, member or
//     collaborator, else P3, because rule 0 does not listen to others either.
//   - Timeline comments give none: they cannot be resolved.
package threads
