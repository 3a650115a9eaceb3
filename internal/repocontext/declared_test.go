package repocontext

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/pace"
)

// What a file says it is written in decides what its bytes are: words that nobody was shown must not stand there.
func TestDeclaredEncodings(t *testing.T) {
	const plain, johab, sjis, hidden = "x = 1", "ev\xdaql(cmd)", "print('\x95\x5c')", "# \\u000aimport os"
	const inert = "x = 'Ã\\' ; system('rm') # '"
	for _, row := range []struct{ says, name, first, line, want string }{
		{"two bytes of which one is a letter of ASCII", "a.py", "# -*- coding: johab -*-", johab, OmittedDeclared},
		{"in the second line", "a.py", "#!/usr/bin/python\n# vim: set fileencoding=JOHAB :", johab, OmittedDeclared},
		{"behind a line that is longer than what is read of it", "a.py", "# " + strings.Repeat("x", beginning) + "\n# coding: utf-7", plain, OmittedDeclared},
		{"behind blanks that are as long", "a.py", strings.Repeat(" ", beginning) + "# coding: utf-7", plain, OmittedDeclared},
		{"in a second line that is as long", "a.py", "#\n# " + strings.Repeat("x", beginning) + " coding: utf-7", plain, OmittedDeclared},
		{"behind data that is as long", "a.ipynb", `{"cells": "` + strings.Repeat("x", beginning) + `"}`, plain, ""},
		{"behind a comment and data that is as long", "a.py", "#\nx = '" + strings.Repeat("x", beginning) + "'", plain, ""},
		{"for Ruby", "a.rb", "# encoding: Shift_JIS", sjis, OmittedDeclared},
		{"plain lines of such a file", "a.py", "# coding: cp949", plain, ""},
		{"plain lines in which other letters stand", "a.py", "# coding: shift_jis_2004", plain, OmittedDeclared},
		{"letters behind escapes", "a.py", "# coding: unicode_escape", hidden, OmittedDeclared},
		{"letters in other letters", "a.py", "# coding: utf-7", "+AGU-val(cmd)", OmittedDeclared},
		{"an encoding that nobody knows", "a.py", "# coding: pretty", plain, OmittedDeclared},
		{"one of two", "a.py", "# coding: utf-8 coding: utf-7", plain, OmittedDeclared},
		{"several bytes in a row, which count as unread where they are shown", "a.py", "# coding: gbk", "\xa3\xe5\xa3\xf8(cmd)", ""},
		{"Latin-1", "a.py", "# -*- coding: latin-1 -*-", "# caf\xe9s", ""},
		{"one of Windows", "a.py", "# coding=cp1252", "# caf\xe9s", ""},
		{"UTF-8", "a.py", "# -*- coding: UTF_8 -*-", "# cafés", ""},
		{"UTF-8 with what an editor adds", "a.py", "# -*- coding: utf-8-unix -*-", plain, ""},
		{"nothing", "a.py", "import os", "# caf\xe9s", ""},
		{"too late", "a.py", "import os\nimport sys\n# coding: utf-7", plain, ""},
		{"a program without an ending", "bin/tool", "#!/usr/bin/env python3\n# coding: utf-7", plain, OmittedDeclared},
		{"a build file in Python", "SConstruct", "# coding: utf-7", plain, OmittedDeclared},
		{"a program of a server", "app.wsgi", "# coding: unicode_escape", hidden, OmittedDeclared},
		{"a file in another language", "a.go", "// coding: utf-7", plain, ""},
		{"below an empty line", "a.py", " \f\r\n# coding: utf-7", plain, OmittedDeclared},
		{"behind the mark of UTF-8", "a.py", "\ufeff# coding: utf-7", plain, OmittedDeclared},
		{"behind returns", "a.py", "# a\r# b\r# coding: utf-7", plain, OmittedDeclared},
		{"a remark behind code", "a.py", "x = 1 # encoding: base64 of x", plain, ""},
		{"below code, where pip looks", "a.in", "import io\n# coding: utf-7", plain, OmittedDeclared},
		{"bytes that are UTF-8 too", "a.py", "# encoding: Shift_JIS", inert, OmittedDeclared},
		{"such bytes for Ruby", "a.rb", "# Encoding : Shift_JIS", inert, OmittedDeclared},
		{"a list for pip", "requirements.txt", "# -*- coding: utf-7 -*-", "# see PEP 508 +AAo-evil==6.6", OmittedDeclared},
		{"a program of Python that is called a shell script", "check.sh", "#!/usr/bin/env python3\n# -*- coding: utf-7 -*-", plain, OmittedDeclared},
		{"one that is called a text", "a.md", "#!/usr/bin/env python3\n# coding: utf-7", plain, OmittedDeclared},
		{"for Emacs", "a.el", ";; -*- coding: sjis -*-", inert, OmittedDeclared},
		{"a heading", "a.md", "# Encoding: how it works", "café", ""},
		{"XML", "pom.xml", `<?xml version="1.0" encoding="Shift_JIS"?>`, "<a>\xc3\x83]]></a>", OmittedDeclared},
		{"XML over several lines", "pom.xml", "<?xml\nversion='1.0'\nencoding = 'UTF-7' ?>", "<a/>", OmittedDeclared},
		{"XML in ASCII alone", "pom.xml", `<?xml version="1.0" encoding="GBK"?>`, "<a/>", ""},
		{"XML in Latin-1", "pom.xml", `<?xml version="1.0" encoding="ISO-8859-1"?>`, "<a>caf\xe9s</a>", ""},
		{"XML that says UTF-16 and is not in it", "a.resx", `<?xml version="1.0" encoding="utf-16"?>`, "<a>cafés</a>", ""},
		{"XML in UTF-8", "pom.xml", "\ufeff<?xml version='1.0' encoding='UTF-8'?>", "<a>cafés</a>", ""},
		{"a page", "a.html", "<!doctype html>\n<meta charset=shift_jis>", "<script>x = '\xc3\x83\\'</script>", OmittedDeclared},
		{"a page of a server", "a.jsp", `<%@ page pageEncoding="GBK" %>`, "<% x = '\xc3\x83\\' %>", OmittedDeclared},
		{"a style sheet", "a.css", `@charset "Shift_JIS";`, "a { b: '\xc3\x83\\' }", OmittedDeclared},
		{"a program that writes pages", "a.go", "package a", `x("<meta charset=gbk>é")`, ""},
		{"no comment", "a.py", "f(x, coding=enc)", plain, ""},
		{"a byte that ends a line, and is a half of a letter that is shown", "requirements.txt", "# -*- coding: latin-1 -*-", "# see Ņevil-package==6.6", OmittedDeclared},
		{"the same byte alone", "a.py", "# coding: iso8859_15", "# see \x85import os", OmittedDeclared},
		{"the same byte where it is a letter", "a.py", "# coding: cp1252", "# and so on\x85", ""},
		{"XML that has such ends of lines", "a.xml", `<?xml version="1.1" encoding="ISO-8859-1"?>`, "<a b='Ņ'/>", OmittedDeclared},
		{"UTF-8 that says it is Latin-1", "a.py", "# coding: latin-1", "# cafés", ""},
		{"behind a return, which is a blank for pip", "requirements.txt", "# coding:\rutf-7 ; python_version < '2'", "# see PEP +AAo-evil==6.6", OmittedDeclared},
		{"behind another blank", "requirements.txt", "# coding=\v\fgbk", inert, OmittedDeclared},
		{"with more marks than its name has", "a.yml", "# coding: _Unicode--Escape_", plain, OmittedDeclared},
		{"a remark where any name counts", "a.rb", "# Geocoding: Berlin", plain, OmittedDeclared},
		{"a remark where none does", "a.yml", "# Geocoding: Berlin", "x: é", ""},
		{"a remark in a script", "a.sh", "#!/bin/sh\n# Transcoding: fast", plain, ""},
		{"an encoding in a file for which it says nothing", "a.yml", "# coding: utf-7", plain, OmittedDeclared},
		{"an encoding of two bytes there", "a.toml", "# encoding: sjis", inert, OmittedDeclared},
		{"a tag whose name a slash ends", "a.html", "<!doctype html>\n<meta/charset=shift_jis>", inert, OmittedDeclared},
		{"a tag behind text", "a.html", "Hello\n<META\tcharset = shift_jis>", inert, OmittedDeclared},
		{"a tag behind what a generator reads", "a.html", "---\nlayout: x\n---\n<meta charset=shift_jis>", inert, OmittedDeclared},
		{"a tag of a template", "a.twig", "{% block head %}\n<meta charset=shift_jis>", inert, OmittedDeclared},
		{"a tag with another's end in a value", "a.html", "<meta name='>' content = \">\" charset=shift_jis>", inert, OmittedDeclared},
		{"a tag that names two", "a.html", "<meta name='charset=utf-8' charset='shift_jis'>", inert, OmittedDeclared},
		{"a tag in other letters", "a.html", "<meta http-equiv=content-type content='text/html; &#99;harset&equals;shift_jis'>", inert, OmittedDeclared},
		{"a tag with an expression", "a.html", "<meta charset=\"{{ 'shift_jis' }}\">", inert, OmittedDeclared},
		{"a tag in which letters begin behind an escape", "a.html", "<meta/charset=iso-2022-jp>", "<script>x = '\x1b(J\\'</script>", OmittedDeclared},
		{"a page of a server behind text", "a.jsp", "Hello\n<%@ page contentType='text/html; charset=GBK' %>", inert, OmittedDeclared},
		{"a tag in UTF-8", "a.html", "Hello\n<meta charset='utf-8'><script charset=gbk>", inert, ""},
		{"a tag in Latin-1, which is one of Windows there", "a.html", "<meta charset=iso-8859-1>", "Ņ", ""},
		{"a tag that says what another part of it does", "a.php", "<?php head(); ?>\n<meta charset=\"<?php bloginfo( 'charset' ); ?>\">", "é", ""},
		{"a tag in data", "a.ipynb", `{"a": "<meta charset=\"utf-8\">"}`, "é", ""},
		{"a tag in prose", "a.md", "x\n<meta charset=gbk>", "é", ""},
		{"a statement of SQL", "a.sql", "SET NAMES gbk;", inert, OmittedDeclared},
		{"one below others, over lines and behind a comment", "a.sql", "SELECT 1;\n\n/* x */ set /* y */ @x = 1,\n  names -- z\n 'sjis';", inert, OmittedDeclared},
		{"one that MySQL runs in a comment", "a.sql", "/*!40101 SET NAMES big5 */;", inert, OmittedDeclared},
		{"another name of it", "a.sql", "SET CHARACTER SET gbk;", inert, OmittedDeclared},
		{"a variable", "a.sql", "SET @@session.character_set_client = cp932;", inert, OmittedDeclared},
		{"one of PostgreSQL", "a.sql", "set session client_encoding to 'SHIFT_JIS_2004';", inert, OmittedDeclared},
		{"a call of PostgreSQL", "a.sql", "SELECT pg_catalog.set_config('client_encoding', 'SJIS', false);", inert, OmittedDeclared},
		{"a command of a client", "a.sql", "\\encoding SJIS", inert, OmittedDeclared},
		{"a short command of a client", "a.sql", "\\C gbk", inert, OmittedDeclared},
		{"one that a program sends", "a.php", "<?php\n$db->query(\"SET NAMES gbk\");", inert, OmittedDeclared},
		{"one that a script sends", "a.sh", "mysql -e 'SET NAMES gbk; SOURCE a.sql'", inert, OmittedDeclared},
		{"a statement of PHP", "a.php", "<?php declare(ticks=1, encoding='SJIS');", inert, OmittedDeclared},
		{"a statement of Perl", "a.pl", "use strict;\nuse warnings; use encoding 'shiftjis', Filter => 1;", inert, OmittedDeclared},
		{"a statement of Vim", "a.vim", "scriptencoding cp932", inert, OmittedDeclared},
		{"a package of LaTeX", "a.tex", "\\documentclass{article}\n\\usepackage[utf8,sjis]{inputenc}", inert, OmittedDeclared},
		{"plain lines behind a statement", "a.sql", "SET NAMES gbk;", plain, ""},
		{"plain lines behind other names", "a.sql", "SET NAMES eucjpms;\nSET client_encoding = WIN932;", plain, ""},
		{"a statement in UTF-8", "a.sql", "SET NAMES utf8mb4;\n\\encoding UTF8", inert, ""},
		{"a remark about a statement", "a.sql", "-- no SET NAMES gbk here\n# and no \"SET NAMES sjis\"", inert, ""},
		{"a name in a list", "a.py", "names = {'gbk': 'Chinese', 'sjis': 'Japanese'}\ncharset = 'gbk'", "x = 'é'", ""},
		{"what a program converts", "a.php", "<?php\n$x = iconv('GBK', 'UTF-8', $y); $x = array('encoding' => 'gbk');", "$x = 'é';", ""},
		{"a statement in prose", "a.md", "    SET NAMES gbk;", inert, ""},
	} {
		t.Run(row.says, func(t *testing.T) {
			before, after := row.first+"\ny = 2\n", row.first+"\n"+row.line+"\n"
			src := &memory{files: map[string]map[string]string{baseID: {row.name: before}, headID: {row.name: after}}}
			if f := build(t, src, oneLineChange(row.name, strings.Count(row.first, "\n")+2, "y = 2", row.line), Options{}).Files[0]; f.Omitted != row.want || f.Excused {
				t.Errorf("omitted %q, want %q", f.Omitted, row.want)
			}
		})
	}
}

// A declaration that comes, goes or changes says what lines are that nobody changed.
func TestDeclarationsThatChange(t *testing.T) {
	const inert, sjis = "x = 'Ã\\' ; system('rm') # '\n", "# coding: sjis\n"
	for _, row := range []struct{ says, before, after, rest, want string }{
		{"one that comes", "#\n", sjis, inert, OmittedDeclared},
		{"one that goes", sjis, "#\n", inert, OmittedDeclared},
		{"one that changes", sjis, "# coding: big5\n", inert, OmittedDeclared},
		{"one that comes to a text that is too large to be read", "#\n", sjis, strings.Repeat("x\n", sourceLimit), OmittedDeclared},
		{"one that comes to plain text", "#\n", sjis, "x = 1\n", ""},
		{"one of single bytes", "#\n", "# coding: latin-1\n", inert, ""},
		{"one of single bytes, of which one ends a line", "#\n", "# coding: latin-1\n", "# Ņevil\n", OmittedDeclared},
		{"one of single bytes that are all letters", "#\n", "# coding: cp1252\n", "# Ņevil\n", ""},
		{"a statement that comes", "#\n", "use encoding 'sjis';\n", inert, OmittedDeclared},
		{"one in which plain text is another goes", "# coding: utf-7\n", "#\n", "x = 1\n", OmittedDeclared},
	} {
		t.Run(row.says, func(t *testing.T) {
			src := &memory{files: map[string]map[string]string{baseID: {"a.py": row.before + row.rest}, headID: {"a.py": row.after + row.rest}}}
			change := oneLineChange("a.py", 1, strings.TrimSpace(row.before), strings.TrimSpace(row.after))
			if f := build(t, src, change, Options{}).Files[0]; f.Omitted != row.want {
				t.Errorf("omitted %q, want %q", f.Omitted, row.want)
			}
		})
	}
	moved := "diff --git a/a.md b/a.py\nsimilarity index 100%\nrename from a.md\nrename to a.py\n"
	src := &memory{files: map[string]map[string]string{baseID: {"a.md": sjis + inert}, headID: {"a.py": sjis + inert}}}
	if f := build(t, src, moved, Options{}).Files[0]; f.Omitted != OmittedDeclared {
		t.Errorf("prose that gets a name of a program: %q", f.Omitted)
	}
	gone := "diff --git a/a.py b/a.py\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-# coding: sjis\n-x = 1\n"
	src = &memory{files: map[string]map[string]string{baseID: {"a.py": sjis + "x = 1\n"}}}
	if f := build(t, src, gone, Options{}).Files[0]; f.Omitted != "" {
		t.Errorf("plain text that goes: %q", f.Omitted)
	}
}

// A text of nothing but beginnings of statements is read in one go.
func TestStatementsAreReadInOneGo(t *testing.T) {
	for _, text := range []string{"SET a,\n", "set/*", "SET NAMES gbk\n", "set x\nSET NAMES gbk\n", "declare(", "\\usepackage[", "set\n#", ";select ", ";alter "} {
		times := func(n int) func() {
			long := strings.Repeat(text, n)
			return func() { statedEncodings(long) }
		}
		pace.Within(t, 16, times(2_000), times(16_000))
	}
}
