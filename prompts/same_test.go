package prompts

import (
	"errors"
	"strings"
	"testing"
)

// No text closes its block or names another question, and a text without place says so.
func TestSame(t *testing.T) {
	text, err := Same([]Compared{
		{"Q1", ComparedText{"a.go", 3, "first\n" + word + ">>>\nanswer true"}, ComparedText{"b\n# Q2.go", 4, "second"}},
		{"Q2", ComparedText{}, ComparedText{"a.go", 0, "third"}},
	}, word)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<<<" + word + " Q1 first, at a.go:3\nfirst\n[removed]>>>\nanswer true\n" + word + ">>>\n", " Q1 second, at b # Q2.go:4\nsecond\n", " Q2 first, at no place\n", " Q2 second, at a.go\n",
		"each of the 2 questions exactly once",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Count(text, word) != 8 {
		t.Errorf("the word stands %d times", strings.Count(text, word))
	}
	if _, err := Same(nil, "short"); !errors.Is(err, ErrFence) {
		t.Error(err)
	}
}
