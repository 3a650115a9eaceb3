package git

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// Bounds of a bundle.
const (
	bundleBytes   = 64 << 20
	bundleHeader  = 64 << 10
	bundleObjects = 20_000
	bundleCommits = 100
	// bundleObject bounds what one object may unpack to in memory (git's GIT_ALLOC_LIMIT); larger blobs are streamed.
	bundleObject = 256 << 20
)

// TakeBundle takes a fixer's commits out of a bundle (decision 6), oldest first; none when the bundle's tip is base itself.
// The bundle is data: a regular file of at most 64 MB with one ref, whatever its name, whose commits descend linearly from
// base and hold nothing but what it brings and what a clone of base has (Clone). Its objects are unpacked and checked in a quarantine, a bare
// repository of their own, and only when everything holds do they join ours; no ref of ours changes. *TakeError names the rule that is broken.
func (r *Repository) TakeBundle(ctx context.Context, file, base string) ([]Taken, error) {
	if !IsOID(base) {
		return nil, fmt.Errorf("take bundle onto %q: %w", base, ErrName)
	}
	taken, err := r.takeBundle(ctx, file, base)
	if err != nil {
		return nil, fmt.Errorf("take bundle onto %s: %w", base, err)
	}
	return taken, nil
}

func (r *Repository) takeBundle(ctx context.Context, file, base string) ([]Taken, error) {
	f, err := openPlain(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The file is read once, up to the cap, so it cannot become another one between the checks and git.
	in := bufio.NewReaderSize(io.LimitReader(f, bundleBytes+1), bundleHeader)
	h, err := readBundleHeader(in)
	if err != nil {
		return nil, err
	}
	for _, p := range h.needs {
		ok, err := r.IsAncestor(ctx, p, base)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil || !ok {
			return nil, &TakeError{Rule: TakePrerequisite, Detail: "it builds on " + p + ", which is not in the history it was given"}
		}
	}
	q, err := r.quarantine(ctx)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(q.dir)
	if err := q.unpack(ctx, in); err != nil {
		return nil, err
	}
	taken, err := q.walk(ctx, h.tip, base)
	if err != nil || len(taken) == 0 {
		return nil, err
	}
	if err := q.grown(ctx, r, base, taken); err != nil {
		return nil, err
	}
	if err := q.given(ctx, r, base, taken); err != nil {
		return nil, err
	}
	return taken, q.release(r)
}

// openPlain opens a regular file of an agent's: no link is followed, and no pipe is waited for.
func openPlain(name string) (*os.File, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, &TakeError{Rule: TakeNotBundle, Err: err}
	}
	if !before.Mode().IsRegular() {
		return nil, &TakeError{Rule: TakeNotBundle, Detail: "it is no regular file"}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, &TakeError{Rule: TakeNotBundle, Err: err}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = &TakeError{Rule: TakeNotBundle, Err: err}
	case !info.Mode().IsRegular() || !os.SameFile(before, info):
		err = &TakeError{Rule: TakeNotBundle, Detail: "it is no regular file"}
	case info.Size() > bundleBytes:
		err = &TakeError{Rule: TakeTooLarge, Detail: fmt.Sprintf("%d bytes, at most %d", info.Size(), bundleBytes)}
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// bundleHead is what stands before the pack of a bundle.
type bundleHead struct {
	needs []string
	tip   string
}

// readBundleHeader reads the text before the pack (gitformat-bundle, versions 2 and 3) and leaves in at the pack.
func readBundleHeader(in *bufio.Reader) (h bundleHead, err error) {
	bad := func(detail string) (bundleHead, error) { return h, &TakeError{Rule: TakeNotBundle, Detail: detail} }
	left := bundleHeader
	next := func() (string, bool) {
		line, err := in.ReadSlice('\n')
		left -= len(line)
		return strings.TrimSuffix(string(line), "\n"), err == nil && left > 0
	}
	first, ok := next()
	if !ok || (first != "# v2 git bundle" && first != "# v3 git bundle") {
		return bad("its first line is no bundle's")
	}
	var refs []string
	for {
		line, ok := next()
		switch {
		case !ok:
			return bad("its header does not end, or is too long")
		case line == "" && len(refs) != 1:
			return h, &TakeError{Rule: TakeRefs, Detail: fmt.Sprintf("%d refs, want 1", len(refs))}
		case line == "":
			return h, nil
		case strings.HasPrefix(line, "@"):
			if line != "@object-format=sha1" && line != "@object-format=sha256" {
				return bad("it asks for a capability")
			}
		case strings.HasPrefix(line, "-"):
			oid, _, _ := strings.Cut(line[1:], " ")
			if !IsOID(oid) {
				return bad("a prerequisite is no object id")
			}
			h.needs = append(h.needs, oid)
		default:
			oid, name, _ := strings.Cut(line, " ")
			if !IsOID(oid) {
				return bad("a ref is no object id")
			}
			h.tip, refs = oid, append(refs, name)
		}
		if len(h.needs) > bundleCommits {
			return h, &TakeError{Rule: TakePrerequisite, Detail: fmt.Sprintf("more than %d prerequisites", bundleCommits)}
		}
	}
}

// quarantined is a bare repository whose objects nobody else sees yet.
type quarantined struct {
	git *Git
	dir string
	// count is how many objects the bundle's pack has.
	count int
}

// quarantine makes an empty repository that reads r's objects. It stands inside r, so that its pack can be moved; what a
// killed process leaves there is removed by Open.
func (r *Repository) quarantine(ctx context.Context) (*quarantined, error) {
	dir, err := os.MkdirTemp(r.dir, "index-quarantine-*")
	if err != nil {
		return nil, err
	}
	q := &quarantined{git: r.git, dir: dir}
	if _, err = r.git.run(ctx, command{name: "init", at: place{dir: dir}, args: []string{"--quiet", "--bare", "--template=", "--initial-branch=prloop"}}); err == nil {
		info := filepath.Join(dir, "objects", "info")
		if err = os.MkdirAll(info, 0o700); err == nil {
			err = os.WriteFile(filepath.Join(info, "alternates"), []byte(strconv.Quote(filepath.Join(r.dir, "objects"))+"\n"), 0o600)
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return q, nil
}

func (q *quarantined) place() place { return place{dir: q.dir} }

// unpack checks and indexes the pack. Everything in it passes fsck, and what it refers to has to be there.
func (q *quarantined) unpack(ctx context.Context, in *bufio.Reader) error {
	head, err := in.Peek(12)
	if err != nil || string(head[:4]) != "PACK" {
		return &TakeError{Rule: TakeNotBundle, Detail: "no pack follows its header"}
	}
	if n := binary.BigEndian.Uint32(head[8:]); n > bundleObjects {
		return &TakeError{Rule: TakeTooMany, Detail: fmt.Sprintf("%d objects, at most %d", n, bundleObjects)}
	}
	q.count = int(binary.BigEndian.Uint32(head[8:]))
	var lenient []string
	for _, f := range oldFaults {
		lenient = append(lenient, f+"=warn")
	}
	_, err = q.git.run(ctx, command{name: "index-pack", at: q.place(), from: in, timeout: 2 * time.Minute, extra: []string{"GIT_ALLOC_LIMIT=" + strconv.Itoa(bundleObject)},
		args: []string{"--stdin", "--fix-thin", "--strict=" + strings.Join(lenient, ","), "--max-input-size=" + strconv.Itoa(bundleBytes)}})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, ErrNoGit) {
		return err
	}
	rule, said := TakeMalformed, ""
	if failed := (*CommandError)(nil); errors.As(err, &failed) {
		said = failed.Stderr
	}
	if exit := (*proc.ExitError)(nil); errors.As(err, &exit) && exit.Reason == proc.ReasonTimeout {
		rule = TakeTooLarge
	}
	if strings.Contains(said, "exceeds maximum allowed size") || strings.Contains(said, "over limit") || strings.Contains(said, "out of memory") {
		rule = TakeTooLarge
	}
	return &TakeError{Rule: rule, Err: err}
}

// walk follows the parents from the tip to base.
func (q *quarantined) walk(ctx context.Context, tip, base string) ([]Taken, error) {
	var taken []Taken
	for at := tip; at != base; {
		if len(taken) == bundleCommits {
			return nil, &TakeError{Rule: TakeTooLong, Detail: fmt.Sprintf("more than %d commits since %s", bundleCommits, base)}
		}
		tree, parents, message, err := q.git.commitAt(ctx, q.place(), at)
		if err != nil {
			if refused := (*TakeError)(nil); errors.As(err, &refused) || ctx.Err() != nil {
				return nil, err
			}
			return nil, &TakeError{Rule: TakeMalformed, Detail: at + " is no commit", Err: err}
		}
		switch len(parents) {
		case 0:
			return nil, &TakeError{Rule: TakeUnrelated, Detail: "it does not descend from " + base}
		case 1:
		default:
			return nil, &TakeError{Rule: TakeMerge, Detail: "commit " + at + " has several parents"}
		}
		taken = append(taken, Taken{Commit: at, Parent: parents[0], Tree: tree, Message: message})
		at = parents[0]
	}
	slices.Reverse(taken)
	return taken, nil
}

// release moves the pack to r, its index last: that is when git sees it.
func (q *quarantined) release(r *Repository) error {
	packs, err := filepath.Glob(filepath.Join(q.dir, "objects", "pack", "pack-*"))
	if err != nil {
		return err
	}
	slices.SortFunc(packs, func(a, b string) int {
		return strings.Compare(strconv.FormatBool(strings.HasSuffix(a, ".idx"))+a, strconv.FormatBool(strings.HasSuffix(b, ".idx"))+b)
	})
	to := filepath.Join(r.dir, "objects", "pack")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, name := range packs {
		if err := os.Rename(name, filepath.Join(to, filepath.Base(name))); err != nil {
			return fmt.Errorf("take over the checked objects: %w", err)
		}
	}
	return nil
}
