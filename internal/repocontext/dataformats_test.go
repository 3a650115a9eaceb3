package repocontext

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// compiled are translations as msgfmt writes them, with a table of hashes of some size.
func compiled(order binary.AppendByteOrder, hashes int, texts ...string) string {
	rows := len(texts) / 2
	const header = 28
	at := header + 8*len(texts) + 4*hashes
	var b []byte
	for _, n := range []int{0x950412de, 0, rows, header, header + 8*rows, hashes, header + 8*len(texts)} {
		b = order.AppendUint32(b, uint32(n))
	}
	for _, text := range texts {
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(text))), uint32(at))
		at += len(text) + 1
	}
	return string(b) + strings.Repeat("\x00", 4*hashes) + strings.Join(texts, "\x00") + "\x00"
}

// chunk is a part of a picture, with any sum.
func chunk(kind, data string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) + kind + data + "\x9a\xbc\xde\xf0"
}

// Ordinary data is known by its first bytes, and where it is text for the greater part by its tables, which a program cannot have behind them.
func TestOrdinaryData(t *testing.T) {
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("A message, number %d, %s", i, strings.Repeat("that people read ", 20)))
	}
	little, big := compiled(binary.LittleEndian, 0, texts...), compiled(binary.BigEndian, 149, texts...)
	rows := strings.Repeat("the quick brown fox and the lazy dog ", 100)
	numbers := strings.Repeat("a\x00b\x00", 2000)
	base := "SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20" + strings.Repeat("\x0d\x00\x00\x00\x01a short row ", 400)
	drawn := png[:8] + chunk("IHDR", "\x00\x00\x03\x00\x00\x00\x03\x00\x08\x06\x00\x00\x00")
	behind := "\n" + strings.Repeat(program, 100)
	for _, row := range []struct{ says, path, data, want string }{
		{"translations", "locale/de/django.mo", little, notText},
		{"translations of the other order, with hashes", "a.mo", big, notText},
		{"many translations, of which the beginning is read", "a.mo", little[:1700], notText},
		{"a program behind translations", "a.mo", little + behind, OmittedNUL},
		{"a program behind the beginning of translations", "a.mo", "\xde\x12\x04\x95\x00\x00\x00\x00" + behind, OmittedNUL},
		{"a program between tables and texts", "a.mo", compiled(binary.LittleEndian, 0, texts...)[:28] + behind, OmittedNUL},
		{"translations under the name of a program", "a.py", little, OmittedNUL},
		{"translations with a text that ends too soon", "a.mo", strings.Replace(little, "read \x00", "read \x01", 1), OmittedNUL},
		{"a database", "test/fixture.sqlite3", base, notText},
		{"a program behind the beginning of a database", "a.sqlite", "SQLite format 3\x00" + behind, OmittedNUL},
		{"a database under a name that says nothing", "app.db", base, OmittedUnknown},
		{"numbers of 16 bits", "a.npy", "\x93NUMPY\x01\x00v\x00{'descr': '<u2'}\n" + numbers, notText},
		{"a picture in layers", "a.tif", "II*\x00\x08\x00\x00\x00" + numbers, notText},
		{"a scene", "a.glb", "glTF\x02\x00\x00\x00" + rows + numbers, notText},
		{"a program behind the beginning of a scene", "a.glb", "glTF\x02\x00\x00\x00" + behind, OmittedNUL},
		{"a scene of many parts", "a.glb", "glTF\x02\x00\x00\x00\x00\x00\x10\x00\x00\x00\x02\x00JSON" + strings.Repeat(`{"node":12}`, 100), notText},
		{"a program behind the parts of a scene", "a.glb", "glTF\x02\x00\x00\x00\x00\x00\x10\x00\x02\x00\x00\x00JSON{}" + behind, OmittedNUL},
		{"a picture of draw.io with its diagram", "docs/a.drawio.png", drawn + chunk("tEXt", "mxfile\x00"+rows) + chunk("IDAT", packed()[:200]) + chunk("IEND", ""), notText},
		{"of which the beginning is read", "docs/a.drawio.png", drawn + chunk("tEXt", "mxfile\x00"+rows)[:3000], notText},
		{"a diagram that defines a template (threats.md T908)", "docs/a.drawio.png", drawn + chunk("tEXt", "mxfile\x00"+rows+"{{ define `a` }}") + chunk("IDAT", packed()), OmittedNUL},
		{"a program in a picture in the place of its dots", "a.png", drawn + chunk("IDAT", behind) + chunk("IEND", ""), OmittedNUL},
		{"a program behind the text of a picture", "a.png", drawn + chunk("tEXt", "a\x00b") + behind, OmittedNUL},
		{"a table", "a.parquet", "PAR1\x15\x04\x15" + numbers, notText},
		{"a program behind the beginning of a table", "a.parquet", "PAR1\x15" + behind + "\x00", OmittedNUL},
		{"a sound", "a.opus", "OggS\x00\x02" + packed(), notText},
		{"a film", "a.m4v", "\x00\x00\x00\x18ftypM4V " + packed(), notText},
		{"a picture of a page, which runs", "a.svgz", "\x1f\x8b\x08\x00" + packed(), OmittedUnknown},
		{"numbers under the name of a program", "a.py", "\x93NUMPY" + numbers, OmittedEncoding},
	} {
		if got := text(row.path, []byte(row.data)); got != row.want {
			t.Errorf("%s (%s): %q, want %q", row.says, row.path, got, row.want)
		}
	}
}

// A template may put what it likes into a comment; a format whose first bytes are those of text is told by a byte before one can begin (threats.md T897).
func TestTemplatesThatBeginAsData(t *testing.T) {
	const open = ": {{/*"
	odd := open + strings.Repeat("\x00\x01\x02\xff", 100) + "*/}}\nkind: Pod\n"
	for name, begin := range map[string]string{
		"a.gif": "GIF89a", "b.gif": "GIF87a{{/*\x00", "c.gif": "GIF89a;\n#\x00", "d.gif": "GIF89a;\n{{/*\x00", "a.bmp": "BM", "b.bmp": "BM{{/*\x00\x00\x00\x00", "a.webp": "RIFF", "b.webp": "RIFF{{/*WEBPVP8 ", "a.aiff": "FORM{{/*AIFF", "a.woff": "wOFF", "b.woff": "wOFF{{/*\x00",
		"a.woff2": "wOF2", "a.otf": "OTTO", "a.ttc": "ttcf", "a.mp3": "ID3", "a.blend": "BLENDER-v302REND", "b.blend": "BLENDER17-01v0500REND", "a.bz2": "BZh91AY&SY", "a.pdf": "%PDF-1.4\n---\n", "b.pdf": "%PDF-1.4\n%é\n", "d.pdf": "%PDF-1.4\n%äüöß\n",
		"c.pdf": "%!PS-Adobe-3.0", "a.eot": "kind: Pod # " + strings.Repeat("-", 22) + "LP", "c.eot": "# a\x00bcd\x00" + strings.Repeat("-", 26) + "LP", "b.safetensors": "# a\x00\x00\x00\x00\x00{\"", "a.tflite": "#\x00abTFL3", "b.eot": "{{/*\x00\x00\x00\x00" + strings.Repeat("-", 26) + "LP", "a.safetensors": "{{/*\x00\x00\x00\x00{\"",
		"a.tar": "a: {{/*" + strings.Repeat("\x00", 250) + "ustar", "a.gpg": "\xc2\xa0a", "a.dmg": "x\xda\xb0",
	} {
		if got := text(name, []byte(begin+odd)); got == notText {
			t.Errorf("%s: %.20q is no data", name, begin+odd)
		}
	}
	rest := packed()
	for name, begin := range map[string]string{
		"a.gif": "GIF89a\x10\x00\x10\x00", "a.bmp": "BM\x36\x00\x0c\x00\x00\x00", "a.webp": "RIFF\x24\x10\x02\x00WEBPVP8 ", "a.wav": "RIFF\x24\x10\x02\x00WAVEfmt ", "a.aiff": "FORM\x00\x01\x10\x24AIFF", "a.woff": "wOFF\x00\x01\x00\x00\x00\x00",
		"a.woff2": "wOF2OTTO\x00\x00", "a.otf": "OTTO\x00\x0b", "a.ttc": "ttcf\x00\x01\x00\x00", "a.mp3": "ID3\x04\x00", "a.blend": "BLENDER-v302RENDH\x00\x00\x00", "b.blend": "BLENDER17-01v0500RENDH\x00\x00\x00",
		"a.pdf": "%PDF-1.7\r%\xe2\xe3\xcf\xd3\r\n", "b.pdf": "%PDF-1.3\n3 0 obj\n", "c.pdf": "%PDF-1.6\n%äüöß\n2 0 obj\n", "d.pdf": "%PDF-1.7\n%🖤\n1 0 obj\n", "e.pdf": "%PDF-1.7\n%µ¶\n\n1 0 obj\n", "wide.gif": "GIF89a\x00\x0a\xa0\x05",
		"a.zip": "PK\x03\x04", "a.rar": "Rar!\x1a\x07\x01\x00", "a.mid": "MThd\x00\x00\x00\x06", "a.gpg": "\xc2\xc1\x04", "a.dmg": "x\xda\xed",
	} {
		if got := text(name, []byte(begin+rest)); got != notText {
			t.Errorf("%s: %.20q: %q, want data", name, begin, got)
		}
	}
}
