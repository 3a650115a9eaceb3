package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// Reasons of files that hold text and that git shows none of. They are never excused: text that nobody read is not approved.
const (
	OmittedEncoding  = "text that is not UTF-8 or ASCII"
	OmittedNUL       = "text with NUL bytes"
	OmittedSpelled   = "text with what stands for a byte that is not UTF-8, such as ⟨0xE9⟩"
	OmittedDeclared  = "text that says it is in an encoding in which other letters can stand than are shown"
	OmittedConverted = "text that .gitattributes has git change in a checkout or an archive"
	omittedBuilt     = "text with other letters than those of ASCII, which the build may take for others: it names the encoding "
	OmittedUnknown   = "data of an unknown kind"
	OmittedArchive   = "data that a tool may load from where it lies"
	OmittedPacked    = "a packed page or script, which servers send in the place of the one it is named like"
	omittedTarget    = "a link or a submodule of which git shows no text"
	omittedUnread    = "not readable"
	omittedLarge     = "too large"
	omittedMany      = "one of too many changed files of attributes"
)

// beginning is how much of a file is looked at to tell text from other data, in bytes.
const beginning = 64 << 10

// excused are the reasons for which a file may go unread: it is no text, or a rule or the configuration leaves it out.
var excused = []string{OmittedExcluded, OmittedBinary, OmittedGenerated, OmittedVendored, OmittedLockFile}

// lookInto finds out which of the files that git shows no text of are text all the same: with a NUL byte, in another encoding,
// or larger than what is compared. Neither a file's name nor git's word for it may hide text from a review.
func (b *builder) lookInto(ctx context.Context) error {
	var asked []int
	for i, bf := range b.brief.Files {
		if bf.Omitted != "" && (bf.Omitted == OmittedBinary || !slices.Contains(excused, bf.Omitted)) {
			asked = append(asked, i)
		}
	}
	for batch := range slices.Chunk(asked, diffBatch) {
		whys, err := b.textual(ctx, batch)
		if err != nil {
			return err
		}
		for i, why := range whys {
			bf := &b.brief.Files[i]
			switch {
			case why == notText:
				bf.Omitted = OmittedBinary
			case bf.Omitted == OmittedBinary:
				bf.Omitted = why
			}
		}
	}
	for i := range b.brief.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		bf.Excused = slices.Contains(excused, bf.Omitted)
		if bf.Omitted == OmittedExcluded { // a file that came from there, or went there, is to be read, at the base too
			bf.Excused = b.o.excluded(f.Path) && (f.OldPath == "" || b.o.excluded(f.OldPath)) && !bf.Moved
		}
	}
	return nil
}

// executable is git's mode of a file that can be run by itself.
const executable = 0o100755

// notText is what textual says of a file that is no text on either side.
const notText = ""

// textual says of each file in what way one side of its change is text, or that nothing could be read, which is no proof of anything.
func (b *builder) textual(ctx context.Context, batch []int) (map[int]string, error) {
	whys := make(map[int]string, len(batch))
	var left []int
	for _, i := range batch {
		f := &b.o.Diff.Files[i]
		mode := cmp.Or(f.NewMode, f.OldMode) // of an unchanged mode the diff may tell one side
		switch {
		case mode == executable:
			whys[i] = OmittedUnknown
		case f.Change == diff.Modified && yarnCache(f.Path):
			whys[i] = OmittedArchive
		case mode != plainMode && mode != 0: // its name and its text say where it leads, not of what kind it is
			whys[i] = omittedTarget
		default:
			whys[i] = omittedUnread
			left = append(left, i)
		}
	}
	for _, side := range []struct {
		commit string
		path   func(*diff.File) string
		not    diff.Change // of which nothing is there, but for what stands in its place
	}{
		{b.o.Head, func(f *diff.File) string { return f.Path }, diff.Deleted},
		{cmp.Or(b.o.From, b.o.Base), func(f *diff.File) string { return cmp.Or(f.OldPath, f.Path) }, diff.Added},
	} {
		var names []string
		for _, i := range left {
			if f := &b.o.Diff.Files[i]; f.Change != side.not {
				names = append(names, side.path(f))
			}
		}
		if len(names) == 0 {
			continue
		}
		texts, err := b.src.Begins(ctx, side.commit, names, beginning)
		if err != nil {
			return nil, err
		}
		odd, err := b.oddBehind(ctx, side.commit, texts)
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(i int) bool {
			f := &b.o.Diff.Files[i]
			name := side.path(f)
			data := texts[name]
			if len(data) == 0 || f.Change == side.not {
				return false
			}
			if whys[i] = text(name, data); f.Change == diff.Deleted { // nothing loads what goes
				whys[i] = textAnywhere(name, data)
			} else if odd[name] {
				whys[i] = cmp.Or(whys[i], OmittedNUL)
			}
			return whys[i] != notText
		})
	}
	return whys, nil
}

// oddBehind are the files of which more has to be read than their beginning, and that hold what is no data, or are too large: translations, and what lies where templates do.
func (b *builder) oddBehind(ctx context.Context, commit string, texts map[string][]byte) (map[string]bool, error) {
	odd := map[string]bool{}
	var long []string
	for name, text := range texts {
		if len(text) == beginning && namedData(name) && (isCatalog(name) || amongTemplates.MatchString("/"+name)) {
			long = append(long, name)
		}
	}
	const atOnce = 4 // each may be as large as lockLimit
	for some := range slices.Chunk(long, atOnce) {
		whole, err := b.src.ReadFiles(ctx, commit, some, lockLimit)
		if err != nil {
			return nil, err
		}
		for _, name := range some {
			data, ok := whole[name]
			odd[name] = !ok || defines.Match(data) || isCatalog(name) && !plainPlural(data)
		}
	}
	return odd, nil
}

var (
	// amongTemplates matches folders of which programs in Go, such as Helm, parse every file, whatever its name.
	amongTemplates = lazyregexp.New(`(?i)/(?:[^/]*[-_.])?(?:template|tmpl|view|layout|partial|page)s?(?:[-_.][^/]*)?/`)
	// defines matches what replaces a template by another in its language: what else stands in a file does not count (threats.md T908).
	defines = lazyregexp.New("\\{\\{-?\\s*(?:define|block)[\\s\"`(]")
)

// HoldsText reports whether a file of which nothing was shown holds text, by its name and its first bytes.
func HoldsText(path string, data []byte) bool { return text(path, data) != notText }

// text says in what way data that git takes for binary, or did not look at, is text or may be; empty when it is not. A picture's first
// bytes are easily put before a program, so both the name and the bytes have to say that it is no text.
func text(path string, data []byte) string {
	if len(data) == 0 {
		return notText
	}
	return cmp.Or(loaded(path), textAnywhere(path, data))
}

// isProgram reports whether data begins as a program of Linux, macOS or Windows.
func isProgram(data []byte) bool {
	return slices.ContainsFunc([]string{"\x7fELF", "MZ\x90\x00", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}, func(as string) bool { return bytes.HasPrefix(data, []byte(as)) })
}

// textAnywhere is text of a file whose place says nothing.
func textAnywhere(name string, data []byte) string {
	switch {
	case namedData(name) && isProgram(data):
		return OmittedUnknown
	case namedData(name) && (known(data) || beginsAs(name, data)):
		if readable(besideText(data)) && !catalog(data) || opensAsText(data) || defines.Match(data) || isCatalog(name) && len(data) < beginning && !plainPlural(data) {
			return OmittedNUL
		}
		return notText
	case wide(data):
		return OmittedEncoding
	case lang.Of(name) != "", bytes.HasPrefix(data, []byte("#!")):
		return OmittedNUL
	}
	// Bytes above ASCII may be letters of any encoding, so only control bytes speak against text: of packed data they are a tenth.
	plain, control := 0, 0
	for _, c := range data {
		switch {
		case c == 0:
			continue
		case c < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1b\b", rune(c)), c == 0x7f:
			control++
		}
		plain++
	}
	if plain > 0 && control*20 <= plain {
		return OmittedNUL
	}
	return OmittedUnknown // also where a picture begins as nothing known: a program with odd bytes in a comment does (threats.md T897)
}

// dataEndings are the endings of files that hold no text and that nothing runs or loads as code. What has another ending and is
// not shown was not read: nobody can tell by its bytes what runs it.
var dataEndings = strings.Fields(`png jpg jpeg gif webp bmp ico icns tif tiff psd avif heic woff woff2 ttf otf eot mp3 wav ogg flac m4a mp4
	mov avi mkv webm zip gz tgz bz2 xz zst 7z rar tar dmg iso pdf doc docx xls xlsx ppt pptx odt ods odp pdb sqlite sqlite3 mdb npy npz parquet
	arrow avro onnx safetensors h5 hdf5 tflite keystore jks p12 pfx der mo gpg sig blend fbx glb ttc opus aac aif aiff mid midi m4v jxl jp2 ktx2 dds nib`)

// namedData reports whether a name's ending says that the file holds no text.
func namedData(name string) bool {
	return slices.Contains(dataEndings, strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")))
}

// isCatalog reports whether a name says that a file holds compiled translations.
func isCatalog(name string) bool { return strings.EqualFold(path.Ext(name), ".mo") }

// ofData reports whether a name's ending says that the file holds no text, and its place that nothing loads it.
func ofData(name string) bool { return loaded(name) == "" && namedData(name) }

// packedEndings are the endings of a page or a script that is packed: gzip_static of nginx, Rails and Caddy send such a file, and Emacs loads it, without being told to by any text.
var packedEndings = strings.Fields(`js mjs css html htm wasm svg el elc`)

// archiveEndings are those of packed files, archivesRun is where tools take any of them by default.
var (
	archiveEndings = []string{".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"}
	// takesAny is where tools take files whatever their ending is.
	takesAny    = lazyregexp.New(`/(?:[\w-]+\.d|dags|sites-(?:enabled|available)|(?:group|host)_vars)/|^/inventor(?:y|ies)/|(?:ansible|playbook|deploy|infra|ops|provision)[^/]*/(?:.*/)?inventor(?:y|ies)/`)
	archivesRun = lazyregexp.New(`/\.?netlify/functions/|/renv/(?:cellar|local)/|/packrat/src/`)
)

// loaded says why packed data is more than data where it lies: Helm renders all charts of its folder, Terraform installs the providers of its own, the images of
// databases run what lies in theirs, Airflow imports what ends as an archive in its own, be it called a picture (threats.md T833), Netlify serves the functions and renv installs the
// packages of theirs, servers and Ansible take what lies in folders of settings (threats.md T909), tools may take any archive where they obey what lies (threats.md T893), and servers send app.js.gz for app.js. It is empty for all else.
func loaded(name string) string {
	dir, base := path.Split(strings.ToLower(name))
	if takesAny.MatchString("/"+dir) || holdsTemplate([]byte(dir)) { // a folder whose name a template makes
		return OmittedArchive
	}
	if slices.Contains(archiveEndings, path.Ext(base)) {
		if why, manifest := pushpolicy.Acts(name); why != "" && !manifest || archivesRun.MatchString("/"+dir) {
			return OmittedArchive
		}
	}
	stem := strings.TrimPrefix(path.Ext(strings.TrimSuffix(base, path.Ext(base))), ".")
	switch path.Ext(base) {
	case ".tgz":
		if path.Base(dir) == "charts" {
			return OmittedArchive
		}
	case ".zip":
		if strings.Contains("/"+dir, "/terraform.d/plugins/") {
			return OmittedArchive
		}
	case ".gz", ".zst":
		if slices.Contains(packedEndings, stem) {
			return OmittedPacked
		}
	}
	return ""
}

// yarnCache reports whether a file is a package as Yarn keeps it for a run without an installation. Its name holds the sum of what is in it, so an update
// brings another name.
func yarnCache(name string) bool {
	return strings.HasSuffix("/"+path.Dir(name), "/.yarn/cache") && path.Ext(name) == ".zip"
}

// readable reports whether data that begins as a known format goes on as text: a few bytes are easily put before a program. Of
// pictures and packed data, a third and more are bytes that no text holds.
func readable(data []byte) bool {
	odd := 0
	for s := data; len(s) > 0; {
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\n\r\f\v", r) || r == 0x7f {
			odd++
		}
		s = s[size:]
	}
	return odd*10 <= len(data)
}

// opensAsText reports whether data looks like text to tools that read no more than its first bytes, as generators of projects do
// before they run what is written in a template: whatever follows, it may be run as text (threats.md T719). It counts as isbinaryfile of npm does, which
// takes bytes for plain that readable does not, does not look at what follows the broken beginning of a letter, and takes PDFs for none.
func opensAsText(data []byte) bool {
	const first = 512
	marks := []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff", "\x84\x31\x95\x33"} // of UTF-8, UTF-16, UTF-32 and GB18030
	if slices.ContainsFunc(marks, func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) }) {
		return true
	}
	odd, end := 0, min(first, len(data))
	for i := 0; i < end; i++ {
		c := data[i]
		if c == 0 {
			return false
		}
		if c >= 7 && c <= 14 || c >= ' ' && c <= 0x7f {
			continue
		}
		if more := bits.LeadingZeros8(^c) - 1; more >= 1 && more <= 3 && i+more < len(data) {
			i++
			if !slices.ContainsFunc(data[i:i+more], func(c byte) bool { return c>>6 != 0b10 }) {
				i += more - 1
				continue
			}
		}
		odd++
	}
	return odd*10 <= end && !bytes.HasPrefix(data, []byte("%PDF-"))
}

// known reports whether data begins as a picture, a sound, a font, an archive or another format that is no text. Where it begins in a letter or a sign, as a program may, a byte that no
// text has follows the name of the format at once, so no comment can begin before it (threats.md T897).
func known(data []byte) bool {
	if beginsAsData(data) || beginsInLetters(data) {
		return true
	}
	kind := http.DetectContentType(data)
	textual := data[0] >= ' ' && data[0] < 0x7f || strings.ContainsRune("\t\n\r\f\v", rune(data[0]))
	return !textual && kind != "application/vnd.ms-fontobject" && !strings.HasPrefix(kind, "text/") && kind != "application/octet-stream"
}

// wide reports whether data is UTF-16 or UTF-32: it says so at its beginning, or beside most of its letters stands a zero byte,
// always on the same side.
func wide(data []byte) bool {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return true
		}
	}
	letter := func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }
	before, behind := 0, 0
	for i := 0; i+1 < len(data); i += 2 {
		switch {
		case data[i] == 0 && letter(data[i+1]):
			before++
		case data[i+1] == 0 && letter(data[i]):
			behind++
		}
	}
	pairs := len(data) / 2
	return pairs > 1 && max(before, behind)*10 >= pairs*7
}
