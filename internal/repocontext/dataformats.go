package repocontext

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// begun is how formats begin that http.DetectContentType does not know, or whose first bytes are letters, as those of text are.
var begun = []string{
	"SQLite format 3\x00", "\xde\x12\x04\x95\x00\x00", "\x95\x04\x12\xde\x00\x00", "\x93NUMPY", "\x89HDF\r\n\x1a\n", "PAR1\x15", "ARROW1\x00\x00", "Obj\x01", // data
	"II*\x00", "MM\x00*", "II+\x00\x08\x00", "MM\x00+\x00\x08", "8BPS\x00", "\xabKTX 20\xbb\r\n\x1a\n", "DDS |\x00\x00\x00", "\x00\x00\x00\x0cjP  ", "\x00\x00\x00\x0cJXL ", // pictures
	"glTF\x02\x00\x00\x00", "Kaydara FBX Binary  \x00", // models
	"7z\xbc\xaf\x27\x1c", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "PK\x03\x04", "PK\x05\x06", "Rar!\x1a\x07", // packed
	"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "\x00\x01\x00\x00Standard ", "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00", "BSJB\x01\x00", // documents and symbols
	"icns\x00", "fLaC\x00\x00\x00\x22", "OggS\x00", "MThd\x00\x00\x00\x06", "ID3\x02\x00", "ID3\x03\x00", "ID3\x04\x00", "NIBArchive\x01\x00", // pictures, sounds, interfaces
	"OTTO\x00", "true\x00", "ttcf\x00", "wOFF\x00\x01\x00\x00", "wOF2\x00\x01\x00\x00", // fonts
	"\xfe\xed\xfe\xed", "\xce\xce\xce\xce", // keys
}

// begunAs is how formats begin that a byte or two tell, by the endings of their files.
var begunAs = map[string][]string{
	".mp3": mpeg, ".aac": mpeg, ".dmg": {"x\x01", "x\xda"}, ".jxl": {"\xff\x0a"}, ".der": der, ".p12": der, ".pfx": der, ".jks": der, ".keystore": der, ".gpg": openPGP, ".sig": openPGP,
	".onnx": {"\x08\x03", "\x08\x04", "\x08\x05", "\x08\x06", "\x08\x07", "\x08\x08", "\x08\x09", "\x08\x0a", "\x08\x0b"},
}

var (
	mpeg    = []string{"\xff\xfb", "\xff\xf3", "\xff\xf2", "\xff\xfa", "\xff\xf1", "\xff\xf9"}
	der     = []string{"0\x80", "0\x81", "0\x82", "0\x83"}
	openPGP = []string{"\x84", "\x85", "\x88", "\x89", "\x8c", "\x95\x01", "\x98", "\x99", "\xa3", "\xc1", "\xc2", "\xc4", "\xc6", "\xd2"}
)

// sized are formats whose first letters a number follows. Its highest byte is small in any file of some size, which no text has there, and no comment fits in before it.
var sized = []struct {
	as string
	at int
}{
	{"GIF87a", 7}, {"GIF89a", 7}, {"BM", 5}, {"RIFF", 7}, {"FORM", 4}, {"wOFFOTTO", 8}, {"wOFFtrue", 8}, {"wOF2OTTO", 8}, {"wOF2true", 8}, {"wOF2ttcf", 8},
}

var (
	// wideGIF is a picture of 2304 to 3583 dots, whose number looks like a blank, and behind it no sign that begins a comment.
	wideGIF = lazyregexp.New(`^GIF8[79]a(?s:.)[\t-\r][^!"#%&'*/;<{\x60-][\x00-\x08\x0e-\x1f]`)
	blender = lazyregexp.New(`^BLENDER(?:[-_]v\d{3}|17-\d\dv\d{4})[A-Z0-9]{4}(?s:..)\x00`)
	pdf     = lazyregexp.New(`^%PDF-\d\.\d\s+(?:\d+ \d+ obj\b|%(?:äüöß|🖤|µ¶)\s+(?:\d+ \d+ obj\b|% Written by)|%)`)
	tarName = lazyregexp.New(`^[\w:./@+-]+\x00*$`)
)

// beginsInLetters reports whether data begins as one of the formats whose first bytes are those of text, and goes on as no text does.
func beginsInLetters(data []byte) bool {
	for _, format := range sized {
		if bytes.HasPrefix(data, []byte(format.as)) && len(data) > format.at {
			return isControl(rune(data[format.at])) || wideGIF.Match(data)
		}
	}
	if begin := pdf.FindString(string(data[:min(len(data), 64)])); begin != "" { // a comment of four bytes that are no text, as a rule
		return begin[len(begin)-1] != '%' || oddAtOnce(data[len(begin):])
	}
	tar := len(data) > 262 && string(data[257:262]) == "ustar" && tarName.Match(data[:100])
	return tar || blender.Match(data)
}

// oddAtOnce reports whether the first letter of data, or the second, is none of text.
func oddAtOnce(data []byte) bool {
	for range 2 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 || isControl(r) {
			return true
		}
		data = data[size:]
	}
	return false
}

// isControl reports whether a letter is one that no text has.
func isControl(r rune) bool { return r < '\t' || r > '\r' && r < ' ' }

// boxed are the marks of media files, which stand at byte 4, behind a length whose first byte is zero.
var boxed = []string{"ftyp", "moov", "mdat", "wide", "free"}

// beginsAs reports whether data begins as its ending says, where few bytes tell.
func beginsAs(name string, data []byte) bool {
	return oddAtOnce(data) && slices.ContainsFunc(begunAs[strings.ToLower(path.Ext(name))], func(as string) bool { return bytes.HasPrefix(data, []byte(as)) })
}

// beginsAsData reports whether data begins as one of them.
func beginsAsData(data []byte) bool {
	behind := func(at int, as string) bool { return len(data) > at && bytes.HasPrefix(data[at:], []byte(as)) }
	if len(data) > 8 && data[0] == 0 && slices.ContainsFunc(boxed, func(as string) bool { return behind(4, as) }) {
		return true
	}
	// The mark of a disc image stands at 0x8001. Formats in front of whose mark a comment may begin are none that is known: safetensors, models of TensorFlow Lite, fonts in EOT.
	return data[0] == 0 && behind(0x8001, "CD001") || slices.ContainsFunc(begun, func(as string) bool { return bytes.HasPrefix(data, []byte(as)) })
}

// catalogHeader is how long the header of compiled translations is: seven numbers of four bytes.
const catalogHeader = 28

// catalog reports whether data is translations as msgfmt and its like write them: two tables of lengths and places, and behind them, without a gap,
// the texts they speak of, each with a NUL at its end. They are text for the greater part, but nothing else can stand behind such a beginning.
func catalog(data []byte) bool {
	const row = 8
	if len(data) < catalogHeader {
		return false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0x95 {
		order = binary.BigEndian
	}
	number := func(at uint64) uint64 { return uint64(order.Uint32(data[at:])) }
	if number(0) != 0x950412de || number(4) != 0 {
		return false
	}
	rows, texts, hashes := number(8), number(12), number(24)
	behind := catalogHeader + 2*row*rows // the tables
	if size := number(20); size > 0 {
		if hashes != behind {
			return false
		}
		behind += 4 * size
	}
	if rows == 0 || texts != catalogHeader || number(16) != catalogHeader+row*rows {
		return false
	}
	for at := uint64(catalogHeader); at < catalogHeader+2*row*rows; at += row {
		if at+row > uint64(len(data)) {
			return true // more tables than was read
		}
		length, place := number(at), number(at+4)
		if place != behind {
			return false
		}
		behind += length + 1
		if end := place + length; end < uint64(len(data)) && data[end] != 0 {
			return false
		}
	}
	return uint64(len(data)) <= behind
}

// besideText is what is left of a picture or a scene without the text that it announces by a length, such as the diagram in a picture of draw.io. Of other data it is all.
func besideText(data []byte) []byte {
	const picture, scene, head = "\x89PNG\r\n\x1a\n", "glTF\x02\x00\x00\x00", 20
	behind := func(at int, length uint32) int { return min(at+int(min(length, beginning)), len(data)) }
	switch {
	case bytes.HasPrefix(data, []byte(scene)) && len(data) > head && string(data[head-4:head+1]) == "JSON{":
		return slices.Concat(data[:head], data[behind(head, binary.LittleEndian.Uint32(data[head-8:])):])
	case bytes.HasPrefix(data, []byte(picture)):
		rest := []byte(picture)
		for at, end := len(picture), 0; at+8 < len(data); at = end { // a chunk: its length, its kind, what it holds and a sum
			end = behind(at+12, binary.BigEndian.Uint32(data[at:]))
			if kind := string(data[at+4 : at+8]); kind != "tEXt" && kind != "iTXt" {
				rest = append(rest, data[at:end]...)
			}
		}
		return rest
	}
	return data
}

// plainPlural reports whether each rule for plurals in compiled translations is a formula, whatever text it stands in: readers in Ruby and Perl and old ones in PHP run it, and do
// not agree on the row in which they look for it (threats.md T898).
func plainPlural(data []byte) bool {
	return !slices.ContainsFunc(pluralRule.FindAllStringSubmatch(string(data), -1), func(rule []string) bool { return !formula.MatchString(rule[1]) })
}

var (
	pluralRule = lazyregexp.New(`(?i)plural[-_]forms\s*:([^\n]*)`)
	// formula is what stands there, and what tools write where somebody has to put one.
	formula = lazyregexp.New(`^\s*nplurals\s*=\s*(?:\d+|INTEGER)\s*;\s*plural\s*=\s*(?:[n0-9?:<>=!&|()%+*/\s-]+|EXPRESSION)[;\s]*$`)
)
