package webfetch

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// HostPattern is what an entry of the operator's list looks like: a name, or all names below one.
const HostPattern = `^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`

// hostName is the one form of a host that is looked at: labels of letters, digits and hyphens, the last one no number.
// Addresses in any spelling, names of one label and names with an end dot are none.
var hostName = lazyregexp.New(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// urlLimit bounds an address in bytes: what a page is asked with is the one thing a hijacked agent can tell a host.
const urlLimit = 300

// RefusedError says that an address is not one that may be read. It holds nothing of what a page said.
type RefusedError struct{ Reason string }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// check takes an address as an agent, or a redirect, wrote it.
func (f *Fetcher) check(raw string) (*url.URL, error) {
	if len(raw) > urlLimit {
		return nil, refuse("an address has at most %d bytes", urlLimit)
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return nil, refuse("an address has no spaces, backslashes, control or non-ASCII characters")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse("this is no address")
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case u.Scheme != "https" || u.Opaque != "":
		return nil, refuse("only https:// is read")
	case u.User != nil:
		return nil, refuse("an address names no user")
	case u.Port() != "" && u.Port() != "443" || strings.HasSuffix(u.Host, ":"):
		return nil, refuse("only port 443 is read")
	case !hostName.MatchString(host) || len(host) > 253 || strings.ContainsAny(u.Host, "[]%"):
		return nil, refuse("a host is a name with a dot, not an address")
	case !f.allowed(host):
		return nil, refuse("the operator does not allow the host %s", host)
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	return u, nil
}

// allowed looks a host up in the operator's list.
func (f *Fetcher) allowed(host string) bool {
	for _, h := range f.hosts {
		below, all := strings.CutPrefix(h, "*.")
		if host == h || all && strings.HasSuffix(host, "."+below) {
			return true
		}
	}
	return false
}
