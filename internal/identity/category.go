package identity

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
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

// joined is where words stand together and only their case tells them apart.
var joined = lazyregexp.New(`([a-z])([A-Z])`)

// Security reports whether a category is about security, in whatever word a reviewer has for it: what is left out by a model's word is
// not to be that.
func Security(category string) bool {
	apart := Category(joined.ReplaceAllString(category, "${1}_$2"))
	return apart != "dependency_injection" && (secures(Category(category)) || secures(apart))
}

// secures is Security of a category as Category gives it.
func secures(c string) bool {
	if c == review.CategorySecurity {
		return true
	}
	if slices.ContainsFunc(securityPhrases, func(p string) bool { return strings.Contains(c, p) }) {
		return true
	}
	for word := range strings.FieldsFuncSeq(c, func(r rune) bool { return r == '_' || r == '/' || r == ':' || r == '.' || r == ',' || r == '&' }) {
		if slices.ContainsFunc(securityBegins, func(b string) bool { return strings.HasPrefix(word, b) }) || securityWords[word] || strings.HasSuffix(word, "injection") {
			return true
		}
	}
	return false
}

// Covers reports whether somebody's word about something of this priority and category is one about a finding too: about nothing graver, and
// about security where the finding is.
func Covers(p review.Priority, category string, f review.Finding) bool {
	least := review.P0
	if f.Priority.Valid() {
		least = f.Priority
	}
	grave := !least.Severe() || p.Rank() <= least.Rank()
	return grave && (!Security(f.Category) || Security(category))
}

// securityBegins are how words for it begin, securityPhrases stand anywhere in a category, and securityWords are other words.
var securityBegins = []string{
	"secur", "insecur", "cybersecur", "vuln", "crypto", "encrypt", "exploit", "credential", "password", "permission", "cwe", "sanitiz", "sanitis", "injections",
	"authoriz", "authoris", "unauthor", "deserial", "tamper",
}

var securityPhrases = []string{
	"access_control", "code_execution", "command_execution", "data_exposure", "buffer_overflow", "heap_overflow", "use_after_free", "double_free", "out_of_bounds_write", "memory_safety", "memory_unsafe", "memory_corruption",
	"supply_chain", "open_redirect", "prototype_pollution", "denial_of_service", "privilege", "sandbox_escape", "session_fixation", "session_hijack", "info_leak", "information_leak", "data_leak", "disclosure", "zip_slip",
	"api_key", "private_key", "hardcoded_key", "hard_coded_key", "weak_hash", "certificate_validation", "timing_attack", "external_entity",
}

var securityWords = map[string]bool{
	"infosec": true, "sqli": true, "xxe": true, "idor": true, "cors": true, "redos": true, "oauth": true, "jwt": true, "rbac": true, "tls": true, "ssl": true, "pii": true, "clickjacking": true,
	"spoofing": true, "backdoor": true, "malware": true, "toctou": true, "dos": true, "ddos": true, "escalation": true, "mitm": true, "ssti": true,
	"appsec": true, "injection": true, "xss": true, "csrf": true, "ssrf": true, "rce": true, "cve": true, "owasp": true, "auth": true, "authn": true, "authz": true,
	"authentication": true, "secret": true, "secrets": true, "privacy": true, "traversal": true,
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
