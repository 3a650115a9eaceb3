package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/advice"
)

// testdata/older/state-3.tar.gz is the state folder of a prloop whose steps were those of version 3: one run that had finished,
// one that was killed when its reviewer had answered, one that was killed before the engine had it.
const (
	olderFinished = "20261122T073600.759Z_060097eb2922b6c7"
	olderKilled   = "20261122T073601.333Z_060097eb2922b6c7"
	olderBegun    = "20261122T073602.301Z_060097eb2922b6c7"
)

// Finished runs of an older prloop are listed and shown, unfinished ones are refused by name.
func TestOlderState(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	if err := unpack(filepath.Join("testdata", "older", "state-3.tar.gz"), state); err != nil {
		t.Fatal(err)
	}
	prloop := func(args ...string) (status int, stdout, stderr string) {
		var out, complaints strings.Builder
		status = Main(Invocation{Name: "prloop", Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints, Env: []string{"PRLOOP_STATE=" + state}})
		return status, out.String(), complaints.String()
	}
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{"runs --json run,state,outcome", 0, []string{olderFinished, olderKilled, olderBegun, "finished", "interrupted", "converged"}},
		{"show " + olderFinished, 0, []string{"Review: approved"}},
		{"show --json " + olderFinished, 0, []string{`"outcome": "converged"`}},
		{"resume " + olderFinished, 0, []string{"outcome: converged"}},
	} {
		status, stdout, stderr := prloop(strings.Fields(c.args)...)
		if status != c.status {
			t.Errorf("prloop %s: status %d\n%s", c.args, status, stderr)
		}
		for _, w := range c.want {
			if !strings.Contains(stdout, w) {
				t.Errorf("prloop %s does not say %q:\n%s", c.args, w, stdout)
			}
		}
	}
	for _, run := range []string{olderKilled, olderBegun} {
		status, _, stderr := prloop("resume", run)
		if status != advice.Failed || !strings.Contains(stderr, "run "+run+": the run was started by another version of prloop") || !strings.Contains(stderr, "try: start a new run") {
			t.Errorf("resume %s: status %d, %s", run, status, stderr)
		}
	}
}

// unpack makes a folder of a compressed archive.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			continue
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
		}
		if err != nil {
			return err
		}
	}
}
