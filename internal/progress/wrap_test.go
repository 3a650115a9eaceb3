package progress

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 30, "one two three"},
		{"one two three", 17, "one two\n          three"},
		{"one", 5, "one"},
		{"https://example.com/a/long/address two", 20, "https://example.com/a/long/address\n          two"},
		{"", 20, ""},
		{"one two three four", 12, "one\n  two three\n  four"},
		{"漢字 漢字", 18, "漢字\n          漢字"}, // two columns each
	} {
		if got := Wrap(c.text, c.width, 10); got != c.want {
			t.Errorf("%q at %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// Marks of colors take no room.
func TestWrapIgnoresColors(t *testing.T) {
	c := palette(true)
	got := Wrap(c.paint("31", "one two")+" "+c.bold("three")+" four", 13, 0)
	if want := c.paint("31", "one two") + " " + c.bold("three") + "\nfour"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
