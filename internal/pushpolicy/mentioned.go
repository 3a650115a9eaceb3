package pushpolicy

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// hear notes what may be paths in the texts of a finding about a file in a folder. Chinese and other languages have no blanks around a name, so words of ASCII alone are noted too.
func (a *Asked) hear(folder string, texts ...string) {
	a.texts = append(a.texts, texts...)
	for _, text := range texts {
		text = strings.ReplaceAll(text, `\`, "/")
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !ofPath(r) && !unicode.IsLetter(r) }) {
			a.note(folder, word)
		}
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !ofPath(r) }) {
			a.note(folder, word)
		}
	}
}

// ofPath reports whether a character is one that paths in texts are made of.
func ofPath(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-+@~/", r)
}

// note keeps a word as a path, as people, diffs and links write it.
func (a *Asked) note(folder, word string) {
	keep := func(word string) {
		if from := a.said[word]; !slices.Contains(from, folder) {
			a.said[word] = append(from, folder)
		}
	}
	for _, mark := range []string{"", "_", "@"} {
		word := strings.TrimSuffix(strings.TrimPrefix(word, mark), mark)
		word = strings.TrimPrefix(strings.TrimRight(word, "."), "./")
		keep(strings.TrimPrefix(word, "/"))
		if i := strings.Index(strings.ToLower(word), "/"+strings.ToLower(a.repo)+"/blob/"); i >= 0 && len(word) == len(strings.ToLower(word)) {
			for _, end := range a.linked(word[i+len("/"+a.repo+"/blob/"):]) {
				keep(end)
			}
		}
		for _, side := range []string{"a/", "b/"} {
			if rest, in := strings.CutPrefix(word, side); in {
				keep(rest)
			}
		}
	}
}

// mostLink is how much of a link is read behind its repository, in bytes: a branch and a path.
const mostLink = 2048

// linked are the paths behind a branch in a link to a file. The name of a branch may have slashes: it is the longest end that stands, or what is behind the first one.
func (a *Asked) linked(behind string) (ends []string) {
	_, end, more := strings.Cut(behind[:min(len(behind), mostLink)], "/")
	for ; more && end != ""; _, end, more = strings.Cut(end, "/") {
		if slices.Contains(a.stands[path.Base(end)], end) {
			return []string{end}
		}
		ends = append(ends, end)
	}
	return ends[:min(1, len(ends))]
}

// mentioned reports whether a finding names a file (threats.md T853): by its path, by the end of it from a folder on, or by its last part alone, which is looked for beside what the finding
// is about first. What can mean several files names none of them. README stands for README.md, too.
func (a Asked) mentioned(name string) bool {
	if !oneWord(name) && a.quotes(name) {
		return true
	}
	for end, more := name, true; more; _, end, more = strings.Cut(end, "/") {
		if a.means(end, end, name) {
			return true
		}
	}
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return prose.MatchString(base) && capitals.MatchString(stem) && a.means(stem, base, name)
}

// means reports that a word of findings stands for a file, and not for others whose paths end as this one's does. A new file is one beside what the finding is about, or has its whole path.
func (a Asked) means(word, end, name string) bool {
	folders, said := a.said[word]
	if !said || !strings.ContainsAny(word, "./") && !capitals.MatchString(word) { // others are mostly words
		return false
	}
	alike := a.stands[path.Base(end)]
	var beside []string
	for _, folder := range folders {
		beside = append(beside, path.Join(folder, end))
	}
	stands := func(file string) bool { return slices.Contains(alike, file) }
	whole := strings.Contains(end, "/")
	switch {
	case whole && stands(end):
		return name == end
	case slices.ContainsFunc(beside, stands):
		return slices.Contains(beside, name) && stands(name)
	case stands(end):
		return name == end
	}
	alike = slices.DeleteFunc(slices.Clone(alike), func(file string) bool { return !strings.HasSuffix(file, "/"+end) })
	switch {
	case len(alike) > 0:
		return !slices.ContainsFunc(alike, func(file string) bool { return file != name })
	case whole:
		return name == end
	}
	return strings.Contains(end, ".") && word == end && slices.Contains(beside, name)
}

var capitals = lazyregexp.New(`^[A-Z][A-Z_-]+$`)

// oneWord reports that a path is one word in a text.
func oneWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !ofPath(r) && !unicode.IsLetter(r) })
}

// quotes reports that a text has a whole path in it that is no word, as one with brackets or blanks.
func (a Asked) quotes(name string) bool {
	within := func(r rune) bool { return ofPath(r) || unicode.IsLetter(r) }
	return slices.ContainsFunc(a.texts, func(text string) bool {
		for rest := text; ; {
			before, after, found := strings.Cut(rest, name)
			if !found {
				return false
			}
			last, _ := utf8.DecodeLastRuneInString(before)
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ".")); (before == "" || !within(last)) && (after == "" || !within(next)) {
				return true
			}
			rest = after
		}
	})
}
