package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/buildlayers"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/otlp"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// Options are what all runs of a process share.
type Options struct {
	// State is the folder of the database, of prloop's own repositories and of the runs' files. Nobody else may write it.
	State string
	// Database is the address of the database of runs, which machines may share; empty for a file in State.
	Database string
	// Blobs keep the files of runs for other machines too; nil for the folder in State alone.
	Blobs Blobs
	// Log hears of what goes wrong without ending a run; nil for nobody.
	Log hclog.Logger
	// Self is this program, which is started as the builtin agents; by default the one that runs.
	Self string
	// GitHub says how GitHub is reached. The service sets host, temporary folder and log.
	GitHub github.Options
	// PlainHTTP lets git fetch and push over http too: the operator has named the server's address.
	PlainHTTP bool
	// Machine is what runs may have of this machine.
	Machine Machine
	// Telemetry is the collector of traces and metrics; without an endpoint there is none. Version is prloop's, as it is told.
	Telemetry otlp.Options
	Version   string
}

// A Service prepares, starts, resumes and cancels runs. Several runs side by side are normal; its methods may be called from
// several goroutines.
type Service struct {
	opts   Options
	log    hclog.Logger
	store  *store.Store
	folder *files
	// denials are of those whose comments ask for something.
	denials denials
	// openEngine waits for the engine of runs, which is opened when the first run asks for it; asked tells whether one has.
	openEngine func() (*engine.Engine, error)
	asked      atomic.Bool
	// takingBack are held, one by the commit, while a success is taken back.
	takingBack [64]sync.Mutex

	mu      sync.Mutex
	cleanup cleanup
	clients map[string]*github.Client
	git     *git.Git
	// private is the folder scratch made, runs how many folders of runs were made in it.
	private  string
	runs     int
	live     map[string]*run
	observer func(run string) (hear func(review.Event), over func()) // of Watch; nil for nobody
	meter    Meter                                                   // nil for nobody
}

// Open opens the record of runs. It resumes nothing. ctx bounds every wait for the database.
func Open(ctx context.Context, o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	s := &Service{opts: o, log: o.Log, clients: map[string]*github.Client{}, live: map[string]*run{}}
	s.openEngine = sync.OnceValues(func() (*engine.Engine, error) {
		return engine.Open(ctx, engine.Options{Address: s.database(), Log: s.log.Named("engine"), Handler: s.handle})
	})
	var err error
	if o.Self == "" {
		if s.opts.Self, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program, which is started as the builtin agents: %w", err)
		}
	}
	if s.store, err = store.Open(ctx, store.Options{Address: s.database()}); err != nil {
		return nil, err
	}
	s.cleanup.add(func() { s.store.Close() })
	if s.folder, err = openFiles(o.State, s.store, o.Blobs, s.log.Named("blobs")); err != nil {
		s.cleanup.run()
		return nil, err
	}
	s.cleanup.add(s.folder.Close)
	return s, nil
}

// Close interrupts the runs that are under way, waits for them, and closes what the service has open.
func (s *Service) Close(ctx context.Context) {
	if s.asked.Load() {
		if e, err := s.openEngine(); err == nil { // before anything a run works with is taken away
			e.Close(context.WithoutCancel(ctx))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanup.run()
}

// State is the folder of the service's state.
func (s *Service) State() string { return s.opts.State }

// Database names the database of runs, without a password.
func (s *Service) Database() string { return s.store.String() }

// database is the address of the service's database.
func (s *Service) database() string {
	if s.opts.Database != "" {
		return s.opts.Database
	}
	return database.SQLite + ":" + filepath.Join(s.opts.State, "prloop.db")
}

// engine opens the engine of runs, or waits for it.
func (s *Service) engine() (*engine.Engine, error) {
	s.asked.Store(true)
	return s.openEngine()
}

// warm begins to open the engine: its tables take their time.
func (s *Service) warm() {
	s.asked.Store(true)
	go s.openEngine() //nolint:errcheck // whoever needs the engine hears of it
}

// Name has tokens of the environment go to a host, which the operator named.
func (s *Service) Name(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.GitHub.Named = append(s.opts.GitHub.Named, host)
}

// GitHub connects to a host, once.
func (s *Service) GitHub(ctx context.Context, host string) (*github.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[host]; c != nil {
		return c, nil
	}
	o := s.opts.GitHub
	o.Host, o.Log, o.Places = host, s.log.Named("github"), s.store
	var err error
	if o.Temp, err = s.scratch(ctx); err != nil {
		return nil, err
	}
	c, err := github.New(ctx, o)
	if err != nil {
		return nil, err
	}
	s.clients[host] = c
	return c, nil
}

// GitHubFor connects to the host of a repository, as whoever may work on that.
func (s *Service) GitHubFor(ctx context.Context, repo review.Repo) (*github.Client, error) {
	c, err := s.GitHub(ctx, repo.Host)
	if err != nil {
		return nil, err
	}
	return c.For(ctx, repo)
}

// findGit finds git, once.
func (s *Service) findGit(ctx context.Context) (*git.Git, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.git != nil {
		return s.git, nil
	}
	o := git.Options{FreeBytes: s.opts.Machine.Limits.ToBegin()}
	if s.opts.PlainHTTP || s.opts.GitHub.Broker != "" { // git goes to a broker by an address of this machine
		o.Protocols = []string{"https", "http"}
	}
	var err error
	s.git, err = git.Find(ctx, o)
	return s.git, err
}

// reposName is where prloop's own repositories stand in the state folder.
const reposName = "repos"

// openHistory opens prloop's own repository of a target, for as long as the run is worked on.
func (r *run) openHistory(ctx context.Context, target review.Target, checkout string) (*history, error) {
	h := &history{}
	name := filepath.Join("local", fingerprint(checkout))
	if !target.Local() {
		client, err := r.GitHubFor(ctx, target.Repo)
		if err != nil {
			return nil, err
		}
		clone := client.Clone(target.Repo)
		h.from = git.FetchOptions{URL: clone.URL, Helper: clone.Helper, Credential: clone.Env}
		name = filepath.Join(target.Repo.Host, target.Repo.Owner, target.Repo.Name)
		if err := r.room(ctx, r.opts.State, r.id); err != nil { // before anything is fetched
			return nil, err
		}
	}
	if err := r.openRepo(ctx, h, name+".git"); err != nil {
		return nil, err
	}
	if !target.Local() {
		r.forgetFixes(ctx, h.repo, r.id, wallclock.Now())
		if err := h.repo.Collect(ctx, wallclock.Now()); err != nil {
			r.log.Warn("objects that nothing refers to were not collected", "repository", target.Repo, "err", err)
		}
	}
	return h, nil
}

// openRepo opens a repository of prloop's own, and keeps it from being removed until the run is left.
func (r *run) openRepo(ctx context.Context, h *history, name string) error {
	g, err := r.findGit(ctx)
	if err != nil {
		return err
	}
	for {
		if h.repo, err = g.Open(ctx, filepath.Join(r.opts.State, reposName, name)); err != nil {
			return err
		}
		held, err := filelock.Shared(ctx, h.repo.Dir())
		if errors.Is(err, fs.ErrNotExist) { // removed in between
			continue
		}
		if err != nil {
			return fmt.Errorf("open repository: %w", err)
		}
		r.cleanup.add(func() {
			held.Close()
			if h.short.Load() {
				r.forgetRepos(context.WithoutCancel(ctx), r.opts.State)
			}
		})
		return nil
	}
}

// fixesKept is how long an unfinished run's fixes are kept: as long as the engine keeps a finished run's steps.
const fixesKept = 30 * 24 * time.Hour

// forgetFixes removes the fixes of runs that are over: finished, unknown here, or too old to be resumed. Those of the run at
// hand and of the runs under way stay.
func (s *Service) forgetFixes(ctx context.Context, repo *git.Repository, mine string, now time.Time) {
	err := repo.ForgetFixes(ctx, func(id string) bool {
		if id == mine || s.running(id) {
			return false
		}
		run, err := s.store.Run(ctx, id)
		if err != nil || run.ID != id {
			return err == nil || errors.Is(err, store.ErrNotFound)
		}
		return run.State == store.Finished || now.Sub(run.Created) > fixesKept
	})
	if err != nil {
		s.log.Warn("fixes of runs that are over are still kept", "err", err)
	}
}

// ArtifactsKept is how long the files of a run stay after the last was saved; its result and findings are the
// store's.
const ArtifactsKept = 90 * 24 * time.Hour

// forgetArtifacts removes the files of runs nobody has touched for long.
func (s *Service) forgetArtifacts(mine string) {
	s.forgetLayers()
	if err := s.folder.Expire(wallclock.Now().Add(-ArtifactsKept), func(run string) bool { return run == mine || s.running(run) }); err != nil {
		s.log.Warn("files of old runs are still kept", "err", err)
	}
}

// layersName is where what setups and builds leave stands in the state folder.
const layersName = "layers"

// layers opens what setups and builds left; nil where nothing can be kept.
func (s *Service) layers() *buildlayers.Folder {
	f, err := buildlayers.Open(filepath.Join(s.opts.State, layersName))
	if err != nil {
		s.log.Warn("what setups and builds leave is not kept", "err", err)
		return nil
	}
	return f
}

// forgetLayers removes those that nobody used for long, and those that are too much.
func (s *Service) forgetLayers() {
	if f := s.layers(); f != nil {
		if err := f.Prune(time.Now()); err != nil {
			s.log.Warn("what old setups left is still kept", "err", err)
		}
	}
}

func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// cleanup is what is still to be done, in reverse order. Its zero value is nothing.
type cleanup []func()

func (c *cleanup) add(fn func()) { *c = append(*c, fn) }

// run does it, once.
func (c *cleanup) run() {
	for len(*c) > 0 {
		last := len(*c) - 1
		fn := (*c)[last]
		*c = (*c)[:last]
		fn()
	}
}
