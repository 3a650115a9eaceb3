package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// visible lists the objects of one commit: its folders, and those of its files that are not withheld.
func (r *Repository) visible(ctx context.Context, commit string) ([]byte, error) {
	list, err := r.git.run(ctx, command{name: "rev-list", at: r.place(), limit: listLimit,
		args: []string{"--objects", "--no-object-names", "--no-walk", "--filter=blob:none", "--end-of-options", commit}})
	if err != nil {
		return nil, err
	}
	entries, err := r.List(ctx, commit, "")
	for _, e := range entries {
		if !r.hides(e.Path) && e.Mode != modeSubmodule {
			list = fmt.Appendln(list, e.OID)
		}
	}
	return list, err
}

// earlier lists the objects of a commit's history that its clone has as well.
func (r *Repository) earlier(ctx context.Context, commit string) ([]byte, error) {
	if r.withheld != nil {
		return nil, nil
	}
	return r.git.run(ctx, command{name: "rev-list", at: r.place(), limit: 4 * listLimit,
		args: []string{"--objects", "--no-object-names", fmt.Sprintf("--max-count=%d", cloneDepth), "--end-of-options", commit}})
}

// held is an object that a fixer's commit needs: a file or folder at a path, or the commit itself.
type held struct{ oid, path, commit string }

// given refuses commits that need an object which neither the bundle brings nor a clone of base has. Objects are named by their ids alone,
// and r has more than the clone: what is withheld, and other pull requests (threats.md T333).
func (q *quarantined) given(ctx context.Context, r *Repository, base string, taken []Taken) error {
	brought, built, err := q.brought(ctx)
	if err != nil {
		return err
	}
	need := built
	for _, c := range taken {
		out, err := q.git.run(ctx, command{name: "diff-tree", at: q.place(), limit: listLimit, args: diffArgs(base, c.Tree, "--raw", "-z", "-t", "--no-renames")})
		if err != nil {
			return err
		}
		changes, err := parseRaw(string(out))
		if errors.Is(err, ErrMalformedTree) {
			return &TakeError{Rule: TakeBadName, Detail: "commit " + c.Commit, Err: err}
		}
		if err != nil {
			return err
		}
		all := []held{{c.Commit, "", c.Commit}, {c.Tree, "", c.Commit}}
		for _, d := range changes {
			if d.newMode != 0 && d.newMode != modeSubmodule {
				all = append(all, held{d.newOID, d.path, c.Commit})
			}
		}
		need = append(need, slices.DeleteFunc(all, func(h held) bool { return brought[h.oid] })...)
	}
	for _, list := range []func(context.Context, string) ([]byte, error){r.visible, r.earlier} {
		if len(need) == 0 {
			return nil
		}
		known, err := list(ctx, base)
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // as in a repository that borrows from a shallow checkout: what is not known is refused
			continue
		}
		had := map[string]bool{}
		for oid := range strings.Lines(string(known)) {
			had[strings.TrimSuffix(oid, "\n")] = true
		}
		need = slices.DeleteFunc(need, func(h held) bool { return had[h.oid] })
	}
	if len(need) == 0 {
		return nil
	}
	detail := "it builds on an object that its clone did not have"
	if need[0].commit != "" {
		detail = "commit " + need[0].commit + " holds an object that it does not bring and that its clone did not have"
	}
	return &TakeError{Rule: TakeForeign, Path: need[0].path, Detail: detail}
}

// brought are the objects that the bundle brings, and those its differences build on. index-pack writes the latter behind the former.
func (q *quarantined) brought(ctx context.Context) (brought map[string]bool, built []held, err error) {
	names, err := filepath.Glob(filepath.Join(q.dir, "objects", "pack", "pack-*.idx"))
	if err != nil {
		return nil, nil, err
	}
	type object struct {
		offset int64
		oid    string
	}
	var all []object
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		out, err := q.git.run(ctx, command{name: "show-index", at: q.place(), from: f, limit: listLimit})
		f.Close()
		if err != nil {
			return nil, nil, err
		}
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			if len(words) < 2 || !IsOID(words[1]) {
				return nil, nil, errAnswerShape
			}
			offset, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil {
				return nil, nil, errAnswerShape
			}
			all = append(all, object{offset, words[1]})
		}
	}
	slices.SortFunc(all, func(a, b object) int { return int(a.offset - b.offset) })
	brought = map[string]bool{}
	for i, o := range all {
		if i < q.count {
			brought[o.oid] = true
		} else {
			built = append(built, held{oid: o.oid})
		}
	}
	return brought, built, nil
}
