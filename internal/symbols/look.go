package symbols

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// Bounds of one look through a tree. They count bytes and files, so that the same tree gives the same answer.
const (
	// scanTotal bounds how much text is read for the words in it, in bytes; scanFiles how many files.
	scanTotal = 32 << 20
	scanFiles = 20_000
	// parseTotal bounds how much is parsed, in bytes, at about 0.7 MB/s a core. What is in the cache costs nothing.
	parseTotal = 4 << 20
	// failureCost is what a file is charged that cannot be parsed, in bytes, besides twice its size: about what its time would have read.
	failureCost = 200 << 10
	// batch is how many files are read and parsed at once.
	batch = 64
	// foundUses and foundDefinitions bound what is kept of one file.
	foundUses        = 200
	foundDefinitions = 1000
	// FileLimit is the largest file that is looked through, in bytes.
	FileLimit = parseLimit
)

// Candidate is a file to look through. Of a language whose structure is not read, only Wanted.Gone is looked for.
type Candidate struct{ Path, Language string }

// Wanted are the names to look for.
type Wanted struct {
	// Defined are names whose definitions are wanted, Used those whose uses are, Gone those whose uses are wanted in files of any kind.
	Defined, Used, Gone map[string]bool
}

func (w Wanted) uses(name string) bool { return w.Used[name] || w.Gone[name] }

// Found is what a tree has of the wanted names, by path. Uses have no qualifier.
type Found map[string]File

// Missed is what a look gave up for its bounds.
type Missed struct {
	// Unparsed is how many files with a wanted name were not parsed, or not to the end, within the limits on time and size: they are looked
	// through line by line. Unread is how many files were not looked through at all.
	Unparsed, Unread int
}

// Look looks for names in files, in the order given, within the bounds. A file whose structure cannot be read is looked through
// line by line. The texts are those that read gives for paths; what it leaves out is not there.
func Look(ctx context.Context, files []Candidate, want Wanted, cache *Cache, read func(context.Context, []string) (map[string][]byte, error)) (Found, Missed, error) {
	found, missed := Found{}, Missed{Unread: max(0, len(files)-scanFiles)}
	scan, parse := scanTotal, parseTotal
	files = files[:min(len(files), scanFiles)]
	for len(files) > 0 && scan > 0 {
		n := min(batch, len(files))
		part := files[:n]
		files = files[n:]
		paths := make([]string, n)
		for i, c := range part {
			paths[i] = c.Path
		}
		texts, err := read(ctx, paths)
		if err != nil {
			return nil, missed, err
		}
		got := make([]File, n)
		failed, slow := make([]bool, n), make([]bool, n)
		var g errgroup.Group
		g.SetLimit(min(4, runtime.GOMAXPROCS(0)))
		for i, c := range part {
			text := texts[c.Path]
			scan -= len(text)
			lines, structured := mentions(text, want, Known(c.Language))
			if got[i] = lines; !structured || !Known(c.Language) {
				continue
			}
			key := keyOf(c.Language, text)
			if f, ok := cache.get(key); ok {
				got[i] = f.only(want)
				continue
			}
			if parse < len(text) || stuck.Load() >= stuckLimit {
				slow[i] = true
				continue
			}
			parse -= len(text)
			g.Go(func() error {
				f, ok, late := ReadInTime(c.Language, text)
				slow[i] = late
				if failed[i] = !ok; ok {
					cache.put(key, f)
					got[i] = f.only(want)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return nil, missed, err
		}
		if err := context.Cause(ctx); err != nil {
			return nil, missed, err
		}
		for i, c := range part {
			if slow[i] {
				missed.Unparsed++
			}
			if failed[i] {
				parse -= failureCost + 2*len(texts[c.Path])
			}
			if len(got[i].Definitions)+len(got[i].Uses) > 0 {
				found[c.Path] = got[i]
			}
		}
	}
	missed.Unread += len(files)
	return found, missed, nil
}

// only leaves what is wanted, and the functions and types around it.
func (f File) only(want Wanted) File {
	var out File
	for _, d := range f.Definitions {
		if len(out.Definitions) < foundDefinitions && (want.Defined[d.Name] || want.uses(d.Name)) {
			out.Definitions = append(out.Definitions, d)
		}
	}
	within := map[Definition]bool{}
	for _, u := range f.Uses {
		if !want.uses(u.Name) || len(out.Uses) >= foundUses {
			continue
		}
		out.Uses = append(out.Uses, Use{Name: u.Name, Line: u.Line})
		if d, ok := f.Around(u.Line); ok && !within[d] && !slices.Contains(out.Definitions, d) {
			within[d] = true
			out.Definitions = append(out.Definitions, d)
		}
	}
	slices.SortStableFunc(out.Definitions, func(a, b Definition) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(out.Uses, func(a, b Use) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Name, b.Name)) })
	return out
}

// Around is the innermost function around a line, or else the innermost type.
func (f File) Around(line int) (Definition, bool) {
	var best Definition
	for _, d := range f.Definitions {
		if d.Kind == Value || d.Start > line || d.End < line {
			continue
		}
		if best.End == 0 || best.Kind != Function && d.Kind == Function || (best.Kind == Function) == (d.Kind == Function) && d.End-d.Start <= best.End-best.Start {
			best = d
		}
	}
	return best, best.End > 0
}

// mentions finds the wanted words of a text line by line. structured says that the text is worth parsing: a line looks as if it
// defined a name, or a name whose uses are wanted stands in it.
func mentions(text []byte, want Wanted, code bool) (f File, structured bool) {
	line := 1
	for at := 0; at < len(text); {
		c := text[at]
		if !inWord(c) {
			if c == '\n' {
				line++
			}
			at++
			continue
		}
		start := at
		for at < len(text) && inWord(text[at]) {
			at++
		}
		w := text[start:at]
		if len(w) < 2 || len(w) > nameLimit {
			continue
		}
		uses := want.Gone[string(w)] || code && want.Used[string(w)]
		if !uses && !(code && want.Defined[string(w)]) {
			continue
		}
		name := string(w)
		if code && mayDefine(text, start) {
			structured = true
			if declared(text, start) {
				f.Definitions = append(f.Definitions, Definition{Name: name, Kind: Function, Start: line, At: line, Head: line, End: line})
			}
		}
		if uses {
			if n := len(f.Uses); n == 0 || f.Uses[n-1].Line != line || f.Uses[n-1].Name != name {
				f.Uses = append(f.Uses, Use{Name: name, Line: line})
			}
			structured = true
		}
		if len(f.Definitions) >= foundDefinitions || len(f.Uses) >= foundUses {
			break
		}
	}
	return f, structured
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// declared reports whether the word that begins at start follows one that declares a function or a type in some language.
func declared(text []byte, start int) bool {
	switch previous, _ := wordBefore(text, start); previous {
	case "func", "function", "def", "fn", "class", "interface", "struct", "enum", "trait", "module", "type", "record", "define":
		return true
	}
	return false
}

// notTypes are words that stand in front of a name that is used.
var notTypes = map[string]bool{"return": true, "new": true, "throw": true, "await": true, "else": true, "case": true, "in": true, "of": true,
	"and": true, "or": true, "not": true, "if": true, "while": true, "yield": true, "raise": true, "go": true, "defer": true, "delete": true,
	"typeof": true, "instanceof": true, "is": true, "import": true, "from": true, "use": true, "using": true, "package": true, "extends": true,
	"implements": true, "unless": true, "when": true, "elif": true, "except": true, "assert": true, "echo": true, "print": true}

// mayDefine reports whether the word that begins at start may be defined there: nothing but a word, a bracket that ends a type, or
// the beginning of the line stands in front of it.
func mayDefine(text []byte, start int) bool {
	previous, last := wordBefore(text, start)
	if previous == "" {
		return last == 0 || bytes.IndexByte([]byte(")>]*&?,{$;"), last) >= 0
	}
	return !notTypes[previous]
}

// wordBefore is the word in front of a place on its line, or else the byte there; 0 at the beginning of the line.
func wordBefore(text []byte, start int) (string, byte) {
	before := bytes.TrimRight(text[max(0, start-nameLimit):start], " \t")
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	if len(before) == 0 {
		return "", 0
	}
	i := len(before)
	for i > 0 && inWord(before[i-1]) {
		i--
	}
	return string(before[i:]), before[len(before)-1]
}

// keyOf names the content of a file of a language.
func keyOf(language string, text []byte) key {
	h := sha256.New()
	h.Write([]byte(language + "\x00"))
	h.Write(text)
	return key(h.Sum(nil))
}
