package github

import (
	"bytes"
	lists "container/list"
	"io"
	"net/http"
	"sync"
)

// etags keeps answers of REST to ask GitHub whether they are still true: one that is costs nothing of the limit and no bytes. It never
// answers without asking. Answers are kept for one process and one credential (decision 58).
type etags struct {
	mu      sync.Mutex
	entries map[string]*lists.Element
	order   *lists.List // the latest use first
	bytes   int
}

// Bounds of what is kept.
const (
	maxKept      = 200
	maxKeptBytes = 8 << 20
	maxKeptBody  = 1 << 20
)

type kept struct {
	key, tag string
	header   http.Header
	body     []byte
}

func newETags() *etags { return &etags{entries: map[string]*lists.Element{}, order: lists.New()} }

// key names an answer by all that shapes it; empty for what is not kept.
func (e *etags) key(r *http.Request) string {
	if r.Method != http.MethodGet || r.Header.Get("If-None-Match") != "" {
		return ""
	}
	return r.URL.String() + "\n" + r.Header.Get("Accept") + "\n" + r.Header.Get("Authorization")
}

// ask makes of a request one that asks whether the answer kept is still true.
func (e *etags) ask(r *http.Request) *http.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.entries[e.key(r)]
	if at == nil {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set("If-None-Match", at.Value.(*kept).tag)
	return r
}

// answer gives the answer kept where GitHub says that it is still true, and keeps a new one. r is the request before ask.
func (e *etags) answer(r *http.Request, resp *http.Response) (*http.Response, error) {
	key := e.key(r)
	if key == "" {
		return resp, nil
	}
	switch tag := resp.Header.Get("ETag"); {
	case resp.StatusCode == http.StatusNotModified:
		if k := e.use(key); k != nil {
			_ = resp.Body.Close()
			header := k.header.Clone()
			for _, name := range []string{"Date", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
				if v := resp.Header.Values(name); len(v) > 0 {
					header[name] = v
				}
			}
			out := *resp
			out.StatusCode, out.Status, out.Header = http.StatusOK, "200 OK", header
			out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(k.body)), int64(len(k.body))
			return &out, nil
		}
	case resp.StatusCode == http.StatusOK && tag != "":
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeptBody+1))
		if err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
		rest := resp.Body
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), rest), rest}
		if len(body) <= maxKeptBody {
			e.keep(&kept{key, tag, resp.Header.Clone(), body})
		}
	default: // it is gone, or not for us any more
		e.drop(key)
	}
	return resp, nil
}

func (e *etags) use(key string) *kept {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.entries[key]
	if at == nil {
		return nil
	}
	e.order.MoveToFront(at)
	return at.Value.(*kept)
}

func (e *etags) keep(k *kept) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(e.entries[k.key])
	e.entries[k.key] = e.order.PushFront(k)
	e.bytes += len(k.body)
	for len(e.entries) > maxKept || e.bytes > maxKeptBytes {
		e.remove(e.order.Back())
	}
}

func (e *etags) drop(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(e.entries[key])
}

func (e *etags) remove(at *lists.Element) {
	if at == nil {
		return
	}
	k := e.order.Remove(at).(*kept)
	delete(e.entries, k.key)
	e.bytes -= len(k.body)
}
