package app

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/folders"
)

// takeFolders copies the folders beside the tree that the operator names, before anybody is asked.
func (r *run) takeFolders(ctx context.Context, scratch string) error {
	r.folders = nil
	for _, name := range r.settings.Folders {
		f, err := folders.Take(ctx, r.opts.Machine.Workspace, name, filepath.Join(scratch, "beside", name))
		if err != nil {
			return err
		}
		r.folders = append(r.folders, f)
	}
	return nil
}

// foldersInWords tells folders from others.
func foldersInWords(all []folders.Folder) string {
	var words []string
	for _, f := range all {
		words = append(words, f.String())
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, "; ")
}
