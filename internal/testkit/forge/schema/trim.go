//go:build ignore

// Command trim cuts GitHub's published OpenAPI description down to the paths the forge serves, and packs it and the
// GraphQL schema beside this file. README.md says where the inputs come from.
//
//	go run trim.go api.github.com.json schema.graphql
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// paths are those the forge answers, with the methods kept of each.
var paths = map[string][]string{
	"/":                           {"get"},
	"/user":                       {"get"},
	"/users/{username}":           {"get"},
	"/rate_limit":                 {"get"},
	"/repos/{owner}/{repo}":       {"get"},
	"/repos/{owner}/{repo}/pulls": {"get", "post"},
	"/repos/{owner}/{repo}/pulls/{pull_number}":                               {"get", "patch"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/files":                         {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/comments":                      {"get", "post"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/reviews":                       {"get", "post"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers":           {"get", "post"},
	"/repos/{owner}/{repo}/issues/{issue_number}/comments":                    {"get", "post"},
	"/repos/{owner}/{repo}/issues/comments/{comment_id}":                      {"get", "patch", "delete"},
	"/repos/{owner}/{repo}/issues/comments":                                   {"get"},
	"/repos/{owner}/{repo}/collaborators/{username}/permission":               {"get"},
	"/repos/{owner}/{repo}/statuses/{sha}":                                    {"post"},
	"/repos/{owner}/{repo}/commits/{ref}/statuses":                            {"get"},
	"/repos/{owner}/{repo}/releases/latest":                                   {"get"},
	"/repos/{owner}/{repo}/releases/assets/{asset_id}":                        {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments":  {"get"},
	"/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies": {"post"},
	"/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions":            {"post"},
	"/app":               {"get"},
	"/app/installations": {"get"},
	"/app/installations/{installation_id}/access_tokens": {"post"},
	"/installation/repositories":                         {"get"},
	"/repos/{owner}/{repo}/installation":                 {"get"},
	"/app-manifests/{code}/conversions":                  {"post"},
}

// noise are keys that no check reads.
var noise = []string{"description", "example", "examples", "externalDocs", "x-github", "x-multi-segment", "x-webhooks", "tags", "summary", "title"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run trim.go api.github.com.json schema.graphql")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(openapi, sdl string) error {
	raw, err := os.ReadFile(openapi)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("read %s: %w", openapi, err)
	}
	all := doc["paths"].(map[string]any)
	kept := map[string]any{}
	for path, methods := range paths {
		from, ok := all[path].(map[string]any)
		if !ok {
			return fmt.Errorf("%s has no path %s", openapi, path)
		}
		to := map[string]any{}
		for _, m := range append(methods, "parameters") {
			if v, ok := from[m]; ok {
				to[m] = v
			}
		}
		kept[path] = strip(to, "")
	}
	components := doc["components"].(map[string]any)
	used := map[string]any{}
	follow(kept, components, used)
	out := map[string]any{"openapi": doc["openapi"], "info": doc["info"], "servers": doc["servers"], "paths": kept, "components": used}
	packed, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if err := pack("api.github.com.json.gz", bytes.NewReader(packed)); err != nil {
		return err
	}
	f, err := os.Open(sdl)
	if err != nil {
		return err
	}
	defer f.Close()
	return pack("schema.graphql.gz", f)
}

// follow copies every component that v refers to, and what those refer to.
func follow(v any, from, used map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			follow(e, from, used)
		}
	case map[string]any:
		for _, e := range v {
			follow(e, from, used)
		}
		ref, ok := v["$ref"].(string)
		if !ok {
			return
		}
		part := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
		group, _ := used[part[0]].(map[string]any)
		if group == nil {
			group = map[string]any{}
			used[part[0]] = group
		}
		if _, done := group[part[1]]; done {
			return
		}
		c := strip(from[part[0]].(map[string]any)[part[1]], "")
		group[part[1]] = c
		follow(c, from, used)
	}
}

// strip drops the noise, except where the key is the name of a property.
func strip(v any, under string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = strip(v[i], "")
		}
	case map[string]any:
		if under != "properties" {
			for _, k := range noise {
				delete(v, k)
			}
		}
		for k := range v {
			v[k] = strip(v[k], k)
		}
	}
	return v
}

func pack(name string, r io.Reader) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}
