// Package drafts says which pull requests that are drafts are reviewed. It is pure.
package drafts

// Why says why a pull request is left alone that is a draft; empty when it is reviewed: drafts are where they are wanted, and where a person asks for it, by a
// mention or another line of a comment, or for a command. Whoever does knows that it is one.
func Why(draft, wanted, asked bool) string {
	if !draft || wanted || asked {
		return ""
	}
	return "the pull request is a draft: it is reviewed when it is ready, or when somebody asks for it by comment"
}
