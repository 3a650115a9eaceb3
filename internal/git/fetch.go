package git

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// FetchOptions say what to fetch from where.
type FetchOptions struct {
	// URL is the remote. It must not carry a credential, and its transport must be one of Options.Protocols.
	URL string
	// Refs are fully qualified refs ("refs/pull/7/head", "refs/heads/main") or full object ids.
	Refs []string
	// Helper is a git credential helper ("!gh auth git-credential"); empty means none. It is only set for this command.
	Helper string
	// Env are environment entries for this command alone ("GH_TOKEN=..."): where a credential may stand. GIT_ variables
	// are refused here.
	Env []string
	// Credential gives further entries when the command begins; nil gives none.
	Credential func(context.Context) ([]string, error)
	// Timeout bounds the whole fetch; 0 means 10 minutes. Idle ends it when nothing arrives for so long; 0 means 2 minutes.
	Timeout, Idle time.Duration
}

// Tracking is the ref of ours that a fetched ref lands in. Nothing a server sends lands anywhere else.
func Tracking(ref string) string {
	if IsOID(ref) {
		return "refs/prloop/commit/" + ref
	}
	return "refs/prloop/remote/" + strings.TrimPrefix(ref, "refs/")
}

// Fetch downloads refs into refs of ours and returns the commit each stands at, by the name it was asked for. Objects are
// checked on arrival: ErrMalformedTree, and nothing of the pack is kept. Further errors: ErrName, ErrProtocol, ErrAuth,
// ErrUnknownRevision, ErrFetchTimeout, ErrNoRoom.
func (r *Repository) Fetch(ctx context.Context, o FetchOptions) (map[string]string, error) {
	if err := r.git.checkURL(o.URL); err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	c, err := r.fetchCommand(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", o.URL, err)
	}
	if _, err = r.update(ctx, c); err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", o.URL, err)
	}
	got, err := r.fetched(ctx, o.Refs)
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", o.URL, err)
	}
	return got, nil
}

// fetched are the commits at which refs of a server stand here.
func (r *Repository) fetched(ctx context.Context, refs []string) (map[string]string, error) {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = Tracking(ref) + "^{commit}"
	}
	out, err := r.git.run(ctx, r.checking(names))
	if err != nil {
		return nil, err
	}
	infos, _, err := checked(string(out), names)
	if err != nil {
		return nil, err
	}
	got := make(map[string]string, len(refs))
	for i, ref := range refs {
		if infos[i].oid == "" {
			return nil, fmt.Errorf("revision %q: %w", Tracking(ref), ErrUnknownRevision)
		}
		got[ref] = infos[i].oid
	}
	return got, nil
}

func (r *Repository) fetchCommand(ctx context.Context, o FetchOptions) (command, error) {
	c := command{name: "fetch", at: r.place(), timeout: o.Timeout, idle: o.Idle, packs: true}
	if c.timeout == 0 {
		c.timeout = 10 * time.Minute
	}
	if c.idle == 0 {
		c.idle = 2 * time.Minute
	}
	// With --progress a living transfer keeps talking, so silence means a dead one.
	c.args = []string{"--progress", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
		"--force", "--end-of-options", o.URL}
	if len(o.Refs) == 0 {
		return c, fmt.Errorf("%w: nothing asked for", ErrName)
	}
	for _, ref := range o.Refs {
		if !IsOID(ref) {
			if err := checkRef(ref); err != nil {
				return c, err
			}
		}
		c.args = append(c.args, "+"+ref+":"+Tracking(ref))
	}
	var err error
	if c.extra, err = letIn(ctx, o.Env, o.Credential); err != nil {
		return c, err
	}
	if o.Helper != "" {
		c.settings = []setting{{"credential.helper", o.Helper}}
	}
	return c, nil
}

// checkURL refuses transports that are not allowed, credentials in URLs and everything that could be read as an option.
func (g *Git) checkURL(raw string) error {
	scheme := ""
	u, err := url.Parse(raw)
	switch {
	case raw == "" || strings.HasPrefix(raw, "-") || strings.ContainsAny(raw, "\n\r\x00") || strings.Contains(raw, "::"):
		return fmt.Errorf("%w: not a URL", ErrProtocol)
	case err == nil && strings.Contains(raw, "://"):
		scheme = u.Scheme
	case strings.HasPrefix(raw, "/"):
		scheme = "file"
	case strings.Contains(raw, ":"):
		scheme = "ssh" // user@host:path
	}
	if !slices.Contains(g.protocols, scheme) {
		return fmt.Errorf("%w: transport %q", ErrProtocol, scheme)
	}
	if u != nil && u.User != nil {
		if _, secret := u.User.Password(); secret || scheme != "ssh" {
			return fmt.Errorf("%w: it carries a credential", ErrProtocol)
		}
	}
	return nil
}
