// Package addresses tells the public internet from the networks of a machine and its operator.
package addresses

import "net/netip"

// special are the ranges that are not public: this host, private and shared networks, links, documentation, tests, relays
// into IPv4, multicast, and what is reserved. The list is our own: the predicates of net/netip let many of these through.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// global is the only part of IPv6 that is given out to the public; all else is special without being listed.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address belongs to the public internet. An IPv4 address inside IPv6 counts as what it is.
func Public(a netip.Addr) bool {
	if a.Zone() != "" || !a.IsValid() {
		return false
	}
	a = a.Unmap()
	if a.Is6() && !global.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
