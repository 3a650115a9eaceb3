package formats

import (
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// rule is one kind of finding. Its id never changes: tools know findings by it.
type rule struct{ id, short, help string }

const (
	// otherRule holds the categories prloop does not know: models make them up, so they are no ids.
	otherRule = "other"
	// notApproved is the entry of a run that approves nothing and has no finding to fix.
	notApproved = "not_approved"
)

// rules are all there are.
var rules = []rule{
	{review.CategorySecurity, "A security problem", "Somebody may read, change or break what they should not. Check what the finding describes, and fix it before the change is merged."},
	{review.CategoryBug, "A bug", "The code does not do what it is meant to. Follow the finding's description to where it fails."},
	{review.CategoryLogic, "A mistake in logic", "A condition, a bound or an order is wrong. Follow the finding's description to the input that shows it."},
	{review.CategoryErrorHandling, "A mistake in error handling", "An error is ignored, hidden or handled in the wrong place. Decide what the program does when it occurs."},
	{review.CategoryPerformance, "A performance problem", "The code takes more time, memory or calls than it has to. Measure before and after."},
	{review.CategoryStyle, "A matter of style", "The code is harder to read than it has to be."},
	{review.CategoryTests, "A problem with tests", "Tests are missing, switched off, or cannot fail."},
	{review.CategoryDesign, "A matter of design", "The parts are joined in a way that makes later changes hard."},
	{otherRule, "Another finding", "A finding of a category that prloop does not know."},
	{notApproved, "The change is not approved", "prloop approves nothing that was not wholly reviewed, and some decisions are a person's. The message says which it is; the run's report has the details."},
}

// ruleOf is the rule of a finding.
func ruleOf(f review.Finding) string {
	category := identity.Category(f.Category)
	for _, r := range rules[:len(rules)-2] {
		if r.id == category {
			return category
		}
	}
	return otherRule
}
