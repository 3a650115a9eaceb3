package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Place is where an event is moved to, so that it is about things that are there.
type Place struct {
	// Repo is OWNER/NAME, PR a pull request in it. It is from a branch of HeadRepo, and the branches are at Base and Head.
	Repo, HeadRepo string
	PR             int
	Base, Head     string
	// Updated is when the pull request changed last; the zero time leaves what was recorded.
	Updated time.Time
	// Comment is the one that the event is about; nil leaves the recorded one.
	Comment *Comment
}

// Comment is one on the pull request of a place.
type Comment struct {
	ID           int64
	Author, Body string
	Updated      time.Time
}

// At is the payload moved to a place: everything it says of its repository, its pull requests and its comment is then said of those of the
// place. All else stays as it was recorded.
func (e Event) At(p Place) ([]byte, error) {
	var recorded struct {
		Repository struct {
			FullName string `json:"full_name"`
		}
	}
	err := json.Unmarshal(e.Payload, &recorded)
	data := e.Payload
	if was := recorded.Repository.FullName; err == nil && was != "" {
		data = bytes.ReplaceAll(data, []byte(was), []byte(p.Repo))
	}
	var payload map[string]any
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber() // ids are larger than a float holds
		err = d.Decode(&payload)
	}
	if err != nil {
		return nil, fmt.Errorf("move the event %s: %w", e.File, err)
	}
	if _, ok := payload["pull_request"]; ok && payload["number"] != nil {
		payload["number"] = p.PR
	}
	p.move(payload)
	if c, ok := payload["comment"].(map[string]any); ok && p.Comment != nil {
		c["id"], c["body"], c["updated_at"] = p.Comment.ID, p.Comment.Body, p.Comment.Updated.UTC().Format(time.RFC3339)
		if user, ok := c["user"].(map[string]any); ok {
			user["login"] = p.Comment.Author
		}
		if issue, ok := payload["issue"].(map[string]any); ok {
			issue["number"] = p.PR
			issue["pull_request"] = map[string]any{"url": fmt.Sprintf("https://api.github.com/repos/%s/pulls/%d", p.Repo, p.PR)}
		}
	}
	return json.Marshal(payload)
}

// move changes the pull requests that stand anywhere in a payload.
func (p Place) move(at any) {
	switch v := at.(type) {
	case []any:
		for _, one := range v {
			p.move(one)
		}
	case map[string]any:
		for name, one := range v {
			switch pulls, _ := one.([]any); {
			case name == "pull_request":
				p.pull(one)
			case strings.HasSuffix(name, "pull_requests"):
				for _, pull := range pulls {
					p.pull(pull)
				}
			default:
				p.move(one)
			}
		}
	}
}

func (p Place) pull(at any) {
	pull, ok := at.(map[string]any)
	if !ok {
		return
	}
	pull["number"] = p.PR
	if !p.Updated.IsZero() {
		pull["updated_at"] = p.Updated.UTC().Format(time.RFC3339)
	}
	for name, commit := range map[string]string{"base": p.Base, "head": p.Head} {
		if side, ok := pull[name].(map[string]any); ok {
			side["sha"] = commit
		}
	}
	if head, ok := pull["head"].(map[string]any); ok {
		if repo, ok := head["repo"].(map[string]any); ok && repo["full_name"] != nil {
			repo["full_name"] = p.HeadRepo
		}
	}
}
