package appfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is written can be read back, and only by its owner.
func TestWriteThenRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app")
	path, err := Write(dir, App{Host: "github.com", ID: 7, Slug: "acme-prloop"}, "PEM", "hush")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"app.json", "key.pem", "webhook.secret"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want it for its owner alone", name, info.Mode(), err)
		}
	}
	a, err := Find(filepath.Join(dir, "app.json"), "GitHub.com")
	if err != nil || a == nil {
		t.Fatal(a, err)
	}
	key, err := a.Key(t.Context(), os.Getenv, nil)
	secret, err2 := a.WebhookSecret()
	if err != nil || err2 != nil || string(key) != "PEM" || secret != "hush" || a.ID != 7 {
		t.Errorf("read back: %+v %q %q %v %v", a, key, secret, err, err2)
	}
	if _, err := Write(dir, App{Host: "github.com", ID: 8}, "OTHER", ""); !errors.Is(err, os.ErrExist) {
		t.Errorf("what is there was replaced: %v", err)
	}
	if err := Free(dir); err == nil {
		t.Error("a folder with an App counts as free")
	}
	if other, err := Find(path, "ghe.example.com"); other != nil || err != nil {
		t.Errorf("another host got the App: %+v, %v", other, err)
	}
}

func TestKeySources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("good.pem", "PEM", 0o600)
	write("open.pem", "PEM", 0o640)
	write("large.pem", strings.Repeat("x", largest+1), 0o600)
	run := func(_ context.Context, argv []string) ([]byte, error) {
		if argv[0] == "pass" {
			return []byte("PEM"), nil
		}
		return nil, errors.New("exit status 1")
	}
	getenv := func(name string) string { return map[string]string{"THE_KEY": `P\nEM`}[name] }
	for name, c := range map[string]struct{ text, key, err string }{
		"file":          {`{"host":"github.com","id":1,"key_file":"good.pem"}`, "PEM", ""},
		"variable":      {`{"host":"github.com","id":1,"key_env":"THE_KEY"}`, "P\nEM", ""},
		"command":       {`{"host":"github.com","id":1,"key_command":["pass","show"]}`, "PEM", ""},
		"open file":     {`{"host":"github.com","id":1,"key_file":"open.pem"}`, "", "others can read it"},
		"large file":    {`{"host":"github.com","id":1,"key_file":"large.pem"}`, "", "larger than 64 KB"},
		"no file":       {`{"host":"github.com","id":1,"key_file":"none.pem"}`, "", "cannot be read"},
		"folder":        {`{"host":"github.com","id":1,"key_file":"."}`, "", "it is no file"},
		"no variable":   {`{"host":"github.com","id":1,"key_env":"NONE"}`, "", "holds no key"},
		"bad command":   {`{"host":"github.com","id":1,"key_command":["false"]}`, "", "gave no key"},
		"two places":    {`{"host":"github.com","id":1,"key_env":"THE_KEY","key_file":"good.pem"}`, "", "2 places"},
		"no place":      {`{"host":"github.com","id":1}`, "", "0 places"},
		"no host":       {`{"id":1,"key_file":"good.pem"}`, "", "host names no host"},
		"an address":    {`{"host":"https://github.com","id":1,"key_file":"good.pem"}`, "", "host names no host"},
		"no number":     {`{"host":"github.com","key_file":"good.pem"}`, "", "not the number"},
		"unknown field": {`{"host":"github.com","id":1,"key":"good.pem"}`, "", "not the file of an App"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(strings.ReplaceAll(name, " ", "-")+".json", c.text, 0o644)
			var key []byte
			a, err := Read(path)
			if err == nil {
				key, err = a.Key(t.Context(), getenv, run)
			}
			var e *Error
			if c.err == "" && (err != nil || string(key) != c.key) || c.err != "" && (!errors.As(err, &e) || e.Next == "" || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%q, %v; want %q or an error with %q", key, err, c.key, c.err)
			}
		})
	}
	if _, err := Read(write("writable.json", `{"host":"github.com","id":1,"key_file":"good.pem"}`, 0o666)); err == nil {
		t.Error("a file that others can change was taken: it can name a command")
	}
}
