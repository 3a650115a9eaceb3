package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/prloop/prloop/sanitize"
)

// CassetteMode is what a cassette does.
type CassetteMode string

// The modes; empty is no cassette.
const (
	// Record asks the models and keeps what they answer; the file is written by Close.
	Record CassetteMode = "record"
	// Replay answers from the file alone; what it does not hold is a *CassetteMissError. No upstream is needed.
	Replay CassetteMode = "replay"
)

// Cassette keeps conversations so that they can be had again offline. Its file is JSON lines, gzipped when the name ends
// in .gz: a head, {"cassette":"prloop","version":1}, then one entry a line, sorted by agent, key and n. A key is the
// SHA-256 of path and request without limits and labels; n counts equal requests of one agent. Requests and answers are
// redacted, so that an answer that holds a secret or a whole diff is replayed without it.
type Cassette struct {
	Path string
	Mode CassetteMode
	// From is a file of earlier conversations whose answers are used first when others are recorded: only what it does not hold
	// is asked. Errors that models answered are asked again. Empty, or a file that is not there, holds nothing.
	From string
	// Words are what stands in the requests of this run and differs from run to run, such as the word around untrusted
	// text. The file has a mark in the place of each, and a replayed answer has this run's words again. Nil has none.
	Words func() []string
	// Known are credentials that prloop holds. No spelling of one stands in the file.
	Known []string
	// Missed hears of what is asked and stands not in the file that is replayed; nil is for nobody.
	Missed func(error)
}

// CassetteMissError says that a cassette holds no answer to a call.
type CassetteMissError struct {
	Path, Agent, Key string
	// N is how often the agent had asked the same before, plus one.
	N int
}

// Error names file, agent and key.
func (e *CassetteMissError) Error() string {
	return fmt.Sprintf("cassette %s has no answer number %d for %s to request %.12s: record it again", e.Path, e.N, e.Agent, e.Key)
}

const (
	cassetteVersion = 1
	cassetteLimit   = 256 << 20
	cassetteLine    = 64 << 20
)

type cassetteHead struct {
	Cassette string `json:"cassette"`
	Version  int    `json:"version"`
}

// entry is one call. Request is for people; only the key is compared.
type entry struct {
	Agent   string          `json:"agent"`
	Key     string          `json:"key"`
	N       int             `json:"n"`
	Status  int             `json:"status"`
	Stream  bool            `json:"stream,omitempty"`
	Request json.RawMessage `json:"request"`
	Body    string          `json:"body"`
}

// slot is where equal requests of one agent are counted.
type slot struct{ agent, key string }

type recording struct {
	Cassette
	mu      sync.Mutex
	entries []entry
	count   map[slot]int
	// earlier are those of From.
	earlier []entry
}

func openRecording(c Cassette) (*recording, error) {
	t := &recording{Cassette: c, count: map[slot]int{}}
	switch c.Mode {
	case "":
		return t, nil
	case Record, Replay:
	default:
		return nil, fmt.Errorf("cassette mode %q is not one of record, replay", c.Mode)
	}
	if c.Path == "" {
		return nil, errors.New("a cassette needs a path")
	}
	var err error
	if c.Mode == Replay {
		t.entries, err = load(c.Path)
		return t, err
	}
	if c.From != "" {
		if t.earlier, err = load(c.From); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return t, writable(c.Path)
}

// writable finds out before anything is paid for whether a cassette can be kept.
func writable(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".cassette-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("write cassette %s: %w", path, err)
	}
	return nil
}

// load reads the entries of a file.
func load(path string) ([]entry, error) {
	entries, err := readEntries(path)
	if err != nil {
		return nil, fmt.Errorf("read cassette %s: %w", path, err)
	}
	return entries, nil
}

func readEntries(path string) (entries []entry, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(io.LimitReader(in, cassetteLimit))
	lines.Buffer(nil, cassetteLine)
	var head cassetteHead
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Cassette != "prloop" {
		return nil, cmp.Or(lines.Err(), errors.New("it is no cassette"))
	}
	if head.Version != cassetteVersion {
		return nil, fmt.Errorf("its version is %d, and this program reads %d", head.Version, cassetteVersion)
	}
	for n := 2; lines.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}

// key names a request and counts it.
func (t *recording) key(agent string, question []byte) (key string, n int) {
	sum := sha256.Sum256(t.marked(question))
	key = hex.EncodeToString(sum[:])
	t.count[slot{agent, key}]++
	return key, t.count[slot{agent, key}]
}

// play gives the recorded answer as if its endpoint had sent it.
func (t *recording) play(agent string, c *call) (*http.Response, error) {
	question, err := c.question()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	find := func(question []byte) (at int, key string, n int) {
		key, n = t.key(agent, question)
		return slices.IndexFunc(t.entries, func(e entry) bool { return e.Agent == agent && e.Key == key && e.N == n }), key, n
	}
	at, key, n := find(question)
	if plain := unstreamed(question); at < 0 && plain != nil { // it was recorded when agents did not ask for streams
		at, _, _ = find(plain)
	}
	if at < 0 {
		miss := &CassetteMissError{t.Path, agent, key, n}
		if t.Missed != nil {
			t.Missed(miss)
		}
		return nil, miss
	}
	return t.response(t.entries[at]), nil
}

// again gives the answer of an earlier conversation as if its endpoint had sent it now, to be recorded as any other; nil when there is
// none. It counts nothing: add does.
func (t *recording) again(agent string, c *call) *http.Response {
	if len(t.earlier) == 0 {
		return nil
	}
	question, err := c.question()
	if err != nil {
		return nil // not reached: it is JSON
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256(t.marked(question))
	key := hex.EncodeToString(sum[:])
	n := t.count[slot{agent, key}] + 1
	at := slices.IndexFunc(t.earlier, func(e entry) bool {
		return e.Agent == agent && e.Key == key && e.N == n && e.Status == http.StatusOK
	})
	if at < 0 {
		return nil
	}
	return t.response(t.earlier[at])
}

// response is what was recorded, with the words of this run.
func (t *recording) response(e entry) *http.Response {
	kind := "application/json"
	if e.Stream {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: e.Status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(t.unmarked(e.Body))),
	}
}

func (t *recording) words() []string {
	if t.Words == nil {
		return nil
	}
	return t.Words()
}

// mark stands for a word of the run; it needs no escape in JSON.
func mark(n int) string { return fmt.Sprintf("{prloop-word-%d}", n) }

func (t *recording) marked(text []byte) []byte {
	for i, w := range t.words() {
		if w != "" {
			text = bytes.ReplaceAll(text, []byte(w), []byte(mark(i)))
		}
	}
	return text
}

func (t *recording) unmarked(text string) string {
	for i, w := range t.words() {
		text = strings.ReplaceAll(text, mark(i), w)
	}
	return text
}

// add keeps an answer, when conversations are recorded.
func (t *recording) add(agent string, c *call, status int, stream bool, body []byte) {
	if t.Mode != Record {
		return
	}
	body = t.marked(body)
	text := redactWhole(body, t.redact)
	if stream {
		text = redactStream(body, func(s string) string { return t.redact(string(t.marked([]byte(s)))) }) // a word may come in pieces too
	}
	question, err := c.question()
	if err != nil {
		return // not reached: it is JSON
	}
	_, request, _ := bytes.Cut(t.marked(question), []byte("\n"))
	t.mu.Lock()
	defer t.mu.Unlock()
	key, n := t.key(agent, question)
	t.entries = append(t.entries, entry{
		Agent: agent, Key: key, N: n, Status: status, Stream: stream, Request: json.RawMessage(redactWhole(request, t.redact)), Body: text,
	})
}

// redact takes out of a text what the file must not hold.
func (t *recording) redact(text string) string {
	return sanitize.MaskKnown(sanitize.Redact(text), sanitize.Policy{Known: t.Known})
}

// save writes what was recorded: a new file beside the old one, synced, then renamed.
func (t *recording) save() (err error) {
	if t.Mode != Record {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := os.CreateTemp(filepath.Dir(t.Path), ".cassette-*")
	if err != nil {
		return fmt.Errorf("write cassette: %w", err)
	}
	err = errors.Join(t.write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), t.Path)
	}
	if err != nil {
		return fmt.Errorf("write cassette %s: %w", t.Path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func (t *recording) write(f io.Writer) error {
	slices.SortFunc(t.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Key, b.Key), cmp.Compare(a.N, b.N))
	})
	out := f
	var packed *gzip.Writer
	if strings.HasSuffix(t.Path, ".gz") {
		packed = gzip.NewWriter(f) // without name and time: equal conversations are equal files
		out = packed
	}
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err := lines.Encode(cassetteHead{"prloop", cassetteVersion})
	for _, e := range t.entries {
		err = errors.Join(err, lines.Encode(e))
	}
	if packed != nil {
		err = errors.Join(err, packed.Close())
	}
	return err
}

// recorded stands for all endpoints while a cassette is replayed.
var recorded = &upstream{Upstream: Upstream{Name: "cassette"}, base: &url.URL{Host: "cassette"}}
