package sanitize

import "testing"

// The password of an address ends at its host, whatever its user is called; one that no address has in this form is a value like any other.
func TestPasswordsOfAddresses(t *testing.T) {
	for in, want := range map[string]string{
		`url: "https://x-access-token:q7Rz2Lm9Xc4Vb8Nt1Wk6pQ@acme.io/x"`: `url: "https://x-access-token:[REDACTED]@acme.io/x"`,
		`url: https://token-service:q7Rz2/Lm9Xc4Vb8Nt1Wk6pQ@acme.io/x`:   `url: https://token-service:[REDACTED]`,
		`postgres://password:q7Rz2/Lm9Xc4Vb8Nt1Wk6pQ@db/x`:               `postgres://password:[REDACTED]`,
		`${P}://db_password:aX-q-A2h9U-z0T1S-u@h`:                        `${P}://db_password:[REDACTED]`,
	} {
		if _, err := MaskChange(t.Context(), nil, nil, nil, nil, []*string{&in}); err != nil || in != want {
			t.Errorf("%q, want %q: %v", in, want, err)
		}
	}
}
