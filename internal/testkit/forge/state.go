package forge

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// User is somebody on the forge.
type User struct {
	Login string
	// ID is numeric and never reused; 0 asks for a new one.
	ID   int64
	Name string
	// Bot makes it an app's account; GraphQL then knows the login without "[bot]", REST with it.
	Bot bool
}

// Token is what a credential may do.
type Token struct {
	Login string
	// ReadOnly refuses every write, as an integration without the permission would be refused.
	ReadOnly bool
	// Repo is owner/name of the only repository it reaches, as with the token of an Actions job; empty means all. Such a
	// token may write nowhere else, "allow edits by maintainers" or not.
	Repo string
	// Of an App's token: the permissions it has and the repositories it is for, OWNER/NAME; nil is all. Expires is its end; zero is never.
	Permissions map[string]string
	Repos       []string
	Expires     time.Time
}

// Permission of a user on a repository, as GitHub's permission API names it.
type Permission string

// The permissions, from none to all.
const (
	None     Permission = "none"
	Read     Permission = "read"
	Triage   Permission = "triage"
	Write    Permission = "write"
	Maintain Permission = "maintain"
	Admin    Permission = "admin"
)

func (p Permission) rank() int {
	switch p {
	case Read:
		return 1
	case Triage:
		return 2
	case Write:
		return 3
	case Maintain:
		return 4
	case Admin:
		return 5
	}
	return 0
}

// Repo is a repository with a bare git repository behind it.
type Repo struct {
	Owner, Name string
	ID          int64
	// Private hides the repository from everybody without a permission.
	Private bool
	// Bare is the folder of the bare git repository.
	Bare string

	f          *Forge
	parent     *Repo
	roles      map[string]Permission
	concealed  map[string]bool // whose membership is private
	prs        map[int]*PullRequest
	lastNumber int
	release    *Release
	created    time.Time
	statuses   []Status
	refused    map[string]PushRefusal // by branch
	archived   bool
	// noActionsPulls is what ForbidActionsPulls sets.
	noActionsPulls bool
}

// FullName is owner/name.
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// PullRequest is one pull request; its fields are read and changed under the forge's lock, through its methods.
type PullRequest struct {
	Number int

	f         *Forge
	repo      *Repo
	head      *Repo // nil when the fork is gone
	id        int64
	title     string
	body      string
	author    string
	state     string
	draft     bool
	locked    bool
	canModify bool
	baseRef   string
	headRef   string
	labels    []string
	labelled  []Labelling
	renamed   map[string]time.Time // when labels got their names
	comments  []*Comment
	reviews   []*Review
	threads   []*Thread
	requested []string // who was asked to review
	created   time.Time
	updated   time.Time
	sizes     map[string]diffSize

	mergedBy, mergeCommit string // set by Merge

	lag, lagLeft int  // see LagHead
	behind       bool // the head shown is not the branch's
}

// Comment is one comment on the timeline or in a thread, with exactly the bytes that were posted.
type Comment struct {
	ID      int64
	Author  string
	Body    string
	Created time.Time
	Updated time.Time
	// Editor is who edited it last, where that was not its author.
	Editor string
	// Published is when its review was submitted, where that was after it was drafted.
	Published time.Time
	Minimized bool
	// Mailed is true of an answer to a mail.
	Mailed bool
	// Reason is why it was minimised, as the API's classifier.
	Reason string
	// Association overrides the one computed from the author's permission.
	Association string
	// Reactions are those of people to it, oldest first.
	Reactions []Reaction
	pr        *PullRequest
	thread    *Thread
	review    int64 // that it was submitted with
}

// Reaction is somebody's to a comment, in the API's words: eyes, +1.
type Reaction struct {
	ID             int64
	Login, Content string
}

// Review is one submitted review.
type Review struct {
	ID     int64
	Author string
	// State is APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING.
	State       string
	Body        string
	Commit      string
	Submitted   time.Time
	Association string
	// Edited is when Editor changed its text last; zero when nobody has.
	Edited time.Time
	Editor string
	pr     *PullRequest
}

// Thread is one inline conversation.
type Thread struct {
	ID       int64
	Path     string
	Line     int // 0 means none
	Resolved bool
	Outdated bool
	Comments []*Comment
	// StartLine is the first line of several; 0 for one.
	StartLine int
	// Commit is the head that a thread made through the API was put on: its line moves with what is pushed after it.
	Commit string
	// ResolvedBy is who resolved it through the API.
	ResolvedBy string
	pr         *PullRequest
}

// Status is a commit status somebody set.
type Status struct {
	SHA, Context, State, Description, TargetURL, Creator string
	ID                                                   int64
	Created                                              time.Time
}

// Labelling is the event of a label that was set, or taken off.
type Labelling struct {
	ID    int64
	Label string
	Off   bool
	// By is who did it; empty for an account that is gone.
	By string
	At time.Time
}

// Release is the newest release of a repository.
type Release struct {
	Tag    string
	Assets []Asset
	id     int64
}

// Asset is one file of a release.
type Asset struct {
	Name    string
	Content []byte
	id      int64
}

// AddUser adds or replaces a user.
func (f *Forge) AddUser(u User) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addUser(u)
}

func (f *Forge) addUser(u User) *User {
	if u.ID == 0 {
		u.ID = f.newID()
	}
	f.users[strings.ToLower(u.Login)] = &u
	return &u
}

// user finds a user, or makes one: nobody should have to declare every author of a comment.
func (f *Forge) user(login string) *User {
	if u := f.users[strings.ToLower(login)]; u != nil {
		return u
	}
	return f.addUser(User{Login: login, Bot: strings.HasSuffix(login, "[bot]")})
}

// AddToken makes a token valid; RevokeToken ends it.
func (f *Forge) AddToken(token string, t Token) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.user(t.Login)
	f.tokens[token] = t
}

// RevokeToken makes a token invalid from now on.
func (f *Forge) RevokeToken(token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tokens, token)
}

// AddRepo makes an empty repository whose owner has all permissions, or returns the one there is.
func (f *Forge) AddRepo(owner, name string) (*Repo, error) {
	f.mu.Lock()
	if r := f.repos[strings.ToLower(owner+"/"+name)]; r != nil {
		f.mu.Unlock()
		return r, nil
	}
	r := &Repo{
		Owner: owner, Name: name, ID: f.newID(), Bare: filepath.Join(f.dir, "git", owner, name+".git"), f: f,
		roles: map[string]Permission{}, concealed: map[string]bool{}, prs: map[int]*PullRequest{}, created: f.now(),
	}
	f.user(owner)
	r.roles[strings.ToLower(owner)] = Admin
	f.repos[strings.ToLower(r.FullName())] = r
	f.mu.Unlock()
	return r, f.initBare(r.Bare)
}

// SetPermission gives a user a permission on the repository, or takes it away (None).
func (r *Repo) SetPermission(login string, p Permission) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.f.user(login)
	r.roles[strings.ToLower(login)] = p
}

// Conceal makes the membership of somebody private: GitHub says that they contributed, whatever they may do.
func (r *Repo) Conceal(login string) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.concealed[strings.ToLower(login)] = true
}

// SetPrivate hides the repository from outsiders, or shows it.
func (r *Repo) SetPrivate(private bool) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.Private = private
}

// Rename gives the repository another owner and name; the old name leads to it, as on GitHub.
func (r *Repo) Rename(owner, name string) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.f.user(owner)
	r.Owner, r.Name = owner, name
	r.f.repos[strings.ToLower(r.FullName())] = r
}

// SetRelease sets the newest release.
func (r *Repo) SetRelease(rel Release) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	rel.id = r.f.newID()
	for i := range rel.Assets {
		rel.Assets[i].id = r.f.newID()
	}
	r.release = &rel
}

// Statuses are the commit statuses set so far, oldest first.
func (r *Repo) Statuses() []Status {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	return append([]Status(nil), r.statuses...)
}

// AddStatus sets a commit status, as its Creator does.
func (r *Repo) AddStatus(s Status) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if !r.addStatus(s) {
		panic("GitHub takes no more statuses of " + s.Context)
	}
}

// permission is what login may do; everybody may read what is public.
func (r *Repo) permission(login string) Permission {
	if p, ok := r.roles[strings.ToLower(login)]; ok {
		return p
	}
	if r.Private {
		return None
	}
	return Read
}

// association is GitHub's author association of login to the repository.
func (r *Repo) association(login string) string {
	switch {
	case strings.EqualFold(login, r.Owner):
		return "OWNER"
	case r.concealed[strings.ToLower(login)]:
		return "CONTRIBUTOR"
	case r.roles[strings.ToLower(login)].rank() > 0:
		return "COLLABORATOR"
	}
	return "NONE"
}

// nodeID is GraphQL's id of a thing: opaque to clients, readable to us.
func nodeID(prefix string, id int64) string {
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d", id))
}
