package forge

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// nodeLimit is how many nodes one query may ask for, and pageLimit how many one connection may give (GitHub's limits).
const (
	nodeLimit = 500_000
	pageLimit = 100
)

// entry is one item of a connection. Its key makes the cursor: it stays with the item when others come or go.
type entry struct {
	key  string
	make func() object
}

// connection pages a list as GitHub does: first or last is required for items and at most 100, cursors are opaque.
func (x *execution) connection(kind string, all []entry) resolver {
	return func(a args) (any, error) {
		list := x.lied(kind, all, a)
		first, hasFirst := a.number("first")
		last, hasLast := a.number("last")
		if !hasFirst && !hasLast && !selects(x.set, "nodes", "edges", "pageInfo") {
			return page(kind, list, 0, 0, len(all)), nil
		}
		if !hasFirst && !hasLast {
			return nil, refusal{"MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", kind)}
		}
		if first > pageLimit || last > pageLimit {
			return nil, refusal{"EXCESSIVE_PAGINATION", fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.", max(first, last), kind)}
		}
		start, end := 0, len(list)
		if after := a.text("after"); after != "" {
			at, err := position(list, after)
			if err != nil {
				return nil, err
			}
			start = at + 1
		}
		if before := a.text("before"); before != "" {
			at, err := position(list, before)
			if err != nil {
				return nil, err
			}
			end = max(at, start)
		}
		from, to := start, end
		if hasFirst {
			to = min(end, start+first)
		} else {
			from = max(start, end-last)
		}
		if x.fault.Mode == DuplicateItems && from > 0 && to > from {
			from--
		}
		return page(kind, list, from, to, len(all)), nil
	}
}

// selects reports whether one of the fields is selected directly.
func selects(set ast.SelectionSet, names ...string) bool {
	for _, s := range set {
		if f, ok := s.(*ast.Field); ok && slices.Contains(names, f.Name) {
			return true
		}
	}
	return false
}

func page(kind string, list []entry, from, to, total int) object {
	nodes := make([]object, 0, to-from)
	edges := make([]object, 0, to-from)
	for _, e := range list[from:to] {
		n := e.make()
		nodes = append(nodes, n)
		edges = append(edges, object{kind: kind + "Edge", fields: map[string]any{"node": n, "cursor": cursor(e.key)}})
	}
	info := map[string]any{"hasNextPage": to < len(list), "hasPreviousPage": from > 0}
	if to > from {
		info["startCursor"], info["endCursor"] = cursor(list[from].key), cursor(list[to-1].key)
	}
	return object{kind: kind + "Connection", fields: map[string]any{
		"nodes": nodes, "edges": edges, "totalCount": total, "pageInfo": object{kind: "PageInfo", fields: info},
	}}
}

// lied is the list as a fault wants it seen: without its newest items.
func (x *execution) lied(kind string, all []entry, a args) []entry {
	if x.fault.Mode == StaleList {
		return all[:max(0, len(all)-max(1, x.fault.Count))]
	}
	return all
}

func cursor(key string) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:v2:" + key))
}

// position finds the item of a cursor. An item that is gone is found by its number: keys rise within a list.
func position(list []entry, c string) (int, error) {
	raw, err := base64.StdEncoding.DecodeString(c)
	if err != nil || len(raw) < len("cursor:v2:") {
		return 0, refusal{"INVALID_CURSOR_ARGUMENTS", fmt.Sprintf("`%s` does not appear to be a valid cursor.", c)}
	}
	key := string(raw[len("cursor:v2:"):])
	want, _ := strconv.ParseInt(key, 10, 64)
	best := -1
	for i, e := range list {
		if e.key == key {
			return i, nil
		}
		if n, err := strconv.ParseInt(e.key, 10, 64); err == nil && n < want {
			best = i
		}
	}
	return best, nil
}

// countNodes is how many nodes a query could return at most.
func countNodes(set ast.SelectionSet, vars map[string]any) int {
	total := 0
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			a := args(s.ArgumentMap(vars))
			n, paged := a.number("first")
			if !paged {
				n, paged = a.number("last")
			}
			below := countNodes(s.SelectionSet, vars)
			if paged {
				total += n + n*below
			} else {
				total += below
			}
		case *ast.InlineFragment:
			total += countNodes(s.SelectionSet, vars)
		case *ast.FragmentSpread:
			total += countNodes(s.Definition.SelectionSet, vars)
		}
	}
	return total
}
