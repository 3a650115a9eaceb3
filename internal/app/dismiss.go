package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// Dismissing is what somebody wants dismissed of a finished run, in the checkout at Dir.
type Dismissing struct {
	// Run is an id, a part of one, or Latest.
	Run string
	// ID is the identity of a finding or the beginning of one; empty dismisses all findings that are not grave.
	ID            string
	Reason, Until string
	Dir           string
	// Env reads an environment variable, for who dismisses.
	Env func(string) string
}

// Said is what was written.
type Said struct {
	// Path is the file as the person would type it, Lines the new lines of it.
	Path  string
	Lines []dismissals.Dismissal
	// Grave are findings that count on until somebody else has merged their line; Left those for which no line was written, because
	// they are grave and all were to be dismissed at once. Known is how many were dismissed before.
	Grave, Left []distinct.Finding
	Known       int
}

// Errors of Dismiss.
var (
	// ErrNoResult: the run has not ended.
	ErrNoResult = errors.New("the run has no findings yet")
	// ErrNoReason: a dismissal says why.
	ErrNoReason = errors.New("a dismissal needs a reason")
)

// NoFindingError: no finding of the run has the identity, or several begin so.
type NoFindingError struct {
	Run, ID string
	Several int
}

func (e *NoFindingError) Error() string {
	if e.Several > 0 {
		return fmt.Sprintf("%d findings of run %s begin with %q", e.Several, e.Run, e.ID)
	}
	return fmt.Sprintf("no finding of run %s has the identity %q", e.Run, e.ID)
}

// ElsewhereError: the run is about another repository than the checkout.
type ElsewhereError struct{ Run, Of string }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("run %s is about %s, and not about this checkout", e.Run, e.Of)
}

// Dismiss writes lines into the file of dismissals of the checkout's working tree. It commits nothing.
func (s *Service) Dismiss(ctx context.Context, o Dismissing) (out Said, err error) {
	today := wallclock.Now().UTC().Format(time.DateOnly)
	if strings.TrimSpace(o.Reason) == "" {
		return out, ErrNoReason
	}
	if o.Until != "" {
		day, what := dismissals.Day(o.Until)
		if what == "" && day < today {
			what = fmt.Sprintf("%s is in the past", day)
		}
		if what != "" {
			return out, &dismissals.LineError{What: what}
		}
	}
	run, err := s.Find(ctx, o.Run)
	if err != nil {
		return out, err
	}
	if run.Result == nil {
		return out, fmt.Errorf("run %s: %w", run.ID, ErrNoResult)
	}
	g, err := s.findGit(ctx)
	if err != nil {
		return out, err
	}
	checkout, err := g.Checkout(o.Dir)
	if err != nil {
		return out, err
	}
	if err := s.about(ctx, run, checkout); err != nil {
		return out, err
	}
	found := distinct.Of(*run.Result)
	if o.ID != "" {
		if found, err = named(found, run.ID, o.ID); err != nil {
			return out, err
		}
	}
	by, err := checkout.Author(ctx, o.Env)
	if err != nil {
		return out, err
	}
	out.Path = filepath.Join(checkout.Top, dismissals.Name)
	if rel, err := filepath.Rel(o.Dir, out.Path); err == nil {
		out.Path = rel
	}
	text, err := readPlain(checkout.Top)
	if err != nil {
		return out, err
	}
	var already *dismissals.AlreadyError
	for _, f := range found {
		of := dismissals.Case{Wordings: f.Wordings}
		grave, said := of.Grave(), of.Said()
		several := slices.ContainsFunc(f.Wordings, review.Finding.Several)
		switch {
		case o.ID == "" && grave:
			out.Left = append(out.Left, f)
			continue
		case said && o.ID == "":
			continue
		case several && o.ID == "":
			continue
		case several:
			return out, &dismissals.LineError{What: "it stands for several small findings, and a line silences one: resolve its thread, or dismiss each with a comment at its line"}
		case said:
			return out, &dismissals.LineError{What: "a person raised it, and a dismissal silences no person: resolve the conversation"}
		case grave:
			out.Grave = append(out.Grave, f)
		}
		worst := review.Priority("")
		for _, w := range f.Wordings {
			if w.Priority.Severe() && (worst == "" || w.Priority.Rank() < worst.Rank()) {
				worst = w.Priority
			}
		}
		for _, m := range marks(f) {
			d := dismissals.Dismissal{Mark: &m, Priority: worst, By: by, Why: o.Reason, Until: o.Until, File: dismissals.Name}
			next, line, err := dismissals.Add(text, d, today)
			if errors.As(err, &already) {
				out.Known++
				continue
			}
			if err != nil {
				return out, err
			}
			d.Line = line
			text, out.Lines = next, append(out.Lines, d)
		}
	}
	switch {
	case len(out.Lines) > 0:
	case o.ID != "" && already != nil:
		return out, already
	default:
		return out, nil
	}
	return out, writePlain(checkout.Top, text)
}

// marks are what lines keep of a distinct finding: of its first wording, and of those that this one would not be known by.
func marks(f distinct.Finding) []identity.Mark {
	var out []identity.Mark
	of := dismissals.Case{Wordings: f.Wordings}
	for i, w := range f.Wordings {
		m := of.MarkOf(w, f.ID)
		if (i > 0 || dismissals.Case{Wordings: f.Wordings[:1]}.Grave()) && !m.Value { // what is grave is known by its own alone (threats.md T910)
			m.ID = identity.ID(f.Wordings[i : i+1])
		}
		known := slices.ContainsFunc(out, func(have identity.Mark) bool {
			return have.ID == m.ID && !m.Value || (!identity.Security(w.Category) || identity.Security(have.Category)) && of.Takes(have, w)
		})
		if !known {
			out = append(out, m)
		}
	}
	return out
}

// named are the findings whose identity begins so: one, or several that share it, as the same code at two places does.
func named(all []distinct.Finding, run, id string) ([]distinct.Finding, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(f distinct.Finding) bool { return !strings.HasPrefix(f.ID, strings.ToLower(id)) })
	switch ids := len(all); {
	case ids == 0:
		return nil, &NoFindingError{Run: run, ID: id}
	case slices.ContainsFunc(all, func(f distinct.Finding) bool { return f.ID != all[0].ID }):
		return nil, &NoFindingError{Run: run, ID: id, Several: ids}
	}
	return all, nil
}

// Elsewhere says of a run that it is about another repository than the checkout at dir, if there is one; nil where it is not, or nobody knows.
func (s *Service) Elsewhere(ctx context.Context, run store.Run, dir string) (other *ElsewhereError) {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return nil
	}
	if c, err := g.Checkout(dir); err == nil {
		errors.As(s.about(ctx, run, c), &other)
	}
	return other
}

// about refuses a run that is not about the repository of a checkout.
func (s *Service) about(ctx context.Context, run store.Run, c *git.Checkout) error {
	if run.Target.Local() {
		data, err := s.folder.Load(run.ID, requestName)
		var st stored
		if err != nil || json.Unmarshal(data, &st) != nil || st.Request.Checkout == c.Top {
			return nil //nolint:nilerr // without its files nobody knows
		}
		return &ElsewhereError{run.ID, st.Request.Checkout}
	}
	remotes, err := c.Remotes(ctx)
	if err != nil {
		return err
	}
	for _, r := range remotes {
		if of, ok := github.RepoOfURL(r.URL); ok && strings.EqualFold(of.String(), run.Target.Repo.String()) {
			return nil
		}
	}
	return &ElsewhereError{run.ID, run.Target.Repo.String()}
}

// readPlain reads the file of dismissals at the root of a working tree; nothing when there is none. A link is refused: its target may
// stand anywhere on this machine.
func readPlain(top string) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(dismissals.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &dismissals.LineError{What: dismissals.Name + " is no plain file"}
	case info.Size() > dismissals.MaxBytes:
		return nil, &dismissals.LineError{What: fmt.Sprintf("%s has more than %d bytes", dismissals.Name, dismissals.MaxBytes)}
	}
	return root.ReadFile(dismissals.Name)
}

// writePlain replaces the file.
func writePlain(top string, text []byte) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	draft := dismissals.Name + ".new"
	if err := root.WriteFile(draft, text, 0o644); err != nil {
		return err
	}
	return root.Rename(draft, dismissals.Name)
}
