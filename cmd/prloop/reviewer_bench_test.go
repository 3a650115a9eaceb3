package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkReviewer starts a builtin reviewer as a run does, until it has read its request and calls the gateway: goals
// 30 ms and 25 MB. It reports the median of wall and CPU time, and on Linux memory at that moment: hwm-MB is the
// kernel's VmHWM, of which file-MB are pages of the program's file that all its processes share. "default" leaves out the
// settings of memory that prloop gives its children.
func BenchmarkReviewer(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "make", "-C", filepath.Join("..", ".."), "build", "BIN="+dir).CombinedOutput(); err != nil {
		b.Fatalf("make build: %v\n%s", err, out)
	}
	task := smallTask(b)
	for _, row := range []struct {
		name string
		env  []string
	}{{"as in a run", []string{"GOGC=400", "GOMEMLIMIT=96MiB"}}, {"default", nil}} {
		b.Run(row.name, func(b *testing.B) {
			var wall, used []time.Duration
			memory := map[string]float64{}
			for b.Loop() {
				s := startReviewer(b, filepath.Join(dir, "prloop"), task, row.env)
				wall, used = append(wall, s.wall), append(used, s.used)
				for name, mb := range s.memory {
					memory[name] = max(memory[name], mb)
				}
			}
			b.ReportMetric(median(wall), "wall-ms")
			b.ReportMetric(median(used), "cpu-ms")
			for name, mb := range memory {
				b.ReportMetric(mb, name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

// started is what one child took until it called the gateway.
type started struct {
	wall, used time.Duration
	memory     map[string]float64 // by metric, in megabytes
}

func startReviewer(b *testing.B, bin string, task []byte, env []string) started {
	b.Helper()
	socket := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = l.Close() })
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, "agent", "reviewer")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "PRLOOP_GATEWAY_SOCKET=" + socket, "PRLOOP_GATEWAY_TOKEN=x"}, env...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(task), &said
	from := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	conn, err := l.Accept()
	s := started{wall: time.Since(from), memory: map[string]float64{}}
	if err == nil {
		s.look(cmd.Process.Pid)
		_ = conn.Close()
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if err != nil {
		b.Fatalf("the child never called its gateway: %v\n%s", err, said.String())
	}
	return s
}

// look reads what Linux tells about a process; elsewhere there is nothing to read.
func (s *started) look(pid int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range tasks {
		var ns int64
		text, _ := os.ReadFile(file)
		_, _ = fmt.Sscan(string(text), &ns)
		s.used += time.Duration(ns)
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for field, name := range map[string]string{"VmHWM:": "hwm-MB", "RssAnon:": "anon-MB", "RssFile:": "file-MB"} {
		if _, rest, ok := strings.Cut(string(status), field); ok {
			var kb float64
			_, _ = fmt.Sscan(rest, &kb)
			s.memory[name] = kb / 1024
		}
	}
}
