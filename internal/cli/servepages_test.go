package cli_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// A server that takes no webhooks shows the dashboard as well.
func TestServePollsAndShowsPages(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.serve("", "--poll", "--dashboard", "127.0.0.1:0")
	eventually.True(t, "the link of the dashboard", func() bool { return strings.Contains(h.log(), "dashboard: http://127.0.0.1:") })
}

// The dashboard beside prloop serve shows a run while its agents work, and how it ended, and cancels one.
func TestServeShowsPages(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	ready := filepath.Join(h.home, "ready")
	patient := filepath.Join(h.home, "patient.sh")
	script := "#!/bin/sh\nwhile [ ! -e " + ready + " ]; do sleep 0.05; done\nexec " + filepath.Join(h.home, "clean.sh") + "\n"
	if err := os.WriteFile(patient, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h.serve("", "--reviewers", "exec:"+patient, "--dashboard", "127.0.0.1:0")
	var link *url.URL
	program, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a link to the dashboard", func() bool {
		cmd := exec.Command(program, "dashboard", "link")
		cmd.Env = h.env
		out, err := cmd.Output()
		if err == nil {
			link, err = url.Parse(strings.TrimSpace(string(out)))
		}
		return err == nil
	})
	if key := link.Query().Get("key"); len(key) != 64 || strings.Contains(h.log(), key) || strings.Contains(h.log(), "sign-in/link") {
		t.Errorf("a link that signs in stands in the log, or there is none: %q", link)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	see := func(path string) string {
		t.Helper()
		answer, err := browser.Get(link.Scheme + "://" + link.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v\n%s", path, answer.StatusCode, err, body)
		}
		return string(body)
	}
	see(link.RequestURI())
	see("/policies/github.com/acme/widgets")
	if _, err := h.forge.AddRepo("acme", "gadgets"); err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Get(link.Scheme + "://" + link.Host + "/policies/github.com/acme/gadgets")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if fetched, _ := filepath.Glob(filepath.Join(h.home, "state", "repos", "*", "*", "gadgets*")); answer.StatusCode != http.StatusNotFound || fetched != nil {
		t.Errorf("a repository that is not served: status %d, fetched: %q", answer.StatusCode, fetched)
	}
	h.open(7, nil)
	var run string
	eventually.True(t, "the run to be listed", func() bool {
		found := regexp.MustCompile(`href="(/runs/[^"]+)"`).FindStringSubmatch(see("/runs"))
		if found != nil {
			run = found[1]
		}
		return found != nil
	})
	stream, err := browser.Get(link.Scheme + "://" + link.Host + run + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", want, lines.Err())
	}
	until("<b>patient</b>")
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until("event: ended")
	if page := see(run); !strings.Contains(page, "approved") || !strings.Contains(page, "acme/widgets#7") {
		t.Errorf("the run has ended, and its page says\n%s", page)
	}
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	h.open(8, nil)
	next := run
	eventually.True(t, "the next run to be listed", func() bool {
		next = regexp.MustCompile(`href="(/runs/[^"]+)"`).FindStringSubmatch(see("/runs"))[1]
		return next != run
	})
	answer, err = browser.PostForm(link.Scheme+"://"+link.Host+next+"/cancel", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	eventually.True(t, "the run to be cancelled", func() bool { return strings.Contains(see(next), "No process is at work on this run.") })
}
