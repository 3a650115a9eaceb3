package modes

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/schema"
)

// write answers with any envelope.
func (a *agent) write(v any) int {
	doc, err := schema.Encode(v)
	if err != nil {
		fmt.Fprintln(a.err, "fakeagent:", err)
		return 2
	}
	fmt.Fprintf(a.out, "%s\n", doc)
	return 0
}

func resourceModes() []Mode {
	mode := func(name, about string, run func(*agent) int) Mode { return Mode{name, "resource", about, run} }
	return []Mode{
		mode("oom", "takes -count MB of memory and hangs with it", func(a *agent) int {
			var held [][]byte
			for range a.count {
				held = append(held, bytes.Repeat([]byte{1}, 1<<20))
			}
			a.event(fmt.Sprintf(`{"event":"progress","message":"holding %d MB"}`, len(held)))
			for {
				time.Sleep(time.Hour)
				held[0][0]++ // the memory stays in use
			}
		}),
		mode("disk-fill", "writes -count MB into -tree, then answers", func(a *agent) int {
			return a.damage(func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "fill"), bytes.Repeat([]byte{1}, a.count<<20), 0o600)
			})
		}),
		mode("cpu-spin", "computes without end", func(*agent) int {
			for x := uint64(1); ; x = x*6364136223846793005 + 1 {
				if x == 0 {
					return 0
				}
			}
		}),
	}
}

func editModes() []Mode {
	edit := func(name, about string, do func(dir string) error) Mode {
		return Mode{name, "edit", about, func(a *agent) int { return a.damage(do) }}
	}
	put := func(path, text string, mode fs.FileMode) func(string) error {
		return func(dir string) error {
			file := filepath.Join(dir, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			return os.WriteFile(file, []byte(text), mode)
		}
	}
	return []Mode{
		edit("edit-protected", "changes a workflow in -tree", put(".github/workflows/ci.yml", "on: push\njobs: {}\n", 0o600)),
		edit("edit-gitconfig", "plants a filter in -tree/.git/config", put(".git/config", "[core]\n\tfsmonitor = touch pwned\n[filter \"x\"]\n\tclean = touch pwned\n", 0o600)),
		edit("plant-hook", "plants a git hook in -tree", put(".git/hooks/pre-commit", "#!/bin/sh\ntouch pwned\n", 0o700)),
		edit("add-symlink", "adds a symbolic link out of -tree", func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link")) }),
		edit("add-gitlink", "adds a repository inside -tree, which git takes for a submodule", func(dir string) error {
			for _, err := range []error{
				put("nested/.git/HEAD", "ref: refs/heads/main\n", 0o600)(dir),
				put("nested/.git/config", "[core]\n\tfsmonitor = touch pwned\n", 0o600)(dir),
				put("nested/.git/objects/keep", "", 0o600)(dir),
				put("nested/.git/refs/heads/main", strings.Repeat("1", 40)+"\n", 0o600)(dir),
			} {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		edit("symlink-escape", "writes beside -tree through a symbolic link of its own", func(dir string) error {
			if err := os.Symlink(filepath.Dir(dir), filepath.Join(dir, "up")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "up", filepath.Base(dir)+"-escaped"), []byte("x"), 0o600)
		}),
		edit("exec-bit", "adds an executable file to -tree", put("run-me", "#!/bin/sh\n", 0o700)),
		edit("huge-file", "adds a file of 64 MB to -tree", put("huge", strings.Repeat("x", 64<<20), 0o600)),
		edit("write-outside", "writes beside -tree", func(dir string) error { return os.WriteFile(dir+"-outside", []byte("x"), 0o600) }),
		edit("delete-all", "deletes everything in -tree", func(dir string) error {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// damage does something to -tree and answers well, saying in its report whether it could.
func (a *agent) damage(do func(dir string) error) int {
	if a.tree == "" {
		fmt.Fprintln(a.err, "fakeagent: this mode needs -tree, the folder it may damage")
		return 2
	}
	return a.outcome(do(a.tree))
}

func netModes() []Mode {
	dial := func(name, about, network string) Mode {
		return Mode{name, "net", about, func(a *agent) int {
			var err error
			for target := range strings.SplitSeq(a.target, ",") { // one that answers is enough
				var c net.Conn
				if c, err = net.DialTimeout(network, target, 2*time.Second); err == nil { // reached, whatever becomes of the words
					_, _ = c.Write([]byte("fakeagent was here\n"))
					c.Close()
					break
				}
			}
			return a.outcome(err)
		}}
	}
	return []Mode{
		dial("net-tcp", "connects to -target over TCP; to the first of several that answers", "tcp"),
		dial("net-udp", "sends to -target over UDP", "udp"),
		dial("net-unix", "connects to the unix socket -target", "unix"),
		{"net-tfo", "net", "sends to -target with TCP Fast Open", func(a *agent) int { return a.outcome(a.fastOpen()) }},
		{"net-mptcp", "net", "connects to -target over Multipath TCP", func(a *agent) int { return a.outcome(a.multipath()) }},
		{"net-meta", "net", "asks the address at which clouds tell machines their credentials", func(a *agent) int {
			c, err := net.DialTimeout("tcp", "169.254.169.254:80", 2*time.Second)
			if err == nil {
				_, _ = c.Write([]byte("GET /latest/meta-data/ HTTP/1.0\r\n\r\n"))
				c.Close()
			}
			return a.outcome(err)
		}},
		{"net-dns", "net", "looks -target up", func(a *agent) int {
			_, err := net.LookupHost(a.target)
			return a.outcome(err)
		}},
	}
}

// outcome answers with what came of an attempt.
func (a *agent) outcome(err error) int {
	if err != nil {
		return a.report("refused: " + err.Error())
	}
	return a.report("done")
}
