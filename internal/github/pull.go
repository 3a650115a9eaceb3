package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// actor is somebody as GraphQL shows them; null when the account is gone.
type actor struct {
	Typename   string `json:"__typename"`
	Login      string
	DatabaseID int64
}

const actorFields = `__typename login ... on User { databaseId } ... on Bot { databaseId }`

// person is an actor in our words. A deleted account is GitHub's "ghost"; an app's login gets the "[bot]" that REST and
// the web show.
func (a *actor) person(association string) review.Person {
	if a == nil {
		return review.Person{Login: "ghost", Association: association}
	}
	p := review.Person{Login: a.Login, ID: a.DatabaseID, Association: association, Bot: a.Typename == "Bot"}
	if p.Bot && !strings.HasSuffix(p.Login, "[bot]") {
		p.Login += "[bot]"
	}
	return p
}

// NewestComments is how many of the newest comments come with a pull request: enough to see an order among them without asking again
// (decision 58).
const NewestComments = 5

var pullQuery = `query PullRequest($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    databaseId nameWithOwner
    pullRequest(number: $number) {
      id number url title body state isDraft locked
      author { ` + actorFields + ` }
      authorAssociation
      baseRefName baseRefOid headRefName headRefOid
      headRepository { name owner { login } }
      isCrossRepository maintainerCanModify
      changedFiles additions deletions updatedAt
      labels(first: 100) { nodes { name } }
      timelineItems(last: 100, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) {
        pageInfo { hasPreviousPage }
        nodes { ... on LabeledEvent { id label { name } } ... on UnlabeledEvent { id label { name } } }
      }
      writers: latestOpinionatedReviews(first: 100, writersOnly: true) { nodes { ` + decisionFields + ` } }
      latest: latestOpinionatedReviews(last: 100) { nodes { ` + decisionFields + ` } }
      comments(last: ` + strconv.Itoa(NewestComments) + `) { nodes { ` + commentFields + ` } }
    }
  }
}`

const decisionFields = `id fullDatabaseId state author { ` + actorFields + ` } authorAssociation`

// decision is somebody's newest review that approves, requests changes, or was dismissed.
type decision struct {
	ID, FullDatabaseID       string
	State, AuthorAssociation string
	Author                   *actor
}

type pullAnswer struct {
	Repository struct {
		DatabaseID    int64
		NameWithOwner string
		PullRequest   struct {
			ID                                               string
			Number                                           int
			URL, Title, Body, State                          string
			IsDraft, Locked                                  bool
			Author                                           *actor
			AuthorAssociation                                string
			BaseRefName, BaseRefOid, HeadRefName, HeadRefOid string
			HeadRepository                                   *struct {
				Name  string
				Owner struct{ Login string }
			}
			IsCrossRepository, MaintainerCanModify bool
			ChangedFiles, Additions, Deletions     int
			UpdatedAt                              time.Time
			Labels                                 *struct {
				Nodes []struct{ Name string }
			}
			TimelineItems struct {
				PageInfo struct{ HasPreviousPage bool }
				Nodes    []struct {
					ID    string
					Label struct{ Name string }
				}
			}
			Writers, Latest struct{ Nodes []decision }
			Comments        struct{ Nodes []comment }
		}
	}
}

// spelledBy is the repository with its name as GitHub spells it. GitHub takes every case, so a person may type another one, and what is kept
// by a name is found only when everybody has the same (threats.md T337). A name that differs in more is of a repository that moved.
func spelledBy(op string, repo review.Repo, name string) (review.Repo, error) {
	if !strings.EqualFold(name, repo.Owner+"/"+repo.Name) {
		return review.Repo{}, &Error{Op: op, Kind: ErrMoved, Needs: oneLine(name)}
	}
	repo.Owner, repo.Name, _ = strings.Cut(name, "/")
	return repo, nil
}

// PullRequest reads a pull request, with its repository's name as GitHub spells it. Errors: ErrNotFound, ErrMoved (Needs says where to), and those of every read.
func (c *Client) PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	op := fmt.Sprintf("read pull request %s#%d", repo, number)
	var a pullAnswer
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name, "number": number}
	if err := c.query(ctx, op, false, pullQuery, vars, &a); err != nil {
		return review.PullRequest{}, err
	}
	spelled, err := spelledBy(op, repo, a.Repository.NameWithOwner)
	if err != nil {
		return review.PullRequest{}, err
	}
	p := a.Repository.PullRequest
	pr := review.PullRequest{
		Repo: review.Repo{Host: c.host, Owner: spelled.Owner, Name: spelled.Name}, RepoID: a.Repository.DatabaseID, Number: p.Number, URL: p.URL, NodeID: p.ID, Title: p.Title, Body: p.Body,
		Author: p.Author.person(p.AuthorAssociation), State: p.State, Draft: p.IsDraft, Locked: p.Locked,
		BaseRef: p.BaseRefName, BaseSHA: p.BaseRefOid, HeadRef: p.HeadRefName, HeadSHA: p.HeadRefOid,
		CrossRepository: p.IsCrossRepository, MaintainerCanModify: p.MaintainerCanModify, Labels: []string{},
		ChangedFiles: p.ChangedFiles, Additions: p.Additions, Deletions: p.Deletions, UpdatedAt: p.UpdatedAt,
	}
	if h := p.HeadRepository; h != nil {
		pr.HeadRepo = review.Repo{Host: c.host, Owner: h.Owner.Login, Name: h.Name}
	}
	if p.Labels != nil {
		for _, l := range p.Labels.Nodes {
			pr.Labels = append(pr.Labels, l.Name)
		}
	}
	pr.Labelled = map[string]string{}
	for _, e := range p.TimelineItems.Nodes {
		pr.Labelled[strings.ToLower(e.Label.Name)] = e.ID
		if p.TimelineItems.PageInfo.HasPreviousPage {
			pr.Labelled[""] = e.ID
		}
	}
	for _, m := range p.Comments.Nodes {
		pr.Newest = append(pr.Newest, m.shape())
	}
	if pr.Number != number || pr.HeadSHA == "" || pr.BaseSHA == "" {
		return review.PullRequest{}, &Error{Op: op, Kind: ErrBadAnswer, Detail: "the commits are missing"}
	}
	pr.Standing, pr.Refused = standing(p.Writers.Nodes, p.Latest.Nodes)
	return pr, nil
}

// standing gives the Standing of a pull request, and whether it is Refused, by everybody's newest reviews. No verdict rests on those of strangers. writers are those of
// whom GitHub says that they may write, also of members whose membership is private, whom their association does not tell (threats.md T493), and however many strangers
// review (threats.md T528); all are everybody's, as a member who may not write blocks too.
func standing(writers, all []decision) (standing string, refused bool) {
	count := map[string]decision{}
	for _, r := range writers {
		if by := r.Author.person(r.AuthorAssociation); !by.Bot {
			count[r.ID] = r
		}
	}
	for _, r := range all {
		if review.MayBlock(r.AuthorAssociation) {
			count[r.ID] = r
		}
	}
	for _, id := range slices.Sorted(maps.Keys(count)) {
		standing += fmt.Sprintf("%s %s ", cmp.Or(count[id].FullDatabaseID, id), count[id].State)
		refused = refused || count[id].State == "CHANGES_REQUESTED"
	}
	return standing, refused
}

const branchQuery = `query PullRequestsOfBranch($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, states: [OPEN], first: 30, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { number headRepositoryOwner { login } }
    }
  }
}`

// PullRequestOfBranch finds the open pull request of a branch. headOwner is the owner of the repository the branch is
// pushed to; with none, any repository's will do as long as there is one only. Errors: ErrNoPullRequest, ErrAmbiguous.
func (c *Client) PullRequestOfBranch(ctx context.Context, repo review.Repo, headOwner, branch string) (int, error) {
	op := fmt.Sprintf("find the pull request of branch %q in %s", branch, repo)
	var a struct {
		Repository struct {
			PullRequests struct {
				Nodes []struct {
					Number              int
					HeadRepositoryOwner *struct{ Login string }
				}
			}
		}
	}
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name, "branch": branch}
	if err := c.query(ctx, op, false, branchQuery, vars, &a); err != nil {
		return 0, err
	}
	var found []int
	for _, n := range a.Repository.PullRequests.Nodes {
		owner := ""
		if n.HeadRepositoryOwner != nil {
			owner = n.HeadRepositoryOwner.Login
		}
		if headOwner == "" || strings.EqualFold(owner, headOwner) {
			found = append(found, n.Number)
		}
	}
	switch len(found) {
	case 0:
		return 0, &Error{Op: op, Kind: ErrNoPullRequest}
	case 1:
		return found[0], nil
	}
	return 0, &Error{Op: op, Kind: ErrAmbiguous, Detail: fmt.Sprintf("pull requests %s", list(found))}
}

func list(numbers []int) string {
	var s []string
	for _, n := range numbers {
		s = append(s, fmt.Sprintf("#%d", n))
	}
	return strings.Join(s, ", ")
}

const repositoryQuery = `query RepositoryID($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { databaseId nameWithOwner }
}`

// RepositoryID is GitHub's number of a repository, which stays when it is renamed or moved, and its name of today. Errors: ErrNotFound,
// and those of every read.
func (c *Client) RepositoryID(ctx context.Context, repo review.Repo) (id int64, name string, err error) {
	op := "find " + repo.String()
	var a struct {
		Repository struct {
			DatabaseID    int64
			NameWithOwner string
		}
	}
	if err := c.query(ctx, op, false, repositoryQuery, map[string]any{"owner": repo.Owner, "name": repo.Name}, &a); err != nil {
		return 0, "", err
	}
	if a.Repository.DatabaseID <= 0 {
		return 0, "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "it has no id"}
	}
	return a.Repository.DatabaseID, oneLine(a.Repository.NameWithOwner), nil
}
