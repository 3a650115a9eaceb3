// Package webfetch reads pages for agents that have no network (threats.md T50). A host must stand on the operator's list;
// whatever its name resolves to is checked when the connection is made, so that no answer of a resolver and no redirect leads
// into the machine's own networks. Only https on port 443 is spoken, no proxy is used, nothing of prloop's is sent along,
// and only text comes back, within bounds.
package webfetch
