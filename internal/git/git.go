package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/proc"
)

// MinVersion is the oldest git that knows all the hardening used here (cat-file -z, safe.bareRepository).
const MinVersion = "2.39"

// Options say how git may be used. The zero value is the default.
type Options struct {
	// Path is the binary; empty means "git" in PATH.
	Path string
	// Protocols are the transports git may use; empty means https alone. "http", "ssh" and "file" are for operators and
	// tests that ask for them (threats.md T23).
	Protocols []string
	// Timeout bounds each command that is not a fetch; 0 means 2 minutes.
	Timeout time.Duration
	// FreeBytes is what has to stay free on a disk that objects are fetched to, or collected on, whoever uses it up; 0 is no bound.
	FreeBytes int64
}

// Git is a usable git binary.
type Git struct {
	path      string
	protocols []string
	timeout   time.Duration
	freeBytes int64
	version   string
}

var versionText = lazyregexp.New(`^git version (\d+)\.(\d+)(\S*)`)

// Find looks for git and checks its version: ErrNoGit, ErrOldGit.
func Find(ctx context.Context, o Options) (*Git, error) {
	g := &Git{path: o.Path, protocols: slices.Clone(o.Protocols), timeout: o.Timeout, freeBytes: o.FreeBytes}
	if g.path == "" {
		g.path = "git"
	}
	if len(g.protocols) == 0 {
		g.protocols = []string{"https"}
	}
	if g.timeout <= 0 {
		g.timeout = 2 * time.Minute
	}
	out, err := g.run(ctx, command{name: "version", at: g.nowhere()})
	if err != nil {
		return nil, err
	}
	m := versionText.FindStringSubmatch(string(out))
	if m == nil {
		return nil, fmt.Errorf("git version: %w: its version is not readable", ErrOldGit)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	g.version = fmt.Sprintf("%d.%d%s", major, minor, m[3])
	if major < 2 || (major == 2 && minor < 39) {
		return nil, fmt.Errorf("git version %s: %w: prloop needs %s", g.version, ErrOldGit, MinVersion)
	}
	return g, nil
}

// Version is git's version, such as 2.39.5.
func (g *Git) Version() string { return g.version }

// command is one call of git.
type command struct {
	name     string
	args     []string
	at       place
	settings []setting
	extra    []string // environment entries
	stdin    []byte
	from     io.Reader     // standard input that is too large to hold
	out      io.Writer     // takes standard output instead of returning it
	limit    int64         // bytes of standard output; 0 means proc's default
	timeout  time.Duration // 0 means Options.Timeout
	idle     time.Duration
	memory   int64 // bytes it may hold, as proc.Bounds keeps it; 0 is no bound
	packs    bool  // it may write packs: Options.FreeBytes stay free on the disk of at.dir, and its half-written ones go when it fails
	ok       int   // an exit status that is an answer and no error
}

// run runs one command and returns its standard output.
func (g *Git) run(ctx context.Context, c command) ([]byte, error) {
	if !c.packs {
		return g.start(ctx, c)
	}
	writing, err := filelock.Shared(ctx, filepath.Join(c.at.dir, packs))
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", c.name, err)
	}
	out, err := g.start(ctx, c)
	writing.Close()
	if err != nil {
		removeLeavings(c.at.dir)
	}
	return out, err
}

func (g *Git) start(ctx context.Context, c command) ([]byte, error) {
	if c.timeout == 0 {
		c.timeout = g.timeout
	}
	bounds := proc.Bounds{MemoryBytes: c.memory}
	if c.packs && g.freeBytes > 0 {
		bounds.Folders, bounds.FreeBytes = []string{c.at.dir}, g.freeBytes
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: g.path, Args: append([]string{c.name}, c.args...), Dir: c.at.work, Env: g.env(c.at, c.settings, c.extra),
		Stdin: c.stdin, StdinFrom: c.from, Stdout: c.out, MaxStdout: c.limit, MaxStderr: 64 << 20, Timeout: c.timeout, Idle: c.idle,
		Direct: c.memory == 0, Bounds: bounds,
	})
	if err == nil {
		return res.Stdout, nil
	}
	if exit := (*proc.ExitError)(nil); c.ok != 0 && errors.As(err, &exit) && exit.Reason == proc.ReasonNone && exit.Code == c.ok {
		return res.Stdout, errAnswer
	}
	return res.Stdout, wrap(ctx, c.name, res, err)
}

// errAnswer is returned for the exit status that is an answer.
var errAnswer = errors.New("the answer is no")
