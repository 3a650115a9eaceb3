package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeatbeltHolds plants canaries around a confined shell, and knocks at the doors it must find shut. None of this needs more than macOS
// has. It is skipped nowhere: a Mac on which the probe fails is what this test is there to find.
func TestSeatbeltHolds(t *testing.T) {
	m := &Machine{}
	if r := m.Probe(t.Context()); r.Tier != Tier2 {
		t.Fatalf("this Mac has %s: %+v", r, r.Parts)
	}
	root, err := os.MkdirTemp("/tmp", "sb-") // short: a socket stands below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	home, tree, operator := filepath.Join(root, "home"), filepath.Join(root, "tree"), filepath.Join(root, "operator")
	const canary = "Cny-7f3a"
	for _, file := range []string{operator + "/.netrc", tree + "/.env", root + "/beside"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(canary), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(home, 0o755), os.WriteFile(tree+"/main.c", []byte("int main"), 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", operator)
	gateway, other, tcp := listen(t, "unix", root+"/model.sock"), listen(t, "unix", root+"/other.sock"), listen(t, "tcp", "127.0.0.1:0")

	run := func(script string, args ...string) (status int, out string) {
		t.Helper()
		cmd, err := m.Wrap(Policy{MinTier: Tier2, Home: home, ReadOnly: []string{tree}, Hide: []string{tree + "/.env"}, Gateway: gateway.address},
			Command{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home}})
		if err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), cmd.Path, cmd.Args...)
		child.Env, child.Dir = cmd.Env, cmd.Dir
		text, err := child.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return child.ProcessState.ExitCode(), string(text)
	}

	for _, row := range []struct{ what, script string }{
		{"it reads the tree", `grep -q main "$1/tree/main.c"`},
		{"it writes its home", `echo x >"$HOME/x" && rm "$HOME/x"`},
		{"it starts programs", `ls "$1/tree" | grep -q main.c`},
		{"it signals its children", `sleep 60 & kill $!`},
		{"it has the devices", `echo x >/dev/null && head -c 1 /dev/urandom >/dev/null`},
		{"it reaches the gateway", `printf 'hello\n' | nc -U "$1/model.sock"`},
	} {
		if status, out := run(row.script, root); status != 0 {
			t.Errorf("%s: status %d, %s", row.what, status, out)
		}
	}
	if gateway.hits() == 0 {
		t.Error("the gateway was not reached")
	}

	for _, row := range []struct{ what, script string }{
		{"the operator's home", `cat "$1/operator/.netrc"`},
		{"a list of it", `ls "$1/operator"`},
		{"what is hidden in the tree", `cat "$1/tree/.env"`},
		{"a file beside", `cat "$1/beside"`},
		{"a link to it", `ln -s "$1/beside" "$HOME/link" && cat "$HOME/link"`},
		{"a hard link to it", `ln "$1/beside" "$HOME/hard" && cat "$HOME/hard"`},
		{"writing the tree", `echo x >"$1/tree/new"`},
		{"writing beside", `echo x >"$1/new"`},
		{"another socket", `printf 'hello\n' | nc -U "$1/other.sock"`},
		{"TCP", `printf 'hello\n' | nc -w 2 127.0.0.1 ` + port(tcp.address)},
		{"UDP out of the machine", `printf 'hello\n' | nc -u -w 1 192.0.2.1 53`},
		{"a name", `host -W 1 example.com 127.0.0.1 || nslookup example.com`},
		{"a process outside", `kill -0 ` + fmt.Sprint(os.Getpid())},
		{"the key chain", `security list-keychains`},
		{"other programs by Apple events", `osascript -e 'tell application "Finder" to get name of home'`},
	} {
		status, out := run(row.script, root)
		if status == 0 || strings.Contains(out, canary) {
			t.Errorf("%s was reached: status %d, %s", row.what, status, out)
		}
	}
	if n := other.hits() + tcp.hits(); n != 0 {
		t.Errorf("%d connections came to doors that are shut", n)
	}

	if _, out := run(`ulimit -c; ulimit -n`); out != "0\n4096\n" {
		t.Errorf("limits %q", out)
	}
	status, out := run(`exit 7`)
	if status != 7 || out != "" {
		t.Errorf("its status is %d, its output %q", status, out)
	}
}

// Without a gateway there is no way out at all, and a profile that is none starts nothing.
func TestSeatbeltFailsClosed(t *testing.T) {
	root := t.TempDir()
	door := listen(t, "tcp", "127.0.0.1:0")
	m := &Machine{}
	cmd, err := m.Wrap(Policy{MinTier: Tier2, Home: root}, Command{Path: "/bin/sh", Args: []string{"-c", "nc -w 2 127.0.0.1 " + port(door.address) + " </dev/null"}, Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), cmd.Path, cmd.Args...)
	child.Env, child.Dir = cmd.Env, cmd.Dir
	if out, err := child.CombinedOutput(); err == nil || door.hits() != 0 {
		t.Errorf("a child without a gateway reached the machine: %s", out)
	}
	for _, profile := range []string{"(version 1)(deny default)(allow", "(no such rule)", ""} {
		var out bytes.Buffer
		child := exec.CommandContext(t.Context(), cmd.Path, InitCommand, cmd.Args[1], profile, "/bin/echo", "started")
		child.Stdout = &out
		if err := child.Run(); err == nil || out.Len() > 0 {
			t.Errorf("the profile %q starts a program: %q", profile, &out)
		}
	}
	child = exec.CommandContext(t.Context(), cmd.Path, InitCommand, "no limits", cmd.Args[2], "/bin/echo", "started")
	if out, _ := child.Output(); child.ProcessState.ExitCode() != ExitSetup || len(out) > 0 {
		t.Errorf("without limits: %s, %q", child.ProcessState, out)
	}
}

// door counts who connects to it.
type door struct {
	address string
	seen    chan struct{}
}

func (d door) hits() int { return len(d.seen) }

func listen(t *testing.T, network, address string) door {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d := door{l.Addr().String(), make(chan struct{}, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.seen <- struct{}{}
			_, _ = io.CopyN(io.Discard, c, 1)
			_ = c.Close()
		}
	}()
	return d
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}
