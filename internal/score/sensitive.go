package score

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Described are the files of a repository's root that Sensitive reads, at the base commit: a pull request must not change
// how strictly it is judged.
var Described = []string{"package.json", "README.md", "README", "README.rst", "README.txt", "readme.md", "Readme.md"}

// sensitive are words for personal or financial data. They are narrow: "user" or "order" stands in every README.
var sensitive = lazyregexp.New(`(?i)\b(personal(ly)? (data|identifiable|information)|personal[- ]data|pii|gdpr|hipaa|pci[- ]dss|patients?|medical records?|health records?|` +
	`social security|ssn|payments?|payment[- ]processing|invoic(e|es|ing)|billing|bank(ing)?|fintech|financial|credit cards?|payroll|stripe|paypal|braintree|` +
	`kyc|tax returns?|insurance|wallets?|ledger)\b`)

// Sensitive reports whether the text of one of the Described files says that the repository handles personal or financial
// data, and by which word.
func Sensitive(text string) (word string, ok bool) {
	word = sensitive.FindString(text)
	return strings.ToLower(word), word != ""
}
