package fixspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/buildlayers"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// SetupOrder asks for what verify commands need beside the tree (decision 46).
type SetupOrder struct {
	// Commit is the base: its lock files are what is set up. A full object id.
	Commit string
	// Commands are lines of POSIX shell, run in this order until one fails.
	Commands []string
	// Whose is the repository and the base branch: nobody else's verification ever uses what is left.
	Whose string
	// Registries opens the one way out of the commands; nil leaves them without network.
	Registries func(ctx context.Context) (WayOut, error)
	// News is called as each command begins, with an empty state, and as it ends; nil drops it.
	News func(review.Check)
}

// WayOut is a proxy that leads to some hosts alone.
type WayOut interface {
	// Socket is where it listens.
	Socket() string
	// Refused are what was asked of it in vain.
	Refused() []string
	Close() error
}

// wayOutPort is where setup commands find the way out, on a loopback interface of their own.
const wayOutPort = 4000

// throughProxy names the way out as programs know it. What a setup serves to itself is not looked for there.
var throughProxy = []string{
	fmt.Sprintf("HTTP_PROXY=http://127.0.0.1:%d", wayOutPort), fmt.Sprintf("HTTPS_PROXY=http://127.0.0.1:%d", wayOutPort), "NO_PROXY=127.0.0.1,::1",
	fmt.Sprintf("http_proxy=http://127.0.0.1:%d", wayOutPort), fmt.Sprintf("https_proxy=http://127.0.0.1:%d", wayOutPort), "no_proxy=127.0.0.1,::1",
}

// SetUp gives what the setup commands of a commit leave: what they left before, if that is kept, else by running them. There is one
// check for each that ran; the layer is nil when one of them failed. Whoever gets a layer closes it. An error means that prloop could
// not do its part.
func (b *Workspace) SetUp(ctx context.Context, o SetupOrder) (*buildlayers.Layer, []review.Check, error) {
	if !b.OwnFiles || b.Layers == nil {
		return nil, nil, errNoSandbox
	}
	name, err := b.layerName(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("set up %s: %w", o.Commit, err)
	}
	if layer, err := b.Layers.Take(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return layer, nil, err
	}
	dir, err := b.room(setupRoom+"*", jobFolders...)
	if err != nil {
		return nil, nil, fmt.Errorf("set up %s: %w", o.Commit, err)
	}
	checks, err := b.runSetup(ctx, dir, o)
	good := err == nil && len(checks) == len(o.Commands) && checks[len(checks)-1].State == review.CheckPassed
	if good {
		err = b.keep(ctx, dir, name, o.Commit)
	}
	var layer *buildlayers.Layer
	if good && err == nil {
		layer, err = b.Layers.Take(name)
	}
	if errors.Is(err, buildlayers.ErrTooLarge) || errors.Is(err, fs.ErrNotExist) && good { // all parts together may be too large as well
		last := &checks[len(checks)-1]
		last.State, last.Log, err = review.CheckFailed, fmt.Sprintf("prloop: what it left cannot be kept: it is larger than %d MB, or has more than %d files\n", b.copyBounds().Bytes>>20, b.copyBounds().Files), nil
	}
	if left := sandbox.Remove(dir); err == nil {
		err = left
	}
	if err != nil {
		return nil, nil, fmt.Errorf("set up %s: %w", o.Commit, err)
	}
	return layer, checks, nil
}

// runSetup runs the commands on an export of the commit.
func (b *Workspace) runSetup(ctx context.Context, dir string, o SetupOrder) ([]review.Check, error) {
	if err := b.toRead().Export(ctx, o.Commit, filepath.Join(dir, "tree")); err != nil {
		return nil, err
	}
	opts := b.Verifying.withDefaults()
	opts.Setup = nil
	refused := func() []string { return nil }
	job := b.job(dir, opts)
	if o.Registries != nil {
		out, err := o.Registries(ctx)
		if err != nil {
			return nil, err
		}
		defer out.Close()
		refused = out.Refused
		job = b.job(dir, opts, throughProxy...)
		job.policy.Gateway, job.policy.GatewayPort = out.Socket(), wayOutPort
	}
	end := time.Now().Add(opts.Wall)
	var checks []review.Check
	for _, c := range o.Commands {
		job.script, job.limit = c, min(opts.Timeout, max(time.Until(end), time.Second))
		VerifyOrder{News: o.News}.news(review.Check{Command: b.Learned.Redact(c)})
		check, err := b.check(ctx, job)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", b.Learned.Redact(c), err)
		}
		if check.State != review.CheckPassed {
			if o.Registries == nil {
				check.Log += "prloop: it had no network: verify_registries in the user config is empty\n"
			}
			for _, no := range refused() {
				check.Log += "prloop: refused: " + no + "\n"
			}
		}
		VerifyOrder{News: o.News}.news(check)
		if checks = append(checks, check); check.State != review.CheckPassed {
			break
		}
	}
	return checks, nil
}

// The parts of a layer: what is new in the tree, the home, what builds kept, and the packages.
var layerParts = []string{"tree", "home", "cache", "packages"}

// keep makes a layer of what stands in a room, as data.
func (b *Workspace) keep(ctx context.Context, dir, name, commit string) error {
	files, err := b.Repo.Files(ctx, commit, "")
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	for _, f := range files {
		tracked[f] = true
	}
	layer, err := b.room(layerRoom+"*", layerParts...)
	if err != nil {
		return err
	}
	defer sandbox.Remove(layer) //nolint:errcheck // it is gone once it is kept; else it goes with the run's folder
	for _, part := range layerParts {
		leave := func(p string) bool { return part == "tree" && tracked[p] }
		if err := buildlayers.Copy(ctx, filepath.Join(layer, part), filepath.Join(dir, part), leave, b.copyBounds()); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(layer, part), 0o755); err != nil { // children of another user read it
			return err
		}
	}
	dropEmpty(filepath.Join(layer, "tree"), files)
	return b.Layers.Put(name, layer, b.copyBounds().Bytes)
}

// dropEmpty removes the folders of the commit in which nothing is new.
func dropEmpty(tree string, files []string) {
	for _, f := range files {
		for d := path.Dir(f); d != "."; d = path.Dir(d) {
			if os.Remove(filepath.Join(tree, filepath.FromSlash(d))) != nil {
				break
			}
		}
	}
}

// The bounds of what is copied where a command's own are not set.
const (
	copyBytes = 8 << 30
	copyFiles = 1_000_000
)

// copyBounds are those of a command: what it could write can be kept.
func (b *Workspace) copyBounds() buildlayers.Bounds {
	bounds := buildlayers.Bounds{Bytes: copyBytes, Files: copyFiles}
	if b.Bounds.FolderBytes > 0 {
		bounds.Bytes = b.Bounds.FolderBytes
	}
	if b.Bounds.FolderFiles > 0 {
		bounds.Files = b.Bounds.FolderFiles
	}
	return bounds
}

// furnish puts what the setup and earlier builds left into a room: beside what the commit has, never over it.
func (b *Workspace) furnish(ctx context.Context, dir string, o VerifyOptions) error {
	if o.Setup != nil {
		for _, part := range []string{"tree", "home"} {
			if err := buildlayers.Copy(ctx, filepath.Join(dir, part), filepath.Join(o.Setup.Path, part), nil, b.copyBounds()); err != nil {
				return err
			}
		}
	}
	cache := filepath.Join(dir, "cache")
	if b.Layers != nil && o.Builds != "" {
		if builds, err := b.Layers.Take(o.buildsName()); err == nil {
			err = errors.Join(buildlayers.Copy(ctx, cache, filepath.Join(builds.Path, "cache"), nil, b.copyBounds()), builds.Close())
			if err == nil || ctx.Err() != nil {
				return err
			}
			// What a pull request made of its cache is its own affair: it begins anew.
			if err := errors.Join(sandbox.Remove(cache), os.Mkdir(cache, 0o700)); err != nil {
				return err
			}
		}
	}
	if o.Setup == nil {
		return nil
	}
	return buildlayers.Copy(ctx, cache, filepath.Join(o.Setup.Path, "cache"), nil, b.copyBounds())
}

// overSetup refuses new files that furnish would leave in the place of what the setup left.
func (b *Workspace) overSetup(changes []pushpolicy.Change) ([]review.Refusal, error) {
	if b.Verifying.Setup == nil {
		return nil, nil
	}
	left, err := os.OpenRoot(filepath.Join(b.Verifying.Setup.Path, "tree"))
	if err != nil {
		return nil, err
	}
	defer left.Close()
	return pushpolicy.OverSetup(changes, func(name string) bool {
		for end := range len(name) + 1 {
			if end < len(name) && name[end] != '/' {
				continue
			}
			info, err := left.Lstat(name[:end])
			if errors.Is(err, fs.ErrNotExist) {
				return false
			}
			if err != nil || !info.IsDir() { // an error: a name that no folder can hold
				return true
			}
		}
		return true
	}), nil
}

// mostBuilds is the largest build cache that is kept, in bytes.
const mostBuilds = 4 << 30

// keepBuilds leaves the build cache of a room, of a commit on the branch, to later verifications of the pull request. One that cannot be kept is none: what a
// child made of it fails no run.
func (b *Workspace) keepBuilds(dir string, o VerifyOptions) {
	if b.Layers == nil || !b.OwnFiles || o.Builds == "" {
		return
	}
	layer, err := b.room(layerRoom + "*")
	if err != nil {
		return
	}
	if os.Rename(filepath.Join(dir, "cache"), filepath.Join(layer, "cache")) == nil {
		_ = b.Layers.Put(o.buildsName(), layer, mostBuilds)
	}
	_ = sandbox.Remove(layer)
}
