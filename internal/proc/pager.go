package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/google/shlex"
)

// Pager is the program a person reads long output with. What is written to it goes to that program.
type Pager struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// StartPager starts a pager on a terminal. line is its command line, split as a shell does and run by none; env is the person's
// environment, of which it gets what pagers read.
func StartPager(line string, env []string, terminal, errs *os.File) (*Pager, error) {
	words, err := shlex.Split(line)
	if err == nil && len(words) == 0 {
		err = errors.New("it names no program")
	}
	if err != nil {
		return nil, fmt.Errorf("start the pager %q: %w", line, err)
	}
	path, err := LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("start the pager: %w", err)
	}
	cmd := command(Spec{Path: path, Args: words[1:], Env: pagerEnv(env)}, [3]*os.File{nil, terminal, errs})
	cmd.Stdin = nil // StdinPipe wants it so; a file that is nil is not nil
	p := &Pager{cmd: cmd}
	if p.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the pager %s: %w", path, cause(err))
	}
	return p, nil
}

// Write hands text on. Who ends the pager early has read enough: the rest is no error.
func (p *Pager) Write(b []byte) (int, error) {
	n, err := p.stdin.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// Close waits until the person has read. How the pager ends says nothing about what was written.
func (p *Pager) Close() error {
	err := p.stdin.Close()
	_ = p.cmd.Wait()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// pagerEnv is what pagers read of an environment, with gh's defaults for less and lv. Credentials are not among it.
func pagerEnv(env []string) []string {
	var kept []string
	less, lv := false, false
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		less, lv = less || name == "LESS", lv || name == "LV"
		if slices.Contains([]string{"TERM", "TERMINFO", "COLORTERM", "COLUMNS", "LINES", "LV", "MORE", "NO_COLOR"}, name) ||
			strings.HasPrefix(name, "LESS") || strings.HasPrefix(name, "BAT_") || strings.HasPrefix(name, "LC_") {
			kept = append(kept, e)
		}
	}
	if !less {
		kept = append(kept, "LESS=FRX")
	}
	if !lv {
		kept = append(kept, "LV=-c")
	}
	return BaseEnv(kept...)
}
