package repocontext

import "testing"

// No name here excuses the ordinary file beside one, and whoever is about the folder and the ending is about both.
func TestOrdinary(t *testing.T) {
	for name, want := range map[string]string{
		"package-lock.json":      "other.json",
		"web/pnpm-lock.yaml":     "web/other.yaml",
		"Cargo.lock":             "other",
		"a/go.sum":               "a/other",
		"vendor/x/x.go":          "other/x/x.go",
		"a/third_party/vendor/x": "a/other/other/x",
		"vendor/ui/package.json": "other/ui/package.json",
		"vendor/ui/yarn.lock":    "other/ui/other",
		"vendor/a/jquery.min.js": "other/a/other.js",
		"api/a.pb.go":            "api/other.go",
		"a/jquery.min.js":        "a/other.js",
		"a.b/c":                  "a.b/other",
	} {
		got := Ordinary(name)
		if got != want || named(got) != "" {
			t.Errorf("%s: %s (%s), want %s", name, got, named(got), want)
		}
	}
}
