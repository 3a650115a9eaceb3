package config

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a configuration file (threats.md T107). The parser has no guard of its own: aliases multiply without limit, and
// long runs of blank lines or thousands of keys make it quadratic.
const (
	maxBytes      = 64 << 10
	maxTokens     = 8000
	maxDepth      = 20
	maxBlankLines = 200
)

const tooLarge = "is larger than 64 KB"

// checkBytes refuses what must not even be tokenized.
func (s *source) checkBytes() *Fault {
	switch {
	case len(s.data) > maxBytes:
		return &Fault{File: s.name, Message: tooLarge}
	case !utf8.Valid(s.data):
		return &Fault{File: s.name, Message: "is not valid UTF-8"}
	case bytes.IndexByte(s.data, 0) >= 0:
		return &Fault{File: s.name, Message: "holds a NUL byte"}
	}
	blank := 0
	for i, line := range s.lines {
		blank++
		if strings.TrimSpace(line) != "" {
			blank = 0
		}
		if blank > maxBlankLines {
			return &Fault{File: s.name, Line: i + 1, Column: 1, Message: "more than 200 blank lines in a row"}
		}
	}
	return nil
}

// checkTokens refuses what must not even be parsed: too many tokens, too deep a nesting, and the parts of YAML that make
// a small file large or give a value a meaning beyond its text.
func (s *source) checkTokens(tokens token.Tokens) *Fault {
	if len(tokens) > maxTokens {
		return &Fault{File: s.name, Message: "has more than 8000 tokens"}
	}
	flow, line, onLine := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, onLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return s.at(t.Position.Line, t.Position.Column, "", "anchors and aliases are not accepted; write the value out")
		case token.MergeKeyType:
			return s.at(t.Position.Line, t.Position.Column, "", "merge keys are not accepted; write the values out")
		case token.TagType, token.DirectiveType:
			return s.at(t.Position.Line, t.Position.Column, "", "tags and directives are not accepted")
		case token.DocumentHeaderType:
			if line > 1 && t.Prev != nil && t.Prev.Type != token.CommentType {
				return s.at(t.Position.Line, t.Position.Column, "", "a second document in one file is not accepted")
			}
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			onLine++
		}
		if flow > maxDepth || (flow == 0 && onLine > maxDepth) || t.Position.IndentNum > 4*maxDepth {
			return s.at(t.Position.Line, t.Position.Column, "", "nested too deeply")
		}
	}
	return nil
}

func tokenize(data []byte) token.Tokens { return lexer.Tokenize(string(data)) }
