package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/artifacts"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// session is what one command has open. Parts are opened when they are needed and closed together.
type session struct {
	p      *Proc
	log    hclog.Logger
	state  string
	store  *store.Store
	folder *artifacts.Folder
	git    *git.Git
	github *github.Client
	closes []func()
	// private is the folder scratch made.
	private string
	// cassette is settled before the loop is built.
	cassette gateway.Cassette
	// engine waits for the engine of runs; build makes the loop of the one that is executed.
	engine func() (*engine.Engine, error)
	build  builder
	// early is the brief of the first round, under way before the loop is built; nil when nobody began it.
	early *earlyBrief
	// tab keeps this run's spending apart from that of others.
	tab tab
	// policy is what a run's posts, annotations and step summary may hold; set when the loop is built.
	policy sanitize.Policy
	// telemetry is nil unless the operator wants it.
	telemetry *telemetry
	// permanently is the error this process ended a run with; nil when it did not.
	permanently atomic.Pointer[error]
}

// openSession opens the record of runs.
func (p *Proc) openSession(ctx context.Context) (*session, error) {
	state, err := p.stateFolder()
	if err != nil {
		return nil, err
	}
	s := &session{p: p, state: state, log: p.logger()}
	if s.store, err = store.Open(ctx, store.Options{Path: s.database()}); err != nil {
		return nil, err
	}
	s.onClose(func() { s.store.Close() })
	if s.folder, err = artifacts.Open(filepath.Join(state, "runs")); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) database() string  { return filepath.Join(s.state, "prloop.db") }
func (s *session) onClose(fn func()) { s.closes = append(s.closes, fn) }

func (s *session) close() {
	for i := len(s.closes) - 1; i >= 0; i-- {
		s.closes[i]()
	}
}

// logger writes to standard error what PRLOOP_LOG asks for (error, warn, info, debug); warnings without it.
func (p *Proc) logger() hclog.Logger {
	level := hclog.LevelFromString(p.env("PRLOOP_LOG"))
	if level == hclog.NoLevel {
		level = hclog.Error
	}
	return hclog.New(&hclog.LoggerOptions{Name: "prloop", Level: level, Output: redacting{p.Stderr}})
}

// redacting is the sink of the log: nothing secret and no control byte passes it (threats.md P14, T41).
type redacting struct {
	to interface{ Write([]byte) (int, error) }
}

func (r redacting) Write(line []byte) (int, error) {
	if _, err := r.to.Write([]byte(sanitize.Terminal(sanitize.Redact(string(line))))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// openGitHub connects to the host of a repository.
func (s *session) openGitHub(ctx context.Context, host string) (*github.Client, error) {
	if s.github != nil && s.github.Host() == host {
		return s.github, nil
	}
	temp, err := s.scratch()
	if err != nil {
		return nil, err
	}
	c, err := github.New(ctx, github.Options{Host: host, Env: s.p.Env, GH: s.p.env("PRLOOP_GH"), Temp: temp, Log: s.log.Named("github")})
	if err != nil {
		return nil, err
	}
	s.github = c
	return c, nil
}

// reposName is where prloop's own repositories stand in the state folder.
const reposName = "repos"

// openHistory opens prloop's own repository of a target, for a run; empty when it has no id yet.
func (s *session) openHistory(ctx context.Context, target review.Target, checkout, run string) (*history, error) {
	h := &history{}
	name := filepath.Join("local", fingerprint(checkout))
	opts := git.Options{}
	if !target.Local() {
		clone := s.github.Clone(target.Repo)
		h.fetch = git.FetchOptions{URL: clone.URL, Helper: clone.Helper, Env: clone.Env}
		name = filepath.Join(target.Repo.Host, target.Repo.Owner, target.Repo.Name)
		if s.p.env("PRLOOP_GIT_URL") != "" {
			opts.Protocols = []string{"https", "http"} // the operator named the address
		}
	}
	g, err := git.Find(ctx, opts)
	if err != nil {
		return nil, err
	}
	s.git = g
	if h.repo, err = g.Open(ctx, filepath.Join(s.state, reposName, name+".git")); err != nil {
		return nil, err
	}
	if !target.Local() {
		s.forgetFixes(ctx, h.repo, run, time.Now())
	}
	return h, nil
}

// fixesKept is how long an unfinished run's fixes are kept: as long as the engine keeps a finished run's steps.
const fixesKept = 30 * 24 * time.Hour

// forgetFixes lets go of the fixes of runs that are over: finished, unknown here, or too old to be gone on with. Those of the
// run at hand stay.
func (s *session) forgetFixes(ctx context.Context, repo *git.Repository, mine string, now time.Time) {
	err := repo.ForgetFixes(ctx, func(id string) bool {
		if id == mine {
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

// artifactsKept is how long the files of a run stay after the last was saved; its result and findings are the
// store's.
const artifactsKept = 90 * 24 * time.Hour

// forgetArtifacts removes the files of runs nobody has touched for long, those of the run at hand aside.
func (s *session) forgetArtifacts(mine string) {
	if err := s.folder.Expire(time.Now().Add(-artifactsKept), func(run string) bool { return run == mine }); err != nil {
		s.log.Warn("files of old runs are still kept", "err", err)
	}
}

func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
