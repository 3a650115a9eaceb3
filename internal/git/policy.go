package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// Bounds of the changes of a fix, in bytes of their text and in lines. Both are far beyond what the push policy allows, and are
// looked at before the lines are: one without a letter in it takes up fifty bytes of memory.
const (
	changesText  = 8 << 20
	changesLines = 1 << 18
)

// Changes lists what differs between two commits or trees (full object ids) as the push policy wants it. Renames are
// detected. Content over 1 MB is not compared and counts as binary. ErrMalformedTree for names git must not hold.
func (r *Repository) Changes(ctx context.Context, a, b string) ([]pushpolicy.Change, error) {
	if !IsOID(a) || !IsOID(b) {
		return nil, fmt.Errorf("changes from %q to %q: %w", a, b, ErrName)
	}
	raw, _, renames, err := r.listed(ctx, a, b, bigFile)
	if err == nil {
		var all []pushpolicy.Change
		if all, err = r.policyChanges(ctx, a, b, raw, renames); err == nil {
			return all, nil
		}
	}
	return nil, fmt.Errorf("changes from %s to %s: %w", a, b, err)
}

// Edits is Changes without a look for renames, which is what is expensive in a hostile change, in some files or in all: ErrTooLarge where more than most files differ.
// Where a file is gone that is withheld, nobody can tell whether a new one is that: of new ones no lines are given.
func (r *Repository) Edits(ctx context.Context, a, b string, most int, files ...string) ([]pushpolicy.Change, error) {
	if !IsOID(a) || !IsOID(b) {
		return nil, fmt.Errorf("edits from %q to %q: %w", a, b, ErrName)
	}
	raw, err := r.changes(ctx, a, b, "--no-renames", files...)
	if err == nil && len(raw) > most {
		err = fmt.Errorf("%d files: %w", len(raw), ErrTooLarge)
	}
	var all []pushpolicy.Change
	if err == nil {
		all, err = r.policyChanges(ctx, a, b, raw, "--no-renames", files...)
	}
	if err == nil {
		if slices.ContainsFunc(raw, func(c change) bool { return c.status == 'D' && r.hides(c.path) }) {
			for i := range all {
				if all[i].Status == 'A' {
					all[i].Added = nil
				}
			}
		}
		return all, nil
	}
	return nil, fmt.Errorf("edits from %s to %s: %w", a, b, err)
}

// policyChanges reads the lines of changes.
func (r *Repository) policyChanges(ctx context.Context, a, b string, raw []change, renames string, only ...string) ([]pushpolicy.Change, error) {
	text, whole, err := r.patch(ctx, a, b, renames, changesText, only...)
	switch {
	case err != nil:
		return nil, err
	case !whole:
		return nil, fmt.Errorf("more than %d bytes of changes: %w", changesText, ErrTooLarge)
	case strings.Count(text, "\n") > changesLines:
		return nil, fmt.Errorf("more than %d lines of changes: %w", changesLines, ErrTooLarge)
	}
	d, err := diff.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := complete(d, raw, whole); err != nil {
		return nil, err
	}
	for i := range d.Files {
		if f := &d.Files[i]; r.hides(f.Path) || r.hides(f.OldPath) {
			f.Withhold()
		}
	}
	sizes, err := r.sizes(ctx, raw)
	if err != nil {
		return nil, err
	}
	all := make([]pushpolicy.Change, len(raw))
	files := d.Files
	for i, c := range raw {
		n := len(c.files()) // complete has checked that the sections stand in the list's order
		all[i] = c.policy(files[:n], sizes[c.newOID])
		files = files[n:]
	}
	return all, r.contents(ctx, raw, sizes, all)
}

// contents reads what changed files that may hold tests hold now; those over the bound of the text of all changes stay unread.
func (r *Repository) contents(ctx context.Context, raw []change, sizes map[string]int64, all []pushpolicy.Change) error {
	var oids []string
	var of []int
	var total int64
	for i, c := range raw {
		if c.oldMode == 0 || c.newMode&^0o777 != 0o100000 || all[i].Binary || r.hides(c.path) || r.hides(c.old) || !pushpolicy.MayHoldTests(c.path) || total+sizes[c.newOID] > changesText {
			continue
		}
		oids, of, total = append(oids, c.newOID), append(of, i), total+sizes[c.newOID]
	}
	texts, err := r.blobs(ctx, oids, total)
	for i, text := range texts {
		all[of[i]].Content = strings.Split(string(text), "\n")
	}
	return err
}

// policy is one change with its lines.
func (c change) policy(files []diff.File, size int64) pushpolicy.Change {
	p := pushpolicy.Change{Path: c.path, OldPath: c.old, Status: c.status, OldMode: c.oldMode, NewMode: c.newMode, Size: size}
	hunks := 0
	for i := range files {
		f := &files[i]
		hunks += len(f.Hunks)
		p.Binary = p.Binary || f.Binary || f.Omitted != ""
		for l := range f.Added() {
			p.Added = append(p.Added, pushpolicy.Line{N: l.New, Text: l.Text})
		}
		for l := range f.Removed() {
			p.Removed = append(p.Removed, pushpolicy.Line{N: l.Old, Text: l.Text})
		}
	}
	p.Binary = p.Binary && hunks == 0
	return p
}

// sizes are the sizes of the new blobs.
func (r *Repository) sizes(ctx context.Context, changes []change) (map[string]int64, error) {
	var oids []string
	for _, c := range changes {
		if c.newMode != 0 && c.newMode != modeSubmodule {
			oids = append(oids, c.newOID)
		}
	}
	infos, err := r.check(ctx, oids)
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(infos))
	for i, in := range infos {
		if !in.blob {
			return nil, fmt.Errorf("blob %s: %w", oids[i], ErrUnknownRevision)
		}
		sizes[in.oid] = in.size
	}
	return sizes, nil
}

// patchLimit is the default of Patch.
const patchLimit = 1 << 20

// Patch is the text that `git apply` makes the tree of b from the tree of a with: two commits or trees. ErrTooLarge when it
// is over limit bytes (0 means 1 MB): half a patch would apply half. Content that is not text cannot be applied from it.
func (r *Repository) Patch(ctx context.Context, a, b string, limit int) (string, error) {
	if !IsOID(a) || !IsOID(b) {
		return "", fmt.Errorf("patch from %q to %q: %w", a, b, ErrName)
	}
	if limit <= 0 {
		limit = patchLimit
	}
	text, whole, err := r.patch(ctx, a, b, "-M", int64(limit))
	if err == nil && !whole {
		err = fmt.Errorf("more than %d bytes: %w", limit, ErrTooLarge)
	}
	if err == nil && r.withheld != nil {
		text, err = r.without(text)
	}
	if err != nil {
		return "", fmt.Errorf("patch from %s to %s: %w", a, b, err)
	}
	return text, nil
}

// without takes what is withheld out of a patch.
func (r *Repository) without(text string) (string, error) {
	d, err := diff.Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range d.Files {
		f := &d.Files[i]
		if r.hides(f.Path) || r.hides(f.OldPath) {
			f.Withhold()
		}
		b.WriteString(f.Raw)
	}
	return b.String(), nil
}
