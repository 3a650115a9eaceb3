package repocontext

import (
	"strings"
	"testing"
)

// What a file says it is written in decides what its bytes are: words that nobody was shown must not stand there.
func TestDeclaredEncodings(t *testing.T) {
	const plain, johab, sjis, hidden = "x = 1", "ev\xdaql(cmd)", "print('\x95\x5c')", "# \\u000aimport os"
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
		{"below code", "a.py", "import io\n# coding: utf-7", plain, ""},
		{"no comment", "a.py", "f(x, coding=enc)", plain, ""},
	} {
		t.Run(row.says, func(t *testing.T) {
			before, after := row.first+"\ny = 2\n", row.first+"\n"+row.line+"\n"
			src := &memory{files: map[string]map[string]string{baseID: {row.name: before}, headID: {row.name: after}}}
			if f := build(t, src, oneLineChange(row.name, strings.Count(row.first, "\n")+2, "y = 2", row.line), Options{}).Files[0]; f.Omitted != row.want || f.Excused {
				t.Errorf("omitted %q, want %q", f.Omitted, row.want)
			}
		})
	}
	src := &memory{files: map[string]map[string]string{baseID: {"a.py": "# coding: utf-7\nx\n"}, headID: {"a.py": "x\n"}}}
	if f := build(t, src, oneLineChange("a.py", 1, "# coding: utf-7", ""), Options{}).Files[0]; f.Omitted != OmittedDeclared {
		t.Errorf("a declaration that goes: %q", f.Omitted)
	}
}
