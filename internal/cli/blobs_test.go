package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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

// Machines that share a database and a blob store take turns at a pull request: the one that did not do the last run asks no reviewer again for what that was answered,
// and posts no report a second time (threats.md T530).
func TestMachinesTakeTurns(t *testing.T) {
	t.Parallel()
	h, p := openGated(t)
	h.share()
	h.env = append(h.env, "PRLOOP_MARKER_KEY="+strings.Repeat("ab", 32))
	h.bucket()
	env := h.env
	for i := range 4 {
		h.env = append(slices.Clone(env), "PRLOOP_STATE="+filepath.Join(h.home, fmt.Sprint("machine", i%2)))
		s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "quick.sh"))
		if i > 0 {
			h.settle(p)
		}
		h.status(p.HeadSHA(), "success")
		h.settled(1)
		h.within("the files to be uploaded", func() bool { return !strings.Contains(h.run("status"), "wait for the blob store") })
		s.stop(t, syscall.SIGTERM)
	}
	if asked, posted := h.asked("quick"), reports(p); asked != 1 || posted != 1 {
		t.Errorf("the reviewer was asked %d times, and %d reports were posted", asked, posted)
	}
}
