package repocontext

import (
	"maps"
	"strings"
	"testing"
)

// Compilers take the encoding of a source from the build: a letter before a backslash may swallow it there, and the string ends (threats.md T812).
func TestEncodingsOfTheBuild(t *testing.T) {
	const inert, plain = "puts(\"usage: C:Ã\\\"); system(help); //\");", "puts(\"usage\");"
	for _, row := range []struct{ says, name, text, line, want string }{
		{"a flag of gcc", "Makefile", "CFLAGS = -finput-charset=CP932\n", inert, "CP932"},
		{"a byte that is no UTF-8", "Makefile", "CFLAGS = -finput-charset=CP932\n", strings.Replace(inert, "Ã", "\x83", 1), "CP932"},
		{"lines of ASCII", "Makefile", "CFLAGS = -finput-charset=CP932\n", plain, ""},
		{"a value that is used elsewhere", "config.mk", "ENC := SJIS\n", inert, "SJIS"},
		{"a value of CMake", "cmake/flags.cmake", "set(ENC gbk)\n", inert, "gbk"},
		{"javac in a script", "tools/compile.sh", "javac -encoding MS932 *.java\n", inert, "MS932"},
		{"javac in a batch file", "make.cmd", "chcp 932\r\njavac *.java\r\n", inert, "932"},
		{"Maven", "pom.xml", "<project.build.sourceEncoding>Windows-31J</project.build.sourceEncoding>", inert, "Windows-31J"},
		{"Maven, by arguments", "pom.xml", "<arg>-encoding</arg>\n<arg>\n  EUC-KR\n</arg>", inert, "EUC-KR"},
		{"Ant", "build.xml", `<javac encoding="Shift_JIS" srcdir="src"/>`, inert, "Shift_JIS"},
		{"Gradle", "app/build.gradle", "compileJava.options.encoding = 'GB18030'\n", inert, "GB18030"},
		{"Gradle in Kotlin", "build.gradle.kts", "tasks.withType<JavaCompile> { options.compilerArgs.addAll(listOf(\"-encoding\", \"big5\")) }\n", inert, "big5"},
		{"MSBuild", "a.csproj", "<CodePage>932</CodePage>", inert, "932"},
		{"MSVC", "a.vcxproj", "<AdditionalOptions>/source-charset:.949 %(AdditionalOptions)</AdditionalOptions>", inert, "949"},
		{"PHP", "php.ini", "zend.script_encoding = SJIS-win\n", inert, "SJIS-win"},
		{"a server", ".htaccess", "AddDefaultCharset Shift_JIS\n", inert, "Shift_JIS"},
		{"Ruby", "Rakefile", "sh 'ruby -w -Ks tool.rb'\n", inert, "-Ks"},
		{"qmake", "a.pro", "CODECFORSRC = GBK\n", inert, "GBK"},
		{"a job of a CI", ".github/workflows/a.yml", "env:\n  JAVA_TOOL_OPTIONS: -Dfile.encoding=euc_jp\n", inert, "euc_jp"},
		{"a name of the JVM", "build.xml", `<javac encoding="csWindows31J" srcdir="src"/>`, inert, "csWindows31J"},
		{"a name that has its numbers in the middle", "build.xml", `<javac encoding="x-Cp943C"/>`, inert, "x-Cp943C"},
		{"a name of iconv", "Makefile", "tool: tool.c\n\ticonv -f BIG-FIVE -t UTF-8 tool.c | gcc -x c -\n", inert, "BIG-FIVE"},
		{"Ruby, by its name", "Rakefile", "sh 'ruby -E SJIS tool.rb'\n", inert, "SJIS"},
		{"a name that is a word", "build.xml", `<javac encoding="x-Johab"/>`, inert, "x-Johab"},
		{"a word", "claims.properties", "payer = UHC\n", inert, ""},
		{"words of a package, side by side", "package.json", `{"keywords": ["encoding", "gbk"]}`, inert, ""},
		{"UTF-8", "Makefile", "CFLAGS = -finput-charset=UTF-8\n", inert, ""},
		{"an encoding of single bytes", "Makefile", "CFLAGS = -finput-charset=cp1252\n", inert, ""},
		{"what programs write", "Makefile", "CFLAGS = -finput-charset=UTF-8 -fexec-charset=GBK\n", inert, ""},
		{"what reports are written in", "pom.xml", "<project.reporting.outputEncoding>GBK</project.reporting.outputEncoding>", inert, ""},
		{"a remark", "Makefile", "# no file here is in GBK, as encoding=GBK was\nall:\n", inert, ""},
		{"a locale for tests, as configure has it", "configure", "if (LC_ALL=ja_JP.EUC-JP LC_TIME= ./conftest) then gt=ja_JP.EUC-JP; fi\n", inert, ""},
		{"words of a package", "package.json", `{"name": "text", "keywords": ["charset", "utf8", "gbk", "big5"]}`, inert, ""},
		{"a source", "main.go", `x := "encoding=gbk"`, inert, ""},
		{"prose", ".github/README.md", "encoding=gbk\n", inert, ""},
		{"what agents are told", ".cursor/rules/x.mdc", "encoding: gbk\n", inert, ""},
	} {
		t.Run(row.says, func(t *testing.T) {
			if row.want != "" {
				row.want = omittedBuilt + row.want
			}
			base := map[string]string{"a.c": "y = 2\n", row.name: row.text}
			head := maps.Clone(base)
			head["a.c"] = row.line + "\n"
			src := &memory{files: map[string]map[string]string{baseID: base, headID: head}}
			if f := build(t, src, oneLineChange("a.c", 1, "y = 2", row.line), Options{}).Files[0]; f.Omitted != row.want || f.Excused {
				t.Errorf("omitted %q, want %q", f.Omitted, row.want)
			}
			if row.line == plain && src.asked[baseID+":"+row.name] {
				t.Error("the build was looked into for nothing")
			}
		})
	}
}

// What the change itself says counts too, and what it takes away; prose is read by nobody's compiler.
func TestEncodingsOfTheBuildThatChange(t *testing.T) {
	const flag, none, inert = "CFLAGS = -finput-charset=CP932", "CFLAGS =", "puts(\"Ã\\\");"
	for _, row := range []struct{ says, name, before, after, want string }{
		{"one that comes", "a.c", none, flag, omittedBuilt + "CP932"},
		{"one that goes", "a.c", flag, none, omittedBuilt + "CP932"},
		{"prose", "a.md", none, flag, ""},
	} {
		src := &memory{files: map[string]map[string]string{baseID: {row.name: "y\n", "Makefile": row.before + "\n"}, headID: {row.name: inert + "\n", "Makefile": row.after + "\n"}}}
		change := oneLineChange("Makefile", 1, row.before, row.after) + oneLineChange(row.name, 1, "y", inert)
		for _, f := range build(t, src, change, Options{}).Files {
			if want := map[bool]string{true: row.want}[f.Path == row.name]; f.Omitted != want {
				t.Errorf("%s: %s is omitted %q, want %q", row.says, f.Path, f.Omitted, want)
			}
		}
		for _, f := range build(t, src, change, Options{Exclude: []string{"Makefile"}}).Files {
			if f.Path == row.name && f.Omitted != "" {
				t.Errorf("%s: what is excluded was read", row.says)
			}
		}
	}
}
