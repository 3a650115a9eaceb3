package gateway

import (
	"crypto/sha256"
	"sync"
)

// Bounds of what masks remembers, per generation; there are two.
const (
	maskedTexts = 4096
	maskedBytes = 1 << 20
)

// masks applies Options.Mask. Conversations repeat their beginning with every call, so that what became of a text is
// remembered: for most texts only that they stay as they are.
type masks struct {
	apply func(string) string

	mu         sync.Mutex
	young, old map[[sha256.Size]byte]outcome
	bytes      int
}

// outcome is what became of a text; it has no text when the text stays as it is.
type outcome struct {
	changed bool
	text    string
}

// mask gives a text as a model may see it.
func (m *masks) mask(s string) string {
	if s == "" {
		return s
	}
	key := sha256.Sum256([]byte(s))
	m.mu.Lock()
	o, known := m.young[key]
	if !known {
		o, known = m.old[key]
	}
	m.mu.Unlock()
	if !known {
		if t := m.apply(s); t != s {
			o = outcome{true, t}
		}
	}
	m.remember(key, o)
	if o.changed {
		return o.text
	}
	return s
}

// remember puts an outcome among the young ones; those that nobody asked for during a whole generation are forgotten.
func (m *masks) remember(key [sha256.Size]byte, o outcome) {
	if len(o.text) > maskedBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.young[key]; known {
		return
	}
	if m.young == nil || len(m.young) >= maskedTexts || m.bytes+len(o.text) > maskedBytes {
		m.young, m.old, m.bytes = map[[sha256.Size]byte]outcome{}, m.young, 0
	}
	m.young[key] = o
	m.bytes += len(o.text)
}
