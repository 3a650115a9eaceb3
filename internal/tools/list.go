package tools

import (
	"encoding/json"
	"strings"
)

// object writes the schema of a tool's arguments.
func object(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

const pathProperty = `"path":{"type":"string","description":"relative to the root of the repository, with slashes"}`

// list makes the tools that work with the options given, in a fixed order: it is part of the prompt all reviewers share.
func (b *Box) list() []tool {
	read := Spec{"read_file", "Read lines of a file of the head version, at most 200 at a time.", nil}
	version := ""
	if b.o.GitDir != "" && b.o.Base != "" {
		read.Description = "Read lines of a file, at most 200 at a time: of the head version, or with version base of the file before the change, under the name it had then."
		version = `,"version":{"type":"string","enum":["head","base"]}`
	}
	read.Parameters = object(pathProperty+`,"start":{"type":"integer","minimum":1},"end":{"type":"integer","minimum":1}`+version, `"path"`)
	all := []tool{
		typed(read, b.readFile),
		typed(Spec{"search_code", "Find a fixed string, or a regular expression (RE2), in the files of the head version.",
			object(`"query":{"type":"string"},"regexp":{"type":"boolean"},"language":{"type":"string","description":"lower case, such as go"},"under":{"type":"string","description":"a folder or a file"},`+
				`"limit":{"type":"integer","minimum":1,"maximum":60,"description":"how many lines to show"},"count":{"type":"boolean","description":"only count the lines of each file"}`, `"query"`)}, b.search),
		typed(Spec{"list", "List the files and folders of a folder of the head version.", object(pathProperty, ``)}, b.listFolder),
	}
	if b.o.Functions != nil {
		all = append(all, typed(Spec{"get_function_context", "Give the whole function or type around a line of a file, or with a name, and the file's imports.",
			object(pathProperty+`,"line":{"type":"integer","minimum":1},"name":{"type":"string","description":"in place of line, such as Close or Server.Close"}`, `"path"`)}, b.function))
	}
	if b.o.GitDir != "" && b.o.Head != "" {
		all = append(all, typed(Spec{"git_log", "List the last commits before the head version, of one path or of all.",
			object(pathProperty+`,"count":{"type":"integer","minimum":1,"maximum":30}`, ``)}, b.log))
	}
	if b.o.Lint != nil {
		all = append(all, typed(Spec{"run_linter", "Run the linters that know these files; they are changed files.",
			object(`"files":{"type":"array","items":{"type":"string"},"maxItems":20}`, `"files"`)}, b.lint))
	}
	if b.o.Fetch != nil {
		all = append(all, typed(Spec{"web_fetch", "Read a page of the web as text. Allowed hosts: " + strings.Join(b.o.FetchHosts, ", ") + ".",
			object(`"url":{"type":"string","description":"https://, at most 300 bytes"}`, `"url"`)}, b.fetch))
	}
	if b.o.Search != nil {
		all = append(all, typed(Spec{"web_search", "Search the web: titles, addresses and excerpts. The query leaves this machine: put no code and no names of this repository into it.",
			object(`"query":{"type":"string","description":"one line, at most 120 bytes"}`, `"query"`)}, b.searchWeb))
	}
	return all
}
