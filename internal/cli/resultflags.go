package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/browser"
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/review"
)

// resultFlags are those of commands that end with the result of one run: its JSON, whole or chosen fields, as gh has it, and its
// page.
type resultFlags struct {
	listFlags
	web bool
}

const wholeResult = "all" // what --json without fields stands for

func (r *resultFlags) add(c *cobra.Command) {
	fields := progress.ResultFields()
	r.listFlags.add(c, fields)
	json := c.Flags().Lookup("json")
	json.NoOptDefVal, json.Usage = wholeResult, "print the result as JSON, or these `FIELDS` of it"
	c.Flags().BoolVar(&r.web, "web", false, "open the report in a browser")
}

func (r *resultFlags) wants() bool { return len(r.fields) > 0 }
func (r *resultFlags) whole() bool { return slices.Equal(r.fields, []string{wholeResult}) }

// check refuses fields that do not exist, and formats without JSON.
func (r *resultFlags) check() error {
	if r.whole() {
		return progress.CheckFormat(r.jq, r.templated)
	}
	return r.listFlags.check(progress.ResultFields())
}

// noField refuses a word that is no field of a result.
func noField(format string, args ...any) error {
	return advice.Misuse("one of: "+strings.Join(progress.ResultFields(), ", "), format, args...)
}

// print writes a result as the flags say.
func (r *resultFlags) print(p *Invocation, result review.RunResult) error {
	fields := r.fields
	if r.whole() {
		fields = nil
	}
	return progress.Result(p.Stdout, result, fields, r.jq, r.templated, p.width(), p.color())
}

// browse opens the report of a run in a browser, which outlives this process.
func (p *Invocation) browse(result review.RunResult) error {
	page := result.URL
	if n := len(result.Comments); n > 0 {
		page = result.Comments[n-1]
	}
	if !strings.HasPrefix(page, "https://") {
		return advice.Misuse("prloop show "+result.Run, "run %s has no page on GitHub", result.Run)
	}
	if err := browser.New(cmp.Or(p.env("GH_BROWSER"), p.env("BROWSER")), io.Discard, p.Stderr).Browse(page); err != nil {
		return advice.Error{Err: fmt.Errorf("open %s: %w", page, err), Next: "open it yourself, or set BROWSER", Status: advice.Failed}
	}
	return nil
}
