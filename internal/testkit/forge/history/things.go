package history

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/testkit/forge"
)

// Things are the texts that stand in a repository of a forge that is a host, and where its branches are.
func Things(host string, repo *forge.Repo) ([]Thing, error) {
	var out []Thing
	at := "https://" + host + "/" + repo.FullName()
	for _, p := range repo.PullRequests() {
		page := fmt.Sprintf("%s/pull/%d", at, p.Number)
		_, body, _, _ := p.Words()
		out = append(out, Thing{What: "pull", Number: int64(p.Number), URL: page, Author: p.Author(), Body: body})
		for _, c := range p.Comments() {
			out = append(out, Thing{What: "comment", Number: c.ID, URL: fmt.Sprintf("%s#issuecomment-%d", page, c.ID), Author: c.Author, Body: c.Body})
		}
		for _, r := range p.Reviews() {
			out = append(out, Thing{What: "review", Number: r.ID, URL: fmt.Sprintf("%s#pullrequestreview-%d", page, r.ID), Author: r.Author, Body: r.Body})
		}
		for _, t := range p.Threads() {
			for i, c := range t.Comments {
				one := Thing{What: "answer", Number: c.ID, URL: fmt.Sprintf("%s#discussion_r%d", page, c.ID), Author: c.Author, Body: c.Body}
				if i == 0 {
					one.Thread = forge.ThreadID(t.ID)
				}
				out = append(out, one)
			}
		}
	}
	heads, err := repo.Branches()
	for name, head := range heads {
		out = append(out, Thing{What: "branch", URL: at + "/commit/" + head, Body: name})
	}
	return out, err
}

// Rules are the rules of some breaches, each once, in order.
func Rules(all []Breach) (rules []Rule) {
	for _, b := range all {
		if !slices.Contains(rules, b.Rule) {
			rules = append(rules, b.Rule)
		}
	}
	slices.Sort(rules)
	return rules
}
