package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/static"
	"github.com/prloop/prloop/review"
)

// ruleSecret is the rule against work that brings a secret into the code.
const ruleSecret = "new-secret"

// valued refuses work, of a fixer or of a scheduled agent, for the values that it writes.
func (l *Loop) valued(ctx context.Context, from, tip string, commits []review.FixCommit) ([]review.Refusal, error) {
	if tip == "" {
		return nil, nil
	}
	refused, err := l.overwritten(ctx, from, tip)
	if err != nil {
		return nil, err
	}
	secrets, err := l.disclosed(ctx, from, tip, commits)
	return append(refused, secrets...), err
}

// disclosed refuses work with an added line in which the static reviewer finds a secret: the next round would raise it about prloop's own commit, and a branch keeps what
// was pushed once (threats.md T878). A value that a changed file had before is none of the work's: lines move, and are written anew around it.
func (l *Loop) disclosed(ctx context.Context, from, tip string, commits []review.FixCommit) (refused []review.Refusal, err error) {
	var all []diff.File
	for _, c := range changes(from, tip, commits) {
		d, err := l.History.Diff(ctx, c[0], c[1])
		if err != nil {
			return nil, err
		}
		all = append(all, d.Files...)
	}
	var had []string
	told := map[string]bool{}
	for i := range all {
		raw := spelling.Text(all[i].Raw)
		found := static.Secrets(all[i].Path, raw)
		if len(found) == 0 || told[all[i].Path] {
			continue
		}
		if had == nil {
			if had, err = l.before(ctx, from, all); err != nil {
				return nil, err
			}
		}
		added, _ := diff.ChangedLines(raw)
		var lines []string
		for _, n := range slices.Sorted(maps.Keys(found)) {
			for _, at := range found[n] {
				if text, ok := added[n]; ok && !slices.ContainsFunc(had, func(s string) bool { return strings.Contains(s, text[at.Start:at.End]) }) {
					lines = append(lines, strconv.Itoa(n))
					break
				}
			}
		}
		if len(lines) > 0 {
			told[all[i].Path] = true
			refused = append(refused, review.Refusal{Rule: ruleSecret, Path: spelling.Name(all[i].Path), Detail: "line " + strings.Join(lines, ", ") +
				": the value looks like a secret, and the branch would keep it: leave it out, read it from the environment, or write a placeholder"})
		}
	}
	return refused, nil
}

// before are the texts at a commit of the files that differ from it.
func (l *Loop) before(ctx context.Context, commit string, files []diff.File) ([]string, error) {
	texts := make([]string, 0, len(files))
	for i := range files {
		data, err := l.History.ReadFile(ctx, commit, cmp.Or(files[i].OldPath, files[i].Path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		texts = append(texts, spelling.Text(string(data)))
	}
	return texts, nil
}
