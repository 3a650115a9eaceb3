package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/sandbox"
)

// BenchmarkSpawn starts /bin/true with and without the sandbox, as the program that make build makes does: that program is
// its own trampoline, twice, and a test binary is another one. The goal is 15 ms for each confined child over a
// plain one. "trampoline" is the program up to where it branches off, without namespaces. CPU time is that of all
// processes involved, which a busy machine changes less than wall time.
func BenchmarkSpawn(b *testing.B) {
	thisMachine := new(sandbox.Machine)
	if r := thisMachine.Probe(b.Context()); r.Tier > sandbox.Tier1b {
		b.Skip("this machine cannot: " + r.String())
	}
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "make", "-C", filepath.Join("..", ".."), "build", "BIN="+dir).CombinedOutput(); err != nil {
		b.Fatalf("make build: %v\n%s", err, out)
	}
	bin := filepath.Join(dir, "prloop")
	plain := sandbox.Command{Path: "/bin/true", Env: []string{}, Dir: "/"}
	confined, err := thisMachine.Wrap(sandbox.Policy{Home: b.TempDir()}, sandbox.Command{Path: "/bin/true"})
	if err != nil {
		b.Fatal(err)
	}
	confined.Path = bin
	for _, row := range []struct {
		name   string
		cmd    sandbox.Command
		status int
	}{
		{"plain", plain, 0},
		{"trampoline", sandbox.Command{Path: bin, Args: []string{sandbox.InitCommand, "nothing"}, Env: []string{}, Dir: "/"}, sandbox.ExitSetup},
		{"confined", confined, 0},
	} {
		b.Run(row.name, func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), row.cmd.Path, row.cmd.Args...)
				cmd.Env, cmd.Dir = row.cmd.Env, row.cmd.Dir
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != row.status {
					b.Fatalf("%s ended with %v: %s", row.cmd.Path, cmd.ProcessState, out)
				}
				used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "wall-ms")
			b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
