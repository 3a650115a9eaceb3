package git

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/neverread"
)

// mailed are the commits of a branch since base as `git format-patch` writes them, and the tree of the last. The branch is back at base.
func mailed(t *testing.T, dir, base string, more ...string) (mails, tree string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "format-patch", "--stdout", base + ".."}, more...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	tree = shell(t, dir, "rev-parse", "HEAD^{tree}")
	shell(t, dir, "reset", "-q", "--hard", base)
	return string(out), tree
}

// encoded is a mail whose text is in base64.
func encoded(mail string) string {
	head, text, _ := strings.Cut(mail, "\n\n")
	return strings.Replace(head, "Content-Transfer-Encoding: 8bit\n", "", 1) + "\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
}

// adds is a diff that adds a file.
func adds(name, line string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+%[2]s\n", name, line)
}

// A patch of mails is what `git am` makes of it, whatever they are written in.
func TestPatchesOfMails(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n2\n"})
	base := shell(t, dir, "rev-parse", "HEAD")
	write(t, dir, "a", "1\n2\n3\n")
	write(t, dir, "mail.txt", " 1a\n@@ -1 +1 @@\nFrom me\nContent-Transfer-Encoding: base64\n***************\n*** 0 ****\n")
	shell(t, dir, "add", ".")
	shell(t, dir, "commit", "-q", "-m", "Mehr Wörter\n\nContent-Type: application/json\n\n* Übrigens\n\n***\n")
	tip := shell(t, dir, "rev-parse", "HEAD")
	parts, tree := mailed(t, dir, base, "--attach")
	shell(t, dir, "merge", "-q", "--ff-only", tip)
	mail, _ := mailed(t, dir, base)
	if !strings.Contains(mail, "\nContent-Transfer-Encoding: 8bit\n") || !strings.Contains(parts, "multipart/mixed") {
		t.Fatal(mail, parts)
	}
	head, text, _ := strings.Cut(mail, "\n\n")
	r := open(t, find(t))
	for says, patch := range map[string]string{
		"as git makes it":            mail,
		"with the letters of a mail": strings.Replace(mail, "text/plain; charset=UTF-8", "text/plain;\n charset=\"utf-8\"", 1),
		"with line ends of mail":     strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + text,
		"in parts":                   parts,
		"in base64":                  encoded(mail),
		"behind a cover letter":      "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nSubject: [PATCH 0/1] x\n\nAbout it.\n\n" + mail,
	} {
		got, err := r.Patched(t.Context(), dir, []byte(patch))
		if err != nil {
			t.Error(says, err)
		} else if made := shell(t, r.dir, "rev-parse", got+"^{tree}"); made != tree {
			t.Error(says, "makes", cmp.Diff([]string{"added mail.txt +6 -0", "modified a +1 -0"}, one(t, r, got)))
		}
		if trees := readings(t, dir, base, patch); !slices.Contains(trees, tree) || len(slices.Compact(trees)) > 1 {
			t.Errorf("%s: git itself makes %q", says, trees)
		}
	}

	shell(t, dir, "merge", "-q", "--ff-only", tip)
	write(t, dir, "a", "1\n2\n")
	shell(t, dir, "commit", "-q", "-am", "Back")
	gone, _ := mailed(t, dir, tip)
	shell(t, dir, "reset", "-q", "--hard", base)
	flowed := strings.Replace(mail, "text/plain; charset=UTF-8", "text/plain; charset=UTF-8; format=flowed; delsp=yes", 1) + adds("evil", "two \n+words")
	for says, patch := range map[string]string{
		"a mail behind a diff of nobody":  adds("good", "x") + encoded("From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nSubject: x\n\n---\n"+adds("evil", "x")),
		"a mark and blanks before a mail": "\ufeff\n  \n" + encoded(strings.Replace(mail, "\n+3\n", "\n+evil\n", 1)) + adds("good", "x"),
		"what is said in the text":        strings.Replace(mail, "\n\n* ", "\n\nFrom: N <n@x>\nContent-Transfer-Encoding: base64\n\n* ", 1),
		"a diff of another format":        adds("good", "x") + "\n*** /dev/null\n--- b/evil\n***************\n*** 0 ****\n--- 1 ----\n+ x\n",
		"a commit as git shows it":        "commit 1111111111111111111111111111111111111111\nAuthor: M <m@x>\nDate:   Mon Sep 17 00:00:00 2001\n\n    Text\n\n" + adds("good", "x"),
		"a change set of hg":              "# HG changeset patch\n# User M <m@x>\n# Date 0 0\nText\n\n" + adds("good", "x"),
		"with line ends of a file":        "diff --git a/c b/c\nnew file mode 100644\n--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+x\r\n",
	} {
		got, err := r.Patched(t.Context(), dir, []byte(patch))
		if err != nil {
			t.Error(says, err)
			continue
		}
		made := shell(t, r.dir, "rev-parse", got+"^{tree}")
		for _, tree := range readings(t, dir, base, patch) {
			if tree != made {
				t.Errorf("%s is reviewed as %q, and git makes another change of it", says, one(t, r, got))
			}
		}
	}
	for says, patch := range map[string]string{
		"a later mail in base64":           mail + encoded("From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nSubject: x\n\n---\n"+adds("evil", "x")),
		"a mail behind a diff":             "From 2222222222222222222222222222222222222222 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\n\n---\n" + adds("good", "x") + encoded("From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nSubject: x\n\n---\n"+adds("evil", "x")),
		"a diff behind the parts":          parts + adds("evil", "x"),
		"a diff in a part":                 strings.Replace(parts, "\nContent-Type: text/x-patch", "\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(adds("evil", "x")))+"\n--------------\nContent-Type: text/x-patch", 1),
		"joined lines":                     flowed,
		"line ends that are left":          strings.Replace(mail, "\n+3\n", "\n+3\r\n", 1),
		"a text that is no mail, in parts": "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" + adds("good", "x") + "--b\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(adds("evil", "x"))) + "\n--b--\n",
		"a text of Mercurial":              "# HG changeset patch\n# User M <m@x>\n# Date 0 0\nText\n\n---  a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n+0\n 1\n 2\n\n" + adds("good", "x"),
		"a text of StGit":                  "Text\n\nFrom: M <m@x>\nDate: Mon, 17 Sep 2001 00:00:00 +0000\n\n---  a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n+0\n 1\n 2\n\n---\n" + adds("good", "x"),
		"a mail that git am passes over": mail + strings.Replace(strings.Replace(gone, "From: ", "From: Mail System Internal Data <m@x>\nX: ", 1), "+3", "+3", 1) +
			"From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001\nFrom: M <m@x>\nSubject: x\n\n---\n" + adds("good", "x"),
		"a mail of nobody":           mail + strings.Replace(gone, "From: ", "X: ", 1),
		"a mail of no day":           mail + strings.Replace(gone, "Date: ", "Date: yesterdayish 99:99\nX: ", 1),
		"what applies to a checkout": "From: M <m@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n 1\r\n 2\r\n+evil\r\n\n--b\nContent-Type: text/plain\n\n---\n" + adds("good", "x") + "\n--b--\n",
		"a later mail that refuses":  mail + strings.Replace(mail, "\n+3\n", "\n+4\n", 1),
	} {
		made, err := r.Patched(t.Context(), dir, []byte(patch))
		var refused *PatchError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v: %q", says, err, one(t, r, made))
		}
	}
}

// readings are the trees that git itself makes of a patch on a commit: applied, and as mails from a file and from standard input.
func readings(t *testing.T, dir, base, patch string) (trees []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(file, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"apply", "--index", file}, {"am", "-q", "--empty=drop", file}, {"am", "-q", "--empty=drop", "--patch-format=mbox", file}} {
		if exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Run() == nil {
			trees = append(trees, shell(t, dir, "write-tree"))
		}
		_ = exec.CommandContext(t.Context(), "git", "-C", dir, "am", "--abort").Run()
		shell(t, dir, "reset", "-q", "--hard", base)
	}
	return trees
}

// What a later mail does to the file of an earlier one is done by `git am` to what that left, and by `git apply` to what was there.
func TestMailsAreAppliedOneByOne(t *testing.T) {
	dir := origin(t, map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "b\n"})
	base := shell(t, dir, "rev-parse", "HEAD")
	for says, steps := range map[string][]map[string]string{
		"changed twice":     {{"a": "1\n2\n3\n4\n5\n6\n"}, {"a": "0\n1\n2\n3\n4\n5\n6\n"}},
		"changed and moved": {{"a": "1\n2\n3\n4\n5\n6\n"}, {"a": "", "c": "1\n2\n3\n4\n5\n6\n"}},
		"moved and made":    {{"a": "", "c": "1\n2\n3\n4\n5\n"}, {"a": "other\n"}, {"c": "", "d": "1\n2\n3\n4\n5\n6\n"}},
		"gone and made":     {{"b": ""}, {"b": "b\nc\n"}},
	} {
		for i, files := range steps {
			for name, text := range files {
				if text == "" {
					shell(t, dir, "rm", "-q", name)
				} else {
					write(t, dir, name, text)
				}
			}
			shell(t, dir, "add", "-A")
			shell(t, dir, "commit", "-q", "-m", fmt.Sprint(i))
		}
		mails, tree := mailed(t, dir, base)
		r := open(t, find(t))
		got, err := r.Patched(t.Context(), dir, []byte(mails))
		if err == nil && shell(t, r.dir, "rev-parse", got+"^{tree}") != tree {
			t.Errorf("%s makes %q", says, one(t, r, got))
		} else if err != nil && !errors.Is(err, ErrTwoReadings) {
			t.Error(says, err)
		}
		for _, other := range readings(t, dir, base, mails) {
			if err == nil && other != tree {
				t.Errorf("%s is taken, and git makes another change of it", says)
			}
		}
	}
}

// A patch is no way to what may not be read: neither by the name of a file nor by the id of an object.
func TestPatchesDoNotReadWhatIsWithheld(t *testing.T) {
	dir := origin(t, map[string]string{"secret/x": canary + "\n", "main.go": "package main\n", "logo.bin": "\x00old"})
	oid, old := shell(t, dir, "rev-parse", "HEAD:secret/x"), shell(t, dir, "rev-parse", "HEAD:logo.bin")
	base := shell(t, dir, "rev-parse", "HEAD")
	commit(t, dir, map[string]string{"logo.bin": "\x00new", "main.go": "package main\n\nfunc main() {}\n", "secret/new [a]": "a\n", "secret/x": newCanary + "\n"})
	honest, tree := mailed(t, dir, base, "--binary")
	whole := open(t, find(t))
	r := whole.Without(neverread.Paths{"secret/"}.Has)
	for says, patch := range map[string]string{
		"copied":                 "diff --git a/secret/x b/public\nsimilarity index 100%\ncopy from secret/x\ncopy to public\n",
		"moved":                  "diff --git a/secret/x b/public\nsimilarity index 100%\nrename from secret/x\nrename to public\n",
		"copied in a mail":       "From: M <m@x>\nSubject: x\n\n---\ndiff --git a/secret/x b/public\nsimilarity index 100%\ncopy from secret/x\ncopy to public\n",
		"copied on, and gone":    "diff --git a/secret/x b/secret/y\nsimilarity index 100%\nrename from secret/x\nrename to secret/y\ndiff --git a/secret/x b/public\nsimilarity index 100%\ncopy from secret/x\ncopy to public\n",
		"by its id":              "diff --git a/logo.bin b/logo.bin\nindex " + old + ".." + oid + " 100644\nBinary files a/logo.bin and b/logo.bin differ\n",
		"by its id, beside data": strings.ReplaceAll(honest, shell(t, dir, "rev-parse", "ORIG_HEAD:logo.bin"), oid),
	} {
		made, err := r.Patched(t.Context(), dir, []byte(patch))
		if err != nil {
			t.Errorf("%s proves nothing: %v", says, err)
			continue
		}
		var refused *PatchError
		if err := r.Readable(t.Context(), base, made, []byte(patch)); !errors.As(err, &refused) || !errors.Is(err, ErrBuildsOnWithheld) {
			t.Errorf("%s: %v", says, err)
		}
		if err := whole.Readable(t.Context(), base, made, []byte(patch)); err != nil {
			t.Errorf("%s, where nothing is withheld: %v", says, err)
		}
	}
	got, err := r.Patched(t.Context(), dir, []byte(honest))
	if err != nil || shell(t, whole.dir, "rev-parse", got+"^{tree}") != tree {
		t.Fatal(err)
	}
	if err := r.Readable(t.Context(), base, got, []byte(honest)); err != nil {
		t.Error("an honest patch:", err)
	}
}

// `git apply --3way` goes by the file that a patch says it was made against, where the same lines may have stood elsewhere.
func TestPatchesAreMerged(t *testing.T) {
	body := "\tuser()\n\tlog()\n\tcheck()\n\tnotify()\n\tdone()\n"
	dir := origin(t, map[string]string{"a": "\n\n\npay:\n" + body})
	old := shell(t, dir, "rev-parse", "HEAD:a")
	now := "\n\n\ndemo:\n" + body + "\n\npay:\n" + body
	commit(t, dir, map[string]string{"a": now})
	patch := "diff --git a/a b/a\nindex %s..1234567890123456789012345678901234567890 100644\n--- a/a\n+++ b/a\n@@ -5,5 +5,4 @@\n \tuser()\n \tlog()\n-\tcheck()\n \tnotify()\n \tdone()\n"
	for made, want := range map[string]error{old: ErrTwoReadings, shell(t, dir, "rev-parse", "HEAD:a"): nil, strings.Repeat("1", 40): nil} {
		if _, err := open(t, find(t)).Patched(t.Context(), dir, fmt.Appendf(nil, patch, made)); !errors.Is(err, want) {
			t.Errorf("made against %s: %v, want %v", made, err, want)
		}
	}
}
