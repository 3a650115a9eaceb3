package tools

import (
	"context"
	"strings"
)

// functionArgs are those of get_function_context: a line, or a name.
type functionArgs struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Name string `json:"name"`
}

// definitionLimit bounds a definition, in bytes.
const definitionLimit = 20 << 10

// FunctionContext is what get_function_context answers.
type FunctionContext struct {
	Path string
	Function
	// Missing is how many lines longer the definition is than what is given.
	Missing int
}

func (b *Box) function(_ context.Context, a functionArgs) (FunctionContext, error) {
	if (a.Line > 0) == (a.Name != "") {
		return FunctionContext{}, fail(BadArguments, "give either a line or a name")
	}
	name, err := b.check(a.Path)
	if err != nil {
		return FunctionContext{}, err
	}
	text, err := b.text(name)
	if err != nil {
		return FunctionContext{}, err
	}
	f, ok := b.o.Functions(name, b.shown(text), a.Line, a.Name)
	switch {
	case !ok && a.Name != "":
		return FunctionContext{}, fail(NotFound, "no function is called %.200q in %.200q", a.Name, name)
	case !ok:
		return FunctionContext{}, fail(NotFound, "no function stands around line %d of %.200q", a.Line, name)
	}
	end, err := b.allow(name, f.Start, f.End)
	if err != nil {
		return FunctionContext{}, err
	}
	out := FunctionContext{Path: b.label(name), Function: f}
	out.Imports = append([]string{}, f.Imports[:min(len(f.Imports), 60)]...)
	for i, l := range out.Imports {
		out.Imports[i] = cut(l)
	}
	var def strings.Builder
	out.End = f.Start - 1
	for i, l := range splitLines([]byte(f.Definition)) {
		l = cut(l)
		if f.Start+i > end || def.Len()+len(l) > definitionLimit {
			break
		}
		def.WriteString(l + "\n")
		out.End = f.Start + i
	}
	out.Definition, out.Missing = def.String(), max(f.End-out.End, 0)
	return out, nil
}
