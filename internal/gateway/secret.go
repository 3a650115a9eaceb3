package gateway

import (
	"bytes"
	"fmt"
	"io"
)

// Secret is a text that never prints: every way of formatting it gives *** (threats.md T72). Only the transport reads it.
type Secret struct{ s string }

// NewSecret wraps a key.
func NewSecret(s string) Secret { return Secret{s} }

const hidden = "***"

// Empty reports whether there is no key.
func (s Secret) Empty() bool { return s.s == "" }

// String gives ***.
func (s Secret) String() string { return hidden }

// GoString gives ***.
func (s Secret) GoString() string { return hidden }

// Format writes *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalJSON gives "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText gives ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// scrub takes the secret out of what an upstream sends back, should it echo it.
func (s Secret) scrub(b []byte) []byte {
	if len(s.s) < 8 || !bytes.Contains(b, []byte(s.s)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(s.s), []byte(hidden))
}
