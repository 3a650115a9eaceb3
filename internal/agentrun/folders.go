package agentrun

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/review"
)

// mount lends a command the folders beside the tree, and says what they hold. A name that the base or the head has too is refused, and
// the command with it: whoever writes the change could otherwise write the rules it is held to (threats.md T138).
func (c *Launcher) mount(ctx context.Context, task *review.Task) (notes []string, err error) {
	if len(c.Folders) == 0 {
		return nil, nil
	}
	at := map[string]string{}
	for _, tree := range []struct{ what, commit string }{{"the base", task.BaseSHA}, {"the head", task.HeadSHA}} {
		if tree.commit == "" {
			continue
		}
		files, err := c.Repo.Files(ctx, tree.commit, "")
		if err != nil {
			return nil, fmt.Errorf("look for folders beside %s: %w", tree.what, err)
		}
		for _, f := range c.Folders {
			if err := folders.Unclaimed(f.Name, files, tree.what); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range c.Folders {
		at[f.Name] = f.Dir
		notes = append(notes, "could read the folder "+f.String())
	}
	task.Workspace.Folders = at
	return notes, nil
}
