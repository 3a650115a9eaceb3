package github

import (
	"fmt"
	"strings"
	"testing"
)

// A pull request of 3,000 comments, some with 138,009 characters and more, is read without loss, in one request for each hundred.
func TestLargePullRequest(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	const comments, long = 3000, 138_009
	text := strings.Repeat("ä€😀 word\n", long/9+1)
	body := string([]rune(text)[:long])
	if n := len([]rune(body)); n != long {
		t.Fatalf("%d characters", n)
	}
	size := 0
	for i := range comments {
		said := fmt.Sprintf("comment %d", i)
		if i%1000 == 999 {
			said += body
		}
		size += len(said)
		p.Comment("contributor", said)
	}
	c := client(t, f, Options{})
	pr := readPull(t, c)
	asked := len(f.Log())
	d, err := c.Discussion(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	if d.Truncated || len(d.Comments) != comments {
		t.Fatalf("%d comments, truncated %v", len(d.Comments), d.Truncated)
	}
	for i, m := range d.Comments {
		want := fmt.Sprintf("comment %d", i)
		if i%1000 == 999 {
			want += body
		}
		if m.Body != want {
			t.Fatalf("comment %d has %d bytes, want %d", i, len(m.Body), len(want))
		}
	}
	if n := len(f.Log()) - asked; n != comments/100 {
		t.Errorf("%d requests", n)
	}
	t.Logf("%d bytes of text in %d requests", size, len(f.Log())-asked)
}
