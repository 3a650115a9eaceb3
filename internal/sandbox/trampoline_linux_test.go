package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A step that fails ends the trampoline with its own status and one line; the agent never runs.
func TestTrampolineFailsClosed(t *testing.T) {
	t.Parallel()
	r := thisMachine.Probe(t.Context())
	if r.Tier != Tier1 {
		t.Skip("this machine cannot: " + r.String())
	}
	for sentence, change := range map[string]func(*plan){
		"a listed path that is gone":                   func(p *plan) { p.Binds[0].Source = "/gone" },
		"a gateway that is gone":                       func(p *plan) { p.Gateway, p.Socket = "/gone/model.sock", GatewaySocket },
		"a working folder that is gone":                func(p *plan) { p.Dir = "/gone" },
		"a program the child cannot see":               nil,
		"a Landlock path that is not there, on tier 2": func(p *plan) { p.Mode, p.UID, p.Binds[0].Path = modeRules, 0, "/gone" },
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "mark")
			home := t.TempDir()
			p := planFor(r)
			if err := p.fill(Policy{Home: home}, Command{Path: "/bin/sh"}); err != nil {
				t.Fatal(err)
			}
			program := "/bin/sh"
			if change != nil {
				change(p)
			} else {
				program = "/gone/sh"
			}
			data, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			cmd := exec.Command("/proc/self/exe", InitCommand, string(data), program, "-c", "echo ran; : > "+mark)
			cmd.Stdout, cmd.Stderr = &out, &errs
			err = cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != ExitSetup {
				t.Errorf("ended with %v", err)
			}
			if line := errs.String(); !strings.HasPrefix(line, setupPrefix) || strings.Count(line, "\n") != 1 {
				t.Errorf("standard error: %q", line)
			}
			if _, err := os.Stat(mark); err == nil || out.Len() > 0 {
				t.Error("the agent ran")
			}
		})
	}
}

// A stranger's tree must not lead a mount or a change of owner out of itself.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives folders away")
	}
	root := t.TempDir()
	outside := filepath.Join(root, "outside")
	tree := filepath.Join(root, "tree")
	err := errors.Join(os.MkdirAll(tree+"/sub", 0o755), os.MkdirAll(outside, 0o755), os.WriteFile(outside+"/file", nil, 0o600),
		os.WriteFile(tree+"/sub/own", nil, 0o600), os.Symlink(outside, tree+"/sub/link"), os.Link(outside+"/file", tree+"/sub/hard"))
	if err != nil {
		t.Fatal(err)
	}
	if err := giveAway(tree, 12345); err != nil {
		t.Fatal(err)
	}
	owner := func(path string) int {
		uid := -1
		if info, err := os.Lstat(path); err == nil {
			uid = int(info.Sys().(*syscall.Stat_t).Uid)
		}
		return uid
	}
	for path, want := range map[string]int{tree: 12345, tree + "/sub/own": 12345, tree + "/sub/link": 12345, outside: 0, outside + "/file": 0} {
		if got := owner(path); got != want {
			t.Errorf("%s belongs to %d, want %d", path, got, want)
		}
	}
}

func BenchmarkSpawn(b *testing.B) {
	if r := thisMachine.Probe(b.Context()); r.Tier > Tier1b {
		b.Skip("this machine cannot: " + r.String())
	}
	for name, confined := range map[string]bool{"plain": false, "confined": true} {
		b.Run(name, func(b *testing.B) {
			c := Command{Path: "/bin/true", Env: []string{}, Dir: "/"}
			if confined {
				var err error
				if c, err = thisMachine.Wrap(Policy{Home: b.TempDir()}, Command{Path: "/bin/true"}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				cmd := exec.Command(c.Path, c.Args...)
				cmd.Env, cmd.Dir = c.Env, c.Dir
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		if r := (&Machine{}).Probe(b.Context()); r.Tier == Tier4 {
			b.Fatal(r)
		}
	}
}
