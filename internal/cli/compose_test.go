package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// The programs of deploy/compose.yaml, started with its arguments and its environment, review a pull request together: serve writes it down, a worker
// reviews it, PostgreSQL is what they share. Only what an engine of containers would give them is put in its place: addresses and paths.
func TestCompose(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	h := openHall(t)
	h.share()
	h.asApp()
	program, err := exec.LookPath("prloop")
	if err != nil {
		t.Fatal(err)
	}
	given := func(name string) string {
		for _, e := range h.env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		t.Fatalf("the compose file sets %s, and nobody here knows what for", name)
		return ""
	}
	start := func(name string) {
		t.Helper()
		s, some := file.Services[name]
		if !some || len(s.Command) == 0 {
			t.Fatalf("the compose file has no service %s", name)
		}
		var args []string
		for _, a := range s.Command {
			switch {
			case strings.HasPrefix(a, "${PRLOOP_REPOS"):
				a = "acme/widgets"
			case a == "0.0.0.0:8080":
				a = h.listen()
			case a == "0.0.0.0:9464":
				a = "127.0.0.1:0"
			case strings.ContainsAny(a, "$/"):
				t.Fatalf("%s: nobody here knows what %q is", name, a)
			}
			args = append(args, a)
		}
		cmd := exec.Command(program, args...)
		for _, e := range h.env {
			if n, _, _ := strings.Cut(e, "="); n != "PRLOOP_DATABASE" && n != "PRLOOP_APP" && n != "PRLOOP_STATE" { // the file sets them, or nobody does
				cmd.Env = append(cmd.Env, e)
			}
		}
		for n := range s.Environment {
			switch n {
			case "PRLOOP_STATE":
				cmd.Env = append(cmd.Env, n+"="+filepath.Join(h.home, name))
			case "PGPASSFILE": // this server asks for no password
			default:
				cmd.Env = append(cmd.Env, n+"="+given(n))
			}
		}
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = h.home, h, h, killPatience
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := &server{cmd, make(chan error, 1)}
		go func() { p.ended <- cmd.Wait() }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-p.ended })
	}
	for _, name := range []string{"serve", "worker-1", "worker-2"} {
		start(name)
	}
	eventually.True(t, "two workers and a server", func() bool {
		return strings.Count(h.log(), "working for ") == 2 && strings.Contains(h.log(), "serving acme/widgets")
	})
	p := h.open(7, nil)
	if w := h.settled(1)["#7"]; w.Run == "" {
		t.Errorf("nobody reviewed it: %+v", w)
	}
	posted := 0
	for _, c := range p.Comments() {
		if c.Author == "acme-prloop[bot]" {
			posted++
		}
	}
	if posted != 1 {
		t.Errorf("%d comments of the App", posted)
	}
}
