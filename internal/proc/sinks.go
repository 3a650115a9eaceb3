package proc

import (
	"bytes"
	"io"
)

// unclosed is a writer as a sink.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// lines cuts a stream into lines. It never holds more than one line, and no line longer than max.
type lines struct {
	max  int
	give func([]byte)
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i
		if i < 0 {
			end = len(p)
		}
		if len(l.part)+end > l.max {
			l.give(append(l.part, p[:l.max-len(l.part)]...)) // what is read is not lost, though the child is ended for it
			l.part = nil
			return 0, errLongLine
		}
		if i < 0 {
			if need := len(l.part) + len(p); need > cap(l.part) { // doubled, so that little is left behind of what it was before
				l.part = append(make([]byte, 0, min(2*need, l.max)), l.part...)
			}
			l.part = append(l.part, p...)
			break
		}
		line := p[:i]
		if len(l.part) > 0 {
			line = append(l.part, line...)
		}
		l.give(bytes.TrimSuffix(line, []byte("\r")))
		l.part = l.part[:0]
		p = p[i+1:]
	}
	return n, nil
}

// Close gives the last line when it has no line end.
func (l *lines) Close() error {
	if len(l.part) > 0 {
		l.give(bytes.TrimSuffix(l.part, []byte("\r")))
		l.part = nil
	}
	return nil
}

// tail keeps the last bytes of a stream.
type tail struct {
	limit int
	buf   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.limit {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) Close() error { return nil }

func (t *tail) bytes() []byte { return bytes.Clone(t.buf[max(0, len(t.buf)-t.limit):]) }
