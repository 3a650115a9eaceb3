package agents

// spoolPart is how much text stands in one piece, in bytes.
const spoolPart = 64 << 10

// spool keeps what an agent writes in pieces of one size. A buffer that doubles holds three times a large answer while it
// grows; floods must not cost that (threats.md T84).
type spool struct {
	parts [][]byte
	n     int
}

// Len is how much was written, in bytes.
func (s *spool) Len() int { return s.n }

// Write adds to the end. It never fails.
func (s *spool) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		used := s.n % spoolPart
		if used == 0 {
			s.parts = append(s.parts, nil)
		}
		last := &s.parts[len(s.parts)-1]
		k := min(len(p), spoolPart-used)
		*last = append(*last, p[:k]...)
		s.n += k
		p = p[k:]
	}
	return total, nil
}

// span copies the text between two places.
func (s *spool) span(start, end int) []byte {
	out := make([]byte, 0, end-start)
	for at := start; at < end; {
		part := s.parts[at/spoolPart][at%spoolPart:]
		part = part[:min(len(part), end-at)]
		out = append(out, part...)
		at += len(part)
	}
	return out
}

// head copies the beginning, up to limit bytes.
func (s *spool) head(limit int) []byte { return s.span(0, min(s.n, limit)) }

// take gives all of it and keeps nothing: an answer of 8 MB is not held twice.
func (s *spool) take() []byte {
	out := make([]byte, 0, s.n)
	for i, part := range s.parts {
		out = append(out, part...)
		s.parts[i] = nil
	}
	*s = spool{}
	return out
}
