package pushpolicy

import "github.com/prloop/prloop/review"

// RuleSetupFile is the rule against fixes that take the place of what a setup left for verify commands.
const RuleSetupFile = "setup-file"

// OverSetup refuses new files of a fix where something of the setup stands, or in the way to it. The commit's own files come first: the
// verify commands would be given the fixer's.
func OverSetup(changes []Change, stands func(path string) bool) (refused []review.Refusal) {
	for _, c := range changes {
		if c.fresh() && stands(c.Path) {
			refused = append(refused, refuse(RuleSetupFile, c.Path, "the setup left something there, and the verify commands would be given this file instead"))
		}
	}
	return refused
}
