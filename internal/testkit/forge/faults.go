package forge

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Mode is one way in which GitHub fails, or lies (security.md 6.3).
type Mode string

// The modes. Those that say "before" do nothing; "after" means the request took effect and the answer was lost.
const (
	Unauthorized       Mode = "401"
	Forbidden          Mode = "403: resource not accessible by integration"
	PrimaryLimit       Mode = "403: rate limit used up, with the time of reset"
	SecondaryLimit     Mode = "403: secondary limit without Retry-After"
	SecondaryLimitWait Mode = "429: secondary limit with Retry-After"
	AbuseLimitWait     Mode = "403: secondary limit with Retry-After"
	AbuseLimit         Mode = "429: secondary limit without Retry-After"
	LastOfLimit        Mode = "the last request of a rate limit, with the time of reset"
	NotFound           Mode = "404"
	Gone               Mode = "410: issues disabled"
	GoneLocked         Mode = "410: locked"
	Conflict           Mode = "409"
	LockedConversation Mode = "403: unable to create comment because issue is locked"
	TooLong            Mode = "422: body is too long"
	PendingReview      Mode = "422: a pending review is in the way"
	BadLine            Mode = "422: line could not be resolved"
	InternalError      Mode = "500 before"
	BadGateway         Mode = "502 before"
	Unavailable        Mode = "503 before"
	BadGatewayAfter    Mode = "502 after"
	ResetBefore        Mode = "connection reset before"
	ResetAfter         Mode = "connection reset after"
	InternalErrorAfter Mode = "500 after"
	UnavailableAfter   Mode = "503 after"
	SilentBefore       Mode = "no answer before"
	SilentAfter        Mode = "no answer after"
	HTMLAfter          Mode = "HTML with status 200 after"
	GraphQLErrorsAfter Mode = "GraphQL errors with status 200 after"
	SlowBody           Mode = "slow body"
	TruncatedJSON      Mode = "truncated JSON"
	HTML               Mode = "HTML with status 200"
	GraphQLErrors      Mode = "GraphQL errors with status 200"
	RedirectElsewhere  Mode = "307 to another host"
	GzipBomb           Mode = "gzip bomb"
	// StaleList hides the newest items of lists; how many is the fault's Count. With After it ends that long after it was arranged.
	StaleList Mode = "stale list"
	// PageDrift inserts a new comment at the front before a page is served, as when an item moves between two requests.
	PageDrift Mode = "page drift"
	// DuplicateItems repeats the last item of the previous page at the start of the next.
	DuplicateItems Mode = "duplicate items"
)

// Fault makes requests go wrong.
type Fault struct {
	// Op says which requests: the name of a GraphQL operation ("CommentCreate"), a top-level GraphQL field
	// ("addComment"), a REST route ("GET /repos/{owner}/{repo}/issues/{issue_number}/comments"), "git-upload-pack",
	// "git-receive-pack", "read" and "write" for whatever does either, or "*" for everything.
	Op   string
	Mode Mode
	// Skip lets this many matching requests pass first; Times is how many then fail, 0 meaning all of them.
	Skip, Times int
	// After is Retry-After or the distance of the reset, for the limits, how long a slow body takes, and how long lists are stale.
	After time.Duration
	// Count is how many items StaleList hides; default 1.
	Count int
	// Do runs before the request is served, without the forge's lock: move the head, close the pull request. With an
	// empty Mode nothing else happens.
	Do func()

	arranged time.Time
}

// Fail arranges a fault; faults are tried in the order they were arranged.
func (f *Forge) Fail(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.arranged = f.opt.Now()
	f.faults = append(f.faults, &x)
}

// Heal removes all faults.
func (f *Forge) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// fault finds the fault for a request that answers to any of the names, and runs its Do.
func (f *Forge) fault(names ...string) Fault {
	f.mu.Lock()
	var hit Fault
	for _, x := range f.faults {
		if !matches(x.Op, names) || x.Times < 0 || x.Mode == StaleList && x.After > 0 && !f.opt.Now().Before(x.arranged.Add(x.After)) {
			continue
		}
		if x.Skip > 0 {
			x.Skip--
			continue
		}
		hit = *x
		if x.Times > 0 {
			if x.Times--; x.Times == 0 {
				x.Times = -1
			}
		}
		break
	}
	f.mu.Unlock()
	if hit.Do != nil {
		hit.Do()
	}
	return hit
}

// refuses reports whether a fault says that the caller lacks the permission for what a request does: GitHub says so beforehand too, where it is asked.
func (f *Forge) refuses(op string) bool {
	return slices.ContainsFunc(f.faults, func(x *Fault) bool { return x.Op == op && x.Mode == Forbidden && x.Times >= 0 })
}

// touching is what a request does, in the words of Fault.Op.
func touching(write bool) string {
	if write {
		return "write"
	}
	return "read"
}

func matches(op string, names []string) bool {
	if op == "*" {
		return true
	}
	for _, n := range names {
		if op == n {
			return true
		}
	}
	return false
}

// before answers in place of the real handler; it reports whether it did.
func (x Fault) before(w http.ResponseWriter, now time.Time) bool {
	h := w.Header()
	if x.Mode != "" {
		h.Set("Date", now.UTC().Format(http.TimeFormat))
	}
	switch x.Mode {
	case Unauthorized:
		restError(w, http.StatusUnauthorized, "Bad credentials")
	case Forbidden:
		restError(w, http.StatusForbidden, "Resource not accessible by integration")
	case PrimaryLimit:
		h.Set("X-RateLimit-Limit", "5000")
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(x.After).Unix(), 10))
		restError(w, http.StatusForbidden, "API rate limit exceeded for user ID 1.")
	case SecondaryLimit:
		restError(w, http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	case AbuseLimit:
		restError(w, http.StatusTooManyRequests, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	case SecondaryLimitWait, AbuseLimitWait:
		status := map[Mode]int{SecondaryLimitWait: http.StatusTooManyRequests, AbuseLimitWait: http.StatusForbidden}[x.Mode]
		h.Set("Retry-After", strconv.Itoa(int(x.After.Round(time.Second)/time.Second)))
		restError(w, status, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	case GoneLocked:
		restError(w, http.StatusGone, "This conversation is locked")
	case SilentBefore:
		silent(w)
	case NotFound:
		restError(w, http.StatusNotFound, "Not Found")
	case Gone:
		restError(w, http.StatusGone, "Issues are disabled for this repo")
	case Conflict:
		restError(w, http.StatusConflict, "Conflict")
	case LockedConversation:
		restError(w, http.StatusForbidden, "Unable to create comment because issue is locked.")
	case TooLong:
		restError(w, http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)")
	case PendingReview:
		unprocessable(w, onePending)
	case BadLine:
		unprocessable(w, noSuchLine)
	case InternalError:
		restError(w, http.StatusInternalServerError, "Server Error")
	case BadGateway:
		html(w, http.StatusBadGateway, "Unicorn!")
	case Unavailable:
		html(w, http.StatusServiceUnavailable, "No server is currently available to service your request.")
	case ResetBefore:
		reset(w)
	case HTML:
		html(w, http.StatusOK, "Please sign in")
	case GraphQLErrors:
		graphqlErrors(w)
	case RedirectElsewhere:
		h.Set("Location", "https://elsewhere.invalid/")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case GzipBomb:
		gzipBomb(w)
	default:
		return false
	}
	return true
}

// leastPause is what GitHub asks for after a secondary limit that names no time.
const leastPause = time.Minute

// named is the time before which the answer of a fault asks for no further request, of everything or of what has the same limit;
// zero when it names none.
func (x Fault) named(now time.Time) (notBefore time.Time, everything bool) {
	switch x.Mode {
	case PrimaryLimit, LastOfLimit:
		return now.Add(x.After).Truncate(time.Second), false
	case SecondaryLimitWait, AbuseLimitWait:
		return now.Add(x.After.Round(time.Second)), true
	case SecondaryLimit, AbuseLimit:
		return now.Add(leastPause), true
	}
	return time.Time{}, false
}
