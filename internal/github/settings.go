package github

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"

	"github.com/prloop/prloop/internal/proc"
)

const dotCom = "github.com"

// environment is a written-out environment. go-gh reads the process's own, once and for all; this package is told which.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// pick copies variables that are set.
func (e environment) pick(names ...string) []string {
	var out []string
	for _, n := range names {
		if v := e.get(n); v != "" {
			out = append(out, n+"="+v)
		}
	}
	return out
}

// passed are the variables gh gets besides ours: where its settings are, and how to reach the network and the keyring.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
	"XDG_DATA_HOME", "XDG_CACHE_HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SystemRoot", "AppData", "LocalAppData", "USERPROFILE", "TEMP", "TMP"}

// keyring are those it needs to unlock a keyring, for the one look-up of the token.
var keyring = []string{"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"}

// quiet keeps gh from asking, reporting and looking for updates.
var quiet = []string{"GH_PROMPT_DISABLED=1", "GH_TELEMETRY=0", "GH_NO_UPDATE_NOTIFIER=1", "GH_NO_EXTENSION_UPDATE_NOTIFIER=1",
	"NO_COLOR=1", "GH_SPINNER_DISABLED=1", "LC_ALL=C"}

// settings are what gh's configuration says about a host.
type settings struct {
	token   string
	socket  string
	apiHost string
	// broker is the socket of the process that holds the credential.
	broker string
}

// configDir is where gh keeps its configuration.
func (e environment) configDir() string {
	switch {
	case e.get("GH_CONFIG_DIR") != "":
		return e.get("GH_CONFIG_DIR")
	case e.get("XDG_CONFIG_HOME") != "":
		return filepath.Join(e.get("XDG_CONFIG_HOME"), "gh")
	case runtime.GOOS == "windows" && e.get("AppData") != "":
		return filepath.Join(e.get("AppData"), "GitHub CLI")
	}
	return filepath.Join(e.get("HOME"), ".config", "gh")
}

// file reads one of gh's configuration files; a missing one is an empty one.
func (e environment) file(name string) *config.Config {
	raw, err := os.ReadFile(filepath.Join(e.configDir(), name))
	if err != nil {
		raw = nil
	}
	return config.ReadFromString(string(raw))
}

func (e environment) settings(host string) settings {
	get := func(c *config.Config, keys ...string) string {
		v, err := c.Get(keys)
		if err != nil {
			return ""
		}
		return v
	}
	hosts := e.file("hosts.yml")
	s := settings{
		token: get(hosts, host, "oauth_token"), apiHost: get(hosts, host, "api_host"),
		socket: get(e.file("config.yml"), "http_unix_socket"),
	}
	if v := get(hosts, host, "http_unix_socket"); v != "" {
		s.socket = v
	}
	if s.apiHost == "" { // said outright, or go-gh would look it up in the process's own environment
		s.apiHost = host
		if !auth.IsEnterprise(host) {
			s.apiHost = "api." + host
		}
	}
	return s
}

// restPrefix is where the REST API of a host begins.
func (s settings) restPrefix(host string) string {
	if auth.IsEnterprise(host) {
		return "https://" + s.apiHost + "/api/v3/"
	}
	return "https://" + s.apiHost + "/"
}

// tokenNames are the variables that hold a token for a host, in gh's order.
func tokenNames(host string) []string {
	if auth.IsEnterprise(host) {
		return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	}
	return []string{"GH_TOKEN", "GITHUB_TOKEN"}
}

// findToken looks where gh looks: environment, configuration file, keyring. Only the last needs gh to run. A token of the
// environment does not say which host it is for: it goes to those that are named. withheld is the variable of one that would go elsewhere.
func (c *Client) findToken(ctx context.Context, s settings, named []string) (token, withheld string) {
	for _, name := range tokenNames(c.host) {
		switch v := c.env.get(name); {
		case v == "":
		case slices.Contains(named, c.host):
			return v, ""
		default:
			withheld = name
		}
	}
	if s.token != "" || c.gh == "" {
		return s.token, withheld
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: c.gh, Args: []string{"auth", "token", "--hostname", c.host}, Timeout: 30 * time.Second, MaxStdout: 1 << 16, Direct: true,
		Env: append(c.env.pick(append(slices.Clone(passed), keyring...)...), quiet...),
	})
	if err != nil {
		return "", withheld
	}
	return strings.TrimSpace(string(res.Stdout)), withheld
}

// DefaultHost is the host gh talks to when nobody names one: GH_HOST, else the only one it is logged in to, else
// github.com. A nil environment is the process's own.
func DefaultHost(env []string) string {
	if env == nil {
		env = os.Environ()
	}
	e := environment(env)
	if h := e.get("GH_HOST"); h != "" {
		return strings.ToLower(h)
	}
	if keys, err := e.file("hosts.yml").Keys(nil); err == nil && len(keys) == 1 {
		return strings.ToLower(keys[0])
	}
	return dotCom
}

// KnownHosts are the hosts that are GitHub: github.com, GH_HOST, that of the runner of GitHub Actions, and those gh is logged in to. A nil
// environment is the process's own.
func KnownHosts(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	e := environment(env)
	hosts := []string{dotCom, DefaultHost(env)}
	if server, err := url.Parse(e.get("GITHUB_SERVER_URL")); err == nil && server.Host != "" {
		hosts = append(hosts, strings.ToLower(server.Host))
	}
	if keys, err := e.file("hosts.yml").Keys(nil); err == nil {
		for _, key := range keys {
			hosts = append(hosts, strings.ToLower(key))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
