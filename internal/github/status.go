package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
)

// statusPermission is what a token needs to set a status, in GitHub's words.
const statusPermission = "statuses: write"

// Where a kill may fall (threats.md K32, K33).
var (
	beforeStatus = failpoint.New("github: before status")
	afterStatus  = failpoint.New("github: after status")
)

// SetStatus sets the commit status gate.Context and returns its address. It is tried once. Errors are as those of Post; one whose
// permission is missing names it.
func (c *Client) SetStatus(ctx context.Context, repo review.Repo, commit string, s effects.CommitStatus) (string, error) {
	op := fmt.Sprintf("set the status %s of %s in %s", gate.Context, commit[:min(len(commit), 10)], repo)
	c.writing.Lock()
	defer c.writing.Unlock()
	refused := func(err error) error {
		return &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: describe(err), write: true}
	}
	if err := c.waitForTurn(ctx, op); err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"state": string(s.State), "context": gate.Context, "description": s.Description, "target_url": s.Target})
	if err != nil {
		return "", refused(err)
	}
	if err := beforeStatus.Hit(); err != nil {
		return "", refused(err)
	}
	var made struct {
		URL, Context, State string
	}
	err = c.postJSON(ctx, fmt.Sprintf("repos/%s/%s/statuses/%s", url.PathEscape(repo.Owner), url.PathEscape(repo.Name), url.PathEscape(commit)), body, &made)
	c.lastWrite = time.Now()
	if stop := afterStatus.Hit(); stop != nil { // as if the answer had been lost
		return "", &Error{Op: op, Kind: ErrUnavailable, Cause: stop, Detail: describe(stop), write: true, sent: true}
	}
	if err != nil {
		e := classify(op, err)
		_ = e.wrote(e.status == 0 || e.status >= 500 || e.status < 400)
		if errors.Is(e, ErrForbidden) || errors.Is(e, ErrNotFound) {
			e.Kind = ErrForbidden // GitHub hides what a token may not do behind 404
			if e.Needs == "" {
				e.Needs = statusPermission
			}
		}
		return "", e
	}
	if made.URL == "" || made.Context != gate.Context || made.State != string(s.State) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub set another status", write: true, sent: true}
	}
	return made.URL, nil
}

// postJSON makes one call that writes, and reads its answer.
func (c *Client) postJSON(ctx context.Context, address string, body []byte, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.rest+address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	c.tally.write()
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return api.HandleHTTPError(resp)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// A SetBefore is a commit status as GitHub has it.
type SetBefore struct {
	effects.CommitStatus
	By  review.Person
	URL string
	At  time.Time
}

// Statuses are all statuses of the name gate.Context that were set on a commit, the newest first.
func (c *Client) Statuses(ctx context.Context, repo review.Repo, commit string) (out []SetBefore, err error) {
	op := fmt.Sprintf("read the statuses %s of %s in %s", gate.Context, commit[:min(len(commit), 10)], repo)
	address := fmt.Sprintf("repos/%s/%s/commits/%s/statuses", url.PathEscape(repo.Owner), url.PathEscape(repo.Name), url.PathEscape(commit))
	seen := map[int64]bool{}
	err = eachOf(ctx, c, op, false, address, url.Values{}, statusesLimit, func(s restStatus) error {
		if s.Context == gate.Context && !seen[s.ID] {
			seen[s.ID] = true
			said := effects.CommitStatus{State: review.GateState(s.State), Description: s.Description, Target: s.TargetURL}
			out = append(out, SetBefore{said, s.Creator.person(""), s.URL, s.CreatedAt})
		}
		return nil
	})
	return out, err
}

// statusesLimit bounds a list of statuses: GitHub takes a thousand of each name.
const statusesLimit = 100_000

// restStatus is a commit status as REST shows it.
type restStatus struct {
	ID                               int64
	URL, Context, State, Description string
	TargetURL                        string `json:"target_url"`
	Creator                          *restUser
	CreatedAt                        time.Time `json:"created_at"`
}

const labelsQuery = `query Labelled($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    labels(first: 100) { nodes { name createdAt updatedAt } }
    timelineItems(last: 100, before: $before, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) {
      pageInfo { hasPreviousPage startCursor }
      nodes {
        __typename
        ... on LabeledEvent { createdAt actor { ` + actorFields + ` } label { name } }
        ... on UnlabeledEvent { createdAt actor { ` + actorFields + ` } label { name } }
      }
    }
  } }
}`

// labelPages bounds how far back the events of labels are read.
const labelPages = 10

// Labelled gives the events of labels of a pull request, the newest first, and whether these are all; what who did it may do with the repository is for Permission to
// say. An actor that is gone is nobody.
func (c *Client) Labelled(ctx context.Context, pr review.PullRequest, labels []string) (out []gate.Labelling, whole bool, err error) {
	op := fmt.Sprintf("read who labelled %s#%d", pr.Repo, pr.Number)
	var before any
	for range labelPages {
		var a struct {
			Repository struct {
				PullRequest struct {
					Labels struct {
						Nodes []struct {
							Name                 string
							CreatedAt, UpdatedAt time.Time // zero where GitHub does not tell
						}
					}
					TimelineItems struct {
						PageInfo struct {
							HasPreviousPage bool
							StartCursor     string
						}
						Nodes []struct {
							Kind      string `json:"__typename"`
							CreatedAt time.Time
							Actor     *actor
							Label     struct{ Name string }
						}
					}
				}
			}
		}
		vars := map[string]any{"owner": pr.Repo.Owner, "name": pr.Repo.Name, "number": pr.Number, "before": before}
		if err := c.query(ctx, op, true, labelsQuery, vars, &a); err != nil {
			return nil, false, err
		}
		page := a.Repository.PullRequest.TimelineItems
		for _, e := range slices.Backward(page.Nodes) {
			i := slices.IndexFunc(labels, func(l string) bool { return strings.EqualFold(e.Label.Name, l) })
			if i < 0 {
				continue
			}
			told := gate.Labelling{Label: labels[i], Off: e.Kind == "UnlabeledEvent", At: e.CreatedAt}
			for _, l := range a.Repository.PullRequest.Labels.Nodes {
				told.Changed = told.Changed || strings.EqualFold(l.Name, labels[i]) && (l.CreatedAt.After(e.CreatedAt) || l.UpdatedAt.After(e.CreatedAt))
			}
			if e.Actor != nil {
				by := e.Actor.person("")
				told.By, told.Author = by.Login, pr.By(by)
			}
			out = append(out, told)
		}
		if !page.PageInfo.HasPreviousPage {
			return out, true, nil
		}
		if page.PageInfo.StartCursor == "" || page.PageInfo.StartCursor == before {
			break
		}
		before = page.PageInfo.StartCursor
	}
	return out, false, nil
}

const pendingQuery = `query Pending($owner: String!, $name: String!, $number: Int!, $context: String!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    commits(last: 100) { nodes { commit { oid status { context(name: $context) { state creator { ` + actorFields + ` } } } } } }
  } }
}`

// PendingStatuses are the commits of a pull request, the last hundred, whose status gate.Context is pending and was set by the account of the
// credential.
func (c *Client) PendingStatuses(ctx context.Context, pr review.PullRequest) ([]string, error) {
	op := fmt.Sprintf("read the statuses of %s#%d", pr.Repo, pr.Number)
	viewer, err := c.Viewer(ctx, "")
	if err != nil {
		return nil, err
	}
	var a struct {
		Repository struct {
			PullRequest struct {
				Commits struct {
					Nodes []struct {
						Commit struct {
							OID    string
							Status *struct {
								Context *struct {
									State   string
									Creator *actor
								}
							}
						}
					}
				}
			}
		}
	}
	vars := map[string]any{"owner": pr.Repo.Owner, "name": pr.Repo.Name, "number": pr.Number, "context": gate.Context}
	if err := c.query(ctx, op, true, pendingQuery, vars, &a); err != nil {
		return nil, err
	}
	var out []string
	for _, n := range a.Repository.PullRequest.Commits.Nodes {
		s := n.Commit.Status
		if s != nil && s.Context != nil && s.Context.State == "PENDING" && s.Context.Creator != nil && s.Context.Creator.person("").ID == viewer.ID {
			out = append(out, n.Commit.OID)
		}
	}
	return out, nil
}
