package discovery

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// List lists the folders that come first: those that are always listed, those of changed files (the most changed ones first), those
// around them, and the root. changed are paths as bytes.
func List(ctx context.Context, src Source, o Options, changed []string) ([]review.Listing, error) {
	tree, err := src.Files(ctx, o.Commit, "")
	if err != nil {
		return nil, err
	}
	links, err := src.Links(ctx, o.Commit, "")
	if err != nil {
		return nil, err
	}
	linked := map[string]bool{}
	for _, l := range links {
		linked[l] = true
	}
	files, folders := map[string][]string{}, map[string]map[string]bool{}
	for _, name := range tree {
		// A name of which a part has to be masked, or made visible, is one that nobody can ask for.
		_, hidden := sanitize.Visible(name)
		if linked[name] || o.excluded(name) || !utf8.ValidString(name) || len(hidden) > 0 || sanitize.MaskPath(name) != name {
			continue
		}
		dir := parent(name)
		files[dir] = append(files[dir], path.Base(name))
		for at := dir; at != ""; at = parent(at) {
			up := parent(at)
			if folders[up] == nil {
				folders[up] = map[string]bool{}
			}
			folders[up][path.Base(at)] = true
		}
	}
	out := []review.Listing{}
	for _, dir := range o.order(changed) {
		if len(out) == o.Dirs {
			break
		}
		l := review.Listing{Folder: spelling.Name(dir), Files: []string{}}
		if dir == "" {
			l.Folder = ""
		}
		left := o.Entries
		take := func(names []string) (taken []string) {
			slices.Sort(names)
			n := min(left, len(names))
			left, l.More = left-n, l.More+len(names)-n
			for _, name := range names[:n] {
				taken = append(taken, spelling.Name(name))
			}
			return taken
		}
		l.Files = append(l.Files, take(files[dir])...)
		var below []string
		for name := range folders[dir] {
			below = append(below, name)
		}
		l.Folders = take(below)
		if len(l.Files)+len(l.Folders) > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}

// order are the folders to list, each once, the first ones first.
func (o Options) order(changed []string) (all []string) {
	add := func(dir string) {
		if dir = strings.Trim(path.Clean("/"+dir), "/"); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	for _, dir := range o.Always {
		add(dir)
	}
	n := map[string]int{}
	for _, name := range changed {
		n[parent(name)]++
	}
	own := []string{}
	for dir := range n {
		own = append(own, dir)
	}
	slices.SortFunc(own, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for _, dir := range own {
		add(dir)
	}
	add("")
	for _, dir := range own {
		for at := dir; at != ""; at = parent(at) {
			add(parent(at))
		}
	}
	return all
}

// parent is the folder of a path; empty for the root.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." && dir != "/" {
		return dir
	}
	return ""
}
