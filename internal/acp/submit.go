package acp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prloop/prloop/internal/answer"
)

// resultServer is the parent's end of submit_result: a unix socket in the agent's private folder. Whoever knows the question's
// token may submit; the newest valid document counts.
type resultServer struct {
	listener net.Listener
	socket   string
	// address is how the socket is spoken of, released when nobody does any more.
	address address
	token   string
	// check returns why a document is refused, in words for the model.
	check func([]byte) error
	// told is true once a document was refused for claiming more than it lists.
	told atomic.Bool

	mu      sync.Mutex
	valid   []byte
	refused []byte
	why     error
	// earlier are the documents before those two, as far as there is room: what was said in them is not taken back by silence.
	earlier [][]byte
	room    int
	calls   int
	got     chan struct{} // closed at the first valid document
	serving sync.WaitGroup
	slots   chan struct{}
	// reading is held while a document is read: one at a time, as each may have megabytes.
	reading sync.Mutex
}

// submission is the one line a caller writes; the reply is one line too.
type submission struct {
	Token    string          `json:"token"`
	Document json.RawMessage `json:"document"`
}

type verdict struct {
	// Refused is why; empty when the document was taken.
	Refused string `json:"refused,omitempty"`
}

const (
	maxSubmission = 8 << 20 // bytes
	maxSubmits    = 100     // documents of one question
	maxEarlier    = 8 << 20 // bytes of those that a newer one follows
	submitWithin  = 10 * time.Second
)

func openDesk(ctx context.Context, dir string, check func([]byte) error) (*resultServer, error) {
	d := &resultServer{token: rand.Text(), check: check, room: maxEarlier, got: make(chan struct{}), slots: make(chan struct{}, 4)}
	d.socket = filepath.Join(dir, "submit.sock")
	var err error
	if d.address, err = addressOf(d.socket); err != nil {
		return nil, fmt.Errorf("make the socket for results: %w", err)
	}
	d.listener, err = (&net.ListenConfig{}).Listen(ctx, "unix", d.address.name)
	if err != nil {
		d.close()
		return nil, fmt.Errorf("make the socket for results: %w", err)
	}
	// The agent may run as another user; what keeps others out is the folder, and the token.
	if err := os.Chmod(d.socket, 0o666); err != nil {
		d.close()
		return nil, fmt.Errorf("make the socket for results: %w", err)
	}
	d.serving.Go(d.serve)
	return d, nil
}

func (d *resultServer) path() string { return d.socket }

func (d *resultServer) close() {
	if d.listener != nil {
		d.listener.Close()
		d.serving.Wait()
	}
	d.address.release()
}

func (d *resultServer) serve() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		select {
		case d.slots <- struct{}{}:
			d.serving.Go(func() {
				defer func() { <-d.slots }()
				d.receive(c)
			})
		default: // five at once is no agent that waits for its tool's answer
			c.Close()
		}
	}
}

func (d *resultServer) receive(c net.Conn) {
	defer c.Close()
	d.reading.Lock()
	defer d.reading.Unlock()
	if c.SetDeadline(time.Now().Add(submitWithin)) != nil {
		return
	}
	var s submission
	if json.NewDecoder(io.LimitReader(c, maxSubmission)).Decode(&s) != nil || s.Token != d.token {
		return
	}
	var v verdict
	if err := d.take(s.Document); err != nil {
		v.Refused = err.Error()
	}
	_ = json.NewEncoder(c).Encode(v) // who does not wait for the answer does not get it
}

// again lets an answer through that claims more than it lists, when the agent was told so of one before.
func (d *resultServer) again(err error) error {
	if claim := (*answer.ClaimError)(nil); errors.As(err, &claim) && d.told.Swap(true) {
		return nil
	}
	return err
}

func (d *resultServer) take(document []byte) error {
	d.mu.Lock()
	d.calls++
	tooMany := d.calls > maxSubmits
	d.mu.Unlock()
	if tooMany {
		return errors.New("too many results were submitted")
	}
	err := d.again(d.check(document))
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.keep(d.refused)
		d.refused, d.why = document, err
		return err
	}
	if d.valid == nil {
		close(d.got)
	}
	d.keep(d.valid)
	d.valid = document
	return nil
}

// keep remembers a document that a newer one follows. d.mu is held.
func (d *resultServer) keep(document []byte) {
	if n := len(document); n > 0 && n <= d.room {
		d.room -= n
		d.earlier = append(d.earlier, document)
	}
}

// followed are the documents that a newer one followed.
func (d *resultServer) followed() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.earlier)
}

// standing is what has been submitted so far.
func (d *resultServer) standing() (valid, refused []byte, calls int, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.valid, d.refused, d.calls, d.why
}
