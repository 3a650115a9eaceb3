package forge

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// Options of a forge; the zero value serves an empty one.
type Options struct {
	// Dir holds the repositories, the socket and gh's configuration; default a new temporary folder that Close removes.
	// A unix socket path may be 107 bytes long, so keep it short.
	Dir string
	// Now is the clock of everything the forge dates; default time.Now.
	Now func() time.Time
	// Contract, when set, judges every REST exchange; an error becomes a violation. The package contract has one.
	Contract Contract
}

// A Contract judges one REST exchange against GitHub's description of it.
type Contract interface {
	Check(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) error
}

// Forge is a running stand-in. All methods may be called concurrently.
type Forge struct {
	opt     Options
	dir     string
	ownDir  bool
	schema  *ast.Schema
	git     gitBinary
	tcp     net.Listener
	servers []*http.Server
	serving sync.WaitGroup
	skew    atomic.Int64 // nanoseconds; see Skew
	hooks   hooks

	mu         sync.Mutex
	users      map[string]*User
	tokens     map[string]Token
	repos      map[string]*Repo
	nodes      map[string]object
	lastID     int64
	apps       apps
	faults     []*Fault
	log        []Exchange
	touches    []Touch
	violations []string
}

// Start serves a forge until Close. It fails when git is missing or the folder cannot be written.
func Start(opt Options) (*Forge, error) {
	schema, err := loadSchema()
	if err != nil {
		return nil, err
	}
	git, err := findGit()
	if err != nil {
		return nil, err
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	f := &Forge{
		opt: opt, dir: opt.Dir, schema: schema, git: git, lastID: 2_000_000_000,
		users: map[string]*User{}, tokens: map[string]Token{}, repos: map[string]*Repo{}, nodes: map[string]object{},
	}
	f.hooks.idle.L = &f.hooks.mu
	f.opt.Now = func() time.Time { return opt.Now().Add(time.Duration(f.skew.Load())) }
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "forge"); err != nil {
			return nil, fmt.Errorf("make the forge's folder: %w", err)
		}
		f.ownDir = true
	}
	if err := f.listen(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.AddUser(User{Login: "octocat", Name: "The Octocat"})
	f.AddToken(DefaultToken, Token{Login: "octocat"})
	return f, nil
}

// DefaultToken is the token Env hands out; it belongs to the user octocat.
const DefaultToken = "ghp_forge0000000000000000000000000000000"

func (f *Forge) listen() error {
	for _, d := range []string{"gh", "git", "home"} {
		if err := os.MkdirAll(filepath.Join(f.dir, d), 0o700); err != nil {
			return fmt.Errorf("make the forge's folder: %w", err)
		}
	}
	config := fmt.Sprintf("version: \"1\"\nhttp_unix_socket: %s\nprompt: disabled\n", f.Socket())
	if err := os.WriteFile(filepath.Join(f.dir, "gh", "config.yml"), []byte(config), 0o600); err != nil {
		return fmt.Errorf("write gh's configuration: %w", err)
	}
	unix, err := net.Listen("unix", f.Socket())
	if err != nil {
		return fmt.Errorf("listen on the forge's socket: %w", err)
	}
	f.serve(unix)
	if f.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen on loopback: %w", err)
	}
	f.serve(f.tcp)
	return nil
}

func (f *Forge) serve(l net.Listener) {
	s := &http.Server{Handler: http.HandlerFunc(f.handle), ReadHeaderTimeout: 10 * time.Second}
	f.servers = append(f.servers, s)
	f.serving.Go(func() { _ = s.Serve(l) })
}

// Close ends every connection and removes the folder if the forge made it.
func (f *Forge) Close() error {
	var errs []error
	for _, s := range f.servers {
		errs = append(errs, s.Close())
	}
	f.serving.Wait()
	if f.ownDir {
		errs = append(errs, os.RemoveAll(f.dir))
	}
	return errors.Join(errs...)
}

// Socket is the unix socket on which the forge is github.com, or any other host.
func (f *Forge) Socket() string { return filepath.Join(f.dir, "s") }

// GitURL is the prefix of clone addresses: GitURL() + "owner/name.git". Plain HTTP on loopback.
func (f *Forge) GitURL() string { return "http://" + f.tcp.Addr().String() + "/" }

// Env is the complete environment to hand to prloop or gh so that they reach the forge as host, logged in with
// DefaultToken. An empty host is github.com; any other is a GitHub Enterprise Server. PATH is that of this process.
func (f *Forge) Env(host string) []string {
	return f.EnvWithToken(host, DefaultToken)
}

// EnvWithToken is Env for another token; an empty one is nobody.
func (f *Forge) EnvWithToken(host, token string) []string {
	home := filepath.Join(f.dir, "home")
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"GH_CONFIG_DIR=" + filepath.Join(f.dir, "gh"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"GH_TELEMETRY=0",
		"GH_NO_UPDATE_NOTIFIER=1",
		"GH_NO_EXTENSION_UPDATE_NOTIFIER=1",
		"GH_PROMPT_DISABLED=1",
		"NO_COLOR=1",
		"PRLOOP_GIT_URL=" + f.GitURL(),
	}
	name := "GH_TOKEN"
	if host != "" && host != "github.com" {
		env = append(env, "GH_HOST="+host)
		name = "GH_ENTERPRISE_TOKEN"
	}
	if token != "" {
		env = append(env, name+"="+token)
	}
	return env
}

// Skew sets the forge's clock apart from the world's, ahead of it or, with less than nothing, behind: in the Date of answers
// and in every time it tells and compares.
func (f *Forge) Skew(d time.Duration) { f.skew.Store(int64(d)) }

// now is the forge's clock to the second, as GitHub's dates are.
func (f *Forge) now() time.Time { return f.opt.Now().UTC().Truncate(time.Second) }

// newID numbers everything the forge makes; ids rise, as GitHub's do. The caller holds mu.
func (f *Forge) newID() int64 {
	f.lastID++
	return f.lastID
}
