package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// role is one process of prloop and what it alone was given.
type role struct {
	*server
	name  string
	holds []string
	// log is what it wrote.
	log string
}

// roles are all processes of one installation, each with the credentials of its role.
type roles struct {
	*hall
	t        *testing.T
	c        *canaries
	sockets  string
	database string
	all      []*role
}

// start starts one and waits until ready says that it serves.
func (r *roles) start(name string, holds []string, env []string, ready func() bool, args ...string) *role {
	r.t.Helper()
	program, err := exec.LookPath("prloop")
	if err != nil {
		r.t.Fatal(err)
	}
	home := filepath.Join(r.home, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		r.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, log, log
	cmd.Env = append(r.forge.EnvWithToken("", ""), append([]string{"PATH=" + os.Getenv("PATH") + ":" + filepath.Dir(forgetest.GH(r.t)), "PRLOOP_STATE=" + filepath.Join(home, "state"), "PRLOOP_LOG=debug"}, env...)...)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	out := &role{&server{cmd, make(chan error, 1)}, name, holds, log.Name()}
	go func() { out.ended <- cmd.Wait(); log.Close() }()
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-out.ended
		if said, _ := os.ReadFile(out.log); r.t.Failed() {
			r.t.Logf("%s said:\n%s", name, said)
		}
	})
	eventually.True(r.t, name+" to serve", func() bool {
		select {
		case err := <-out.ended:
			out.ended <- err
			r.t.Fatalf("%s ended: %v", name, err)
		default:
		}
		return ready()
	})
	r.all = append(r.all, out)
	return out
}

// listening reports whether somebody listens.
func listening(network, address string) func() bool {
	return func() bool {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
}

func (r *roles) socket(name string) string { return filepath.Join(r.sockets, name) }

// memory looks for tokens in what a process has in its memory.
func (r *roles) memory(p *role) (found []string) {
	r.t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	defer maps.Close()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	defer mem.Close()
	const piece, overlap = 1 << 20, 256
	buf, read := make([]byte, piece+overlap), 0
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uint64
		var perms string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &perms); err != nil || !strings.HasPrefix(perms, "rw") {
			continue
		}
		for at := from; at < to; at += piece {
			n, err := mem.ReadAt(buf[:min(piece+overlap, to-at)], int64(at))
			if read += n; n == 0 || err != nil && n == 0 {
				continue
			}
			for label, token := range r.c.tokens {
				if bytes.Contains(buf[:n], []byte(token)) && !slices.Contains(found, label) {
					found = append(found, label)
				}
			}
		}
	}
	if read < 1<<20 {
		r.t.Errorf("of the memory of %s %d bytes were read", p.name, read)
	}
	slices.Sort(found)
	return found
}

// Each credential is in the process of its role and nowhere else: not in another's memory or environment, in no file, in no log, with no agent and in
// nothing that leaves. A whole review with a fix and its push goes by them (threats.md T310).
func TestRolesHoldTheirOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts six processes and looks through their memory: go test without -short does")
	}
	h := openHall(t)
	dir, err := os.MkdirTemp("", "prloop-roles-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &roles{hall: h, t: t, c: newCanaries(), sockets: dir, database: postgres.New(t)}
	model, err := fakemodel.Start(fakemodel.Script{Default: &fakemodel.Answer{JSON: envelope(nil)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	plant := r.c.plant
	h.forge.AddToken(plant("github"), forge.Token{Login: "octocat"})
	h.repo.SetPermission("contributor", forge.Write)
	h.secret = plant("webhook")
	r.database += "&password=" + plant("database") + "&prloop_lease=3s"
	oauth := filepath.Join(dir, "oauth.secret")
	write(t, oauth, []byte(plant("oauth")+"\n"))
	crew := filepath.Join(dir, "crew")
	for name, text := range map[string]string{
		"strict.sh": "#!/bin/sh\n{ env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; find " + dir + " -name '*.sock'; } >&2 2>/dev/null\n" +
			"if grep -q 'len(shelves) == 0'; then answer=fine; else answer=picky; fi\nexec sed -e s/picky/strict/ " + crew + "/$answer.json\n",
		"mend.sh": "", "fine.json": "", "picky.json": "",
		"operator.yml": "fixer: {use: command, path: " + crew + "/mend.sh}\nverify: [\"test -f stock.go\"]\n",
	} {
		if text == "" {
			data, err := os.ReadFile(filepath.Join("testdata", "share", name))
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if err := os.MkdirAll(crew, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(crew, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	git, models, front := r.socket("github.sock"), r.socket("models.sock"), r.socket("front.sock")
	r.start("broker-github", []string{"github"}, []string{"GH_TOKEN=" + plant("github")}, listening("unix", git), "broker", "github", "acme/widgets", "--socket", git)
	r.start("broker-models", []string{"model"}, []string{"OPENAI_API_KEY=" + plant("model"), "OPENAI_BASE_URL=" + model.URL()}, listening("unix", models), "broker", "models", "--socket", models)
	core := []string{
		"PRLOOP_GITHUB_BROKER=" + git, "PRLOOP_MODEL_BROKER=" + models, "OPENAI_BASE_URL=" + model.URL(), "PRLOOP_DATABASE=" + r.database,
		"PRLOOP_CONFIG=" + filepath.Join(crew, "operator.yml"), "PRLOOP_SANDBOX=required", "PRLOOP_SANDBOX_READ=" + crew,
	}
	reviewers := "builtin,exec:" + filepath.Join(crew, "strict.sh")
	r.start("serve", []string{"database"}, core, listening("unix", front), "serve", "acme/widgets", "--front", front, "--reviews", "0", "--settle", "0s", "--fix", "--reviewers", reviewers)
	worker := r.start("worker", []string{"database"}, core, func() bool { return true }, "worker", "--reviews", "1", "--fix", "--reviewers", reviewers)
	r.start("front", []string{"webhook"}, []string{"PRLOOP_WEBHOOK_SECRET=" + plant("webhook")}, listening("unix", h.socket), "front", "--listen", h.listen(), "--to", front)
	pages := freeAddress(t)
	r.start("dashboard", []string{"database", "oauth"}, []string{"PRLOOP_DATABASE=" + r.database, "PRLOOP_OAUTH_ID=x", "PRLOOP_OAUTH_SECRET_FILE=" + oauth}, listening("tcp", pages),
		"dashboard", "--listen", pages, "--address", "https://prloop.example")

	p := h.open(7, nil)
	h.database = r.database
	before := p.HeadSHA()
	all := h.settled(1)
	if said, err := os.ReadFile(worker.log); err != nil || !bytes.Contains(said, []byte("#7: converged")) {
		t.Errorf("it ended as %+v, %v", all, err)
	}
	if n := len(p.Comments()); n != 3 || p.HeadSHA() == before { // two reviews and a fix
		t.Errorf("%d comments, head %s", n, p.HeadSHA())
	}
	for _, p := range r.all {
		found := r.memory(p)
		t.Logf("%s has %v", p.name, found)
		if !slices.Equal(found, slices.Sorted(slices.Values(p.holds))) {
			t.Errorf("%s has %v in its memory, want %v", p.name, found, p.holds)
		}
	}
	seen, confined := 0, false
	err = filepath.WalkDir(h.home, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		seen++
		for _, label := range r.c.in(data) {
			t.Errorf("%s holds %s", strings.TrimPrefix(name, h.home), label)
		}
		confined = confined || strings.Contains(name, "strict") && bytes.Contains(data, []byte("PATH="))
		if bytes.Contains(data, []byte(dir+"/github.sock")) && strings.HasSuffix(name, ".log") && strings.Contains(name, "strict") {
			t.Errorf("%s: an agent sees the socket of a broker", name)
		}
		return err
	})
	if err != nil || seen < 20 || !confined {
		t.Errorf("%d files were read, with what an agent sees: %t, %v", seen, confined, err)
	}
	for _, q := range model.Requests() {
		text := fmt.Sprint(q.Path, q.Header, string(q.Body))
		q := strings.ReplaceAll(text, plant("model"), "")
		if labels := r.c.in([]byte(q)); len(labels) > 0 {
			t.Errorf("a model was told %v", labels)
		}
		if q == text {
			t.Error("a model was asked without the key")
		}
	}
	if len(model.Requests()) == 0 {
		t.Error("no model was asked")
	}
	for _, c := range p.Comments() {
		if labels := r.c.in([]byte(c.Body)); len(labels) > 0 {
			t.Errorf("a comment holds %v", labels)
		}
	}
	worker.stop(t, os.Interrupt)
}

// freeAddress is one where nobody listens. Nothing else that runs here uses the second address of the loopback, so it stays free.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
