package sanitize

import "strings"

// languages are the info words a code block may carry (threats.md S7). What GitHub draws or lets people commit -
// suggestion, mermaid, math, geojson, topojson, stl - is not among them, nor is our own rmcoc.
var languages = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`ada apache asm assembly awk bash bat batch bazel bicep c c++ cc clj clojure cmake cmd
		cobol coffee coffeescript console cpp cs csharp csh css csv cue cuda cython d dart dhall diff docker dockerfile dotenv
		elisp elixir elm env erl erlang ex exs f90 fish fortran fs fsharp gherkin git gitignore glsl go go.mod gomod gotmpl
		gotemplate gql gradle graphql groovy h haml handlebars hbs hcl hpp hs haskell html http ini java javascript jinja
		jinja2 jl js json json5 jsonc jsonl jsonnet jsx julia kotlin kt kts latex less lisp log lua m make makefile markdown
		md mdx nasm nginx nim nix objc objective-c objectivec ocaml ml pascal patch perl php pl plaintext powershell proto
		protobuf ps1 puppet purescript py pycon python python3 r rb reason regex rego rkt racket ruby rs rust sass scala
		scheme scss sh shell shell-session sol solidity sql starlark styl svelte swift systemd tcl terraform tex text tf
		thrift toml ts tsv tsx txt typescript v vala vb verilog vhdl vim viml vue wasm wat wgsl xml xsl yaml yml zig zsh`) {
		m[w] = true
	}
	return m
}()

// language is the info word to write for what a fence said: a known language, "text" for anything else, nothing for
// nothing.
func language(info string) string {
	fields := strings.Fields(info)
	if len(fields) == 0 {
		return ""
	}
	if w := strings.ToLower(fields[0]); languages[w] {
		return w
	}
	return "text"
}
