// Package websearch asks a search provider that the operator named, for agents that have no network (decision 37). A question is
// short and holds nothing that looks like a secret; answers are titles, addresses and excerpts within bounds. No page is read: that
// is package webfetch's, for hosts on its own list.
package websearch
