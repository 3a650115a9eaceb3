package github

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// What a large pull request has.
const (
	manyComments = 3000
	longBody     = 138_009 // characters
)

// large fills a pull request: every thousandth comment is a long one. It gives the bytes of all.
func large(p *forge.PullRequest) (bodies []string, size int) {
	text := strings.Repeat("ä€😀 word\n", longBody/9+1)
	body := string([]rune(text)[:longBody])
	for i := range manyComments {
		said := fmt.Sprintf("comment %d", i)
		if i%1000 == 999 {
			said += body
		}
		size += len(said)
		bodies = append(bodies, said)
		p.Comment("contributor", said)
	}
	return bodies, size
}

// A pull request of 3,000 comments, some with 138,009 characters and more, is read without loss, in one request for each hundred.
func TestLargePullRequest(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	want, size := large(p)
	if n := len([]rune(want[manyComments-1])); n < longBody {
		t.Fatalf("%d characters", n)
	}
	c := client(t, f, Options{})
	pr := readPull(t, c)
	asked := len(f.Log())
	d, err := c.Discussion(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	if d.Truncated || len(d.Comments) != manyComments {
		t.Fatalf("%d comments, truncated %v", len(d.Comments), d.Truncated)
	}
	for i, m := range d.Comments {
		if m.Body != want[i] {
			t.Fatalf("comment %d has %d bytes, want %d", i, len(m.Body), len(want[i]))
		}
	}
	if n := len(f.Log()) - asked; n != manyComments/100 {
		t.Errorf("%d requests", n)
	}
	t.Logf("%d bytes of text in %d requests", size, len(f.Log())-asked)
}

// recorded gives the answers that a forge gave before, so that what reading costs is the reader's own.
type recorded struct {
	next    http.RoundTripper
	answers map[[32]byte]answered
}

type answered struct {
	status int
	header http.Header
	body   []byte
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	var asked []byte
	if req.Body != nil {
		var err error
		if asked, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(asked))
	}
	key := sha256.Sum256(append(asked, req.URL.String()...))
	a, ok := r.answers[key]
	if !ok {
		resp, err := r.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if a.body, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
		a.status, a.header = resp.StatusCode, resp.Header
		r.answers[key] = a
	}
	return &http.Response{StatusCode: a.status, Status: http.StatusText(a.status), Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req}, nil
}

// BenchmarkLargePullRequest reads the discussion of a large pull request: how long the client itself takes, and how much memory it takes
// beyond what the process had before (docs/performance.md).
func BenchmarkLargePullRequest(b *testing.B) {
	f, p, _ := open(b)
	_, size := large(p)
	c := client(b, f, Options{})
	c.transport.next = &recorded{c.transport.next, map[[32]byte]answered{}}
	pr := readPull(b, c)
	if _, err := c.Discussion(b.Context(), pr); err != nil {
		b.Fatal(err)
	}
	grown, before := peak(b), processor(b)
	for b.Loop() {
		if d, err := c.Discussion(b.Context(), pr); err != nil || len(d.Comments) != manyComments {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor(b)-before)/float64(b.N), "processor-s/op")
	b.ReportMetric(grown(), "peak-MB")
	b.ReportMetric(float64(size)/1e6, "text-MB")
}
