package repocontext

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/diff"
)

func utf16le(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// packed is what compressed data looks like: every byte as often as any other.
func packed() string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

const (
	program = "import os\n\ndef run(cmd):\n    os.system(cmd)\n"
	png     = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10"
	elf     = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x03\x00>\x00\x01\x00\x00\x00\xc0\x9d\xfe\x88\x91\x00\xff\xfe"
)

func TestTextThatGitDoesNotShow(t *testing.T) {
	for _, row := range []struct{ says, path, data, want string }{
		{"a picture", "logo.png", png, notText},
		{"a program", "tool.exe", elf, OmittedUnknown},
		{"a program of another name", "bin/ctl", elf, OmittedUnknown},
		{"a PDF, which is text in part", "doc.pdf", "%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n" + strings.Repeat("plain text ", 50) + "stream\n" + packed(), notText},
		{"a program that begins as a PDF", "doc.pdf", "%PDF-1.4\nos.system('id')\n\x00", OmittedNUL},
		{"a program that begins as a picture", "logo.gif", "GIF89a;<?php system($_GET['c']); ?>\x00\n", OmittedNUL},
		{"white without compression", "white.bmp", "BM\x36\x10\x00\x00\x00\x00\x00\x00" + strings.Repeat("\xff", 4096), notText},
		{"an archive of text", "a.tar", "a.txt" + strings.Repeat("\x00", 252) + "ustar\x00" + strings.Repeat("text ", 200), notText},
		{"numbers of 16 bits", "wave.npy", "\x93NUMPY" + strings.Repeat("\x01\x00\x02\x00\xfe\xff\x03\x00", 40), notText},
		{"numbers without a beginning", "wave.npy", strings.Repeat("\x01\x00\x02\x00\xfe\xff\x03\x00", 40), OmittedUnknown},
		{"a template with odd bytes in a comment (threats.md T897)", "chart/templates/icon.png", "{{/*" + strings.Repeat("\x01\x02\x00\x03", 60) + "*/}}\nkind: Pod\n", OmittedUnknown},
		{"translations whose rule for plurals is a formula", "a.mo", withPlural("nplurals=2; plural=(n != 1);"), notText},
		{"translations whose rule for plurals is more (threats.md T898)", "a.mo", withPlural("nplurals=2; plural=system(1) ? 1 : 0;"), OmittedNUL},
		{"translations whose rule for plurals is put where it was", "a.mo", withPlural("nplurals=INTEGER; plural=EXPRESSION;"), notText},
		{"statements around the rule", "a.mo", withPlural("nplurals=passthru(x); plural=0;"), OmittedNUL},
		{"statements behind the rule", "a.mo", withPlural("nplurals=1; plural=0; passthru(x);"), OmittedNUL},
		{"a rule in another text than that of the empty one", "a.mo", compiled(binary.LittleEndian, 0, "\x00x", "Plural-Forms: nplurals=2; plural=system(1);\n"), OmittedNUL},
		{"a rule as Perl names it", "a.mo", withPlural("nplurals=2; plural=n != 1;\nplural_forms: nplurals=2; plural=exit();"), OmittedNUL},
		{"a rule that goes on behind a NUL byte", "a.mo", withPlural("nplurals=2; plural=n != 1;\x00system(1);"), OmittedNUL},
		{"translations whose rule stands behind what is there", "a.mo", withPlural("nplurals=1; plural=0;")[:60], OmittedNUL},
		{"text with a beginning of a picture, and more behind it (threats.md T719)", "generators/app/templates/logo.webp", "RIFFabc\x01<% run() %>" + strings.Repeat(" ", 500) + packed(), OmittedNUL},
		{"bytes that such tools take for plain", "generators/app/templates/logo.webp", "RIFFabc\x01<% run() %>" + strings.Repeat("      \x7f", 100) + packed(), OmittedNUL},
		{"the mark of GB18030, and what follows", "generators/app/templates/release.sig", "\x84\x31\x95\x33\x00<% run() %>" + packed(), OmittedNUL},
		{"a NUL byte behind the broken beginning of a letter", "generators/app/templates/a.gif", "GIF89a1\x08\xc3\x00<% run() %>" + strings.Repeat(" ", 500) + packed(), OmittedNUL},
		{"a document, whose beginning is text", "guide.pdf", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + strings.Repeat("1 0 obj\n", 80) + packed(), notText},
		{"a picture that defines a template (threats.md T908)", "chart/templates/_a.png", png + packed() + `{{- define "labels" }}` + packed(), OmittedNUL},
		{"a picture with braces", "a.png", png + packed() + "{{ and }}" + packed(), notText},
		{"nothing but zeros", "disk.img", strings.Repeat("\x00", 4096), OmittedUnknown},
		{"a script that begins as a picture", "bin/deploy", "GIF89a=1\x00\nrm -rf /\n", OmittedNUL},
		{"a script with control bytes", "data.bin", "#!/bin/sh\n#" + strings.Repeat("\x01", 200) + "\x00\nreboot\n", OmittedNUL},
		{"source code with a NUL byte", "src/a.php", "<?php system($_GET['c']);\x00\n", OmittedNUL},
		{"a script without an ending", "bin/run", "#!/bin/sh\nrm -rf \"$1\"\n\x00", OmittedNUL},
		{"source code that begins as a picture", "a.php", "GIF89a<?php system($_GET['c']);\x00", OmittedNUL},
		{"source code behind a picture's first bytes", "a.py", png + program, OmittedNUL},
		{"UTF-16 with a mark", "u16.py", "\xff\xfe" + utf16le(program), OmittedEncoding},
		{"UTF-16 without one", "u16.txt", utf16le(program), OmittedEncoding},
		{"UTF-16 of the other order", "u16be", "\x00" + utf16le(program), OmittedEncoding},
		{"UTF-32", "u32.py", "\xff\xfe\x00\x00i\x00\x00\x00", OmittedEncoding},
		{"text of another encoding", "win1251", strings.Repeat("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0\n", 30) + "\x00", OmittedNUL},
		{"packed data", "data.onnx", "\x08\x07" + packed(), notText},
		{"what Python runs at its start", "evil.pth", "import os\n\x00" + packed(), OmittedUnknown},
		{"plain text that is too large to compare", "big.txt", strings.Repeat("line\n", 1000), OmittedNUL},
	} {
		if got := text(row.path, []byte(row.data)); got != row.want {
			t.Errorf("%s (%s): %q, want %q", row.says, row.path, got, row.want)
		}
	}
}

// Where templates lie, data is read behind its beginning too (threats.md T908).
func TestTemplatesInData(t *testing.T) {
	body := png + strings.Repeat(packed(), beginning/4096)
	define := body + "{{ define `a` }}"
	one := map[string]string{"chart/templates/_a.png": define, "web/views/b.png": body, "web/c.png": define, "tmpl/d.png": body + strings.Repeat("\x00", lockLimit)}
	src := &memory{files: map[string]map[string]string{baseID: {}, headID: one}}
	for path, want := range map[string]string{"chart/templates/_a.png": OmittedNUL, "web/views/b.png": OmittedBinary, "web/c.png": OmittedBinary, "tmpl/d.png": OmittedNUL} {
		d := &diff.Diff{Files: []diff.File{{Path: path, Change: diff.Added, Binary: true}}}
		brief, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID})
		if err != nil {
			t.Fatal(err)
		}
		if f := brief.Files[0]; f.Omitted != want || f.Excused != (want == OmittedBinary) {
			t.Errorf("%s: omitted %q, excused %v; want %q", path, f.Omitted, f.Excused, want)
		}
	}
}

// What a tool loads from where it lies is no mere data (threats.md T445). Yarn's packages have their sums in their names, so an honest update brings other names.
func TestArchivesThatToolsLoad(t *testing.T) {
	const gzip = "\x1f\x8b\x08"
	zip := "PK\x03\x04" + packed()
	one := map[string]string{"assets/inventory/a.gif": png, "{{cookiecutter.slug}}/a.gif": png, "ops/x/inventories/a.gif": png, "inventory/a.gif": "GIF89a\x01\x00" + packed(), "nginx/conf.d/logo.png": png, "chart/charts/a-1.0.0.tgz": gzip + packed(), ".yarn/cache/a-npm-1.0.0-0d8a-13dd.zip": zip, "web/.yarn/cache/b-npm-1.0.0-0d8a-13dd.zip": zip, "pkgs/a.tgz": gzip + packed(), "a.jar": zip,
		"infra/terraform.d/plugins/registry.terraform.io/a/b/terraform-provider-b_1.0.0_linux_amd64.zip": zip, "public/app.js.gz": gzip + packed(), "docker/docker-entrypoint-initdb.d/02-seed.sql.gz": gzip + packed(), "public/a.HTML.zst": "\x28\xb5\x2f\xfd" + packed(), "public/app.js.br": packed(),
		"dags/report.zip": zip, "air/dags/doc/flow.png": "\x89PNG\r\n\x1a\n" + packed(), "lisp/a.elc.gz": gzip + packed(), "testdata/rows.json.gz": gzip + packed(), "testdata/a.tar.gz": gzip + packed(),
		"web/netlify/functions/pay.zip": zip, "renv/cellar/a_1.0.tar.gz": gzip + packed(), ".github/actions/x/a.zip": zip, ".github/logo.png": "\x89PNG\r\n\x1a\n" + packed(), "library/apt.png": "\x7fELF" + packed()}
	src := &memory{files: map[string]map[string]string{baseID: one, headID: one}}
	for _, row := range []struct {
		path   string
		change diff.Change
		want   string
	}{
		{"inventory/a.gif", diff.Added, OmittedArchive}, {"assets/inventory/a.gif", diff.Added, OmittedBinary}, {"{{cookiecutter.slug}}/a.gif", diff.Added, OmittedArchive}, {"ops/x/inventories/a.gif", diff.Added, OmittedArchive}, {"nginx/conf.d/logo.png", diff.Added, OmittedArchive}, {"nginx/conf.d/logo.png", diff.Deleted, OmittedBinary}, // threats.md T909
		{"web/netlify/functions/pay.zip", diff.Added, OmittedArchive}, {"renv/cellar/a_1.0.tar.gz", diff.Added, OmittedArchive}, {".github/actions/x/a.zip", diff.Added, OmittedArchive}, // threats.md T893
		{".github/logo.png", diff.Added, OmittedBinary}, {"library/apt.png", diff.Added, OmittedUnknown},
		{"chart/charts/a-1.0.0.tgz", diff.Added, OmittedArchive}, {"chart/charts/a-1.0.0.tgz", diff.Modified, OmittedArchive}, {".yarn/cache/a-npm-1.0.0-0d8a-13dd.zip", diff.Modified, OmittedArchive},
		{"web/.yarn/cache/b-npm-1.0.0-0d8a-13dd.zip", diff.Modified, OmittedArchive}, {".yarn/cache/a-npm-1.0.0-0d8a-13dd.zip", diff.Added, OmittedBinary},
		{".yarn/cache/a-npm-1.0.0-0d8a-13dd.zip", diff.Deleted, OmittedBinary}, {"pkgs/a.tgz", diff.Modified, OmittedBinary}, {"a.jar", diff.Added, OmittedUnknown},
		{"infra/terraform.d/plugins/registry.terraform.io/a/b/terraform-provider-b_1.0.0_linux_amd64.zip", diff.Added, OmittedArchive}, {"docker/docker-entrypoint-initdb.d/02-seed.sql.gz", diff.Modified, OmittedArchive}, {"dags/report.zip", diff.Added, OmittedArchive}, {"air/dags/doc/flow.png", diff.Added, OmittedArchive}, {"lisp/a.elc.gz", diff.Added, OmittedPacked}, {"public/app.js.gz", diff.Added, OmittedPacked}, {"public/app.js.gz", diff.Modified, OmittedPacked},
		{"public/a.HTML.zst", diff.Modified, OmittedPacked}, {"public/app.js.br", diff.Modified, OmittedUnknown}, {"testdata/rows.json.gz", diff.Modified, OmittedBinary}, {"testdata/a.tar.gz", diff.Added, OmittedBinary},
		{"public/app.js.gz", diff.Deleted, OmittedBinary}, {"chart/charts/a-1.0.0.tgz", diff.Deleted, OmittedBinary},
	} {
		d := &diff.Diff{Files: []diff.File{{Path: row.path, Change: row.change, Binary: true}}}
		brief, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID})
		if err != nil {
			t.Fatal(err)
		}
		if f := brief.Files[0]; f.Omitted != row.want || f.Excused != (row.want == OmittedBinary) {
			t.Errorf("%s, %s: omitted %q, excused %v; want %q", row.path, row.change, f.Omitted, f.Excused, row.want)
		}
	}
}

// What a reviewer is not shown is excused by a rule or not at all.
func TestUnshownFilesAreExcusedOrNot(t *testing.T) {
	src := &memory{files: map[string]map[string]string{
		baseID: {"gone.py": program + "\x00", "logo.png": png, ".gitattributes": "dist/* linguist-generated\n"},
		headID: {"logo.png": png + "x", "a.py": program + "\x00", "big.py": program, "big.png": png, "package-lock.json": "{}", "package.json": "{}", "dist/all.js": "x",
			".gitattributes": "dist/* linguist-generated\n"},
	}}
	d := &diff.Diff{Files: []diff.File{
		{Path: "logo.png", Change: diff.Modified, Binary: true}, {Path: "a.py", Change: diff.Added, Binary: true},
		{Path: "gone.py", Change: diff.Deleted, Binary: true}, {Path: "big.py", Change: diff.Added, Omitted: "too large"},
		{Path: "big.png", Change: diff.Added, Omitted: "too large"}, {Path: "package-lock.json", Change: diff.Added, Omitted: "too large"},
		{Path: "dist/all.js", Change: diff.Added, Omitted: "too large"}, {Path: "private/key.py", Change: diff.Added, Binary: true},
		{Path: "nowhere.dat", Change: diff.Modified, Binary: true},
	}}
	brief, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID, Exclude: []string{"private/**"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		omitted string
		excused bool
	}{
		{OmittedBinary, true}, {OmittedNUL, false}, {OmittedNUL, false}, {"too large", false}, {OmittedBinary, true},
		{OmittedLockFile, true}, {OmittedGenerated, true}, {OmittedExcluded, true}, {omittedUnread, false},
	} {
		if f := brief.Files[i]; f.Omitted != want.omitted || f.Excused != want.excused {
			t.Errorf("%s: omitted %q, excused %v; want %q, %v", f.Path, f.Omitted, f.Excused, want.omitted, want.excused)
		}
	}
	if src.asked[headID+":private/key.py"] {
		t.Error("an excluded file was read")
	}
}

// A name that lets a file go unread does so for as long as the file has it: what came from there, or went there, is read.
func TestRenamesCarryNoExcuse(t *testing.T) {
	renamed := func(from, to string) string {
		return "diff --git a/" + from + " b/" + to + "\nsimilarity index 60%\nrename from " + from + "\nrename to " + to +
			"\nindex 1111111..2222222 100644\n--- a/" + from + "\n+++ b/" + to + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	src := &memory{files: map[string]map[string]string{baseID: {
		".gitattributes": "gen/** linguist-generated\n", "made.go": "// Code generated by x. DO NOT EDIT.\n", "long.js": strings.Repeat("x", 500) + "\n", "vendor/a.go": "a\n",
	}, headID: {".gitattributes": "gen/** linguist-generated\n", "vendor/b.go": "b\n", "vendor/ci.yml": "b\n", "pkg/vendor/b.go": "b\n", "cmd/main.go": "b\n"}}}
	for _, row := range []struct {
		says, text string
		omitted    string
		excused    bool
	}{
		{"out of an excluded folder", renamed("private/a.py", "src/a.py"), OmittedExcluded, false},
		{"into one", renamed("src/a.py", "private/a.py"), OmittedExcluded, false},
		{"within one", renamed("private/a.py", "private/b.py"), OmittedExcluded, true},
		{"into a vendored folder", renamed(".github/workflows/ci.yml", "vendor/ci.yml"), "", false},
		{"within vendored folders", renamed("vendor/a.go", "vendor/b.go"), OmittedVendored, true},
		{"into a vendored folder that is new", renamed("vendor/a.go", "pkg/vendor/b.go"), "", false},
		{"out of what attributes call generated", renamed("gen/a.go", "cmd/main.go"), "", false},
		{"away from a generator's mark", renamed("made.go", "cmd/main.go"), "", false},
		{"long lines are no generator's mark", oneLineChange("long.js", 1, "a", "b"), "", false},
	} {
		b, err := Build(t.Context(), src, Options{Diff: parseDiff(t, row.text), Base: baseID, Head: headID, Exclude: []string{"private/**"}})
		if err != nil {
			t.Fatal(err)
		}
		if f := b.Files[0]; f.Omitted != row.omitted || f.Excused != row.excused {
			t.Errorf("%s: omitted %q, excused %v; want %q, %v", row.says, f.Omitted, f.Excused, row.omitted, row.excused)
		}
	}
}

// Files that nobody has room for are looked at together: each look is a process or two.
func TestManyFilesAreLookedAtTogether(t *testing.T) {
	const n = 1000
	head := map[string]string{}
	var text strings.Builder
	for i := range n {
		name := fmt.Sprintf("f%d.png", i)
		head[name] = "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff\x80\x01", 50)
		if i%2 == 0 {
			name = fmt.Sprintf("f%d.txt", i)
			head[name] = "a line\n"
		}
		text.WriteString(newFile(name, strings.Repeat("a long line of text\n", 20)))
	}
	src := &memory{files: map[string]map[string]string{baseID: {}, headID: head}}
	b := build(t, src, text.String(), Options{MaxTokens: 500})
	count := map[string]int{}
	for _, f := range b.Files {
		count[f.Omitted]++
	}
	if count[OmittedOverBudget] != n/2-1 && count[OmittedOverBudget] != n/2 || count[OmittedBinary] < n/2-5 {
		t.Errorf("left out: %v", count)
	}
	declared := 1 // batch has room: files in no known language are asked what they declare
	if most := 2*(n/diffBatch+1) + declared; src.looks > most {
		t.Errorf("%d looks at %d files, at most %d are needed", src.looks, n, most)
	}
}

// Neither a link nor a submodule is data, whatever its name is and whatever stands behind a NUL byte in its target, where systems end it.
func TestLinksAreNoData(t *testing.T) {
	const target = "../.env\x00"
	src := &memory{files: map[string]map[string]string{baseID: {"old.der": target + packed()}, headID: {"new.der": target + packed(), "new.mp3": "ID3/x\x00" + packed()}}}
	d := &diff.Diff{Files: []diff.File{
		{Path: "new.der", Change: diff.Added, NewMode: linkMode, Binary: true}, {Path: "new.mp3", Change: diff.Added, NewMode: linkMode, Binary: true},
		{Path: "old.der", Change: diff.Deleted, OldMode: linkMode, Binary: true}, {Path: "sub.der", Change: diff.Added, NewMode: 0o160000, Omitted: "too large"},
	}}
	brief, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range brief.Files {
		if f.Excused || f.Omitted == "" || f.Omitted == OmittedBinary {
			t.Errorf("%s: omitted %q, excused %v", f.Path, f.Omitted, f.Excused)
		}
	}
}

// What goes is looked at where it was: a link that comes in its place says nothing of it.
func TestAPictureThatBecomesALink(t *testing.T) {
	src := &memory{files: map[string]map[string]string{baseID: {"logo.png": png}, headID: {"logo.png": "../AGENTS.md"}}}
	d := &diff.Diff{Files: []diff.File{{Path: "logo.png", Change: diff.Deleted, OldMode: plainMode, Binary: true}}}
	if b, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID}); err != nil || b.Files[0].Omitted != OmittedBinary || !b.Files[0].Excused {
		t.Errorf("%+v %v", b.Files, err)
	}
}

// git takes a file for text whose first NUL byte stands behind 8000 others. Such a change is unread, as any with a NUL byte, and what is given beside it is
// text that agents take.
func TestNULFarBehind(t *testing.T) {
	far := "a=1\n" + strings.Repeat("0", 9000) + "\n\x00x\n"
	src := &memory{files: map[string]map[string]string{baseID: {"a.php": far, "AGENTS.md": "Rules.\n\x00More.\n"}, headID: {"a.php": far + "b=2\n", "AGENTS.md": "Rules.\n\x00More.\n"}}}
	d, err := diff.Parse("diff --git a/a.php b/a.php\nindex 1111111..2222222 100644\n--- a/a.php\n+++ b/a.php\n@@ -3,1 +3,2 @@\n \x00x\n+b=2\n")
	if err != nil {
		t.Fatal(err)
	}
	brief, err := Build(t.Context(), src, Options{Diff: d, Base: baseID, Head: headID})
	if err != nil {
		t.Fatal(err)
	}
	if f := brief.Files[0]; f.Omitted != OmittedNUL || f.Excused || f.Diff != "" {
		t.Errorf("omitted %q, excused %v: %q", f.Omitted, f.Excused, f.Diff)
	}
	if given := fmt.Sprint(brief); strings.Contains(given, "\x00") || !strings.Contains(given, "⟨0x00⟩More.") {
		t.Errorf("%q", given)
	}
}

// withPlural is a catalog of one text: its header with a rule for plurals.
func withPlural(rule string) string {
	text := "Plural-Forms: " + rule + "\n"
	b := []byte("\xde\x12\x04\x95")
	for _, n := range []int{0, 1, 28, 36, 0, 44, 0, 44, len(text), 45} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return string(b) + "\x00" + text + "\x00"
}
