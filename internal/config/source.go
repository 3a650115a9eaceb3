package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// source is one parsed file: its values as plain JSON values, and where each of them stands.
type source struct {
	name  string
	data  []byte
	lines []string
	// value is a map[string]any; empty when the file is.
	value map[string]any
	// places maps a JSON pointer to where its key, or list item, begins; scalars to where its value does, if that is no list or group.
	places, scalars map[string]place
	faults          []Fault
}

type place struct{ line, column int }

// parse reads YAML into plain values (libraries, "JSON Schema and YAML": anchors are refused before decoding).
func parse(name string, data []byte) (*source, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as editors of Windows begin a file
	s := &source{
		name: name, data: data, lines: strings.Split(string(data), "\n"),
		value: map[string]any{}, places: map[string]place{}, scalars: map[string]place{},
	}
	if f := s.checkBytes(); f != nil {
		return s, &Error{[]Fault{*f}}
	}
	if f := s.checkTokens(tokenize(data)); f != nil {
		return s, &Error{[]Fault{*f}}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return s, &Error{[]Fault{s.syntaxFault(err)}}
	}
	seen := false
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if seen {
			return s, &Error{[]Fault{{File: name, Message: "holds more than one document"}}}
		}
		seen = true
		top, ok := s.convert(doc.Body, "", 0).(map[string]any)
		if !ok && len(s.faults) == 0 {
			s.fault(doc.Body, "", "the file must hold keys and values")
		}
		s.value = top
	}
	if len(s.faults) > 0 {
		return s, &Error{sortFaults(s.faults)}
	}
	if s.value == nil {
		s.value = map[string]any{}
	}
	return s, nil
}

// syntaxFault turns a parser's error into a fault with its place.
func (s *source) syntaxFault(err error) Fault {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		p := y.GetToken().Position
		return *s.at(p.Line, p.Column, "", plainly(y.GetMessage()))
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return Fault{File: s.name, Message: first}
}

// parserWords are words of the parser that say nothing to whoever wrote the file, and what they mean.
var parserWords = []struct{ word, meaning string }{
	{"mapping value is not allowed in this context", `a second ": " on one line, or a line that is indented too far; a value that has ": " needs quotes`},
	{"value is not allowed in this context", "is not indented as the lines around it"},
	{"sequence end token ']' not found", "[ has no closing ]"},
	{"could not find flow mapping end token '}'", "{ has no closing }"},
	{"could not find end character of", "a quote is never closed:"},
	{"unexpected key name", `has no ": " between key and value`},
	{"non-map value is specified", "is a list item or a value where a key belongs"},
	{"found character '\t' that cannot start any token", "is indented with a tab; use blanks"},
	{"tab character cannot use as a map key directly", "is indented with a tab; use blanks"},
}

// plainly says what the parser found in the words of people.
func plainly(message string) string {
	for _, w := range parserWords {
		if rest, ok := strings.CutPrefix(message, w.word); ok {
			return w.meaning + rest
		}
	}
	return message
}

// at makes a fault with the line it is about. The excerpt is left out where a secret may stand.
func (s *source) at(line, column int, key, message string) *Fault {
	f := &Fault{File: s.name, Line: line, Column: column, Key: key, Message: message}
	if line >= 1 && line <= len(s.lines) && !secretive.MatchString(s.lines[line-1]) {
		f.Excerpt = clip(strings.TrimRight(s.lines[line-1], "\r"))
	}
	return f
}

var secretive = lazyregexp.New(`(?i)key|token|secret|passw`)

// clip keeps an excerpt printable and short: configuration may come from a repository.
func clip(line string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, line))
	if len(runes) > 160 {
		return string(runes[:160]) + "…"
	}
	return string(runes)
}

func (s *source) fault(n ast.Node, pointer, message string) {
	p := placeOf(n)
	s.faults = append(s.faults, *s.at(p.line, p.column, keyOf(pointer), message))
}

// placeOf is where a node begins for a reader: a mapping at its first key, not at the colon behind it.
func placeOf(n ast.Node) place {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return placeOf(m.Values[0])
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{}
}

// convert turns a node into JSON values: map[string]any, []any, string, json.Number, bool or nil.
func (s *source) convert(n ast.Node, pointer string, depth int) any {
	if depth > maxDepth {
		s.fault(n, pointer, "nested too deeply")
		return nil
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		m := map[string]any{}
		for _, v := range n.Values {
			s.entry(m, v, pointer, depth)
		}
		return m
	case *ast.MappingValueNode:
		m := map[string]any{}
		s.entry(m, n, pointer, depth)
		return m
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, v := range n.Values {
			p := pointer + "/" + strconv.Itoa(i)
			s.places[p] = placeOf(v)
			list[i] = s.convert(v, p, depth+1)
		}
		return list
	}
	return s.scalar(n, pointer)
}

func (s *source) scalar(n ast.Node, pointer string) any {
	s.scalars[pointer] = placeOf(n)
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return json.Number(fmt.Sprint(n.Value))
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			s.fault(n, pointer, "is not a finite number")
			return nil
		}
		return json.Number(strconv.FormatFloat(n.Value, 'g', -1, 64))
	case *ast.NullNode:
		s.fault(n, pointer, "has no value")
		return nil
	}
	s.fault(n, pointer, "is not a text, number, true or false, list or group of keys")
	return nil
}

func (s *source) entry(m map[string]any, v *ast.MappingValueNode, pointer string, depth int) {
	t := v.Key.GetToken()
	if _, complex := v.Key.(*ast.MappingKeyNode); complex || t == nil {
		s.fault(v, pointer, "a key must be plain text")
		return
	}
	name := t.Value
	p := pointer + "/" + escape(name)
	if _, dup := m[name]; dup {
		s.fault(v.Key, p, "is set twice")
		return
	}
	s.places[p] = placeOf(v.Key)
	m[name] = s.convert(v.Value, p, depth+1)
}

func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

func unescape(s string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
}

// keyOf writes a JSON pointer as people do: reviewers[1].timeout.
func keyOf(pointer string) string {
	var b strings.Builder
	for _, part := range strings.Split(pointer, "/")[min(1, len(pointer)):] {
		part = unescape(part)
		if _, err := strconv.Atoi(part); err == nil && b.Len() > 0 {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clip(part))
	}
	return b.String()
}
