package evidence

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// counted is a history that counts what is read from it.
type counted struct {
	files
	reads int
}

func (c *counted) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	c.reads++
	return c.files.ReadFile(ctx, commit, path)
}

// citing are a history of files of one text, and findings about one file each whose quote is not there.
func citing(n int, text string) (*counted, []review.Finding) {
	h, findings := &counted{files: files{}}, make([]review.Finding, n)
	for i := range findings {
		name := fmt.Sprintf("f%d.go", i)
		h.files[headSHA+":"+name] = text
		findings[i] = review.Finding{ID: name, File: name, Evidence: "nowhere"}
	}
	return h, findings
}

// void places all findings, and reports whether the evidence of one is false.
func void(t *testing.T, c *Checker, findings []review.Finding, one int, required bool) (wrong bool) {
	t.Helper()
	for i, f := range findings {
		ev, _, err := c.Place(t.Context(), &f, required)
		if err != nil {
			t.Fatal(err)
		}
		wrong = wrong || i == one && ev.Status == False
	}
	return wrong
}

// An answer that cites many large files makes a checker keep little of them.
func TestCheckersKeepLittle(t *testing.T) {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	h, findings := citing(6, strings.Repeat("a\n", 400_000))
	before, c := used(), New(h, headSHA, baseSHA, nil)
	if !void(t, c, findings, 0, false) || !void(t, c, findings, 5, false) {
		t.Fatal("a quote that stands nowhere is not false")
	}
	if grew := int64(used()) - int64(before); grew > keptMost+1<<20 {
		t.Errorf("%d bytes are kept", grew)
	}
	runtime.KeepAlive(c)
}

// The files of an answer are read once. Of one that makes a checker read too much, the rest is held against nobody.
func TestCheckersReadOnce(t *testing.T) {
	h, findings := citing(100, strings.Repeat("func f(x int) { return g(x) }\n", 2_000))
	c := New(h, headSHA, baseSHA, nil)
	for range 2 {
		if !void(t, c, findings, 99, false) {
			t.Fatal("a quote that stands nowhere is not false")
		}
	}
	if h.reads != 2*len(findings) { // at head and base
		t.Errorf("%d reads", h.reads)
	}
	c.read = readMost + 1
	if void(t, c, findings, 99, true) {
		t.Error("held against a finding")
	}
}
