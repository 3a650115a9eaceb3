package repocontext

import (
	"context"
	"slices"
)

// Attributes that let a file go unread, as linguist names them.
const (
	attributeGenerated = "linguist-generated"
	attributeVendored  = "linguist-vendored"
)

// attributes are what the .gitattributes files of a commit say of paths: values by path and name.
type attributes map[string]map[string]string

// readAttributes asks what a commit says of paths. The pull request's own version alone would let it hide files.
func readAttributes(ctx context.Context, src Source, o *Options, commit string, paths []string) (attributes, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	return src.Attributes(ctx, commit, o.unread, paths, append([]string{attributeGenerated, attributeVendored}, converting...))
}

// unread reports whether a file is read by nothing.
func (o *Options) unread(name string) bool { return matches(o.Exclude, name) }

// reason is why the attributes leave a path out; empty for none. set is false when nothing says whether it is generated.
func (a attributes) reason(p string) (reason string, set bool) {
	_, set = a[p][attributeGenerated]
	switch {
	case neverSkipped(p):
		return "", set
	case a.on(p, attributeGenerated):
		return OmittedGenerated, set
	case a.on(p, attributeVendored):
		return OmittedVendored, set
	}
	return "", set
}

// named is the reason a path's name gives to leave it out, unless the attributes say that it is not so.
func (a attributes) named(p string) string {
	why := named(p)
	if why == OmittedVendored && a.off(p, attributeVendored) || why == OmittedGenerated && a.off(p, attributeGenerated) {
		return ""
	}
	return why
}

func (a attributes) on(p, name string) bool { return a[p][name] != "" && !a.off(p, name) }

func (a attributes) off(p, name string) bool { return a[p][name] == "unset" || a[p][name] == "false" }
