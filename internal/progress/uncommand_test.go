package progress

import "testing"

// The runner of GitHub Actions ends a line at a carriage return as well as at a line feed; text without commands stays as it is.
func TestUncommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\r\ntext\n\n":   "plain\r\ntext\n\n",
		"a\r::add-mask::x":    "a\r> ::add-mask::x",
		"a\n ::error::x\r\nb": "a\n>  ::error::x\r\nb",
		"a ##[add-path]x":     "a ## [add-path]x",
		"a ##vso[task.x]y":    "a ## vso[task.x]y",
		"##TeamCity[x] ##b":   "## TeamCity[x] ##b",
		"\r\r::x":             "\r\r> ::x",
		"":                    "",
		"std::vector":         "std::vector",
	} {
		if got := Uncommand(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
