// Package webhook takes deliveries of GitHub's webhooks. A delivery is believed once its signature is right, over the bytes as they came; until
// then nothing of it is read but its length and its headers. What becomes of it is somebody else's affair, and not waited for longer than
// it takes to write it down.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/semaphore"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Bounds.
const (
	// Longest is how large a delivery may be, in bytes; GitHub sends none that is larger.
	Longest = 25 << 20
	// held is how much of deliveries is held in memory at once, in bytes. What does not fit waits for as long as patience.
	// Those up to common have as much for themselves, so that few that claim to be large keep nobody out.
	held     = 64 << 20
	common   = 1 << 20
	patience = 5 * time.Second
	// step is how much of a body there is room for beside held, on each connection: whoever fills held keeps out none of those that are no
	// larger, as nearly all are (threats.md T678). From then on there is to be room for twice as much as has come, so that a client that says
	// how much it will send, and sends nothing, takes none of it.
	step = 64 << 10
	// ShortestSecret is the least length of a secret, in bytes.
	ShortestSecret = 16
)

// Delivery is one whose signature was right.
type Delivery struct {
	// GUID is its own, Event the name of the event.
	GUID, Event string
	Body        []byte
}

// Options of a handler.
type Options struct {
	// Secrets are those that a delivery may be signed with: more than one while they are exchanged. There must be one.
	Secrets []string
	// Take writes a delivery down. ErrMalformed means that its body is not what GitHub sends; after any other error GitHub counts it as failed.
	Take func(context.Context, Delivery) error
	// Refused hears why a delivery was refused; nil for nobody.
	Refused func(status int, why string)
	Log     hclog.Logger
}

// ErrMalformed: the body of a delivery is not what GitHub sends.
var ErrMalformed = errors.New("the delivery is not what GitHub sends")

// ErrNoSecret: there is no secret, or one that can be guessed.
var ErrNoSecret = errors.New("a webhook needs a secret of 16 characters or more")

type handler struct {
	Options
	// verified says that a front has read the signature.
	verified    bool
	room, large *semaphore.Weighted
}

// New makes the handler of deliveries. It refuses to be without a secret.
func New(o Options) (http.Handler, error) {
	if len(o.Secrets) == 0 {
		return nil, ErrNoSecret
	}
	for _, s := range o.Secrets {
		if len(s) < ShortestSecret {
			return nil, ErrNoSecret
		}
	}
	return newHandler(o), nil
}

// Verified makes the handler of deliveries whose signature a front has verified, on a socket that nobody else can open.
func Verified(o Options) http.Handler {
	h := newHandler(o)
	h.verified = true
	return h
}

func newHandler(o Options) *handler {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &handler{Options: o, room: semaphore.NewWeighted(held), large: semaphore.NewWeighted(held)}
}

var (
	guid  = lazyregexp.New(`^[0-9A-Za-z-]{8,64}$`)
	event = lazyregexp.New(`^[a-z_]{1,64}$`)
)

// ServeHTTP takes one delivery: 202 when it is written down.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why := h.take(r)
	if status == http.StatusAccepted {
		w.WriteHeader(status)
		return
	}
	h.Log.Debug("a delivery was refused", "status", status, "why", why, "from", r.RemoteAddr)
	if h.Refused != nil {
		h.Refused(status, why)
	}
	w.Header().Set("Connection", "close") // what is left of the body is not read
	http.Error(w, why, status)
}

func (h *handler) take(r *http.Request) (status int, why string) {
	one := func(name string) string {
		if all := r.Header.Values(name); len(all) == 1 {
			return all[0]
		}
		return ""
	}
	d := Delivery{GUID: one("X-GitHub-Delivery"), Event: one("X-GitHub-Event")}
	media, _, err := mime.ParseMediaType(one("Content-Type"))
	signature, signed := signatureOf(one("X-Hub-Signature-256"))
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "deliveries are posted"
	case !signed && !h.verified:
		return http.StatusUnauthorized, "the delivery is not signed with SHA-256: set a secret for the webhook"
	case r.ContentLength > Longest:
		return http.StatusRequestEntityTooLarge, "the delivery is larger than 25 MB"
	case r.ContentLength <= 0:
		return http.StatusLengthRequired, "the delivery does not say how long it is"
	case err != nil || media != "application/json":
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	}
	room := h.room
	if r.ContentLength > common {
		room = h.large
	}
	defer func() { room.Release(max(int64(len(d.Body))-step, 0)) }()
	for have := int64(0); have < r.ContentLength; have = int64(len(d.Body)) {
		more := min(max(have, step), r.ContentLength-have)
		if have > 0 {
			if err := await(r.Context(), room, more); err != nil {
				return http.StatusServiceUnavailable, "there are too many deliveries at once"
			}
		}
		d.Body = append(make([]byte, 0, have+more), d.Body...)[:have+more]
		if _, err := io.ReadFull(r.Body, d.Body[have:]); err != nil {
			return http.StatusBadRequest, "the delivery is shorter than it says"
		}
	}
	if !h.verified && !h.signs(signature, d.Body) {
		return http.StatusUnauthorized, "the signature of the delivery is wrong"
	}
	if !guid.MatchString(d.GUID) || !event.MatchString(d.Event) {
		return http.StatusBadRequest, "the delivery has no X-GitHub-Delivery or X-GitHub-Event"
	}
	switch err := h.Take(r.Context(), d); {
	case errors.Is(err, ErrMalformed):
		return http.StatusBadRequest, ErrMalformed.Error()
	case err != nil:
		h.Log.Error("a delivery was not written down", "delivery", d.GUID, "err", err)
		return http.StatusServiceUnavailable, "the delivery could not be written down: send it again"
	}
	return http.StatusAccepted, ""
}

// await waits for room, for as long as patience.
func await(ctx context.Context, room *semaphore.Weighted, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return room.Acquire(ctx, n)
}

// signatureOf reads a signature: "sha256=" and 64 lower-case digits.
func signatureOf(header string) (mac [sha256.Size]byte, ok bool) {
	const prefix = "sha256="
	if len(header) != len(prefix)+2*len(mac) || header[:len(prefix)] != prefix {
		return mac, false
	}
	n, err := hex.Decode(mac[:], []byte(header[len(prefix):]))
	return mac, err == nil && n == len(mac) && header[len(prefix):] == hex.EncodeToString(mac[:])
}

// signs reports whether one of the secrets makes the signature. All are tried, so that the time tells nothing of which.
func (h *handler) signs(signature [sha256.Size]byte, body []byte) bool {
	right := false
	for _, s := range h.Secrets {
		if m := Sign(s, body); hmac.Equal(m[:], signature[:]) {
			right = true
		}
	}
	return right
}

// Sign is the signature of a body under a secret.
func Sign(secret string, body []byte) (mac [sha256.Size]byte) {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return [sha256.Size]byte(h.Sum(nil))
}
