// Package lens tells by rule, never by a model, which lens fits a diff best. It is pure.
package lens

import (
	"path"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// The lenses a diff can ask for, by prompts' names.
const (
	security    = "security"
	contracts   = "tests-contracts"
	performance = "performance"
	general     = "general"
)

// Auto is what a reviewer is given as its lens where For shall choose it.
const Auto = "auto"

var (
	securityPath = lazyregexp.New(`(?i)(^|[/_.-])(auth(n|z|entic[a-z]*|oris[a-z]*|oriz[a-z]*)?|login|session|password|passwd|crypto|oauth|jwt|permission|acl|rbac|secret|token|security|payment|` +
		`upload|sandbox|middleware|dockerfile|\.github/workflows)([/_.-]|s?[/_.]|$)|^\.github/workflows/`)
	securityText = lazyregexp.New(`(?i)\b(password|secret|api_?key|token|authori[sz]|authenticat|csrf|exec\(|eval\(|subprocess|os/exec|innerHTML|` +
		`select .+ from|insert into|pickle|yaml\.load|md5|sha1|verify=false|insecureskipverify|chmod|setuid|unsafe)`)
	contractPath    = lazyregexp.New(`(?i)(^|/)(api|proto|schema|schemas|migrations?|openapi|swagger)(/|\.)|\.(proto|graphql|avsc|sql)$`)
	performanceText = lazyregexp.New(`(?i)\b(cache|batch|goroutine|mutex|parallel|concurren|index|paginate|for .+ for |benchmark|n\+1)`)
)

// For names the lens for a diff: security when a path, or two added lines, touch what attackers look for; contracts
// when most files are interfaces, schemas or tests; performance when three added lines speak of it; else general. The
// first rule that holds decides.
func For(files []review.BriefFile) string {
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
