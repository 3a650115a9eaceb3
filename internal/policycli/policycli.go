// Package policycli is what the commands below `prloop policy` do: words become columns, rows and changes become lines or JSON.
package policycli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Service keeps policies.
type Service interface {
	PolicyRepo(ctx context.Context, named, dir string) (policy.Repo, error)
	Policy(ctx context.Context, at policy.Repo) (policy.Row, error)
	Policies(ctx context.Context) ([]policy.Row, error)
	PolicyChanges(ctx context.Context, f policy.ChangeFilter) ([]policy.Change, error)
	SavePolicy(ctx context.Context, row policy.Row, operator *config.File) (policy.Row, []policy.Change, error)
	ImportPolicies(ctx context.Context, in []policy.Exported, operator *config.File) ([]policy.Change, error)
}

// Words are what a person gave a command.
type Words struct {
	// Repo is OWNER/REPO; empty for that of the checkout at Dir. All means every repository.
	Repo, Dir string
	All       bool
	// JSON prints for programs.
	JSON bool
	// Version is the version a change is made to; 0 for the one there is.
	Version int64
	// Operator is the operator's file, nil without one.
	Operator *config.File
	// Read reads a file of the person's.
	Read func(name string) ([]byte, error)
}

// repo finds the repository that is meant.
func (w Words) repo(ctx context.Context, s Service) (policy.Repo, error) {
	return s.PolicyRepo(ctx, w.Repo, w.Dir)
}

// Help lists the columns, for the help of a command.
func Help() string {
	var b strings.Builder
	for _, c := range policy.Columns() {
		kind := string(c.Kind)
		if len(c.Words) > 0 {
			kind = strings.Join(c.Words, "|")
		}
		fmt.Fprintf(&b, "  %s (%s)\n      %s\n", c.Name, kind, c.Doc)
	}
	return b.String()
}

// Get prints what is decided about a repository.
func Get(ctx context.Context, s Service, out io.Writer, w Words) error {
	repo, err := w.repo(ctx, s)
	if err != nil {
		return err
	}
	row, err := s.Policy(ctx, repo)
	if err != nil {
		return err
	}
	if w.JSON {
		return encode(out, row)
	}
	printRow(out, row)
	return nil
}

func printRow(out io.Writer, row policy.Row) {
	if len(row.Columns) == 0 {
		fmt.Fprintf(out, "%s: nothing is decided; .reviewerc and the operator's file say how it is reviewed\n", sanitize.Terminal(row.Repo.String()))
		return
	}
	fmt.Fprintf(out, "%s (repository %d), version %d\n", sanitize.Terminal(row.Repo.String()), row.ID, row.Version)
	for _, line := range row.Columns.Lines() {
		fmt.Fprintln(out, "  "+sanitize.Terminal(line))
	}
}

// Set changes columns of a repository's row, all of them or none.
func Set(ctx context.Context, s Service, out io.Writer, w Words, assignments []string) error {
	for i, a := range assignments {
		name, file, ok := strings.Cut(a, "=@")
		if !ok || strings.Contains(name, "=") {
			continue
		}
		text, err := w.Read(file)
		if err != nil {
			return &policy.Error{Faults: []policy.Fault{{Field: name, Message: "cannot be read: " + err.Error()}}}
		}
		assignments[i] = name + "=" + string(text)
	}
	if _, err := policy.Assign(policy.Values{}, assignments); err != nil { // before GitHub is asked
		return err
	}
	repo, err := w.repo(ctx, s)
	if err != nil {
		return err
	}
	row, err := s.Policy(ctx, repo)
	if err != nil {
		return err
	}
	if row.Columns, err = policy.Assign(row.Columns, assignments); err != nil {
		return err
	}
	if w.Version > 0 {
		row.Version = w.Version
	}
	row, changes, err := s.SavePolicy(ctx, row, w.Operator)
	if err != nil {
		return err
	}
	if w.JSON {
		return encode(out, row)
	}
	if len(changes) == 0 {
		fmt.Fprintln(out, "nothing changed")
	}
	printRow(out, row)
	return nil
}

// Export prints the rows of all repositories, or of one, as Import reads them.
func Export(ctx context.Context, s Service, out io.Writer, w Words) error {
	var rows []policy.Row
	if w.Repo == "" {
		all, err := s.Policies(ctx)
		if err != nil {
			return err
		}
		rows = all
	} else {
		repo, err := w.repo(ctx, s)
		if err != nil {
			return err
		}
		row, err := s.Policy(ctx, repo)
		if err != nil {
			return err
		}
		rows = []policy.Row{row}
	}
	data, err := policy.Export(rows)
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

// Import saves what an export says, all of it or nothing.
func Import(ctx context.Context, s Service, out io.Writer, w Words, data []byte) error {
	in, err := policy.Import(data)
	if err != nil {
		return err
	}
	changes, err := s.ImportPolicies(ctx, in, w.Operator)
	if err != nil {
		return err
	}
	if w.JSON {
		return encode(out, listed(changes))
	}
	fmt.Fprintf(out, "repositories: %d, changes: %d\n", len(in), len(changes))
	printChanges(out, changes)
	return nil
}

// mostChanges bounds what Log prints.
const mostChanges = 1000

// Log prints who changed what, newest first.
func Log(ctx context.Context, s Service, out io.Writer, w Words) error {
	f := policy.ChangeFilter{Limit: mostChanges}
	if !w.All {
		at, err := w.repo(ctx, s)
		if err != nil {
			return err
		}
		f.Keys = []review.RepoKey{at.Key()}
	}
	changes, err := s.PolicyChanges(ctx, f)
	if err != nil {
		return err
	}
	if w.JSON {
		return encode(out, listed(changes))
	}
	if len(changes) == 0 {
		fmt.Fprintln(out, "nothing was ever changed")
	}
	printChanges(out, changes)
	return nil
}

// listed makes an empty list of none.
func listed(changes []policy.Change) []policy.Change {
	if changes == nil {
		return []policy.Change{}
	}
	return changes
}

func printChanges(out io.Writer, changes []policy.Change) {
	for _, c := range changes {
		fmt.Fprintln(out, sanitize.Terminal(c.String()))
	}
}

func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
