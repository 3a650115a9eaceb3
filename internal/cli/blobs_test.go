package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The machine that serves shows a run that a worker made, though the blob store was down while it was reviewed and the worker was killed: a worker on
// the same state folder uploads what is missing. Nobody is told the credential.
func TestServerShowsTheRunOfAWorker(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.free()
	backend := s3mem.New()
	if err := backend.CreateBucket("prloop"); err != nil {
		t.Fatal(err)
	}
	var up atomic.Bool
	s3 := gofakes3.New(backend).Server()
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			panic(http.ErrAbortHandler)
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(bucket.Close)
	const secret = "the-secret-of-the-bucket"
	h.env = append(h.env, "PRLOOP_BLOBS=s3://prloop/x?region=us-east-1&endpoint="+bucket.URL, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY="+secret)
	h.serve("", "--reviews", "0", "--reviewers", strings.Join(reviewers, ","))
	first := h.work("second", reviewers, "--reviews", "1")
	p := h.open(7, nil)
	if w := h.settled(1)["#7"]; w.Outcome != "converged" || reports(p) != 1 {
		t.Errorf("%+v; %d reports", w, reports(p))
	}
	first.stop(t, syscall.SIGKILL)
	if said := h.run("status"); !strings.Contains(said, "wait for the blob store") || strings.Contains(said, secret) {
		t.Errorf("status: %s", said)
	}
	up.Store(true)
	h.work("second", reviewers, "--reviews", "1")
	h.within("the files to be uploaded", func() bool { return !strings.Contains(h.run("status"), "wait for the blob store") })
	if said := h.run("replay", "latest"); !strings.Contains(said, "same") {
		t.Errorf("replay: %s", said)
	}
	if said := h.log(); strings.Contains(said, secret) {
		t.Error("the log has the credential")
	}
}
