package cli_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// bucketSecret is the credential of the bucket of a hall.
const bucketSecret = "the-secret-of-the-bucket"

// bucket has the processes of a hall share a blob store, which drops each connection while it is down.
func (h *hall) bucket() (down *atomic.Bool) {
	h.t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("prloop"); err != nil {
		h.t.Fatal(err)
	}
	down = new(atomic.Bool)
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		s3.ServeHTTP(w, r)
	}))
	h.t.Cleanup(server.Close)
	h.env = append(h.env, "PRLOOP_BLOBS=s3://prloop/x?region=us-east-1&endpoint="+server.URL, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY="+bucketSecret)
	return down
}

// The machine that serves shows a run that a worker made, though the blob store was down while it was reviewed and the worker was killed: a worker on
// the same state folder uploads what is missing. Nobody is told the credential.
func TestServerShowsTheRunOfAWorker(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.free()
	down := h.bucket()
	down.Store(true)
	h.serve("", "--reviews", "0", "--reviewers", strings.Join(reviewers, ","))
	first := h.work("second", reviewers, "--reviews", "1")
	p := h.open(7, nil)
	if w := h.settled(1)["#7"]; w.Outcome != "converged" || reports(p) != 1 {
		t.Errorf("%+v; %d reports", w, reports(p))
	}
	first.stop(t, syscall.SIGKILL)
	if said := h.run("status"); !strings.Contains(said, "wait for the blob store") || strings.Contains(said, bucketSecret) {
		t.Errorf("status: %s", said)
	}
	down.Store(false)
	env := h.env
	h.env = append(slices.Clone(env), "PRLOOP_FAILPOINT=blobs: uploaded=kill")
	killed := h.work("second", reviewers, "--reviews", "1")
	h.env = env
	select {
	case err := <-killed.ended:
		killed.ended <- err
	case <-time.After(killPatience):
		t.Fatal("the worker was not killed")
	}
	if said := h.run("status"); !strings.Contains(said, "wait for the blob store") {
		t.Errorf("status after a kill between upload and record: %s", said)
	}
	h.work("second", reviewers, "--reviews", "1")
	h.within("the files to be uploaded", func() bool { return !strings.Contains(h.run("status"), "wait for the blob store") })
	if said := h.run("replay", "latest"); !strings.Contains(said, "same") {
		t.Errorf("replay: %s", said)
	}
	if said := h.log(); strings.Contains(said, bucketSecret) {
		t.Error("the log has the credential")
	}
}
