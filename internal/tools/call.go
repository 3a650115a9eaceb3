package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prloop/prloop/internal/globs"
	"github.com/prloop/prloop/sanitize"
)

// Code is why a call gave no result; a model can act on it.
type Code string

// The codes.
const (
	BadArguments Code = "bad_arguments"
	BadPath      Code = "bad_path"
	NotFound     Code = "not_found" // or excluded: the two look the same
	NotAFile     Code = "not_a_file"
	TooLarge     Code = "too_large"
	Binary       Code = "binary"
	Limit        Code = "limit"
	Unavailable  Code = "unavailable"
)

// Error is a call that gave no result.
type Error struct {
	Code    Code
	Message string
}

// Error gives code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func fail(code Code, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Function is the definition around a line, as get_function_context answers it (spec.md R6).
type Function struct {
	Name       string
	Start      int
	End        int
	Definition string
	Imports    []string
	// Exact is false when the place was found by indentation alone.
	Exact bool
}

// Remark is what a linter says about a line.
type Remark struct {
	File    string
	Line    int
	Rule    string
	Message string
}

// Options are what a Box works on. Parts left nil turn their tool off.
type Options struct {
	// Tree is the folder that is read; Exclude are doublestar patterns of paths in it that are not shown.
	Tree    string
	Exclude []string
	// Unmasked shows values that look like secrets; they are masked otherwise, in texts and in names.
	Unmasked bool
	// Masked are values that are masked wherever they stand in a text.
	Masked []string
	// Functions finds the function around a line (1-based), or where that is 0 the one with a name; ok is false when there is none.
	Functions func(path string, text []byte, line int, named string) (Function, bool)
	// Language names a file's language in lower case; nil turns the language filter off.
	Language func(path string) string
	// GitDir and Head are the bare repository and the commit git_log starts from. Both or neither. Base is the commit a change
	// starts from, for read_file and for the diffs of a command; empty where there is no change.
	GitDir, Head, Base string
	// Folders are further folders that can be read below their names, as if they stood in Tree. No file of Tree has such a name.
	Folders map[string]string
	// Fetch reads a page of the web, whose hosts FetchHosts describes. Nil unless the operator allows it (threats.md T50).
	Fetch      func(ctx context.Context, url string) (json.RawMessage, error)
	FetchHosts []string
	// Search asks the operator's search provider. Nil unless there is one.
	Search func(ctx context.Context, query string) (json.RawMessage, error)
	// Lint runs linters over files of Tree. Nil unless the caller may run foreign settings here (threats.md T01).
	Lint func(ctx context.Context, files []string) ([]Remark, error)
}

// Box is a set of tools over one tree. It is for one conversation at a time.
type Box struct {
	o    Options
	root *os.Root
	// beside are Options.Folders, opened.
	beside map[string]*os.Root
	tools  []tool
	// known are Options.Masked.
	known sanitize.Learned
	caps  *expansion
}

// Open opens the tree. Close ends it.
func Open(o Options) (*Box, error) {
	for _, p := range o.Exclude {
		if err := globs.Check(p); err != nil {
			return nil, fmt.Errorf("open tools: path pattern %q %w", p, err)
		}
	}
	root, err := os.OpenRoot(o.Tree)
	if err != nil {
		return nil, fmt.Errorf("open tools: %w", err)
	}
	b := &Box{o: o, root: root, beside: map[string]*os.Root{}}
	if err := b.mount(); err != nil {
		return nil, errors.Join(fmt.Errorf("open tools: %w", err), b.Close())
	}
	b.known.Learn(o.Masked...)
	b.tools = b.list()
	return b, nil
}

// Close lets go of the tree.
func (b *Box) Close() error {
	err := b.root.Close()
	for _, r := range b.beside {
		err = errors.Join(err, r.Close())
	}
	return err
}

// Spec describes a tool to a model.
type Spec struct {
	Name        string
	Description string
	// Parameters is a JSON Schema of an object.
	Parameters json.RawMessage
}

// tool is one tool and what it does.
type tool struct {
	Spec
	call func(ctx context.Context, args []byte) (result, error)
}

// Specs lists the tools that work here, always in the same order.
func (b *Box) Specs() []Spec {
	var out []Spec
	for _, t := range b.tools {
		out = append(out, t.Spec)
	}
	return out
}

// resultLimit bounds one result, in bytes.
const resultLimit = 48 << 10

// Call runs a tool with arguments a model wrote and gives the result as text. Errors are *Error, or the
// context's cause.
func (b *Box) Call(ctx context.Context, name string, args []byte) (string, error) {
	for _, t := range b.tools {
		if t.Name != name {
			continue
		}
		got, err := t.call(ctx, args)
		if cause := context.Cause(ctx); cause != nil {
			return "", cause
		}
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) {
				err = fail(Unavailable, "%s gave no answer", name)
			}
			return "", err
		}
		text := got.text()
		if len(text) > resultLimit {
			return "", fail(TooLarge, "the result is larger than %d bytes; ask for less", resultLimit)
		}
		return text, nil
	}
	return "", fail(BadArguments, "there is no tool %.64q", name)
}

// argsLimit bounds what a model may write as arguments, in bytes.
const argsLimit = 8 << 10

// typed makes a tool of a function with typed arguments. Unknown fields are an error the model can read.
func typed[A any, R result](s Spec, f func(context.Context, A) (R, error)) tool {
	return sized(argsLimit, s, f)
}

// sized is typed with a bound of its own on the arguments, in bytes.
func sized[A any, R result](limit int, s Spec, f func(context.Context, A) (R, error)) tool {
	return tool{s, func(ctx context.Context, raw []byte) (result, error) {
		var a A
		if len(raw) > limit {
			return nil, fail(BadArguments, "the arguments are longer than %d bytes", limit)
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&a); err != nil {
			return nil, fail(BadArguments, "the arguments are not the object described: %.200s", err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return nil, fail(BadArguments, "something follows the arguments")
		}
		return f(ctx, a)
	}}
}
