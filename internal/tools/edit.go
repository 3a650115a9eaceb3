package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/sanitize"
)

// Bounds of what a fixer writes.
const (
	// editLimit bounds the arguments of a call that writes, in bytes of JSON: a file of the largest size, escaped.
	editLimit = 2*fileLimit + 8<<10
	// changedLimit is how many files may differ at most.
	changedLimit = 100
)

// Protected is the code of a change that the push policy would refuse.
const Protected Code = "protected"

// EditorOptions are what an Editor works on.
type EditorOptions struct {
	// Tree is the folder that is read and written; Exclude are doublestar patterns of paths in it that are as if they were
	// not there.
	Tree    string
	Exclude []string
	// Unmasked and Masked are those of Options.
	Unmasked bool
	Masked   []string
	// Functions and Language are those of Options.
	Functions func(path string, text []byte, line int, named string) (Function, bool)
	Language  func(path string) string
	// Folders are those of Options. Nothing in them is written.
	Folders map[string]string
	// Refuse says why a path may not be changed; empty means that it may. Nil refuses nothing: what leaves the tree is
	// judged by the push policy in any case, this only tells a model early.
	Refuse func(path string) string
	// Checks has verify commands run on the tree as it is, by somebody else, up to CheckRuns times: "all" of Commands, or one of
	// them. Nil turns the tool off.
	Checks    func(ctx context.Context, command string) (string, error)
	CheckRuns int
	Commands  []string
}

// Editor is a box whose tree may be changed: a fixer's private clone (decision 6). Regular files alone are touched, below one
// os.Root; links are never followed, whatever they point at, and what belongs to git is not there. It remembers what it
// changed, so that the changes can be shown and taken back without asking git in a folder an agent can write.
type Editor struct {
	*Box
	refuse func(string) string
	checks func(context.Context, string) (string, error)
	// before holds each changed file as it was: nil when it was not there.
	before map[string]*original
}

type original struct {
	text []byte
	mode fs.FileMode
}

// OpenEditor opens the tree. Close ends it.
func OpenEditor(o EditorOptions) (*Editor, error) {
	b, err := Open(Options{Tree: o.Tree, Exclude: o.Exclude, Unmasked: o.Unmasked, Masked: o.Masked, Functions: o.Functions, Language: o.Language, Folders: o.Folders})
	if err != nil {
		return nil, err
	}
	e := &Editor{Box: b, refuse: o.Refuse, checks: o.Checks, before: map[string]*original{}}
	for i := range b.tools { // its own changes are seen too
		b.tools[i].Description = strings.ReplaceAll(b.tools[i].Description, "head version", "working tree")
	}
	b.tools = append(b.tools, e.editing()...)
	if o.Checks != nil {
		which, err := json.Marshal(append([]string{"all"}, o.Commands...))
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.tools = append(b.tools, typed(Spec{"run_checks", fmt.Sprintf("Have the verify commands run on the tree as it is now, as they will after you end, at most %d times. The answer has the end of each log that matters.", o.CheckRuns),
			object(`"command":{"type":"string","enum":`+string(which)+`}`, ``)}, e.runChecks))
	}
	return e, nil
}

func (e *Editor) editing() []tool {
	const text = `{"type":"string"}`
	return []tool{
		sized(editLimit, Spec{"edit_file", "Replace a text that stands in a file exactly once by another. Give enough lines around it, exactly as they are in the file, without the line numbers that are shown before them.",
			object(pathProperty+`,"old":`+text+`,"new":`+text, `"path","old","new"`)}, e.edit),
		sized(editLimit, Spec{"write_file", "Make a new file.", object(pathProperty+`,"content":`+text, `"path","content"`)}, e.write),
		typed(Spec{"delete_file", "Delete a file.", object(pathProperty, `"path"`)}, e.remove),
		typed(Spec{"diff", "Show all changes made so far as a unified diff.", object(``, ``)}, func(context.Context, struct{}) (Changes, error) { return e.changes(), nil }),
	}
}

// Done is what a tool that wrote something answers.
type Done struct {
	Path string
	// Line is where the new text of edit_file begins; 0 for other tools.
	Line int
	// Lines is how many the file has now.
	Lines   int
	Deleted bool
}

// editArgs are those of edit_file.
type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (e *Editor) edit(_ context.Context, a editArgs) (Done, error) {
	name, err := e.writable(a.Path)
	if err != nil {
		return Done{}, err
	}
	if a.Old == "" || a.Old == a.New {
		return Done{}, fail(BadArguments, "old is the text to replace, and new differs from it")
	}
	data, err := e.text(name)
	if err != nil {
		return Done{}, err
	}
	if bytes.Contains(data, []byte("\r\n")) && !strings.Contains(a.Old, "\r") { // line ends are not shown by read_file
		a.Old, a.New = strings.ReplaceAll(a.Old, "\n", "\r\n"), strings.ReplaceAll(strings.ReplaceAll(a.New, "\r\n", "\n"), "\n", "\r\n")
	}
	if sanitize.StandsFor(a.New) != "" {
		return Done{}, standsFor("new", a.New)
	}
	if !utf8.Valid(data) && strings.ContainsFunc(a.New, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return Done{}, fail(BadArguments, "%.200q is in another encoding than UTF-8: new may hold letters of ASCII alone", e.label(name))
	}
	old := e.masked(data)
	switch n := strings.Count(old.text, a.Old); n {
	case 1:
	case 0:
		if sign := sanitize.StandsFor(a.Old); sign != "" {
			return Done{}, fail(NotFound, "old holds %s, which stands for a character that is not shown as it is: take a piece of the line without it", sign)
		}
		return Done{}, fail(NotFound, "old does not stand in %.200q; copy it exactly, white space included", e.label(name))
	default:
		return Done{}, fail(BadArguments, "old stands in %.200q %d times; give more of the lines around it", e.label(name), n)
	}
	next, at, err := old.replace(a.Old, a.New)
	if err != nil {
		return Done{}, err
	}
	if old.uncovers(e.masked(next)) {
		return Done{}, fail(BadArguments, "this would show a value that %s stands for: leave its name and the quotes around it as they are, or take the value out", sanitize.Redacted)
	}
	if err := e.replace(name, data, next); err != nil {
		return Done{}, err
	}
	return Done{Path: e.label(name), Line: bytes.Count(next[:at], []byte("\n")) + 1, Lines: len(splitLines(next))}, nil
}

// writeArgs are those of write_file.
type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (e *Editor) write(_ context.Context, a writeArgs) (Done, error) {
	name, err := e.writable(a.Path)
	if err != nil {
		return Done{}, err
	}
	if err := fitting(name, []byte(a.Content)); err != nil {
		return Done{}, err
	}
	if !e.o.Unmasked && strings.Contains(a.Content, sanitize.Redacted) {
		return Done{}, fail(BadArguments, "content holds %s, which stands for a value you are not shown; read the value from the environment or another file instead", sanitize.Redacted)
	}
	if sanitize.StandsFor(a.Content) != "" {
		return Done{}, standsFor("content", a.Content)
	}
	a.Content = sanitize.Unspelled(a.Content)
	if _, err := e.root.Lstat(filepath.FromSlash(name)); err == nil {
		return Done{}, fail(BadArguments, "%.200q is there already; change it with edit_file", name)
	}
	if err := e.folders(path.Dir(name)); err != nil {
		return Done{}, err
	}
	if err := e.remember(name, nil); err != nil {
		return Done{}, err
	}
	mode := fs.FileMode(0o644)
	if o := e.before[name]; o != nil {
		mode = o.mode
	}
	f, err := e.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, mode)
	if err != nil {
		return Done{}, fail(Unavailable, "%.200q cannot be made", name)
	}
	_, err = f.WriteString(a.Content)
	if err = errors.Join(err, f.Close()); err != nil {
		return Done{}, fail(Unavailable, "%.200q cannot be written", name)
	}
	return Done{Path: e.label(name), Lines: len(splitLines([]byte(a.Content)))}, nil
}

// standsFor refuses a text that would be written for what it stands for.
func standsFor(argument, text string) error {
	return fail(BadArguments, "%s holds %s, which stands for a character that is not shown as it is: replace only what stands beside it, or write it as an escape of the language", argument, sanitize.StandsFor(text))
}

// removeArgs are those of delete_file.
type removeArgs struct {
	Path string `json:"path"`
}

func (e *Editor) remove(_ context.Context, a removeArgs) (Done, error) {
	name, err := e.writable(a.Path)
	if err != nil {
		return Done{}, err
	}
	data, err := e.text(name)
	if err != nil {
		return Done{}, err
	}
	if err := e.remember(name, data); err != nil {
		return Done{}, err
	}
	if err := e.root.Remove(filepath.FromSlash(name)); err != nil {
		return Done{}, fail(Unavailable, "%.200q cannot be deleted", name)
	}
	return Done{Path: e.label(name), Deleted: true}, nil
}

// writable is check for a path that is to be changed.
func (e *Editor) writable(name string) (string, error) {
	name, err := e.check(name)
	switch {
	case err != nil:
		return "", err
	case name == ".":
		return "", fail(NotAFile, "the root is no file")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", fail(BadPath, "a path has no control characters")
	}
	if first, _, _ := strings.Cut(name, "/"); e.beside[first] != nil {
		return "", fail(Protected, "%.200q may not be changed: it is of a folder beside the repository", name)
	}
	if e.refuse != nil {
		if why := e.refuse(name); why != "" {
			return "", fail(Protected, "%.200q may not be changed: %s; do without it, or reject what needs it", name, why)
		}
	}
	return name, nil
}

// fitting refuses texts that a file of source code cannot be.
func fitting(name string, text []byte) error {
	switch {
	case len(text) > fileLimit:
		return fail(TooLarge, "%.200q would be larger than %d bytes", name, fileLimit)
	case bytes.IndexByte(text, 0) >= 0:
		return fail(Binary, "%.200q would be binary", name)
	}
	return nil
}

// replace writes a file that is there anew. Its mode stays.
func (e *Editor) replace(name string, old, next []byte) error {
	if err := fitting(name, next); err != nil {
		return err
	}
	info, err := e.stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return fail(NotAFile, "%.200q is no regular file", name)
	}
	if err := e.remember(name, old); err != nil {
		return err
	}
	f, err := e.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|noFollow, 0)
	if err != nil {
		return fail(Unavailable, "%.200q cannot be written", name)
	}
	// What was opened must be what was looked at: a path could have become a link meanwhile.
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		_ = f.Close()
		return missing(name)
	}
	_, err = f.WriteAt(next, 0)
	if err = errors.Join(err, f.Truncate(int64(len(next))), f.Close()); err != nil {
		return fail(Unavailable, "%.200q cannot be written", name)
	}
	return nil
}

// folders makes the folders on the way to a file. None of them may be a link.
func (e *Editor) folders(dir string) error {
	if dir == "." {
		return nil
	}
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		part := filepath.FromSlash(dir[:i])
		info, err := e.root.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) {
			if err = e.root.Mkdir(part, 0o755); err == nil {
				continue
			}
		}
		if err != nil || !info.IsDir() {
			return fail(NotAFile, "%.200q is no folder", dir[:i])
		}
	}
	return nil
}

// remember keeps a file as it was before its first change; nil text is one that is not there.
func (e *Editor) remember(name string, text []byte) error {
	if _, known := e.before[name]; known {
		return nil
	}
	if len(e.before) == changedLimit {
		return fail(Limit, "%d files were changed; that is the limit", changedLimit)
	}
	if text == nil {
		e.before[name] = nil
		return nil
	}
	info, err := e.stat(name)
	if err != nil {
		return err
	}
	e.before[name] = &original{text, info.Mode().Perm()}
	return nil
}

// Changed lists the files that differ from what they were, sorted.
func (e *Editor) Changed() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.before)) {
		now, err := e.text(name)
		was := e.before[name]
		if (err != nil) != (was == nil) || err == nil && !bytes.Equal(now, was.text) {
			out = append(out, name)
		}
	}
	return out
}

// Revert puts every file back as it was.
func (e *Editor) Revert() error {
	for _, name := range e.Changed() {
		was, file := e.before[name], filepath.FromSlash(name)
		now, err := e.text(name)
		switch {
		case was == nil:
			err = e.root.Remove(file)
		case err != nil:
			var f *os.File
			if f, err = e.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, was.mode); err == nil {
				_, err = f.Write(was.text)
				err = errors.Join(err, f.Close())
			}
		default:
			err = e.replace(name, now, was.text)
		}
		if err != nil {
			return fmt.Errorf("put %q back: %w", name, err)
		}
	}
	clear(e.before)
	return nil
}
