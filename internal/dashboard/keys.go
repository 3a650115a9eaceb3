package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Keys are links that sign the operator in, each once, kept in a folder that nobody else can read: whoever makes one need not be the process that
// serves. The folder holds no key, only what a key is known by.
type Keys struct{ Dir string }

// ErrNotServed: nobody serves a dashboard on this state folder.
var ErrNotServed = errors.New("no dashboard is being served here")

// addressName is the file that says where the dashboard is reached.
const addressName = "address"

// Announce says where the dashboard is reached, until the function is called.
func (k Keys) Announce(at url.URL) (end func(), err error) {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of sign-in links: %w", err)
	}
	path := filepath.Join(k.Dir, addressName)
	if err := os.WriteFile(path, []byte(at.String()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("say where the dashboard is: %w", err)
	}
	return func() { _ = os.Remove(path) }, nil
}

// Link makes a link that signs the operator in once. It is good for a quarter of an hour.
func (k Keys) Link(now time.Time) (string, error) {
	text, err := os.ReadFile(filepath.Join(k.Dir, addressName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotServed
	}
	if err != nil {
		return "", fmt.Errorf("read where the dashboard is: %w", err)
	}
	at, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("read where the dashboard is: %w", err)
	}
	k.forget(now)
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	key := hex.EncodeToString(secret)
	if err := os.WriteFile(k.place(key), []byte(now.Add(linkLife).UTC().Format(time.RFC3339Nano)), 0o600); err != nil {
		return "", fmt.Errorf("make a sign-in link: %w", err)
	}
	return linkWith(*at, key), nil
}

// place is the file by which a key is known.
func (k Keys) place(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(k.Dir, "key-"+hex.EncodeToString(sum[:]))
}

// use reports whether a key is good; it ends with that.
func (k Keys) use(key string, now time.Time) bool {
	if k.Dir == "" {
		return false
	}
	path := k.place(key)
	text, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil { // somebody else has used it
		return false
	}
	until, err := time.Parse(time.RFC3339Nano, string(text))
	return err == nil && !now.After(until)
}

// forget removes keys that nobody used in time.
func (k Keys) forget(now time.Time) {
	old, _ := filepath.Glob(filepath.Join(k.Dir, "key-*"))
	for _, path := range old {
		text, err := os.ReadFile(path)
		if until, e := time.Parse(time.RFC3339Nano, string(text)); err == nil && (e != nil || now.After(until)) {
			_ = os.Remove(path)
		}
	}
}
