package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// sandboxExec is the program of macOS that applies a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

// setupPrefix opens the line on standard error that says why no agent was started.
const setupPrefix = "prloop: set up sandbox: "

// This program sets the limits and becomes sandbox-exec, which becomes the agent.
func init() {
	if len(os.Args) < 2 || os.Args[1] != InitCommand {
		return
	}
	fmt.Fprintf(os.Stderr, "%s%v\n", setupPrefix, begin(os.Args[2:]))
	os.Exit(ExitSetup)
}

// begin returns only when it could not.
func begin(args []string) error {
	if len(args) < 3 {
		return errors.New("this command is for prloop itself")
	}
	var l Limits
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return fmt.Errorf("read limits: %w", err)
	}
	// Not the number of processes: macOS counts all of the user's.
	for what, n := range map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_NOFILE: l.Files, syscall.RLIMIT_FSIZE: l.FileBytes} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit %d to %d: %w", what, n, err)
		}
	}
	return fmt.Errorf("start %s: %w", sandboxExec, syscall.Exec(sandboxExec, append([]string{"sandbox-exec", "-p", args[1]}, args[2:]...), os.Environ()))
}

// look tries Seatbelt by use.
func (m *Machine) look(ctx context.Context, r *Report) {
	for _, name := range []string{PartNamespaces, PartLandlock, PartSeccomp, PartBubblewrap} {
		r.say(name, false, runtime.GOOS+" has none")
	}
	if why, masked := m.missing[PartSeatbelt]; masked {
		r.say(PartSeatbelt, false, why)
		return
	}
	if err := probeSeatbelt(ctx); err != nil {
		r.say(PartSeatbelt, false, err.Error())
		return
	}
	r.say(PartSeatbelt, true, sandboxExec)
}

// probeSeatbelt confines a shell to a folder and sees whether it can work there, and is kept from the folder beside it and from a socket.
func probeSeatbelt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	root, err := os.MkdirTemp("", "prloop-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	open, shut := filepath.Join(root, "open"), filepath.Join(root, "shut")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Mkdir(shut, 0o700), os.WriteFile(filepath.Join(shut, "secret"), []byte("x"), 0o600)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p := &plan{Mode: modeSeatbelt, Home: open, Dir: open, Limits: Limits{}.withDefaults()}
	for _, path := range seatbeltSystem {
		p.addSystem(path)
	}
	p.Binds = append(p.Binds, bind{Path: open, Source: open, Dir: true, Write: true})
	p.sort()
	const script = `echo here >"$1/made" || exit 3
if cat "$2/secret" >/dev/null 2>&1; then exit 4; fi
if echo there >"$2/made" 2>/dev/null; then exit 5; fi
exit 42`
	cmd, err := p.seatbelt(self, Command{Path: "/bin/sh", Args: []string{"-c", script, "sh", open, shut}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	child, err := os.StartProcess(cmd.Path, append([]string{"prloop"}, cmd.Args...), &os.ProcAttr{Dir: cmd.Dir, Env: cmd.Env, Files: []*os.File{null, null, null}})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = child.Kill() })
	defer stop()
	state, err := child.Wait()
	if err != nil {
		return err
	}
	if state.ExitCode() != 42 {
		return fmt.Errorf("a profile is not taken, or not enforced: the check ended with %s", state)
	}
	return nil
}

func (p *plan) chooseUID() error { return nil }

// isRoot matters to what Linux has.
func isRoot() bool { return false }
