// Package appfile is the file that names a GitHub App: where it is registered, its number, and where its private key is. The key itself stands in a
// file that only its owner can read, in an environment variable, or in what a command prints.
package appfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Env names the files of the Apps to use, separated as in PATH: one for each host.
const Env = "PRLOOP_APP"

// An App is what the file says. One of the three places of the key is given.
type App struct {
	// Host is where it is registered: github.com, or an Enterprise Server.
	Host string `json:"host"`
	ID   int64  `json:"id"`
	// Slug is its name in addresses; for people alone.
	Slug string `json:"slug,omitempty"`
	// KeyFile is relative to the folder of this file.
	KeyFile    string   `json:"key_file,omitempty"`
	KeyEnv     string   `json:"key_env,omitempty"`
	KeyCommand []string `json:"key_command,omitempty"`
	// WebhookSecretFile is relative to the folder of this file.
	WebhookSecretFile string `json:"webhook_secret_file,omitempty"`

	dir string
}

// Error is a file that cannot be used.
type Error struct {
	// Path is the file's, Why what is wrong, Next what to do.
	Path, Why, Next string
	// Cause is what lies beneath, if anything.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Why, e.Cause)
	}
	return e.Path + ": " + e.Why
}

func (e *Error) Unwrap() error { return e.Cause }

// largest is how many bytes of a file, or of what a command prints, are read.
const largest = 64 << 10

// Find reads the files that a list names, and gives the App of a host; nil when none is of it.
func Find(list, host string) (*App, error) {
	for _, path := range filepath.SplitList(list) {
		a, err := Read(path)
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(a.Host, host) {
			return a, nil
		}
	}
	return nil, nil
}

// Read reads the file of an App. Others may read it, since it holds no secret, and must not be able to change it: it names a key, and a command.
func Read(path string) (*App, error) {
	data, err := read(path, 0o022, "others can change it", "chmod go-w "+path)
	if err != nil {
		return nil, err
	}
	a := &App{dir: filepath.Dir(path)}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(a); err != nil {
		return nil, &Error{Path: path, Why: "it is not the file of an App", Next: "prloop app create writes one; docs/daemon.md shows it", Cause: err}
	}
	sources := 0
	for _, given := range []bool{a.KeyFile != "", a.KeyEnv != "", len(a.KeyCommand) > 0} {
		if given {
			sources++
		}
	}
	switch {
	case a.Host == "" || strings.ContainsAny(a.Host, ":/@ "):
		return nil, &Error{Path: path, Why: "host names no host", Next: `give the name alone: "host": "github.com"`}
	case a.ID <= 0:
		return nil, &Error{Path: path, Why: "id is not the number of an App", Next: "the App ID stands in the settings of the App at GitHub"}
	case sources != 1:
		return nil, &Error{Path: path, Why: fmt.Sprintf("the key stands in %d places", sources), Next: "give one of key_file, key_env and key_command"}
	}
	return a, nil
}

// Key gives the private key. getenv looks a variable up, run runs a command and gives what it prints.
func (a *App) Key(ctx context.Context, getenv func(string) string, run func(context.Context, []string) ([]byte, error)) ([]byte, error) {
	switch {
	case a.KeyFile != "":
		return Private(a.place(a.KeyFile))
	case a.KeyEnv != "":
		key := getenv(a.KeyEnv)
		if key == "" {
			return nil, &Error{Path: "the variable " + a.KeyEnv, Why: "it holds no key of a GitHub App", Next: "set it to the App's private key (PEM)"}
		}
		// Variables of containers often have their line ends written out.
		return []byte(strings.ReplaceAll(key, `\n`, "\n")), nil
	}
	key, err := run(ctx, a.KeyCommand)
	if err != nil {
		return nil, &Error{Path: "the command " + a.KeyCommand[0], Why: "it gave no key of a GitHub App", Next: "run it by hand", Cause: err}
	}
	return key, nil
}

// WebhookSecret gives the secret of the App's webhook; empty when the file names none.
func (a *App) WebhookSecret() (string, error) {
	if a.WebhookSecretFile == "" {
		return "", nil
	}
	data, err := Private(a.place(a.WebhookSecretFile))
	return strings.TrimSpace(string(data)), err
}

func (a *App) place(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// Private reads a file that only its owner can read.
func Private(path string) ([]byte, error) {
	return read(path, 0o077, "others can read it", "chmod 600 "+path)
}

func read(path string, forbidden os.FileMode, why, next string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, &Error{Path: path, Why: "it cannot be read", Next: "check the path and who may read the file", Cause: err}
	}
	defer f.Close()
	info, err := f.Stat() // of what is open, which nobody can exchange any more
	switch {
	case err != nil:
		return nil, &Error{Path: path, Why: "it cannot be read", Next: "check who may read the file", Cause: err}
	case !info.Mode().IsRegular():
		return nil, &Error{Path: path, Why: "it is no file", Next: "name a file"}
	case info.Mode().Perm()&forbidden != 0:
		return nil, &Error{Path: path, Why: why, Next: next}
	}
	data, err := io.ReadAll(io.LimitReader(f, largest+1))
	switch {
	case err != nil:
		return nil, &Error{Path: path, Why: "it cannot be read", Next: "check the file", Cause: err}
	case len(data) > largest:
		return nil, &Error{Path: path, Why: "it is larger than 64 KB", Next: "name the right file"}
	}
	return data, nil
}

// The names that Write gives.
const (
	Name       = "app.json"
	keyName    = "key.pem"
	secretName = "webhook.secret"
)

// Write writes an App, its key and the secret of its webhook into a folder, each for its owner alone, and gives the path of the App's file. It
// replaces nothing.
func Write(dir string, a App, key, secret string) (string, error) {
	a.KeyFile, a.WebhookSecretFile = keyName, ""
	files := []struct{ name, text string }{{keyName, key}}
	if secret != "" {
		a.WebhookSecretFile = secretName
		files = append(files, struct{ name, text string }{secretName, secret + "\n"})
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the App: %w", err)
	}
	for _, f := range append(files, struct{ name, text string }{Name, string(text) + "\n"}) {
		if err := create(filepath.Join(dir, f.name), f.text); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, Name), nil
}

// Free reports whether a folder has none of the files that Write writes.
func Free(dir string) error {
	for _, name := range []string{Name, keyName, secretName} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return &Error{Path: path, Why: "it is there already", Next: "name another folder: --dir DIR"}
		}
	}
	return nil
}

func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the App: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the App: %w", err)
	}
	return nil
}
