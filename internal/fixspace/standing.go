package fixspace

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// standing is what the trees that no fixer has changed say about what may be changed in them.
type standing struct {
	included  pushpolicy.Included
	makefiles pushpolicy.Makefiles
	// files are those of the first commit.
	files []string
}

// Sensitive is what a fixer might not have made of the change from base to head, where no operator opens anything. tip is that of the base branch: what only the head has to say of
// protection, the change adds to files that are protected.
func Sensitive(ctx context.Context, repo *git.Repository, guidance []string, base, head, tip string) ([]review.Refusal, error) {
	whole := repo.Whole()
	changes, err := whole.Edits(ctx, base, head, mostEdits)
	if err != nil {
		return nil, err
	}
	paths, err := whole.Files(ctx, head, "")
	if err != nil {
		return nil, err
	}
	s, err := standingIn(ctx, repo, guidance, base, tip)
	if err != nil {
		return nil, err
	}
	return append(pushpolicy.Check(changes, pushpolicy.Limits{}, nil, paths), s.check(changes, nil)...), nil
}

// standingIn reads commits: the merge base, the head that was reviewed, and the tip of the base branch. An empty one is none. guidance are the names and globs of context.guidance.
func standingIn(ctx context.Context, repo *git.Repository, guidance []string, commits ...string) (*standing, error) {
	s, whole := &standing{files: []string{}}, repo.Whole()
	s.included.Instructions.Guidance = guidance
	for i, commit := range commits {
		if commit == "" || slices.Contains(commits[:i], commit) {
			continue
		}
		entries, err := whole.List(ctx, commit, "")
		if err != nil {
			return nil, err
		}
		links, err := linksOf(ctx, whole, commit, entries)
		if err != nil {
			return nil, err
		}
		s.included.Links.Add(links)
		sizes := make(map[string]int64, len(entries))
		for _, e := range entries {
			sizes[e.Path] = e.Size
			if i == 0 {
				s.files = append(s.files, e.Path)
			}
		}
		reading := func(most int) func([]string) (map[string][]byte, error) {
			return func(names []string) (map[string][]byte, error) { return whole.ReadFiles(ctx, commit, names, most) }
		}
		if err := s.included.Add(sizes, reading(pushpolicy.IncludedBytes)); err != nil {
			return nil, err
		}
		if err := s.included.Instructions.Add(&s.included.Links, sizes, reading(pushpolicy.InstructionBytes)); err != nil {
			return nil, err
		}
		if err := s.makefiles.Add(sizes, reading(pushpolicy.MakefileBytes)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// check refuses what changes what the trees protect; allow are doublestar globs the operator opens.
func (s *standing) check(changes []pushpolicy.Change, allow []string) []review.Refusal {
	return append(s.included.Check(changes, allow), s.makefiles.Check(changes, allow)...)
}

// linksOf are the symbolic links among the entries of a commit, with their targets.
func linksOf(ctx context.Context, repo *git.Repository, commit string, entries []git.Entry) (map[string]string, error) {
	var names []string
	for _, e := range entries {
		if e.IsLink() {
			names = append(names, e.Path)
		}
	}
	texts, err := repo.ReadFiles(ctx, commit, names, pushpolicy.MostLinkBytes)
	if err != nil {
		return nil, err
	}
	targets := make(map[string]string, len(texts))
	for name, text := range texts {
		targets[name] = string(text)
	}
	return targets, nil
}
