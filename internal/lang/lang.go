// Package lang tells the language of a file by its name.
package lang

import (
	"path"
	"strings"
)

// endings lists the languages told by a file's ending, under Linguist's names in lower case. Where several languages share an
// ending the usual one stands here: the name alone decides, so that a file's text cannot change what it is called. The
// languages whose structure is read come first; Linguist counts TSX apart too.
var endings = []struct{ language, endings string }{
	{"go", ".go"},
	{"python", ".py .pyi .pyw"},
	{"javascript", ".js .mjs .cjs .jsx"},
	{"typescript", ".ts .mts .cts"},
	{"tsx", ".tsx"},
	{"java", ".java"},
	{"ruby", ".rb .rake .gemspec .ru .podspec"},
	{"rust", ".rs"},
	{"c", ".c .h"},
	{"c++", ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .inl .ino"},
	{"c#", ".cs .csx"},
	{"php", ".php .phtml"},

	{"kotlin", ".kt .kts"},
	{"scala", ".scala .sc .sbt"},
	{"groovy", ".groovy"},
	{"gradle", ".gradle"},
	{"clojure", ".clj .cljs .cljc"},
	{"edn", ".edn"},
	{"swift", ".swift"},
	{"objective-c", ".m"},
	{"objective-c++", ".mm"},
	{"dart", ".dart"},
	{"lua", ".lua"},
	{"perl", ".pl .pm .t"},
	{"r", ".r"},
	{"julia", ".jl"},
	{"haskell", ".hs"},
	{"ocaml", ".ml .mli"},
	{"f#", ".fs .fsi .fsx"},
	{"visual basic .net", ".vb"},
	{"elixir", ".ex .exs"},
	{"erlang", ".erl .hrl"},
	{"elm", ".elm"},
	{"zig", ".zig"},
	{"nim", ".nim"},
	{"crystal", ".cr"},
	{"d", ".d"},
	{"pascal", ".pas .dpr"},
	{"fortran", ".f .for .f77"},
	{"fortran free form", ".f90 .f95 .f03 .f08"},
	{"cobol", ".cob .cbl"},
	{"assembly", ".asm .nasm .s"},
	{"solidity", ".sol"},
	{"cuda", ".cu .cuh"},
	{"glsl", ".glsl .vert .frag .comp"},
	{"verilog", ".v"},
	{"systemverilog", ".sv .svh"},
	{"vhdl", ".vhd .vhdl"},
	{"tcl", ".tcl"},
	{"emacs lisp", ".el"},
	{"common lisp", ".lisp .lsp"},
	{"scheme", ".scm"},
	{"racket", ".rkt"},
	{"vim script", ".vim"},

	{"shell", ".sh .bash .zsh .ksh .bats"},
	{"fish", ".fish"},
	{"powershell", ".ps1 .psm1 .psd1"},
	{"batchfile", ".bat .cmd"},
	{"awk", ".awk"},
	{"makefile", ".mk .mak"},
	{"cmake", ".cmake"},
	{"dockerfile", ".dockerfile .containerfile"},
	{"hcl", ".tf .tfvars .hcl"},
	{"nix", ".nix"},
	{"starlark", ".bzl .star .bazel"},
	{"jsonnet", ".jsonnet .libsonnet"},
	{"cue", ".cue"},
	{"open policy agent", ".rego"},
	{"bicep", ".bicep"},

	{"html", ".html .htm .xhtml"},
	{"css", ".css"},
	{"scss", ".scss"},
	{"sass", ".sass"},
	{"less", ".less"},
	{"vue", ".vue"},
	{"svelte", ".svelte"},
	{"astro", ".astro"},
	{"html+erb", ".erb"},
	{"handlebars", ".hbs .handlebars"},
	{"jinja", ".jinja .jinja2 .j2"},
	{"go template", ".gotmpl .tmpl"},
	{"pug", ".pug"},
	{"haml", ".haml"},

	{"sql", ".sql"},
	{"graphql", ".graphql .gql .graphqls"},
	{"protocol buffer", ".proto"},
	{"thrift", ".thrift"},
	{"json", ".json .geojson .webmanifest .har"},
	{"json with comments", ".jsonc"},
	{"json5", ".json5"},
	{"yaml", ".yaml .yml"},
	{"toml", ".toml"},
	{"ini", ".ini .cfg"},
	{"java properties", ".properties"},
	{"xml", ".xml .xsd .csproj .fsproj .vbproj .props .targets .plist"},
	{"xslt", ".xsl .xslt"},
	{"svg", ".svg"},
	{"csv", ".csv"},
	{"diff", ".diff .patch"},
	{"markdown", ".md .markdown .mdown"},
	{"mdx", ".mdx"},
	{"restructuredtext", ".rst"},
	{"asciidoc", ".adoc .asciidoc"},
	{"tex", ".tex .sty"},
	{"text", ".txt"},
}

// Of names a file's language in lower case, empty when the name tells nothing.
func Of(p string) string {
	base := path.Base(p)
	if l := byWholeName(base); l != "" {
		return l
	}
	ending := strings.ToLower(path.Ext(base))
	if ending == "" || ending == "." {
		return ""
	}
	for _, e := range endings {
		for known := range strings.FieldsSeq(e.endings) {
			if known == ending {
				return e.language
			}
		}
	}
	return ""
}

// byWholeName knows the files that are named by what reads them.
func byWholeName(base string) string {
	switch base {
	case "Makefile", "makefile", "GNUmakefile":
		return "makefile"
	case "CMakeLists.txt":
		return "cmake"
	case "Jenkinsfile":
		return "groovy"
	case "Rakefile", "Gemfile", "Podfile", "Vagrantfile", "Brewfile", "Fastfile", "Guardfile":
		return "ruby"
	case "BUILD", "WORKSPACE", "Tiltfile":
		return "starlark"
	case "go.mod":
		return "go module"
	case "go.work":
		return "go workspace"
	case "go.sum", "go.work.sum":
		return "go checksums"
	case "Cargo.lock", "poetry.lock", "uv.lock", "Pipfile", "pdm.lock":
		return "toml"
	case "composer.lock", "flake.lock", "Pipfile.lock", "deno.lock":
		return "json"
	case "requirements.txt":
		return "pip requirements"
	case "CODEOWNERS":
		return "codeowners"
	case ".bashrc", ".bash_profile", ".profile", ".zshrc", ".envrc", "PKGBUILD":
		return "shell"
	case ".editorconfig":
		return "editorconfig"
	case ".gitignore", ".dockerignore", ".npmignore", ".prettierignore", ".eslintignore":
		return "ignore list"
	case ".gitattributes":
		return "git attributes"
	case ".gitconfig", ".gitmodules":
		return "git config"
	case "tsconfig.json", "jsconfig.json", ".eslintrc.json", "devcontainer.json", ".babelrc":
		return "json with comments"
	}
	if name, _, _ := strings.Cut(base, "."); name == "Dockerfile" || name == "Containerfile" {
		return "dockerfile"
	}
	return ""
}
