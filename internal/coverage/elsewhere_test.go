package coverage

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// A content in Git LFS is named as the commit of a submodule is: git shows no more of it than a hash.
func TestContentInLFSIsNamed(t *testing.T) {
	const version, oid = "version https://git-lfs.github.com/spec/v1", "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	brief := func(diff string) review.Brief {
		return review.Brief{Files: []review.BriefFile{{Path: "tool.py", Diff: diff}}}
	}
	const header = "diff --git a/tool.py b/tool.py\nindex 1111111..2222222 100644\n--- a/tool.py\n+++ b/tool.py\n"
	for diff, want := range map[string]int{
		header + "@@ -4,5 +4,5 @@\n \n \n \n-oid sha256:1\n-size 8\n+" + oid + "\n+size 9\n":         1, // the version is further up
		header + "@@ -4,6 +4,8 @@\n \n \n \n-oid sha256:1\n+" + oid + "\n+\n+\n \n \n":               1,
		header + "@@ -4,4 +4,5 @@\n text\n \n \n-oid sha256:1\n+" + oid + "\n+which is a hash\n":     1,
		header + "@@ -4,5 +4,6 @@\n \n \n \n-oid sha256:1\n-size 8\n+" + oid + "\n+size 9\n+x = 1\n": 1, // Git LFS reads no further than 1 KB
		"@@ -0,0 +1,3 @@\n+" + version + "\n+" + oid + "\n+size 9\n":                                 1,
		"@@ -1,3 +1,3 @@\n " + version + "\n-oid sha256:1\n-size 8\n+" + oid + "\n+size 9\n":         1,
		"@@ -1,3 +0,0 @@\n-" + version + "\n-" + oid + "\n-size 9\n":                                 0,
		"@@ -0,0 +1 @@\n+" + version + "\n":                                                          0,
	} {
		if got := Pointers(brief(diff)); len(got) != want {
			t.Errorf("%v of\n%s", got, diff)
		}
	}
}
