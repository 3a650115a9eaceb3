//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the children: "test-child MODE ARGS".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "test-child" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// self is a Spec that runs this binary in a mode.
func self(t *testing.T, mode string, args ...string) Spec {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Path: path, Args: append([]string{"test-child", mode}, args...), Timeout: 30 * time.Second,
		Grace: 300 * time.Millisecond}
}

func forever() int {
	// Never an end by itself, and never the runtime's "all goroutines are asleep".
	for {
		time.Sleep(time.Hour)
	}
}

func play(mode string, args []string) int {
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "why it ended")
		n, _ := strconv.Atoi(args[0])
		return n
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
	case "hold": // so many MB, in so many processes beside this one
		n, _ := strconv.Atoi(args[0])
		more, _ := strconv.Atoi(args[1])
		for range more {
			spawn("hold", args[0], "0")
		}
		var held [][]byte
		for i := range n {
			held = append(held, bytes.Repeat([]byte{1}, 1<<20))
			if i%8 == 7 {
				fmt.Printf("holding %dMB\n", len(held))
			}
		}
		forever()
		held[0][0]++
	case "tables": // so many MB of tables of pages that are not there
		n, _ := strconv.Atoi(args[0])
		holdTables(n)
		forever()
	case "locks": // so many locks of one file
		n, _ := strconv.Atoi(args[0])
		fmt.Println("has", takeLocks(n))
		forever()
	case "spin": // in so many threads, until they have to stand back
		n, _ := strconv.Atoi(args[0])
		spin(n)
		fmt.Println("stands back")
	case "bounded": // stands for prloop: runs a child in groups
		s := Spec{Path: "/proc/self/exe", Args: []string{"test-child", "ignore-term"}, OnLine: func([]byte) { fmt.Println("ready") },
			Bounds: Bounds{MemoryBytes: 1 << 30, Processes: 100}}
		_, _ = Run(context.Background(), s)
	case "self-kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "kill-parent":
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		spawn("mark-and-hang", args...)
		forever()
	case "hang":
		forever()
	case "hang-partial":
		fmt.Print("half a line")
		forever()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		forever()
	case "drip":
		for {
			fmt.Print(".")
			time.Sleep(20 * time.Millisecond)
		}
	case "flood-out", "flood-err", "flood-both":
		return flood(mode)
	case "giant-line":
		chunk := bytes.Repeat([]byte("x"), 1<<16)
		for range 64 {
			os.Stdout.Write(chunk)
		}
	case "close-stdout":
		fmt.Println("answer")
		os.Stdout.Close()
		forever()
	case "hold-stdout": // a grandchild in its own session holds the streams
		fmt.Println("answer")
		spawn("mark-and-hang", args...)
	case "double-fork":
		spawn("middle", args...)
		if len(args) > 1 {
			forever()
		}
	case "middle":
		spawn("mark-and-hang", args...)
	case "mark-and-hang":
		signal.Ignore(syscall.SIGTERM)
		forever()
	case "fds":
		names, _ := os.ReadDir("/proc/self/fd")
		for _, n := range names {
			target, _ := os.Readlink("/proc/self/fd/" + n.Name())
			fmt.Println(n.Name(), target)
		}
	case "parent": // plays prloop: runs a tree and waits to be killed
		path, _ := os.Executable()
		spec := Spec{Path: path, Args: append([]string{"test-child"}, args...), OnLine: func(b []byte) { fmt.Printf("%s\n", b) }}
		if args[0] == "direct" {
			spec.Direct, spec.Args = true, append([]string{"test-child"}, args[1:]...)
		}
		_, err := Run(context.Background(), spec)
		fmt.Println("run ended:", err)
	default:
		fmt.Fprintln(os.Stderr, "unknown mode", mode)
		return 2
	}
	return 0
}

// spawn starts this binary in its own session with our streams and returns once it runs.
func spawn(mode string, args ...string) {
	path, _ := os.Executable()
	cmd := exec.Command(path, append([]string{"test-child", mode}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = newSession()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if mode == "middle" {
		cmd.Wait()
	}
}

func flood(mode string) int {
	chunk := bytes.Repeat([]byte("flood flood flood\n"), 1<<12)
	signal.Ignore(syscall.SIGTERM) // it floods on while it is being ended
	done := make(chan bool)
	write := func(f *os.File) {
		for {
			if _, err := f.Write(chunk); err != nil {
				done <- true
				return
			}
		}
	}
	if mode != "flood-err" {
		go write(os.Stdout)
	}
	if mode != "flood-out" {
		go write(os.Stderr)
	}
	<-done
	return 0
}
