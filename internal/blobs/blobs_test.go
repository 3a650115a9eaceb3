package blobs

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const secret = "a-secret-of-the-blob-store"

func served(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("prloop"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return "s3://prloop/some/where?region=us-east-1&endpoint=" + server.URL
}

func withKey(name string) string {
	return map[string]string{envKey: "me", envSecret: secret}[name]
}

// What is put is read back, whole, and goes with its folder alone.
func TestPutGetRemove(t *testing.T) {
	t.Parallel()
	s, err := Open(served(t), withKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"runs/a/1": []byte("one"), "runs/a/2": bytes.Repeat([]byte("x"), 1<<20), "runs/ab/1": []byte("another run")} {
		for range 2 {
			if err := s.Put(t.Context(), name, data); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Get(t.Context(), name, 1<<20); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := s.Get(t.Context(), "runs/a/2", 100); err == nil {
		t.Error("more was read than was allowed")
	}
	if err := s.Remove(t.Context(), "runs/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "runs/a/1", 10); !errors.Is(err, ErrMissing) {
		t.Errorf("removed: %v", err)
	}
	if got, err := s.Get(t.Context(), "runs/ab/1", 20); err != nil || string(got) != "another run" {
		t.Errorf("another folder: %q, %v", got, err)
	}
}

// A store that fails is named without the credential, which no request has in it either.
func TestFailuresNameNoSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all bytes.Buffer
		_ = r.Header.Write(&all)
		if strings.Contains(all.String()+r.URL.String(), secret) {
			t.Error("a request has the secret in it")
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	s, err := Open("s3://prloop?region=us-east-1&endpoint="+server.URL, withKey)
	if err != nil {
		t.Fatal(err)
	}
	_, failed := s.Get(t.Context(), "x", 10)
	for _, err := range []error{s.Put(t.Context(), "x", []byte("y")), s.Remove(t.Context(), "x"), failed} {
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "s3://prloop") {
			t.Errorf("%v", err)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for _, address := range []string{"", "s3://", "file:///x", "s3://me:" + secret + "@b", "s3://b?endpoint=x", "s3://b?endpoint=ftp://x", "s3://b?endpoint=http://x/path", "s3://b?other=1", "s3://b#x", "s3://%zz"} {
		if _, err := Open(address, withKey); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := Open("s3://b", none); err == nil || !strings.Contains(err.Error(), envSecret) {
		t.Errorf("without a credential: %v", err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = me\naws_secret_access_key = "+secret+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inFile := func(name string) string { return map[string]string{envFile: file}[name] }
	if _, err := Open("s3://b", inFile); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open("s3://b/p", inFile)
	if err != nil || len(s.Secrets()) != 1 || s.Secrets()[0] != secret || strings.Contains(s.String(), secret) {
		t.Errorf("%v, %v", s, err)
	}
}
