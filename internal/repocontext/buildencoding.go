package repocontext

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
)

const (
	// pairNames are how tools call encodings in which some letters are two bytes, pairNumbers the code pages of Windows and IBM that are such.
	pairNames = `(?:x[-_]|cs)?(?:s[-_]?jis|shift[-_]?jis|ms[-_]?kanji|(?:cp|mscp|ms|ibm[-_]?|win(?:dows)?[-_]?)` + pairNumbers + `c?|windows[-_]?31j|gbk|gb[-_]?(?:2312|18030)|` +
		`euc[-_]?(?:jp|jis|kr|cn|tw)|u[-_]?jis|(?:cn[-_]?)?big[-_]?(?:5|five)|ksc[-_]?5601|iso[-_]?2022[-_]?(?:jp|kr|cn))(?:[-_]?(?:win|mac|ms|open|hkscs|eten|x?0213|2004))?`
	pairNumbers = `(?:932|936|94[239]|950|1361|20932|20949|33722|51932|51936|51949|54936)`
	// pairWords are names that are words of other things too: they count behind a word for an encoding alone.
	pairWords = `(?:x[-_])?(?:pck|uhc|johab)`
)

var (
	// builtIn is how a build names the encoding of sources: behind a word for it, as a whole value, or as a flag of Ruby.
	builtIn = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(?:charset|encoding|code-?page|codecforsrc|\bchcp)[\w.-]*[^\w\n]{1,20}(` + pairNames + `|` + pairWords + `|` + pairNumbers + `)\b`),
		lazyregexp.New(`(?im)(?:[=:][ \t]*["']?|>\s*|\bset\(\s*\w+\s+"?)(` + pairNames + `)[ \t]*(?:["'<;,)}]|\s*<|\r?$)`),
		lazyregexp.New(`(?:\bruby\b|\bRUBYOPT\b)[^\n#]*[\s"'=](-\w*K[sSeE])`),
		lazyregexp.New(`(?i)\b(?:iconv|piconv|recode|ruby|RUBYOPT)\b[^\n#]*(?:-f|-E|--from-code=?)[ \t]*["']?(` + pairNames + `)\b`),
	}
	// writtenIn is how it names that of what programs write, which no source is read in.
	writtenIn = lazyregexp.New(`(?i)[\w.-]*(?:exec(?:ution)?-charset|(?:output|stdout|stderr|io)[._-]?encoding)[^\w\n]{1,20}[\w.-]+`)
	// hashed is a comment in most files of builds.
	hashed = lazyregexp.New(`(?m)^[ \t]*#(?:[^!\n].*)?$`)
)

var (
	// scripts are languages, settings endings of files that builds and servers obey, whatever their names are.
	scripts  = []string{"shell", "fish", "batchfile", "powershell", "makefile", "cmake", "gradle", "dockerfile"}
	settings = []string{".conf", ".ini", ".rsp", ".properties", ".pro", ".pri", ".xcconfig", ".editorconfig"}
)

// always are manifests of languages whose sources are always UTF-8.
var always = []string{"package.json", "composer.json", "Cargo.toml", "go.mod"}

// tellsAgents is why a file is protected that agents take instructions from.
var tellsAgents = sync.OnceValue(func() string {
	why, _ := pushpolicy.Acts("AGENTS.md")
	return why
})

// configures reports whether a build, a server or a tool takes settings from a file because of its name. What agents are told is none.
func configures(name string) bool {
	language := lang.Of(name)
	why, _ := pushpolicy.Acts(name)
	return why != tellsAgents() && !slices.Contains(prose, language) && !slices.Contains(always, path.Base(name)) &&
		(pushpolicy.Protected(name) != "" || slices.Contains(scripts, language) || slices.Contains(settings, strings.ToLower(path.Ext(name))) || strings.EqualFold(path.Base(name), "web.xml"))
}

// buildEncoding is an encoding of two bytes that a text of a build names for what it reads; empty for none.
func buildEncoding(text string) string {
	text = writtenIn.ReplaceAllString(hashed.ReplaceAllString(text, ""), "")
	for _, pattern := range builtIn {
		if m := pattern.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// readBuilt takes out files with other letters than those of ASCII in what changed where the build names an encoding of two bytes, at the base or at the head: compilers
// read them in that, as if each said so itself (threats.md T812).
func (b *builder) readBuilt(ctx context.Context, batch []int) error {
	for _, i := range batch {
		f := &b.o.Diff.Files[i]
		if b.brief.Files[i].Omitted != "" || changesAll(f, ascii) || unreadRun(f) || slices.Contains(prose, lang.Of(f.Path)) {
			continue
		}
		name, err := b.builtAs(ctx)
		if err != nil {
			return err
		}
		if name != "" {
			b.brief.Files[i].Omitted = omittedBuilt + name
		}
	}
	return nil
}

// builtAs is an encoding of two bytes that the build names; empty for none. What the change does not touch is read at the base. It is looked for once.
func (b *builder) builtAs(ctx context.Context) (string, error) {
	if b.built != nil {
		return *b.built, nil
	}
	names, err := b.src.Files(ctx, b.o.Base, "")
	if err != nil {
		return "", err
	}
	var changed []string
	for i := range b.o.Diff.Files {
		if f := &b.o.Diff.Files[i]; f.Change != diff.Deleted {
			changed = append(changed, f.Path)
		}
	}
	name := ""
	for _, side := range []struct {
		commit string
		names  []string
	}{{b.o.Base, names}, {b.o.Head, changed}} {
		asked := slices.DeleteFunc(slices.Clone(side.names), func(p string) bool { return !configures(p) || b.o.unread(p) })
		for some := range slices.Chunk(asked, diffBatch) {
			texts, err := b.beginnings(ctx, side.commit, some, beginning)
			if err != nil {
				return "", err
			}
			for _, p := range some {
				if name == "" {
					name = buildEncoding(string(texts[p]))
				}
			}
		}
	}
	b.built = &name
	return name, nil
}
