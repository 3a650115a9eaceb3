// Package fixspace is where a fixer works and where its work is looked at (decision 6, security 2 S4 and 3 "Push path").
//
//	Fix     a private clone, the fixer's child, what it did taken out and held against the push policy
//	Verify  the repository's own commands on a plain export of a commit
//	Push    compare-and-swap onto the reviewed head
//
// Whatever runs here was written by a stranger or by a model that read one, so all of it runs in the sandbox the caller
// gives ([Workspace.Confine]) with no credential and no network, commands of git in the fixer's clone included: outside, git
// only ever works in prloop's own repository. The work comes out as data, a bundle or a plain folder, and is checked there.
// Nothing is pushed that one rule refuses.
//
// Every folder lies below [Workspace.Scratch] and is gone when a call returns, however it ends. What a killed process left goes
// with its scratch folder.
package fixspace
