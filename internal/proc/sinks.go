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

// Tail keeps the last lines of a stream, Limit bytes at most.
type Tail struct {
	Limit int
	buf   []byte
	// cut is true once something was dropped.
	cut bool
}

func (t *Tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.Limit {
		t.buf, t.cut = append(t.buf[:0], t.buf[len(t.buf)-t.Limit:]...), true
	}
	return len(p), nil
}

// Close does nothing.
func (t *Tail) Close() error { return nil }

// Cut reports whether Bytes are less than what was written.
func (t *Tail) Cut() bool { return t.cut || len(t.buf) > t.Limit }

// Bytes are the last lines that fit, or the last words of a longer one.
func (t *Tail) Bytes() []byte {
	if !t.Cut() {
		return bytes.Clone(t.buf)
	}
	return ending(t.buf[max(0, len(t.buf)-t.Limit):])
}

// Ending is the end of a text as Tail keeps it.
func Ending(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return string(ending([]byte(text[len(text)-max(0, limit):])))
}

// ending is what is left of a text that was cut anywhere: what is left of a word that is cut may be a secret that nobody knows any more (threats.md T794).
func ending(kept []byte) []byte {
	for _, ends := range []string{"\r\n", " \t\r\n"} {
		if i := bytes.IndexAny(kept, ends); i >= 0 && i < len(kept)-1 {
			return bytes.Clone(kept[i+1:])
		}
	}
	return nil
}
