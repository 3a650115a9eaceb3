package prompts

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/prloop/prloop/review"
)

//go:embed templates
var files embed.FS

// Sums are the SHA-256 of the templates by their names.
func Sums() map[string]string {
	out := map[string]string{}
	entries, err := files.ReadDir("templates")
	for _, e := range entries {
		var text []byte
		if text, err = files.ReadFile("templates/" + e.Name()); err != nil {
			break
		}
		sum := sha256.Sum256(text)
		out[e.Name()] = hex.EncodeToString(sum[:])
	}
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return out
}

// render fills a template; word is the fence of its untrusted parts.
func render(name, word string, data any) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"levels":  review.Levels,
		"inline":  inline,
		"block_":  func(name, text string) string { return fenced(word, name, text) },
		"file":    func(f review.BriefFile) string { return file(word, f) },
		"related": func(f review.RelatedFile) string { return related(word, f) },
		"folder":  folder, "listing": listing, "fragment": fragment,
		"thread":  func(t review.Thread) string { return thread(word, t) },
		"earlier": earlier, "rewritten": rewritten,
		"suspect": suspect, "said": said,
		"place":   place,
		"at":      comparedPlace,
		"leftOut": leftOut,
		"claim":   claim, "noticed": noticed, "lines": func(list []string) string { return strings.Join(list, "\n") }, "fix": toFix, "refusals": refusals, "logged": logged,
	}).ParseFS(files, "templates/"+name)
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	return b.String(), nil
}

var system = sync.OnceValue(func() string {
	s, err := render("system.md", "", nil)
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	return s
})

// System is the reviewer's system prompt: philosophy, rubric, evidence, form of the answer. It never varies.
func System() string { return system() }

// Brief renders what is under review: identical for all reviewers that are given the same task and fence. The agent's
// name, its limits and settings do not enter into it.
func Brief(t review.Task, fence string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	data := struct {
		Task    review.Task
		Fence   string
		Omitted []review.BriefFile
		Threads []review.Thread
	}{Task: t, Fence: fence}
	data.Task.Brief.Status = cmp.Or(t.Brief.Status, "ok")
	for _, f := range t.Brief.Files {
		if f.Omitted != "" {
			data.Omitted = append(data.Omitted, f)
		}
	}
	if t.Discussion != nil {
		for _, th := range t.Discussion.Threads {
			if th = withoutEarlier(th, t.Earlier); !th.Resolved && len(th.Comments) > 0 {
				data.Threads = append(data.Threads, th)
			}
		}
	}
	return render("brief.md", fence, data)
}

// withoutEarlier leaves of a thread of prloop's own what people answered in it, where the finding it was opened for stands among the
// earlier ones: nothing is shown twice.
func withoutEarlier(t review.Thread, earlier []review.Finding) review.Thread {
	if !t.Own || len(t.Comments) == 0 {
		return t
	}
	head, _, _ := strings.Cut(t.Comments[0].Body, "\n\n")
	head = inline(head)
	for _, f := range earlier {
		if f.Title == "" || f.File != t.File || !strings.HasSuffix(head, ": "+inline(f.Title)) {
			continue
		}
		answers := t.Comments[1:]
		if t.Comments = nil; len(answers) > 0 {
			t.Comments = append([]review.Comment{{Author: review.Person{Login: "prloop"}, Body: "(finding " + inline(f.ID) + ", below)"}}, answers...)
		}
		return t
	}
	return t
}

func thread(word string, t review.Thread) string {
	where := "about " + cmp.Or(t.File, "the pull request")
	if t.Own {
		where = "of prloop " + where
	}
	if t.Line != nil {
		where += fmt.Sprintf(" line %d", *t.Line)
	}
	if t.Outdated {
		where += " (outdated)"
	}
	var b strings.Builder
	for _, c := range t.Comments {
		fmt.Fprintf(&b, "%s: %s\n", inline(c.Author.Login), c.Body)
	}
	return fenced(word, "conversation "+where, b.String())
}

func leftOut(files []review.BriefFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s (%s, +%d -%d): %s\n", inline(f.Path), f.Change, f.Additions, f.Deletions, inline(f.Omitted))
	}
	return b.String()
}

func place(f review.Finding) string {
	if f.Line == nil {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, *f.Line)
}

// earlierText bounds the description of an earlier finding, and its evidence, in bytes.
const earlierText = 1500

// earlier is a finding of an earlier round, with what it rested on then: a title alone does not say what to look for.
func earlier(f review.Finding) string {
	score := cmp.Or(f.OriginalScore, f.Score)
	text := fmt.Sprintf("%s, category %s, at %s\ntitle: %s\n", f.Priority, inline(f.Category), inline(cmp.Or(place(f), "no file")), inline(f.Title))
	if score > 0 {
		text = fmt.Sprintf("score %d, %s", score, text)
	}
	if said := strings.TrimSpace(f.Description); said != "" {
		text += shortened(said) + "\n"
	}
	if code := copied(f.Evidence); code != "" {
		text += "evidence then:\n" + shortened(code) + "\n"
	}
	return text
}

// shortened cuts a text at a character.
func shortened(text string) string {
	if len(text) <= earlierText {
		return text
	}
	return strings.ToValidUTF8(text[:earlierText], "") + "…"
}

// rewritten lists ranges of lines by file.
func rewritten(list []review.Rewritten) string {
	var b strings.Builder
	file := ""
	for i, r := range list {
		switch {
		case i == 0 || r.File != file:
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(inline(r.File) + ": ")
		default:
			b.WriteString(", ")
		}
		file = r.File
		fmt.Fprintf(&b, "%d", r.From)
		if r.To > r.From {
			fmt.Fprintf(&b, "-%d", r.To)
		}
	}
	return b.String()
}

// DefaultLens is the lens of a reviewer that names none.
const DefaultLens = "general"

var lenses = sync.OnceValue(func() map[string]string {
	data, err := files.ReadFile("templates/lenses.md")
	if err != nil {
		panic("templates are part of the program: " + err.Error())
	}
	m := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(data), "\n## ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && strings.TrimSpace(name) != "" {
			m[name] = strings.TrimSpace(text) + "\n"
		}
	}
	return m
})

// Lenses are the names Tail knows, sorted.
func Lenses() []string {
	var names []string
	for n := range lenses() {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Part is what differs between reviewers.
type Part struct {
	Agent string
	// Lens is one of Lenses; empty is DefaultLens.
	Lens string
	// Findings is the most that are wanted, Threshold the lowest score worth reporting.
	Findings, Threshold int
	// Elevation is how many low findings of one category are wanted all the same; 0 is none.
	Elevation int
	// Passes is how many passes the review has; 0 asks for the answer at once.
	Passes int
	// ToolCalls is how many calls of tools the passes have together; 0 says nothing of it.
	ToolCalls int
	// Extra are instructions of the repository from the base commit.
	Extra string
	// Earlier is how many findings of earlier rounds the reviewer is shown.
	Earlier int
}

// Tail renders a reviewer's own part, the last of its prompt.
func Tail(p Part) (string, error) {
	name := cmp.Or(p.Lens, DefaultLens)
	text, ok := lenses()[name]
	if !ok {
		return "", fmt.Errorf("lens %q: there are %s", name, strings.Join(Lenses(), ", "))
	}
	p.Agent, p.Lens, p.Extra = inline(p.Agent), text, strings.TrimSpace(p.Extra)
	return render("tail.md", "", struct {
		Part
		Special bool
	}{p, name != DefaultLens})
}

// Repair quotes why an answer was refused; reason may repeat words of that answer.
func Repair(fence, reason string) (string, error) {
	if !fenceShape.MatchString(fence) {
		return "", ErrFence
	}
	return render("repair.md", fence, struct{ Reason string }{reason})
}
