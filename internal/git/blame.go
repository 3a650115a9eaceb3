package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Brought gives for each line of a file at a commit the commit of its first-parent history that brought it there: for a branch
// that is merged into, the merge. A line has "" where that is not certain: it stood in a file of another name before, or
// the history that is here ends with it.
func (r *Repository) Brought(ctx context.Context, commit, path string) ([]string, error) {
	if !IsOID(commit) {
		return nil, fmt.Errorf("history of %q at %q: %w", path, commit, ErrName)
	}
	if err := checkPath(path); err != nil {
		return nil, fmt.Errorf("history of %q at %s: %w", path, commit, err)
	}
	out, err := r.git.run(ctx, command{name: "blame", at: r.place(), limit: listLimit,
		args: []string{"--first-parent", "--line-porcelain", "--no-progress", "--no-textconv", commit, "--", path}})
	if err != nil {
		return nil, fmt.Errorf("history of %q at %s: %w", path, commit, err)
	}
	var lines []string
	var id string
	certain := true
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, max(len(out), bufio.MaxScanTokenSize))
	for scan.Scan() {
		text := scan.Text()
		switch key, rest, _ := strings.Cut(text, " "); {
		case strings.HasPrefix(text, "\t"): // the line itself ends what is said of it
			if !certain {
				id = ""
			}
			lines, certain = append(lines, id), true
		case IsOID(key):
			id = key
		case key == "boundary":
			certain = false
		case key == "filename" && rest != path:
			certain = false
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("history of %q at %s: %w", path, commit, err)
	}
	return lines, nil
}
