package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// postTimeout bounds one gh pr comment. GitHub itself ends a request after 10 s; gh makes two.
const postTimeout = 60 * time.Second

// Where a kill may fall (threats.md K13, K14).
var (
	beforeComment = failpoint.New("github: before comment")
	afterComment  = failpoint.New("github: after comment")
)

// Post adds one comment through gh and returns its URL. It is tried once: after an error whose Refused is false the
// comment may exist, and only reading can tell (threats.md "Outbox"). Errors: ErrNoGH, ErrNotLoggedIn, ErrForbidden, ErrLocked,
// ErrNotFound, ErrTooLong, ErrRateLimited, ErrUnavailable, ErrBadAnswer.
func (c *Client) Post(ctx context.Context, pr review.PullRequest, body sanitize.Text) (string, error) {
	op := fmt.Sprintf("comment on %s#%d", pr.Repo, pr.Number)
	refused := func(kind, cause error) error {
		return &Error{Op: op, Kind: kind, Cause: cause, Detail: describe(cause), write: true}
	}
	switch {
	case c.gh == "":
		return "", refused(ErrNoGH, nil)
	case body.String() == "":
		return "", refused(ErrForbidden, errors.New("the body is empty: it did not come through the sanitizer"))
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitToCreate(ctx, op); err != nil {
		return "", err
	}
	token, err := c.credential(ctx, op, pr.Repo, commenting)
	if err != nil {
		return "", c.unsent(err)
	}
	dir, file, err := privateFile(c.temp, body.String())
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return "", refused(ErrUnavailable, err)
	}
	d, err := c.openDoor(ctx, dir, pr, token)
	if err != nil {
		return "", refused(ErrUnavailable, err)
	}
	defer d.close()
	if err := beforeComment.Hit(); err != nil {
		return "", refused(ErrUnavailable, err)
	}
	if err := effects.Sure(ctx); err != nil {
		return "", refused(ErrUnavailable, err)
	}
	c.tally.read(1) // gh asks for the pull request first
	c.tally.write()
	res, err := c.run(ctx, proc.Spec{
		Path: c.gh, Dir: dir, Env: c.ghEnv(dir), Timeout: postTimeout, MaxStdout: 1 << 20, MaxStderr: 1 << 20, Direct: true,
		Args: []string{"pr", "comment", strconv.Itoa(pr.Number), "--body-file", file, "-R", c.host + "/" + pr.Repo.Owner + "/" + pr.Repo.Name},
	})
	c.lastWrite = time.Now()
	if stop := afterComment.Hit(); stop != nil { // as if the answer had been lost: the comment may be there
		return "", &Error{Op: op, Kind: ErrUnavailable, Cause: stop, Detail: describe(stop), write: true, sent: true}
	}
	if err != nil {
		return "", c.explain(ctx, op, res, err, d)
	}
	address := strings.TrimSpace(string(res.Stdout))
	if !c.isComment(address, pr) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "gh printed no address of a comment: " + oneLine(address), write: true, sent: true}
	}
	return address, nil
}

func describe(err error) string {
	if err == nil {
		return ""
	}
	return oneLine(err.Error())
}

// privateFile writes the body where nobody else can read or replace it: a new folder of ours alone. The
// folder is returned whenever it was made, to be removed.
func privateFile(temp, body string) (dir, file string, err error) {
	if dir, err = os.MkdirTemp(temp, "prloop-comment-"); err != nil { // 0700
		return "", "", fmt.Errorf("make a private folder for the comment: %w", err)
	}
	file = filepath.Join(dir, "body.md")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return dir, "", fmt.Errorf("write the comment's file: %w", err)
	}
	_, err = f.WriteString(body)
	if err = errors.Join(err, f.Close()); err != nil {
		return dir, "", fmt.Errorf("write the comment's file: %w", err)
	}
	return dir, file, nil
}

// noCredential stands where gh wants a credential: it asks nobody without one, and the door adds ours.
const noCredential = "added-by-prloop"

// ghEnv is gh's whole environment. Nothing of the user's configuration is in it, and no credential.
func (c *Client) ghEnv(dir string) []string {
	env := append(c.env.pick("PATH", "LANG", "TMPDIR", "SystemRoot", "TEMP", "TMP"), quiet...)
	for _, name := range []string{"HOME", "GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		env = append(env, name+"="+dir)
	}
	return append(env, tokenNames(c.host)[0]+"="+noCredential, "GH_HOST="+c.host)
}

// unsent is the error of a write that was not begun, for want of a token.
func (c *Client) unsent(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.write, e.sent = true, false
	}
	return err
}

var commentAnchor = lazyregexp.New(`^issuecomment-\d+$`)

// isComment checks that an address is that of a comment on this pull request.
func (c *Client) isComment(address string, pr review.PullRequest) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || !strings.EqualFold(u.Host, c.host) || !commentAnchor.MatchString(u.Fragment) {
		return false
	}
	want := fmt.Sprintf("/%s/%s/pull/%d", pr.Repo.Owner, pr.Repo.Name, pr.Number)
	return strings.EqualFold(u.Path, want) || strings.EqualFold(u.Path, strings.Replace(want, "/pull/", "/issues/", 1))
}

// exitNoLogin is gh's exit status when it has no credential.
const exitNoLogin = 4

// gh words an HTTP status in two ways, depending on which of its clients made the request.
var ghStatus = lazyregexp.New(`HTTP (\d{3})|non-200 OK status code: (\d{3})`)

// ghBody is how gh prints an answer of GitHub's that is no answer to a query: the status, then the body as a Go string.
var ghBody = lazyregexp.New(`^non-200 OK status code: (\d{3}[^"]*?) body: (.*)`)

// spoken is what gh or GitHub said, one line: of a quoted body its message, or the status where it has none.
func spoken(said string) string {
	m := ghBody.FindStringSubmatch(strings.TrimSpace(said))
	if m == nil {
		return oneLine(said)
	}
	var body struct{ Message string }
	text, err := strconv.Unquote(m[2])
	if err != nil || json.Unmarshal([]byte(text), &body) != nil || body.Message == "" {
		return oneLine("HTTP " + m[1])
	}
	return oneLine(body.Message)
}

// explain says what a failed gh pr comment means, and whether the comment may exist all the same.
func (c *Client) explain(ctx context.Context, op string, res proc.Result, err error, d *door) error {
	wrote, failed := d.told()
	var own *Error
	if errors.As(failed, &own) && own.unsent { // it did not pass the door
		own.Op = op
		return own.wrote(false)
	}
	e := c.said(ctx, op, res, err)
	e.sent = e.sent && wrote // what gh did not send is certainly not there
	return e
}

// said is what gh's end means by itself.
func (c *Client) said(ctx context.Context, op string, res proc.Result, err error) *Error {
	said := string(res.StderrTail)
	e := &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: spoken(said), write: true, sent: true}
	var exit *proc.ExitError
	switch {
	case errors.Is(err, proc.ErrNotFound):
		e.Kind, e.sent = ErrNoGH, false
		return e
	case !errors.As(err, &exit):
		e.sent = false // it never started
		e.Detail = oneLine(err.Error())
		return e
	case exit.Reason != proc.ReasonNone:
		e.Detail = oneLine(err.Error())
		return e
	case res.ExitCode == exitNoLogin:
		e.Kind, e.sent = ErrNotLoggedIn, false
		return e
	}
	if m := ghStatus.FindStringSubmatch(said); m != nil {
		e.status, _ = strconv.Atoi(m[1] + m[2])
		e.byStatus(e.status, said, nil)
		e.sent = e.status >= 500 || e.status < 400
	} else {
		e.byWords(said)
	}
	if errors.Is(e, ErrRateLimited) {
		if e.Until = c.limits.until(core, graphql); e.Until.IsZero() { // of what passes the door the transport knows
			e.Until = c.resetTime(ctx, said)
			c.limits.hold("", e.Until)
		}
	}
	return e
}

// refusals are what GitHub says, in GraphQL's errors that gh prints, when it did nothing.
var refusals = []struct {
	words string
	kind  error
	needs string
}{
	{"not accessible by", ErrForbidden, "pull-requests: write"},
	{"must have", ErrForbidden, ""},
	{"correct permissions", ErrForbidden, ""},
	{"protected by organization saml", ErrForbidden, "SSO authorization of the token"},
	{"locked", ErrLocked, ""},
	{"too long", ErrTooLong, ""},
	{"rate limit", ErrRateLimited, ""},
	{"submitted too quickly", ErrRateLimited, ""},
	{"could not resolve to", ErrNotFound, ""},
	{"cannot be blank", ErrBadAnswer, ""},
	{"archived", ErrForbidden, ""},
}

// byWords reads a GraphQL error by its words: gh prints nothing else of it. Words unknown here leave the write uncertain.
func (e *Error) byWords(said string) {
	lower := strings.ToLower(said)
	if !strings.Contains(lower, "graphql:") {
		return
	}
	for _, r := range refusals {
		if strings.Contains(lower, r.words) {
			e.Kind, e.Needs, e.sent = r.kind, r.needs, false
			return
		}
	}
}

// resetTime asks GitHub when the limit ends; asking is free. A secondary limit has no time: a minute at least.
func (c *Client) resetTime(ctx context.Context, said string) time.Time {
	later := time.Now().Add(secondaryWait)
	if strings.Contains(strings.ToLower(said), "secondary") {
		return later
	}
	var a struct {
		Resources struct {
			GraphQL struct {
				Remaining int
				Reset     int64
			}
		}
	}
	if _, err := c.get(ctx, "read the rate limit", false, "rate_limit", &a); err != nil || a.Resources.GraphQL.Remaining > 0 {
		return later
	}
	return time.Unix(a.Resources.GraphQL.Reset, 0)
}
