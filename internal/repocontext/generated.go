package repocontext

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// minified are endings of code that nobody can read, in lower case.
var minified = []string{".min.js", ".min.css"}

// namedGenerated reports whether the name alone says that a tool writes the file. Names that any author could choose for
// code that runs, such as *.pb.go or *.Designer.cs, are not here: those files have to say it at the base and at the head. Of
// minified code only what was there under such a name at the base is excused.
func namedGenerated(p string) bool {
	dir, base := path.Split(p)
	return hasEnding(base, minified) || strings.HasPrefix(base, "query-") && strings.HasSuffix(base, ".json") && path.Base(dir) == ".sqlx"
}

// hasEnding reports whether a name ends in one of a list, in any case.
func hasEnding(name string, list []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(list, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

const (
	// generatedHead is how much of a file is searched for a generator's mark, in bytes.
	generatedHead = 8 << 10
	// markLines is how many of its first lines.
	markLines = 40
	// minifiedWidth is the mean line length, in bytes, above which a script or style sheet was not written by hand.
	minifiedWidth = 110
)

// saysGenerated reports whether a file's text claims to be generated.
func saysGenerated(p string, text []byte) bool {
	if neverSkipped(p) || len(text) == 0 {
		return false
	}
	head := text[:min(len(text), generatedHead)]
	switch strings.ToLower(path.Ext(p)) {
	case ".js", ".mjs", ".cjs", ".css":
		if len(head)/(1+bytes.Count(bytes.TrimRight(head, "\n"), []byte("\n"))) > minifiedWidth || mapped(text) {
			return true
		}
	case ".map":
		if bytes.HasPrefix(head, []byte(`{"version":`)) {
			return true
		}
	}
	return carriesMark(p, text)
}

// carriesMark reports whether the comments that a file begins with hold a generator's mark among its first lines. A mark that
// stands behind code, in a string or in a template is one that the file writes elsewhere. The shape of a text is none: long lines and
// the name of a source map are easily given to any file.
func carriesMark(p string, text []byte) bool {
	if !marks(p, text) {
		return false
	}
	isGo, end, n := strings.EqualFold(path.Ext(p), ".go"), "", 0 // end is what ends the comment that a line begins in
	for raw := range bytes.Lines(text[:min(len(text), generatedHead)]) {
		if n++; n > markLines {
			break
		}
		if isGo && end == "" && goMark.Match(raw) && !speaks.Match(raw) {
			return true
		}
		line := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
		if end != "" {
			inside, behind, ended := strings.Cut(line, end)
			if !isGo && end[0] == '*' && strings.HasPrefix(inside, "*") && marked(inside) {
				return true
			}
			if !ended {
				continue
			}
			line, end = strings.TrimSpace(behind), ""
		}
		for line != "" && !prologue.MatchString(line) {
			open, closing := commentMarks(p, line)
			if open == "" {
				return false
			}
			inside := line[len(open):]
			line = ""
			if closing != "" {
				var ended bool
				if inside, line, ended = strings.Cut(inside, closing); !ended {
					end = closing
				}
				line = strings.TrimSpace(line)
			}
			if !isGo && marked(inside) {
				return true
			}
		}
	}
	return false
}

// goMark is the line by which tools of Go know generated code, and what generators that do not keep to it write.
var goMark = lazyregexp.New(`^// (Code generated|[Gg]enerated (by|from|with|using)) .*\bDO NOT (EDIT|MODIFY)[.!]?\r?\n?$`)

// prologue matches lines that may stand before the first comment of a file.
var prologue = lazyregexp.New(`(?i)^(<\?(php|hh)|(<\?php )?declare\(strict_types ?= ?1\);|<\?xml [^>]*\?>|<!doctype [^>]*>|@charset "[^"]*";|package [\w.]+;?|'use \w+';?|"use \w+";?)$`)

// templates are endings of files whose text, comments too, is meant for others, alone or before the ending of what they make (a.tmpl.html).
// Plain text has no comments.
var templates = []string{"tmpl", "gotmpl", "tpl", "template", "j2", "jinja", "jinja2", "mustache", "hbs", "handlebars", "erb", "ejs", "eex",
	"ftl", "vm", "liquid", "twig", "njk", "mako", "tera", "stencil", "tt", "in", "phtml", "pug", "haml", "txt"}

// made are ends of names of files in no known language that are what tools write, and no templates.
var made = []string{".golden", ".snap", ".rd", "/namespace"}

// marks reports whether what begins as a comment in a file is one, and so may mark it. Of a file in no known language nobody can tell: it may be
// a template of any kind. PHP's text is put out as it is until its code is opened.
func marks(p string, text []byte) bool {
	endings := strings.Split(strings.ToLower(path.Base(p)), ".")[1:]
	language := lang.Of(p)
	switch {
	case slices.ContainsFunc(endings, func(e string) bool { return slices.Contains(templates, e) }):
		return false
	case language == "php":
		return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))), []byte("<?"))
	}
	return language != "" || hasEnding("/"+p, made)
}

// blocks are what begins and ends comments of several lines; what begins a longer name of another comes first.
var blocks = [][2]string{{"/*", "*/"}, {"<!--", "-->"}, {"(*", "*)"}, {"{-", "-}"}, {"--[[", "]]"}, {"=begin", "=end"}, {`"""`, `"""`}}

// curly are the languages in which nothing else begins a comment than slashes do, or a #, which no code may follow.
var curly = []string{"go", "javascript", "typescript", "tsx", "java", "rust", "c", "c++", "c#", "php", "kotlin", "scala", "groovy", "gradle", "swift",
	"objective-c", "objective-c++", "dart", "solidity", "css", "scss", "sass", "less", "protocol buffer", "zig", "d"}

// hashCode matches lines that begin with a # and that may begin a string: macros, attributes, and what goes on in the next line.
var hashCode = lazyregexp.New(`^#\s*define\s+\S+\s+\S|^#!?\[.*[^\]]$|^#.*\\$`)

// commentMarks are what begins the comment that a line of a file begins with, and what ends it, which is empty where the line does. Both are
// for no comment.
func commentMarks(p, line string) (open, closing string) {
	language := lang.Of(p)
	brackets := slices.Contains(curly, language)
	prose := language == "markdown" || language == "mdx" // where a # begins a heading
	for _, c := range blocks {
		if strings.HasPrefix(line, c[0]) && (!brackets || c[0] == "/*") && (!prose || c[0] == "<!--") {
			return c[0], c[1]
		}
	}
	for _, open := range []string{"//", "#", "--", ";", "%", "'"} {
		switch {
		case prose, !strings.HasPrefix(line, open), brackets && open != "//" && open != "#", open == "'" && language != "visual basic .net":
		case !hashCode.MatchString(line):
			return open, ""
		}
	}
	return "", ""
}

// mapped reports whether one of the last two lines names a source map: the file was compiled from another.
func mapped(text []byte) bool {
	text = bytes.TrimRight(text, " \t\r\n")
	for range 2 {
		at := bytes.LastIndexByte(text, '\n')
		line := bytes.TrimLeft(text[at+1:], " \t")
		if len(line) > 3 && line[0] == '/' && (line[1] == '/' || line[1] == '*') && bytes.HasPrefix(line[3:], []byte(" sourceMappingURL=")) {
			return true
		}
		if at < 0 {
			return false
		}
		text = text[:at]
	}
	return false
}

// tools match what generators write of themselves, as the whole text of a line: their name, a version, a date. What goes on as a sentence is
// somebody's word about them.
var tools = lazyregexp.New(`^(Code generated by Microsoft \(R\)( [\w.]+){1,4}|Autogenerated by Thrift Compiler|Generated by the protocol buffer compiler|` +
	`Generated by the gRPC( [\w+#.-]+){1,4} plugin|Generated protocol buffer code|This file was autogenerated by go-to-protobuf|` +
	`Generated by (Cython|Doxygen|Haxe|PEG\.js)|This file is automatically generated by Racc|The following code was generated by JFlex|` +
	`parser generated by jison|generated by jison-lex|This file is generated by jOOQ)` +
	`( (v\. ?)?v?\d\S*)?( \([^()]*\))?( on [\w/:. ]+)?\W*$`)

var (
	// tag matches @generated alone, signed, or with what made the file, and aside the tag of .NET.
	tag = lazyregexp.New(`^(This file is )?@generated(\W*$| (<<)?SignedSource\b| (automatically )?(by|from|with|using|via) \S)|^auto-?generated ?/?>(\W*$|.*</auto-?generated>)`)
	// sentence matches verbs that no name of a tool or a source is followed by.
	sentence = lazyregexp.New(`(?i) (is|are|was|were|be|has|have|had|must|should|shall|may|might|can|cannot|will|would|needs?|says?|runs?|calls?|goes|gets?|does) `)
)

var (
	// declared matches how other generators begin a line that also says not to edit it. It says so of its own file, not of generated ones.
	declared = lazyregexp.New(`(?i)^(warning\W+)?(` +
		`this (file|code|class|source|document)( file)? (is|was|has been) (\w+ ){0,2}(auto|automatically|machine)?[ -]?@?generated\b|` +
		`this is an? (\w+ )?(auto|automatically|machine)?[ -]?@?generated (\w+ )?(file|code|class|source)\b|` +
		`(auto|automatically|machine)?[ -]?generated( (code|file|class|source))?(\W*$|\W+(by|from|for|with|using|on|at|automatically|do not|don't)\b)|` +
		`do not (edit|modify)( (or|edit|modify|change|this|file|code|class|it|by|hand|manually|directly))*\b.*generated\b)`)
	// forbids matches what they say beside that; in quotes it is what another text says, and so it is where one speaks of it.
	forbids = lazyregexp.New("(?i)(^|[^\"'`])(do not edit|don't edit|do not modify|not intended for manual editing)")
	speaks  = lazyregexp.New(`(?i)\b(says?|saying|reads?|contains?|marked|words?|has|have|with) (do not|don't) (edit|modify)`)
)

// marked reports whether the text of a comment begins with a generator's mark. A mark further on, in quotes, in a sentence or with a gap to be
// filled is somebody writing about generated code, and hides nothing.
func marked(text string) bool {
	text = strings.TrimLeft(text, "/*#-;!<%=")
	text = strings.TrimPrefix(strings.TrimLeft(text, " \t"), "<")
	if strings.Contains(text, "{{") || strings.Contains(text, "${") || strings.Contains(text, "<%") {
		return false
	}
	said := declared.MatchString(text) || strings.HasPrefix(text, "Code generated by ") || strings.HasPrefix(text, "@generated")
	if said && forbids.MatchString(text) && !speaks.MatchString(text) || tools.MatchString(text) {
		return true
	}
	at := tag.FindString(text)
	return at != "" && !sentence.MatchString(text[len(at):]+" ")
}
