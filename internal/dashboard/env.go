package dashboard

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/prloop/prloop/internal/signin"
)

// The variables of the operator.
const (
	envID     = "PRLOOP_OAUTH_ID"
	envSecret = "PRLOOP_OAUTH_SECRET_FILE"
	envHost   = "PRLOOP_OAUTH_HOST"
	envWeb    = "PRLOOP_OAUTH_URL"
	envAPI    = "PRLOOP_OAUTH_API_URL"
)

// SignedIn is how people sign in, and where they reach the dashboard.
type SignedIn struct {
	GitHub  signin.GitHub
	Address url.URL
}

// SignIn reads the operator's variables. address is where people reach the dashboard: an http or https URL without a path, or empty.
func SignIn(env func(string) string, address string) (SignedIn, error) {
	var out SignedIn
	if address != "" {
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return out, fmt.Errorf("%q is no address such as https://prloop.example", address)
		}
		out.Address = url.URL{Scheme: u.Scheme, Host: u.Host}
	}
	id, file := env(envID), env(envSecret)
	switch {
	case id == "" && file == "":
		return out, nil
	case id == "" || file == "":
		return out, errors.New(envID + " and " + envSecret + " belong together")
	case address == "":
		return out, errors.New("sign-in with GitHub needs the address that people reach the dashboard under: --address, or --dashboard-url of prloop serve")
	}
	secret, err := os.ReadFile(file)
	if err != nil {
		return out, fmt.Errorf("%s: %w", envSecret, err)
	}
	host := env(envHost)
	if host == "" {
		host = "github.com"
	}
	out.GitHub = signin.GitHub{
		Host: host, Web: env(envWeb), API: env(envAPI), ID: id, Secret: strings.TrimSpace(string(secret)),
		Callback: out.Address.JoinPath("sign-in", "callback").String(),
	}
	if out.GitHub.Secret == "" {
		return out, fmt.Errorf("%s: %s is empty", envSecret, file)
	}
	return out, nil
}
