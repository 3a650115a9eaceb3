package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/prloop/prloop/review"
)

var fixSystem = sync.OnceValue(func() string {
	s, err := render("fix-system.md", "", nil)
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return s
})

// FixSystem is the fixer's system prompt: how to fix, when not to, and what may not be touched. It never varies.
func FixSystem() string { return fixSystem() }

// Fix renders the fixer's task (spec.md A4), the last part of its prompt after FixSystem and Brief: findings, what became of its
// work before, and how to answer. submit names the tool a builtin fixer ends by; empty is a fixer that edits by means of its
// own and answers in text (spec.md A5).
func Fix(t review.Task, fence, submit string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	if t.Fix == nil {
		return "", errors.New("prompt of the fixer: the task has nothing to fix")
	}
	return render("fix.md", fence, struct {
		Task           review.Task
		Allowed, Extra string
		Tools          bool
		Submit         string
	}{Task: t, Allowed: strings.Join(t.Options.AllowPaths, "\n"), Extra: strings.TrimSpace(t.Prompt), Tools: submit != "", Submit: submit})
}

// FixCheck shows a fixer its own changes before they are taken.
func FixCheck(fence, submit, diff string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("fix-check.md", fence, struct{ Submit, Diff string }{submit, diff})
}

// toFix is a finding with all a fixer has to know of it.
func toFix(f review.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, category %s, at %s\n%s\n", f.Priority, inline(f.Category), inline(cmp.Or(place(f), "no file")), inline(f.Title))
	for _, part := range []struct{ name, text string }{{"", f.Description}, {"suggestion: ", f.Suggestion}} {
		if text := strings.TrimSpace(part.text); text != "" {
			b.WriteString("\n" + part.name + text + "\n")
		}
	}
	if code := copied(f.Evidence); code != "" {
		b.WriteString("\nevidence:\n" + code + "\n")
	}
	if f.Assessment != nil {
		b.WriteString("\n" + assessed(*f.Assessment))
	}
	return b.String()
}

// copied is code as it was quoted, with the indentation of its first line: whoever replaces it has to know that.
func copied(code string) string {
	if strings.TrimSpace(code) == "" {
		return ""
	}
	return strings.TrimRight(strings.TrimLeft(code, "\r\n"), " \t\r\n")
}

// assessed is what the verifier said of a finding, with the code it rests on where that stands in the file.
func assessed(a review.Assessment) string {
	text := fmt.Sprintf("verifier: %s. %s\n", a.Status, strings.TrimSpace(a.Reason))
	if a.Fact != nil {
		where := a.Fact.File
		if a.Fact.Line != nil {
			where = fmt.Sprintf("%s:%d", where, *a.Fact.Line)
		}
		text += fmt.Sprintf("shown by %s:\n%s\n", inline(where), copied(a.Fact.Evidence))
	}
	return text
}

func refusals(list []review.Refusal) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString(r.Rule)
		if r.Path != "" {
			b.WriteString(", " + inline(r.Path))
		}
		if r.Detail != "" {
			b.WriteString(": " + inline(r.Detail))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// logged is what a verify command came to. How long it took stands there only if that is what is wrong: the same failure is told in the same words.
func logged(c review.Check) string {
	what := fmt.Sprintf("exit status %d", c.ExitCode)
	if c.State == review.CheckTimeout {
		what = fmt.Sprintf("did not end within %.0f seconds", c.Seconds)
	}
	return what + "\n" + cmp.Or(strings.TrimSpace(c.Log), "(it printed nothing)")
}

// noticed lists what a fixer saw beside the findings, a line each.
func noticed(list []review.Notice) string {
	var b strings.Builder
	for _, n := range list {
		where := cmp.Or(inline(n.File), "no file")
		if n.Line != nil {
			where = fmt.Sprintf("%s:%d", where, *n.Line)
		}
		b.WriteString(where + ": " + strings.Join(strings.Fields(n.Text), " ") + "\n")
	}
	return b.String()
}

// claim is what was said against a finding, as reviewers see it.
func claim(c review.Claim) string {
	switch {
	case c.Kind == review.ClaimSetAside:
		return "set aside by a rule, because " + c.Text
	case c.Kind == review.ClaimRejected:
		return "rejected, because: " + c.Text
	case c.Commit != "":
		return "said to be fixed in commit " + inline(c.Commit) + ": " + c.Text
	}
	return "said to be fixed: " + c.Text
}
