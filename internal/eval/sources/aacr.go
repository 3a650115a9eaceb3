package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/review"
)

// aacrPull is one pull request of AACR-Bench. Its source_commit is the base and its target_commit the head: that way round
// the places lie in changed code.
type aacrPull struct {
	Changed  int           `json:"change_line_count"`
	Language string        `json:"project_main_language"`
	Base     string        `json:"source_commit"`
	Head     string        `json:"target_commit"`
	URL      string        `json:"githubPrUrl"`
	Comments []aacrComment `json:"comments"`
}

type aacrComment struct {
	ByAI     bool   `json:"is_ai_comment"`
	Note     string `json:"note"`
	Path     string `json:"path"`
	Side     string `json:"side"`
	Model    string `json:"source_model"`
	From     int    `json:"from_line"`
	To       int    `json:"to_line"`
	Category string `json:"category"`
	Context  string `json:"context"`
}

// aacrCategories maps the four categories onto those of spec.md R1.
var aacrCategories = map[string][]string{
	"Code Defect":                     {review.CategoryBug, review.CategoryLogic, review.CategoryErrorHandling},
	"Maintainability and Readability": {review.CategoryStyle, review.CategoryErrorHandling, review.CategoryLogic},
	"Performance":                     {review.CategoryPerformance},
	"Security Vulnerability":          {review.CategorySecurity},
}

// AACRBench makes cases of AACR-Bench: positive.json.gz, and negative.json.gz where it is there. The cases have places and no
// code; places of the base cannot be followed to the head without it.
func AACRBench(dir, out string) (Imported, error) {
	i := Imported{Cases: filepath.Join(out, "cases")}
	var right, wrong []aacrPull
	if err := readPacked(filepath.Join(dir, "positive.json.gz"), &right); err != nil {
		return i, err
	}
	if err := readPacked(filepath.Join(dir, "negative.json.gz"), &wrong); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return i, err
	}
	negatives := map[string][]aacrComment{}
	for _, p := range wrong {
		negatives[p.URL] = append(negatives[p.URL], p.Comments...)
	}
	for _, p := range right {
		c, err := identify(p.URL)
		if err != nil {
			return i, err
		}
		c.Language, c.BaseSHA, c.HeadSHA, c.Changed = strings.ToLower(p.Language), p.Base, p.Head, p.Changed
		c.Source, c.AnnotationLicence = "AACR-Bench (alibaba/aacr-bench)", "Apache-2.0"
		if c.Golden, err = i.comments(c.ID, "G", p.Comments); err != nil {
			return i, err
		}
		if c.Negatives, err = i.comments(c.ID, "N", negatives[p.URL]); err != nil {
			return i, err
		}
		delete(negatives, p.URL)
		if err := i.add(c, nil, nil); err != nil {
			return i, err
		}
	}
	for _, p := range wrong {
		if len(negatives[p.URL]) > 0 {
			i.note("%s: left out, for it has only wrong comments", p.URL)
		}
	}
	return i.done()
}

func (i *Imported) comments(id, prefix string, list []aacrComment) ([]cases.Expected, error) {
	var out []cases.Expected
	for k, c := range list {
		e := cases.Expected{ID: fmt.Sprint(prefix, k+1), Text: strings.TrimSpace(c.Note), Original: c.Category, Categories: aacrCategories[c.Category], Context: c.Context, AnchorOrigin: "published", Origin: "human"}
		if c.ByAI {
			e.Origin, e.OriginModel = "ai+expert", c.Model
		}
		if e.Categories == nil {
			return nil, fmt.Errorf("%s: %s has the unknown category %q", id, e.ID, c.Category)
		}
		if c.To < c.From {
			i.note("%s: the lines of %s were published as %d to %d", id, e.ID, c.From, c.To)
			c.From, c.To = c.To, c.From
		}
		if c.Side == cases.Left {
			i.note("%s: the place of %s is one of the base", id, e.ID)
		}
		e.Anchors = []cases.Anchor{{File: c.Path, Start: c.From, End: c.To, Side: c.Side}}
		out = append(out, e)
	}
	return out, nil
}
