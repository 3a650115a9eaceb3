// Package risk tells by rule, never by a model, what a change puts at stake: whether a repository handles personal or
// financial data (spec.md D3.1), and which lens fits a diff best. It is pure.
package risk

import (
	"path"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
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

// The lenses a diff can ask for, by prompts' names.
const (
	security    = "security"
	contracts   = "tests-contracts"
	performance = "performance"
	general     = "general"
)

var (
	securityPath = lazyregexp.New(`(?i)(^|[/_.-])(auth(n|z|entic[a-z]*|oris[a-z]*|oriz[a-z]*)?|login|session|password|passwd|crypto|oauth|jwt|permission|acl|rbac|secret|token|security|payment|` +
		`upload|sandbox|middleware|dockerfile|\.github/workflows)([/_.-]|s?[/_.]|$)|^\.github/workflows/`)
	securityText = lazyregexp.New(`(?i)\b(password|secret|api_?key|token|authori[sz]|authenticat|csrf|exec\(|eval\(|subprocess|os/exec|innerHTML|` +
		`select .+ from|insert into|pickle|yaml\.load|md5|sha1|verify=false|insecureskipverify|chmod|setuid|unsafe)`)
	contractPath    = lazyregexp.New(`(?i)(^|/)(api|proto|schema|schemas|migrations?|openapi|swagger)(/|\.)|\.(proto|graphql|avsc|sql)$`)
	performanceText = lazyregexp.New(`(?i)\b(cache|batch|goroutine|mutex|parallel|concurren|index|paginate|for .+ for |benchmark|n\+1)`)
)

// LensFor names the lens for a diff: security when a path, or two added lines, touch what attackers look for; contracts
// when most files are interfaces, schemas or tests; performance when three added lines speak of it; else general. The
// first rule that holds decides.
func LensFor(files []review.BriefFile) string {
	guarded, cost, promises := 0, 0, 0
	for _, f := range files {
		if securityPath.MatchString(f.Path) {
			return security
		}
		if contractPath.MatchString(f.Path) || test(f.Path) {
			promises++
		}
		for line := range strings.SplitSeq(f.Diff, "\n") {
			if !strings.HasPrefix(line, "+") || strings.HasPrefix(line, "+++") || len(line) > 2000 {
				continue
			}
			if securityText.MatchString(line) {
				guarded++
			}
			if performanceText.MatchString(line) {
				cost++
			}
		}
	}
	switch {
	case guarded >= 2:
		return security
	case promises*2 > len(files):
		return contracts
	case cost >= 3:
		return performance
	}
	return general
}

func test(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.Contains(base, "_test.") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasPrefix(base, "test_")
}
