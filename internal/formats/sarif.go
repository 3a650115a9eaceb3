package formats

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// maxResults is how many results of a run code scanning shows.
const maxResults = 5000

// nowhere stands in the place of a file: code scanning refuses a whole upload for one result without a location.
const nowhere = "no%20file%20for%20this%20finding"

// root is what tools call the root of the repository.
const root = "%SRCROOT%"

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// home is where people read about prloop and about what it writes.
	home = "https://github.com/prloop/prloop"
	help = home + "/blob/main/docs/formats.md"
)

// The parts of SARIF 2.1.0 that are written here.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifID           `json:"automationDetails"`
		Provenance  []sarifProvenance `json:"versionControlProvenance,omitempty"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name            string      `json:"name"`
		InformationURI  string      `json:"informationUri"`
		Version         string      `json:"version"`
		SemanticVersion string      `json:"semanticVersion,omitempty"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string        `json:"id"`
		ShortDescription sarifText     `json:"shortDescription"`
		FullDescription  sarifText     `json:"fullDescription"`
		Help             sarifText     `json:"help"`
		HelpURI          string        `json:"helpUri"`
		Properties       sarifRuleTags `json:"properties"`
	}
	sarifRuleTags struct {
		Tags []string `json:"tags"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifProvenance struct {
		RepositoryURI string   `json:"repositoryUri"`
		RevisionID    string   `json:"revisionId,omitempty"`
		MappedTo      sarifURI `json:"mappedTo"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Start         string              `json:"startTimeUtc,omitempty"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   *sarifProperties  `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		Artifact sarifURI    `json:"artifactLocation"`
		Region   sarifRegion `json:"region"`
	}
	sarifURI struct {
		URI  string `json:"uri,omitempty"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine,omitempty"`
	}
	sarifProperties struct {
		Priority string `json:"priority"`
		MustFix  bool   `json:"mustFix"`
	}
)

// SARIF gives the findings as a SARIF 2.1.0 log with one run, made to be accepted by code scanning: at most 5,000 results, each
// with a location and a fingerprint.
func (r Run) SARIF() ([]byte, error) {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "prloop", InformationURI: home, Version: strings.TrimPrefix(r.Version, "v"), SemanticVersion: semanticVersion(r.Version), Rules: sarifRules()}},
		Automation: sarifID{"prloop/" + r.Result.Run}, Invocations: []sarifInvocation{r.invocation()}, Results: []sarifResult{},
	}
	if repo := r.Result.Target.Repo; repo.Owner != "" && repo.Host != "" {
		run.Provenance = []sarifProvenance{{fmt.Sprintf("https://%s/%s/%s", repo.Host, uri(repo.Owner), uri(repo.Name)), r.Result.Receipt.HeadSHA, sarifURI{Base: root}}}
	}
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.id] = i
	}
	seen := map[string]int{}
	all := r.entries()
	for _, e := range all[:min(len(all), maxResults)] {
		known := e.rule + e.identity
		seen[known]++
		run.Results = append(run.Results, e.sarif(index[e.rule], seen[known]))
	}
	if left := len(all) - maxResults; left > 0 {
		n := &run.Invocations[0].Notifications
		*n = append(*n, sarifNotification{"warning", sarifText{fmt.Sprintf("%d more findings, the least urgent, are left out: code scanning takes %d.", left, maxResults)}})
	}
	return encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "  ")
}

// sarif is an entry as a result, the nth of its identity. GitHub reads primaryLocationLineHash alone, and wants the n.
func (e entry) sarif(rule, n int) sarifResult {
	place := sarifPlace{sarifURI{nowhere, root}, sarifRegion{StartLine: max(e.line, 1), EndLine: e.end}}
	if e.file != "" {
		place.Artifact.URI = uri(e.file)
	}
	result := sarifResult{
		RuleID: e.rule, RuleIndex: rule, Level: [...]string{distinct.Error: "error", distinct.Warning: "warning", distinct.Note: "note"}[e.level],
		Message: sarifText{e.text}, Locations: []sarifLocation{{place}},
		Fingerprints: map[string]string{"primaryLocationLineHash": e.identity + ":" + strconv.Itoa(n), "prloopIdentity/v1": e.identity},
	}
	if e.priority != "" {
		result.Properties = &sarifProperties{string(e.priority), e.must}
	}
	return result
}

// invocation says whether the run did its work. Static checks, which are no review, are named.
func (r Run) invocation() sarifInvocation {
	inv := sarifInvocation{Successful: true}
	if !r.Result.Started.IsZero() {
		inv.Start = r.Result.Started.UTC().Format(time.RFC3339)
	}
	switch r.Result.Outcome {
	case review.Partial, review.Budget, review.NotReviewed, review.Superseded, review.Failed:
		inv.Successful = false
		inv.Notifications = []sarifNotification{{"error", sarifText{r.unapproved()}}}
	case review.StaticOnly:
		inv.Notifications = []sarifNotification{{"note", sarifText{"No model took part: static checks only."}}}
	}
	return inv
}

func sarifRules() []sarifRule {
	var out []sarifRule
	for _, r := range rules {
		out = append(out, sarifRule{r.id, sarifText{r.short + "."}, sarifText{r.help}, sarifText{r.help}, help + "#rules", sarifRuleTags{[]string{r.id}}})
	}
	return out
}

// release matches the versions that are semantic ones.
var release = lazyregexp.New(`^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$`)

// semanticVersion is the version where it is one; empty for builds that are no release.
func semanticVersion(version string) string {
	if m := release.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return ""
}
