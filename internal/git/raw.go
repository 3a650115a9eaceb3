package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/diff"
)

// change is one entry of git's raw diff.
type change struct {
	oldMode, newMode uint32
	oldOID, newOID   string
	status           byte // A, C, D, M, R or T
	old              string
	path             string
}

// changes lists what differs between two commits.
func (r *Repository) changes(ctx context.Context, base, head, renames string, only ...string) ([]change, error) {
	text, err := r.lasting(ctx, command{name: "diff-tree", at: r.place(), limit: listLimit, args: append(diffArgs(base, head, "--raw", "-z", renames), inFiles(only)...)})
	if err != nil {
		return nil, err
	}
	return parseRaw(text)
}

// parseRaw reads ":oldmode newmode oldoid newoid status\0path\0[path\0]".
func parseRaw(text string) ([]change, error) {
	var all []change
	for text != "" {
		var meta string
		var c change
		meta, text, _ = strings.Cut(text, "\x00")
		f := strings.Fields(strings.TrimPrefix(meta, ":"))
		if len(f) != 5 || !strings.HasPrefix(meta, ":") || !IsOID(f[2]) || !IsOID(f[3]) {
			return nil, fmt.Errorf("unreadable change: %w", diff.ErrMalformed)
		}
		old, errOld := strconv.ParseUint(f[0], 8, 32)
		head, errNew := strconv.ParseUint(f[1], 8, 32)
		if errOld != nil || errNew != nil {
			return nil, fmt.Errorf("unreadable change: %w", diff.ErrMalformed)
		}
		c.oldMode, c.newMode, c.oldOID, c.newOID, c.status = uint32(old), uint32(head), f[2], f[3], f[4][0]
		c.path, text, _ = strings.Cut(text, "\x00")
		if c.status == 'R' || c.status == 'C' {
			c.old = c.path
			c.path, text, _ = strings.Cut(text, "\x00")
		}
		if err := checkPath(c.path); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// files are the sections the change has in the diff's text: a file that became a link is printed twice.
func (c change) files() []diff.File {
	f := diff.File{Path: c.path, OldPath: c.old, OldMode: c.oldMode, NewMode: c.newMode}
	switch c.status {
	case 'A':
		f.Change = diff.Added
	case 'D':
		f.Change = diff.Deleted
	case 'R':
		f.Change = diff.Renamed
	case 'C':
		f.Change = diff.Copied
	case 'T':
		return []diff.File{{Path: c.path, Change: diff.Deleted, OldMode: c.oldMode}, {Path: c.path, Change: diff.Added, NewMode: c.newMode}}
	default:
		f.Change = diff.Modified
	}
	return []diff.File{f}
}

// largeBlobs finds the blobs of the changes that are over the cap, by size alone: nothing is unpacked for it.
func (r *Repository) largeBlobs(ctx context.Context, changes []change, limit int64) (map[string]bool, error) {
	var oids []string
	for _, c := range changes {
		for _, side := range []struct {
			mode uint32
			oid  string
		}{{c.oldMode, c.oldOID}, {c.newMode, c.newOID}} {
			if side.mode != 0 && side.mode != modeSubmodule {
				oids = append(oids, side.oid)
			}
		}
	}
	infos, err := r.check(ctx, oids)
	if err != nil {
		return nil, err
	}
	large := map[string]bool{}
	for i, in := range infos {
		if in.oid == "" {
			return nil, fmt.Errorf("blob %s: %w", oids[i], ErrUnknownRevision)
		}
		if in.size >= limit {
			large[in.oid] = true
		}
	}
	return large, nil
}
