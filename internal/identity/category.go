package identity

import (
	"strings"

	"github.com/prloop/prloop/review"
)

// aliases are spellings of known categories found in the wild.
var aliases = map[string]string{
	"bugs": review.CategoryBug, "correctness": review.CategoryBug, "defect": review.CategoryBug, "functional": review.CategoryBug,
	"errors": review.CategoryErrorHandling, "error": review.CategoryErrorHandling, "vulnerability": review.CategorySecurity,
	"test": review.CategoryTests, "testing": review.CategoryTests, "readability": review.CategoryStyle, "naming": review.CategoryStyle,
	"maintainability": review.CategoryDesign, "architecture": review.CategoryDesign, "logic_error": review.CategoryLogic,
}

// family groups categories reviewers use for one and the same problem. Performance stands between: a needless query is a
// bug to one reviewer and design to another.
var family = map[string]int{
	review.CategorySecurity: defect, review.CategoryBug: defect, review.CategoryLogic: defect, review.CategoryErrorHandling: defect,
	review.CategoryStyle: quality, review.CategoryDesign: quality, review.CategoryTests: quality,
	review.CategoryPerformance: defect | quality,
}

const (
	defect  = 1
	quality = 2
)

var separators = strings.NewReplacer(" ", "_", "-", "_")

// Category brings spellings of one category together: lower case, underscores, and the known word for its aliases.
func Category(s string) string {
	s = separators.Replace(strings.ToLower(strings.TrimSpace(s)))
	if a, ok := aliases[s]; ok {
		return a
	}
	return s
}

// Security reports whether a category is about security, in whatever word a reviewer has for it: what is left out by a model's word is
// not to be that.
func Security(category string) bool {
	c := Category(category)
	if c == review.CategorySecurity {
		return true
	}
	for word := range strings.FieldsFuncSeq(c, func(r rune) bool { return r == '_' || r == '/' || r == ':' || r == '.' || r == ',' || r == '&' }) {
		if strings.HasPrefix(word, "secur") || strings.HasPrefix(word, "vulnerab") || strings.HasPrefix(word, "crypto") || securityWords[word] && c != "dependency_injection" {
			return true
		}
	}
	return false
}

// securityWords are other words for it.
var securityWords = map[string]bool{
	"appsec": true, "injection": true, "xss": true, "csrf": true, "ssrf": true, "rce": true, "cwe": true, "cve": true, "owasp": true, "auth": true, "authn": true, "authz": true,
	"authentication": true, "authorization": true, "permissions": true, "secret": true, "secrets": true, "credentials": true, "privacy": true, "traversal": true, "deserialization": true,
}

// related reports whether two reviewers may mean one problem by these categories. An unknown category tells nothing and
// is related to all.
func related(a, b string) bool {
	if a == b {
		return true
	}
	a, b = Category(a), Category(b)
	fa, fb := family[a], family[b]
	return a == b || fa == 0 || fb == 0 || fa&fb != 0
}
