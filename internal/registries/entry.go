package registries

import (
	"fmt"
	"net"
	"strings"
)

// entry is one of the operator's list.
type entry struct {
	// host is a name or an address in lower case, port a number; an entry without one means 443.
	host, port string
	// below means all names below host, and not host itself.
	below bool
}

// parse reads HOST, *.HOST or HOST:PORT. Which texts these are the settings have checked.
func parse(text string) (entry, error) {
	text = strings.ToLower(text)
	if strings.Contains(text, ":") {
		host, port, err := net.SplitHostPort(text)
		if err != nil || host == "" || port == "" {
			return entry{}, fmt.Errorf("%q is no registry: HOST, *.HOST or HOST:PORT", text)
		}
		return entry{host: host, port: port}, nil
	}
	host, below := strings.CutPrefix(text, "*.")
	return entry{host: host, below: below}, nil
}

// exact reports whether the operator means one server, wherever it is.
func (e entry) exact() bool { return e.port != "" }

func (e entry) covers(host, port string) bool {
	switch {
	case e.exact():
		return host == e.host && port == e.port
	case port != "443":
		return false
	case e.below:
		return strings.HasSuffix(host, "."+e.host)
	}
	return host == e.host
}
