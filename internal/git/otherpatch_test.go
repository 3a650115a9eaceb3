package git

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever applies a patch with `git am` or `patch` gets what was reviewed, or the patch is refused.
func TestPatchesThatOthersReadOtherwise(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n2\n"})
	base := shell(t, dir, "rev-parse", "HEAD")
	write(t, dir, "a", "1\n2\n3\n")
	write(t, dir, "mail.txt", " 1a\n@@ -1 +1 @@\nFrom me\nContent-Transfer-Encoding: base64\n***************\n*** 0 ****\n")
	shell(t, dir, "add", ".")
	shell(t, dir, "commit", "-q", "-m", "Mehr Wörter\n\nContent-Type: application/json\n\n* Übrigens\n\n***\n")
	made := func(more ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "format-patch", "--stdout", base + ".."}, more...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	mail, parts := made(), made("--attach")
	if !strings.Contains(mail, "\nContent-Transfer-Encoding: 8bit\n") {
		t.Fatal(mail)
	}
	shell(t, dir, "reset", "-q", "--hard", base)
	r := open(t, find(t))
	for says, text := range map[string]string{
		"as git makes it":            mail,
		"with the letters of a mail": strings.Replace(mail, "text/plain; charset=UTF-8", "text/plain;\n charset=\"utf-8\"", 1),
		"with line ends of mail":     strings.ReplaceAll(mail[:strings.Index(mail, "\n\n")], "\n", "\r\n") + "\r\n\r\n" + mail[strings.Index(mail, "\n\n")+2:],
	} {
		got, err := r.Patched(t.Context(), dir, []byte(text))
		if err != nil {
			t.Error(says, err)
		} else if d := cmp.Diff([]string{"added mail.txt +6 -0", "modified a +1 -0"}, one(t, r, got)); d != "" {
			t.Error(says, d)
		}
	}
	plain := "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n 1\n 2\n+3\n"
	if _, err := r.Patched(t.Context(), dir, []byte(plain)); err != nil {
		t.Fatal(err)
	}
	field := func(name, value string) string { return strings.Replace(mail, name+": ", name+": "+value+"\nX: ", 1) }
	for says, text := range map[string]string{
		"parts":                           parts,
		"base64":                          field("Content-Transfer-Encoding", "base64"),
		"on the next line":                field("Content-Transfer-Encoding", "\n\tQuoted-Printable"),
		"in small letters":                strings.Replace(mail, "Content-Transfer-Encoding: 8bit", "content-transfer-encoding: 8bit, base64", 1),
		"a part of plain text":            field("Content-Type", "text/plain; boundary=x"),
		"joined lines":                    field("Content-Type", "text/plain; charset=utf-8; format=flowed; delsp=yes"),
		"letters in other ones":           field("Content-Type", "text/plain; charset=utf-7"),
		"a later mail":                    plain + "From " + strings.Repeat("1", 40) + " Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nContent-Transfer-Encoding: base64\n\nLS0tCg==\n",
		"a mail behind blanks":            "\ufeff\n  Content-Transfer-Encoding: base64\n\nLS0tCg==\n" + plain,
		"a context diff":                  plain + "\n*** /dev/null\n--- b/evil\n***************\n*** 0 ****\n--- 1 ----\n+ x\n",
		"a normal diff":                   plain + "\nIndex: evil\n0a1,2\n> x\n> y\n",
		"a normal diff with line ends":    plain + "\nIndex: evil\r\n0a1\r\n> x\r\n",
		"a script of ed":                  plain + "\nIndex: a\n2a\nx\n.\n",
		"a script of ed without number":   plain + "\nIndex: a\na\nx\n.\n",
		"a script of ed that takes signs": plain + "\nIndex: a\n2s/.//\n",
		"an indented diff":                plain + "\n  --- /dev/null\n  +++ b/evil\n  @@ -0,0 +1 @@\n  +x\n",
		"a diff in a digest":              plain + "\n- --- /dev/null\n- +++ b/evil\n@@ -0,0+1 @@\n+x\n",
		"a head that git does not read":   plain + "\n--- /dev/null\n+++ b/evil\nnothing\n@@ -0,0+1 @@\n+x\n",
	} {
		var refused *PatchError
		if _, err := r.Patched(t.Context(), dir, []byte(text)); !errors.As(err, &refused) || !errors.Is(err, ErrOtherReader) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
