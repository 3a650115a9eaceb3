package orchestrator

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// owned end the paths of texts in an answer that prloop has set itself by then, dropped, held against the discussion, or that are of a
// fixed list of words.
var owned = []string{
	".Name", ".Role", ".Kind", ".Model", ".State", ".OutOf", ".Rule", ".Agent", ".Conclusion", ".Priority", ".Status", ".Source.Type", ".Source.ReviewID", ".Timestamp",
	".Fingerprint", ".ValueHash", ".Cause.Commit", ".SHA", ".CommitSHA",
}

// Whatever text an agent may write is redacted before its answer is stored (threats.md P14), those that are added later too: a field
// is in the list above, or a token in it is gone.
func TestEveryTextOfAnAnswerIsRedacted(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	var report AgentReport
	fillTexts(reflect.ValueOf(&report).Elem(), token)
	var work review.FixWork
	fillTexts(reflect.ValueOf(&work).Elem(), token)
	report = redactReport(report, nil)
	redactWork(&work, nil)
	for name, v := range map[string]any{"a reviewer": report.Answer.Reviewer, "an analyzer": report.Answer.Comments, "a verifier": report.Answer.Verifier, "a receipt": report.Answer.Receipt, "a log": report.Answer.Log,
		"a fix": work.Answer.Fix, "a fixer's receipt": work.Answer.Receipt, "a fixer's log": work.Answer.Log, "work": work.Notes, "tests": work.Tests, "refusals": work.Refusals, "commits": work.Commits} {
		for _, path := range textsWith(reflect.ValueOf(v), token, "") {
			if !slices.ContainsFunc(owned, func(end string) bool { return strings.HasSuffix(path, end) }) {
				t.Errorf("%s keeps a token at %s", name, path)
			}
		}
	}
}

// fillTexts writes a text into every text of a value, and one item into every list.
func fillTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillTexts(v.Elem(), text)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type().Field(i).Name != "Parts" { // of findings, which no answer has
				fillTexts(v.Field(i), text)
			}
		}
	}
}

// textsWith are the paths of the texts that hold one.
func textsWith(v reflect.Value, text, at string) (paths []string) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), text) {
			paths = append(paths, at)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return textsWith(v.Elem(), text, at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			paths = append(paths, textsWith(v.Index(i), text, at)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			paths = append(paths, textsWith(v.Field(i), text, at+"."+v.Type().Field(i).Name)...)
		}
	}
	return paths
}
